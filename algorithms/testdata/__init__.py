"""People who do not exist."""
