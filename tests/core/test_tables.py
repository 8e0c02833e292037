"""The tables that are written: their fields are told of whole, and forms that share a name of an output agree."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import combinations, product
from pathlib import Path

from vbas.core import tables
from vbas.core.tables import TABLES, alias_of, table_of, tables_of
from vbas.core.tables.schema import ALL, AS_GIVEN, INTERNAL, NESTED, OWN, REAL, OutputField, OutputTable, own

from ..each import holds_for_each


def test_every_field_is_told_of():
    def told(table, one):
        assert (one.kind == AS_GIVEN) == (one.name == OWN)
        assert one.label and one.label in one.alias and one.unit in one.alias
        assert f"“{one.name}”: {one.meaning}" in table.about
        assert one.name == OWN or re.fullmatch(r"[a-z][a-z0-9_]*(\{[a-z]+\})?", one.name)

    holds_for_each(told, [(table, field) for table in TABLES for field in table.fields])


def test_a_table_has_each_field_once_and_is_found_by_its_text():
    def found(table):
        names = [field.name for field in table.fields]
        assert len(set(names)) == len(names)
        texts = {table.parameter: table.about, f"release:{table.parameter}": table.help}
        assert all(table_of(output, text) is table for output, text in texts.items())

    holds_for_each(found, product(TABLES))


def test_outputs_of_one_name_say_the_same_of_a_field():
    """Aliases are found by the names of outputs, which two forms may give to different tables."""
    for one, other in combinations(TABLES, 2):
        for name in set(one.names) & set(other.names) if one.parameter == other.parameter else ():
            assert one.alias_of(name) == other.alias_of(name), (one.title, name)


def test_all_tables_are_known():
    """A constant of the rooms is in TABLES, and so is told of."""
    for room in Path(tables.__file__).parent.glob("*.py"):
        module = import_module(f"{tables.__name__}.{room.stem}")
        for name in re.findall(r"^(\w+) = OutputTable\(", room.read_text(encoding="utf-8"), re.MULTILINE):
            assert getattr(module, name) in TABLES
    assert len(TABLES) > 20


def test_fields_of_several_have_their_part_in_the_alias():
    assert alias_of("CROSSWALK", "vbas_region_3") == "Region, level 3"
    assert alias_of("AREA_AUDIT", "below_2_5") == "Below the wanted anonymity with inner radius 2.5, %"
    assert alias_of("COMPARISON", "lost_age_group") == "Given up of age_group, %"
    assert alias_of("GROUPS", "least_squares") == ""  # a population field of the user's


def test_what_only_some_releases_have_is_said():
    one = OutputField("far", "Distance", "from home", "m", REAL, NESTED)
    assert (one.alias, one.meaning) == ("Distance, m", "Distance, m (from home; nested levels only)")
    table = OutputTable("FAR", "Far", INTERNAL, "A row per person.", (own("the name"), one))
    assert [field.name for field in table.fields_of(nested=False)] == [OWN]
    assert [field.name for field in table.fields_of(nested=True)] == [OWN, "far"]
    assert (
        table.explained
        == "A row per person. Fields: “…”: the name; “far”: Distance, m (from home; nested levels only)."
    )
    assert one.levels != ALL and tables_of("FAR") == ()
