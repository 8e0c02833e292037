"""A release, its crosswalk and its areas: declared and read, for every form that analyses one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qgis.core import QgsProcessingParameterDefinition

from ...core.analysis.fitting import MARGINS_DIFFER, STOP, fit, margin_of
from ...core.analysis.released import ReleasedRows, released_rows
from ...core.analysis.spread_table import read_spread
from ...core.analysis.spreading import AT_LEVEL_1, IN_ZONES, LEAVE_OUT, NONE, Spread, spread
from ...core.dataclass import dataclass
from ...core.errors import InputError
from ...core.language import plural, tr
from ...core.records.columns import column_numbers
from ...core.records.table import COUNT_FIELD, counts_of
from ..form import parameters as shared
from ..form import regions
from ..form.areas import area_parameters, areas_of
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.records import record_count
from ..layers.reading.checked_source import field_index
from ..layers.reading.crosswalks import LEVEL, NUMBER
from ..layers.reading.records import read_columns
from ..layers.shapes.areas import AreaLayer

ESTIMATE = "estimate"
OF_SPREAD = ("records", "weight", ESTIMATE)  # fields of SPREAD beside the area and those of the release
OF_MARGINS = ("MARGIN_AREA", "MARGIN_FIELDS", "MARGIN_COUNT", "MARGINS_DIFFER")
MARGIN_CONDITIONS: Conditions = {name: [{"MARGINS": GIVEN}] for name in OF_MARGINS}


@dataclass(frozen=True, eq=False)
class AnalysedRelease:
    """The areas as a layer, and the released rows."""

    layer: AreaLayer
    rows: ReleasedRows


def release_parameters(or_spread: bool = False) -> Iterable[QgsProcessingParameterDefinition]:
    """RECORDS, QUASI_IDENTIFIERS, RECORD_COUNT, CROSSWALK, CROSSWALK_ID, REGIONS, REGION_ID, POPULATION, AREA_POINT.

    or_spread : whether RECORDS may be SPREAD, which needs no crosswalk
    """
    text = tr("The rows of a release, of one level ({number}) or nested (with {level}).", level=LEVEL, number=NUMBER)
    if or_spread:
        text = tr(
            "{text} Or SPREAD of “Spread a release over the areas”: its weights are then taken as they are, without "
            "CROSSWALK.",
            text=text,
        )
    yield shared.source("RECORDS", tr("Released records"), text)
    text = tr("Those of the release: records that share them, level and region are a class.")
    yield shared.field("QUASI_IDENTIFIERS", tr("Quasi-identifiers"), "RECORDS", text, several=True)
    yield record_count(numeric=True)
    yield from regions.crosswalk_parameters(optional=or_spread)
    for parameter in area_parameters():
        if parameter.name() == "POPULATION":
            text = tr(
                "The number of people in each area, from a census, say: the records of a region are spread in "
                "proportion to it. It need not be of the same year."
            )
            parameter = shared.field("POPULATION", tr("Population"), "REGIONS", text, numeric=True)
        yield parameter


def spread_parameters() -> Iterable[QgsProcessingParameterDefinition]:
    """LEAVE_OUT, MARGINS and its fields, MARGINS_DIFFER."""
    yield shared.choice(
        "LEAVE_OUT",
        tr("Areas where records cannot live"),
        LEAVE_OUT,
        NONE,
        tr(
            "“{none}”: all areas of the region count. “{at_areas}”: not those that show the same class themselves, "
            "since the records of an area and class are shown together; for a nested release whose level 1 is the "
            "areas. “{in_zones}”: not those within any smaller region that shows the class; for a nested release of "
            "which it is said that no small count follows. Of an update neither holds. Whoever made the release knows "
            "which does.",
            none=NONE,
            at_areas=AT_LEVEL_1,
            in_zones=IN_ZONES,
        ),
        advanced=True,
    )
    yield shared.source(
        "MARGINS",
        tr("Table of people by area"),
        tr(
            "A published table of people by area and some of the released fields, such as a census has of age: a row "
            "for each area and value. The weights are fitted to it, so that a rare group is no longer pulled towards "
            "where all people live."
        ),
        optional=True,
        advanced=True,
    )
    text = tr("The field with the identifier of the area.")
    yield shared.field("MARGIN_AREA", tr("Area, in the table of people"), "MARGINS", text, optional=True, advanced=True)
    text = tr(
        "The fields that the table counts by. The released records must have fields of the same names and values."
    )
    yield shared.field(
        "MARGIN_FIELDS",
        tr("Fields counted by, in the table of people"),
        "MARGINS",
        text,
        several=True,
        optional=True,
        advanced=True,
    )
    text = tr("The field with the number of people.")
    yield shared.field(
        "MARGIN_COUNT",
        tr("Number, in the table of people"),
        "MARGINS",
        text,
        numeric=True,
        optional=True,
        advanced=True,
    )
    yield shared.choice(
        "MARGINS_DIFFER",
        tr("Where the table contradicts the release"),
        MARGINS_DIFFER,
        STOP,
        tr(
            "More records of a group may be released of a region than the table has people there, if it is of another "
            "year or rounded. “{stop}” names the first such place. “{as_weights}” spreads the records of that group by "
            "its people in the table, without meeting any number.",
            stop=MARGINS_DIFFER[0],
            as_weights=MARGINS_DIFFER[1],
        ),
        advanced=True,
    )


def is_spread(form: Form) -> bool:
    """Whether RECORDS is a table of weights, as `vbas:spreadrelease` writes it."""
    fields = form.layers.source("RECORDS").fields()
    return all(fields.lookupField(name) >= 0 for name in (form.text("REGION_ID"), *OF_SPREAD))


def read_spread_of(form: Form) -> tuple[AnalysedRelease, Spread]:
    """RECORDS as a table of weights: its classes, and where they may live."""
    source, area = form.layers.source("RECORDS"), form.text("REGION_ID")
    idle = [name for name in ("MARGINS", "RECORD_COUNT") if form.given(name)]
    if form.text("LEAVE_OUT") != NONE:
        idle.append("LEAVE_OUT")
    if idle:
        raise InputError.saying(
            "RECORDS are spread already: take out {names}, or give the released records.", names=", ".join(idle)
        )
    layer = areas_of(form.job)
    taken = {field.lower() for field in (area, *OF_SPREAD, "fid")}
    own = [name for name in source.fields().names() if name.lower() not in taken]
    columns = read_columns(source, [area, ESTIMATE, *own], form.feedback)
    estimate = column_numbers(columns[ESTIMATE], ESTIMATE, "RECORDS")
    rows, weights = read_spread(layer.areas, columns[area], {name: columns[name] for name in own}, estimate)
    _say_how_much_is_known(form, rows, weights)
    return AnalysedRelease(layer, rows), weights


def release_of(form: Form, names: Sequence[str]) -> AnalysedRelease:
    """The release, with these fields and its quasi-identifiers."""
    source, count = form.layers.source("RECORDS"), form.text("RECORD_COUNT")
    field_index(source.fields(), NUMBER, "RECORDS", "RECORDS")
    nested = source.fields().lookupField(LEVEL) >= 0
    places = [LEVEL, NUMBER] if nested else [NUMBER]
    wanted = list(dict.fromkeys([*form.field_names("QUASI_IDENTIFIERS"), *names]))
    own = [name for name in wanted if name.lower() in (LEVEL, NUMBER)]
    if own:
        raise InputError.saying("Field “{name}” says where a record is shown: choose others.", name=own[0])
    if not form.given("CROSSWALK"):
        raise InputError.saying(
            "CROSSWALK is not given: it came with the release. Only RECORDS that are spread already need none."
        )
    if not count and COUNT_FIELD not in wanted and source.fields().lookupField(COUNT_FIELD) >= 0:
        form.warn(
            tr(
                "RECORDS has a field “{name}”, as a release of counted rows has, but each row is taken for one record: "
                "where the field says how many a row stands for, give it as RECORD_COUNT.",
                name=COUNT_FIELD,
            )
        )
    layer = areas_of(form.job)
    _, levels = regions.levels_of_crosswalk(form.job, layer.areas)
    read = list(dict.fromkeys([*places, *wanted, *([count] if count else [])]))
    columns = read_columns(source, read, form.feedback)
    rows = released_rows(
        layer.areas, levels, {name: columns[name] for name in [*places, *wanted]}, counts_of(columns, count)
    )
    form.check_cancelled()
    return AnalysedRelease(layer, rows)


def spread_of(form: Form, rows: ReleasedRows) -> Spread:
    """The weights that the form asks for; the log says what they rest on."""
    weights = spread(rows, form.text("LEAVE_OUT"), form.field_names("QUASI_IDENTIFIERS"))
    form.check_cancelled()
    if form.given("MARGINS"):
        weights = _fitted(form, rows, weights)
    _say_how_much_is_known(form, rows, weights)
    return weights


def _say_how_much_is_known(form: Form, rows: ReleasedRows, weights: Spread) -> None:
    known = float(rows.records[weights.in_one_area[weights.profile_of]].sum())
    total = float(rows.records.sum())
    form.info(
        tr(
            "{percent:.1f} % of the records are shown in one area; the others are spread over the areas of their "
            "region.",
            percent=100 * known / total if total else 0.0,
        )
    )


def _fitted(form: Form, rows: ReleasedRows, weights: Spread) -> Spread:
    area, names, count = form.text("MARGIN_AREA"), form.field_names("MARGIN_FIELDS"), form.text("MARGIN_COUNT")
    if not (area and names and count):
        raise InputError.saying(
            "MARGINS is given: say in MARGIN_AREA, MARGIN_FIELDS and MARGIN_COUNT which fields it has."
        )
    columns = read_columns(form.layers.source("MARGINS"), list(dict.fromkeys([area, *names, count])), form.feedback)
    people = column_numbers(columns[count], count, "MARGIN_COUNT")
    margin, outside = margin_of(rows, columns[area], {name: columns[name] for name in names}, people)
    fitted = fit(rows, weights, margin, form.text("MARGINS_DIFFER"))
    if outside:
        form.info(tr("MARGINS has {n:.15g} people in areas that REGIONS does not have: passed over.", n=outside))
    if fitted.unknown:
        form.warn(
            plural(
                "{n:.15g} released record has values that MARGINS does not have: it is spread by population.",
                "{n:.15g} released records have values that MARGINS does not have: they are spread by population.",
                fitted.unknown,
            )
        )
    form.info(
        tr(
            "The weights meet MARGINS, but for groups that contradict the release; {n:.15g} of the people of the "
            "others are not among the released records of their group.",
            n=fitted.left_over,
        )
        if fitted.contradictions
        else tr(
            "The weights meet MARGINS; {n:.15g} of its people are not among the released records of their group.",
            n=fitted.left_over,
        )
    )
    if fitted.contradictions:
        form.warn(
            plural(
                "{n} group of MARGINS contradicts the release, and is used as weights only. {first}",
                "{n} groups of MARGINS contradict the release, and are used as weights only. {first}",
                len(fitted.contradictions),
                first=fitted.contradictions[0].sentence,
            )
        )
    return fitted.spread
