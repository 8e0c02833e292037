"""What is made of a release by whoever analyses it: of nothing but what is published."""

from .reader import AnalysableRelease, read_release

__all__ = ["AnalysableRelease", "read_release"]
