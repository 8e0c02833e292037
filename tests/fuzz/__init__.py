"""Runs drawn at random, hostile ones among them, each recounted by code that shares nothing with the plugin."""
