"""The steps in an engine, written once: codes, the profile, the release by a plan, the second count.

No step joins on a quasi-identifier as a whole: every field has a dictionary of its values that are there, joined one
field at a time, so that a missing value, which is equal to nothing, is simply the one that found none. From then on
everything is whole numbers: engines join those fast, and no two of them disagree about what is equal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from math import isfinite
from typing import Callable

import ibis

from ..errors import InputError
from ..records.fields import Filter, RecordFields
from ..records.table import unused_name
from .engine import Expression
from .fields import WITHOUT_VALUE

MOST_CLASSES = 2**63 - 1
# Of fields that are text here: those that are in the table, too, and what others are compared as by a filter. By the
# names of their types, in small letters.
TEXTS = ("text", "varchar", "bpchar", "char", "name", "citext", "uuid", "string")
COMPARED_AS = {"numeric": "decimal", "timestamp": "timestamp", "timestamptz": "timestamp"}
ROWS = "rows"


def filtered(source: Expression, filters: Sequence[Filter], kinds: Mapping[str, str]) -> Expression:
    """The rows for which all filters hold; a missing value fulfils none but “is missing”.

    kinds : the types of the fields of the table, as the engine names them. Raises InputError.
    """
    for position, condition in enumerate(filters):
        column = source[f"f{position}"]
        if condition.operator in WITHOUT_VALUE:
            source = source.filter(column.isnull() if condition.operator == WITHOUT_VALUE[0] else column.notnull())
            continue
        column = _in_its_order(column, condition, kinds[condition.field])
        value = _value(condition, column.type())
        compare: Callable[[Expression], Expression] = {
            "=": column.__eq__,
            "!=": column.__ne__,
            "<": column.__lt__,
            "<=": column.__le__,
            ">": column.__gt__,
            ">=": column.__ge__,
        }[condition.operator]
        source = source.filter(compare(value))
    return source


def _in_its_order(column: Expression, condition: Filter, kind: str) -> Expression:
    """The field of a filter, by which 9 is less than 18 where it is text here, but not in the table.

    kind : its type in the table. Raises InputError for an order that is not known.
    """
    name = kind.lower().partition("(")[0]
    if not column.type().is_string() or name in TEXTS:
        return column
    if name in COMPARED_AS:
        return column.nullif("NaN").cast(COMPARED_AS[name])  # which is no value
    if condition.operator in ("=", "!="):
        return column
    raise InputError.saying(
        "FILTER: the field “{field}” holds {kind}, in which less and more are not known here: use = or !=, or give a "
        "view of the rows that are meant.",
        field=condition.field,
        kind=kind,
    )


def _value(condition: Filter, kind: Expression) -> Expression:
    """The value of a filter as what its field holds."""
    try:
        value = _read_as(condition, kind)
        if isinstance(value, date) and getattr(kind, "timezone", None) is None:
            return ibis.literal(str(value)).cast(kind)  # PostgreSQL has no such function as Ibis makes dates by
        return ibis.literal(value, type=kind)
    except (ValueError, KeyError, TypeError):  # the last one: a whole number that is too large for the field
        raise InputError.saying(
            "FILTER compares the field “{field}”, which holds {kind}, with “{value}”, which is none: correct the "
            "value.",
            field=condition.field,
            kind=kind,
            value=condition.value,
        ) from None


def _read_as(condition: Filter, kind: Expression) -> object:
    """The value of a filter as Python's. Raises ValueError or KeyError where it is none."""
    if kind.is_integer():
        return int(condition.value)
    if kind.is_floating() or kind.is_decimal():
        number = float(condition.value)
        if kind.is_decimal() and not isfinite(number):
            raise ValueError(condition.value)
        return Decimal(condition.value) if kind.is_decimal() else number
    if kind.is_boolean():
        return {"true": True, "false": False}[condition.value.lower()]
    if kind.is_date():
        return date.fromisoformat(condition.value)
    if kind.is_timestamp():
        moment = datetime.fromisoformat(condition.value)
        aware = moment.tzinfo is not None and kind.timezone is None
        return moment.astimezone(timezone.utc).replace(tzinfo=None) if aware else moment
    return condition.value


