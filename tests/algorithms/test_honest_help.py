"""The help of the choices tells whose finding it is."""

from __future__ import annotations

from vbas.core.configuration import RECOMMENDED


def test_the_combinations_tell_what_the_paper_found_and_what_we_did(provider):
    told = provider.algorithm("anonymize").parameterDefinition("COMBINATION").help()
    for name, combination in RECOMMENDED.items():
        own = told.split(f"“{name}”: ")[1]
        assert f"in the paper {combination.reason}; in our benchmarks {combination.measured} scenarios." in own


def test_superlatives_are_the_papers(provider):
    told = provider.algorithm("anonymize").parameterDefinition("AGGREGATION").help()
    assert told.count("in the paper") == told.count("compact") == 2


def test_it_is_said_whose_count_max_combinations_is(provider):
    for algorithm, name in (("anonymize", "SITE_NUMBER"), ("sitenumber", "SITE_NUMBER"), ("compare", "SITE_NUMBERS")):
        parameter = provider.algorithm(algorithm).parameterDefinition(name)
        assert "“max combinations (2018)” counts as the paper does" in parameter.description()
        assert "the paper" in parameter.help() and "k records" in parameter.help()
    told = provider.algorithm("anonymize").parameterDefinition("COMBINATION").help()
    assert "the paper counts every value, as “max combinations (2018)” does" in told
