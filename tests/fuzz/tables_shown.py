"""Profiles and flattened releases recounted."""

from __future__ import annotations

from collections import Counter

from .people_shown import Records, difference, whole
from .reading import loose, positions, rows_of, rows_of_output, typed


def recount_profile(case, outcome):
    """PROFILE counts every record by area and values."""
    if case.parameters.get("GENERALISE"):
        return
    records = Records(case, outcome)
    if records.in_own_words:
        return
    names, rows = rows_of_output(outcome.results["PROFILE"], outcome.context)
    if [name.lower() for name in names] != [name.lower() for name in (records.area, *records.quasi, "records")]:
        yield f"PROFILE has the fields {names}."
        return
    found: Counter[tuple] = Counter()
    wanted: Counter[tuple] = Counter()
    for row in rows:
        found[tuple(map(loose, row[:-1]))] += int(float(row[-1]))
    for row in records.rows:
        wanted[tuple(map(loose, records.of(row, [records.area, *records.quasi])))] += records.people(row)
    if found != +wanted:
        yield f"PROFILE is not what was counted by hand: {difference(found, wanted)}"


def recount_flattened(case, outcome):
    """FLATTENED holds only classes of k, and the rows of finer levels in the region that holds theirs."""
    from .recounts import given_regions

    names, rows = rows_of_output(outcome.results["FLATTENED"], outcome.context)
    there, given = rows_of(outcome.layers["RECORDS"])
    regions, parameters = given_regions(case, outcome), case.parameters
    target = whole(parameters.get("LEVEL"), 1) - 1
    counted = parameters.get("RECORD_COUNT") or None
    level_at, region_at = positions(there, ["vbas_level", "vbas_region"])
    count_at = positions(there, [counted])[0] if counted else None
    own = [
        i
        for i, name in enumerate(there)
        if i not in (level_at, region_at, count_at) and name.lower() not in ("fid", "ogc_fid")
    ]
    wanted: Counter[tuple] = Counter()
    for row in given:
        level, region = int(float(row[level_at])), int(float(row[region_at]))
        if level - 1 > target:
            continue
        homes = {path[target] for path in regions.values() if path[level - 1] == region}
        if len(homes) != 1:
            yield f"Region {region} of level {level} lies in {homes}, and was taken."
            return
        wanted[homes.pop(), tuple(loose(row[i]) for i in own)] += int(float(row[count_at])) if counted else 1
    k = max(whole(parameters.get("K"), 5), 2)
    wanted = +wanted
    lower = [name.lower() for name in names]
    if any(len(name) > 10 for name in there) and str(outcome.results["FLATTENED"]).endswith((".shp", ".dbf")):
        return  # it has shortened names
    found: Counter[tuple] = Counter()
    classes: Counter[tuple] = Counter()
    at_region, at_own = lower.index("vbas_region"), [lower.index(there[i].lower()) for i in own]
    at_count = lower.index("records") if counted else None
    quasi = [lower.index(name.lower()) for name in parameters["QUASI_IDENTIFIERS"]]
    for row in rows:
        n = int(float(row[at_count])) if counted else 1
        found[int(float(row[at_region])), tuple(loose(row[i]) for i in at_own)] += n
        classes[(int(float(row[at_region])), *(typed(row[i]) for i in quasi))] += n
    if found != wanted:
        yield f"FLATTENED is not the release at that level: {difference(found, wanted)}"
    if classes and min(classes.values()) < k:
        yield f"FLATTENED holds a class of {min(classes.values())}."
