"""People who do not exist: what they are drawn from, and the records recounted against it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from . import people
from .given import Table
from .reading import identity, positions, rows_of, rows_of_output

ATTRIBUTES = {"sex": ("F", "M"), "age": ("young", "old", "1", "x" * 40), "a b": ("yes", None)}
BORDER = 6.0  # standard deviations: about one of a thousand million draws is beyond


def microdata(town):
    """MICRODATA with two attributes, and its fields."""
    dice, n = town.dice, town.dice.randint(1, 60)
    kind, values = people.categories(dice, 3)
    weights = [dice.pick(1.0, 2.5, 10.0, 0.0) for _ in range(n)]
    if dice.odd(3):
        weights[0] = dice.choice((None, *people.ODD_REALS))
    columns = (
        ("prov", "text", [dice.pick("46", "46", "24") for _ in range(n)]),
        ("sex", kind, [dice.choice(values) for _ in range(n)]),
        ("job", "text", [dice.pick("a", "b", "c", None) for _ in range(n)]),
        ("weight", "real", weights),
    )
    given: dict[str, object] = {"MICRODATA": Table(columns, stored=people.storage(dice))}
    given |= {"ATTRIBUTES": dice.pick(["sex"], ["sex"], ["job", "sex"]), "WEIGHT": "weight"}
    return given if dice.chance(0.7) else {name: value for name, value in given.items() if name != "WEIGHT"}


def generate(town):
    """Areas, and shares or microdata to draw their people from."""
    dice, given = town.dice, town.regions()
    given |= {"LEAST": dice.pick(0, 1, 3), "MOST": dice.pick(3, 8)}
    source = dice.pick("microdata", "shares", "shares", "none")
    if source == "microdata":
        given |= {**microdata(town), "MICRODATA_PROVINCE": "prov"}
        given["DRAW"] = dice.pick("independent attributes", "whole rows")
    elif source == "shares":
        provinces = ["46", "24", "00"]
        if dice.chance(0.3):
            given["PROVINCE"], provinces = town.field("district"), [str(one) for one in range(9)]
        given["DISTRIBUTIONS"] = _shares(dice, provinces)
    if dice.chance(0.2):
        given |= {"VARIATION": dice.pick(0.5, 2.0), "REACH": 1_000.0}
    return given


def _shares(dice, provinces):
    rows = []
    for name in dice.some(ATTRIBUTES, 1, 3):
        for province in provinces:
            weights = [dice.pick(0, 1, 1, 3) for _ in ATTRIBUTES[name]]
            weights[0] = weights[0] or 1
            rows += [
                (province, name, category, weight / sum(weights)) for category, weight in zip(ATTRIBUTES[name], weights)
            ]
    if dice.odd(3):
        at = dice.randrange(len(rows))
        rows[at] = (*rows[at][:3], dice.choice((None, *people.ODD_REALS)))
    if dice.odd(2):
        rows.append(rows[0])
    kinds = ("text", "text", "text", "real")
    columns = zip(("province", "attribute", "category", "share"), kinds, map(list, zip(*rows)))
    return Table(tuple(columns), stored=people.storage(dice))


def _rows_given(case, outcome, layer):
    names, rows = rows_of(outcome.layers[layer])
    selected = case.parameters[layer].selected
    return names, rows if selected is None else rows[:selected]


def _drawn_from(case, outcome, province):
    """By province, rows of attributes with their weights, as the microdata have them; and the attributes."""
    given = case.parameters
    names, rows = _rows_given(case, outcome, "MICRODATA")
    attributes = given["ATTRIBUTES"] if isinstance(given["ATTRIBUTES"], list) else [given["ATTRIBUTES"]]
    at = positions(names, [given[province], *attributes])
    weight = positions(names, [given["WEIGHT"]])[0] if given.get("WEIGHT") else None
    found = defaultdict(list)
    for row in rows:
        place, *values = (identity(row[i]) for i in at)
        counts = 1.0 if weight is None else float(row[weight])
        if place is not None and counts > 0:
            found[place].append((tuple(values), counts))
    return attributes, found


def shares_of(rows, position):
    """The share of each value of an attribute that is stated."""
    total: Counter[object] = Counter()
    for values, weight in rows:
        if values[position] is not None:
            total[values[position]] += weight
    return {value: weight / sum(total.values()) for value, weight in total.items()}


def estimated(case, outcome):
    """vbas:estimatedistributions: every share counted by hand."""
    if case.parameters.get("MISSING"):
        return
    attributes, drawn_from = _drawn_from(case, outcome, "PROVINCE")
    names, rows = rows_of_output(outcome.results["DISTRIBUTIONS"], outcome.context)
    if str(outcome.results["DISTRIBUTIONS"]).endswith((".shp", ".dbf")):
        return
    at = positions(names, ("province", "attribute", "category", "share"))
    found = {tuple(identity(row[i]) for i in at[:3]): float(row[at[3]]) for row in rows}
    wanted = {
        (place, name, value): share
        for place, there in drawn_from.items()
        for position, name in enumerate(attributes)
        for value, share in shares_of(there, position).items()
    }
    if len(found) != len(rows) or found.keys() != wanted.keys():
        yield f"DISTRIBUTIONS holds {sorted(found.keys() ^ wanted.keys(), key=repr)[:4]!r} on one side only."
    elif any(not math.isclose(found[key], wanted[key], rel_tol=1e-6, abs_tol=1e-9) for key in found):
        wrong = next(key for key in found if not math.isclose(found[key], wanted[key], rel_tol=1e-6, abs_tol=1e-9))
        yield f"DISTRIBUTIONS says {found[wrong]} of {wrong!r}, by hand {wanted[wrong]}."
    if outcome.results["N_PROVINCES"] != len(drawn_from) or outcome.results["N_ATTRIBUTES"] != len(attributes):
        yield f"{len(drawn_from)} provinces and {len(attributes)} attributes were given."


def generated(case, outcome):
    """vbas:generaterecords: as many people in each area as asked for, each drawn from what its province has."""
    given, numbers = case.parameters, outcome.results
    names, rows = rows_of_output(numbers["RECORDS"], outcome.context)
    if len(rows) != numbers["N_RECORDS"]:
        yield f"RECORDS has {len(rows)} rows, N_RECORDS is {numbers['N_RECORDS']}."
    fields, areas = _rows_given(case, outcome, "REGIONS")
    own = positions(fields, [given["REGION_ID"]])[0]
    there = Counter(identity(row[0]) for row in rows)
    known = {identity(row[own]): row for row in areas}
    if there.keys() - known.keys():
        yield f"People were made for {sorted(there.keys() - known.keys())[:3]}, which are no areas."
        return
    if given.get("POPULATION"):
        at = positions(fields, [given["POPULATION"]])[0]
        wrong = [one for one, row in known.items() if there[one] != float(row[at])]
    else:
        least, most = (int(float(_first(given.get(name, usual)))) for name, usual in (("LEAST", 400), ("MOST", 700)))
        wrong = [one for one in known if not least <= there[one] <= most]
    if wrong:
        yield f"{wrong[0]} has {there[wrong[0]]} people."
    yield from _as_drawn(case, outcome, names, rows, _province_of(case, fields, known))


def _first(value):
    return value[0] if isinstance(value, list) else value


def _province_of(case, fields, known):
    given = case.parameters
    if given.get("PROVINCE"):
        at = positions(fields, [given["PROVINCE"]])[0]
        return {one: identity(row[at]) for one, row in known.items()}
    characters = int(float(_first(given.get("PROVINCE_CHARACTERS", 2))))
    return {one: one[:characters] for one in known}


def _as_drawn(case, outcome, names, rows, province_of):
    """Nobody has what nobody in the province has, and shares are those asked for, as far as chance allows."""
    given = case.parameters
    whole = given.get("DRAW") in ("whole rows", 1)
    source = next((name for name in ("MICRODATA", "DISTRIBUTIONS") if isinstance(given.get(name), Table)), None)
    if given.get("MISSING") or source is None:
        return
    if source == "MICRODATA":
        attributes, drawn_from = _drawn_from(case, outcome, "MICRODATA_PROVINCE")
        shares = {
            (place, name): shares_of(there, position)
            for place, there in drawn_from.items()
            for position, name in enumerate(attributes)
        }
    else:
        attributes, shares = _listed(case, outcome)
    if str(outcome.results["RECORDS"]).endswith((".shp", ".dbf")):
        return
    if names[1:] != attributes:
        yield f"RECORDS has the fields {names}, the attributes are {attributes}."
        return
    found: defaultdict[tuple, Counter] = defaultdict(Counter)
    for row in rows:
        place = province_of[identity(row[0])]
        values = tuple(map(identity, row[1:]))
        if whole and values not in {one for one, _ in drawn_from[place]}:
            yield f"{values!r} is in RECORDS, and is no row of province {place}."
            return
        for name, value in zip(attributes, values):
            found[place, name][value] += 1
    for key, counts in found.items():
        strange = counts.keys() - {value for value, share in shares[key].items() if share > 0}
        if strange:
            yield f"{strange} of {key} is in RECORDS, and has no share."
        n = sum(counts.values())
        for value, share in () if whole or given.get("VARIATION") else shares[key].items():
            if abs(counts[value] - n * share) > BORDER * math.sqrt(n * share * (1 - share)) + 3:
                yield f"{counts[value]} of {n} have {value!r} in {key}, its share is {share}."


def _listed(case, outcome):
    """Attributes in the order of DISTRIBUTIONS, and their shares by province."""
    names, rows = _rows_given(case, outcome, "DISTRIBUTIONS")
    at = positions(names, ("province", "attribute", "category", "share"))
    shares: defaultdict[tuple, defaultdict[object, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        place, name, category = (identity(row[i]) for i in at[:3])
        shares[place, name][category] += float(row[at[3]])
    attributes = list(dict.fromkeys(identity(row[at[1]]) for row in rows))
    return attributes, {key: {one: n / sum(of.values()) for one, n in of.items()} for key, of in shares.items()}


def made_up(case, outcome):
    """vbas:demonstrationcity: an inhabitant for each of those that the areas say they have."""
    numbers, results = outcome.results, {}
    for name in {"AREAS", "RECORDS"} & set(numbers):
        if str(numbers[name]).endswith((".shp", ".dbf")):
            return
        names, rows = rows_of_output(numbers[name], outcome.context)
        results[name] = [dict(zip(names, row)) for row in rows]
        if len(rows) != numbers[f"N_{name}"]:
            yield f"{name} has {len(rows)} rows, the run says {numbers[f'N_{name}']}."
    if len(results) < 2:
        return
    lived = Counter(row["area"] for row in results["RECORDS"])
    people_in = {row["area"]: int(float(row["population"])) for row in results["AREAS"]}
    if len(people_in) != len(results["AREAS"]) or +lived != +Counter(people_in):
        yield "The people of the city are not those that its areas count."
