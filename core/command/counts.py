"""Estimated counts by area of a release's folder, as `vbas spread` reads and writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis.reader import AnalysableRelease
from ..analysis.tables_of import DESCRIPTION
from ..errors import InputError
from ..language import tr
from ..package.checking import check_folder
from ..package.writing import MISSING
from ..plain_text import is_missing
from .files import table_of_source

if TYPE_CHECKING:
    import pandas as pd


def what_does_not_hold(folder: Path) -> list[str]:
    """Sentences on the claims of a release that its files do not keep, such as of one that was changed; none of a
    folder that claims nothing. Raises InputError where there is no folder."""
    if not folder.is_dir():
        raise InputError.saying("There is no folder “{folder}”.", folder=str(folder))
    if not (folder / DESCRIPTION).is_file():
        return []
    return [
        tr("{folder}: “{claim}” does not hold. {says}", folder=folder.name, claim=claim.called, says=claim.says)
        for claim in check_folder(folder).broken
    ]


def areas_frame(source: str) -> pd.DataFrame:
    """The areas without their shapes, read as a job reads them. Raises InputError."""
    import pandas as pd

    frame = table_of_source(source, Path.cwd(), tr("Areas"))
    names = [name for name in frame.names if name != frame.geometry]
    columns = frame.columns(names)
    return pd.DataFrame({name: columns[name].categories[columns[name].codes] for name in names})


def counts_text(release: AnalysableRelease, names: list[str]) -> str:
    """Estimated counts by area and by these fields as CSV, their values as the release's own CSV files write them.
    Raises InputError."""
    counts = release.counts(by=names)
    texts = {name: [_text(value) for value in counts[name].tolist()] for name in names}
    there = {text for of_field in texts.values() for text in of_field if isinstance(text, str)}
    missing = next((word for word in MISSING if word not in there), None)
    if missing is None:
        raise InputError.saying("The fields have all words as values by which a missing value could be told.")
    columns = {name: [missing if text is None else text for text in of_field] for name, of_field in texts.items()}
    return str(counts.assign(**columns).to_csv(lineterminator="\n"))


def _text(value: object) -> object:
    """A value as it is written; None for a missing one."""
    if is_missing(value):
        return None
    return str(value).lower() if isinstance(value, bool) else value
