"""`anonymize_linked`: persons and the tables that belong to them in, a release of all of them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

from ..errors import InputError
from ..job.linked import KEEP, KNOWN, SENSITIVE, Linking
from ..job.settings import by_name, refuse_unknown_keywords
from ..job.values import number_of
from ..linked.tables import ALL_ROWS
from ..log import Log
from ..progress import Progress, silent
from .anonymizing import Names, made_of
from .frames import frame_of
from .linked import AnonymizedLinked

BY_TABLE = '{"stays":"month"}'  # an example
ByTable = Mapping[str, Union[str, Sequence[str]]]


def anonymize_linked(
    areas: object,
    persons: object,
    tables: Mapping[str, object],
    *,
    key: str,
    known: ByTable | None = None,
    keep: ByTable | None = None,
    sensitive: ByTable | Names | None = None,
    linked_sensitive: ByTable | None = None,
    linked_keys: Mapping[str, str] | None = None,
    count_known: bool = True,
    new_key: bool = True,
    linked_k: int = 0,
    rows_known: str = ALL_ROWS,
    area: str | None = None,
    crs: object = None,
    progress: Progress = silent,
    log: Log | None = None,
    **settings: Any,
) -> AnonymizedLinked:
    """Release persons and the tables that belong to them in one geography: what the toolbox's “Anonymise linked tables”
    makes.

    The persons are released as `anonymize` does it. The rows of a table are shown of those whom at least k people share
    everything with that others may know of them, in all tables together; of the others they are left out, and the
    person's field `vbas_<table>` says so. Nobody is suppressed for them.

    Parameters
    ----------
    areas : GeoDataFrame, frame or mapping of arrays
        The small areas, as for `anonymize`.
    persons : frame or mapping of arrays
        One row for each person.
    tables : mapping of str to frame
        By the name that each has in the release, the tables that belong to persons, such as stays and drugs. What is to
        be left out first stands last.
    key : str
        The field of the persons, and of the tables, that says whose a row is; it is not released.
    known : mapping of str to names of fields, optional
        By table, what others may know of each of a person's rows, such as the month of a stay. It is released.
    keep, linked_sensitive : mapping of str to names of fields, optional
        By table, additional fields to release as they are; of the sensitive ones, the people who look alike must not
        have one value in common: see `l_diversity` and `max_share`.
    sensitive : str, sequence of str or mapping, optional
        Fields of the persons of which the same is asked, as for `anonymize`; or, by table, the same as
        `linked_sensitive`.
    linked_keys : mapping of str to str, optional
        The key of tables that call it otherwise.
    count_known : bool
        Whether others may know how many rows a person has in a table of which they know nothing else.
    new_key : bool
        Whether a key that is drawn anew, `vbas_person`, says which rows are of one person.
    linked_k : int
        How many people must look alike in all tables together; 0 for k. Where k is larger, the classes of the persons
        are, and more linked rows are shown.
    rows_known : str
        “all rows”: others may know `known` of all rows of a person; “one row”: of any one of them, and nothing of the
        others. Far more is shown then: rows are left out whose values fewer than k people of a class have.
    area, crs, progress, log
        As for `anonymize`.
    **settings
        All other keywords of `anonymize`, such as `quasi_identifiers` and `k`.

    Returns
    -------
    AnonymizedLinked
        As `anonymize` gives it, and `tables`, the released rows by table.

    Raises
    ------
    InputError
        For what cannot be used as given, in one sentence that names the field and the values.
    PrivacyError
        Where a release would give something away.

    Examples
    --------
    >>> from vbas import anonymize_linked
    >>> areas = {"area": ["a", "b", "c", "d"], "x": [0, 900, 0, 900], "y": [0, 0, 900, 900]}
    >>> people = {"id": list(range(24)), "area": list("abcd") * 6, "sex": ["F", "M"] * 12}
    >>> stays = {"id": list(range(24)) + [0, 1], "month": ["May", "June"] * 13}
    >>> release = anonymize_linked(
    ...     areas, people, {"stays": stays}, key="id", known={"stays": "month"}, area="area", quasi_identifiers="sex"
    ... )
    >>> release.smallest, len(release.records["sex"]), len(release.tables["stays"]["month"])
    (12, 24, 0)
    """
    refuse_unknown_keywords(list(settings), "REGIONS", "RECORDS")
    by_table = isinstance(sensitive, Mapping)
    of_tables = {**_names(SENSITIVE, sensitive if by_table else None), **_names(SENSITIVE, linked_sensitive)}
    of_persons = None if by_table else sensitive
    values = by_name({"region_id": area, "record_region": area, "sensitive": of_persons, **settings})
    if not isinstance(tables, Mapping):
        raise InputError.saying("LINKED_TABLES: give the linked tables by name.")
    linking = Linking(
        key,
        {name: frame_of(frame, name) for name, frame in tables.items()},
        _names(KNOWN, known),
        _names(KEEP, keep),
        of_tables,
        {table: names[0] for table, names in _names("LINKED_KEYS", linked_keys).items() if names},
        count_known,
        new_key,
        int(number_of("LINKED_K", linked_k, True)),
        rows_known,
    )
    return cast(AnonymizedLinked, made_of(areas, persons, values, crs, progress, log, linking=linking))


def _names(parameter: str, by_table: object) -> dict[str, list[str]]:
    """Names of fields by table, one of them or several. Raises InputError."""
    if by_table is None:
        return {}
    if isinstance(by_table, Mapping):
        named = {table: [of] if isinstance(of, str) else of for table, of in by_table.items()}
        if all(isinstance(of, (list, tuple)) and all(isinstance(name, str) for name in of) for of in named.values()):
            return {table: list(of) for table, of in named.items()}
    raise InputError.saying(
        "{parameter}: give names of fields by table, such as {example}.", parameter=parameter, example=BY_TABLE
    )
