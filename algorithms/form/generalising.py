"""Coarser quasi-identifiers: declared, their hierarchies read, and the records shown by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterMatrix

from ...core.errors import InputError, first_values
from ...core.generalising.collapsing import generalise_table
from ...core.generalising.hierarchies import Hierarchy
from ...core.generalising.loss import records_by_category
from ...core.generalising.rules import HierarchyRule, hierarchy_rule
from ...core.generalising.table import HierarchyTable, hierarchy_tables
from ...core.language import tr
from ...core.records.table import RecordTable
from ..layers.reading.fields import field_index
from ..layers.reading.records import read_columns
from .effective import GIVEN, Condition, Conditions
from .form import Form
from .parameters import described, source

ATTRIBUTE, VALUE = "attribute", "value"
LEVEL_FIELD = re.compile(r"level[ _-]?([0-9]+)", re.IGNORECASE)

CONDITIONS: Conditions = {name: [{"GENERALISE": GIVEN}] for name in ("HIERARCHIES", "HIERARCHY_RULES")}


def conditions_where(condition: Condition) -> Conditions:
    """Where these parameters count in a form that looks at classes only under a condition."""
    return {"GENERALISE": [condition], **{name: [condition, *where] for name, where in CONDITIONS.items()}}


def generalising_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """GENERALISE, HIERARCHIES, HIERARCHY_RULES."""
    yield described(
        QgsProcessingParameterMatrix(
            "GENERALISE", tr("Coarser values: what to show coarser"), headers=[tr("Quasi-identifier"), tr("Level")]
        ),
        tr(
            "Quasi-identifiers to show coarser, each with a level: 0 is the value as it is, 1 the first "
            "coarser one. k is counted on what is shown, so fewer records are suppressed, or more regions can "
            "be had; the log says how much of the attribute's entropy is given up. On the command line as a "
            "list, field and level in turn."
        ),
        advanced=True,
        optional=True,
    )
    yield source(
        "HIERARCHIES",
        tr("Coarser values: as a table"),
        tr(
            "A table with the fields attribute, value, level_1, level_2, …: a row for each value of a "
            "quasi-identifier, with its coarser value at each level. Every level joins whole values of the "
            "level before; “*” says nothing. A missing value stays missing unless the table has a row for it. "
            "Values are compared as text."
        ),
        optional=True,
        advanced=True,
    )
    yield described(
        QgsProcessingParameterMatrix(
            "HIERARCHY_RULES", tr("Coarser values: by rule"), headers=[tr("Quasi-identifier"), tr("Rule")]
        ),
        tr(
            "In place of a table. “bands 5 10 20”: numbers, and groups such as 15-19 or 65+, in bands of "
            "these widths, a level each. “leading characters 3 2 1”: the beginning of a text. “other below "
            "100 1000”: values that fewer records have become “other”; which values are named then says how "
            "many records have them, and one record can change it, so write such groups as a table where that "
            "matters. “*” at the end adds a level that says nothing."
        ),
        advanced=True,
        optional=True,
    )


def relating_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """HIERARCHIES and HIERARCHY_RULES, for releases that show a quasi-identifier at different levels."""
    for parameter in generalising_parameters():
        if parameter.name() != "GENERALISE":
            parameter.setHelp(
                tr(
                    "Only where releases show a quasi-identifier at different levels: what its coarser values "
                    "are, as the releases were made with. Without it they cannot be related. {help}",
                    help=parameter.help(),
                )
            )
            yield parameter


def generalised(form: Form, table: RecordTable) -> RecordTable:
    """The table with its quasi-identifiers as GENERALISE asks for them; the log says what that gives up.

    Raises InputError for attributes and levels that there are not, and for hierarchies that do not fit the values.
    """
    node = node_of(form, tuple(table.quasi_identifiers))
    if not any(node.values()):
        return table
    hierarchies = hierarchies_of(form, table, [name for name, level in node.items() if level])
    shown = generalise_table(table, hierarchies, list(node.values()))
    form.info(*(column.sentence for column in shown.coarsened.values()))
    return shown


def node_of(form: Form, quasi_identifiers: tuple[str, ...]) -> dict[str, int]:
    """The level at which each quasi-identifier is shown, 0 for those that GENERALISE does not name."""
    node = dict.fromkeys(quasi_identifiers, 0)
    levels = _pairs(form, "GENERALISE", quasi_identifiers) if form.has("GENERALISE") else {}
    return {**node, **{name: level_in("GENERALISE", name, level) for name, level in levels.items()}}


def level_in(parameter: str, name: str, level: str) -> int:
    """The level that a parameter asks for. Raises InputError where it is no whole number."""
    if not re.fullmatch(r"[0-9]{1,3}(\.0)?", level):
        raise InputError(
            tr(
                "{parameter} asks for level “{level}” of “{name}”: give a whole number; 0 is as it is.",
                parameter=parameter,
                level=level,
                name=name,
            )
        )
    return int(float(level))


def hierarchies_of(form: Form, table: RecordTable, names: Iterable[str]) -> dict[str, Hierarchy]:
    """The hierarchies of these quasi-identifiers, from HIERARCHIES or by rule. Raises InputError where one has none."""
    tables, rules = sources_of(form, tuple(table.quasi_identifiers))
    hierarchies = {}
    for name in names:
        column = table.quasi_identifiers[name]
        if name in tables:
            hierarchies[name] = tables[name].hierarchy(column.categories)
        elif name in rules:
            hierarchies[name] = rules[name].hierarchy(column.categories, records_by_category(column, table.counts))
    return hierarchies


def coarser_of(form: Form, table: RecordTable) -> dict[str, Hierarchy]:
    """The hierarchies of the values that the table shows, coarsened or not: what could still be shown coarser.

    Raises InputError for hierarchies that do not fit the values.
    """
    originals = {name: column.original for name, column in table.coarsened.items()}
    read = replace(table, quasi_identifiers={**table.quasi_identifiers, **originals})
    hierarchies = hierarchies_of(form, read, table.quasi_identifiers)
    levels = {name: column.level for name, column in table.coarsened.items()}
    return {name: hierarchy.above(levels.get(name, 0)) for name, hierarchy in hierarchies.items()}


def sources_of(
    form: Form, quasi_identifiers: tuple[str, ...]
) -> tuple[Mapping[str, HierarchyTable], Mapping[str, HierarchyRule]]:
    """What HIERARCHIES and HIERARCHY_RULES say, by quasi-identifier. Raises InputError where both speak of one."""
    given = _pairs(form, "HIERARCHY_RULES", quasi_identifiers)
    rules = {name: hierarchy_rule(name, words) for name, words in given.items()}
    tables = _tables(form, quasi_identifiers) if form.given("HIERARCHIES") else {}
    twice = sorted(rules.keys() & tables.keys())
    if twice:
        raise InputError(
            tr(
                "“{twice}” has both rows in HIERARCHIES and a rule in HIERARCHY_RULES: take one of them out.",
                twice=twice[0],
            )
        )
    return tables, rules


def _tables(form: Form, quasi_identifiers: tuple[str, ...]) -> dict[str, HierarchyTable]:
    """HIERARCHIES, by the quasi-identifiers it has rows for."""
    table = form.source("HIERARCHIES")
    fields = table.fields()
    own = [fields[field_index(fields, name, "HIERARCHIES", "HIERARCHIES")].name() for name in (ATTRIBUTE, VALUE)]
    levels = {int(match[1]): name for name in fields.names() if (match := LEVEL_FIELD.fullmatch(name))}
    if not levels or sorted(levels) != list(range(1, len(levels) + 1)):
        raise InputError(
            tr(
                "HIERARCHIES has the fields {first}: name those of the coarser values "
                "level_1, level_2, … without a gap.",
                first=first_values(fields.names(), 12),
            )
        )
    names = [*own, *(levels[number] for number in sorted(levels))]
    columns = read_columns(table, names, form.feedback)
    attributes, values, *coarser = (columns[name].categories[columns[name].codes] for name in names)
    tables = hierarchy_tables(attributes.tolist(), values.tolist(), [column.tolist() for column in coarser])
    return {_spelled(name, quasi_identifiers) or name: rows for name, rows in tables.items()}


def _pairs(form: Form, parameter: str, quasi_identifiers: tuple[str, ...]) -> dict[str, str]:
    """The second cell of each row by its quasi-identifier. Raises InputError for a name that is none, and twice one."""
    pairs: dict[str, str] = {}
    for name, words in rows_of_two(form, parameter, quasi_identifiers):
        if name in pairs:
            raise InputError(tr("{parameter} names “{name}” twice: give it one row.", parameter=parameter, name=name))
        pairs[name] = words
    return pairs


def rows_of_two(form: Form, parameter: str, quasi_identifiers: tuple[str, ...]) -> list[tuple[str, str]]:
    """The quasi-identifier of each row, and its second cell. Raises InputError for a name that is none."""
    cells = [str(cell).strip() for cell in form.cells(parameter)]
    if len(cells) % 2:
        raise InputError(
            tr(
                "{parameter} has an odd number of cells ({n_cells}): give two a row, the quasi-identifier and what "
                "becomes of it.",
                parameter=parameter,
                n_cells=len(cells),
            )
        )
    rows = []
    for typed, words in zip(cells[::2], cells[1::2]):
        name = _spelled(typed, quasi_identifiers)
        if name is None:
            raise InputError(
                tr(
                    "{parameter} names “{typed}”, which is not among QUASI_IDENTIFIERS ({first}): choose one of these.",
                    parameter=parameter,
                    typed=typed,
                    first=first_values(quasi_identifiers, 12),
                )
            )
        rows.append((name, words))
    return rows


def _spelled(typed: str, quasi_identifiers: tuple[str, ...]) -> str | None:
    """A quasi-identifier as the layer spells it, None for none: QGIS finds `SEX` for `sex`, and so do we."""
    if typed in quasi_identifiers:
        return typed
    return next((name for name in quasi_identifiers if name.lower() == typed.lower()), None)
