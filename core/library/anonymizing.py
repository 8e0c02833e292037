"""`anonymize`: frames of areas and records in, a release out, by the recipe of the form `vbas:anonymize`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Union

from ..job.idle import idle_sentences
from ..job.linked import Linking, linked_source
from ..job.making import Made, aggregations_used, is_nested, need_neighbours, released
from ..job.reading import records_of
from ..job.rules import hold_to_policies
from ..job.settings import SETTINGS, TABLE, by_name
from ..job.updating import Updating, carried_release
from ..log import Log
from ..policy import policies
from ..progress import Progress, part, silent
from ..publish.register.entry import check_place
from ..report.internal import Remarks
from ..report.provenance import NO_COMMANDS, Commands
from ..source import RecordSource
from .frames import frame_of
from .job import job_of
from .linked import AnonymizedLinked
from .places import places_of
from .released import Anonymized

Names = Union[str, Sequence[str]]
Rows = Union[Mapping[str, object], Sequence[Sequence[object]]]
PathLike = Union[str, "os.PathLike[str]"]
ALGORITHM, LINKED = "anonymize", "anonymizelinked"  # of the toolbox, which this is
AREAS_READ = 0.1  # of the time, with the records


def anonymize(
    areas: object,
    records: object,
    *,
    quasi_identifiers: Names,
    area: str | None = None,
    k: int = 5,
    region_id: str | None = None,
    record_region: str | None = None,
    population: str | None = None,
    area_point: str = "centroid",
    period: str | None = None,
    record_count: str | None = None,
    generalise: Rows | None = None,
    hierarchies: object = None,
    hierarchy_rules: Rows | None = None,
    periods: str = "the same in all periods",
    combination: str = "all-rounder",
    release: str = "one level",
    rule: str = "none",
    keep_fields: Names | None = None,
    person_id: str | None = None,
    household_id: str | None = None,
    sensitive: Names | None = None,
    l_diversity: int = 1,
    max_share: float = 100.0,
    published_margins: str = "",
    published_counts: object = None,
    published_area: str | None = None,
    published_number: str | None = None,
    unmatched: str = "stop",
    site_number: str = "max combinations",
    gaps_region: str = "from the identifiers",
    gaps_coefficient: float = 1588.0,
    gaps_exponent: float = 0.42,
    log_base: float = 0.0,
    cutoff: float = 70_000.0,
    budget: float = 1.0,
    fair: Names | None = None,
    n_sites: int = 10,
    site_location: str = "balanced density",
    start: str = "balanced density",
    aggregation: str = "iterative Voronoi",
    capacity_factor: float = 0.0,
    floor: float = 0.0,
    least_population: float = 0.0,
    disclosure: str = "a class has k",
    closed_by_chance: float = 0.2,
    least_left_areas: int = 0,
    least_left_people: float = 0.0,
    finest: str = "areas",
    coarsest: int = 1,
    ratio: float = 2.0,
    level_fields: Names | None = None,
    loss: str = "mean distance",
    levels_coarser: Rows | None = None,
    seed: int = 0,
    register: PathLike | None = None,
    register_action: str = "stop",
    aliases: Rows | None = None,
    series: str | None = None,
    ties: str = "fixed",
    folder_format: str = "CSV",
    licence: str | None = None,
    recipient: str | None = None,
    purpose: str | None = None,
    prepared_by: str | None = None,
    crs: object = None,
    progress: Progress = silent,
    log: Log | None = None,
) -> Anonymized:
    """Release person records with fine geography, k-anonymously: what the toolbox's “Anonymise records” makes.

    The keywords are the parameters of that form, in lower case; docs/reference/anonymize.md says of each what it does.

    Parameters
    ----------
    areas : GeoDataFrame, frame or mapping of arrays
        The small areas: their identifiers, and shapes (`geometry`) or a point for each (`x` and `y`).
    records : frame or mapping of arrays
        The person records, one a row: of pandas, Arrow, polars, or arrays by name. None, NaN, NaT and pandas' NA are
        one missing value, a class of its own.
    quasi_identifiers : str or sequence of str
        The fields of the records that an outsider could know.
    area : str, optional
        The field with the identifier of the area, in areas and records alike; where the two differ, say `region_id` and
        `record_region`.
    k : int
        The smallest class allowed.
    region_id, record_region : str, optional
        The field with the identifier of the area, in the areas and in the records.
    population : str, optional
        The field of the areas with their people; the number of records where None.
    area_point : str
        What stands for a polygon: its centroid, or a point on its surface.
    period : str, optional
        The field that says of which year, quarter or wave a record is: k holds in each, and all have the same regions.
    periods : str
        How classes go together then: “the same in all periods”, so that a number that is missing is nobody, or “each
        period by itself”.
    record_count : str, optional
        The field that says how many records a row stands for, in tables that are already counted.
    generalise, hierarchy_rules : mapping or rows of two, optional
        By quasi-identifier, the level at which it is shown, and the rule of its coarser values, such as
        `{"age": "bands 5 10"}`.
    hierarchies : frame, optional
        Coarser values as a table: attribute, value, level_1, level_2, ….
    combination, site_number, site_location, start, aggregation : str
        The method; with `combination="custom"` the approaches one by one.
    gaps_region, gaps_coefficient, gaps_exponent, log_base, cutoff, budget, fair, n_sites, capacity_factor, floor
        What these approaches look at.
    release : str
        “one level”, or “nested levels”: each record in the smallest of several nested regions that hides it.
    rule : str
        A published rule to follow, which raises k and other settings.
    keep_fields : str or sequence of str, optional
        Further fields to release as they are.
    person_id, household_id : str, optional
        Who a row belongs to: k counts persons and households too.
    sensitive : str or sequence of str, optional
        Fields that a class must not have in common, of which `l_diversity` and `max_share` ask.
    l_diversity, max_share
        The different values a class must have, and the largest share of one, per cent.
    published_margins : str
        Sets of quasi-identifiers whose totals by region others publish: “age;sex, ethnicity”.
    published_counts, published_area, published_number
        A frame of counts that others publish, its field with the area, and that with the count.
    unmatched : str
        “stop”, or “suppress” for records of no known area.
    least_population : float
        People that every region must have.
    disclosure, closed_by_chance, least_left_areas, least_left_people
        What a nested release must hold against.
    finest, coarsest, ratio, level_fields, loss, levels_coarser
        How nested levels are made, from which fields of the areas, and what is lost least.
    seed : int
        Starts every random draw.
    register, register_action, aliases, series
        A register of earlier releases (a GeoPackage), what is done where all together disclose, and fields under other
        names. `Anonymized.write` adds the release to it.
    ties : str
        “fixed”, or “secret”.
    folder_format, licence : str
        Of the folder that `Anonymized.write` writes.
    recipient, purpose, prepared_by : str, optional
        For whom the release is, why, and who made it: for the page that is signed, the first of the internal report.
    crs : optional
        The reference system of areas that do not say it themselves, as pyproj takes it; metres where None.
    progress : callable
        Called with the fraction that is done; raises to cancel.
    log : Log, optional
        Hears the sentences of the toolbox; where None, what a person has to look at is a UserWarning.

    Returns
    -------
    Anonymized
        The release: `records`, `regions`, `crosswalk`, `measures`, `report()`, `write(folder)`.

    Raises
    ------
    InputError
        For what cannot be used as given, in one sentence that names the field and the values.
    PrivacyError
        Where a release would give something away.

    Examples
    --------
    >>> from vbas import anonymize
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> records = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    >>> release = anonymize(areas, records, area="area", quasi_identifiers="sex", k=5)
    >>> release.smallest, len(release.records["sex"])
    (12, 24)
    """
    asked = {**locals(), "region_id": region_id or area, "record_region": record_region or area, "records": None}
    return made_of(areas, records, by_name(asked), crs, progress, log)


def made_of(
    areas: object,
    records: object,
    values: Mapping[str, object],
    crs: object = None,
    progress: Progress = silent,
    log: Log | None = None,
    commands: Commands = NO_COMMANDS,
    folder: bool | None = None,
    linking: Linking | None = None,
    updating: Updating | None = None,
) -> Anonymized:
    """A release of frames and settings by name, as `anonymize` and the command make it.

    values : settings by the names of the form; commands : what does the same again, for the report; folder :
    whether it will be written as a folder, None where that is not known yet; linking : of tables that belong to the
    persons; updating : the release of REGISTER that is carried on, whose regions are taken
    Raises InputError and PrivacyError.
    """
    for policy in policies():
        policy.refuse_hidden(ALGORITHM if linking is None else LINKED)
    heard = _Heard(log)
    tables = {name: value for name, value in values.items() if SETTINGS[name].kind == TABLE}
    others = {name: value for name, value in values.items() if name not in tables}
    frames = {name: frame_of(frame, name) for name, frame in {"RECORDS": records, **tables}.items()}
    frames["REGIONS"] = frame_of(areas, "REGIONS")
    job = job_of(others, frames, heard, progress)
    hold_to_policies(job, folder)
    is_nested(job)  # which raises for what cannot go together
    job.warn(*idle_sentences(job, updating is not None, linking is not None))
    if job.given("REGISTER") and updating is None:
        check_place(Path(job.text("REGISTER")))
    places = places_of(areas, job.text("REGION_ID"), job.text("POPULATION"), job.text("AREA_POINT"), crs, job)
    if need_neighbours(aggregations_used(job)):
        places = places.with_neighbours(part(progress, 0.0, AREAS_READ))
    matched = records_of(job, places.areas, job.whole("K"), key="" if linking is None else linking.key)
    people = places.areas
    if not places.has_population:
        people = people.with_population(matched.profile.area_sizes)
    if updating is not None:
        account = carried_release(job, people, matched, updating, population=people.population)
        made = Made(account, Remarks(matched.notes))
        return Anonymized(job, places, made, heard.said, commands)
    source = RecordSource(matched) if linking is None else linked_source(job, linking, matched, places.areas)
    made = released(job, people, source, matched.notes)
    kind = Anonymized if linking is None else AnonymizedLinked
    return kind(job, places, made, heard.said, commands)


class _Heard:
    """Remembers what is said, and hands it on: to a log, or what a person has to look at as a warning of Python's."""

    def __init__(self, log: Log | None) -> None:
        self._log, self.said = log, list[str]()

    def info(self, *sentences: str) -> None:
        """What was done."""
        self.said += sentences
        if self._log is not None:
            self._log.info(*sentences)

    def warn(self, *sentences: str) -> None:
        """What a person has to look at."""
        self.said += sentences
        if self._log is not None:
            self._log.warn(*sentences)
        else:
            for sentence in sentences:
                warnings.warn(sentence, UserWarning, stacklevel=2)
