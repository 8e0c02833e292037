"""Several releases of people who are known: drawn, and what is said to be given away held against the truth."""

from __future__ import annotations

from collections import Counter

from .given import Table
from .people_shown import EMPTY, whole
from .published import changes, rests, shown_by, text_of
from .reading import identity, positions, rows_of_output

SEVERAL, NOT_SHOWN = "(several)", "(not shown)"
CHANGES = ("change since", "change by one sensitive value")
HOMOGENEOUS = ("one sensitive value", CHANGES[1])
VALUES = {"sex": ("F", "M"), "age": ("young", "old", None), "ill": ("flu", "cold", "none")}
NAMES = (("sex", "age"), ("sex", "age"), ("sex",), ("age",))
DECIDES = ("QUASI_IDENTIFIERS", "SENSITIVE", "EACH_K", "COUNT_FIELD", "BY_SIZE_ALONE", "RELEASES", "CROSSWALKS")


def check_several(town):
    """Releases of the same people, or of some more or fewer by the same crosswalk."""
    dice = town.dice
    people = _people(dice, list(dict.fromkeys(map(identity, town.ids))))
    n, ks, tables, crosswalks, known = dice.pick(2, 2, 2, 3), [], [], [], []
    sensitive = dice.chance(0.3)
    updated = dice.chance(0.3)
    for number in range(n):
        if number and updated:
            people = _moved(dice, people, town)
        else:
            names, regions = dice.choice(NAMES), _regions(dice, town)
        region_of = dict(zip(map(identity, town.ids), regions))
        k = dice.pick(2, 2, 3, 4)
        shown = shown_by(people, names, region_of, k)
        tables.append(_released(dice, people, names, region_of, shown, sensitive))
        crosswalks.append(_crosswalk(town, regions))
        ks.append(k)
        known.append((people, names, region_of, k))
    told = ";".join(dict.fromkeys(name for _, names, _, _ in known for name in names))
    given = {
        "RELEASES": tables,
        "CROSSWALKS": crosswalks,
        "QUASI_IDENTIFIERS": told,
        "EACH_K": ";".join(map(str, ks)),
        "K": dice.pick(2, 3, 4),
        **({"SENSITIVE": "ill"} if sensitive else {}),
        **town.regions(optional=True),
    }
    simple = all(one is not None and ";" not in one and len(one) < 40 for one in map(identity, town.ids))
    if simple and len(set(town.ids)) == town.n:
        town.known = {"releases": known, "given": {name: given.get(name) for name in DECIDES}, "sensitive": sensitive}
    if dice.odd(3):
        given[dice.choice(list(given))] = dice.pick("nothing", "", [])
    return given


def _people(dice, areas):
    found = []
    for area in areas:
        for _ in range(dice.pick(0, 3, dice.randint(0, 25))):
            found.append((area, {name: dice.choice(values) for name, values in VALUES.items()}))
    return found


def _moved(dice, people, town):
    """A few of them left, a few came."""
    stay = [person for person in people if not dice.chance(0.05)]
    return stay + _people(dice, [identity(dice.choice(town.ids))])[: dice.randint(0, 3)]


