"""The generator: records of people who do not exist, drawn area by area from shares that may vary over the map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .. import counted
from ..areas import identifier_text
from ..dataclass import dataclass
from ..errors import InputError, first_values, refuse_where
from ..language import tr
from ..progress import Progress, silent
from ..records.columns import Column, smallest_integers
from ..records.table import RecordTable
from .distributions import Distributions, Sampler, province_rows, sampler_of_shares, stream
from .microdata import MicrodataRows

CHUNK = 500_000
# Croft 2015, section 4.1: the population that dissemination areas are meant to have.
POPULATION = (400, 700)
POPULATION_STREAM = "population of the areas"


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw for each record.

    sampler : what is drawn; row_of_area : (n,) int64, the sampler's row each area draws from
    given : another field, drawn before, with g categories: the row is then row * g + its code
    kept : whether the fields are carried along rather than quasi-identifiers
    """

    sampler: Sampler
    row_of_area: np.ndarray
    given: str | None = None
    kept: bool = False

    def rows(self, area: np.ndarray, drawn: Mapping[str, Column]) -> np.ndarray:
        """The sampler's row for records of these areas (m,), (m,) int64."""
        rows = self.row_of_area[area]
        if self.given is None:
            return rows
        given = drawn[self.given]
        return rows * len(given.categories) + given.codes


@dataclass(frozen=True, eq=False)
class Dependent:
    """A field whose shares depend on another field of the same record, besides the province.

    given : the other field, with g categories; sampler : its rows are province * g + code of the other field
    kept : whether the field is carried along rather than a quasi-identifier
    """

    given: str
    sampler: Sampler
    kept: bool = False


