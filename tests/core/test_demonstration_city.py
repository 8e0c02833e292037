"""Prairie Junction: a whole coverage, believable numbers, people that differ by district."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import shapely
from scipy import stats

from vbas.benchmarks import demonstration
from vbas.core.crosswalk import number_compactly
from vbas.core.records.matching import match_areas
from vbas.core.site_number import SiteNumberOptions
from vbas.core.site_number.cutoff import gaps_model
from vbas.core.synthetic.city import ATTRIBUTES, N_AREAS, RIVER, demonstration_city
from vbas.core.synthetic.city_people import BY_DISTRICT, DISTRICTS, city_distributions

pytestmark = pytest.mark.slow  # whichever comes first makes the cities


@lru_cache(maxsize=2)
def made(seed):
    return demonstration_city(seed) if seed else demonstration.city()


@pytest.fixture(scope="module", params=[0, 1])
def city(request):
    return made(request.param)


@pytest.fixture(scope="module")
def table(city):
    return city.people().table()


def edges(polygons):
    """Directed edges of all rings (m, 4); polygons are oriented, so that a shared edge runs both ways."""
    rings = shapely.get_exterior_ring(polygons)
    outward = shapely.is_ccw(rings)
    rings = np.where(outward, rings, shapely.reverse(rings))
    xy, ring = shapely.get_coordinates(rings, return_index=True)
    inner = ring[:-1] == ring[1:]
    return np.hstack([xy[:-1][inner], xy[1:][inner]])


def test_the_areas_are_whole_simple_polygons(city):
    assert (shapely.get_type_id(city.polygons) == shapely.GeometryType.POLYGON).all()
    assert shapely.is_valid(city.polygons).all()
    assert (shapely.get_num_interior_rings(city.polygons) == 0).all()
    assert (shapely.area(city.polygons) > 5_000).all()


def test_the_areas_cover_the_city_without_gaps_or_overlaps(city):
    whole = shapely.union_all(city.polygons)
    assert whole.geom_type == "Polygon"
    assert len(whole.interiors) == 0
    assert shapely.area(city.polygons).sum() == pytest.approx(whole.area, rel=1e-12)
    # Every edge is either the very edge of a neighbour, run the other way, or on the city limits.
    forth = {tuple(edge) for edge in edges(city.polygons).tolist()}
    lonely = [edge for edge in forth if (*edge[2:], *edge[:2]) not in forth]
    assert sum(np.hypot(x2 - x1, y2 - y1) for x1, y1, x2, y2 in lonely) == pytest.approx(whole.length)
    if hasattr(shapely, "coverage_is_valid"):  # from shapely 2.1
        assert shapely.coverage_is_valid(city.polygons)


def test_the_numbers_are_those_of_a_city(city):
    assert N_AREAS - 60 < len(city) < N_AREAS + 60
    assert 550_000 < city.population.sum() < 650_000
    inhabited = city.population[city.districts != RIVER]
    assert inhabited.min() >= 400
    assert inhabited.max() <= 700
    assert set(city.districts) == {*DISTRICTS, RIVER}
    # Dense in the centre, wide at the edge.
    size = {name: np.median(shapely.area(city.polygons[city.districts == name])) for name in DISTRICTS}
    assert size["centre"] < size["inner suburb"] < size["outer suburb"] < size["rural"] / 3


def test_nobody_lives_in_the_river_and_it_is_long(city):
    river = city.polygons[city.districts == RIVER]
    assert len(river) == 9
    assert (city.population[city.districts == RIVER] == 0).all()
    assert shapely.union_all(river).geom_type == "Polygon"
    roundness = 4 * np.pi * shapely.area(river) / shapely.length(river) ** 2
    assert roundness.max() < 0.3


def test_no_area_spans_the_river(city):
    land = shapely.union_all(city.polygons[city.districts != RIVER])
    assert len(shapely.get_parts(land)) == 2


def test_borders_are_irregular(city):
    convexity = shapely.area(city.polygons) / shapely.area(shapely.convex_hull(city.polygons))
    assert np.median(convexity) < 0.9
    assert np.median(shapely.get_num_coordinates(city.polygons)) > 15


def test_identifiers_read_as_manitobas_in_a_division_that_does_not_exist(city):
    assert len(set(city.identifiers)) == len(city)
    assert all(len(i) == 8 and i.isdecimal() and i.startswith("4699") for i in city.identifiers)
    name, _ = gaps_model(city.identifiers.tolist(), SiteNumberOptions())
    assert name == "Western Canada"


def test_the_city_lies_on_open_prairie(city):
    # EPSG:26914, between 49.1 and 49.5 degrees north and well within the zone.
    bounds = shapely.total_bounds(city.polygons)
    assert bounds[0] > 570_000
    assert bounds[2] < 620_000
    assert bounds[1] > 5_440_000
    assert bounds[3] < 5_485_000


def test_the_city_is_usable_as_regions(city, table):
    regions = city.areas()
    assert np.array_equal(regions.population, city.population)
    codes = match_areas(table, regions, "stop")
    assert np.array_equal(np.bincount(codes, minlength=len(city)), city.population)
    assert number_compactly(codes)[0].n_regions == (city.population > 0).sum()


def test_records_have_six_attributes_and_a_sensitive_column(city, table):
    assert sorted(table.quasi_identifiers) == sorted(ATTRIBUTES)
    assert list(table.kept) == ["diagnosis"]
    assert city.people().fields == (*table.quasi_identifiers, *table.kept)
    assert len(table) == city.population.sum()


@pytest.mark.parametrize("attribute", sorted(BY_DISTRICT))
def test_districts_have_their_shares(city, table, attribute):
    inhabited = city.population > 0
    district = city.districts[inhabited][table.area.codes]
    shares = city_distributions()
    for row, name in enumerate(shares.provinces):
        codes = table.quasi_identifiers[attribute].codes[district == name]
        expected = shares.attributes[attribute].shares[row]
        counts = np.bincount(codes, minlength=len(expected))
        assert stats.chisquare(counts, expected * len(codes)).pvalue > 1e-4


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_districts_differ(city, table, attribute):
    district = city.districts[city.population > 0][table.area.codes]
    column = table.quasi_identifiers[attribute]
    counts = [np.bincount(column.codes[district == name], minlength=len(column.categories)) for name in DISTRICTS]
    assert stats.chi2_contingency(counts)[1] < 1e-6


def test_the_diagnosis_goes_with_age_but_not_too_much(table):
    age, diagnosis = table.quasi_identifiers["age_group"], table.kept["diagnosis"]
    counts = np.zeros((len(age.categories), len(diagnosis.categories)))
    np.add.at(counts, (age.codes, diagnosis.codes), 1)
    cramers_v = np.sqrt(stats.chi2_contingency(counts)[0] / counts.sum() / (min(counts.shape) - 1))
    assert 0.1 < cramers_v < 0.4
    children = counts[age.categories.tolist().index("0 to 14")]
    assert children[diagnosis.categories.tolist().index("heart disease")] / children.sum() < 0.005


def test_children_are_neither_married_nor_graduates(table):
    children = table.quasi_identifiers["age_group"].codes == 0
    for attribute, only in (("marital_status", "never married"), ("education", "no certificate")):
        column = table.quasi_identifiers[attribute]
        assert set(column.categories[column.codes[children]]) == {only}


def test_education_and_marriage_differ_by_district_at_the_same_age(city, table):
    district = city.districts[city.population > 0][table.area.codes]
    fields = table.quasi_identifiers
    thirties = fields["age_group"].codes == fields["age_group"].categories.tolist().index("25 to 44")

    def share(attribute, category, name):
        codes = fields[attribute].codes[thirties & (district == name)]
        return (codes == fields[attribute].categories.tolist().index(category)).mean()

    assert share("education", "university", "university") > 2 * share("education", "university", "north end")
    assert share("marital_status", "married", "outer suburb") > 1.3 * share("marital_status", "married", "centre")


def test_the_same_seed_gives_the_same_city():
    one, other = (demonstration_city(0, n_areas=100) for _ in range(2))
    assert shapely.to_wkb(one.polygons).tolist() == shapely.to_wkb(other.polygons).tolist()
    assert np.array_equal(one.population, other.population)
    assert np.array_equal(one.districts, other.districts)


def test_another_seed_gives_another_city():
    one, other = made(0), made(1)
    assert not set(shapely.to_wkb(one.polygons)) & set(shapely.to_wkb(other.polygons))