def dictionary(source: Expression, column: str) -> Expression:
    """The values of a field that are there, in its order, with a code from 0 on: fields v_ and c_ of its name."""
    there = source.filter(source[column].notnull()).select(**{f"v_{column}": source[column]}).distinct()
    code = ibis.row_number().over(order_by=there[f"v_{column}"])
    return there.mutate(**{f"c_{column}": code.cast("int32")})


def distinct_values(source: Expression, columns: Sequence[str]) -> Expression:
    """The values of several fields of one type that are there: `field`, its position among the columns, and `value`."""
    every = [
        source.filter(source[column].notnull()).select(field=ibis.literal(position, type="int32"), value=source[column])
        for position, column in enumerate(columns)
    ]
    return (ibis.union(*every) if len(every) > 1 else every[0]).distinct()


def bounds(source: Expression, fields: RecordFields) -> Expression:
    """One row: how many rows there are, of counts what is wrong with them and their sum, of members the missing."""
    totals = {"rows": source.count()}
    if fields.count:
        number = source["n"].cast("float64")
        count = number.isnan().ifelse(ibis.null("float64"), number)  # which text and numeric fields may hold
        totals["missing"] = _total(count.isnull())
        totals["negative"] = _total(count < 0)
        totals["broken"] = _total(count != count.floor())
        totals["records"] = count.sum()
    for position in range(len(fields.members)):
        totals[f"m{position}"] = _total(names_nobody(source[f"m{position}"]))
    return source.aggregate(**totals)


def names_nobody(column: Expression) -> Expression:
    """Whether a value is no identifier, as `plain_text.names_nobody`."""
    missing = column.isnull()
    return missing | (column.strip() == "") if column.type().is_string() else missing


def with_whole_counts(source: Expression) -> Expression:
    """The rows with counts as whole numbers, where they are text such as “3.00”; `bounds` has seen that they are."""
    return source.mutate(n=source["n"].cast("float64").cast("int64")) if source["n"].type().is_string() else source


def coded(
    source: Expression, dictionaries: Mapping[str, Expression], sizes: Mapping[str, int], quasi: Sequence[str]
) -> Expression:
    """The rows with the codes of their fields, c_ of the name, and the number of their class, `key`.

    sizes : the values of each dictionary; a missing value has the code that follows them.
    """
    joined = source
    for column, values in dictionaries.items():
        joined = joined.left_join(values, joined[column] == values[f"v_{column}"])
    codes = {f"c_{column}": joined[f"c_{column}"].fill_null(size) for column, size in sizes.items()}
    return numbered(joined.select(*source.columns, **codes), sizes, quasi)


def numbered(rows: Expression, sizes: Mapping[str, int], quasi: Sequence[str]) -> Expression:
    """The rows with the number of their class, `key`, made of the codes of their quasi-identifiers."""
    kind = "int32" if reach(sizes, quasi) < 2**31 else "int64"
    key = ibis.literal(0, type=kind)
    for column in quasi:
        key = key * ibis.literal(sizes[column] + 1, type=kind) + rows[f"c_{column}"].cast(kind)
    return rows.mutate(key=key.cast(kind))


def coarsened(
    rows: Expression,
    maps: Mapping[str, Expression],
    sizes: Mapping[str, int],
    quasi: Sequence[str],
    by_level: bool = False,
) -> Expression:
    """Coded rows that show coarser values of some quasi-identifiers; o_ of the name is the code that was read.

    maps : of each that is shown coarser, a row for every code, the missing one included: o_, c_ and v_ of the name, its
    code, that of the coarser value, and that value; sizes : of all, as `coded`, the coarser ones at their level
    by_level : placed rows show what their level does: maps have a row for every code at every level, its number in s_
    """
    joined = rows.drop("key")
    columns = {name: joined[name] for name in joined.columns}
    for column, table in maps.items():
        same = [joined[f"c_{column}"] == table[f"o_{column}"]]
        same += [joined.l_level == table[f"s_{column}"]] if by_level else []
        joined = joined.inner_join(table, same)
    for column, table in maps.items():
        columns[column], columns[f"c_{column}"] = table[f"v_{column}"], table[f"c_{column}"]
        columns.setdefault(f"o_{column}", table[f"o_{column}"])
    return numbered(joined.select(**columns), sizes, quasi)


