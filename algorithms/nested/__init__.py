"""Nested releases: levels of regions declared and read, what is written of them, and their forms."""
