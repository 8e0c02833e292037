"""An approach as it stands in the dict of its room: a function, and what others must know of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Callable, Generic, TypeVar

from .dataclass import dataclass
from .language import tr

Result = TypeVar("Result", covariant=True)
# In brackets, with a year, at the end of a sentence.
_SOURCE = re.compile(r" \((?P<source>[^()]*\b(?:1[89]|20)\d\d\b[^()]*)\)\.$")


@dataclass(frozen=True)
class Approach(Generic[Result]):
    """A function that is called as its room says, such as `approach(areas, profile, sites, options, progress)`.

    settings : the fields of the room's options that it looks at; own_sites : an aggregation that chooses its own sites
    and is given their number in place of the sites; neighbours : it needs areas with their neighbours;
    leaves_out_wide_groups : in the end, the groups of cells that make the loss worse are left out;
    uses_attribute_counts : what it gives depends on the classes of records that are suppressed in the end, so that it
    may give some of them away; counts_values : it looks at how many values k records have, suppressed ones among them;
    runs_candidates : a site number that is called with what any number of sites suppresses,
    and with progress; starts_from : the aggregation that an exchange starts from, by which numbers of sites are tried
    and coarser levels made in its place
    """

    function: Callable[..., Result]
    settings: tuple[str, ...] = ()
    own_sites: bool = False
    neighbours: bool = False
    leaves_out_wide_groups: bool = False
    uses_attribute_counts: bool = False
    counts_values: bool = False
    runs_candidates: bool = False
    starts_from: str = ""

    def __call__(self, *arguments: object, **named: object) -> Result:
        """What the function gives."""
        return self.function(*arguments, **named)

    @property
    def sentence(self) -> str:
        """What it does, for whoever chooses it: the first paragraph of the docstring, without the source."""
        sentences = [tr(described(self.function)[0])]
        if self.own_sites:
            sentences.append(tr("It chooses its own sites."))
        if self.uses_attribute_counts:
            sentences.append(tr("It depends on suppressed records, too."))
        return " ".join(filter(None, sentences))

    @property
    def source(self) -> str:
        """Where it is published, as the first paragraph of the docstring ends; empty where it says nothing."""
        return described(self.function)[1]


def described(function: Callable[..., object]) -> tuple[str, str]:
    """The first paragraph of a docstring without its source, and the source, each empty where there is none."""
    # Python run without docstrings (-OO) has nothing to say, and runs all the same.
    paragraph = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    source = _SOURCE.search(paragraph)
    return (f"{paragraph[: source.start()]}.", source["source"]) if source else (paragraph, "")


def using_setting(approaches: Mapping[str, Approach[Result]], setting: str) -> tuple[str, ...]:
    """The names of the approaches that look at a setting."""
    return tuple(name for name, approach in approaches.items() if setting in approach.settings)


def depending_on_attribute_counts(approaches: Mapping[str, Approach[Result]]) -> tuple[str, ...]:
    """The names of the approaches whose results depend on the classes of suppressed records."""
    return tuple(name for name, approach in approaches.items() if approach.uses_attribute_counts)


def choosing_sites(approaches: Mapping[str, Approach[Result]]) -> tuple[str, ...]:
    """The names of the approaches that choose their own sites."""
    return tuple(name for name, approach in approaches.items() if approach.own_sites)
