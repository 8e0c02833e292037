"""Anonymity-driven clustering, both published variants: sites move to save records from suppression."""
