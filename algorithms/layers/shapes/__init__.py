"""Layers with shapes: checked, repaired, and measured in one plane."""