def _total(column: Expression) -> Expression:
    """A sum as a whole number of 64 bits, which some engines widen; exact as far as records can be counted."""
    numbers = column.ifelse(1, 0) if column.type().is_boolean() else column
    return numbers.sum().cast("float64").cast("int64")


def reach(sizes: Mapping[str, int], quasi: Sequence[str]) -> int:
    """How many classes there could be."""
    total = 1
    for column in quasi:
        total *= sizes[column] + 1
    return total


def counted(rows: Expression, by: Sequence[str], weighted: bool) -> Expression:
    """How many records there are of each combination, as `records`; those without any are left out."""
    if not weighted:
        return rows.group_by(list(by)).agg(records=rows.count())
    cells = rows.group_by(list(by)).agg(records=_total(rows["n"].cast("int64")))
    return cells.filter(cells.records > 0)


def cells_of_rows(rows: Expression, reach: int, kind: str) -> Expression:
    """The number of the cell of each row, `cell`: that of its area times `reach`, plus that of its class."""
    return rows.select(cell=(rows.c_a.cast("int64") * reach + rows.key.cast("int64")).cast(kind))


def with_counts(rows: Expression) -> Expression:
    """The rows that stand for any record, with how many as a whole number, `count`."""
    count = rows["n"].cast("int64")
    return rows.filter(count > 0).mutate(count=count)


def placed(rows: Expression, places: Expression, plan: Expression, weighted: bool) -> Expression:
    """The rows that a plan shows, with their level and region.

    places : p_a, p_place, the place of each area's code; plan : l_place, l_key, l_level, l_region, and where rows are
    looked at l_look, their equivalence class or none
    """
    if weighted:
        rows = rows.filter(rows["n"].cast("int64") > 0)
    there = rows.inner_join(places, rows.c_a == places.p_a)
    return there.inner_join(plan, [there.p_place == plan.l_place, there.key == plan.l_key])


def placed_in_part(
    rows: Expression, places: Expression, parts: Expression, values: Sequence[str], weighted: bool
) -> Expression:
    """The rows that a plan shows of which it shows some only, as `placed`; `n` is of each how many of it are shown.

    values : the codes of what rows show beside their class; parts : l_place, l_key, v_ of each of these codes, l_first,
    l_end: of the records of a place that show the same, those from l_first on and before l_end are shown so
    Records that show the same are alike, so that it shows nowhere which of them come first.
    """
    if weighted:
        rows = rows.filter(rows["n"].cast("int64") > 0)
    there = rows.inner_join(places, rows.c_a == places.p_a)
    same_rows = ["p_place", "key", *values]
    if weighted:
        of_row = there["n"].cast("int64")
        within = ibis.cumulative_window(group_by=same_rows, order_by=["n", "c_a"])
        end = of_row.sum().over(within).cast("int64")
    else:
        end = ibis.row_number().over(ibis.window(group_by=same_rows, order_by="c_a")).cast("int64") + 1
        of_row = ibis.literal(1, type="int64")
    numbered_rows = there.mutate(u_first=end - of_row, u_end=end)
    same = [numbered_rows.p_place == parts.l_place, numbered_rows.key == parts.l_key]
    same += [numbered_rows[code] == parts[f"v_{code}"] for code in values]
    same += [numbered_rows.u_first < parts.l_end, numbered_rows.u_end > parts.l_first]
    shown_rows = numbered_rows.inner_join(parts, same)
    if not weighted:
        return shown_rows
    first, last = (
        function(shown_rows[own], shown_rows[of_part])
        for function, own, of_part in ((ibis.greatest, "u_first", "l_first"), (ibis.least, "u_end", "l_end"))
    )
    return shown_rows.mutate(n=last - first)


def fewest_identical(written: Expression, names: Sequence[str], weighted: bool) -> Expression:
    """One row, `fewest`: the fewest records that any row of what was written shows; names : of all its fields."""
    rows = different(written, names, weighted)
    return rows.aggregate(fewest=rows[unused_name("vbas_records", names)].min())


