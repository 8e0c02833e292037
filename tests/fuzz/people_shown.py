"""Releases of records recounted: k in every class, nobody invented or lost, no column that was not asked for."""

from __future__ import annotations

from collections import Counter, defaultdict

from .beside_counts import told_beside_counts
from .given import Table
from .people import OTHERS
from .reading import identity, loose, plain, positions, rows_of, rows_of_output, typed

HIDING = ("no small count follows", 1, "1")  # what DISCLOSURE is asked for, by its name and its number
ZONES = "what can be proven are the counts of its zones"
# Forms in which classes may be the same in all periods, as they are unless it is asked otherwise.
SERIES = (
    "anonymize",
    "anonymizelinked",
    "anonymizedatabase",
    "releaserecords",
    "releasedatabase",
    "evaluate",
    "compare",
)
BY_ITSELF = ("each period by itself", 1, "1")
EMPTY = (".geojson", ".xlsx", ".ods")  # formats in which no rows are no fields either


def _several(value):
    """Names of fields, however they were given."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [part.strip() for part in str(value or "").split(";") if part.strip()]


class Records:
    """The records of a case as QGIS shows them, or, of a database, as they were drawn."""

    def __init__(self, case, outcome, area=True):
        given, self.in_own_words = case.parameters, False
        table = given.get("CONNECTION") or given["RECORDS"]
        if isinstance(given.get("CONNECTION"), Table):
            self.names = [name.strip() for name in table.names]  # names that are typed have no blanks at their ends
            self.rows = [list(map(plain, row)) for row in zip(*(values for _, _, values in table.columns))]
            kinds = {name: kind for name, kind, _ in table.columns}
            named = [*_several(given.get("QUASI_IDENTIFIERS")), *_several(given.get("KEEP_FIELDS"))]
            # An engine has words of its own for lists, structures and moments.
            self.in_own_words = any(kinds.get(name) in OTHERS for name in named)
            if str(given.get("DESTINATION")).endswith(".csv"):
                drawn = zip(*(values for _, _, values in table.columns))
                self.rows = [
                    ["nan" if isinstance(was, float) and was != was else one for was, one in zip(values, row)]
                    for values, row in zip(drawn, self.rows)
                ]  # the word that DuckDB writes
            if table.stored == "csv":
                self.rows = [["" if one is None else str(one) for one in row] for row in self.rows]
            if any(given.get("FILTER") or ()):
                field, _, value = given["FILTER"]
                self.rows = [row for row in self.rows if str(self.of(row, [field])[0]) == value]
        else:
            self.names, self.rows = rows_of(outcome.layers["RECORDS"])
            if table.selected is not None:
                self.rows = self.rows[: table.selected]
        period = str(given.get("PERIOD") or "").strip()
        named = [name for name in _several(given.get("QUASI_IDENTIFIERS")) if name != period]
        self.quasi = [*named, *([period] if period else [])]
        # The period comes last among them; where its classes are to be the same in all, it is no part of what is shown.
        self.same_in_all = bool(period) and case.algorithm in SERIES and given.get("PERIODS") not in BY_ITSELF
        kept, sensitive = _several(given.get("KEEP_FIELDS")), _several(given.get("SENSITIVE"))
        self.sensitive = sensitive
        self.kept = list(dict.fromkeys([*kept, *sensitive]))
        self.members = [given[name] for name in ("PERSON_ID", "HOUSEHOLD_ID") if given.get(name)]
        self.count = given.get("RECORD_COUNT") or None
        self.area = (
            (given["RECORD_REGION"].strip() if given.get("CONNECTION") else given["RECORD_REGION"]) if area else None
        )

    def of(self, row, names):
        return [row[i] for i in positions(self.names, names)]

    def people(self, row):
        """How many records a row stands for."""
        return 1 if not self.count else int(float(self.of(row, [self.count])[0]))

    def home(self, row):
        return identity(self.of(row, [self.area])[0])

    def values(self, row):
        return tuple(map(typed, self.of(row, self.quasi)))

    def series(self, key):
        """A place and values, without the period where those of all periods are shown together or not at all."""
        return (key[0], key[1][:-1]) if self.same_in_all else key

    @property
    def total(self):
        return sum(map(self.people, self.rows))

    def sizes(self, place):
        """By (place of the row, values): the least of records, persons, households; rows without a place are out."""
        records: Counter[tuple] = Counter()
        members: list[defaultdict[tuple, set]] = [defaultdict(set) for _ in self.members]
        for row in self.rows:
            where = place(row)
            if where is None:
                continue
            key = (where, self.values(row))
            records[key] += self.people(row)
            for sets, name in zip(members, self.members):
                sets[key].add(typed(self.of(row, [name])[0]))
        return {key: min([n, *(len(sets[key]) for sets in members)]) for key, n in records.items()}


def release_of(case, outcome, regions, areas, k=None):
    """A release by regions: one level or nested, as its fields say. k : what is asked, else that of the case."""
    names, rows = rows_of_output(outcome.results["RELEASED_RECORDS"], outcome.context)
    records = Records(case, outcome)
    if records.in_own_words or (not rows and str(outcome.results["RELEASED_RECORDS"]).endswith(EMPTY)):
        return
    nested = "vbas_level" in names and "vbas_level" not in records.quasi
    counted = [] if records.count is None else ["records"]
    asked = [*(["vbas_level"] if nested else []), "vbas_region", *records.quasi, *records.kept, *counted]
    if [name.lower() for name in names] != [name.lower() for name in asked] and not str(
        outcome.results["RELEASED_RECORDS"]
    ).endswith((".shp", ".dbf")):
        yield f"RELEASED_RECORDS has the fields {names}, asked were {asked}."
        return
    front = 2 if nested else 1
    n_class = front + len(records.quasi)
    k = k or max(whole(case.parameters.get("K"), 5), 2)
    released = []
    classes: Counter[tuple] = Counter()
    for row in rows:
        n = int(float(row[-1])) if counted else 1
        classes[tuple(map(typed, row[:n_class]))] += n
        released.append(
            (
                tuple(int(float(one)) for one in row[:front]),
                row[front:n_class],
                row[n_class : len(row) - len(counted)],
                n,
            )
        )
    small = [key for key, n in classes.items() if n < k]
    if small:
        yield f"A class of {classes[small[0]]} records is released, k is {k}: {small[0]!r}"
    n_released = sum(classes.values())
    numbers = outcome.results
    if n_released != numbers["N_RECORDS"] - numbers["N_SUPPRESSED"]:
        yield f"{n_released} records are released, the run says {numbers['N_RECORDS']} - {numbers['N_SUPPRESSED']}."
    if numbers["N_RECORDS"] != records.total:
        yield f"N_RECORDS is {numbers['N_RECORDS']}, {records.total} records were given."
    if not regions:
        return
    yield from told_beside_counts(case, outcome, records, released, regions, k)
    if nested:
        yield from _nested(case, records, released, regions, k, _people(case, outcome, records))
        yield from _zones(case, records, released, regions, outcome.log)
    else:
        yield from recount_one_level(case, outcome, regions, areas, released)


def whole(value, default):
    if isinstance(value, list):
        value = value[0] if value else None
    return default if value in (None, "") else int(float(value))


def _more_is_asked(case):
    """Whether more than k decides over what is shown."""
    given = case.parameters
    published = ("PUBLISHED_MARGINS", "PUBLISHED_COUNTS", "REGISTER")
    asked = [given.get(name) for name in (*published, "GENERALISE", "LEVELS_COARSER")]
    asked += [given.get(name) not in (None, "", 0) for name in ("LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE")]
    return any(asked) or given.get("RULE") not in (None, "none", "", 0)


def _sensitive_hold(case, records, members):
    """Whether a class holds what L_DIVERSITY and MAX_SHARE ask; None where that is left open."""
    least = whole(case.parameters.get("L_DIVERSITY"), 1)
    share = case.parameters.get("MAX_SHARE")
    share = share[0] if isinstance(share, list) else share
    share = 100.0 if share in (None, "") else float(share)
    if not records.sensitive or (least <= 1 and share >= 100):
        return True
    if records.count:
        return None
    for name in records.sensitive:
        if any(records.of(row, [name])[0] is None for row in members):
            return None
        for holders in _holders(case, records, name, members):
            everybody = len(set().union(*holders.values()))
            most = sorted(map(len, holders.values()), reverse=True)
            # With the l - 1 commonest values one could name one of everybody.
            if most[0] > share / 100 * everybody + 1e-9 or (least > 1 and sum(most[: least - 1]) >= everybody):
                return False
    return True


def _holders(case, records, name, rows):
    """For persons (rows, where these are not known) and for households: who has which value."""
    people = [[typed(records.of(row, [kind])[0]) for row in rows] for kind in records.members]
    if not case.parameters.get("PERSON_ID"):
        people.append(list(range(len(rows))))
    for own in people:
        holders = defaultdict(set)
        for row, who in zip(rows, own):
            holders[typed(records.of(row, [name])[0])].add(who)
        yield holders


def recount_one_level(case, outcome, regions, areas, released):
    """Exactly the records of classes that reach k are shown, each where its area is; released : None: sums alone."""
    records = Records(case, outcome)
    if regions and len(next(iter(regions.values()))) != 1:
        return
    k = max(whole(case.parameters.get("K"), 5), 2)

    def place(row):
        return regions.get(records.home(row), [None])[0]

    if _more_is_asked(case):
        if released is not None:
            yield from _no_more_than_live(records, place, released)
        return
    members = defaultdict(list)
    for row in records.rows:
        members[place(row), records.values(row)].append(row)
    sizes = records.sizes(place)
    lost = 0
    wanted: Counter[tuple] = Counter()
    holding = {key: _sensitive_hold(case, records, rows) for key, rows in members.items()}
    if None in holding.values():
        return
    fails = {records.series(key) for key, holds in holding.items() if key[0] is None or sizes[key] < k or not holds}
    for key, rows in members.items():
        if records.series(key) in fails:
            lost += sum(map(records.people, rows))
            continue
        for row in rows:
            wanted[key[0], tuple(map(loose, records.of(row, [*records.quasi, *records.kept])))] += records.people(row)
    if outcome.results["N_SUPPRESSED"] != lost:
        yield f"N_SUPPRESSED is {outcome.results['N_SUPPRESSED']}, by hand {lost}."
    if released is None:
        return
    found: Counter[tuple] = Counter()
    for place_shown, values, kept, n in released:
        found[place_shown[0], tuple(map(loose, [*values, *kept]))] += n
    if found != wanted:
        yield f"The release is not the records of classes that reach k: {difference(found, wanted)}"


def difference(found, wanted):
    """The first that there are too many of, and too few."""
    more, fewer = list((found - wanted).items())[:2], list((wanted - found).items())[:2]
    return f"too many {more!r}, too few {fewer!r}."


def _no_more_than_live(records, place, released):
    """Nowhere are more records shown than live there."""
    live: Counter[object] = Counter()
    there: Counter[object] = Counter()
    for row in records.rows:
        live[place(row)] += records.people(row)
    for (region, *_), _, _, n in released:
        there[region] += n
    for region, n in there.items():
        if n > live[region]:
            yield f"Region {region} shows {n} records, {live[region]} live there."


def people_tell(people, n, k):
    """Whether n records in areas of so many people prove that 1 to k - 1 are in some of them: in areas of fewer than k
    people together, who are more than all people of other classes."""
    others = sum(people) - n
    sums = {0}
    for inside in people:
        sums |= {before + inside for before in sums if before + inside < k}
    return others >= 0 and max(sums) > others


def _people(case, outcome, records):
    """The people of each area: those of the layer, or its records."""
    given = case.parameters
    if given.get("POPULATION") and given.get("REGIONS") is not None:
        names, rows = rows_of(outcome.layers["REGIONS"])
        at, number = positions(names, [given["REGION_ID"], given["POPULATION"]])
        return {identity(row[at]): int(float(row[number] or 0)) for row in rows}
    people: Counter[object] = Counter()
    for row in records.rows:
        people[records.home(row)] += records.people(row)
    return people


def _nested(case, records, released, regions, k, people):
    """Rows fit into who lives where: of no class are more shown in a region, or within it, than live there."""
    coarser = any(case.parameters.get(name) for name in ("GENERALISE", "LEVELS_COARSER"))
    n_levels = len(next(iter(regions.values())))
    above: list[dict] = [{} for _ in range(n_levels)]  # by level: region -> region of the last level... of each level
    for path in regions.values():
        for level, region in enumerate(path):
            if region is not None:
                above[level][region] = path
    live: Counter[tuple] = Counter()
    there: Counter[tuple] = Counter()
    for row in records.rows:
        path = regions.get(records.home(row), [None] * n_levels)
        values = () if coarser else tuple(map(loose, records.of(row, records.quasi)))
        for level, region in enumerate(path):
            if region is not None:
                live[level, region, values] += records.people(row)
    at_last: Counter[tuple] = Counter()
    for (level, region), values, _, n in released:
        values = () if coarser else tuple(map(loose, values))
        if not 1 <= level <= n_levels or region not in above[level - 1]:
            yield f"A row shows region {region} of level {level}, which is not in the crosswalk."
            return
        path = above[level - 1][region]
        for higher in range(level - 1, n_levels):
            there[higher, path[higher], values] += n
        at_last[path[-1], values] += n
    for key, n in there.items():
        if n > live[key]:
            yield f"Level {key[0] + 1}, region {key[1]}: {n} records of {key[2]!r} are shown, {live[key]} live there."
            return
    if _more_is_asked(case) or records.members or records.sensitive or coarser or not _told_apart(records):
        return
    last = n_levels - 1
    short = {records.series((region, of)) for (level, region, of), n in live.items() if level == last and n < k}
    for (level, region, values), n in live.items():
        if level == last and records.series((region, values)) not in short and at_last[region, values] != n:
            if case.parameters.get("DISCLOSURE") in HIDING:
                inside = [home for home, path in regions.items() if path[-1] == region]
                if people_tell([people.get(home, 0) for home in inside], n, k):
                    continue
            yield f"Of {n} records of {values!r} in the last region {region} only {at_last[region, values]} are shown."
            return


def _told_apart(records):
    """Whether all values read as others than the rest, however they are written: not “1” and “+1”."""
    as_read = {tuple(map(loose, records.of(row, records.quasi))) for row in records.rows}
    return len(as_read) == len(set(map(records.values, records.rows)))


def _zones(case, records, released, regions, log):
    """Where it is said that no small count follows, a region shows all of a class that no region within shows."""
    given = case.parameters
    coarser = any(given.get(name) for name in ("GENERALISE", "LEVELS_COARSER"))
    said = any(ZONES in line for line in log)
    if not said and given.get("DISCLOSURE") in HIDING and released and not _more_is_asked(case):
        beside = any(given.get(name) for name in ("PUBLISHED_COUNTS", "PUBLISHED_MARGINS", "REGISTER"))
        if not beside and len(next(iter(regions.values()))) > 1:
            yield "DISCLOSURE is chosen, and nothing is said of it."
    values_of = [tuple(map(loose, records.of(row, records.quasi))) for row in records.rows]
    if not said or coarser or not _told_apart(records):
        return
    shown: Counter[tuple] = Counter()
    for (level, region), values, _, n in released:
        shown[level, region, tuple(map(loose, values))] += n
    arrived: Counter[tuple] = Counter()
    for row, values in zip(records.rows, values_of):
        places = [(level, region, values) for level, region in enumerate(regions.get(records.home(row), []), 1)]
        first = next((place for place in places if place in shown), None)
        if first is not None:
            arrived[first] += records.people(row)
    if arrived != shown:
        yield f"A region shows a part of what arrives: {difference(shown, arrived)}"
