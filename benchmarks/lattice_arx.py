"""The searched lattice of coarsenings against ARX's optimum over the same lattice.

    PYTHONPATH=build/package .venv/bin/python benchmarks/lattice_arx.py --classpath CLASSPATH [city] [Winnipeg]

CLASSPATH names the classes of ARX 3.9 and of what it needs; Java 17 runs them. ARX recodes globally: one level for each
attribute, and of the nested levels of regions that `vbas:nestlevels` makes one for all records; records are suppressed
up to the share. The search takes any number of regions (balanced density, iterative Voronoi or site optimisation)
within each of BUDGETS up to that share; the best of these then goes through “anonymity exchange”. Both are rated by the
loss that ARX is asked to make least: over records and attributes, the area among them, the mean share of the other
values that the released value stands for as well; 1 for suppressed records. Attributes have three levels, made by
joining neighbouring values two by two; records: made up. CPU seconds, ARX's reading included.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vbas.benchmarks import real_data
from vbas.benchmarks.nested_release import CITY, city
from vbas.benchmarks.peers import place
from vbas.core.aggregation import AggregationOptions
from vbas.core.areas import Areas
from vbas.core.configuration import Configuration, aggregate
from vbas.core.crosswalk import Crosswalk
from vbas.core.generalising import Hierarchy, generalise_profile, make_hierarchy
from vbas.core.levels import own_regions
from vbas.core.nesting.making import build_levels
from vbas.core.plan import suppress
from vbas.core.profile import Profile
from vbas.core.site_number import SiteNumberOptions
from vbas.core.trade_off.search import Choice, Search

K = 5
LIMITS = (1.0, 5.0, 10.0)  # per cent that may be suppressed
BUDGETS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
AGGREGATIONS = ("iterative Voronoi", "site optimisation")
LEAST_VALUES, MOST_ATTRIBUTES = 4, 4
JAVA = Path(__file__).with_name("ArxLattice.java")


@dataclass(frozen=True, eq=False)
class Lattice:
    """Areas, records and what may become coarser; regions : of each level, the areas themselves first."""

    areas: Areas
    profile: Profile
    hierarchies: Mapping[str, Hierarchy]
    regions: Sequence[Crosswalk]

    def loss(self, crosswalk: Crosswalk, node: Sequence[int]) -> float:
        """The loss of a release by this crosswalk at this node."""
        profile, _ = generalise_profile(self.profile, self.hierarchies, node)
        plan = suppress(profile, crosswalk, K)
        records, region = plan.records[plan.released], plan.region[plan.released]
        in_region = np.bincount(crosswalk.region_of, minlength=crosswalk.n_regions)
        shares = [_share(in_region, len(self.areas))[region]]
        for name, level, codes in zip(profile.quasi_identifiers, node, profile.classes[plan.class_of[plan.released]].T):
            coarser = self.hierarchies[name].codes[level] if level else None
            n_values = np.bincount(coarser) if coarser is not None else np.ones(int(codes.max()) + 1)
            shares.append(_share(n_values, len(coarser) if coarser is not None else 1)[codes])
        n_records = profile.n_records
        lost = n_records - plan.n_released
        return float(np.mean([(share @ records + lost) / n_records for share in shares]))


def _share(n_values: np.ndarray, of: int) -> np.ndarray:
    """The share of the other values that each group of so many stands for as well."""
    return (n_values - 1) / max(of - 1, 1)


def lattice(name: str) -> Lattice:
    """The lattice of a data set."""
    areas, profile = city(CITY) if name == "city" else place(name)
    many = [
        (attribute, values)
        for attribute, values in zip(profile.quasi_identifiers, profile.categories)
        if len(values) >= LEAST_VALUES
    ]
    hierarchies = {attribute: _halved(attribute, values) for attribute, values in many[:MOST_ATTRIBUTES]}
    levels = build_levels(areas, profile).crosswalks
    own = () if levels[0].n_regions == len(areas) else (own_regions(len(areas)),)
    return Lattice(areas, profile, hierarchies, (*own, *levels))


def _halved(attribute: str, values: np.ndarray) -> Hierarchy:
    """A hierarchy that joins neighbouring values two by two, and then once more."""
    first, second = (np.arange(len(values)) // width for width in (2, 4))
    return make_hierarchy(attribute, values, [[f"{value:02d}" for value in level] for level in (first, second)])


def by_arx(own_lattice: Lattice, classpath: str) -> tuple[dict[float, tuple[Crosswalk, tuple[int, ...]]], float]:
    """For each limit the regions and the node of ARX's optimum, and the CPU seconds of all."""
    with tempfile.TemporaryDirectory() as folder:
        _write(own_lattice, Path(folder))
        limits = [str(limit / 100) for limit in LIMITS]
        places = [f"{folder}/records.csv", f"{folder}/hierarchies"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["java", "-Xmx8g", "-cp", classpath, str(JAVA), *places, str(K), *limits]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    losses = {}
    for line in printed.splitlines():
        limit, levels, _ = line.split(";")
        of = {name: int(level) for name, level in (part.split("=") for part in levels.strip(",").split(","))}
        node = tuple(of.get(name, 0) for name in own_lattice.profile.quasi_identifiers)
        losses[100 * float(limit)] = own_lattice.regions[of["area"]], node
    return losses, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _write(own_lattice: Lattice, folder: Path) -> None:
    """The records and the hierarchies as ARX reads them, values as numbers."""
    cells = own_lattice.profile.counts.tocoo()
    rows = np.repeat(np.arange(cells.nnz), cells.data)
    names = ["area", *own_lattice.profile.quasi_identifiers]
    columns = [cells.row[rows], *own_lattice.profile.classes[cells.col[rows]].T]
    with (folder / "records.csv").open("w", encoding="utf-8") as file:
        file.write(";".join(names) + "\n")
        np.savetxt(file, np.column_stack(columns), fmt="%d", delimiter=";")
    (folder / "hierarchies").mkdir()
    levels = {"area": [crosswalk.region_of for crosswalk in own_lattice.regions]}
    for name, values in zip(own_lattice.profile.quasi_identifiers, own_lattice.profile.categories):
        levels[name] = (
            list(own_lattice.hierarchies[name].codes) if name in own_lattice.hierarchies else [np.arange(len(values))]
        )
    for name, codes in levels.items():
        with (folder / "hierarchies" / f"{name}.csv").open("w", encoding="utf-8") as file:
            for value in range(len(codes[0])):
                row = [str(value), *(f"{level}-{of[value]}" for level, of in enumerate(codes) if level)]
                file.write(";".join(row) + "\n")


def _best(
    own_lattice: Lattice, rated: Sequence[tuple[float, Choice]], limit: float
) -> tuple[float, int, tuple[int, ...]]:
    """The least loss within a limit, with its number of regions and its node: of the best choice as it is, or with its
    areas exchanged."""
    loss, choice = min(((loss, c) for loss, c in rated if c.budget <= limit), key=lambda pair: pair[0])
    number = SiteNumberOptions(n_sites=choice.n_sites, k=K)
    how = AggregationOptions(k=K, budget=choice.percent)
    exchanged = Configuration("given number", "balanced density", "anonymity exchange", number, aggregation_options=how)
    crosswalk = aggregate(own_lattice.areas, choice.profile, exchanged).aggregation.crosswalk
    losses = [(loss, choice.n_sites), (own_lattice.loss(crosswalk, choice.node), crosswalk.n_regions)]
    return (*min(losses), choice.node)


def compared(name: str, classpath: str) -> bool:
    """Print the table of a data set; whether the search is never worse."""
    own_lattice = lattice(name)
    started = time.process_time()
    choices = [
        choice
        for aggregation in AGGREGATIONS
        for choice in Search(
            own_lattice.areas,
            own_lattice.profile,
            own_lattice.hierarchies,
            Configuration("suppression budget", aggregation=aggregation),
            [K],
            BUDGETS,
        ).choices()
    ]
    rated = [(own_lattice.loss(c.aggregation.crosswalk, c.node), c) for c in choices if c.aggregation is not None]
    best = {limit: _best(own_lattice, rated, limit) for limit in LIMITS}
    seconds = time.process_time() - started
    by_node, seconds_of_arx = by_arx(own_lattice, classpath)
    n_nodes = len({choice.node for choice in choices})
    print(
        f"\n{name}: {len(own_lattice.areas)} areas, {own_lattice.profile.n_records} records, "
        f"{', '.join(own_lattice.profile.quasi_identifiers)}; {n_nodes} nodes, "
        f"{len(own_lattice.regions)} levels of regions for ARX; "
        f"k = {K}. The search took {seconds:.1f} CPU s, ARX {seconds_of_arx:.1f} ({seconds / seconds_of_arx:.1f})."
    )
    print("| at most suppressed | ARX: regions, node, loss | search: regions, node, loss | search / ARX |")
    print("|---|---|---|---|")
    worse = False
    for limit, (crosswalk, node) in by_node.items():
        loss_of_arx = own_lattice.loss(crosswalk, node)
        loss, regions, own = best[limit]
        worse |= loss > loss_of_arx
        print(
            f"| {limit:g} % | {crosswalk.n_regions}, {node}, {loss_of_arx:.4f} | {regions}, {own}, "
            f"{loss:.4f} | {loss / loss_of_arx:.3f} |",
            flush=True,
        )
    return not worse


def main(arguments: list[str]) -> int:
    """Print the tables of the data sets named, by default both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--classpath", default=os.environ.get("VBAS_ARX", ""))
    given = parser.parse_args(arguments)
    if not given.classpath:
        print("ARX is not named: give --classpath, or VBAS_ARX.")
        return 1
    names = given.names or ["city", "Winnipeg"]
    problem = real_data.problem_with([]) if "Winnipeg" in names else ""
    if problem:
        print(problem)
        return 1
    reached = [compared(name, given.classpath) for name in names]
    print(f"\nNever worse than ARX's optimum: {'reached' if all(reached) else 'MISSED'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
