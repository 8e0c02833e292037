"""What the forms of the toolbox are given: for each a function that draws its inputs; choices and numbers for all alike."""

from __future__ import annotations

from vbas.algorithms.catalogue import ALGORITHMS

from . import areas as shapes
from . import people
from .dice import Dice
from .given import Case, Place, Table

ODD_NUMBERS = (
    *(0, -1, 1, 2, 3, 10**9, 10**12, 2**31 - 1, 2**31, 2**63, 1e308, -1e308, 1e15, 1e-308, 0.5, 1.5),
    *("nan", "inf", "-inf", "many", "1e308", "1_000", " 5 ", "٥", "", None, True, [5], [5, 6]),
)
# Numbers that make sense where the default does not: small inputs need small numbers.
SENSIBLE = {
    "K": (2, 2, 3, 3, 4, 5, 8),
    "N_SITES": (1, 2, 3, 4, 6),
    "CUTOFF": (50, 200, 500, 2_000.0),
    "FLOOR": (0, 100, 700),
    "LEAST_POPULATION": (0, 0, 300, 800),
    "COARSEST": (1, 1, 2, 3),
    "RATIO": (1.2, 2, 3),
    "CAPACITY_FACTOR": (0, 1, 1.2, 2),
    "BUDGET": (0, 1, 20, 100),
    "SEED": (0, 1, 7),
    "LOG_BASE": (0, 2, 10),
    "L_DIVERSITY": (1, 1, 2, 3),
    "MAX_SHARE": (100, 100, 60),
    "GAPS_COEFFICIENT": (20.0, 1588.0),
    "GAPS_EXPONENT": (0.42, 0.1),
    "CHARACTERS": (1, 2, 4, 7),
    "LEVEL": (1, 1, 2, 3),
    "K_INNER": (1, 5, 15),
    "K_OUTER": (20, 60),
    "K_MIN": (0, 2, 5),
    "K_2": (2, 20),
    "K_3": (2, 20),
    "RESTARTS": (1, 2),
    "REGROUPINGS": (0, 3),
    "ATTEMPTS": (5, 50),
    "MAXIMUM": (0, 3_000),
    "VARIATION": (0, 0.5),
    "OUTER_FACTOR": (2.0, 10.0),
    "MEMORY": (256, 500),
}
# Numbers given in every case: their defaults are for towns of thousands.
ALWAYS = ("K", "N_SITES", "RESTARTS", "ATTEMPTS", "LEVEL")
# How often a form is drawn; what releases, more often.
WEIGHTS = {"anonymize": 30, "releaserecords": 12, "flattenrelease": 5, "releasedatabase": 3, "donutmask": 6}
WEIGHTS |= {"partitioncells": 5, "evaluate": 5, "compare": 2, "nestlevels": 5, "aggregate": 5, "demonstrationcity": 0.2}
WEIGHTS |= {"profiledatabase": 1, "donutaudit": 2, "checkrelease": 4}
FILES = (".gpkg", ".csv", ".csv", ".gpkg", ".shp", ".geojson", ".xlsx")
PLACES = (
    "/",
    ".",
    "{folder}",
    "{folder}/none/a.gpkg",
    "{folder}/a",
    "{folder}/a.xyz",
    "{folder}/a.gpkg|layername=x",
    "{folder}/select.gpkg",
    "{folder}/a b'c.gpkg",
    '{folder}/a"b.gpkg',
    "{folder}/é.csv",
    "/dev/null",
    "",
    "{folder}/a\x00b.gpkg",
    "{folder}/.gpkg",
    "memory:select",
    "{folder}/" + "a" * 300 + ".gpkg",
    "postgres:x",
    "{folder}/gpkg_contents.gpkg",
    "{folder}/sqlite_master.gpkg",
    "{folder}/rtree_a_geom.gpkg",
    "C:\\a.gpkg",
    "http://localhost/a.gpkg",
    "/vsimem/a.gpkg",
    "{folder}/a.gpkg/",
    "{folder}//a.csv",
    "{folder}/a.CSV",
)
TABLES = ("a", "select", "order", "a b", 'a"b', "a'b", "a\x00b", "", "gpkg_contents", "sqlite_master", "é", "a" * 200)
CRAMPED = ("a.gpkg", "a.csv")  # names that outputs of a run share, now and then


