"""A map of rates, a scan and Moran's I, as far as plain sums tell."""

from __future__ import annotations

from .reading import loose, positions, rows_of, rows_of_output

NEAR = 1e-6


def recount_studied(case, outcome):
    """Who is a case; that cases and expected cases by area add up to them; p-values, and what they are at most."""
    results, given = outcome.results, case.parameters
    at_risk, cases = _cases(case, outcome)
    if (results["N_RECORDS"], results["N_CASES"]) != (at_risk, cases):
        yield f"{results['N_CASES']} of {results['N_RECORDS']} are cases; {cases} of {at_risk} were given."
    if "P_VALUE" in results and not 0 < results["P_VALUE"] <= 1:
        yield f"P_VALUE is {results['P_VALUE']}."
    for name, fields in (("RATE_MAP", ["cases", "expected"]), ("LOCAL_MORAN", ["cases", "expected"])):
        if name in results and not str(results[name]).endswith((".shp", ".dbf")):
            names, rows = rows_of_output(results[name], outcome.context)
            for at in _last(names, fields):
                total = sum(float(row[at]) for row in rows)
                if abs(total - cases) > NEAR * max(cases, 1):
                    yield f"{name} has {total} for {cases} cases."
    if "RATE_MAP" in results and not str(results["RATE_MAP"]).endswith((".shp", ".dbf")):
        names, rows = rows_of_output(results["RATE_MAP"], outcome.context)
        low, ratio, high = _last(names, ["ratio_low", "ratio", "ratio_high"])
        for row in rows:
            numbers = [float(row[at]) for at in (low, ratio, high) if row[at] not in (None, "")]
            if len(numbers) == 3 and not numbers[0] <= numbers[1] * (1 + NEAR) <= numbers[2] * (1 + NEAR) ** 2:
                yield f"An interval from {numbers[0]} to {numbers[2]} is said of {numbers[1]}."
                return
    if "CLUSTERS" in results and not str(results["CLUSTERS"]).endswith((".shp", ".dbf")):
        names, rows = rows_of_output(results["CLUSTERS"], outcome.context)
        if len(rows) != results["N_CLUSTERS"]:
            yield f"CLUSTERS has {len(rows)} rows, N_CLUSTERS is {results['N_CLUSTERS']}."
        (at,) = _last(names, ["p_value"]) if rows else [None]  # GDAL writes no headings of a sheet without rows
        if any(float(row[at]) > float(given.get("SIGNIFICANCE", 0.05)) for row in rows):
            yield "A cluster has a larger p-value than SIGNIFICANCE."


def _last(names, wanted):
    """Positions of our own fields, which come after those of the user."""
    lower = [name.lower() for name in names]
    return [len(lower) - 1 - lower[::-1].index(name) for name in wanted]


def _cases(case, outcome):
    """How many records have a value, and how many are cases."""
    names, rows = rows_of(outcome.layers["RECORDS"])
    given = case.parameters
    if given["RECORDS"].selected is not None:
        rows = rows[: given["RECORDS"].selected]
    field = positions(names, [given["CASE_FIELD"]])[0]
    count = positions(names, [given["RECORD_COUNT"]])[0] if given.get("RECORD_COUNT") else None
    values = {loose(one.strip()) for one in str(given.get("CASE_VALUES") or "").split(";") if one.strip()} or {1.0}
    at_risk = cases = 0
    for row in rows:
        if loose(row[field]) is not None:
            number = 1 if count is None else int(float(row[count]))
            at_risk += number
            cases += number * (loose(row[field]) in values)
    return at_risk, cases
