"""Names of outputs that another system cannot have, or that programs read differently, are refused in one place."""

from __future__ import annotations

import pytest

from vbas.core.errors import InputError
from vbas.core.publish.names import (
    NEW,
    OLD,
    check_file_name,
    check_length,
    check_name,
    check_table_name,
    is_aside,
    name_aside,
    role_of,
)

GOOD = (
    "released.gpkg",
    "Unité 5.csv",
    "50% & more.csv",
    "one#two.csv",
    "console.csv",
    "com.csv",
    "com10.csv",
    "auxiliary",
)
MARKS = ("a|b", "a\nb", "a:b", "a\tb", "a\0b", "a?b", "a*b", 'a"b', "a<b", "a>b", "a/b", "a\\b", "a\u202eb", "a\ud800b")
ENDS = ("", " a", "a ", "a.", ".a", ".", "..", "a .")
DEVICES = (
    "CON",
    "con.gpkg",
    "nul.csv",
    "NUL",
    "Aux.tar.gz",
    "prn .csv",
    "com1.csv",
    "COM9",
    "lpt0",
    "lpt³.csv",
    "CONIN$",
)


@pytest.mark.parametrize("name", GOOD)
def test_good_names(name):
    check_file_name("CROSSWALK", name)


@pytest.mark.parametrize("name", [*MARKS, *ENDS])
@pytest.mark.parametrize("check", [check_name, check_file_name])
def test_names_that_are_read_differently(name, check):
    with pytest.raises(InputError, match=r"^CROSSWALK: the name .* would not be read back as it is written") as error:
        check("CROSSWALK", name)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("name", DEVICES)
def test_names_of_devices_are_for_tables_alone(name):
    with pytest.raises(InputError, match=r"^CROSSWALK: .* which keeps it for a device"):
        check_file_name("CROSSWALK", name)
    check_name("CROSSWALK", name)


def test_names_are_counted_in_bytes():
    check_file_name("CROSSWALK", "é" * 127)
    with pytest.raises(InputError, match="has 256 bytes, and no more than 255 are kept"):
        check_file_name("CROSSWALK", "é" * 128)
    check_length("CROSSWALK", "é" * 31, 63)
    with pytest.raises(InputError, match="has 64 bytes, and no more than 63 are kept"):
        check_length("CROSSWALK", "é" * 32, 63)


@pytest.mark.parametrize("name", ["released", "gpk", "my_gpkg", "sqlite", "rtre", "styles", "layer_styles_2"])
def test_names_of_tables_that_can_be_read_everywhere_are_taken(name):
    check_table_name("RELEASED", name)


@pytest.mark.parametrize("name", ["gpkg", "GPKG_ogr", "sqlite_stat1", "Rtree_x", "layer_styles", "LAYER_STYLES"])
def test_names_of_tables_that_a_database_keeps_for_itself_are_refused(name):
    with pytest.raises(InputError, match=f"^RELEASED: a table cannot be called “{name}”"):
        check_table_name("RELEASED", name)


@pytest.mark.parametrize("name", ["", "a|b", " a", "a."])
def test_names_of_tables_that_would_not_be_read_back_are_refused(name):
    with pytest.raises(InputError, match="would not be read back"):
        check_table_name("RELEASED", name)


@pytest.mark.parametrize("role", [NEW, OLD])
def test_a_name_aside_tells_what_it_is_of_its_own_table_alone(role):
    name = name_aside(role, "public", "people")
    assert role_of(name, "public", "people") == role and is_aside(name)
    assert (
        role_of(name, "public", "others")
        == role_of(name, "", "people")
        == role_of(f"{name}0", "public", "people")
        == ""
    )
    assert role_of("people", "public", "people") == "" and not is_aside("people")
