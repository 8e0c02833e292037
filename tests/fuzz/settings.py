"""Numbers, choices and places of a form, sensible ones and others."""

from __future__ import annotations

from .given import Place, Table

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
    "LEAVE_OUT": (1, 3, 9),
    "WEIGHTS": ("compactness=1", "suppression_percent=3, seconds=0.5"),
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
    "CLOSED_BY_CHANCE": (0, 0.2, 5, 50),
    "LEAST_LEFT_AREAS": (0, 0, 1, 2, 4),
    "LEAST_LEFT_PEOPLE": (0, 0, 100, 800),
}
# How often something is done: a form takes any number, and what is done a billion times ends when its user ends it.
REPEATED = ("RESTARTS", "REGROUPINGS", "ATTEMPTS")
MOST_REPEATED = 1_000
# Numbers given in every case: their defaults are for towns of thousands.
ALWAYS = ("K", "N_SITES", "RESTARTS", "ATTEMPTS", "LEVEL")
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


SAID = ("SERIES", "PURPOSE", "RECIPIENT", "PREPARED_BY", "LICENCE", "NAME", "WHO")
WORDS = ("Registry & Co", "étude nº 1", "<b>monthly</b>", "a\nb", " x ", "2026-01", "=1+1", "“so”")


def fill(dice, definition, parameters):
    """Numbers, choices and places of a form, where its inputs are drawn already."""
    name, kind = definition.name(), definition.type()
    if definition.isDestination():
        place = _place(dice, name, kind)
        if place is not None or not definition.flags() & definition.Flag.FlagOptional:
            parameters[name] = place or Place("memory:")
    elif kind == "number":
        if dice.odd():
            parameters[name] = dice.choice(_odd_numbers(name))
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
    elif name in SAID and dice.chance(0.05):
        parameters[name] = dice.choice(WORDS)
    elif kind == "boolean" and name not in parameters and dice.chance(0.2):
        parameters[name] = not definition.defaultValue()
    elif kind == "field" and name not in parameters and dice.chance(0.025):
        table = parameters.get(definition.parentLayerParameterName())
        if isinstance(table, Table) and table.names:
            parameters[name] = dice.choice(table.names)
    elif kind == "matrix" and dice.odd():
        parameters[name] = dice.pick([], ["a"], ["a", "b"], [None, None], "a,b,c", [1, 2])
    elif dice.odd(0.2):
        parameters[name] = dice.pick("", "nothing", None, 5)
    if dice.odd(0.02):
        parameters[dice.pick(name.lower(), f"{name}S", "NOTHING")] = 1


def _odd_numbers(name):
    """Numbers that a parameter of this name may be given where it is given an odd one."""
    if name not in REPEATED:
        return ODD_NUMBERS
    return [n for n in ODD_NUMBERS if not isinstance(n, (int, float)) or n <= MOST_REPEATED]


def _place(dice, name, kind):
    """Where an output goes, None for nowhere."""
    if kind == "folderDestination":
        return Place(f"{{folder}}/{name.lower()}") if dice.chance(0.1) else None
    if kind == "fileDestination":
        ending = {"JOB_FILE": ".toml", "SIGN_PAGE": ".pdf"}.get(name, ".html")
        return Place(f"{{folder}}/{name.lower()}{ending}") if dice.chance(0.06) else None
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