def _regions(dice, town):
    """The region of each area: in rows, or anyhow."""
    size = dice.randint(1, 4)
    anyhow = dice.chance(0.5)
    found = [dice.randint(1, max(1, town.n // size)) if anyhow else i // size for i in range(town.n)]
    numbers = {one: number + 1 for number, one in enumerate(dict.fromkeys(found))}
    return [numbers[one] for one in found]


def _crosswalk(town, regions):
    kind = town.dice.pick("long", "integer", "text", "real")
    convert = {"text": str, "real": float}.get(kind, int)
    columns = ((town.names["id"], town.id_kind, list(town.ids)), ("vbas_region", kind, list(map(convert, regions))))
    # Numbers with a fraction are other texts in a CSV file.
    return Table(
        columns, stored=town.dice.pick("memory", "gpkg", *(["csv"] if "real" not in (kind, town.id_kind) else []))
    )


def _released(dice, people, names, region_of, shown, sensitive):
    """The rows of a release: one a person, or counted."""
    classes = {(one.areas, one.values) for one in shown}
    areas: dict[object, set] = {}
    for area, region in region_of.items():
        areas.setdefault(region, set()).add(area)
    rows = []
    for area, values in people:
        key = frozenset(areas[region_of[area]]), frozenset((name, text_of(values[name])) for name in names)
        if key in classes:
            rows.append((region_of[area], *(values[name] for name in names), *([values["ill"]] if sensitive else [])))
    fields = [("vbas_region", "long"), *((name, "text") for name in names), *([("ill", "text")] if sensitive else [])]
    if dice.chance(0.5):
        counted = Counter(rows)
        rows = [(*row, n) for row, n in counted.items()]
        fields.append(("records", "long"))
    else:
        dice.shuffle(rows)
    values = list(map(list, zip(*rows))) or [[] for _ in fields]
    columns = tuple((name, kind, column) for (name, kind), column in zip(fields, values))
    return Table(columns, stored=dice.pick("memory", "memory", "memory", "gpkg"))


def given_away(case, outcome):
    """vbas:checkreleases: each count holds as many people as it says, and what subtraction gives is among them."""
    numbers = outcome.results
    if "PINNED" not in numbers or str(numbers["PINNED"]).endswith((".shp", ".dbf")):
        return
    names, rows = rows_of_output(numbers["PINNED"], outcome.context)
    if not rows and str(numbers["PINNED"]).endswith(EMPTY):
        return
    at = dict(zip(FIXED, positions(names, FIXED)))
    own = [i for i, name in enumerate(names) if name in VALUES and name != "ill"]
    found = [_Row(row, at, {names[i]: row[i] for i in own}) for row in rows]
    few = [one for one in found if one.kind not in HOMOGENEOUS]
    if len(few) != numbers["N_PINNED"] or len(found) - len(few) != numbers["N_ALIKE"]:
        yield f"PINNED has {len(few)} and {len(found) - len(few)} rows, the run says {numbers['N_PINNED']} and more."
    each = [int(part) for part in str(case.parameters.get("EACH_K") or "").split(";") if part.strip().isdecimal()]
    k = whole(case.parameters.get("K"), min(each, default=5))  # 5 is the default
    for one in few:
        if not 1 <= one.low <= one.high < k:
            yield f"A count of {one.low} to {one.high} is listed, K is {k}."
    if numbers["N_PERSONS"] > sum(one.low for one in few):
        yield f"N_PERSONS is {numbers['N_PERSONS']}, all counts together have {sum(one.low for one in few)}."
    decides = {name: case.parameters.get(name) for name in DECIDES}
    if not case.known or decides != case.known["given"]:
        return
    yield from _held_against_truth(case, outcome, found, few, k)


FIXED = ("kind", "releases", "vbas_sensitive", "areas", "n_areas", "low", "high", "less")


class _Row:
    """A row of PINNED."""

    def __init__(self, row, at, values):
        self.kind, self.values = row[at["kind"]], {name: value for name, value in values.items() if value}
        self.areas = frozenset(str(row[at["areas"]]).split(";"))
        self.low, self.high, self.less = (int(row[at[name]]) for name in ("low", "high", "less"))
        self.releases = [int(part) - 1 for part in str(row[at["releases"]]).split(";")]
        self.told = [part.rpartition(" ") for part in str(row[at["vbas_sensitive"]] or "").split("; ") if part]

    def holds(self, area, values, classes):
        """Whether a person is one of those counted, as far as the row tells; classes : those shown, by names."""
        hidden = [name for name, value in self.values.items() if value == NOT_SHOWN]
        for names, shown in classes.items():
            if any(name in hidden for name in names) and tuple(text_of(values[name]) for name in names) in shown:
                return False
        plain = {name: value for name, value in self.values.items() if value not in (SEVERAL, NOT_SHOWN)}
        return area in self.areas and all(text_of(values[name]) == value for name, value in plain.items())


def _held_against_truth(case, outcome, found, few, k):
    releases = case.known["releases"]
    shown = [shown_by(people, names, region_of, least) for people, names, region_of, least in releases]
    classes: dict[object, set] = {}
    for (_, names, _, _), counts in zip(releases, shown):
        of = classes.setdefault(names, set())
        of.update(tuple(dict(count.values)[name] for name in names) for count in counts)
    believed = all(_every_value_is_shown(people, classes) for people, _, _, _ in releases)
    for one in found:
        if one.kind in CHANGES:
            yield from _change(one, releases)
        elif believed and all(releases[i][0] == releases[one.releases[0]][0] for i in range(len(releases))):
            yield from _count(one, releases[one.releases[0]][0], classes)
    if outcome.results["N_CONTRADICTED"] and all(release[0] == releases[0][0] for release in releases):
        yield f"The same people contradict themselves in {outcome.results['N_CONTRADICTED']} classes."
    for later in range(len(releases)):
        for earlier in range(later):
            same = releases[earlier][0] == releases[later][0]
            if same and not outcome.results["N_UNDECIDED"]:
                yield from _missing(few, shown[earlier], shown[later], k, (earlier, later))
            if releases[earlier][1:3] == releases[later][1:3]:
                for old, new in changes(shown[earlier], shown[later], k):
                    wanted = abs(new.people - old.people)
                    if not any(r.kind == CHANGES[0] and r.areas == new.areas and r.low >= wanted for r in few):
                        yield f"From {old.people} to {new.people} in {sorted(new.areas)} is not listed."


def _every_value_is_shown(people, classes):
    """Whether everybody has values that some release shows: the check takes those for all there are, and what it lists
    beside others may be a count of nobody. classes : those shown, by names."""
    shown: dict[str, set] = {}
    for names, of in classes.items():
        for values in of:
            for name, value in zip(names, values):
                shown.setdefault(name, set()).add(value)
    return all(text_of(values[name]) in of for _, values in people for name, of in shown.items())


def _missing(few, earlier, later, k, pair):
    for one, left in (*rests(earlier, later, k), *rests(later, earlier, k)):
        listed = [r for r in few if r.areas <= one.areas and _agree(r, dict(one.values))]
        if not listed:
            yield f"Of {one.people} people {left} are left by releases {pair} in {sorted(one.areas)}: not listed."


def _agree(row, values):
    told = (SEVERAL, NOT_SHOWN)
    return all(row.values.get(name, SEVERAL) in (*told, value) for name, value in values.items())


def _count(one, people, classes):
    there = [values for area, values in people if one.holds(area, values, classes)]
    if not one.low <= len(there) - one.less <= one.high:
        said = f"{one.low} to {one.high} beside {one.less} are said to live in {sorted(one.areas)} with {one.values}"
        yield f"{one.kind}: {said}, there are {len(there)}."
    for field, _, number in one.told:
        name, _, value = field.partition(": ")
        if sum(text_of(values[name]) == value for values in there) < int(number):
            yield f"{one.kind}: {number} of {one.values} in {sorted(one.areas)} are said to have {value}."


def _change(one, releases):
    """A change between two releases by the same regions, counted in both."""
    then, now = (releases[i][0] for i in one.releases)
    before, after = (
        [values for area, values in people if area in one.areas and _is(one, values)] for people in (then, now)
    )
    come = Counter(text_of(values["ill"]) for values in after)
    gone = Counter(text_of(values["ill"]) for values in before)
    by_value = {value: come[value] - gone[value] for value in come | gone if come[value] != gone[value]}
    least = abs(len(after) - len(before))
    if one.told:
        least = max(least, sum(n for n in by_value.values() if n > 0), -sum(n for n in by_value.values() if n < 0))
        told = {field.partition(": ")[2]: int(number) for field, _, number in one.told}
        if told != by_value:
            yield f"The change of {one.values} in {sorted(one.areas)} is told as {told}, it is {by_value}."
    if not one.low == one.high == least:
        yield f"A change of {one.low} is listed for {one.values} in {sorted(one.areas)}: it is {least}."


def _is(one, values):
    return all(text_of(values[name]) == value for name, value in one.values.items())