def case_of(seed, number):
    """The case of a number."""
    dice = Dice(seed, number)
    ids = [one.ID for one in ALGORITHMS]
    name = dice.choices(ids, [WEIGHTS.get(one, 1) for one in ids])[0]
    form = next(one for one in ALGORITHMS if name == one.ID)()
    form.initAlgorithm({})
    drawn = FORMS.get(name, lambda town: {})(Town(dice))
    parameters = {one: value for one, value in drawn.items() if form.parameterDefinition(one) is not None}
    for definition in form.parameterDefinitions():
        _fill(dice, definition, parameters)
    return Case(name, parameters, dice.random() * 100 if dice.chance(0.02) else None)


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
        if dice.odd(0.5):
            given["PUBLISHED_MARGINS"] = dice.pick(quasi[0], ";".join(quasi), "nothing", ",;,", quasi[0] * 2)
        elif dice.chance(0.04):
            given["PUBLISHED_MARGINS"] = quasi[0]
        return given

    def coarser(self, table, quasi):
        """GENERALISE with a hierarchy for one field."""
        name = self.dice.choice(quasi)
        level = self.dice.pick("1", "1", "2", "0") if not self.dice.odd(3) else self.dice.pick("-1", "x", "99", "")
        values = list(dict.fromkeys(map(str, filter(lambda one: one is not None, table.values(name)))))
        if self.dice.chance(0.5) and values:
            rows = [(name, value, value[:1], "*") for value in values]
            columns = zip(("attribute", "value", "level_1", "level_2"), map(list, zip(*rows)))
            hierarchy = {"HIERARCHIES": Table(tuple((one, "text", column) for one, column in columns))}
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


def _anonymize(town):
    given = {**town.regions(), **town.people()}
    given["COMBINATION"] = town.dice.pick("custom", "custom", "all-rounder", "fastest", "least suppression")
    if town.dice.chance(0.35):
        given["RELEASE"] = "nested levels"
        if town.dice.chance(0.3):
            given["LEVEL_FIELDS"] = [town.names["id"], town.names["district"], town.names["borough"]]
            if town.dice.odd():
                town.dice.shuffle(given["LEVEL_FIELDS"])
        if "GENERALISE" in given and town.dice.chance(0.5):
            given["LEVELS_COARSER"] = given.pop("GENERALISE")
    return given


def _release(town):
    return {**town.people(), "CROSSWALK": town.crosswalk(), **town.regions(optional=True)}


def _evaluate(town):
    return {**town.people(), "CROSSWALK": town.crosswalk(), **town.regions()}


def _flatten(town):
    table, name = town.release()
    given = {"RECORDS": table, "QUASI_IDENTIFIERS": [name], "CROSSWALK": town.crosswalk(town.dice.pick(2, 3))}
    return {**given, **({"RECORD_COUNT": table.names[-1]} if town.dice.chance(0.5) else {})}


def _check(town):
    table, names = town.records()
    quasi = [name for role, name in names.items() if role.startswith(("quasi", "area"))]
    given = {**town.people(), "QUASI_IDENTIFIERS": quasi, "STOP": town.dice.pick(True, False), **town.regions(True)}
    return {name: value for name, value in given.items() if name not in ("RECORD_REGION", "KEEP_FIELDS")}


def _check_several(town):
    dice, n = town.dice, town.dice.pick(1, 2, 2)
    releases = [
        Table(
            (
                ("vbas_region", "long", [1, 2]),
                ("sex", "text", ["F", "F"]),
                ("records", "long", [dice.randint(1, 40)] * 2),
            )
        )
        for _ in range(n)
    ]
    given = {"RELEASES": releases, "CROSSWALKS": [town.crosswalk(1) for _ in range(n)], "QUASI_IDENTIFIERS": "sex"}
    if dice.odd(3):
        given[dice.choice(list(given))] = dice.pick("nothing", "", [])
    return given


def _register(town):
    return {"REGISTER": town.dice.pick("{folder}/none.gpkg", "/", "", "{folder}", "a\x00b")}


def _sites(town):
    return {**town.regions(), "SITES": town.points(town.dice.randint(1, 4)), **town.people(optional=True)}


