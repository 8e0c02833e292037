"""Results recounted from what was read and what was written, in plain Python: each yields what it finds wrong."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from .earlier import registered
from .invented import estimated, generated, made_up
from .linked import linked
from .people_shown import EMPTY, _several, recount_one_level, release_of, whole
from .reading import identity, plain, positions, rows_of, rows_of_output
from .registers import edited
from .several import given_away
from .side_by_side import compared
from .tables_shown import recount_flattened, recount_profile
from .tables_spread import recount_spread
from .tables_studied import recount_studied
from .updates import UPDATES, asked_of, changes_seen

NOBODY = 1e-300  # people: fewer are none to a processor that takes numbers as small as that for 0


def _read(outcome, name):
    return rows_of_output(outcome.results[name], outcome.context)


def _areas(case, outcome, layer="REGIONS", field="REGION_ID"):
    """The identifiers of the areas, in their order."""
    names, rows = rows_of(outcome.layers[layer])
    if case.parameters[layer].selected is not None:
        rows = rows[: case.parameters[layer].selected]
    at = positions(names, [case.parameters[field]])[0]
    return [identity(row[at]) for row in rows]


def crosswalk_of(case, outcome, areas, partial=False):
    """(complaints, region of each area by level) of an output CROSSWALK."""
    names, rows = _read(outcome, "CROSSWALK")
    # Areas may be called “vbas_region” where levels are numbered.
    numbered = [name for name in names if name.startswith("vbas_region_")] or [
        name for name in names if name == "vbas_region"
    ]
    found = []
    at = positions(names, numbered)
    own = [i for i in range(len(names)) if i not in at]
    if str(outcome.results["CROSSWALK"]).endswith((".shp", ".dbf")):
        return [], {}  # it shortens names
    if len(own) != 1:
        return [f"CROSSWALK has the fields {names}."], {}
    ids = [identity(row[own[0]]) for row in rows]
    if Counter(ids) != Counter(areas):
        found.append(f"CROSSWALK does not hold each area once: {len(ids)} rows for {len(areas)} areas.")
    regions = {one: [_number(row[i]) for i in at] for one, row in zip(ids, rows)}
    for level in range(len(at)):
        used = {region_of[level] for region_of in regions.values()}
        if None in used and not partial:
            found.append("CROSSWALK leaves areas out.")
        used.discard(None)
        keeps_numbers = bool(case.parameters.get("CROSSWALKS"))
        if used and not keeps_numbers and used != set(range(1, len(used) + 1)):
            found.append(f"CROSSWALK numbers its regions {sorted(used)[:9]}.")
    for level in range(len(at) - 1):
        above: dict[object, object] = {}
        if any(
            above.setdefault(region_of[level], region_of[level + 1]) != region_of[level + 1]
            for region_of in regions.values()
        ):
            found.append(f"Regions of level {level + 1} lie in several of the next.")
    return found, regions


def _number(value):
    return None if value in (None, "") else int(float(value))


def made_crosswalk(case, outcome):
    """Areas joined without a release."""
    areas = _areas(case, outcome)
    given = [values for one in case.parameters.get("CROSSWALKS") or [] for _, _, values in one.columns]
    partial = case.algorithm in ("staticcutoff", "cropidentifiers", "mergeadjacent") or any(
        plain(value) in (None, "") for values in given for value in values
    )
    if "CROSSWALK" in outcome.results:
        found, regions = crosswalk_of(case, outcome, areas, partial)
        yield from found
        number = outcome.results.get("N_SITES")
        used = {region_of[0] for region_of in regions.values()} - {None}
        if number is not None and regions and len(used) != number and case.algorithm != "nestlevels":
            yield f"N_SITES is {number}, CROSSWALK has {len(used)} regions."
    if "RELEASED_REGIONS" in outcome.results and case.algorithm != "nestlevels":
        names, rows = _read(outcome, "RELEASED_REGIONS")
        joined = sum(int(row[positions(names, ["areas"])[0]]) for row in rows)
        if joined > len(areas) or (joined < len(areas) and not partial):
            yield f"RELEASED_REGIONS joins {joined} areas of {len(areas)}."
    yield from _finite(outcome)


def _finite(outcome):
    """The numbers of a run are numbers."""
    for name, value in outcome.results.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield f"{name} is {value}."


def anonymized(case, outcome):
    """vbas:anonymize."""
    areas = _areas(case, outcome)
    regions = {}
    if "CROSSWALK" in outcome.results:
        found, regions = crosswalk_of(case, outcome, areas)
        yield from found
    yield from release_of(case, outcome, regions, set(areas))
    yield from registered(case, outcome, regions)
    yield from _finite(outcome)
    if "RELEASED_REGIONS" in outcome.results:
        names, rows = _read(outcome, "RELEASED_REGIONS")
        at = positions(names, ["released"])[0]
        released = sum(int(float(row[at] or 0)) for row in rows)
        numbers = outcome.results
        if released != numbers["N_RECORDS"] - numbers["N_SUPPRESSED"]:
            said = f"{numbers['N_RECORDS']} - {numbers['N_SUPPRESSED']}"
            yield f"RELEASED_REGIONS counts {released} released records, the run {said}."


def anonymized_in_place(case, outcome):
    """vbas:anonymizedatabase, which releases nothing without a DESTINATION."""
    if "RELEASED_RECORDS" in outcome.results:
        yield from anonymized(case, outcome)
    elif "CROSSWALK" in outcome.results:
        found, _ = crosswalk_of(case, outcome, _areas(case, outcome))
        yield from found
    yield from _finite(outcome)


def given_regions(case, outcome):
    """The region of each area by level, as CROSSWALK gives it; None where it leaves an area out."""
    layer = outcome.layers["CROSSWALK"]
    names, rows = rows_of(layer)
    numbered = sorted(
        (name for name in names if name.lower().startswith("vbas_region")), key=lambda name: (len(name), name)
    )
    if len(numbered) == len(names):  # the areas themselves are called vbas_region
        numbered = [name for name in numbered if name != "vbas_region"]
    at = positions(names, numbered)
    given = case.parameters.get("CROSSWALK_ID")
    rest = [i for i, name in enumerate(names) if i not in at and name.lower() not in ("fid", "ogc_fid")]
    own = positions(names, [given])[0] if given else rest[0]
    return {identity(row[own]): [_number(row[i]) for i in at] for row in rows}


def released(case, outcome):
    """vbas:releaserecords, vbas:releasedatabase."""
    regions = given_regions(case, outcome)
    yield from release_of(case, outcome, regions, set(regions))
    yield from registered(case, outcome, regions)
    if case.parameters.get("UPDATE") in UPDATES and outcome.layers["REGISTER"]:
        yield from changes_seen(case, outcome, regions, max(whole(case.parameters.get("K"), 5), 2))
    yield from _finite(outcome)


def updated(case, outcome):
    """vbas:updaterelease."""
    regions = given_regions(case, outcome)
    k = asked_of(case, outcome)
    yield from release_of(case, outcome, regions, set(regions), k)
    yield from registered(case, outcome, regions)
    yield from changes_seen(case, outcome, regions, k)
    yield from _finite(outcome)


def evaluated(case, outcome):
    """vbas:evaluate."""
    numbers = outcome.results
    if not 0 <= numbers["N_SUPPRESSED"] <= numbers["N_RECORDS"]:
        yield f"{numbers['N_SUPPRESSED']} of {numbers['N_RECORDS']} records are suppressed."
    if "REGION_AUDIT" in numbers:
        names, rows = _read(outcome, "REGION_AUDIT")
        if "suppressed" in names and "vbas_level" not in names:
            records, suppressed = (
                sum(int(float(row[i] or 0)) for row in rows) for i in positions(names, ["records", "suppressed"])
            )
            if records > numbers["N_RECORDS"] or suppressed > numbers["N_SUPPRESSED"]:
                yield "REGION_AUDIT counts more records than the run."
    regions = given_regions(case, outcome)
    yield from recount_one_level(case, outcome, regions, set(regions), None)
    yield from _finite(outcome)


def flattened(case, outcome):
    """vbas:flattenrelease."""
    yield from recount_flattened(case, outcome)


def spread(case, outcome):
    """vbas:spreadrelease."""
    yield from recount_spread(case, outcome)
    yield from _finite(outcome)


def studied(case, outcome):
    """vbas:ratemap, vbas:clusterscan, vbas:moran."""
    yield from recount_studied(case, outcome)
    yield from _finite(outcome)


def profiled(case, outcome):
    """vbas:profilerecords, vbas:profiledatabase."""
    yield from recount_profile(case, outcome)


def placed(case, outcome):
    """vbas:sitelocation."""
    areas = _areas(case, outcome)
    _, rows = _read(outcome, "SITE_POINTS")
    if not 1 <= len(rows) <= len(areas):
        yield f"{len(rows)} sites for {len(areas)} areas."


def numbered(case, outcome):
    """vbas:sitenumber."""
    if outcome.results["N_SITES"] < 1:
        yield f"N_SITES is {outcome.results['N_SITES']}."
    yield from _finite(outcome)


def checked(case, outcome):
    """vbas:checkrelease: classes counted again."""
    from .people_shown import Records

    records = Records(case, outcome, area=False)
    sizes = records.sizes(lambda row: ())
    if sizes and outcome.results["K_FOUND"] != min(sizes.values()):
        yield f"K_FOUND is {outcome.results['K_FOUND']}, the smallest class has {min(sizes.values())}."


def masked(case, outcome):
    """vbas:donutmask: as many points as it says, none where it was, no field that was not asked for."""
    names, rows = _read(outcome, "MASKED")
    numbers = outcome.results
    if len(rows) != numbers["N_MASKED"]:
        yield f"MASKED has {len(rows)} points, N_MASKED is {numbers['N_MASKED']}."
    if numbers["N_MASKED"] + numbers["N_NOT_MASKED"] + numbers["N_HELD_BACK"] != numbers["N_POINTS"]:
        yield "The points do not add up."
    # A CSV file of points without fields, or of one, gets an empty column: GDAL tells rows apart by it. A Shapefile
    # gets one of their numbers.
    fields = [name for name in names if name and not (names == ["FID"] and str(numbers["MASKED"]).endswith(".shp"))]
    nowhere = not rows and str(numbers["MASKED"]).endswith(EMPTY)
    if fields != _several(case.parameters.get("KEEP_FIELDS")) and not nowhere:
        yield f"MASKED has the fields {names}."
    layer = outcome.context.getMapLayer(str(numbers["MASKED"]))
    if layer is not None:
        there = {
            feature.geometry().asWkt(17) for feature in outcome.layers["POINTS"].getFeatures() if feature.hasGeometry()
        }
        if any(feature.geometry().asWkt(17) in there for feature in layer.getFeatures()):
            yield "A point was released where it was."
    yield from _finite(outcome)


def audited(case, outcome):
    """vbas:donutaudit."""
    names, rows = _read(outcome, "AUDIT")
    for name in names:
        if name.startswith("percent"):
            at = names.index(name)
            if any(row[at] not in (None, "") and not 0 <= float(row[at]) <= 100 for row in rows):
                yield f"AUDIT holds per cents of “{name}” beyond 0 to 100."


def partitioned(case, outcome):
    """vbas:partitioncells: every group that is published has K people in every year."""
    cells = _areas(case, outcome, "CELLS", "CELL_ID")
    found, regions = crosswalk_of(case, outcome, cells, partial=True)
    yield from found
    names, rows = rows_of(outcome.layers["CELLS"])
    given = case.parameters
    if given["CELLS"].selected is not None:
        rows = rows[: given["CELLS"].selected]
    empty_years = str(given.get("EMPTY_YEARS", "")).lower() in ("true", "1", "yes")
    k = whole(given.get("K"), 100)
    for name, at in () if not regions else zip(given["POPULATIONS"], positions(names, given["POPULATIONS"])):
        people: defaultdict[object, float] = defaultdict(float)
        for cell, row in zip(cells, rows):
            people[regions[cell][0]] += float(row[at] or 0)
        low = [group for group, n in people.items() if group is not None and n < k and not (empty_years and n < NOBODY)]
        if low:
            yield f"Groups {low[:5]} have fewer than {k} people in “{name}”."
    yield from _finite(outcome)


def dotted(case, outcome):
    """vbas:dotmap: of a group that is shown, each category has nobody or LEAST people and more; and its dots."""
    names, rows = _read(outcome, "POINTS")
    if len(rows) != outcome.results["N_DOTS"]:
        yield f"POINTS has {len(rows)} dots, N_DOTS is {outcome.results['N_DOTS']}."
    given, fields = case.parameters, [name for name in names if name and name != "category"]
    if given.get("RECORDS") and len(fields) == 1:
        dots = Counter(identity(row[names.index(fields[0])]) for row in rows)
        people: defaultdict[object, Counter[object]] = defaultdict(Counter)
        columns, records = rows_of(outcome.layers["RECORDS"])
        if given["RECORDS"].selected is not None:
            records = records[: given["RECORDS"].selected]
        at, category = positions(columns, [given["RECORD_REGION"], given["CATEGORY"]])
        count = positions(columns, [given["RECORD_COUNT"]])[0] if given.get("RECORD_COUNT") else None
        for row in records:
            people[identity(row[at])][plain(row[category])] += 1 if count is None else int(float(row[count]))
        least = whole(given.get("LEAST"), 10)
        for group, n in dots.items():
            few = [number for number in people[group].values() if 0 < number < least]
            if few:
                yield f"Group {group} is shown with {few[:3]} people of a category."
            if whole(given.get("PEOPLE_PER_DOT"), 1) == 1 and n != people[group].total():
                yield f"Group {group} has {n} dots for {people[group].total()} people."
    yield from _finite(outcome)


RECOUNTS = {
    "anonymize": anonymized,
    "anonymizedatabase": anonymized_in_place,
    "anonymizelinked": linked,
    "releaserecords": released,
    "releasedatabase": released,
    "evaluate": evaluated,
    "flattenrelease": flattened,
    "spreadrelease": spread,
    "ratemap": studied,
    "clusterscan": studied,
    "moran": studied,
    "profilerecords": profiled,
    "profiledatabase": profiled,
    "sitelocation": placed,
    "sitenumber": numbered,
    "checkrelease": checked,
    "checkreleases": given_away,
    "editregister": edited,
    "generaterecords": generated,
    "demonstrationcity": made_up,
    "compare": compared,
    "estimatedistributions": estimated,
    "donutmask": masked,
    "donutaudit": audited,
    "partitioncells": partitioned,
    "mendpartition": lambda _, outcome: _finite(outcome),
    "updaterelease": updated,
    "dotmap": dotted,
    **dict.fromkeys(
        ("aggregate", "locateallocate", "nestlevels", "staticcutoff", "cropidentifiers", "mergeadjacent"),
        made_crosswalk,
    ),
}