@dataclass(frozen=True, eq=False)
class SyntheticRecords:
    """Records that are drawn on request, always the same ones: `table` gives all, `chunks` a part at a time.

    identifiers : (n,) object array of str, the areas; population : (n,) int64, how many records each gets
    draws : what is drawn for each record, in order; seed : of every draw
    """

    identifiers: np.ndarray
    population: np.ndarray
    draws: tuple[Draw, ...]
    seed: int

    def __len__(self) -> int:
        return int(self.population.sum())

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the attributes, in order: quasi-identifiers, then what is carried along."""
        ordered = sorted(self.draws, key=lambda draw: draw.kept)
        return tuple(name for draw in ordered for name in draw.sampler.fields)

    def chunks(self, size: int = CHUNK, progress: Progress = silent) -> Iterator[RecordTable]:
        """The records in order of area, `size` at a time (the last chunk may hold fewer): memory stays constant.

        A chunk's columns have the categories of the whole, so that codes mean the same in every chunk. The size
        changes only where the cuts are. Raises InputError where it is below 1.
        """
        if size < 1:
            raise InputError.saying("The size of a chunk is {size}: it must be at least 1.", size=size)
        return self._chunks(size, progress)

    def _chunks(self, size: int, progress: Progress) -> Iterator[RecordTable]:
        ends = np.cumsum(self.population)
        streams = [stream(self.seed, *draw.sampler.fields) for draw in self.draws]
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            area = _areas_between(ends, start, stop)
            drawn: dict[str, Column] = {}
            kept: dict[str, Column] = {}
            for draw, rng in zip(self.draws, streams):
                (kept if draw.kept else drawn).update(draw.sampler.draw(draw.rows(area, drawn), rng))
            yield RecordTable(Column(smallest_integers(area, len(ends)), self.identifiers), drawn, kept)
            progress(stop / len(self))

    def table(self, progress: Progress = silent) -> RecordTable:
        """All records at once."""
        return _concatenated(list(self.chunks(progress=progress)))


def generate_records(
    identifiers: Sequence[object] | np.ndarray,
    provinces: Sequence[object] | np.ndarray,
    source: Distributions | MicrodataRows,
    population: np.ndarray | tuple[int, int] = POPULATION,
    seed: int = 0,
    *,
    dependents: Sequence[Dependent] = (),
    tilt: SpatialTilt | None = None,
) -> SyntheticRecords:
    """Records for n areas, drawn by province.

    identifiers : of the areas; provinces : n labels, compared as text with those of the source
    source : distributions, each attribute drawn independently from its province's shares (Croft 2015, section 4.1);
        or rows of microdata, drawn whole, so that the attributes of a record fit together
    population : records of each area, (n,) whole numbers, or (smallest, largest), between which each area's is
        drawn uniformly, both included
    dependents : fields that depend on one of those attributes; tilt : how shares vary from area to area

    Raises InputError for a province without shares, a population that is negative or not a whole number, and a tilt of
    microdata.
    """
    texts = np.array([identifier_text(value) for value in identifiers], dtype=object)
    if len(texts) == 0:
        raise InputError.saying("REGIONS is empty: give a layer of the areas to generate people for.")
    rows = province_rows(source.provinces, provinces)
    counts = _population(population, texts, seed)
    if tilt is None:
        draws = [Draw(sampler, rows) for sampler in source.samplers()]
    elif isinstance(source, Distributions):
        own_row = np.arange(len(texts), dtype=np.int64)
        draws = [Draw(sampler, own_row) for sampler in tilted_samplers(source, rows, counts, tilt, seed)]
    else:
        raise InputError.saying(
            "VARIATION needs attributes that are drawn independently: set it to 0, or choose another DRAW."
        )
    draws += [Draw(dependent.sampler, rows, dependent.given, dependent.kept) for dependent in dependents]
    return SyntheticRecords(texts, counts, tuple(draws), seed)


def province_from_identifiers(identifiers: Sequence[object] | np.ndarray, characters: int = 2) -> np.ndarray:
    """The leading characters of each identifier, (n,) object array: Statistics Canada's begin with the province.

    Raises InputError where fewer than one character is asked for.
    """
    if characters < 1:
        raise InputError.saying(
            "PROVINCE is to be the leading {characters} characters of the identifier: choose at least 1.",
            characters=characters,
        )
    texts = [identifier_text(value) for value in identifiers]
    return np.array([None if text is None else text[:characters] for text in texts], dtype=object)


def _population(population: np.ndarray | tuple[int, int], identifiers: np.ndarray, seed: int) -> np.ndarray:
    """Records of each area, (n,) int64."""
    if isinstance(population, tuple):
        smallest, largest = population
        if not 0 <= smallest <= largest or largest < 1:
            raise InputError.saying(
                "An area is to have between {smallest} (LEAST) and {largest} (MOST) records: give a LEAST of 0 or "
                "more, and a MOST of at least 1 that is not below it.",
                smallest=smallest,
                largest=largest,
            )
        return stream(seed, POPULATION_STREAM).integers(smallest, largest, len(identifiers), endpoint=True)
    values = np.asarray(population, dtype=float)
    wrongs = {
        tr("missing"): ~np.isfinite(values),
        tr("negative"): values < 0,
        tr("not a whole number"): values != np.floor(values),
    }
    advice = tr("correct the field, or give LEAST and MOST instead.")
    refuse_where(wrongs, "POPULATION", counted.areas, lambda wrong: first_values(identifiers[wrong]), advice)
    if not values.any():
        raise InputError.saying("POPULATION is 0 in every area: there is nobody to generate.")
    return values.astype(np.int64)


def _areas_between(ends: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The area of each of the records start..stop - 1; ends : (n,) running sum of the areas' records."""
    first, last = np.searchsorted(ends, [start, stop - 1], side="right")
    inside = np.clip(ends[first : last + 1], start, stop)
    return np.repeat(np.arange(first, last + 1, dtype=np.int64), np.diff(inside, prepend=start))


def _concatenated(chunks: list[RecordTable]) -> RecordTable:
    """The chunks of one generator in one table."""

    def join(fields: list[Mapping[str, Column]]) -> dict[str, Column]:
        return {
            name: Column(np.concatenate([columns[name].codes for columns in fields]), first.categories)
            for name, first in fields[0].items()
        }

    area = join([{"area": chunk.area} for chunk in chunks])["area"]
    return RecordTable(area, join([c.quasi_identifiers for c in chunks]), join([c.kept for c in chunks]))


