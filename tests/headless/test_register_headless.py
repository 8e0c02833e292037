"""One register, headless, from run to run."""

from __future__ import annotations


def test_a_second_release_is_held_against_the_register(qgis_process, qgis_loaded, town, tmp_path):
    """Twice headless with one register: the second run stops, then is repaired; a trial is taken out again."""
    register = tmp_path / "register.gpkg"

    def anonymize(n_sites, name, *more):
        return qgis_loaded(
            "run",
            "vbas:anonymize",
            "--json",
            "--",
            f"REGIONS={town / 'areas.gpkg'}",
            "REGION_ID=area",
            f"RECORDS={town / 'records.gpkg'}",
            "RECORD_REGION=area",
            "QUASI_IDENTIFIERS=age_group",
            "QUASI_IDENTIFIERS=ethnicity",
            "COMBINATION=custom",
            "SITE_NUMBER=given number",
            f"N_SITES={n_sites}",
            f"REGISTER={register}",
            f"RELEASED_RECORDS={tmp_path / name}",
            *more,
        )

    def edit(*more):
        done = qgis_loaded("run", "vbas:editregister", "--json", "--", f"REGISTER={register}", *more)
        assert done.returncode == 0, done.stderr
        return done.results

    first = anonymize(12, "first.gpkg")
    assert first.returncode == 0, first.stderr
    stopped = anonymize(13, "second.gpkg")
    assert stopped.returncode != 0 and "would give away" in stopped.stderr
    assert not (tmp_path / "second.gpkg").exists()
    assert edit()["N_RELEASES"] == 1
    repaired = anonymize(13, "second.gpkg", "REGISTER_ACTION=repair")
    assert repaired.returncode == 0, repaired.stderr
    # By `qgis_process` itself, which the others stand for.
    checked = qgis_process("--json", "run", "vbas:checkreleases", "--", f"REGISTER={register}")
    assert (checked.results["N_PINNED"], checked.results["N_UNDECIDED"]) == (0, 0)
    assert edit("REMOVE=2", "NEVER_PUBLISHED=true")["N_RELEASES"] == 1
