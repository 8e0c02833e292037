"""A release spread over the areas, recounted."""

from __future__ import annotations

from collections import Counter, defaultdict

from .people_shown import _several
from .reading import identity, loose, positions, rows_of, rows_of_output

NEAR = 1e-6


def recount_spread(case, outcome):
    """SPREAD: each class whole, within its region, by the people of the areas; AREA_COUNTS: the same, added up."""
    results = outcome.results
    places = [results.get(name) for name in ("SPREAD", "AREA_COUNTS", "EXPOSURES")]
    if any(str(place).endswith((".shp", ".dbf")) for place in places):
        return  # it shortens names
    rows = _released(case, outcome)
    total = sum(rows.values())
    if results["N_RECORDS"] != total:
        yield f"N_RECORDS is {results['N_RECORDS']}, {total} records were given."
    by_area: defaultdict[object, float] | None = None
    if "SPREAD" in results:
        by_area = defaultdict(float)
        yield from _spread(case, outcome, rows, by_area)
    if "AREA_COUNTS" in results:
        names, found = rows_of_output(results["AREA_COUNTS"], outcome.context)
        at = positions(names, ["estimate"])[0]
        estimates = [float(row[at]) for row in found]
        if abs(sum(estimates) - total) > NEAR * max(total, 1):
            yield f"AREA_COUNTS adds up to {sum(estimates)}, {total} records were given."
        if by_area is not None:
            again: defaultdict[object, float] = defaultdict(float)
            for row, estimate in zip(found, estimates):
                again[identity(row[0])] += estimate
            if any(abs(again[area] - by_area[area]) > NEAR * max(total, 1) for area in {*again, *by_area}):
                yield "AREA_COUNTS is not SPREAD added up."


def _released(case, outcome):
    """(level, region, what is shown) -> records."""
    names, rows = rows_of(outcome.layers["RECORDS"])
    given = case.parameters
    if given["RECORDS"].selected is not None:
        rows = rows[: given["RECORDS"].selected]
    shown = list(dict.fromkeys([*_several(given["QUASI_IDENTIFIERS"]), *_several(given.get("KEEP_FIELDS"))]))
    level, region = positions(names, ["vbas_level", "vbas_region"])
    count = positions(names, [given["RECORD_COUNT"]])[0] if given.get("RECORD_COUNT") else None
    own = positions(names, shown)
    found: Counter[tuple] = Counter()
    for row in rows:
        key = int(float(row[level])), int(float(row[region])), tuple(loose(row[i]) for i in own)
        found[key] += 1 if count is None else int(float(row[count]))
    return found


def _spread(case, outcome, released, by_area):
    from .recounts import given_regions

    given, regions = case.parameters, given_regions(case, outcome)
    names, rows = rows_of_output(outcome.results["SPREAD"], outcome.context)
    lower = [name.lower() for name in names]
    level, region, weight, records, estimate = (
        len(lower) - 1 - lower[::-1].index(name)
        for name in ("vbas_level", "vbas_region", "weight", "records", "estimate")
    )
    weights: defaultdict[tuple, dict] = defaultdict(dict)
    sums: defaultdict[tuple, float] = defaultdict(float)
    for row in rows:
        area, place = identity(row[0]), (int(float(row[level])), int(float(row[region])))
        if regions[area][place[0] - 1] != place[1]:
            yield f"SPREAD has area {area} in region {place}."
            return
        shown = tuple(loose(row[i]) for i in range(1, min(level, region)))
        weights[(*place, shown)][area] = float(row[weight])
        sums[(*place, shown)] += float(row[estimate])
        by_area[area] += float(row[estimate])
        if abs(float(row[estimate]) - float(row[records]) * float(row[weight])) > NEAR * max(float(row[records]), 1):
            yield "An estimate of SPREAD is not its records times its weight."
            return
    if any(abs(sums[key] - records_there) > NEAR * max(records_there, 1) for key, records_there in released.items()):
        yield "SPREAD has more or fewer records of a class than the release."
    if any(given.get(name) for name in ("MARGINS", "LEAVE_OUT")) or not given.get("POPULATION"):
        return
    people = _people(case, outcome)
    for (own_level, own_region, _), found in weights.items():
        homes = {area: people[area] for area, path in regions.items() if path[own_level - 1] == own_region}
        inside = sum(homes.values())
        for area, one in homes.items() if inside else ():
            if abs(found.get(area, 0.0) - one / inside) > NEAR:
                yield f"Area {area} has {found.get(area, 0.0)} of region {own_region}, people give {one / inside}."
                return


def _people(case, outcome):
    given = case.parameters
    names, rows = rows_of(outcome.layers["REGIONS"])
    if given["REGIONS"].selected is not None:
        rows = rows[: given["REGIONS"].selected]
    area, people = positions(names, [given["REGION_ID"], given["POPULATION"]])
    return {identity(row[area]): float(row[people] or 0) for row in rows}
