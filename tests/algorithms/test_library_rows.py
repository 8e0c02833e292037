"""The six lines of docs/library.md make the very rows of the toolbox, with published totals and a register."""

from __future__ import annotations

from collections import Counter

import pytest

from vbas.core.anonymise import Ask, anonymise
from vbas.core.areas import make_areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.levels import Levels
from vbas.core.nesting.making import LevelOptions, build_levels
from vbas.core.publish.register.published_releases import add_release, earlier_releases, read_register
from vbas.core.records.columns import column_from_values
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.releases.earlier import REPAIR
from vbas.core.site_number.options import SiteNumberOptions

from .conftest import make_grid


@pytest.fixture
def grid():
    """A town of few areas: the work grows much faster than they do."""
    return make_grid(side=4)


def of_the_library(grid, n_sites, ratio, register, nested):
    """The rows, as the toolbox writes them: level where there are several, region, sex and age."""
    areas, records = grid
    columns = {name: [feature[name] for feature in records.getFeatures()] for name in ("home", "sex", "age")}
    centres = [feature.geometry().centroid().asPoint() for feature in areas.getFeatures()]
    names = [feature["da"] for feature in areas.getFeatures()]
    quasi = {name: column_from_values(columns[name]) for name in ("sex", "age")}
    places = make_areas(names, [(centre.x(), centre.y()) for centre in centres])
    records = match_records(RecordTable(column_from_values(columns["home"]), quasi, {}), places, k=5)
    places = places.with_population(records.profile.area_sizes)
    if nested:
        levels, sites = build_levels(places, records.profile, options=LevelOptions(ratio=ratio)), None
    else:
        configuration = Configuration("given number", number_options=SiteNumberOptions(n_sites=n_sites))
        run = aggregate(places, records.profile, configuration)
        levels, sites = Levels((run.aggregation.crosswalk,)), run.aggregation.sites
    ask = Ask(k=5, published_margins="age", earlier=earlier_releases(register, REPAIR))
    account = anonymise(places, records, levels, ask, sites)
    add_release(register, account)
    release = account.release
    shown = [column.categories[column.codes[release.rows]].tolist() for column in release.fields.values()]
    regions = [account.levels.crosswalks[level].numbers[region] for level, region in zip(release.level, release.region)]
    where = [(release.level[row] + 1, regions[row]) if nested else (regions[row],) for row in release.rows]
    return Counter((*map(int, place), *values) for place, *values in zip(where, *shown)), account.measures


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_library_and_toolbox_release_the_same_rows(anonymize, grid, tmp_path, nested):
    ours, theirs = tmp_path / "library.gpkg", tmp_path / "toolbox.gpkg"
    for n_sites, ratio in ((9, 2.0), (10, 3.0)):  # the second one has to be repaired beside the first
        more = {"RELEASE": "nested levels", "RATIO": ratio} if nested else {}
        done = anonymize(
            N_SITES=n_sites,
            PUBLISHED_MARGINS="age",
            REGISTER=str(theirs),
            REGISTER_ACTION="repair",
            POPULATION=None,
            SITE_POINTS=None,
            VORONOI=None,
            **more,
        )
        fields = [*(["vbas_level"] if nested else []), "vbas_region", "sex", "age"]
        toolbox = Counter(tuple(row[name] for name in fields) for row in done.rows("RELEASED_RECORDS"))
        library, measures = of_the_library(grid, n_sites, ratio, ours, nested)
        assert library == toolbox and sum(library.values()) > 0
        assert n_sites == 9 or any("would have given away" in line for line in done.log)
        assert done.results["N_SUPPRESSED"] == measures.n_suppressed
        assert done.results["DISCERNIBILITY"] == measures.discernibility
    for one, other in zip(read_register(ours), read_register(theirs)):
        assert (one.records == other.records).all() and (one.region == other.region).all()
