"""What the forms of the toolbox are given: a function for each draws its inputs."""

from __future__ import annotations

from dataclasses import replace

from vbas.algorithms.catalogue import ALGORITHMS

from . import people
from .carried import carried_on
from .dice import Dice
from .earlier import earlier_register
from .given import Case, Place, Table
from .invented import generate, microdata
from .registers import drawn_register
from .settings import PLACES, WORDS, fill
from .several import check_several
from .town import Town

# How often a form is drawn; what releases, more often.
WEIGHTS: dict[str, float] = {
    "anonymize": 30,
    "releaserecords": 12,
    "flattenrelease": 5,
    "spreadrelease": 4,
    "ratemap": 2,
    "clusterscan": 2,
    "moran": 2,
    "releasedatabase": 4,
    "anonymizedatabase": 3,
    "donutmask": 6,
}
WEIGHTS |= {"partitioncells": 5, "evaluate": 5, "compare": 3, "nestlevels": 5, "aggregate": 5, "demonstrationcity": 0.2}
WEIGHTS |= {
    "updaterelease": 6,
    "donutaudit": 2,
    "checkrelease": 4,
    "checkreleases": 4,
    "editregister": 2,
    "generaterecords": 2,
}


def case_of(seed, number):
    """The case of a number."""
    dice = Dice(seed, number)
    ids = [algorithm.ID for algorithm in ALGORITHMS]
    name = dice.choices(ids, [WEIGHTS.get(one, 1) for one in ids])[0]
    form = next(algorithm for algorithm in ALGORITHMS if name == algorithm.ID)()
    form.initAlgorithm({})
    town = Town(dice)
    drawn = FORMS.get(name, lambda town: {})(town)
    parameters = {one: value for one, value in drawn.items() if form.parameterDefinition(one) is not None}
    for definition in form.parameterDefinitions():
        fill(dice, definition, parameters)
    return Case(name, parameters, dice.random() * 100 if dice.chance(0.02) else None, town.known)


def _anonymize(town):
    given = {**town.regions(), **town.people()}
    if town.dice.chance(0.06):
        given["REGISTER"] = earlier_register(town)
    given["COMBINATION"] = town.dice.pick("custom", "custom", "all-rounder", "fastest", "least suppression")
    if town.dice.chance(0.35):
        given["RELEASE"] = "nested levels"
        if town.dice.chance(0.3):
            given["LEVEL_FIELDS"] = [town.names["id"], town.names["district"], town.names["borough"]]
            if town.dice.odd():
                town.dice.shuffle(given["LEVEL_FIELDS"])
        if "GENERALISE" in given and town.dice.chance(0.5):
            given["LEVELS_COARSER"] = given.pop("GENERALISE")
        if town.dice.chance(0.4):
            given["DISCLOSURE"] = "no small count follows"
    return given


def _release(town):
    given = {**town.people(), "CROSSWALK": town.crosswalk(), **town.regions(optional=True)}
    if town.dice.chance(0.3):
        given["DISCLOSURE"] = "no small count follows"
    return {**given, "REGISTER": earlier_register(town)} if town.dice.chance(0.06) else given


def _update(town):
    """Of months carried on; now and then of a register of another geography, which is refused."""
    carried = carried_on(town) if town.dice.chance(0.9) else None
    if carried is not None:
        return carried
    given = {**town.people(), "CROSSWALK": town.crosswalk(), **town.regions(optional=True)}
    return {**given, "REGISTER": earlier_register(town)}


def _evaluate(town):
    return {**town.people(), "CROSSWALK": town.crosswalk(), **town.regions()}


def _flatten(town):
    table, name = town.release()
    given = {"RECORDS": table, "QUASI_IDENTIFIERS": [name], "CROSSWALK": town.crosswalk(town.dice.pick(2, 3))}
    return {**given, **({"RECORD_COUNT": table.names[-1]} if town.dice.chance(0.5) else {})}


