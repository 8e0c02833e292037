"""Every report of the toolbox, with hostile names of layers, fields, categories and areas: nothing of them is run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from qgis.core import QgsApplication, QgsProject

from ..engines_there import needed
from ..exploring import tried
from ..html_scripts import HARMLESS, HOSTILE, Page, assert_runs_no_more_than
from .conftest import make_layer

WEST, SOUTH, SIDE = 630_000.0, 5_520_000.0, 1000.0
# What takes no text of the user's but numbers, checked as such.
NUMBERS = {"CAPACITY_FACTORS", "K_INNER", "K_OUTER", "K_MIN", "EACH_K", "K_VALUES"}


def square(i, size=SIDE, columns=3):
    x, y = WEST + (i % columns) * size, SOUTH + (i // columns) * size
    return f"Polygon(({x} {y}, {x + size} {y}, {x + size} {y + size}, {x} {y + size}, {x} {y}))"


def named(layer, name):
    layer.setName(name)
    return layer


class Town:
    """Nine areas, 360 people, and layers of them in which every name and text value holds `text`."""

    def __init__(self, text):
        self.text = text
        self.areas = [f"46{i}{text}" for i in range(9)]
        rng = np.random.default_rng(1)
        self.places = np.column_stack(
            [rng.uniform(WEST, WEST + 3 * SIDE, 360), rng.uniform(SOUTH, SOUTH + 3 * SIDE, 360)]
        )
        self.sex = [f"{text}{i}" for i in rng.integers(0, 2, 360)]

    def field(self, name):
        return f"{name}{self.text}"

    def columns(self, **values):
        return {self.field(name): column for name, column in values.items()}

    def area_layer(self):
        columns = self.columns(
            area=self.areas,
            people=[40] * 9,
            more=[self.text] * 5 + ["b"] * 4,
            male=[20] * 9,
            female=[20] * 9,
        )
        return named(make_layer(columns, [square(i) for i in range(9)]), self.field("areas"))

    def records(self):
        area = np.floor((self.places - (WEST, SOUTH)) / SIDE) @ (1, 3)
        columns = self.columns(
            home=[self.areas[int(i)] for i in area],
            sex=self.sex,
            group=[f"{self.text}{i % 3}" for i in range(360)],
            records=[1] * 360,
            ill=[f"{self.text}{i % 4}" for i in range(360)],
            kept=[f"{self.sex[i]}{i % 7}" for i in range(360)],  # a finer value of sex: warned of by name
            person=[f"{self.text}{i}" for i in range(360)],
        )
        return named(make_layer(columns), self.field("records"))

    def points(self):
        names = [f"{self.text}{i}" for i in range(360)]
        columns = self.columns(sex=self.sex, count=[1] * 360, kept=names, household=names)
        return named(make_layer(columns, [f"Point({x} {y})" for x, y in self.places.tolist()]), self.field("points"))

    def cells(self):
        n = 64
        rng = np.random.default_rng(1)
        columns = self.columns(
            cell=[f"{self.text}{i}" for i in range(n)],
            p1=rng.integers(5, 60, n).tolist(),
            p2=rng.integers(5, 60, n).tolist(),
            h1=rng.integers(3, 20, n).tolist(),
            i1=rng.integers(3, 20, n).tolist(),
            official=[f"{self.text}{i % 8 // 4}" for i in range(n)],
        )
        return named(make_layer(columns, [square(i, 250.0, 8) for i in range(n)]), self.field("cells"))

    def hierarchies(self):
        """Coarser values of the group, whose names hold the text too."""
        rows = [(self.field("group"), f"{self.text}{i}", f"{self.text}{i}", "*") for i in range(3)]
        names = ("attribute", "value", "level_1", "level_2")
        return named(make_layer(dict(zip(names, map(list, zip(*rows))))), self.field("hierarchies"))

    def published(self):
        """Everybody by area and sex, as a census counts them, and a licence."""
        area = np.floor((self.places - (WEST, SOUTH)) / SIDE) @ (1, 3)
        rows, counts = np.unique([(int(i), sex) for i, sex in zip(area, self.sex)], axis=0, return_counts=True)
        columns = self.columns(where=[self.areas[int(i)] for i, _ in rows], sex=[str(sex) for _, sex in rows])
        census = make_layer({**columns, self.field("people"): counts.tolist()})
        return {
            "PUBLISHED_COUNTS": named(census, self.field("census")),
            "PUBLISHED_AREA": self.field("where"),
            "PUBLISHED_NUMBER": self.field("people"),
            "LICENCE": self.field("licence"),
            **{name: self.field(name.lower()) for name in ("RECIPIENT", "PURPOSE", "PREPARED_BY", "SERIES")},
        }

    def period(self):
        """Levels that show coarser values want each period by itself."""
        return {"PERIOD": self.field("group"), "PERIODS": "each period by itself"}

    def areas_and_records(self):
        f = self.field
        return {
            "GENERALISE": [f("group"), 1],
            "HIERARCHIES": self.hierarchies(),
            "HIERARCHY_RULES": [f("sex"), "other below 1"],
            "REGIONS": self.area_layer(),
            "REGION_ID": f("area"),
            "POPULATION": f("people"),
            "RECORDS": self.records(),
            "RECORD_REGION": f("home"),
            "QUASI_IDENTIFIERS": [f("sex"), f("group")],
            "RECORD_COUNT": f("records"),
        }

    def coarser(self):
        """“group” is shown coarser by a table; the budget's fields are tried with it."""
        f, values = self.field, [f"{self.text}{i}" for i in range(3)]
        table = {"attribute": [f("group")] * 3, "value": values}
        table["level_1"], table["level_2"] = [f"a{self.text}", f"a{self.text}", f"b{self.text}"], ["*"] * 3
        return {
            "GENERALISE": [f("group"), 1],
            "HIERARCHIES": named(make_layer(table), f("hierarchies")),
            "HIERARCHY_RULES": [f("sex"), "*"],
            "FAIR": [f("group")],
        }

    def protection(self):
        """Persons go without counts: see `nested`."""
        return {"PERSON_ID": None, "HOUSEHOLD_ID": None, "SENSITIVE": [self.field("ill")]}


