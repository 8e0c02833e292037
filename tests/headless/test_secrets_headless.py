"""What a server that runs jobs prints, into logs that others read: what is typed is echoed by QGIS, nothing else is."""

from __future__ import annotations

import pytest

from .jobs import inputs


@pytest.fixture(scope="module")
def place(postgres):
    with postgres.another() as database:
        yield f"postgres://{database.uri} password='hun ter2'" + ' table="public"."released"'


def told_by_us(done, typed):
    """What was printed, without the lines in which QGIS itself repeats what was typed."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if typed not in line]
    return "\n".join(lines)


def test_the_results_of_a_good_run_hold_no_password(qgis_process, town, place):
    done = qgis_process("run", "vbas:anonymize", "--", *inputs(town), "RELEASED_RECORDS=memory:", f"CROSSWALK={place}")
    assert done.returncode == 0, done.stdout + done.stderr
    told = told_by_us(done, f"CROSSWALK:\t{place}")
    assert "ter2" not in told
    assert "CROSSWALK:\tpublic_released" in told and "Crosswalk (public.released)" in told


def test_nor_does_the_sentence_of_one_that_fails(qgis_process, town, place):
    typed = place.replace("released", "people")
    given = [one for one in inputs(town) if not one.startswith("RECORDS=")]
    done = qgis_process("run", "vbas:anonymize", "--", *given, f"RECORDS={typed}", "RELEASED_RECORDS=memory:")
    assert done.returncode != 0
    told = told_by_us(done, f"RECORDS:\t{typed}")
    assert "ter2" not in told
    assert 'table="public"."people"' in told
