"""A release's folder stands in its place whole, or what was there stands as it was, whatever fails."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from vbas.core.errors import InputError, VbasError
from vbas.core.package.folder import recount, write_folder
from vbas.core.package.place import FolderPlace, refuse_other_folders, tidy_up_folder
from vbas.core.publish import files
from vbas.core.publish.delivery import deliver
from vbas.core.publish.files import FileSystem
from vbas.core.publish.replacing import check_nameable

from ..systems import of_posix
from .package_cases import drawn_account, tables_of


def written(folder, seed):
    folder.mkdir()
    account = drawn_account(np.random.default_rng(seed))
    write_folder(folder, account, tables_of(account, drawn=False))
    return folder


def everything(folder):
    return {str(one.relative_to(folder)): one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file()}


def names_in(folder):
    return sorted(one.name for one in folder.iterdir())


@pytest.fixture(params=["nothing", "empty", "release"])
def there(request, tmp_path):
    """A folder of outputs: with nothing in the place, an empty folder, or an earlier release."""
    out = tmp_path / "out"
    out.mkdir()
    if request.param == "empty":
        (out / "place").mkdir()
    elif request.param == "release":
        written(out / "place", 1)
    return out


def test_it_is_put_whole_in_its_place(there, tmp_path):
    staged = written(tmp_path / "staged", 2)
    assert deliver([FolderPlace("RELEASE_FOLDER", staged, there / "place", recount)]) == []
    assert everything(there / "place") == everything(staged) and names_in(there) == ["place"]


class Dies(BaseException):
    """A process that ends here."""


def failing(monkeypatch, n, error):
    """Renames and copies fail at the n-th, and then no more."""
    steps = [0]

    def at(real):
        def one(*given):
            steps[0] += 1
            if steps[0] == n:
                raise error
            return real(*given)

        return one

    monkeypatch.setattr(files.os, "rename", at(os.rename))
    monkeypatch.setattr(files.shutil, "copyfileobj", at(shutil.copyfileobj))


@pytest.mark.parametrize("n", range(1, 10))
def test_whatever_fails_all_is_as_it_was(there, tmp_path, monkeypatch, n):
    staged, before = written(tmp_path / "staged", 2), everything(there)
    listed = names_in(there)
    with monkeypatch.context() as patch:
        failing(patch, n, OSError(28, "No space left on device"))
        try:
            deliver([FolderPlace("RELEASE_FOLDER", staged, there / "place", recount)])
        except VbasError:
            assert everything(there) == before and names_in(there) == listed
        else:
            assert everything(there / "place") == everything(staged) and names_in(there) == ["place"]


@pytest.mark.parametrize("n", range(1, 10))
@of_posix
def test_what_a_killed_run_left_is_tidied_up(there, tmp_path, monkeypatch, n):
    staged, before = written(tmp_path / "staged", 2), everything(there)
    with monkeypatch.context() as patch:
        failing(patch, n, Dies())
        one = FolderPlace("RELEASE_FOLDER", staged, there / "place")
        try:
            one.prepare()
            one.put()
        except Dies:
            pass
    tidy_up_folder(there / "place")
    after = everything(there)
    came = {f"place/{name}": content for name, content in everything(staged).items()}
    assert after == before or (not before and after == came)
    assert not list(there.glob(".vbas-*"))


def test_another_run_that_counts_otherwise_is_undone(there, tmp_path):
    staged, before = written(tmp_path / "staged", 2), everything(there)

    def found(folder):
        raise VbasError("counted otherwise")

    with pytest.raises(VbasError, match="counted otherwise"):
        deliver([FolderPlace("RELEASE_FOLDER", staged, there / "place", found)])
    assert everything(there) == before


def test_a_file_that_another_puts_there_stays(tmp_path):
    staged, target = written(tmp_path / "staged", 2), tmp_path / "place"

    def other(folder):
        (folder / "mine.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(VbasError, match="could not be removed"):
        deliver([FolderPlace("RELEASE_FOLDER", staged, target, other)])
    assert names_in(target) == ["mine.txt"]


def test_what_is_no_release_is_refused(tmp_path):
    folder = written(tmp_path / "place", 1)
    refuse_other_folders("RELEASE_FOLDER", folder)
    (folder / "records.csv").unlink()
    (folder / "records.csv").mkdir()
    with pytest.raises(InputError, match=r"records\.csv"):
        refuse_other_folders("RELEASE_FOLDER", folder)


class AsOnWindows(FileSystem):
    """Holds what is open, and lets nobody write into some files, nor move others."""

    holds_what_is_open = True

    def __init__(self, protected="", held=""):
        self._protected, self._held = protected, held

    def may_write(self, path):
        return path.name != self._protected

    def refuse_to_replace(self, path):
        if path.name == self._held:
            raise PermissionError(13, "Sharing violation")


def test_on_windows_a_write_protected_file_and_a_folder_that_is_worked_in_are_refused_before_the_work(tmp_path):
    folder = written(tmp_path / "release", 1)
    refuse_other_folders("RELEASE_FOLDER", folder, AsOnWindows())
    with pytest.raises(InputError, match=r"records\.csv is write-protected"):
        refuse_other_folders("RELEASE_FOLDER", folder, AsOnWindows(protected="records.csv"))
    for held in ("release", "records.csv"):
        with pytest.raises(InputError, match="cannot be replaced now"):
            refuse_other_folders("RELEASE_FOLDER", folder, AsOnWindows(held=held))


class OfShortPaths(FileSystem):
    def longest_path(self):
        return 259


def test_paths_that_are_too_long_for_windows_are_refused_before_the_work():
    short, long = Path("/" + "x" * 150), Path("/" + "x" * 215)
    refuse_other_folders("RELEASE_FOLDER", short / "new", OfShortPaths())
    check_nameable("REPORT", short / "a.html", [short / "a.html"], OfShortPaths())
    with pytest.raises(InputError, match="this Windows takes 259"):
        refuse_other_folders("RELEASE_FOLDER", long / "new", OfShortPaths())
    with pytest.raises(InputError, match="this Windows takes 259"):
        check_nameable("REPORT", long / "a.html", [long / "a.html"], OfShortPaths())
    page = Path("/" + "x" * 200) / ("a" * 60 + ".html")
    with pytest.raises(InputError, match="is 267 long"):
        check_nameable("REPORT", page, [page], OfShortPaths())
    if os.name == "nt":
        return  # where a path like the next one may well be a file
    named = Path("\\\\?\\C:\\" + "x" * 300 + ".html")
    with pytest.raises(InputError) as error:
        check_nameable("REPORT", named, [named], OfShortPaths())
    assert "259" not in str(error.value)  # the system itself says that the name is too long