def _nest(town):
    given = {**town.regions(), **town.people(optional=True)}
    if town.dice.chance(0.3):
        given["LEVEL_FIELDS"] = [town.names["id"], town.names["district"], town.names["borough"]]
    elif town.dice.chance(0.2):
        given["CROSSWALKS"] = [town.crosswalk(1)]
    return given


def _crop(town):
    given = town.regions()
    if town.dice.chance(0.3):
        given["HIERARCHY"] = town.field("district")
    return given


def _merge(town):
    given = {**town.regions(), **town.people(optional=True), "NEIGHBOUR": town.dice.pick("longest border", "nearest")}
    if "RECORDS" in given and town.dice.chance(0.5):
        given["UNTIL"] = "the records are k-anonymous"
    return given


def _microdata(town):
    dice, n = town.dice, town.dice.randint(1, 60)
    kind, values = people.categories(dice, 3)
    weights = [dice.pick(1.0, 2.5, 10.0) for _ in range(n)]
    if dice.odd(3):
        weights[0] = dice.choice((None, *people.ODD_REALS))
    columns = (
        ("prov", "text", [dice.pick("46", "46", "24") for _ in range(n)]),
        ("sex", kind, [dice.choice(values) for _ in range(n)]),
        ("weight", "real", weights),
    )
    given = {"MICRODATA": Table(columns, stored=people.storage(dice)), "ATTRIBUTES": ["sex"], "WEIGHT": "weight"}
    return given if dice.chance(0.7) else {name: value for name, value in given.items() if name != "WEIGHT"}


def _generate(town):
    given = town.regions()
    given |= {"LEAST": town.dice.pick(0, 1, 3), "MOST": town.dice.pick(3, 8)}
    if town.dice.chance(0.4):
        given |= {
            **_microdata(town),
            "MICRODATA_PROVINCE": "prov",
            "DRAW": town.dice.pick("independent attributes", "whole rows"),
        }
    return given


def _donut(town):
    areas = town.areas()
    given = {"POINTS": town.points(), "AREAS": areas, "AREA_ID": town.field("id"), "POPULATION": town.field("people")}
    if town.dice.chance(0.5):
        given["HOUSEHOLDS"] = town.points()
        if town.dice.chance(0.5):
            given["HOUSEHOLD_COUNT"] = "members"
    if town.dice.chance(0.4):
        given["HOUSEHOLD_ID"] = "home"
    if town.dice.chance(0.2):
        given |= {
            "CATEGORY_FIELD": "kind",
            "CATEGORY_POPULATIONS": ["people", town.field("people"), "others", town.field("people")],
        }
    if town.dice.chance(0.4):
        given["KEEP_FIELDS"] = ["kind"]
    return given


def _donut_audit(town):
    given = {"HOUSEHOLDS": town.points(), "AREAS": town.areas(), "POPULATION": town.field("people")}
    given |= {"K_INNER": town.dice.pick("5,10", "1", "15"), "K_MIN": town.dice.pick("5", "1,2")}
    if town.dice.odd(4):
        given[town.dice.pick("K_INNER", "K_MIN")] = town.dice.pick(
            "", "0", "-1", "1e308", "nan", "5,,6", "a", "5;6", "9" * 40
        )
    return given


def _cells(town):
    areas = town.areas()
    dice = town.dice
    years = tuple((f"year {i}", *people.populations(dice, town.n)) for i in range(dice.randint(1, 3)))
    areas = Table((*areas.columns, *years), areas.shapes, areas.geometry, areas.crs)
    given = {
        "CELLS": areas,
        "CELL_ID": town.field("id"),
        "POPULATIONS": [name for name, _, _ in years],
        "K": dice.pick(2, 50, 300),
    }
    if areas.geometry == "Point":
        given["CELL_SIZE"] = town.side
    return given


def _database(town):
    table, names = town.records()
    text = {name: ";".join(value) if isinstance(value, list) else value for name, value in town.people().items()}
    kept = (
        "RECORD_REGION",
        "QUASI_IDENTIFIERS",
        "RECORD_COUNT",
        "KEEP_FIELDS",
        "PERSON_ID",
        "HOUSEHOLD_ID",
        "SENSITIVE",
    )
    stored = town.dice.pick("parquet", "parquet", "csv")
    connection = Table(table.columns, stored=stored)
    return {"CONNECTION": connection, **{name: text[name] for name in kept if name in text}}


