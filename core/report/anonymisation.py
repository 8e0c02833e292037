"""The report of an anonymisation: verdict, measures and what they mean, parameters, the regions on a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import shapely

from ..evaluation import Measures, RegionAudit
from .page import Report, Section, how_it_was_done, render, time_taken
from .pictures import REDS, histogram, region_map

MEANINGS = (
    ("Regions", "n_regions", "Aggregated regions: the more, the finer the geography of the release."),
    ("Records", "n_records", "Records in the table."),
    ("Suppressed", "n_suppressed", "Records left out because fewer than k share their region and quasi-identifiers."),
    ("Suppressed, %", "suppression_percent", "The same as a share of all records. Less is better."),
    (
        "Compactness, m",
        "compactness",
        "Sum of the distances from each area to the site of its region. Less is more compact.",
    ),
    (
        "Discernibility",
        "discernibility",
        "Sum of the squared sizes of the released classes. Less means that records differ more: less information lost.",
    ),
    (
        "Non-uniform entropy, bits",
        "non_uniform_entropy",
        "How hard it is to guess a record's area from its region. Less means finer geography.",
    ),
    (
        "Mean distance, m",
        "mean_distance",
        "How far the people of a record's region live from its middle, on average over the released records.",
    ),
)


def measures_section(measures: Measures) -> Section:
    """The measures and what they mean (Croft 2015, section 3.4)."""
    rows = [(label, getattr(measures, name), meaning) for label, name, meaning in MEANINGS]
    return Section("What it cost", (), ("Measure", "Value", "Meaning"), rows)


def regions_section(shapes: np.ndarray, audit: RegionAudit) -> Section:
    """Maps of the regions, by people released and by share suppressed. shapes : (n_regions,) planar polygons."""
    share = 100.0 * audit.suppressed / np.maximum(audit.records, 1)
    labels = [
        f"Region {i + 1}: {areas} areas, {released} records released, {percent:.1f} % suppressed"
        for i, (areas, released, percent) in enumerate(zip(audit.areas, audit.released, share))
    ]
    drawn = ~(shapely.is_empty(shapes) | shapely.is_missing(shapes))
    shown = [label for label, there in zip(labels, drawn) if there]
    return Section(
        "The regions",
        (),
        pictures=(
            region_map(shapes[drawn], audit.released[drawn], shown, "Darker: more records released."),
            region_map(shapes[drawn], share[drawn], shown, "Darker: a larger share of records suppressed.", REDS),
            histogram(audit.records, "Records in a region, before suppression", "records", "regions"),
        ),
    )


def evaluation_report(
    measures: Measures,
    audit: RegionAudit,
    k: int,
    shapes: np.ndarray,
    parameters: Sequence[tuple[str, object]],
    notes: Sequence[str],
    lost: Sequence[Section] = (),
) -> str:
    """The page of an evaluation, which releases nothing; arguments as for `anonymisation_report`."""
    verdict = (
        f"At k = {k} a release by this crosswalk would suppress {measures.n_suppressed} of {measures.n_records} "
        f"records ({measures.suppression_percent:.2f} %)."
    )
    sections = [
        measures_section(measures),
        *lost,
        regions_section(shapes, audit),
        how_it_was_done(notes, parameters),
    ]
    return render(Report("Evaluation report", verdict, measures.n_suppressed < measures.n_records, True, sections))


def anonymisation_report(
    measures: Measures,
    audit: RegionAudit,
    k: int,
    smallest_class: int | None,
    shapes: np.ndarray,
    parameters: Sequence[tuple[str, object]],
    notes: Sequence[str],
    seconds: Mapping[str, float],
    protection: Section,
    lost: Sequence[Section] = (),
) -> str:
    """The page as HTML.

    smallest_class : of the release, recounted; shapes : (n_regions,) planar polygons; parameters : label and value of
    each; notes : sentences of the components and warnings; seconds : by component; protection : from
    `protection_section`; lost : of who is lost, and which attribute costs what.
    """
    released = measures.n_records - measures.n_suppressed
    if released:
        verdict = (
            f"The release is {k}-anonymous: every one of its {released} records shares its region and "
            f"quasi-identifiers with at least {k - 1} others (smallest class: {smallest_class}). "
            f"{measures.n_suppressed} of {measures.n_records} records "
            f"({measures.suppression_percent:.2f} %) were suppressed."
        )
    else:
        verdict = "No record could be released: all were suppressed. Choose fewer quasi-identifiers, or fewer regions."
    sections = [
        measures_section(measures),
        *lost,
        regions_section(shapes, audit),
        how_it_was_done(notes, parameters),
        time_taken("Component", seconds),
        protection,
    ]
    return render(Report("Anonymisation report", verdict, bool(released), True, sections))
