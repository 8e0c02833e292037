"""A release's folder, written whole into an empty one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..account import Account
from ..arrays import to_list
from ..errors import PrivacyError
from ..formulas import warning_of_folder
from ..parameters import check_choice
from ..publish.files import DISK, FileSystem
from .checking import check_folder, read_descriptor
from .dcat import FILE as DCAT
from .dcat import dcat
from .ddi import FILE as DDI
from .ddi import ddi
from .descriptor import FILE, PAGES, Said, described, name_of_shapes, with_file
from .table import DataTable
from .writing import CSV, FORMATS, check_format, check_names, write_tables

PAGE = PAGES[0]  # the page to publish, in a release's folder


def write_folder(
    folder: Path,
    account: Account,
    tables: Sequence[DataTable],
    written: str = CSV,
    said: Said | None = None,
    name: str = "",
    pages: Mapping[str, tuple[str, str]] | None = None,
    warn: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Write a release into a folder, which is there and empty, and look at every claim of it once more.

    Parameters
    ----------
    folder : Path
        Where it is written.
    account : Account
        Of the release.
    tables : sequence of DataTable
        Its tables, as `tables_of_release` gives them.
    written : str
        One of FORMATS.
    said : Said, optional
        What is said of it.
    name : str
        Of the folder that it becomes; that of the folder itself where empty.
    pages : mapping of str to (str, str), optional
        Further files by name, each with its title and text.
    warn : callable, optional
        Takes a sentence on texts of a CSV file that some spreadsheet program may take for formulas.

    Returns
    -------
    dict
        The content of datapackage.json.

    Raises
    ------
    InputError
        For an unknown format, one that nothing here writes, and values that it cannot hold, or that spreadsheet
        programs would run.
    PrivacyError
        Where what was written is not what was to be released.
    OSError, sqlite3.Error
        Where it cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vbas.core.synthetic.hamlet import hamlet
    >>> areas, records, crosswalk = hamlet()
    >>> from vbas.core.anonymise import Ask, anonymise
    >>> from vbas.core.levels import Levels
    >>> from vbas.core.package.dataset import tables_of_release
    >>> from vbas.core.package.folder import write_folder
    >>> account = anonymise(areas, records, Levels((crosswalk,)), Ask(k=2))
    >>> folder = Path("release of the hamlet")
    >>> folder.mkdir()
    >>> package = write_folder(folder, account, tables_of_release(account))
    >>> sorted(file.name for file in folder.iterdir())
    ['crosswalk.csv', 'datapackage.json', 'dcat.jsonld', 'ddi.xml', 'records.csv', 'regions.csv']
    """
    check_choice("FOLDER_FORMAT", written, FORMATS)
    check_format(written)
    for table in tables:
        check_names(table)
    if written == CSV:
        for table in tables:
            warning = warning_of_folder(f"{table.name}.csv", _texts_of(table))
            if warning and warn is not None:
                warn(warning)
    files = write_tables(folder, tables, written)
    package = described(account, tables, files, written, said or Said(), name or folder.name)
    for table in tables:
        drawn = folder / f"{table.name}.gpkg"
        if table.shapes is not None and drawn.is_file():
            package = with_file(package, name_of_shapes(table.name), drawn, table.title)
    for file_name, (title, text) in (pages or {}).items():
        DISK.write(folder / file_name, text.encode("utf-8"))
        package = with_file(package, Path(file_name).stem.lower().replace("_", "-"), folder / file_name, title)
    for file_name, text_of, title in ((DDI, ddi, "DDI Codebook 2.5"), (DCAT, dcat, "DCAT")):
        DISK.write(folder / file_name, text_of(package).encode("utf-8"))
        package = with_file(package, Path(file_name).stem, folder / file_name, title)
    content = json.dumps(package, ensure_ascii=False, indent=2) + "\n"
    DISK.write(folder / FILE, content.encode("utf-8"))
    recount(folder)
    return package


def _texts_of(table: DataTable) -> list[str]:
    """The names of a table's fields, and its texts."""
    texts = (text for column in table.columns for text in to_list(column.categories) if isinstance(text, str))
    return [*table.names, *texts]


def recount(folder: Path) -> None:
    """Look at every claim of a folder that is to be delivered. Raises PrivacyError where one does not hold, or where a
    file of it cannot be read."""
    broken = [
        claim
        for claim in check_folder(folder).claims
        if not claim.holds and (claim.holds is False or claim.name.startswith("file "))
    ]
    if broken:
        raise PrivacyError.saying(
            "RELEASE_FOLDER does not hold what it is to hold ({claim}: {says}): nothing was written.",
            claim=broken[0].name,
            says=broken[0].says,
        )


def files_of(folder: Path, files: FileSystem = DISK) -> set[str]:
    """The names of the files of a release's folder, by its description. Raises InputError where it is none."""
    return {FILE, *(str(resource["path"]) for resource in read_descriptor(folder, files)["resources"])}
