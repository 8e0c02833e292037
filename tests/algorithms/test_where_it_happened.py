"""Where the program fails by a fault of its own, the log says where, however the plugin lies in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from vbas.algorithms.form.refusals import PACKAGE, fault_of_the_program

from .conftest import Feedback


@pytest.mark.parametrize("place", ["", "link", "relative", "elsewhere"])
def test_a_fault_is_told_wherever_the_file_is(tmp_path, monkeypatch, place):
    """README has the plugin linked; a compiled library names its files relative to where it was built."""
    (tmp_path / "vbas").symlink_to(PACKAGE)
    monkeypatch.chdir(PACKAGE)
    files = {
        "": PACKAGE / "core" / "areas.py",
        "link": tmp_path / "vbas" / "core" / "areas.py",
        "relative": Path("core", "areas.py"),
        "elsewhere": tmp_path / "areas.py",
    }
    feedback = Feedback()
    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile("1 / 0", str(files[place]), "exec"), {})
    sentence = fault_of_the_program(raised.value, False, feedback)
    assert sentence.startswith("A fault of VBAS itself ended the run (ZeroDivisionError), and nothing was written.")
    assert any(("    areas.py:1" if place == "elsewhere" else "    core/areas.py:1") in line for line in feedback.said)
