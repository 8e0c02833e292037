"""What belongs to a file and stands beside it: parts of its format, indexes, journals, looks, notes."""

from __future__ import annotations

from pathlib import Path

from .sqlite_targets import SUFFIXES, journals_of

# What a format keeps beside its file: endings of the stem, or of the whole name. GDAL and QGIS read these with the
# file, whoever has written them.
INDEXES = (
    *(".qix", ".sbn", ".sbx", ".idm", ".ind", ".fix", ".fbn", ".fbx", ".ain", ".aih", ".atx", ".ixs", ".mxs"),
    ".shp.index",
)
SHAPEFILE = (".shp", ".shx", ".dbf", ".prj", ".cpg", ".qpj", ".shp.xml", *INDEXES)
FAMILIES = (
    SHAPEFILE,
    (".tab", ".dat", ".id", ".map", ".ind"),
    (".mif", ".mid"),
    (".gml", ".xml", ".xsd", ".gfs"),
    (".csv", ".csvt", ".prj"),
)
SAY_IT_THEMSELVES = (".gpkg", ".html", ".htm")  # in the description of the layer, or at the top of the page
STYLES = (".qml", ".qmd")
# What would be wrong beside a new file: indexes of other shapes, types of other columns.
STALE = {
    ".shp": INDEXES,
    ".dbf": INDEXES,
    ".tab": (".ind",),
    ".csv": (".csvt",),
    ".gml": (".gfs",),
}


def read_with(file: Path) -> list[str]:
    """Names of the files that belong to a file, itself included, whether they are there or not."""
    families = [family for family in FAMILIES if file.suffix.lower() in family]
    endings = dict.fromkeys(ending for family in (*families, STYLES) for ending in family)
    return list(dict.fromkeys([file.name, *(file.stem + ending for ending in endings), *_journals(file)]))


def stale_beside(file: Path) -> list[str]:
    """Names of the files beside a file that must not outlive it: an old journal would be replayed into the new file."""
    stale = [file.stem + ending for ending in STALE.get(file.suffix.lower(), ())]
    return [*stale, *_journals(file), *([] if says_itself(file) else [note_on(file)])]


def _journals(file: Path) -> list[str]:
    return journals_of(file) if file.suffix.lower() in SUFFIXES else []


def says_itself(file: Path) -> bool:
    """Whether the format has a place in the file where everybody sees that it is internal."""
    return file.suffix.lower() in SAY_IT_THEMSELVES


def note_on(file: Path) -> str:
    """Name of the note beside an internal file that cannot say it itself."""
    return f"{file.name}.internal.txt"
