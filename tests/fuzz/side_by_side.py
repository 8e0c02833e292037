"""A comparison recounted: every row by what it says itself, some by running them again and counting by hand."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from .given import Case, Place
from .people_shown import Records
from .reading import identity, positions, rows_of, rows_of_output

RUN_AGAIN = 2  # rows of a comparison
TAKEN_OVER = (
    *("REGIONS", "REGION_ID", "POPULATION", "AREA_POINT", "RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS"),
    *(
        "PERIOD",
        "PERIODS",
        "RECORD_COUNT",
        "UNMATCHED",
        "GAPS_REGION",
        "GAPS_COEFFICIENT",
        "GAPS_EXPONENT",
        "LOG_BASE",
        "CUTOFF",
    ),
    *("N_SITES", "FLOOR", "BUDGET", "FAIR", "START", "SEED"),
)
NUMBERS = ("suppression_percent", "compactness", "discernibility", "non_uniform_entropy", "mean_distance")


def compared(case, outcome):
    """vbas:compare."""
    names, rows = rows_of_output(outcome.results["COMPARISON"], outcome.context)
    if str(outcome.results["COMPARISON"]).endswith((".shp", ".dbf")):
        return  # it shortens names
    rows = [dict(zip(names, (None if value == "" else value for value in row))) for row in rows]
    done = [row for row in rows if row["suppressed"] is not None]
    numbers = outcome.results
    failed = [row for row in rows if row["suppressed"] is None and row["budget"] is None]
    if numbers["N_CONFIGURATIONS"] != len(done) or numbers["N_FAILED"] != len(failed):
        yield f"COMPARISON has {len(done)} rows with measures and {len(failed)} that failed: {numbers!r}."
    records = Records(case, outcome)
    for row in rows:
        yield from _by_itself(row, records.total)
    yield from _pareto_front(done, records.total)
    recommended = [row for row in rows if row["recommended"] and int(float(row["recommended"]))]
    if len(recommended) > 1 or any(row["suppressed"] is None or not int(float(row["pareto"])) for row in recommended):
        yield f"{len(recommended)} rows are recommended, or one that another beats."
    known = ("nested", "baseline")
    again = [one for one in done if one["site_number"] not in known and one["budget"] is None]
    if numbers.get("SCENARIO_AVERAGES") and not str(numbers["SCENARIO_AVERAGES"]).endswith((".shp", ".dbf")):
        yield from _averaged(outcome)
    if not case.parameters.get("GENERALISE"):
        for number, row in enumerate(again[:: max(1, len(again) // RUN_AGAIN)][:RUN_AGAIN]):
            yield from _run_again(case, outcome, row, number, records.total)


def _averaged(outcome):
    """Averages lie between the least and the most, and every scenario counts in each row of all parts together."""
    names, rows = rows_of_output(outcome.results["SCENARIO_AVERAGES"], outcome.context)
    rows = [dict(zip(names, (None if value == "" else value for value in row))) for row in rows]
    n_scenarios = outcome.results["N_SCENARIOS"]
    for row in rows:
        for name in ("n_sites", *NUMBERS):
            least, mean, most = (row[f"{name}{end}"] for end in ("_least", "", "_most"))
            if (mean is None) != (least is None) or (mean is None) != (most is None):
                yield f"{name} of an average lacks some of its range: {row!r}"
            elif mean is not None and not float(least) <= float(mean) * (1 + 1e-9) <= float(most) * (1 + 2e-9):
                yield f"{name} is {mean} on average, between {least} and {most}."
        done = int(float(row["scenarios"])) + int(float(row["failed"]))
        if done > n_scenarios or (row["part"] is None and done < n_scenarios):
            yield f"{done} of {n_scenarios} scenarios are in a row: {row!r}"


def _by_itself(row, n_records):
    """What a row says of itself fits together."""
    from .judge import RAW

    if (row["suppressed"] is None) != bool(row["problem"]):
        yield f"A row has measures and a problem, or neither: {row!r}"
    if row["problem"] and (RAW.search(row["problem"]) or not row["problem"].strip().endswith((".", "?", "”"))):
        yield f"The problem of a row is no sentence: {row['problem'][:300]!r}"
    if row["suppressed"] is None:
        return
    suppressed = int(float(row["suppressed"]))
    if not 0 <= suppressed <= n_records:
        yield f"{suppressed} of {n_records} records are suppressed in a row."
    percent = 100 * suppressed / n_records if n_records else 0.0
    if not math.isclose(float(row["suppression_percent"]), percent, rel_tol=1e-6, abs_tol=1e-9):
        yield f"{suppressed} of {n_records} records are said to be {row['suppression_percent']} %."
    wrong = [name for name in NUMBERS if not (float(row[name]) >= 0 and math.isfinite(float(row[name])))]
    if wrong:
        yield f"{wrong[0]} of a row is {row[wrong[0]]}."
    if row["budget"] is not None and float(row["suppression_percent"]) > float(row["budget"]) + 1e-9:
        yield f"A row was searched for {row['budget']} %, and suppresses {row['suppression_percent']} %."
    if row["worst_group_percent"] is not None and not 0 <= float(row["worst_group_percent"]) <= 100 + 1e-9:
        yield f"{row['worst_group_percent']} % of a group are suppressed."


def _pareto_front(rows, n_records):
    """pareto is 1 exactly where no row of the same k and kind is as good in all and better in something."""
    groups = defaultdict(list)
    for row in rows:
        if int(float(row["suppressed"])) < n_records and int(float(row["n_sites"])):
            groups[row["k"], row["site_number"] == "nested"].append(row)
    for row in rows:
        on_front = bool(int(float(row["pareto"])))
        group = groups[row["k"], row["site_number"] == "nested"]
        if row not in group:
            beaten = True
        else:
            searched = [one for one in group if one["budget"] is not None]
            beaten = any(_beats(one, row, "suppression_percent") for one in group)
            if row["budget"] is not None:
                beaten = beaten or any(_beats(one, row, "budget") for one in searched)
        if on_front == beaten:
            yield f"pareto is {row['pareto']} for {row!r}."
            return


def _beats(one, other, first):
    measures = [[float(row[name]) for name in (first, "mean_distance", "given_up")] for row in (one, other)]
    return all(a <= b for a, b in zip(*measures)) and measures[0] != measures[1]


def _run_again(case, outcome, row, number, n_records):
    """The main algorithm makes the regions of a row again, in which its measures are counted by hand."""
    from .running import run_case

    given = {name: case.parameters[name] for name in TAKEN_OVER if name in case.parameters}
    given |= {"COMBINATION": "custom", "K": int(float(row["k"])), "SITE_NUMBER": row["site_number"]}
    given |= {"AGGREGATION": row["aggregation"], "CROSSWALK": Place("memory:"), "RELEASED_RECORDS": Place("memory:")}
    if row["site_location"]:
        given["SITE_LOCATION"] = row["site_location"]
    if row["capacity_factor"] is not None:
        given["CAPACITY_FACTOR"] = float(row["capacity_factor"])
    again = run_case(Case("anonymize", given), outcome.folder.parent / f"again{number}")
    if "nothing could be released" in again.error and int(float(row["suppressed"])) == n_records:
        return  # a comparison may hold more than all records against each other
    if "cannot be written: rename it first" in again.error or "would have two fields called" in again.error:
        return  # a comparison writes no field of the areas or of the records
    if again.results is None:
        yield f"{row!r} cannot be run again: {again.error}"
        return
    names, rows = rows_of(again.context.getMapLayer(again.results["CROSSWALK"]))
    region, own = positions(names, ["vbas_region"])[0], next(i for i, one in enumerate(names) if one != "vbas_region")
    region_of = {identity(one[own]): int(one[region]) for one in rows}
    counted = _counted(Records(Case("anonymize", given), again), region_of, given["K"])
    for name, wanted in counted.items():
        if not math.isclose(float(row[name]), wanted, rel_tol=1e-6, abs_tol=1e-6):
            yield f"{name} of {row['site_number']}, {row['aggregation']} is {row[name]}, by hand {wanted}."
    if row["worst_group"] is not None:
        yield from _worst(Records(Case("anonymize", given), again), region_of, given["K"], row)


def _counted(records, region_of, k):
    """The measures of regions that need no distances (Croft et al. 2015, section 3.4), by plain counting."""
    classes: Counter[tuple] = Counter()
    areas: Counter[object] = Counter()
    regions: Counter[object] = Counter()
    for row in records.rows:
        home, n = records.home(row), records.people(row)
        if home in region_of:
            classes[region_of[home], records.values(row)] += n
            areas[home] += n
            regions[region_of[home]] += n
    fails = {records.series(key) for key, n in classes.items() if n < k}
    released = [n for key, n in classes.items() if records.series(key) not in fails]
    return {
        "n_sites": len(set(region_of.values())),
        "suppressed": records.total - sum(released),
        "discernibility": float(sum(n * n for n in released)),
        "non_uniform_entropy": sum(n * math.log2(regions[region_of[home]] / n) for home, n in areas.items() if n),
    }


def _worst(records, region_of, k, row):
    """No value that k records have loses a larger share than the one that is named."""
    classes: Counter[tuple] = Counter()
    all_of: Counter[tuple] = Counter()
    released_of: Counter[tuple] = Counter()
    for one in records.rows:
        if records.home(one) in region_of:
            classes[region_of[records.home(one)], records.values(one)] += records.people(one)
    fails = {records.series(key) for key, n in classes.items() if n < k}
    for key, n in classes.items():
        for name, value in zip(records.quasi, key[1]):
            all_of[name, value] += n
            released_of[name, value] += 0 if records.series(key) in fails else n
    losses = [100 * (1 - released_of[key] / n) for key, n in all_of.items() if n >= k]
    if losses and not math.isclose(float(row["worst_group_percent"]), max(losses), rel_tol=1e-6, abs_tol=1e-6):
        yield f"{row['worst_group']} is said to lose {row['worst_group_percent']} %, the most is {max(losses)} %."
