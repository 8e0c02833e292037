"""The inputs that a case shares: areas with identifiers, people who live in them, and what others made of both."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from . import areas as shapes
from . import people
from .given import Table
from .reading import identity, plain


class Town:
    """What the inputs of a case share: areas with identifiers, and people who live in them."""

    def __init__(self, dice):
        self.dice = dice
        self.geometry, self.crs, self.shapes, self.corners, self.side = shapes.town(dice)
        self.n = len(self.corners)
        self.id_kind, self.ids = people.identifiers(dice, self.n)
        wanted = {
            "id": dice.choice(people.NAMES["area"]),
            "people": "people",
            "district": "district",
            "borough": "borough",
        }
        self.names = people.unique_names(dice, wanted)
        self._records = None
        self.known = {}

    def areas(self):
        district = [i // 3 for i in range(self.n)]
        if self.dice.odd():
            district = [self.dice.choice((None, 1, 2)) for _ in range(self.n)]
        columns = (
            (self.names["id"], self.id_kind, self.ids),
            (self.names["people"], *people.populations(self.dice, self.n)),
            (self.names["district"], "integer", district),
            (self.names["borough"], "text", [None if one is None else f"b{one // 2}" for one in district]),
        )
        return Table(
            columns,
            self.shapes,
            self.geometry,
            self.crs,
            selected=self.dice.pick(None, None, None, 2) if self.dice.odd(2) else None,
        )

    def regions(self, optional=False, name="REGIONS"):
        """REGIONS and its fields."""
        if optional and not self.dice.chance(0.4):
            return {}
        given = {name: self.areas(), "REGION_ID": self.field("id")}
        if self.dice.chance(0.6):
            given["POPULATION"] = self.field("people")
        return given

    def field(self, role):
        """The field of a role; now and then another one."""
        if self.dice.odd(0.5):
            return self.dice.choice((*self.names.values(), "nothing", "", "FID", "$id"))
        return self.names[role]

    def records(self):
        if self._records is None:
            self._records = people.records(self.dice, self.ids, self.id_kind)
        return self._records

    def people(self, optional=False, fields_as_text=False):
        """RECORDS and its fields."""
        if optional and not self.dice.chance(0.5):
            return {}
        table, names = self.records()
        quasi = [name for role, name in names.items() if role.startswith("quasi")]
        kept = [name for role, name in names.items() if role.startswith("kept")]
        dice = self.dice
        given = {"RECORDS": table, "RECORD_REGION": names["area"], "QUASI_IDENTIFIERS": quasi}
        if kept and dice.chance(0.5):
            given["KEEP_FIELDS"] = kept[:1]
        if kept and dice.chance(0.3):
            given["SENSITIVE"] = kept[-1:]
        if "count" in names and dice.chance(0.7):
            given["RECORD_COUNT"] = names["count"]
        elif dice.chance(0.5):
            given |= {
                p: names[role] for p, role in (("PERSON_ID", "person"), ("HOUSEHOLD_ID", "household")) if role in names
            }
        if dice.odd():
            given[dice.choice(list(given)[1:])] = dice.choice([*table.names, "nothing", "", table.names])
        if dice.chance(0.12):
            given |= self.coarser(table, quasi)
        if dice.chance(0.1):
            given |= self.periods(table)
        if dice.odd(0.5):
            given["PUBLISHED_MARGINS"] = dice.pick(quasi[0], ";".join(quasi), "nothing", ",;,", quasi[0] * 2)
        elif dice.chance(0.04):
            given["PUBLISHED_MARGINS"] = quasi[0]
        if dice.chance(0.05):
            given |= self.counts(table, quasi[0], given)
        return given

    def periods(self, table):
        """RECORDS with a column of periods, which is PERIOD."""
        kind, values = self.dice.pick(("integer", [2024, 2025]), ("text", ["spring", "autumn", None]), ("integer", [1]))
        wave = ("wave", kind, [self.dice.choice(values) for _ in range(len(table))])
        return {"RECORDS": replace(table, columns=(*table.columns, wave)), "PERIOD": "wave"}

    def counts(self, table, name, given):
        """PUBLISHED_COUNTS: of every area, how many people have each value of a field."""
        kind, values = next((kind, values) for one, kind, values in table.columns if one == name)
        number = table.values(given.get("RECORD_COUNT")) if given.get("RECORD_COUNT") else [1] * len(table)
        people: dict[tuple, int] = {}
        for area, value, n in zip(table.values(given["RECORD_REGION"]), values, number):
            with suppress(TypeError, ValueError, OverflowError):
                key = identity(plain(area)), repr(value)
                people[key] = people.get(key, 0) + int(float(n))
        shown = {repr(value): value for value in values if value is not None}
        rows = [
            (area, value, people.get((identity(plain(area)), key), 0))
            for area in dict.fromkeys(self.ids)
            for key, value in shown.items()
        ]
        if self.dice.odd(2):
            rows = [
                (area, value, self.dice.pick(n, n + 1, None, -1, 2**40)) for area, value, n in rows[: len(rows) // 2]
            ]
        areas, of, counts = ([row[i] for row in rows] for i in range(3))
        columns = (("place", self.id_kind, areas), (name, kind, of), ("number", "long", counts))
        return {"PUBLISHED_COUNTS": Table(columns), "PUBLISHED_AREA": "place", "PUBLISHED_NUMBER": "number"}

    def coarser(self, table, quasi):
        """GENERALISE with a hierarchy for one field."""
        name = self.dice.choice(quasi)
        level = self.dice.pick("1", "1", "2", "0") if not self.dice.odd(3) else self.dice.pick("-1", "x", "99", "")
        values = list(dict.fromkeys(map(str, filter(lambda one: one is not None, table.values(name)))))
        if self.dice.chance(0.5) and values:
            rows = [(name, value, value[:1], "*") for value in values]
            columns = zip(("attribute", "value", "level_1", "level_2"), map(list, zip(*rows)))
            hierarchy: dict[str, object] = {
                "HIERARCHIES": Table(tuple((one, "text", column) for one, column in columns))
            }
        else:
            rule = self.dice.pick("leading characters 1 *", "*", "bands 5 10", "other below 20 *")
            if self.dice.odd(3):
                rule = self.dice.pick(
                    "bands 0", "bands 1e9", "leading characters 0", "other below", "", "bands " + "9" * 30
                )
            hierarchy = {"HIERARCHY_RULES": [name, rule]}
        return {"GENERALISE": [name, level], **hierarchy}

    def crosswalk(self, levels=None):
        """CROSSWALK: of one level or nested ones."""
        dice = self.dice
        levels = levels or dice.pick(1, 1, 2, 3)
        finest = [1 + i // dice.pick(1, 2) for i in range(self.n)]
        columns = [finest]
        for _ in range(levels - 1):
            columns.append([1 + (number - 1) // 3 for number in columns[-1]])
        names = ["vbas_region"] if levels == 1 else [f"vbas_region_{level + 1}" for level in range(levels)]
        kind = dice.pick("long", "integer", "text", "real")
        convert = {"text": str, "real": float}.get(kind, int)
        columns = [[convert(one) for one in column] for column in columns]
        if dice.odd(3):
            column = dice.choice(columns)
            odd = {
                "text": ("1" + "0" * 20, "--1", "-1", "1.5", "", "one", None, "01", " 1", "1e3", "٣"),
                "real": (1e20, 1.5, None, -1.0, float("nan"), float("inf"), 1e308),
            }
            column[dice.randrange(self.n)] = dice.choice(odd.get(kind, (None, -1, 0, 2**31 - 1)))
        ids = list(self.ids)
        if dice.odd(2):
            ids[dice.randrange(self.n)] = dice.choice((None, ids[0]))
        found = [(self.names["id"], self.id_kind, ids), *((name, kind, one) for name, one in zip(names, columns))]
        if dice.odd():
            found.append(("more", "text", ["x"] * self.n))
        return Table(tuple(found), stored=people.storage(dice))

    def release(self):
        """Rows as a nested release has them."""
        dice = self.dice
        n = dice.randint(1, 120)
        kind, values = people.categories(dice, 2)
        levels = [dice.pick(1, 1, 2) for _ in range(n)]
        regions = [dice.randint(1, 2) if level == 1 else 1 for level in levels]
        if dice.odd(2):
            levels[0] = dice.pick(None, 0, -1, 99)
        if dice.odd(2):
            regions[0] = dice.pick(None, 0, -1, 99_999)
        name = dice.choice(people.ODD_NAMES) if dice.odd(3) else "sex"
        columns = (
            ("vbas_level", "long", levels),
            ("vbas_region", "long", regions),
            (name, kind, [dice.choice(values) for _ in range(n)]),
            ("records" if name != "records" else "n", *people.counts(dice, n)),
        )
        return Table(columns, stored=people.storage(dice)), name

    def points(self, n=None):
        dice = self.dice
        n = n or dice.randint(1, 60)
        table = shapes.points_in(dice, self.corners, self.side, self.crs if not dice.odd() else "EPSG:4326", n)
        columns = (
            ("home", "text", [dice.pick("a", "b", f"h{i}") for i in range(n)]),
            ("members", *people.counts(dice, n)),
            ("kind", "text", [dice.pick("people", "others", None) for _ in range(n)]),
        )
        return Table(columns, table.shapes, table.geometry, table.crs)