def packed(
    rows: Expression, sizes: Mapping[str, int], kept: Mapping[str, Expression], plain: Sequence[str]
) -> Expression:
    """Placed rows as whole numbers, as narrow as they can be.

    sizes : the values of the quasi-identifiers and of the kept fields that get codes; kept : the dictionaries of these;
    plain : further columns that are needed as they are
    """
    for column, values in kept.items():
        if f"c_{column}" not in rows.columns:
            rows = rows.left_join(values, rows[column] == values[f"v_{column}"])
    codes = {f"c_{column}": rows[f"c_{column}"].fill_null(size).cast(_kind_for(size)) for column, size in sizes.items()}
    return rows.select("key", "l_level", "l_region", *plain, **codes)


def _kind_for(size: int) -> str:
    """The narrowest type for codes up to that of a missing value, and one more, at which engines count lists from."""
    return next(kind for kind, most in (("int8", 2**7), ("int16", 2**15), ("int32", 2**31)) if size + 1 < most)


def released_rows(
    rows: Expression, fields: RecordFields, nested: bool, as_codes: bool, coded: Collection[str] = ()
) -> Expression:
    """What is released of placed rows, sorted by what it shows, so that the order tells nothing.

    as_codes : whether quasi-identifiers are still codes, which sort in a fraction of the memory; coded : the names in
    the steps of the kept fields that are

    Rows with counts that show the same are added up for the same reason. The number of the class stands for the
    quasi-identifiers in the order: it ascends with their values.
    """
    places = [rows.l_level.cast("int64").name("vbas_level")] if nested else []
    places.append(rows.l_region.cast("int64").name("vbas_region"))
    quasi = [rows[f"c_q{i}" if as_codes else f"q{i}"].name(name) for i, name in enumerate(fields.quasi_identifiers)]
    names = [*(place.get_name() for place in places), *fields.quasi_identifiers, *fields.kept]
    of_class = unused_name("vbas_class", names)
    selection = rows.select(
        *places,
        *quasi,
        *(rows[f"c_k{i}" if f"k{i}" in coded else f"k{i}"].name(name) for i, name in enumerate(fields.kept)),
        rows.key.name(of_class),
        *([rows["n"].cast("int64").name(unused_name("vbas_n", names))] if fields.count else []),
    )
    order = [*names[: len(places)], of_class, *fields.kept]
    if fields.count:
        records = _total(selection[unused_name("vbas_n", names)])
        selection = selection.group_by([*names, of_class]).agg(records.name("records"))
        names = [*names, "records"]
    return selection.order_by(order).select(names)


def different(written: Expression, names: Sequence[str], weighted: bool) -> Expression:
    """The different rows of what was written, with how many records each shows, last."""
    records = _total(written.records.cast("int64")) if weighted else written.count()
    return written.group_by(list(names)).agg(records.name(unused_name("vbas_records", names)))


def classes_written(written: Expression, quasi: Sequence[str], nested: bool, weighted: bool) -> Expression:
    """The classes of what was written, from its values alone: level, region, quasi-identifiers, rows, records."""
    by = [*(["vbas_level"] if nested else []), "vbas_region", *quasi]
    records = _total(written.records.cast("int64")) if weighted else written.count()
    of_rows, of_records = unused_name("vbas_rows", by), unused_name("vbas_records", by)
    classes = written.group_by(by).agg(written.count().name(of_rows), records.name(of_records))
    level = classes.vbas_level.cast("int64") if nested else ibis.literal(1, type="int64")
    places = {"level": level, "region": classes.vbas_region.cast("int64")}
    return classes.select(
        **places,
        **{f"q{i}": classes[name] for i, name in enumerate(quasi)},
        rows=classes[of_rows],
        records=classes[of_records],
    )


def second_count(
    classes: Expression, dictionaries: Mapping[str, Expression], sizes: Mapping[str, int], expected: Expression
) -> Expression:
    """What was written, counted once more: of each level its rows, records, classes and smallest class, by the values
    alone; and at level 0, as `differing`, the equivalence classes that do not show as many records as expected, on
    either side.

    classes : of what was written; dictionaries, sizes : of the quasi-identifiers, by their names in the steps
    """
    levels = classes.group_by("level").agg(
        rows=_total(classes.rows),
        records=_total(classes.records),
        classes=classes.count().cast("int64"),
        least=classes.records.min().cast("int64"),
    )
    wrong = differing(recoded(classes, dictionaries, sizes), expected)
    nothing = {name: ibis.literal(0, type="int64") for name in ("level", "rows", "records", "classes", "least")}
    numbers = wrong.select(**nothing, differing=wrong.differing.cast("int64"))
    return ibis.union(levels.mutate(differing=ibis.literal(0, type="int64")), numbers)


