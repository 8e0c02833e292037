"""Fields and values: identifiers, classes, counts, and the names that fields should not have."""

from __future__ import annotations

from .given import Table

NAMES = {"area": ("da", "DA", "home", "id"), "quasi": ("sex", "age", "group", "origin"), "kept": ("diagnosis", "year")}
ODD_NAMES = (
    *("records", "geom", "GEOM", "DA", "fid", "FID", "ogc_fid", "vbas_region", "vbas_level", "vbas_records", "rowid"),
    *("_rowid_", "oid", "geometry", "size", "n", "order", "select", "group", "from", "index", "level", "table", "null"),
    *('a"b', "a'b", "a`b", "a b", " a", "a ", "a;b", "a,b", "a|b", "a=b", "a%sb", "a{x}b", "a{b", "a\\b", "[a]", "a.b"),
    *("é", "地区", "Sex", "SEX", "<b>a</b>", "<script>alert(1)</script>", "=1+1", "@a", "-", "--", "1", "a\nb", "a\tb"),
    *("x" * 63, "y" * 300, "true", "count", "records_2", "vbas_values", "WKT", "X", "$id", '"', '""', "''", "\u202ea"),
)
ODD_TEXTS = (
    *("", " ", "  F", "F ", "f", "NULL", "null", "None", "nan", "NaN", "inf", "0", "1", "01", "1.0", "1e3", "-0", "+1"),
    *("=1+1", "=cmd|' /C calc'!A0", "+1", "@SUM(1)", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    *('"', "'", '""', ",", ";", "a,b", 'a"b', "a\nb", "a\r\nb", "\r", "\t", "\x01", "\x0b", "\x1f", "\x7f", "\x00"),
    *("é", "e\u0301", "ß", "İ", "\u202e", "\ufeff", "\ufffd", "😀", "地区", "true", "false", "2020-01-01", "{x}", "%s"),
    *("other", "*", "$", "|", "\\N", "\\", "a" * 300, "1" * 400, "../../etc/passwd", "'; DROP TABLE x; --"),
)
ODD_NUMBERS = (0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
ODD_REALS = (0.0, -0.0, -1.0, 0.5, 1e308, 1e15, 1e9, 1e-308, float("nan"), float("inf"), float("-inf"), 1e20)

# Kinds of fields that few tables have: some formats keep them, others write them as text.
OTHERS: dict[str, list] = {
    "json": [{"a": 1}, {"a": [1, {"b": "“x”"}]}, {"": None}],
    "list": [["a", "b"], ["a,b"], [""]],
    "binary": [b"\x00\xff", b"abc", b"\x80"],
    "time": ["12:30:00", "00:00:00", "23:59:59"],
    "moment": ["2020-02-29T12:30:00", "1999-12-31T23:59:59", "2020-02-29T12:30:01"],
}


def unique_names(dice, wanted):
    """A name for each role, all different; now and then odd ones."""
    found: dict[str, str] = {}
    for role, usual in wanted.items():
        name = dice.choice(ODD_NAMES) if dice.odd() else usual
        while name in found.values():
            name = usual if usual not in found.values() else f"{name}_"
        found[role] = name
    return found


def identifiers(dice, n):
    """(kind, n identifiers of areas)."""
    kind = dice.pick("text", "text", "text", "long", "number text", "padded", "real")
    if kind == "long":
        values: list = [46_110_000 + i for i in range(n)]
    elif kind == "real":
        values = [float(46_110_000 + i) for i in range(n)]
    elif kind == "number text":
        values = [str(46_110_000 + i) for i in range(n)]
    elif kind == "padded":
        values = [f"{i:04d}" for i in range(n)]
    else:
        values = [f"46-{i}" for i in range(n)]
    if dice.odd(2):
        at = dice.randrange(n)
        if kind in ("long", "real"):
            values[at] = dice.pick(None, values[0], *(map(float, ODD_NUMBERS) if kind == "real" else ODD_NUMBERS))
        else:
            values[at] = dice.pick(None, values[0], *ODD_TEXTS)
    return {"long": "long", "real": "real"}.get(kind, "text"), values


def populations(dice, n):
    """(kind, n numbers of people)."""
    kind = dice.pick("long", "real", "integer")
    values = [dice.randint(0, 900) for _ in range(n)]
    if dice.chance(0.1):
        values = [0] * n
    if kind == "real":
        values = [value + dice.pick(0.0, 0.5) for value in values]
        if dice.odd(3):
            values[dice.randrange(n)] = dice.pick(None, *ODD_REALS)
        if dice.odd():
            values = [dice.choice(ODD_REALS)] * n
    elif dice.odd(2):
        values[dice.randrange(n)] = dice.pick(None, -1, 2**31 - 1, 0)
    if dice.odd():
        return "text", [dice.pick(str(value), "many", "", "1e308") for value in values]
    return kind, values


def categories(dice, n_categories=None):
    """(kind, a few values of a quasi-identifier)."""
    kind = dice.pick("text", "text", "text", "integer", "long", "real", "boolean", "date")
    if dice.odd():
        kind = dice.choice(list(OTHERS))
        return kind, [*OTHERS[kind], None][: n_categories or dice.randint(1, 4)]
    n_categories = n_categories or dice.randint(1, 4)
    of_kind: dict[str, list] = {
        "text": ["F", "M", "X", "young", "old"],
        "integer": [1, 2, 3, 40, 85],
        "long": [1, 2, 30, 40, 5_000_000_000],
        "real": [0.5, 1.0, 2.25, 40.0, 1e6],
        "boolean": [True, False],
        "date": ["2020-01-01", "1999-12-31", "2000-02-29"],
    }
    values = of_kind[kind][:n_categories]
    if dice.chance(0.25):
        values.append(None)
    if dice.odd(3):
        odd = {"text": ODD_TEXTS, "real": ODD_REALS, "long": ODD_NUMBERS, "integer": (0, -1, 2**31 - 1)}.get(kind)
        values += [dice.choice(odd) for _ in range(2)] if odd else [None]
    if kind == "text" and dice.odd(0.05):
        values.append("long text " * 100_000)
    return kind, values


def records(dice, areas, id_kind, most=220):
    """(table, names by role) of records that live in areas with these identifiers.

    Roles: area, quasi (a list), kept (a list), count, person, household.
    """
    n_quasi = dice.pick(1, 1, 2, 2, 3, 4)
    roles = {"area": dice.choice(NAMES["area"])}
    roles |= {f"quasi {i}": NAMES["quasi"][i] for i in range(n_quasi)}
    roles |= {f"kept {i}": NAMES["kept"][i] for i in range(dice.pick(0, 1, 1, 2))}
    for role in ("count", "person", "household"):
        if dice.chance(0.3):
            roles[role] = role
    names = unique_names(dice, roles)
    n = dice.pick(dice.randint(0, 30), dice.randint(30, most), dice.randint(30, most), most)
    if not dice.odd() and n == 0:
        n = 25
    lived = [value for value in areas if value is not None] or [None]
    favoured = dice.some(lived, 1, 6)
    homes = [dice.choice(favoured) if dice.chance(0.7) else dice.choice(lived) for _ in range(n)]
    kind = id_kind
    if dice.odd(2):
        homes = [dice.pick(None, "nowhere" if kind == "text" else 7) if dice.chance(0.1) else home for home in homes]
    if kind != "text" and dice.chance(0.3):  # the same identifiers as text
        kind, homes = (
            "text",
            [
                None if home is None else str(int(home)) if home == home and abs(home) < 1e300 else str(home)
                for home in homes
            ],
        )
    columns = []
    for role, name in names.items():
        if role == "area":
            columns.append((name, kind, homes))
        elif role == "count":
            columns.append((name, *counts(dice, n)))
        elif role in ("person", "household"):
            columns.append((name, "text", [f"{role}-{dice.randrange(max(2 * n // 3, 1))}" for _ in range(n)]))
        else:
            kind_here, values = categories(dice)
            weights = [0.5**i for i in range(len(values))]
            columns.append((name, kind_here, dice.choices(values, weights, k=n)))
    if dice.odd(0.3):
        columns += [(f"field_{i}", "integer", [i] * n) for i in range(300)]
    if dice.odd():
        kind_here = dice.choice(list(OTHERS))
        columns.append(("things", kind_here, [dice.choice(OTHERS[kind_here]) for _ in range(n)]))
    dice.shuffle(columns)
    return Table(tuple(columns), stored=storage(dice)), names


def counts(dice, n):
    """(kind, how many records each of n rows stands for)."""
    values = [dice.pick(1, 1, 2, 5, 8) for _ in range(n)]
    if n and dice.odd(3):
        values[dice.randrange(n)] = dice.pick(None, 0, -1, 2**53, 2**63 - 1)
    if n and dice.odd(2):
        values = list(map(float, (0 if value is None else value for value in values)))
        values[dice.randrange(n)] = dice.choice((0.5, *ODD_REALS))
        return "real", values
    return "long", values


def storage(dice):
    """Where a table without shapes is kept."""
    usual = dice.pick("memory", "memory", "memory", "memory", "csv", "gpkg")
    return dice.pick("latin-1", "shp", "geojson", "ods") if dice.odd() else usual