def anonymize(town):
    return {
        **town.areas_and_records(),
        **town.coarser(),
        **town.protection(),
        **town.published(),
        **town.period(),
        "KEEP_FIELDS": [town.field("kept")],
        "FAIR": town.field("sex"),
        "REGISTER": None,  # a file, which `checkreleases` reads as layers
        "ALIASES": None,  # counts only with a register: `checkreleases` tries it
        "PUBLISHED_MARGINS": None,  # only names of quasi-identifiers are taken, which are tried
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 3,
        "LEVELS_COARSER": [town.field("group"), 2],
        "LEVEL_FIELDS": [town.field("area"), town.field("more")],
    }


def nested(town):
    member = {"PERSON_ID": town.field("person"), "HOUSEHOLD_ID": town.field("person"), "RECORD_COUNT": None}
    return {**anonymize(town), **member, "RELEASE": "nested levels"}


def anonymizelinked(town):
    f, rows = town.field, list(range(360))
    given = {**town.areas_and_records(), **town.coarser(), **town.published(), **town.period()}
    visits = {f("person"): [f"{town.text}{i}" for i in rows], f("group"): [f"{town.text}{i % 2}" for i in rows]}
    return {
        **{name: value for name, value in given.items() if name != "RECORD_COUNT"},
        "REGISTER": None,
        "ALIASES": None,
        "LEVELS_COARSER": [f("group"), 2],
        "KEEP_FIELDS": [f("kept")],
        "HOUSEHOLD_ID": None,  # not beside one known row; the persons are those of the table
        "SENSITIVE": [f("ill")],
        "PUBLISHED_MARGINS": None,
        "FAIR": f("sex"),
        "COMBINATION": "custom",
        "SITE_NUMBER": "given number",
        "N_SITES": 3,
        "LEVEL_FIELDS": [f("area"), f("more")],
        "KEY": f("person"),
        "LINKED_TABLES": [named(make_layer(visits), "visits")],
        "LINKED_KEYS": None,  # the same name in all tables
        "LINKED_KNOWN": f"visits.{f('group')}",
        "LINKED_KEEP": None,
        "LINKED_SENSITIVE": None,
    }


def checkrelease(town):
    given = {**town.areas_and_records(), **town.protection(), "STOP": False, "RELEASE_FOLDER": None}
    lacking = ("POPULATION", "RECORD_REGION", "GENERALISE", "HIERARCHIES", "HIERARCHY_RULES")
    return {name: value for name, value in given.items() if name not in lacking}


