"""Checking a table that is to be published, whoever made it: how well do its classes hide people?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .. import counted
from ..areas import Areas, identifier_text
from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..parameters import K
from ..records.columns import Column, combine_columns
from ..records.table import HOUSEHOLDS, check_members
from .diversity import Diversity, diversity_of, shares_of
from .kept_field import EXPOSED, KeptField
from .kept_fields import examine_columns
from .requirement import Requirement, members_of
from .risk import risk_of


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """What was found in a table; a class is what records have in common that share all quasi-identifiers.

    of_people : whether it is known whose the records are; where not, each is counted as a person of its own
    of_households : whether households are counted, or people where a class has fewer of these: `people` are they then
    k_found : people in the smallest class; l_found : fewest values of a sensitive field that together could be those of
    all people of a class; t_found : largest distance of a class from the table; None where no field is sensitive
    records_below, classes_below : those that do not hold what is asked; largest_risk, mean_risk : 1 / people, by class
    and over all records
    classes : (C, Q) codes of the quasi-identifiers; records, people : (C,); fails : (C,) bool
    diversity : by sensitive field; kept : what the other fields give away; problems : sentences
    """

    of_people: bool
    of_households: bool
    k_found: int
    l_found: int | None
    t_found: float | None
    records_below: int
    classes_below: int
    largest_risk: float
    mean_risk: float
    classes: np.ndarray
    records: np.ndarray
    people: np.ndarray
    fails: np.ndarray
    diversity: Mapping[str, Diversity]
    kept: tuple[KeptField, ...]
    problems: tuple[str, ...]

    def counted(self, n: int) -> str:
        """So many people or households, or so many records where nobody knows whose they are."""
        if self.of_households:
            return counted.households(n)
        return counted.people(n) if self.of_people else counted.records(n)


def check_release(
    quasi_identifiers: Mapping[str, Column],
    others: Mapping[str, Column],
    k: int,
    members: Mapping[str, Column] | None = None,
    sensitive: Mapping[str, Column] | None = None,
    l_diversity: int = 1,
    max_share: float = 100.0,
    areas: Areas | None = None,
    counts: np.ndarray | None = None,
) -> ReleaseCheck:
    """Check a table of N rows by its columns.

    quasi_identifiers : what is known of a person, the region it shows included; others : all further fields; members :
    who a row belongs to, by kind; sensitive : fields a class must not have in common; areas : whose identifiers must
    not be found in any field; counts : (N,) records of each row, ones where None.
    Raises InputError for an empty table, no quasi-identifier, settings outside their range, rows of nobody, and members
    of rows with counts.
    """
    K.check(k)
    if not quasi_identifiers:
        raise InputError.saying("QUASI_IDENTIFIERS is empty: choose at least one field that could identify a person.")
    columns = list(quasi_identifiers.values())
    if not len(columns[0]):
        raise InputError.saying("RECORDS is empty: there is nothing to check.")
    check_members(members or {}, counts is not None)
    class_of, classes = combine_columns(columns)
    who = {kind: column.codes for kind, column in (members or {}).items()}
    requirement = Requirement(
        k,
        tuple(members_of(kind, class_of, codes) for kind, codes in who.items()),
        tuple(shares_of(name, class_of, column.codes, counts, who) for name, column in (sensitive or {}).items()),
        l_diversity,
        max_share,
    )
    every = np.arange(len(classes), dtype=np.int64)
    records = np.bincount(class_of, counts, len(classes)).astype(np.int64)
    people = requirement.people(every, records)
    fails = (people < k) | ~requirement.holds(every, every, len(classes))
    diversity = {share.field: diversity_of(every, share, len(classes)) for share in requirement.shares}
    kept = examine_columns({**others, **(sensitive or {})}, class_of, quasi_identifiers, k)
    risk = risk_of(records, people)
    return ReleaseCheck(
        of_people=bool(members),
        of_households=requirement.has(HOUSEHOLDS),
        k_found=int(people.min()),
        l_found=min((int(of_field.distinct.min()) for of_field in diversity.values()), default=None),
        t_found=max((float(of_field.distance.max()) for of_field in diversity.values()), default=None),
        records_below=int(records[fails].sum()),
        classes_below=int(fails.sum()),
        largest_risk=risk.largest,
        mean_risk=risk.mean,
        classes=classes,
        records=records,
        people=people,
        fails=fails,
        diversity=diversity,
        kept=tuple(kept),
        problems=tuple(_identifiers_in({**quasi_identifiers, **others, **(sensitive or {})}, areas)),
    )


def _identifiers_in(columns: Mapping[str, Column], areas: Areas | None) -> list[str]:
    """A sentence for every field that holds identifiers of the areas, in however few rows others hold a filler."""
    if areas is None:
        return []
    sentences = []
    for name, column in columns.items():
        texts = np.array([identifier_text(value) for value in column.categories], dtype=object)
        times = np.bincount(column.codes, minlength=len(texts))
        is_identifier = (areas.codes_of(texts) >= 0) & (times > 0)
        rows, different = int(times[is_identifier].sum()), int((times > 0).sum())
        # Some numbers are like identifiers by chance; where most of the different values are, the field holds them.
        if is_identifier.sum() > 1 and is_identifier.sum() > different / 2 and rows >= EXPOSED * times.sum():
            sentences.append(
                tr(
                    "“{name}” holds identifiers of REGIONS in {rows} of {n_rows} rows: the table shows the "
                    "areas themselves.",
                    name=name,
                    rows=rows,
                    n_rows=int(times.sum()),
                )
            )
    return sentences
