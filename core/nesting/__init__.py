"""Nested release: several nested levels of regions, and each class on the finest one that hides it."""