def recoded(classes: Expression, dictionaries: Mapping[str, Expression], sizes: Mapping[str, int]) -> Expression:
    """How many records of what was written show each equivalence class: level, region, key, records.

    classes : of what was written; dictionaries, sizes : of the quasi-identifiers, by their names in the steps
    """
    columns = {key: classes[key].cast(values[f"v_{key}"].type()) for key, values in dictionaries.items()}
    rows = classes.select("level", "region", "records", **columns)
    return coded(rows, dictionaries, sizes, list(dictionaries)).select("level", "region", "key", "records")


def differing(equivalence_classes: Expression, expected: Expression) -> Expression:
    """One row, `differing`: equivalence classes that do not show as many records as expected, on either side."""
    wanted = expected.select(
        level=expected.e_level, region=expected.e_region, key=expected.e_key, records=-expected.e_records
    )
    released = equivalence_classes.select(
        *(equivalence_classes[name].cast("int64").name(name) for name in wanted.columns)
    )
    both = ibis.union(released, wanted.select(*(wanted[name].cast("int64").name(name) for name in wanted.columns)))
    left = both.group_by(["level", "region", "key"]).agg(left=_total(both.records))
    wrong = left.filter(left.left != 0)
    return wrong.aggregate(differing=wrong.count())


def fewest_members(rows: Expression, member: str) -> Expression:
    """One row, `fewest`: the smallest number of different members behind an equivalence class of placed rows."""
    equivalence_classes = rows.group_by(["l_level", "l_region", "key"]).agg(members=rows[member].nunique())
    return equivalence_classes.aggregate(fewest=equivalence_classes.members.min())


def falling_short(
    rows: Expression, people: Sequence[str], values: Sequence[str], l_diversity: int, max_share: float, weighted: bool
) -> Expression:
    """One row, `wrong`: how many equivalence classes of placed rows do not hold what is asked of sensitive values, as
    `Requirement` says it; counted from the rows.

    people : the codes of persons or households, or ROWS where each is a person; values : the codes of sensitive fields
    """
    of = ["l_level", "l_region", "key"]
    every = [
        too_homogeneous(rows, of, who, value, l_diversity, max_share, weighted) for who in people for value in values
    ]
    equivalence_classes = ibis.union(*every, distinct=True) if len(every) > 1 else every[0]
    return equivalence_classes.aggregate(wrong=equivalence_classes.count().cast("int64"))


def too_homogeneous(
    rows: Expression,
    equivalence_class: list[str],
    people: str,
    value: str,
    l_diversity: int,
    max_share: float,
    weighted: bool = False,
) -> Expression:
    """The equivalence classes, by these columns, that do not hold what is asked of one field and one kind of people."""
    number = _number_of(rows, people, weighted)
    holders = rows.group_by([*equivalence_class, value]).agg(holders=number)
    there = rows.group_by(equivalence_class).agg(people=number)
    there = there.select(**{f"t_{name}": there[name] for name in equivalence_class}, people=there.people)
    both = holders.inner_join(there, [holders[name] == there[f"t_{name}"] for name in equivalence_class])
    commonest_first = ibis.window(group_by=equivalence_class, order_by=[both.holders.desc(), both[value]])
    ranked = both.mutate(place=ibis.row_number().over(commonest_first))
    # The l - 1 commonest values: whoever has them could be everybody.
    ranked = ranked.mutate(of_first=(ranked.place < l_diversity - 1).ifelse(ranked.holders, 0))
    summed = ranked.group_by(equivalence_class).agg(
        together=_total(ranked.of_first), most=ranked.holders.max(), people=ranked.people.max()
    )
    too_few_values = summed.together >= summed.people
    too_many = summed.most.cast("float64") * 100.0 > summed.people.cast("float64") * max_share * (1 + 1e-12)
    return summed.filter(too_few_values | too_many).select(equivalence_class)


def _number_of(rows: Expression, people: str, weighted: bool) -> Expression:
    """How many persons or households there are, or records where rows are these."""
    if people != ROWS:
        return rows[people].nunique().cast("int64")
    return _total(rows["n"].cast("int64")) if weighted else rows.count().cast("int64")
