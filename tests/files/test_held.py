"""Files that another program has open: refused before the work, in one sentence that names the file, or delivered."""

from __future__ import annotations

import pytest

from vbas.core.errors import InputError

from ..exploring import tried
from . import deliveries
from .deliveries import KINDS, REFUSED, in_order, prepared, run, visible
from .memory import ALL, OUT

HELD = [(kind, name) for kind, (old, _) in KINDS.items() if kind not in REFUSED for name in old]


@pytest.mark.parametrize("rules", ALL, ids=lambda rules: rules.title)
@pytest.mark.parametrize(("kind", "name"), HELD[:: tried(2, 1)], ids=lambda part: part)
def test_what_is_open_elsewhere_is_refused_before_the_work_where_it_cannot_be_replaced(rules, kind, name, monkeypatch):
    files = prepared(rules, kind)
    before = visible(files)
    with files.read(OUT / name), in_order():
        if not rules.shares:
            run(files, kind)
            assert visible(files) != before
        else:
            monkeypatch.setattr(deliveries, "temporary_folder", None)  # where the work begins
            with pytest.raises(InputError) as error:
                run(files, kind)
            said = str(error.value)
            assert str(OUT / name) in said and "close it in other programs" in said and said.count(". ") == 0
            assert visible(files) == before
    files.end()


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in HELD}))
def test_what_was_open_is_replaced_once_it_is_closed(kind):
    (rules,) = (rules for rules in ALL if rules.title == "NTFS")
    files = prepared(rules, kind)
    with files.read(OUT / next(iter(KINDS[kind][0]))), pytest.raises(InputError), in_order():
        run(files, kind)
    before = visible(files)
    with in_order():
        run(files, kind)
    assert visible(files) != before
    files.end()