def _spread(town):
    dice = town.dice
    table, name = town.release()
    given = {"RECORDS": table, "QUASI_IDENTIFIERS": [name], "CROSSWALK": town.crosswalk(dice.pick(2, 3))}
    given |= {"POPULATION": town.field("people"), **town.regions()}
    given |= {**({"RECORD_COUNT": table.names[-1]} if dice.chance(0.5) else {})}
    if dice.chance(0.5):
        given["GROUPS"] = [name]
    if dice.chance(0.3):
        given["EXPOSURE_FIELDS"] = [town.field("people")]
    if dice.chance(0.4):
        values = next(values for one, _, values in table.columns if one == name)
        kind = next(kind for one, kind, _ in table.columns if one == name)
        shown = list(dict.fromkeys(map(repr, values)))
        first = [next(value for value in values if repr(value) == text) for text in shown]
        rows = [(area, value) for area in town.ids for value in first]
        columns = (
            ("place", "text", [area for area, _ in rows]),
            (name, kind, [value for _, value in rows]),
            ("number", "long", [dice.randint(0, 60) for _ in rows]),
        )
        given |= {"MARGINS": Table(columns), "MARGIN_AREA": "place", "MARGIN_FIELDS": [name], "MARGIN_COUNT": "number"}
    return given


def _studied(town):
    dice, given = town.dice, _spread(town)
    table, name = given["RECORDS"], given["QUASI_IDENTIFIERS"][0]
    n = len(table.columns[0][2])
    kinds = dice.pick((1, 0), (1, 0, 0, 0), ("ill", "well", None), (0,), (1,))
    ill = [dice.pick(*kinds) for _ in range(n)]
    kind = "text" if "ill" in kinds else "long"
    columns = (*table.columns[:1], ("case", kind, ill), *table.columns[1:])
    given["RECORDS"] = Table(columns, table.shapes, table.geometry, table.crs)
    given |= {"CASE_FIELD": "case", "DRAWS": dice.pick(19, 39), "SIGNIFICANCE": dice.pick(0.05, 0.5)}
    given |= {"LARGEST": dice.pick(50.0, 10.0), "BANDWIDTH": dice.pick(0.0, 700.0)}
    if kind == "text":
        given["CASE_VALUES"] = dice.pick("ill", "ill;well", " ill ", "dead", ";")
    if dice.chance(0.2):
        given["ADJUST"] = [name]
    if dice.odd(12):
        given["CASE_FIELD"] = name
    return {one: value for one, value in given.items() if one not in ("GROUPS", "EXPOSURE_FIELDS")}


def _check(town):
    _, names = town.records()
    quasi = [name for role, name in names.items() if role.startswith(("quasi", "area"))]
    given = {**town.people(), "QUASI_IDENTIFIERS": quasi, "STOP": town.dice.pick(True, False), **town.regions(True)}
    return {name: value for name, value in given.items() if name not in ("RECORD_REGION", "KEEP_FIELDS")}


def _register(town):
    dice = town.dice
    if dice.odd(2):
        return {"REGISTER": dice.pick("{folder}/none.gpkg", "/", "", "{folder}", "a\x00b")}
    register = drawn_register(dice)
    given: dict[str, object] = {"REGISTER": register}
    there = [row[0] for table, rows in register.rows if table == "vbas_releases" for row in rows]
    number = dice.choice(there) if there and not dice.odd() else dice.randint(1, 8)
    what = dice.pick("remove", "remove", "points", "rename", "approve", "look", "list")
    if what in ("remove", "points"):
        given["NEVER_PUBLISHED"] = dice.pick(True, True, True, False)
        given |= {"REMOVE": number} if what == "remove" else {"REMOVE_POINTS": 1}
    elif what == "rename":
        given |= {"RENAME": number, "NAME": dice.choice(WORDS)}
    elif what == "approve":
        given |= {"APPROVE": number, "WHO": dice.choice(WORDS)}
    elif what == "look":
        given |= {"DETAIL": Place("memory:"), **town.regions()}
    return given


def _sites(town):
    return {**town.regions(), "SITES": town.points(town.dice.randint(1, 4)), **town.people(optional=True)}


def _nest(town):
    given = {**town.regions(), **town.people(optional=True)}
    if town.dice.chance(0.3):
        given["LEVEL_FIELDS"] = [town.names["id"], town.names["district"], town.names["borough"]]
    elif town.dice.chance(0.2):
        given["CROSSWALKS"] = [town.crosswalk(1)]
    if "RECORDS" in given and town.dice.chance(0.2):
        given["HELD_PERCENT"] = town.dice.pick(0, 50, 80, 100)
    if "RECORDS" in given and town.dice.chance(0.2):
        given["RESERVE"] = town.dice.pick(1, 1.5, 3)
    if "RECORDS" in given and town.dice.chance(0.2):
        table = given["RECORDS"]
        given["MORE_RECORDS"] = [table.taken([row for row in range(len(table)) if town.dice.chance(0.8)])]
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


