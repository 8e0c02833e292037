"""Scenario runs: configurations rated over random selections of the quasi-identifiers in each part of a country."""
