"""Releases: read from layers or a register; and what is written of what they give away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from qgis.core import QgsProcessingParameterDefinition, QgsProcessingParameterFile

from ...core.analysis.released import positions, whole_numbers
from ...core.arrays import to_list
from ...core.crosswalk import number_compactly
from ...core.dataclass import dataclass
from ...core.disclosure.in_series import in_all_periods
from ...core.disclosure.published import Published, publish_rows
from ...core.drawing import dissolve
from ...core.errors import InputError, first_values
from ...core.job.values import parts_of
from ...core.language import tr
from ...core.parameters import DEFAULT_K, SMALLEST_K
from ...core.privacy.series import EACH_BY_ITSELF, THE_SAME
from ...core.publish.register.chain import broken_chain
from ...core.publish.register.published_releases import read_register
from ...core.records.table import counts_of
from ...core.releases.aliases import Aliases
from ...core.releases.listing import Row, quasi_identifiers_of
from ...core.releases.naming import names_in
from ...core.tables.privacy import PINNED
from ..compat import field as make_field
from ..form.areas import areas_of
from ..form.form import Form
from ..form.parameters import described, layers, text, yes
from ..layers.reading.checked_source import CheckedSource, field_index
from ..layers.reading.crosswalks import LEVEL, NUMBER, read_levels
from ..layers.reading.records import read_columns
from ..layers.shapes.areas import AreaLayer
from ..layers.tables import Table, filled, of_rows
from .fields_of_releases import Wanted, field_for, fields_for, looked_for
from .relating import aliases_in

MOST_AREAS_NAMED = 50


def register_parameter(help_text: str, advanced: bool = False) -> QgsProcessingParameterDefinition:
    """REGISTER."""
    label, kinds = tr("Register of releases"), tr("GeoPackage (*.gpkg)")
    parameter = QgsProcessingParameterFile("REGISTER", label, optional=True, fileFilter=kinds)
    return described(parameter, help_text, advanced=advanced)


def release_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """RELEASES, CROSSWALKS, QUASI_IDENTIFIERS, SENSITIVE, COUNT_FIELD, EACH_K, BY_SIZE_ALONE, PERIOD."""
    yield layers(
        "RELEASES",
        tr("Releases, the earliest first"),
        tr("Released records or their counts: vbas_region (and vbas_level, if nested) and the quasi-identifiers."),
    )
    yield layers("CROSSWALKS", tr("Their crosswalks, in the same order"), tr("One for each release."))
    yield text(
        "QUASI_IDENTIFIERS",
        tr("Quasi-identifiers"),
        "",
        tr(
            "Their names, such as age;sex. A release that lacks some is taken by those it has; where it has one under "
            "another name, say so in ALIASES. Where one release shows coarser values than another, say below which "
            "belong together."
        ),
        optional=True,
    )
    yield text(
        "SENSITIVE",
        tr("Sensitive fields"),
        "",
        tr(
            "Names of fields that the releases show beside the quasi-identifiers and that nobody should learn "
            "of a person, such as diagnosis;income: what their values add is looked at too. Values must be "
            "written alike."
        ),
        optional=True,
    )
    yield text(
        "COUNT_FIELD",
        tr("Record count field (tables already counted)"),
        "records",
        tr("Counted by where a release has this field; elsewhere each row is one record."),
        optional=True,
        advanced=True,
    )
    yield text(
        "EACH_K",
        tr("k of each release"),
        "",
        tr("Only where releases were made with a k other than K, such as 5;10."),
        optional=True,
        advanced=True,
    )
    yield yes(
        "BY_SIZE_ALONE",
        tr("Classes are suppressed for their size alone"),
        True,
        tr(
            "Untick it where further classes were suppressed, for their sensitive values or in a repair: then "
            "nothing is concluded from a class that is not shown."
        ),
        advanced=True,
    )
    yield text(
        "PERIOD",
        tr("Field with the period, of classes that are the same in all periods"),
        "",
        tr(
            "The quasi-identifier that was PERIOD of releases made with PERIODS “{same}”. Where such a release shows a "
            "class of one period and not that of another, nobody is in the other: what follows from that is looked "
            "for too. Leave it empty for releases of “{each}”, of which that is not so.",
            same=THE_SAME,
            each=EACH_BY_ITSELF,
        ),
        optional=True,
        advanced=True,
    )


@dataclass(frozen=True, eq=False)
class ReleasesToCompare:
    """The releases that were given.

    aliases : what is said of their fields; said, warnings : sentences on fields that some lack; broken : what is said
    of a register that somebody changed by hand
    """

    releases: list[Published]
    aliases: Aliases
    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    broken: str = ""


def releases_of(form: Form) -> ReleasesToCompare:
    """The releases of REGISTER, or of RELEASES and CROSSWALKS."""
    if form.given("REGISTER"):
        path = Path(form.text("REGISTER"))
        if not path.is_file():
            raise InputError.saying("REGISTER: there is no file {path}: name a register, or give RELEASES.", path=path)
        published = read_register(path)
        aliases = aliases_in(form, [name for release in published for name in names_in(release)])
        return ReleasesToCompare(published, aliases, broken=broken_chain(path))
    tables, crosswalks = form.layers.sources("RELEASES"), form.layers.sources("CROSSWALKS")
    if len(tables) != len(crosswalks):
        raise InputError.saying(
            "There are {n_tables} RELEASES and {n_crosswalks} CROSSWALKS: give each release its crosswalk, in the same "
            "order.",
            n_tables=len(tables),
            n_crosswalks=len(crosswalks),
        )
    names, sensitive = _names(form, "QUASI_IDENTIFIERS"), _names(form, "SENSITIVE")
    if not names:
        raise InputError.saying("QUASI_IDENTIFIERS is empty: name those of the releases, such as age;sex.")
    aliases = aliases_in(form, [*names, *sensitive, *(name for table in tables for name in table.fields().names())])
    for name in sensitive:
        if name in names:
            raise InputError.saying("SENSITIVE names “{name}”, which is a quasi-identifier: name it once.", name=name)
        if not any(field_for(table.fields(), name, aliases) for table in tables):
            raise InputError.saying(
                "SENSITIVE names “{name}”, which no release has: name fields that they show.", name=name
            )
    if form.given("PERIOD") and form.text("PERIOD") not in names:
        raise InputError.saying(
            "PERIOD is “{period}”, which QUASI_IDENTIFIERS does not name: name it there too, or leave PERIOD empty.",
            period=form.text("PERIOD"),
        )
    wanted = Wanted(tuple(names), tuple(sensitive), form.text("COUNT_FIELD"), aliases)
    parts = enumerate(zip(tables, crosswalks, _each_k(form, len(tables))))
    releases = [
        _release(form, tr("release {i}", i=i + 1), table, crosswalk, wanted, k) for i, (table, crosswalk, k) in parts
    ]
    return ReleasesToCompare(releases, aliases, *looked_for(form, tables, releases, wanted))


def _names(form: Form, parameter: str) -> list[str]:
    return parts_of(form.text(parameter))


def _each_k(form: Form, n_releases: int) -> list[int]:
    """The k that each release was made with."""
    given = parts_of(form.text("EACH_K"))
    if not given:
        return [form.whole("K") if form.given("K") else DEFAULT_K] * n_releases
    if len(given) != n_releases or not all(part.isdecimal() and int(part) >= SMALLEST_K for part in given):
        raise InputError.saying(
            "EACH_K is “{form}”: give a whole number of at least {smallest_k} for each of the {n_releases} releases, "
            "such as 5;10.",
            form=form.text("EACH_K"),
            smallest_k=SMALLEST_K,
            n_releases=n_releases,
        )
    return [int(part) for part in given]


def _release(
    form: Form, title: str, source: CheckedSource, crosswalk: CheckedSource, wanted: Wanted, k: int
) -> Published:
    """One release, counted."""
    fields = source.fields()
    by_sensitive = fields_for(fields, wanted.sensitive, wanted.aliases)
    own = fields_for(fields, wanted.quasi_identifiers, wanted.aliases)
    if not own:
        raise InputError.saying(
            "QUASI_IDENTIFIERS: {title} has none of {first}; its fields are {fields}: name those that the releases "
            "show.",
            title=title,
            first=first_values(wanted.quasi_identifiers),
            fields=first_values(fields.names(), 12),
        )
    areas, levels = read_levels(crosswalk, "", None, form.feedback)
    field_index(fields, NUMBER, "RELEASES", title)
    count = wanted.count if wanted.counts(fields) else ""
    nested = fields.lookupField(LEVEL) >= 0
    read = [NUMBER, *([LEVEL] if nested else []), *own.values(), *by_sensitive.values(), *([count] if count else [])]
    columns = read_columns(source, list(dict.fromkeys(read)), form.feedback)
    counts = counts_of(columns, count)
    number = whole_numbers(columns[NUMBER], NUMBER)
    level = whole_numbers(columns[LEVEL], LEVEL) - 1 if nested else np.zeros(len(number), np.int64)
    region = positions(levels, level, number)
    own_fields, by_value = ({name: columns[field] for name, field in some.items()} for some in (own, by_sensitive))
    period = form.text("PERIOD") if form.text("PERIOD") in own else ""
    # A series goes where one of its periods is too small: of the others nothing follows from that.
    by_size = form.yes("BY_SIZE_ALONE") and not period
    published = publish_rows(title, k, areas, levels, level, region, own_fields, counts, by_size, by_value)
    return in_all_periods(published, period)


def disclosed_table(form: Form, rows: Sequence[Row], releases: Sequence[Published]) -> Table:
    """PINNED: polygons where REGIONS is given, else a table."""
    own = [
        (make_field(name, "text"), [row.values.get(name) for row in rows]) for name in quasi_identifiers_of(releases)
    ]
    columns: dict[str, Sequence[object]] = {
        **of_rows(PINNED, rows),
        "releases": [";".join(str(number + 1) for number in sorted(row.releases)) for row in rows],
        "vbas_sensitive": [row.sensitive or None for row in rows],
        "areas": [_named(row.areas) for row in rows],
        "n_areas": [len(row.areas) for row in rows],
    }
    if not form.given("REGIONS"):
        return filled(PINNED, columns, own=own)
    layer = areas_of(form.job)
    shapes = _shapes(layer, rows)
    _warn_of_unknown(form, layer, rows)
    return filled(PINNED, columns, own=own, shapes=shapes, crs=layer.crs)


def _warn_of_unknown(form: Form, layer: AreaLayer, rows: Sequence[Row]) -> None:
    """Say which areas of counts are not drawn, because REGIONS does not have them."""
    there = np.unique(np.concatenate([row.areas for row in rows])) if rows else np.empty(0, object)
    unknown = there[layer.areas.codes_of(there) < 0].tolist()
    if unknown:
        form.warn(
            tr(
                "REGIONS has no area {first}: {n} of the {n_areas} areas that counts are given away of cannot be "
                "drawn in "
                "PINNED, where field “areas” names them. Give the areas that the releases were made from.",
                first=first_values(unknown),
                n=len(unknown),
                n_areas=len(there),
            )
        )


def _named(areas: np.ndarray) -> str:
    named = to_list(areas[:MOST_AREAS_NAMED])
    return ";".join(named) + ("…" if len(areas) > len(named) else "")


def _shapes(layer: AreaLayer, rows: Sequence[Row]) -> np.ndarray:
    """The areas of each row, dissolved; each set of areas once."""
    shapes = np.full(len(rows), None, dtype=object)
    if layer.are_points:
        raise InputError.saying("REGIONS are points: give the areas as polygons, or leave REGIONS empty.")
    known: dict[tuple[str, ...], object] = {}
    for i, row in enumerate(rows):
        key = tuple(row.areas.tolist())
        if key not in known:
            at = layer.areas.codes_of(row.areas)
            marked = np.full(len(layer.areas), -1, np.int64)
            marked[at[at >= 0]] = 0
            known[key] = dissolve(layer.shapes, number_compactly(marked)[0])[0] if (at >= 0).any() else None
        shapes[i] = known[key]
    return shapes
