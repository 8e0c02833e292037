"""Donut masking of points."""
