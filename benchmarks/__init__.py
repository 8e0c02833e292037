"""Measured claims: each script prints a table of what was run against what. Not shipped with the plugin."""
