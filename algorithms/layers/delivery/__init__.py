"""Outputs written, checked, styled and put in their place, all together."""
