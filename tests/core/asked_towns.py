"""Small towns drawn at random, and what may be asked of a release of their people: of all choices some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from vbas.core.anonymise import Account, Ask, anonymise
from vbas.core.areas import Areas, make_areas
from vbas.core.crosswalk import number_compactly
from vbas.core.disclosure.certificate import certify
from vbas.core.disclosure.guessing import guesses
from vbas.core.disclosure.method_bounds import method_bounds
from vbas.core.disclosure.published import Published, publish
from vbas.core.disclosure.zone_tables import parts_of as parts_of_zones
from vbas.core.disclosure.zone_tables import records_of, released_classes, too_many_pairs, zones_of
from vbas.core.evaluation import evaluate
from vbas.core.generalising import make_hierarchy
from vbas.core.levels import Levels, make_levels, own_regions, with_coarser_values
from vbas.core.nesting.decoys import Conditions, Secrets
from vbas.core.nesting.losses import LOSSES
from vbas.core.nesting.narrowing import can_be_narrowed, narrow
from vbas.core.nesting.planning import nest
from vbas.core.plan import suppress
from vbas.core.privacy.count_rows import CountRows
from vbas.core.privacy.derivable import NO_SMALL_COUNT
from vbas.core.privacy.series import EACH_BY_ITSELF, THE_SAME
from vbas.core.profile import Profile
from vbas.core.records.columns import Column, column_from_values
from vbas.core.records.matching import Records, match_records
from vbas.core.records.table import HOUSEHOLDS, PERSONS, RecordTable
from vbas.core.releases.aliases import aliases_of
from vbas.core.releases.asking import perhaps_same
from vbas.core.releases.attributes import are_apart, attributes_of, likeness, parts_of, recoded
from vbas.core.releases.earlier import REPAIR, STOP, Earlier
from vbas.core.releases.examining import examine, examine_all
from vbas.core.releases.listing import quasi_identifiers_of, rows_of
from vbas.core.releases.matching import matched
from vbas.core.releases.naming import named, names_in, with_names, with_values
from vbas.core.releases.repair import on_earlier_regions, repair
from vbas.core.releases.updating import FOLLOWED, KINDS, Update

from .as_before import Heard

AGES = np.array(["1", "2", "3", None], dtype=object)
SEXES = np.array(["F", "M"], dtype=object)
YEARS = np.array(["2021", "2022"], dtype=object)
ILL = np.array(["no", "flu", "cold"], dtype=object)
QUASI = {"age": AGES, "sex": SEXES, "year": YEARS}
SHARES = {"age": (0.5, 0.3, 0.15, 0.05), "sex": (0.7, 0.3), "year": (0.6, 0.4)}
HIERARCHIES = {
    "age": make_hierarchy("age", AGES, [["1-2", "1-2", "3", None], ["*"] * 4]),
    "sex": make_hierarchy("sex", SEXES, [["*", "*"]]),
}


@contextmanager
def chance_of(seed: int) -> Iterator[None]:
    """Draws that are made in secret are those of a seed."""
    plain = np.random.default_rng
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(np.random, "default_rng", lambda given=None: plain(seed if given is None else given))
        yield


def drawn_areas(rng: np.random.Generator, most: int = 9) -> Areas:
    """Areas, some without people."""
    n = int(rng.integers(4, most))
    return make_areas(
        [f"a{i}" for i in range(n)], rng.integers(0, 900, (n, 2)).astype(float), rng.integers(0, 40, n) + 1.0
    )


def drawn_levels(rng: np.random.Generator, areas: Areas, n_levels: int) -> Levels:
    """Levels that nest, now and then with areas of no region."""
    n = len(areas)
    own = own_regions(n)
    if rng.random() < 0.3:
        region_of = rng.integers(-1, n // 2 + 1, n)
        own = number_compactly(np.where(np.arange(n) == 0, 0, region_of))[0]
    crosswalks = [own]
    for _ in range(n_levels - 1):
        last = crosswalks[-1]
        joined = rng.integers(0, max(1, (last.n_regions + 1) // 2), last.n_regions)
        crosswalks.append(number_compactly(np.where(last.region_of >= 0, joined[last.region_of], -1))[0])
    return make_levels(areas, crosswalks)


def drawn_table(rng: np.random.Generator, areas: Areas, names: tuple[str, ...], most: int = 130) -> RecordTable:
    """Records who live close together, with what is known beside their classes."""
    n, size = len(areas), int(rng.integers(12, most))
    columns = {name: Column(rng.choice(len(QUASI[name]), size, p=SHARES[name]), QUASI[name]) for name in names}
    homes = Column(rng.choice(n, size, p=rng.dirichlet(np.full(n, 0.8))), areas.identifiers)
    kept: dict[str, Column] = {}
    members: dict[str, Column] = {}
    sensitive: tuple[str, ...] = ()
    counts = None
    if rng.random() < 0.4:
        kept["ill"] = Column(rng.choice(3, size, p=[0.7, 0.2, 0.1]), ILL)
        sensitive = ("ill",) if rng.random() < 0.7 else ()
    if rng.random() < 0.2:
        kept["job"] = Column(rng.choice(2, size), np.array(["a", "b"], dtype=object))
    if rng.random() < 0.25:
        members[PERSONS] = column_from_values([f"p{one}" for one in rng.integers(0, size, size)])
    if rng.random() < 0.15:
        members[HOUSEHOLDS] = column_from_values([f"h{one}" for one in rng.integers(0, size // 2 + 1, size)])
    if not members and rng.random() < 0.2:
        counts = rng.integers(0, 5, size) + 2 * (np.arange(size) == 0)
    return RecordTable(homes, columns, kept, counts, members, sensitive)


def drawn_names(rng: np.random.Generator) -> tuple[str, ...]:
    """Quasi-identifiers."""
    return (("age", "sex"), ("age",), ("age", "sex", "year"), ("sex", "year"))[int(rng.integers(4))]


def drawn_ask(rng: np.random.Generator, table: RecordTable, **more: object) -> Ask:
    """What is asked of the classes."""
    asked: dict[str, object] = {"k": int(rng.integers(2, 6)), "loss": list(LOSSES)[int(rng.integers(len(LOSSES)))]}
    if table.sensitive and rng.random() < 0.6:
        asked |= {"l_diversity": 2} if rng.random() < 0.5 else {"max_share": 80.0}
    if "year" in table.quasi_identifiers and rng.random() < 0.5:
        asked |= {"period": "year", "periods": THE_SAME if rng.random() < 0.7 else EACH_BY_ITSELF}
    return Ask(**{**asked, **more})  # type: ignore[arg-type]


def with_people(areas: Areas, records: Records, rng: np.random.Generator) -> Areas:
    """Areas with as many people as records, or some more."""
    more = rng.integers(0, 3, len(areas)) if rng.random() < 0.6 else np.zeros(len(areas))
    return areas.with_population(records.profile.area_sizes.astype(float) + more)


def town(
    rng: np.random.Generator, n_levels: int, names: tuple[str, ...] | None = None
) -> tuple[Areas, Records, Levels]:
    """Areas, records in them, and levels."""
    areas = drawn_areas(rng)
    records = match_records(drawn_table(rng, areas, names or drawn_names(rng)), areas)
    return with_people(areas, records, rng), records, drawn_levels(rng, areas, n_levels)


def told(areas: Areas, records: Records, levels: Levels, ask: Ask) -> list[object]:
    """What a release comes to: its account, where each cell is shown, and what was said."""
    heard = Heard()
    with chance_of(1):
        account = anonymise(areas, records, levels, ask, progress=heard.fractions.append, log=heard)
    return [
        heard.fractions,
        account,
        account.plan.equivalence_class_of,
        account.smallest,
        account.no_small_count,
        heard.said,
    ]


def counts_of_others(rng: np.random.Generator, records: Records, areas: Areas) -> CountRows:
    """How many people of each value live in each area, as others publish it."""
    table, rows = records.table, dict[tuple[int, int], int]()
    name = list(table.quasi_identifiers)[int(rng.integers(len(table.quasi_identifiers)))]
    column = table.quasi_identifiers[name]
    number = np.ones(len(table), np.int64) if table.counts is None else table.counts
    for area, code, count in zip(table.area.codes.tolist(), column.codes.tolist(), number.tolist()):
        rows[area, code] = rows.get((area, code), 0) + count
    rows = {at: count for at, count in rows.items() if column.categories[at[1]] is not None}
    more = int(rng.random() < 0.3)
    unit = [areas.identifiers[area] for area, _ in rows]
    return CountRows(
        unit, {name: [column.categories[code] for _, code in rows]}, [count + more for count in rows.values()]
    )


def of_one_level(rng: np.random.Generator) -> object:
    """A release of regions of one level, with totals that others publish or without."""
    areas, records, levels = town(rng, 2)
    ask = drawn_ask(rng, records.table)
    if rng.random() < 0.3:
        ask = replace(ask, published_margins=";".join(records.table.quasi_identifiers))
    elif rng.random() < 0.3:
        ask = replace(ask, published_counts=counts_of_others(rng, records, areas))
    return told(areas, records, Levels((levels.crosswalks[-1],)), ask)


def of_several_levels(rng: np.random.Generator) -> object:
    """A nested release."""
    areas, records, levels = town(rng, int(rng.integers(2, 5)))
    ask = drawn_ask(rng, records.table)
    if rng.random() < 0.25:
        ask = replace(ask, least_left_areas=int(rng.integers(1, 3)), least_left_people=float(rng.integers(0, 9)))
    if rng.random() < 0.25:
        ask = replace(ask, published_margins=";".join(records.table.quasi_identifiers))
    elif rng.random() < 0.3:
        ask = replace(ask, published_counts=counts_of_others(rng, records, areas))
    return told(areas, records, levels, ask)


def without_small_counts(rng: np.random.Generator) -> object:
    """A nested release from which no small count follows."""
    areas, records, levels = town(rng, int(rng.integers(2, 5)))
    ask = drawn_ask(rng, records.table, disclosure=NO_SMALL_COUNT, period="", periods=EACH_BY_ITSELF)
    if rng.random() < 0.4:
        ask = replace(ask, least_left_areas=2, least_left_people=float(rng.integers(0, 9)))
    if rng.random() < 0.3:
        ask = replace(ask, published_counts=counts_of_others(rng, records, areas))
    return told(areas, records, levels, ask)


def of_coarser_values(rng: np.random.Generator) -> object:
    """A nested release whose last levels show coarser values."""
    areas, records, levels = town(rng, int(rng.integers(1, 4)), ("age", "sex"))
    steps = ([("age", 1)], [("age", 1), ("sex", 1)], [("sex", 1), ("age", 2)], [("age", 1), ("age", 2), ("sex", 1)])
    ask = drawn_ask(rng, records.table, hierarchies=HIERARCHIES, nested=True)
    if rng.random() < 0.3:
        ask = replace(ask, disclosure=NO_SMALL_COUNT)
    if rng.random() < 0.3:
        ask = replace(ask, published_margins="age;sex")
    return told(areas, records, with_coarser_values(levels, steps[int(rng.integers(4))]), ask)


def beside_earlier(rng: np.random.Generator) -> object:
    """A release beside one or two earlier ones of other regions, some with fewer fields."""
    areas, records, levels = town(rng, 3, drawn_names(rng))
    earlier = []
    with chance_of(2):
        for _ in range(int(rng.integers(1, 3))):
            nested = rng.random() < 0.4
            before = drawn_levels(rng, areas, 3)
            table = records.table
            if len(table.quasi_identifiers) > 1 and rng.random() < 0.3:
                some = dict(list(table.quasi_identifiers.items())[:1])
                table = replace(table, quasi_identifiers=some)
            ask = Ask(k=int(rng.integers(2, 5)), earlier=Earlier([]))
            chosen = before if nested else Levels((before.crosswalks[-1],))
            published = anonymise(areas, match_records(table, areas), chosen, ask).published
            if published is not None:
                earlier.append(published)
    action = REPAIR if rng.random() < 0.8 else STOP
    ask = drawn_ask(rng, records.table, earlier=Earlier(earlier, action))
    nested = rng.random() < 0.5
    if nested and rng.random() < 0.2:
        ask = replace(ask, disclosure=NO_SMALL_COUNT, period="", periods=EACH_BY_ITSELF)
    if rng.random() < 0.2:
        ask = replace(ask, published_margins=";".join(records.table.quasi_identifiers))
    if not nested:
        levels = Levels((levels.crosswalks[int(rng.integers(len(levels)))],))
    return told(areas, records, levels, ask)


def changed_since(rng: np.random.Generator, table: RecordTable, n_areas: int) -> RecordTable:
    """The people of a month later: some left, some moved, some came who are like somebody."""
    n = len(table)
    stay = np.flatnonzero(rng.random(n) < 0.93)
    rows = np.concatenate([stay, rng.integers(0, n, rng.integers(0, 9))])
    homes = table.area.codes[rows].copy()
    moved = rng.random(len(rows)) < 0.05
    homes[moved] = rng.integers(0, n_areas, int(moved.sum()))

    def of(columns):
        return {name: Column(column.codes[rows], column.categories) for name, column in columns.items()}

    members = {
        kind: column_from_values([f"m{row}-{i}" for i, row in enumerate(rows.tolist())]) for kind in table.members
    }
    counts = None if table.counts is None else table.counts[rows]
    return replace(
        table,
        area=Column(homes, table.area.categories),
        quasi_identifiers=of(table.quasi_identifiers),
        kept=of(table.kept),
        members=members,
        counts=counts,
    )


def updates(rng: np.random.Generator) -> object:
    """Months, each of which carries on the one before."""
    areas, records, levels = town(rng, int(rng.integers(1, 4)))
    table, said, published = records.table, list[object](), list[Published]()
    if HOUSEHOLDS in table.members:
        table = replace(table, members={})
    followed, kind = FOLLOWED[int(rng.integers(2))], KINDS[int(rng.integers(2))]
    ask = drawn_ask(rng, table, k=int(rng.integers(2, 5)), period="", periods=EACH_BY_ITSELF)
    for month in range(3):
        update = Update(len(published) - 1, kind, followed) if month else None
        of_month = replace(ask, earlier=Earlier(list(published)), update=update)
        came = told(areas, match_records(table, areas), levels, of_month)
        said.append(came)
        account = came[1]
        if isinstance(account, Account) and account.published is not None:
            published.append(account.published)
        table = changed_since(rng, table, len(areas))
    return said


def drawn_releases(rng: np.random.Generator, n_releases: int, few: bool = False) -> list[Published]:
    """Releases of the same people, or now and then of those of a month later."""
    areas = drawn_areas(rng, 7 if few else 9)
    table = drawn_table(rng, areas, drawn_names(rng), 60 if few else 130)
    releases: list[Published] = []
    regions = [drawn_levels(rng, areas, 3) for _ in range(2)]
    for number in range(n_releases):
        if rng.random() < 0.2:
            table = changed_since(rng, table, len(areas))
        shown = table
        if len(table.quasi_identifiers) > 1 and rng.random() < 0.3:
            names = list(table.quasi_identifiers)[: -1 if rng.random() < 0.7 else 1]
            shown = replace(table, quasi_identifiers={name: table.quasi_identifiers[name] for name in names})
        levels = regions[int(rng.integers(2))]
        levels = levels if rng.random() < 0.4 else Levels((levels.crosswalks[int(rng.integers(len(levels)))],))
        with chance_of(3):
            account = anonymise(
                areas, match_records(shown, areas), levels, Ask(int(rng.integers(2, 5)), earlier=Earlier([]))
            )
        assert account.published is not None
        published = replace(account.published, title=f"release {number + 1}")
        releases.append(published if rng.random() < 0.5 else replace(published, held_back=None))
    return releases


def several_releases(rng: np.random.Generator) -> object:
    """What releases give away together, as found and as it is listed, and what the last adds."""
    releases = drawn_releases(rng, int(rng.integers(2, 4)))
    found = examine_all(releases, None if rng.random() < 0.7 else int(rng.integers(2, 7)))
    new = examine(releases[-1], releases[:-1], homogeneous=rng.random() < 0.5)
    numbers: list[object] = [found.n_counts, found.n_homogeneous, found.n_values, found.n_persons, found.n_contradicted]
    numbers += [found.n_undecided, found.families, new.families, new.n_counts, new.n_contradicted, new.n_to_mend]
    return [numbers, found, rows_of(found, releases), quasi_identifiers_of(releases), new]


def repaired_releases(rng: np.random.Generator) -> object:
    """A plan mended beside earlier releases."""
    (last,) = drawn_releases(rng, 1, few=True)
    areas = make_areas(last.areas, rng.integers(0, 900, (len(last.areas), 2)).astype(float), np.ones(len(last.areas)))
    counts = rng.integers(0, 6, (len(areas), len(last.classes)))
    profile = Profile(sparse.csr_matrix(counts), last.classes, last.categories, last.quasi_identifiers)
    levels = drawn_levels(rng, areas, 3)
    k = int(rng.integers(2, 5))
    plan = nest(areas, profile, levels, k) if rng.random() < 0.5 else suppress(profile, levels.crosswalks[-1], k)
    other = publish(suppress(profile, drawn_levels(rng, areas, 2).crosswalks[-1], k), areas, "other")
    done = repair(plan, areas, [other])
    return [done, on_earlier_regions(done.plan, areas, [other])]


WORDS = {"F": "woman", "M": "man", "1": "01", "2": "02", "3": "03", "2021": "21"}


def renamed_releases(rng: np.random.Generator) -> object:
    """Releases some of whose fields have other names and words, with what somebody says of them."""
    releases = drawn_releases(rng, int(rng.integers(2, 4)))
    at, rows = int(rng.integers(len(releases))), []
    one = releases[at]
    name = one.quasi_identifiers[int(rng.integers(len(one.quasi_identifiers)))]
    if rng.random() < 0.6:
        words = {value: WORDS.get(value, value) for value in one.categories[one.quasi_identifiers.index(name)].tolist()}
        one = with_values(one, name, words)
    if rng.random() < 0.7:
        new = (name.upper(), f"{name}_of_person", "gender")[int(rng.integers(3))]
        one = with_names(one, {name: new})
        if rng.random() < 0.6:
            said = "; ".join(f"{new_word}={old}" for old, new_word in WORDS.items())
            rows.append((new, (name, f"not {name}", f"{name}: {said}")[int(rng.integers(3))]))
    releases[at] = one
    if rng.random() < 0.3:
        written = [area.upper() if rng.random() < 0.8 else f"{area}x" for area in releases[0].areas.tolist()]
        releases[0] = replace(releases[0], areas=np.array(written, dtype=object))
    known = list(dict.fromkeys(name for release in releases for name in names_in(release)))
    aliases = aliases_of(rows, known)
    levels = {"age": [["1", "2", "3"], ["1-2", "3"], ["*"]]} if rng.random() < 0.5 else {}
    found = matched(named(releases, aliases), aliases, levels)
    shown = [attributes_of(release) for release in found.releases]
    pairs: list[list[object]] = []
    for first, second in ((0, 1), (1, 0)):
        parts = parts_of(found.releases[first], found.releases[second])
        for own in shown[first].values():
            for other in shown[second].values():
                pairs.append([likeness(own, other, parts), recoded(own, other, parts), own.share_among(other.values)])
                pairs[-1].append(perhaps_same(own.name, own, other.name, other))
    apart = [are_apart((a, b), shown[0], found.releases[0]) for a in shown[0] for b in shown[0]]
    return [found, found.assumption, pairs, apart]


def attackers(rng: np.random.Generator) -> object:
    """What is proven and guessed of a nested release by who knows how many people live where, and how it was made."""
    areas, records, levels = town(rng, int(rng.integers(2, 5)))
    k, loss = int(rng.integers(2, 6)), list(LOSSES)[int(rng.integers(len(LOSSES)))]
    secrets = Secrets(np.random.default_rng(5), closed=0.05) if rng.random() < 0.5 else None
    conditions = (
        Conditions(areas.population, secrets, int(rng.integers(0, 4)), float(rng.integers(0, 30)))
        if rng.random() < 0.5
        else None
    )
    plan = nest(areas, records.profile, levels, k, loss, conditions=conditions)
    shown, _ = released_classes(plan)
    losses = [LOSSES[loss](areas, records.profile, crosswalk) for crosswalk in levels.crosswalks]
    people = areas.population if rng.random() < 0.8 else None
    known = records_of(plan) if rng.random() < 0.5 else None
    zones = zones_of(shown, areas.population)
    return [
        *(
            certify(shown, people, k, losses if rng.random() < 0.5 else None, known),
            too_many_pairs(shown, 3),
            zones,
            parts_of_zones(zones, shown),
        ),
        *(method_bounds(shown, areas.population, losses, k), guesses(areas, plan), evaluate(areas, plan)),
        narrow(levels, areas.population, plan.level, plan.region, plan.class_of, plan.in_zones),
        can_be_narrowed(levels, plan.in_zones),
    ]
