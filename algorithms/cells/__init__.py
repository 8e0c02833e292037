"""Cells of a grid grouped over time."""
