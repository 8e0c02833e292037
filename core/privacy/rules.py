"""Rules of the house one works in: the k, the least population and the checks that they ask for, with their source.

A rule sets numbers; nobody can say from here that a release complies with it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Callable

from ..dataclass import dataclass
from ..errors import InputError
from ..language import tr
from ..parameters import SMALLEST_K

NO_RULE = "none"
SHIPPED = Path(__file__).resolve().parent / "rules.csv"
COLUMNS = ("name", "k", "least_population", "l_diversity", "says", "source", "year", "read")
NOR_DERIVABLE = "nor_derivable"  # a column that a file of one's own need not have
YES, NO = "yes", "no"


@dataclass(frozen=True)
class Rule:
    """What a rule asks for.

    says : in a sentence; source, year : where it stands; read : the text, or second hand
    nor_derivable : whether it forbids small counts that can be derived, too, beside those that are shown
    """

    name: str
    k: int
    least_population: float
    l_diversity: int
    says: str
    source: str
    year: str
    read: str
    nor_derivable: bool = False

    @property
    def sentence(self) -> str:
        """The rule with its source, for the log and the report."""
        if self.least_population:
            asked = tr(
                "Rule “{name}”: k of at least {k}, regions of at least {least_population:,.0f} people.",
                name=self.name,
                k=self.k,
                least_population=self.least_population,
            )
        else:
            asked = tr("Rule “{name}”: k of at least {k}.", name=self.name, k=self.k)
        if self.read == "text":
            source = tr("Source: {source} ({year}).", source=self.source, year=self.year)
        else:
            source = tr("Source, known second hand: {source} ({year}).", source=self.source, year=self.year)
        judge = tr("Whether the release complies is for you to judge.")
        return " ".join(filter(None, (asked, self.says and tr(self.says), self.against, source, judge)))

    @property
    def against(self) -> str:
        """What following it holds against: counts that are shown, or those that can be derived, too."""
        if self.nor_derivable:
            return tr("Followed here against counts that are shown, and against counts that can be derived.")
        return tr("Followed here against counts that are shown, not against counts that can be derived.")


@dataclass(frozen=True)
class Listing:
    """The rules of some files, by name, the last of a name; and what keeps a file from being read whole.

    names : of the rules and of the lines that cannot be read, where they say one; problem : a sentence that names the
    file and the line, of the first that cannot be read; empty where all can
    """

    rules: dict[str, Rule]
    names: tuple[str, ...]
    problem: str


def read_rules(*files: Path) -> dict[str, Rule]:
    """The shipped rules, then those of further CSV files with the same columns, by name; the last of a name holds.

    Raises InputError, naming file, line and column, for a file that cannot be read whole.
    """
    listing = list_rules(*files)
    if listing.problem:
        raise InputError(listing.problem)
    return listing.rules


def list_rules(*files: Path) -> Listing:
    """What can be read of the shipped rules and further files, for a list to choose from.

    A run that follows a rule must not rely on it where there is a problem: the line that cannot be read may be the one
    that asks for more.
    """
    rules: dict[str, Rule] = {}
    names: dict[str, None] = {}
    problems: list[str] = []
    for file in (SHIPPED, *files):
        for name, rule in _lines(file, problems):
            names[name] = None
            if rule is not None:
                rules[name] = rule
    return Listing(rules, tuple(names), problems[0] if problems else "")


def _lines(file: Path, problems: list[str]) -> Iterator[tuple[str, Rule | None]]:
    """The name of each line of a file, and its rule; none where it cannot be read, which is added to the problems."""
    text = _text(file, problems)
    # Strict: a quote that is never closed would swallow the lines after it.
    rows = csv.reader(StringIO(text, newline=""), strict=True)
    header: list[str] = []
    names_so_far: set[str] = set()
    while True:
        where = tr("{name}, line {line_num:d}", name=file.name, line_num=rows.line_num + 1)
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append(
                tr("{where}: this is no CSV from there on ({error}): close every quote.", where=where, error=error)
            )
            return
        if not any(cell.strip() for cell in row):
            continue
        if not header:
            header = row
            lacking = [name for name in COLUMNS if name not in header]
            if lacking:
                problems.append(
                    tr(
                        "{name} lacks the columns {lacking}: give rules as rules.csv does.",
                        name=file.name,
                        lacking=", ".join(lacking),
                    )
                )
                return
            continue
        cells = dict(zip(header, row))
        name = cells.get("name", "").strip()
        try:
            rule = _rule(cells, header, row, names_so_far, where)
        except InputError as error:
            problems.append(str(error))
            if name and "," not in name and name != NO_RULE:
                yield name, None
            continue
        names_so_far.add(name)
        yield name, rule


def _text(file: Path, problems: list[str]) -> str:
    """What a file holds; nothing where it cannot be read, which is added to the problems."""
    try:
        content = file.read_bytes()
    except OSError as error:
        problems.append(tr("{name} cannot be read: {error}.", name=file.name, error=error.strerror))
        return ""
    try:
        return content.decode("utf-8-sig")  # spreadsheets write a mark in front
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.append(
            tr(
                "{name}, line {line_num:d}: a character is not in UTF-8: save the file as “CSV UTF-8”.",
                name=file.name,
                line_num=line,
            )
        )
        return ""


def _rule(cells: Mapping[str, str], header: list[str], row: list[str], names_so_far: set[str], where: str) -> Rule:
    """The rule of a line. Raises InputError, naming the column."""
    name = cells.get("name", "").strip()
    if len(row) != len(header):
        raise InputError.saying(
            "{where} has more or fewer values ({n_values}) than the first line names columns ({n_columns}): put a text "
            "with a comma between quotes.",
            where=where,
            n_values=len(row),
            n_columns=len(header),
        )
    if not name or "," in name or name == NO_RULE:
        raise InputError.saying(
            "{where}: give the rule a name, without a comma, other than “{no_rule}”.", where=where, no_rule=NO_RULE
        )
    if name in names_so_far:
        raise InputError.saying("{where}: “{name}” is there twice: keep one of the two lines.", where=where, name=name)
    k = _number(cells, "k", int, where)
    least = _number(cells, "least_population", float, where)
    distinct = _number(cells, "l_diversity", int, where)
    if k < SMALLEST_K or not 0 <= least < 1e12 or distinct < 1:
        raise InputError.saying(
            "{where}: “{name}” needs a k of at least {smallest_k}, people from 0, values from 1.",
            where=where,
            name=name,
            smallest_k=SMALLEST_K,
        )
    derivable = cells.get(NOR_DERIVABLE, "").strip() or NO
    if derivable not in (YES, NO):
        raise InputError.saying(
            "{where}, column {column}: “{value}” is neither “{yes}” nor “{no}”: correct it.",
            where=where,
            column=NOR_DERIVABLE,
            value=derivable,
            yes=YES,
            no=NO,
        )
    texts = (cells["says"], cells["source"], cells["year"], cells["read"])
    return Rule(name, int(k), least, int(distinct), *texts, derivable == YES)


def _number(cells: Mapping[str, str], column: str, kind: Callable[[str], float], where: str) -> float:
    try:
        return kind(cells[column])
    except ValueError as error:
        raise InputError.saying(
            "{where}, column {column}: “{value}” is no number that can be used: correct it.",
            where=where,
            column=column,
            value=cells[column],
        ) from error
