"""`update_release`: a release of a register carried on with the records of now."""

from __future__ import annotations

from typing import Any

from ..job.settings import by_name, refuse_unknown_keywords
from ..job.updating import Updating
from ..job.values import choice_of
from ..log import Log
from ..progress import Progress, silent
from ..releases.updating import FOLLOWED, FURTHER, HELD_BACK, UPDATED
from .anonymizing import PathLike, made_of
from .released import Anonymized


def update_release(
    areas: object,
    records: object,
    *,
    register: PathLike,
    entry: str | int | None = "",
    replaces: bool = False,
    followed: str = HELD_BACK,
    area: str | None = None,
    crs: object = None,
    progress: Progress = silent,
    log: Log | None = None,
    **settings: Any,
) -> Anonymized:
    """Release the records of now under the regions of an earlier release: what the toolbox's “Update a release” makes.

    Classes of regions stay as they were wherever that many live there still, and change by nobody or by k and more
    between any two releases of the register.

    Parameters
    ----------
    areas : GeoDataFrame, frame or mapping of arrays
        The small areas, those of the earlier release.
    records : frame or mapping of arrays
        The person records of now, one a row.
    register : path
        The register that has the earlier release. `Anonymized.write` adds this one to it.
    entry : str or int, optional
        The number or name of the earlier release; empty for the last one of these areas and quasi-identifiers.
    replaces : bool
        Whether the records take the place of the earlier ones; else they are of a further period.
    followed : str
        What becomes of rows of which fewer than k of their class and region show the same values in kept and sensitive
        fields: “held back”, or “shown”, so that they can be followed from month to month.
    area, crs, progress, log
        As for `anonymize`.
    **settings
        Other keywords of `anonymize` that say what the records are and show, such as `quasi_identifiers`; `k` is that
        of the earlier release where it is not given. How regions are made is not asked: they stay.

    Returns
    -------
    Anonymized
        As `anonymize` gives it; `account.changed` says what changed.

    Raises
    ------
    InputError
        For what cannot be used as given, in one sentence that names the field and the values.
    PrivacyError
        Where a release would give something away.

    Examples
    --------
    >>> from vbas import anonymize, update_release
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> march = {"area": list("aabbccdd") * 3, "sex": ["F", "M"] * 12}
    >>> first = anonymize(areas, march, area="area", quasi_identifiers="sex", register="months.gpkg", n_sites=1)
    >>> _ = first.write("march")
    >>> april = {"area": list("aabbccdd") * 3 + ["a"], "sex": ["F", "M"] * 12 + ["F"]}
    >>> release = update_release(areas, april, area="area", quasi_identifiers="sex", register="months.gpkg")
    >>> release.account.changed.same, release.measures.n_suppressed
    (2, 1)
    """
    refuse_unknown_keywords(list(settings), "REGIONS", "RECORDS", "REGISTER")
    values = by_name({"region_id": area, "record_region": area, **settings, "register": register}, always=["K"])
    kind = UPDATED if replaces else FURTHER
    updating = Updating("" if entry is None else str(entry), kind, choice_of("followed", followed, FOLLOWED))
    return made_of(areas, records, values, crs, progress, log, updating=updating)