def compare(town):
    from vbas.core.baselines import BASELINES

    return {
        **town.areas_and_records(),
        **town.coarser(),
        **town.period(),
        "BUDGETS": "5, 50",
        "HIERARCHY": town.field("more"),
        "FAIR": town.field("sex"),
        "BOUNDARY": town.field("more"),
        "BASELINES": list(range(len(BASELINES))),
        "WEIGHTS": None,  # only numbers and names of measures are taken
        "SCENARIOS": 2,
        "PART_FIELD": town.field("more"),
    }


def evaluate(town):
    coarser = {name: value for name, value in town.coarser().items() if name != "FAIR"}
    crosswalk = make_layer({town.field("code"): town.areas, "vbas_region": [1] * 5 + [2] * 4})
    sites = make_layer(
        {"vbas_region": [1, 2]}, [f"Point({WEST + 500} {SOUTH + 500})", f"Point({WEST + 1500} {SOUTH + 2500})"]
    )
    return {
        **town.areas_and_records(),
        **coarser,
        **town.period(),
        **town.protection(),
        "CROSSWALK": named(crosswalk, town.field("crosswalk")),
        "CROSSWALK_ID": town.field("code"),
        "SITES": named(sites, town.field("sites")),
    }


def releaserecords(town):
    nothing = ("REGISTER", "ALIASES", "PUBLISHED_MARGINS", "LEVELS_COARSER")  # which `anonymize` tries, or files
    return {**evaluate(town), **town.published(), "KEEP_FIELDS": [town.field("kept")], **dict.fromkeys(nothing)}