def _release_database(town):
    given = {**_database(town), "CROSSWALK": town.crosswalk(), **town.regions(optional=True)}
    place = town.dice.pick("{folder}/released.parquet", "{folder}/released.csv")
    if town.dice.odd(3):
        place = town.dice.choice(PLACES)
    return {**given, "DESTINATION": place}


def _regions_and_people(town):
    return {**town.regions(), **town.people()}


FORMS = {
    "anonymize": _anonymize,
    "profilerecords": Town.people,
    "sitenumber": _regions_and_people,
    "sitelocation": _regions_and_people,
    "aggregate": _sites,
    "locateallocate": Town.regions,
    "nestlevels": _nest,
    "releaserecords": _release,
    "evaluate": _evaluate,
    "flattenrelease": _flatten,
    "profiledatabase": _database,
    "releasedatabase": _release_database,
    "compare": _regions_and_people,
    "checkrelease": _check,
    "checkreleases": _check_several,
    "editregister": _register,
    "staticcutoff": _nest,
    "cropidentifiers": _crop,
    "mergeadjacent": _merge,
    "estimatedistributions": lambda town: {**_microdata(town), "PROVINCE": "prov"},
    "generaterecords": _generate,
    "donutmask": _donut,
    "donutaudit": _donut_audit,
    "partitioncells": _cells,
}


def _fill(dice, definition, parameters):
    """Numbers, choices and places of a form, where its inputs are drawn already."""
    name, kind = definition.name(), definition.type()
    if definition.isDestination():
        place = _place(dice, name, kind)
        if place is not None or not definition.flags() & definition.Flag.FlagOptional:
            parameters[name] = place or Place("memory:")
    elif kind == "number":
        if dice.odd():
            parameters[name] = dice.choice(ODD_NUMBERS)
        elif name not in parameters and name in SENSIBLE and (name in ALWAYS or dice.chance(0.3)):
            parameters[name] = dice.choice(SENSIBLE[name])
    elif kind == "enum" and name not in parameters:
        options = list(definition.options())
        several = definition.allowMultiple()
        if dice.odd():
            parameters[name] = dice.pick("nothing", -1, 99, "", options[0].upper(), [0, 0])
        elif name in ("PUBLISHED", "RULE"):
            if dice.chance(0.03):
                parameters[name] = dice.choice(options)
        elif several and dice.chance(0.8):
            parameters[name] = sorted(dice.some(range(len(options)), min(1, len(options)), 2))
        elif not several and dice.chance(0.4):
            parameters[name] = dice.choice(options)
    elif kind == "string" and dice.odd(0.5):
        parameters[name] = dice.choice(("", "nothing", "\x00", "a;b", "'", '"', "1,2", "0", "-1", "1e308"))
    elif kind == "matrix" and dice.odd():
        parameters[name] = dice.pick([], ["a"], ["a", "b"], [None, None], "a,b,c", [1, 2])
    elif dice.odd(0.2):
        parameters[name] = dice.pick("", "nothing", None, 5)
    if dice.odd(0.02):
        parameters[dice.pick(name.lower(), f"{name}S", "NOTHING")] = 1


def _place(dice, name, kind):
    """Where an output goes, None for nowhere."""
    if kind == "fileDestination":
        return Place(f"{{folder}}/{name.lower()}.html") if dice.chance(0.06) else None
    if dice.odd(2):
        text = dice.choice(PLACES)
        if dice.chance(0.3):
            text = f"ogr:dbname='{{folder}}/database.gpkg' table=\"{dice.choice(TABLES)}\""
        elif dice.chance(0.3):
            text = f"{{folder}}/{dice.choice(CRAMPED)}"
        return Place(text, b"old" if dice.chance(0.3) and text.startswith("{folder}/") else None)
    if dice.chance(0.12 if name in ("RELEASED_RECORDS", "FLATTENED") else 0.03):
        ending = dice.choice(FILES[:2]) if not dice.chance(0.3) else dice.choice(FILES)
        return Place(f"{{folder}}/{name.lower()}{ending}", b"old" if dice.chance(0.1) else None)
    return Place("memory:") if dice.chance(0.75) else None
