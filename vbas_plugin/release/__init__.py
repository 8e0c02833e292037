"""The dock in which a release is made, in five steps: data, who could know what, look, decide, hand over."""
