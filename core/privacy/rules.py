"""Rules of the house one works in: the k, the least population and the checks that they ask for, with their source.

A rule sets numbers; nobody can say from here that a release complies with it.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from ..anonymity import SMALLEST_K
from ..errors import InputError
from ..language import tr

NO_RULE = "none"
SHIPPED = Path(__file__).resolve().parent / "rules.csv"
COLUMNS = ("name", "k", "least_population", "l_diversity", "says", "source", "year", "read")


@dataclass(frozen=True)
class Rule:
    """What a rule asks for. says : in a sentence; source, year : where it stands; read : the text, or second hand."""

    name: str
    k: int
    least_population: float
    l_diversity: int
    says: str
    source: str
    year: str
    read: str

    @property
    def sentence(self) -> str:
        """The rule with its source, for the log and the report."""
        second = tr(", known second hand") if self.read != "text" else ""
        return tr(
            "Rule “{name}”: k of at least {k}, regions of at least {least_population:g} people. "
            "{says} Source: {source} ({year}{second}). Whether the release complies is for you "
            "to judge.",
            name=self.name,
            k=self.k,
            least_population=self.least_population,
            says=tr(self.says),
            source=self.source,
            year=self.year,
            second=second,
        )


def read_rules(*files: Path) -> dict[str, Rule]:
    """The shipped rules, then those of further CSV files with the same columns, by name; the last of a name holds.

    Raises InputError, naming file and line, for columns that are missing and numbers that are none.
    """
    found = {}
    for file in (SHIPPED, *files):
        with file.open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines)
            lacking = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
            if lacking:
                raise InputError(
                    tr(
                        "{name} lacks the columns {lacking}: give rules as rules.csv does.",
                        name=file.name,
                        lacking=", ".join(lacking),
                    )
                )
            for row in rows:
                rule = _rule(row, tr("{name}, line {line}", name=file.name, line=rows.line_num))
                found[rule.name] = rule
    return found


def _rule(row: dict[str, str], where: str) -> Rule:
    name = (row["name"] or "").strip()
    if not name or "," in name or name == NO_RULE:
        raise InputError(
            tr("{where}: give the rule a name, without a comma, other than “{no_rule}”.", where=where, no_rule=NO_RULE)
        )
    try:
        k, least, distinct = int(row["k"]), float(row["least_population"]), int(row["l_diversity"])
    except (TypeError, ValueError) as error:
        raise InputError(
            tr("{where}: k, least_population and l_diversity of “{name}” must be numbers.", where=where, name=name)
        ) from error
    if k < SMALLEST_K or not 0 <= least < 1e12 or distinct < 1:
        raise InputError(
            tr(
                "{where}: “{name}” needs a k of at least {smallest_k}, people from 0, values from 1.",
                where=where,
                name=name,
                smallest_k=SMALLEST_K,
            )
        )
    return Rule(name, k, least, distinct, row["says"], row["source"], row["year"], row["read"])
