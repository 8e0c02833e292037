"""What a table is that an algorithm writes: for whom it is, what its rows are, and each of its fields.

All that says something of a field reads it here: what writes it, its alias, map tips, help and the reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from ..dataclass import dataclass
from ..language import in_turn, tr

FOR_RELEASE, INTERNAL, TEST_DATA = tr("for release"), tr("internal"), tr("test data")
ESTIMATE = tr("estimate")
ADVICE = {
    FOR_RELEASE: tr("For release."),
    INTERNAL: tr("Internal: suppressed counts could be derived from it, so do not publish it."),
    TEST_DATA: tr("Nobody in it exists."),
    ESTIMATE: tr(
        "Estimates, made from what is published alone: they tell nothing new of anybody. Say so wherever you show "
        "them, and do not publish them as counts."
    ),
}
# What a field holds; a NUMBER is whole where all of its values are.
INTEGER, LONG, NUMBER, REAL, TEXT, AS_GIVEN = "integer", "long", "number", "real", "text", "given"
# The releases whose tables have a field.
ONE_LEVEL, NESTED, ALL = "one level", "nested levels", "all"
ONLY = {ONE_LEVEL: tr("one level only"), NESTED: tr("nested levels only")}
OWN = "…"  # in the place of the names of fields that are the user's own


@dataclass(frozen=True)
class OutputField:
    """A field of a table.

    name : in the file, which is a promise to scripts; with a place, vbas_region_{level}, for any number of fields, that
    of a number unless it is {attribute}; OWN for fields of the user's own
    label : what QGIS shows in place of the name, the unit apart; help : what the label leaves open
    kind : one of those above
    levels : the releases whose tables have it; always : whether all of these have it, or only some
    """

    name: str
    label: str
    help: str = ""
    unit: str = ""
    kind: str = TEXT
    levels: str = ALL
    always: bool = True

    @property
    def several(self) -> bool:
        """Whether it stands for any number of fields."""
        return "{" in self.name

    @property
    def alias(self) -> str:
        """The label with the unit."""
        return tr("{label}, {unit}", label=self.label, unit=self.unit) if self.unit else self.label

    @property
    def meaning(self) -> str:
        """All that is to be said of it."""
        return tr("{label} ({more})", label=self.alias, more=self.more) if self.more else self.alias

    @property
    def more(self) -> str:
        """What is to be said beside the alias: the help, and which releases have it."""
        return in_turn(filter(None, (self.help, ONLY.get(self.levels, ""))))

    def alias_of(self, name: str) -> str:
        """The alias of a field of this name, empty where it is another."""
        if not self.several:
            return self.alias if name == self.name else ""
        head, place, _ = re.split(r"[{}]", self.name)
        match = re.fullmatch(re.escape(head) + (r"(.+)" if place == "attribute" else r"(\d+(?:_\d+)?)"), name)
        if match is None:
            return ""
        return self.alias.format(**{place: match[1] if place == "attribute" else match[1].replace("_", ".")})


@dataclass(frozen=True)
class OutputTable:
    """A table that an algorithm writes.

    parameter : of the algorithm; title : of the layer; audience : FOR_RELEASE, INTERNAL, TEST_DATA or ESTIMATE
    help : what its rows are; fields : in their order; geometry : none, points or polygons, which
    only some have unless it is always_drawn
    feature : what a row is called on the map, empty where nothing is told of it there; legend : what the numbers in the
    legend are, empty where it has none
    """

    parameter: str
    title: str
    audience: str
    help: str
    fields: tuple[OutputField, ...]
    geometry: str = "none"
    feature: str = ""
    legend: str = ""
    always_drawn: bool = True

    @property
    def label(self) -> str:
        """The title with for whom it is."""
        return f"{self.title} ({self.audience})"

    @property
    def explained(self) -> str:
        """What its rows are, and its fields."""
        fields = in_turn(tr("“{field}”: {meaning}", field=field.name, meaning=field.meaning) for field in self.fields)
        return f"{self.help} {tr('Fields: {fields}.', fields=fields)}" if self.fields else self.help

    @property
    def about(self) -> str:
        """The same, and whether it may be published."""
        return f"{self.explained} {ADVICE[self.audience]}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its fields, without the user's own and those of which there are several."""
        return tuple(field.name for field in self.fields if field.name != OWN and not field.several)

    def alias_of(self, name: str) -> str:
        """The alias of the field of this name; empty for a field of the user's own."""
        return next((alias for field in self.fields if (alias := field.alias_of(name))), "")

    def fields_of(self, nested: bool) -> Iterator[OutputField]:
        """The fields of the table of a release of one level, or of nested ones."""
        return (field for field in self.fields if field.levels in (ALL, NESTED if nested else ONE_LEVEL))


text = OutputField
integer, long, number, real = (partial(OutputField, kind=kind) for kind in (INTEGER, LONG, NUMBER, REAL))


def own(label: str) -> OutputField:
    """Fields of the user's own, which keep name and kind."""
    return OutputField(OWN, label, kind=AS_GIVEN)


def kind_of_output(title: str) -> str | None:
    """FOR_RELEASE, INTERNAL, TEST_DATA or ESTIMATE, as the title of an output ends; None where it says none."""
    return next((kind for kind in ADVICE if title.endswith(f"({kind})")), None)


def named(title: str) -> str:
    """The title of an output without what it says of its kind."""
    return title.rpartition(" (")[0] if kind_of_output(title) else title
