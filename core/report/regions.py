"""The regions of one level in a report: a map of what they lose, those that lose most, how many records they have."""

from __future__ import annotations

import numpy as np

from .. import counted
from ..account import Account
from ..arrays import to_list
from ..language import plural, tr
from .map_data import MapData, lost_map
from .page import Section
from .pictures import histogram

WORST_REGIONS = 10


def regions_section(account: Account, map_data: MapData) -> Section:
    """The regions by what they lose: a map, those that lose most, and how many records regions have."""
    audit, numbers = account.audit, account.plan.crosswalk.numbers
    share = 100.0 * audit.suppressed / np.maximum(audit.records, 1)
    labels = [
        tr(
            "Region {number}: {areas}, {released}, {percent:.1f} % suppressed",
            number=number,
            areas=counted.areas(areas),
            released=plural("{n} record released", "{n} records released", released),
            percent=percent,
        )
        for number, areas, released, percent in zip(to_list(numbers), audit.areas, audit.released, share)
    ]
    worst = np.lexsort((numbers, -audit.suppressed))[:WORST_REGIONS]
    rows = [
        (
            str(numbers[region]),
            int(audit.areas[region]),
            int(audit.records[region]),
            int(audit.suppressed[region]),
            float(share[region]),
            int(audit.anonymity[region]),
        )
        for region in to_list(worst)
    ]
    header = (
        tr("Region"),
        tr("Areas"),
        tr("Records"),
        tr("Suppressed"),
        tr("Suppressed, %"),
        tr("Smallest class before"),
    )
    pictures = (
        lost_map(map_data, labels, share),
        histogram(audit.records, tr("Records in a region, before suppression"), tr("records"), tr("regions")),
    )
    return Section(
        tr("The regions"),
        (
            plural(
                "The region that loses most records.",
                "The {n} regions that lose most records.",
                len(rows),
            ),
        ),
        header,
        rows,
        pictures,
    )
