"""Forms for whoever analyses a release."""
