"""A job: what was asked by the names of the form's parameters, whoever asks, and how a release is made of it."""
