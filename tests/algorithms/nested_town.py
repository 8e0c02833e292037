"""A town with rare and frequent kinds of people, and a plain recount of a nested release of it."""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .conftest import make_layer

SIDE = 6
SIZE, WEST, SOUTH = 500.0, 630_000.0, 5_520_000.0
# No other text has this in it: found in a file, it was written there.
MARK, PERSON = "-zone-", "person-"


@dataclass
class Town:
    """36 square areas; districts of 4, boroughs of 12; people of common and of rare kinds."""

    identifiers: list
    people: list
    district: list
    borough: list
    records: list

    def squares(self):
        corners = [(WEST + SIZE * column, SOUTH + SIZE * row) for row in range(SIDE) for column in range(SIDE)]
        return [
            f"Polygon(({x} {y}, {x + SIZE} {y}, {x + SIZE} {y + SIZE}, {x} {y + SIZE}, {x} {y}))" for x, y in corners
        ]

    def area_layer(self, wkts=None, crs="EPSG:26914", **more):
        columns = {
            "da": self.identifiers,
            "people": self.people,
            "district": self.district,
            "borough": self.borough,
            **more,
        }
        return make_layer(columns, self.squares() if wkts is None else wkts, crs)

    def record_layer(self):
        names = ("home", "sex", "age", "diagnosis", "name")
        return make_layer(dict(zip(names, map(list, zip(*self.records)))))

    def counted_layer(self):
        """One row for each area, class and diagnosis, with a count."""
        counted = Counter(row[:4] for row in self.records)
        columns = dict(zip(("home", "sex", "age", "diagnosis"), map(list, zip(*counted))))
        return make_layer({**columns, "n": list(counted.values())})

    def live(self):
        """Area, class -> records."""
        return Counter((home, (sex, age)) for home, sex, age, *_ in self.records)


def make_town(seed=1):
    rng = np.random.default_rng(seed)
    identifiers = [f"46{MARK}{row}{column}" for row in range(SIDE) for column in range(SIDE)]
    district = [f"d{row // 2}{column // 2}" for row in range(SIDE) for column in range(SIDE)]
    borough = [f"b{row // 2}" for row in range(SIDE) for _ in range(SIDE)]
    records = []
    for home in identifiers:
        n = int(rng.integers(20, 60))
        sex = rng.choice([0, 1, 2], n, p=[0.48, 0.48, 0.04]).tolist()
        age = rng.choice([1, 2, 3, 4, 5], n, p=[0.6, 0.25, 0.1, 0.04, 0.01]).tolist()
        ill = rng.integers(0, 3, n).tolist()
        records += [
            (home, [None, "F", "M"][s], None if a == 5 else a, [None, "flu", "cold"][i])
            for s, a, i in zip(sex, age, ill)
        ]
    # Four of a kind in the whole town, one in each corner, and five of another.
    corners = [identifiers[i] for i in (0, SIDE - 1, -SIDE, -1)]
    records += [(home, "F", 98, "flu") for home in corners]
    records += [(home, "M", 99, "flu") for home in (*corners, corners[0])]
    people = [int(n) for n in rng.integers(30, 300, len(identifiers))]
    numbered = [(*row, f"{PERSON}{i}") for i, row in enumerate(records)]
    return Town(identifiers, people, district, borough, numbered)


# ---- what was written, read without QGIS


def rows_in(file):
    """The rows of a GeoPackage or CSV file, by name; numbers of a CSV as numbers."""
    file = Path(file)
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(lines)]
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        table = file.stem.replace('"', '""')
        skipped = ("fid", "geom", "geometry")
        return [
            {name: value for name, value in dict(row).items() if name not in skipped}
            for row in connection.execute(f'SELECT * FROM "{table}"')
        ]


def _value(text):
    try:
        return int(text)
    except ValueError:
        return text or None


def smallest_class_by_sql(file):
    """What a data protection officer would run."""
    statement = (
        f'SELECT min(n) FROM (SELECT {{n}} n FROM "{Path(file).stem}" GROUP BY vbas_level, vbas_region, sex, age)'
    )
    with closing(sqlite3.connect(file)) as connection:
        names = [row[1] for row in connection.execute(f'PRAGMA table_info("{Path(file).stem}")')]
        count = "sum(records)" if "records" in names else "count(*)"
        return connection.execute(statement.format(n=count)).fetchone()[0]