def evaluate_nested(town):
    columns = {f"vbas_region_{level + 1}": [1 + i // size for i in range(9)] for level, size in enumerate((1, 3, 9))}
    crosswalk = make_layer({town.field("code"): town.areas, **columns})
    return {**evaluate(town), "CROSSWALK": named(crosswalk, town.field("crosswalk"))}


def checkreleases(town):
    """Two releases whose regions differ by one area, and whose counts by two people."""
    layers: dict[str, list] = {"RELEASES": [], "CROSSWALKS": []}
    for number, (first, counts) in enumerate(((5, (20, 20)), (4, (18, 22)))):
        regions = [1] * first + [2] * (9 - first)
        values = {town.field("sex"): [f"{town.text}0"] * 2, town.field("ill"): [f"{town.text}1"] * 2}
        columns = {"vbas_region": [1, 2], **values, "n": list(counts)}
        layers["RELEASES"].append(named(make_layer(columns), town.field(f"release {number}")))
        crosswalk = make_layer({town.field("code"): town.areas, "vbas_region": regions})
        layers["CROSSWALKS"].append(named(crosswalk, town.field(f"crosswalk {number}")))
    project = QgsProject.instance()
    given = {name: [project.addMapLayer(layer).id() for layer in found] for name, found in layers.items()}
    places = {"REGIONS": town.area_layer(), "REGION_ID": town.field("area"), "REGISTER": None}
    names = {**dict.fromkeys(("QUASI_IDENTIFIERS", "PERIOD"), town.field("sex")), "SENSITIVE": town.field("ill")}
    rules = {"HIERARCHIES": town.hierarchies(), "HIERARCHY_RULES": None}  # rules count only with a register
    aliases = {"ALIASES": [town.field("sex"), f"not {town.field('ill')}"]}
    return {**given, **places, **names, **rules, **aliases, "COUNT_FIELD": "n"}


def donutmask(town):
    f = town.field
    return {
        "POINTS": town.points(),
        "AREAS": town.area_layer(),
        "AREA_ID": f("area"),
        "POPULATION": f("people"),
        "CATEGORY_FIELD": f("sex"),
        "CATEGORY_POPULATIONS": [f"{town.text}0", f("male"), f"{town.text}1", f("female")],
        "HOUSEHOLDS": town.points(),
        "HOUSEHOLD_COUNT": f("count"),
        "HOUSEHOLD_ID": f("household"),
        "EARLIER": town.points(),
        "EARLIER_ID": f("kept"),
        "REGISTER": None,  # a file of positions
        "KEEP_FIELDS": [f("kept")],
        "K_INNER": 3,
        "K_MIN": 0,
        "SEED": 1,
    }


def donutaudit(town):
    f = town.field
    return {
        "HOUSEHOLDS": town.points(),
        "HOUSEHOLD_COUNT": f("count"),
        "AREAS": town.area_layer(),
        "AREA_ID": f("area"),
        "POPULATION": f("people"),
        "K_INNER": "2,6",
        "K_MIN": "2",
        "FINER_AREAS": town.area_layer(),
        "FINER_POPULATION": f("people"),
    }


def partitioncells(town):
    f = town.field
    return {
        "CELLS": town.cells(),
        "CELL_ID": f("cell"),
        "POPULATIONS": [f("p1"), f("p2")],
        "K": 100,
        "POPULATIONS_2": [f("h1")],
        "K_2": 20,
        "POPULATIONS_3": [f("i1")],
        "K_3": 20,
        "OFFICIAL_AREA": f("official"),
        "WITHIN": f("official"),
        "RESTARTS": 1,
    }


def mendpartition(town):
    f = town.field
    cells = {name: value for name, value in partitioncells(town).items() if name.isupper()}
    found = {name: value for name, value in cells.items() if name not in ("OFFICIAL_AREA", "WITHIN", "RESTARTS")}
    columns = town.columns(cell=[f"{town.text}{i}" for i in range(64)])
    blocks = make_layer({**columns, "vbas_region": [1 + i // 16 for i in range(64)]})
    return {**found, "CROSSWALK": named(blocks, f("blocks")), "CROSSWALK_ID": f("cell")}


def dotmap(town):
    f = town.field
    return {
        "GROUPS": town.area_layer(),
        "GROUP_ID": f("area"),
        "RECORDS": town.records(),
        "RECORD_REGION": f("home"),
        "CATEGORY": f("sex"),
        "RECORD_COUNT": f("records"),
        "PEOPLE": None,  # in place of the records
        "RATE": None,
        "LEAST": 2,
    }


def releasedatabase(town):
    """The records as a Parquet file whose fields and values are the town's."""
    f, arrow = town.field, needed("pyarrow")
    for package in ("ibis", "duckdb"):
        needed(package)
    records = town.records()
    rows = zip(*(feature.attributes() for feature in records.getFeatures()))
    place = Path(tempfile.mkdtemp(prefix="vbas-reports-"))
    table = arrow.table({name: list(values) for name, values in zip(records.fields().names(), rows)})
    needed("pyarrow.parquet").write_table(table, place / "people.parquet")
    return {
        "CONNECTION": str(place / "people.parquet"),
        "SCHEMA": None,
        "TABLE": None,
        "FILTER": [f("records"), ">", "0"],
        "RECORD_REGION": f("home"),
        "QUASI_IDENTIFIERS": f"{f('sex')};{f('group')}",
        "RECORD_COUNT": f("records"),
        "KEEP_FIELDS": f("kept"),
        "PERSON_ID": None,
        "HOUSEHOLD_ID": None,
        "SENSITIVE": f("ill"),
        **{name: town.areas_and_records()[name] for name in ("REGIONS", "REGION_ID", "POPULATION")},
        **{name: value for name, value in town.coarser().items() if name != "FAIR"},
        **town.published(),
        **town.period(),
        "PUBLISHED_MARGINS": None,
        "REGISTER": None,
        "ENTRY": None,
        "ALIASES": None,
        "PROFILE": None,
        **{name: evaluate(town)[name] for name in ("CROSSWALK", "CROSSWALK_ID")},
        "DESTINATION": str(place / "released.parquet"),
        "LEVELS_COARSER": None,
        **dict.fromkeys(("KEY", "LINKED_TABLES", "LINKED_KEYS", "LINKED_KNOWN", "LINKED_KEEP", "LINKED_SENSITIVE")),
    }


def anonymizedatabase(town):
    """What is asked of a layer, of the file; CROSSWALK is an output here."""
    of_others = ("RECORDS", "PROFILE", "CROSSWALK", "CROSSWALK_ID", "KEY", "ENTRY")
    given = {**anonymize(town), **releasedatabase(town)}.items()
    return {name: value for name, value in given if name not in of_others and not name.startswith("LINKED_")}


def coarser_in_place(town):
    return {**releasedatabase(town), "LEVELS_COARSER": [town.field("group"), 2]}


def linked_in_place(town):
    f, given, arrow = town.field, releasedatabase(town), needed("pyarrow")
    parquet, rows = needed("pyarrow.parquet"), list(range(360))
    people = parquet.read_table(given["CONNECTION"])
    keys = [f"{town.text}{i}" for i in range(len(people))]
    parquet.write_table(people.append_column(f("person"), arrow.array(keys)), given["CONNECTION"])
    visits = str(Path(given["CONNECTION"]).with_name("visits.parquet"))
    columns = {f("person"): [keys[i % len(keys)] for i in rows], f("month"): [f"{town.text}{i % 2}" for i in rows]}
    parquet.write_table(arrow.table(columns), visits)
    linked = {"KEY": f("person"), "LINKED_TABLES": visits, "LINKED_KNOWN": f"visits.{f('month')}"}
    return {**given, "RECORD_COUNT": None, **linked, "ROWS_KNOWN": "one row"}


REPORTING = {
    one.__name__: one
    for one in (
        anonymize,
        anonymizelinked,
        compare,
        evaluate,
        releaserecords,
        checkrelease,
        checkreleases,
        donutmask,
        donutaudit,
        partitioncells,
        mendpartition,
        dotmap,
        anonymizedatabase,
        releasedatabase,
    )
}
# Other reports of the same algorithms.
REPORTS = {
    **REPORTING,
    "anonymize, nested": nested,
    "evaluate, nested": evaluate_nested,
    "releasedatabase, with coarser levels": coarser_in_place,
    "releasedatabase, with linked tables": linked_in_place,
}
# In every run two of the hostile texts in each report, in turn, so that all are in the sections that reports share.
TRIED = {
    name: tried([HOSTILE[i % len(HOSTILE)], HOSTILE[i % len(HOSTILE) - 1]], HOSTILE) for i, name in enumerate(REPORTS)
}
# The public reports, which name fewer things.
PUBLIC_REPORTS = {"anonymize, for release": anonymize, "anonymize, nested, for release": nested}


@pytest.fixture
def report(run, tmp_path, monkeypatch):
    """The page of an algorithm over the town of that text; made once for the harmless text."""
    # How long each configuration takes decides which bars of a picture are broken off: no two runs are alike.
    for module in ("vbas.core.configuration", "vbas.core.comparison", "vbas.core.trade_off.outcomes"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(perf_counter=float))

    def one(name, text):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.html"
        algorithm = name.partition(",")[0]
        parameters = {**REPORTS, **PUBLIC_REPORTS}[name](Town(text))
        found = QgsApplication.processingRegistry().algorithmById(f"vbas:{algorithm}")
        texts = [
            definition.name()
            for definition in found.parameterDefinitions()
            if not definition.isDestination()
            and definition.type() not in ("number", "enum", "boolean")
            and definition.name() not in NUMBERS
        ]
        assert set(texts) <= set(parameters), "a parameter that takes text is not tried"
        outputs = {
            definition.name(): "memory:"
            for definition in found.destinationParameterDefinitions()
            if definition.type() == "sink"
        }
        run(algorithm, **parameters, **outputs, **{"RELEASE_REPORT" if name in PUBLIC_REPORTS else "REPORT": str(path)})
        QgsProject.instance().removeAllMapLayers()
        return Path(path).read_text(encoding="utf-8")

    return one


def test_every_algorithm_with_a_report_is_tried(provider):
    reporting = {a.name() for a in provider.algorithms() if a.parameterDefinition("REPORT") is not None}
    assert reporting == set(REPORTING)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_runs_nothing_that_stands_in_a_name(name, report):
    harmless = report(name, HARMLESS)
    assert "<svg" in harmless or name.startswith("checkrelease")  # drawn, from the names too
    for hostile in TRIED[name]:
        page = report(name, hostile)
        assert_runs_no_more_than(page, harmless)
        # It is shown, braces and all: what is shown nowhere would prove nothing.
        assert "".join(Page(page).shown).count(hostile) >= len(REPORTS[name](Town("x"))) // 3


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLIC_REPORTS)
def test_a_public_report_runs_nothing_either(name, report):
    harmless = report(name, HARMLESS)
    assert "<svg" in harmless
    for hostile in HOSTILE:
        page = report(name, hostile)
        assert_runs_no_more_than(page, harmless)
        shown = "".join(Page(page).shown)
        assert all(f"{hostile}{sex}" in shown for sex in range(2)) and f"group{hostile}" in shown


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_nested_report_shows_classes_and_values_by_name(report, hostile):
    """What could be run is there to be seen: every class and every value of each quasi-identifier, coarser ones too."""
    shown = "".join(Page(report("anonymize, nested", hostile)).shown)
    for sex in range(2):
        for group in "ab":
            assert f"{hostile}{sex} · {group}{hostile}" in shown
            assert f"group{hostile}: {group}{hostile}" in shown