WAVES = 64
ROUND_LIMIT = 200
CLOSE_ENOUGH = 1e-9
# Beyond these, one category takes all, or neighbours no longer resemble each other at all; and numbers overflow.
STRONGEST, SHORTEST = 10.0, 0.001


@dataclass(frozen=True, eq=False)
class SpatialTilt:
    """How shares vary over the map.

    points : (n, 2), of the areas, metres
    strength : the spread of the logarithm of a category's odds from area to area; 0 is none, 0.5 is
        typical of the neighbourhoods of a city, 1 is strong
    reach : metres over which the shares stay similar: the correlation falls to 0.6 at this distance, to 0.1 at twice it
    """

    points: np.ndarray
    strength: float
    reach: float


def tilted_samplers(
    distributions: Distributions, rows: np.ndarray, population: np.ndarray, tilt: SpatialTilt, seed: int
) -> tuple[Sampler, ...]:
    """A sampler per attribute, with a row per area.

    rows : (n,) int64, the province of each area; population : (n,). A category's share in area i is proportional to
    the province's share, multiplied by exp(strength · field at i); each province as a whole keeps its shares.
    Raises InputError for a strength that is not from 0 to STRONGEST and a reach below SHORTEST.
    """
    if not (0 <= tilt.strength <= STRONGEST and SHORTEST <= tilt.reach < np.inf):
        raise InputError.saying(
            "Shares cannot vary with strength {strength:g} over {reach:g} metres: give a strength from 0 to "
            "{strongest:g} and a reach of at least {shortest:g}.",
            strength=tilt.strength,
            reach=tilt.reach,
            strongest=STRONGEST,
            shortest=SHORTEST,
        )
    return tuple(
        sampler_of_shares(
            name,
            distribution.categories,
            _tilted(
                distribution.shares,
                rows,
                population,
                tilt.strength * _random_fields(tilt, name, distribution.shares.shape[1], seed),
            ),
        )
        for name, distribution in distributions.attributes.items()
    )


def _random_fields(tilt: SpatialTilt, attribute: str, n_categories: int, seed: int) -> np.ndarray:
    """A smooth random field per category at the points, (n, m), of mean 0 and variance 1 over all seeds.

    A sum of waves of random direction, whose wave numbers are normal: its correlation is exp(-d² / (2 reach²)).
    """
    rng = stream(seed, attribute, "spatial tilt")
    fields = np.empty((len(tilt.points), n_categories))
    for category in range(n_categories):
        wave = rng.standard_normal((2, WAVES)) / tilt.reach
        phase = rng.uniform(0, 2 * np.pi, WAVES)
        fields[:, category] = np.sqrt(2 / WAVES) * np.cos(tilt.points @ wave + phase).sum(axis=1)
    return fields


def _tilted(shares: np.ndarray, rows: np.ndarray, population: np.ndarray, logarithm: np.ndarray) -> np.ndarray:
    """The shares of each area, (n, m), whose average over each province, weighted by population, is the province's.

    shares : (P, m); logarithm : (n, m), by which each category is lifted before the province's shares are restored.
    """
    lift = np.exp(logarithm)
    base = shares.copy()
    people = np.bincount(rows, population, len(shares))
    inhabited = people > 0
    for _ in range(ROUND_LIMIT):
        lifted = base[rows] * lift
        own = lifted / lifted.sum(axis=1, keepdims=True)
        totals = np.column_stack([np.bincount(rows, population * share, len(shares)) for share in own.T])
        average = totals[inhabited] / people[inhabited, None]
        if np.abs(average - shares[inhabited]).max() < CLOSE_ENOUGH:
            break
        # A category with share 0 stays at 0.
        base[inhabited] *= shares[inhabited] / np.maximum(average, np.finfo(float).tiny)
    return own