def _donut(town):
    areas = town.areas()
    given = {"POINTS": town.points(), "AREAS": areas, "AREA_ID": town.field("id"), "POPULATION": town.field("people")}
    if town.dice.chance(0.5):
        given["HOUSEHOLDS"] = town.points()
        if town.dice.chance(0.5):
            given["HOUSEHOLD_COUNT"] = "members"
    if town.dice.chance(0.4):
        given["HOUSEHOLD_ID"] = "home"
    if "HOUSEHOLDS" in given and town.dice.chance(0.2):
        given |= {"EARLIER": town.points(), "EARLIER_ID": "home"}
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
        given |= {"COMPARE_WITH": ["random perturbation", "centre of the area"], "K_OUTER": "60,200"}
        given |= {"PLANTED_CLUSTERS": 1, "CLUSTER_CASES": town.dice.pick(1, 30)}
    if town.dice.odd(4):
        given[town.dice.pick("K_INNER", "K_MIN", "K_OUTER")] = town.dice.pick(
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


def _mend(town):
    return {**_cells(town), "CROSSWALK": town.crosswalk(1)}


def _dots(town):
    dice, groups = town.dice, town.areas()
    given = {"GROUPS": groups, "GROUP_ID": town.field("id"), "LEAST": dice.pick(2, 3, 10)}
    given["PEOPLE_PER_DOT"] = dice.pick(1, 1, 7)
    if dice.chance(0.6):
        drawn = town.people()
        quasi = drawn["QUASI_IDENTIFIERS"]
        given["CATEGORY"] = quasi[0] if isinstance(quasi, list) and quasi else quasi
        return {
            **given,
            **{name: drawn[name] for name in ("RECORDS", "RECORD_REGION", "RECORD_COUNT") if name in drawn},
        }
    shares = [dice.pick(0.0, 0.25, 0.5, 1.0) for _ in range(town.n)]
    if dice.odd(3):
        shares[dice.randrange(town.n)] = dice.pick(-0.1, 1.5, None, float("nan"))
    people_of = [dice.randint(0, 60) for _ in range(town.n)]
    more = (("share", "real", shares), ("inhabitants", "long", people_of))
    given["GROUPS"] = Table((*groups.columns, *more), groups.shapes, groups.geometry, groups.crs)
    return {**given, "PEOPLE": "inhabitants", "RATE": "share"}


def _database(town):
    given = town.people()
    table = given.pop("RECORDS")
    for name in ("QUASI_IDENTIFIERS", "KEEP_FIELDS", "SENSITIVE"):
        if isinstance(given.get(name), list):
            given[name] = ";".join(given[name])
    texts = [(name, values) for name, kind, values in table.columns if kind == "text" and any(values)]
    if texts and town.dice.chance(0.1):
        name, values = town.dice.choice(texts)
        given["FILTER"] = [name, "=", town.dice.choice([value for value in values if value])]
    return {**given, "CONNECTION": _in_an_engine(town, table)}


def _in_an_engine(town, table):
    return Table(table.columns, stored=town.dice.pick("parquet", "parquet", "csv"))


def _release_database(town):
    given = {**_database(town), "CROSSWALK": town.crosswalk(), **town.regions(optional=True)}
    carried = carried_on(town) if town.dice.chance(0.3) else None
    if carried is not None:
        given = {name: ";".join(value) if isinstance(value, list) else value for name, value in carried.items()}
        given["CONNECTION"] = _in_an_engine(town, given.pop("RECORDS"))
        given["UPDATE"] = town.dice.pick("a further period", "the same people updated")
    place = town.dice.pick("{folder}/released.parquet", "{folder}/released.csv")
    if town.dice.odd(3):
        place = town.dice.choice(PLACES)
    return {**given, "DESTINATION": place}


def _anonymize_database(town):
    of_regions = ("REGIONS", "REGION_ID", "POPULATION", "COMBINATION", "RELEASE", "LEVEL_FIELDS", "REGISTER")
    given = {name: value for name, value in _anonymize(town).items() if name in of_regions} | _database(town)
    places = ("{folder}/released.parquet", "{folder}/released.parquet", "{folder}/released.csv", "")
    return {**given, "DESTINATION": town.dice.pick(*places)}


def _regions_and_people(town):
    return {**town.regions(), **town.people()}


def _compare(town):
    given = _regions_and_people(town)
    if town.dice.chance(0.4):
        given["K_VALUES"] = town.dice.pick("2,3", "4", "2, 10")
    if town.dice.chance(0.3):
        given["BUDGETS"] = town.dice.pick("5", "1,20", "0,50")
    if town.dice.chance(0.3):
        given |= {"SCENARIOS": town.dice.pick(1, 2, 5), "LEAST_ATTRIBUTES": town.dice.pick(1, 1, 2)}
        if town.dice.chance(0.7):
            given["PART_FIELD"] = town.dice.choice((*town.names.values(), "nothing"))
    if town.dice.chance(0.2):
        given["ANALYSES"] = town.dice.pick(1, 3)
    return given


def _linked(town):
    """Persons by the key that they may have, and a table of some of their rows, whole or with keys of nobody."""
    given = {**town.regions(), **town.people()}
    table, dice = given["RECORDS"], town.dice
    if not isinstance(table, Table):
        return given
    if "key" not in table.names:
        keys = [f"p{i}" for i in range(len(table))]
        table = given["RECORDS"] = replace(table, columns=(*table.columns, ("key", "text", keys)))
    key = dice.choice(table.names) if dice.chance(0.1) else "key"
    values = [value for value in table.values(key) for _ in range(dice.pick(0, 1, 1, 1, 2, 3))]
    values += [None] if dice.odd() else []
    known = ["", "linked_tables0.month"] if not dice.odd() else ["month", "linked_tables0."]
    keys_of_rows = [None if value is None else str(value) for value in values]
    drugs = "drug", "text", [dice.pick("a", "a", "b", None) for _ in values]
    rows = Table((("key", "text", keys_of_rows), drugs, _months(dice, values)))
    other = dice.pick("", "", "LINKED_KEEP", "LINKED_SENSITIVE", "LINKED_KNOWN")
    for name in ("RECORD_COUNT", "PERSON_ID"):
        given.pop(name, None)
    return {
        **given,
        "KEY": key,
        "LINKED_TABLES": [rows],
        "LINKED_KEYS": dice.pick("", "", "linked_tables0.key"),
        "LINKED_KNOWN": dice.choice(known),
        **({other: "linked_tables0.drug"} if other else {}),
        "ROWS_KNOWN": dice.pick("all rows", "one row"),
        "NEW_KEY": dice.chance(0.5),
        "COUNT_KNOWN": dice.chance(0.5),
        "LINKED_K": 99 if dice.odd() else dice.pick(0, 0, 2),
        "UNMATCHED": dice.pick("stop", "suppress"),
        "RELEASED_TABLES": Place("{folder}/tables.gpkg"),
    }


def _months(dice, values):
    return "month", "integer", [dice.pick(1, 2, None) for _ in values]


FORMS = {
    "anonymize": _anonymize,
    "anonymizelinked": _linked,
    "profilerecords": Town.people,
    "sitenumber": _regions_and_people,
    "sitelocation": _regions_and_people,
    "aggregate": _sites,
    "locateallocate": Town.regions,
    "nestlevels": _nest,
    "releaserecords": _release,
    "updaterelease": _update,
    "evaluate": _evaluate,
    "flattenrelease": _flatten,
    "spreadrelease": _spread,
    "ratemap": _studied,
    "clusterscan": _studied,
    "moran": _studied,
    "anonymizedatabase": _anonymize_database,
    "profiledatabase": _database,
    "releasedatabase": _release_database,
    "compare": _compare,
    "checkrelease": _check,
    "checkreleases": check_several,
    "editregister": _register,
    "staticcutoff": _nest,
    "cropidentifiers": _crop,
    "mergeadjacent": _merge,
    "estimatedistributions": lambda town: {**microdata(town), "PROVINCE": "prov"},
    "generaterecords": generate,
    "donutmask": _donut,
    "donutaudit": _donut_audit,
    "partitioncells": _cells,
    "mendpartition": _mend,
    "dotmap": _dots,
}
