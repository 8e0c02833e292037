"""What random runs found later, as small as it can be told: kept so that it stays mended."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from .given import Case, Place, Table
from .people import OTHERS
from .test_found import anonymize, areas, ends_in_a_result, ends_in_a_sentence, ends_well, records

DATABASE = "ogr:dbname='{{folder}}/a.gpkg' table=\"{}\""


@pytest.mark.parametrize("release", ["one level", "nested levels"])
@pytest.mark.parametrize("margins", [",;,", ";", ","])
def test_published_totals_that_name_nothing_are_no_totals(provider, release, margins):
    """The search for what they give away had nothing to put together."""
    words = "names no quasi-identifier"
    ends_in_a_sentence(anonymize(RELEASE=release, PUBLISHED_MARGINS=margins, K=25), words)


@pytest.mark.parametrize("people", [1e308, math.inf])
def test_more_people_than_there_are_hide_no_point(provider, people):
    points = Table((("case", "long", [1]),), ("Point(630100 5520100)",), "Point")
    given = {"POINTS": points, "AREAS": areas(people=people), "POPULATION": "people", "MASKED": Place("memory:")}
    ends_in_a_sentence(
        Case("donutmask", given),
        "is above 1\N{NO-BREAK SPACE}000\N{NO-BREAK SPACE}000\N{NO-BREAK SPACE}000\N{NO-BREAK SPACE}000 in 9 areas",
    )


@pytest.mark.slow
def test_all_rows_of_a_new_database_are_in_the_file_itself(provider):
    """The rows of a second table were, in most runs, in a journal beside the file alone, which nobody copies."""
    for tables in (("VORONOI",), ("CROSSWALK", "VORONOI"), ("VORONOI", "SITE_POINTS"), ("CROSSWALK", "REGION_AUDIT")):
        outcome = ends_in_a_result(anonymize(**{name: Place(DATABASE.format(name)) for name in tables}))
        assert not outcome.files[1].get("a.gpkg-wal")


def test_a_line_break_in_the_name_of_a_field_of_a_csv_file(provider):
    rows = replace(records(), columns=(("a\nb", "real", [0.5] * 180), *records().columns), stored="csv")
    given = {"CONNECTION": rows, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": "sex", "PROFILE": Place("memory:")}
    ends_in_a_sentence(Case("profiledatabase", given), "names of the fields, none with a line break in it")


def test_numbers_that_are_none_are_missing_in_a_database_too(provider):
    rows = records("size", (0.5, math.nan, None), "real", stored="parquet")
    given = {"CONNECTION": rows, "RECORD_REGION": "home", "QUASI_IDENTIFIERS": "size", "PROFILE": Place("memory:")}
    ends_in_a_result(Case("profiledatabase", given))


@pytest.mark.slow
@pytest.mark.parametrize("stored", ["memory", "gpkg", "geojson", "csv"])
@pytest.mark.parametrize("kind", list(OTHERS))
def test_fields_of_rare_kinds_end_in_a_result_or_a_sentence(provider, kind, stored):
    """As a quasi-identifier, as a kept field, as the area, and beside them."""
    rows = records("what", OTHERS[kind][:2], kind, stored=stored)
    ends_well(anonymize(RECORDS=rows, QUASI_IDENTIFIERS=["what"], RELEASED_RECORDS=Place("{folder}/a.gpkg")))
    ends_well(anonymize(RECORDS=rows, QUASI_IDENTIFIERS=["what"], RELEASED_RECORDS=Place("{folder}/a.csv")))
    ends_well(anonymize(RECORDS=rows, RECORD_REGION="what", QUASI_IDENTIFIERS=["home"]))
    beside = records(stored=stored)
    beside = replace(beside, columns=(*beside.columns, ("what", kind, OTHERS[kind][:2] * 90)))
    ends_in_a_result(anonymize(RECORDS=beside, QUASI_IDENTIFIERS=["sex"]))


def test_a_name_that_begins_with_a_dot(provider):
    ends_in_a_sentence(anonymize(RELEASED_RECORDS=Place("{folder}/.gpkg")), "blanks or dots at its ends")


def test_more_people_in_a_cell_than_there_are(provider):
    given = {"CELLS": areas(people=1e308), "CELL_ID": "da", "POPULATIONS": ["people"], "GROUPS": Place("memory:")}
    ends_in_a_sentence(Case("partitioncells", {**given, "CROSSWALK": Place("memory:")}), "more people than there are")


@pytest.mark.parametrize("place", ["memory:", "{folder}/a.gpkg", "{folder}/a.geojson"])
def test_counts_in_areas_that_are_not_drawn(provider, place):
    """Areas of the crosswalks that REGIONS lacks have no shape, and ended the run with a traceback."""
    regions = ([1, 1, 2], [1, 2, 2])
    released = ([(1, "F", 20), (2, "F", 9)], [(1, "F", 9), (2, "F", 20)])
    kinds = (("vbas_region", "long"), ("sex", "text"), ("records", "long"))
    tables = [Table(tuple((*kind, list(column)) for kind, column in zip(kinds, zip(*rows)))) for rows in released]
    ids = ["46-0", "elsewhere", "46-2"]
    crosswalks = [Table((("da", "text", ids), ("vbas_region", "long", region_of))) for region_of in regions]
    given = {"RELEASES": tables, "CROSSWALKS": crosswalks, "QUASI_IDENTIFIERS": "sex", "K": 12, "EACH_K": "5;5"}
    given |= {"REGIONS": areas(), "REGION_ID": "da", "PINNED": Place(place)}
    assert ends_in_a_result(Case("checkreleases", given)).results["N_PINNED"]


def test_a_table_that_is_broken_off_is_let_go_before_it_is_taken_back(provider):
    """What was raised held on to it, and GDAL looked for its file when that was gone."""
    case = anonymize(SITE_POINTS=Place(DATABASE.format("sites")), CROSSWALK=Place(DATABASE.format("crosswalk")))
    outcomes = [ends_well(replace(case, stop_at=at)) for at in range(40, 72, 4)]
    assert all(outcome.results is None for outcome in outcomes)