class Recount:
    """A nested release as anybody could check it who holds the records: rows and crosswalk, nothing else."""

    def __init__(self, rows, crosswalk, id_field="da"):
        self.rows, self.crosswalk = rows, crosswalk
        n_levels = sum(name.startswith("vbas_region_") for name in crosswalk[0])
        # At position 0 nothing: levels are numbered from 1.
        self.region_of = [
            {},
            *({row[id_field]: row[f"vbas_region_{level}"] for row in crosswalk} for level in range(1, n_levels + 1)),
        ]
        self.n_levels = n_levels
        self.parent: dict[tuple, object] = {}
        for level in range(1, n_levels):
            for area, region in self.region_of[level].items():
                above = self.region_of[level + 1][area]
                assert self.parent.setdefault((level, region), above) == above, "a region lies in two"
        self.equivalence_classes: Counter[tuple] = Counter()
        for row in rows:
            self.equivalence_classes[row["vbas_level"], row["vbas_region"], (row["sex"], row["age"])] += row.get(
                "records", 1
            )

    @property
    def n_released(self):
        return sum(self.equivalence_classes.values())

    def above(self, level, region, target):
        """The region of a coarser level that holds this one."""
        for one in range(level, target):
            region = self.parent[one, region]
        return region

    def check(self, live, k, least=None):
        """Every class has k records; no region shows more than live in it; only what is rare everywhere is missing.

        live : area, class -> records; least : (population by area, least population) or None
        """
        assert all(records >= k for records in self.equivalence_classes.values())
        for target in range(1, self.n_levels + 1):
            have: Counter[tuple] = Counter()
            show: Counter[tuple] = Counter()
            for (area, one), records in live.items():
                have[self.region_of[target].get(area), one] += records
            for (level, region, one), records in self.equivalence_classes.items():
                if level <= target:
                    show[self.above(level, region, target), one] += records
            assert all(show[place] <= have[place] for place in show), "more are shown than live there"
        top: Counter[tuple] = Counter()
        for (area, one), records in live.items():
            top[self.region_of[-1].get(area), one] += records
        full = {region for region, _ in top if region is not None}
        if least is not None:
            people, fewest = least
            of_region: list[Counter] = [Counter() for _ in range(self.n_levels + 1)]
            for level in range(1, self.n_levels + 1):
                for area, region in self.region_of[level].items():
                    of_region[level][region] += people[area]
            assert all(of_region[level][region] >= fewest for level, region, _ in self.equivalence_classes)
            full = {region for region in full if of_region[-1][region] >= fewest}
        # What is shown at the top, and in whatever lies within.
        expected = {place: records for place, records in top.items() if records >= k and place[0] in full}
        assert {place: records for place, records in show.items() if records} == expected
        assert self.n_released == sum(expected.values())
        return sum(live.values()) - self.n_released

    def check_regions(self, regions):
        """RELEASED_REGIONS: every region of every level once, with its parent, its areas and what it shows."""
        expected: defaultdict[tuple, int] = defaultdict(int)
        for level in range(1, self.n_levels + 1):
            for region in self.region_of[level].values():
                if region is not None:
                    expected[level, region] += 1
        assert {(row["vbas_level"], row["vbas_region"]): row["areas"] for row in regions} == expected
        assert len(regions) == len(expected)
        for row in regions:
            place = row["vbas_level"], row["vbas_region"]
            assert row["vbas_parent"] == self.parent.get(place)
            if "released" in row:
                here, within = self.shown(*place)
                assert (row["released"], row["within"]) == (here, here + within)

    def shown(self, level, region):
        """Records shown in a region, and in the smaller ones within."""
        here = within = 0
        for (shown_at, own, _), records in self.equivalence_classes.items():
            if shown_at == level and own == region:
                here += records
            elif shown_at < level and self.above(shown_at, own, level) == region:
                within += records
        return here, within

    def check_audit(self, audit, live, k):
        """REGION_AUDIT: who is shown here, within, in a larger region or nowhere."""
        top: Counter[tuple] = Counter()
        for (area, one), records in live.items():
            top[self.region_of[-1][area], one] += records
        for row in audit:
            level, region = row["vbas_level"], row["vbas_region"]
            assert row["vbas_parent"] == self.parent.get((level, region))
            of_area = self.region_of[level]
            here = {key: n for key, n in live.items() if of_area[key[0]] == region}
            nowhere = sum(n for (area, one), n in here.items() if top[self.region_of[-1][area], one] < k)
            own = [n for (at, where, _), n in self.equivalence_classes.items() if (at, where) == (level, region)]
            shown, within = self.shown(level, region)
            assert row["records"] == sum(here.values())
            assert (row["shown"], row["finer"], row["suppressed"]) == (shown, within, nowhere)
            assert row["coarser"] == row["records"] - shown - within - nowhere >= 0
            assert (row["classes"], row["smallest"]) == (len(own), min(own, default=0))

    def distances(self, people, points):
        """Level, region -> mean distance of its people from their middle, metres."""
        found = {}
        for level in range(1, self.n_levels + 1):
            members = defaultdict(list)
            for area, region in self.region_of[level].items():
                members[region].append(area)
            for region, areas in members.items():
                weight = np.array([people[area] for area in areas], float)
                at = np.array([points[area] for area in areas])
                middle = weight @ at / weight.sum()
                found[level, region] = float(weight @ np.linalg.norm(at - middle, axis=1) / weight.sum())
        return found

    def mean_distance(self, people, points):
        """Over the released records, that of the region each shows."""
        metres = self.distances(people, points)
        return (
            sum(n * metres[level, region] for (level, region, _), n in self.equivalence_classes.items())
            / self.n_released
        )
