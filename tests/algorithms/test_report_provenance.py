"""What reports say of their run: inputs with checksums, the command that does it again; and the public report."""

from __future__ import annotations

import hashlib
import re
import shlex
import sqlite3
from contextlib import closing
from html import unescape

import pytest
from qgis.core import (
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsProcessingContext,
    QgsProcessingFeatureSourceDefinition,
    QgsProject,
    QgsProperty,
    QgsVectorFileWriter,
    QgsVectorLayer,
)

from vbas.algorithms.form import provenance
from vbas.algorithms.form.command import without_password
from vbas.algorithms.layers.delivery.outputs import Outputs
from vbas.algorithms.layers.shapes.projection import north_of
from vbas.core.job.saying import MAY_BE_SAID, SAID_WITH_POPULATION

from ..html_scripts import HOSTILE, Page
from .conftest import make_layer
from .test_reports_run_nothing import Town
from .test_reports_run_nothing import anonymize as of_town


def command_in(page):
    """The words of the command in a page, as bash reads them."""
    (code,) = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)
    return shlex.split(unescape(code).replace("\\\n", " "))


def written(layer, path):
    options = QgsVectorFileWriter.SaveVectorOptions()
    options.driverName = "GPKG"
    QgsVectorFileWriter.writeAsVectorFormatV3(layer, str(path), QgsProject.instance().transformContext(), options)
    return QgsVectorLayer(str(path), path.stem, "ogr")


def given_twice(words):
    """{name: values} of what follows the two dashes."""
    found: dict[str, list] = {}
    for word in words[words.index("--") + 1 :]:
        name, _, value = word.partition("=")
        found.setdefault(name, []).append(value)
    return found


def test_the_command_names_files_values_and_outputs(anonymize, grid, tmp_path):
    areas, records = written(grid[0], tmp_path / "the areas.gpkg"), written(grid[1], tmp_path / "it's.gpkg")
    place = tmp_path / "report.html"
    anonymize(REGIONS=areas, RECORDS=records, QUASI_IDENTIFIERS=["sex", "age"], K=4, REPORT=str(place))
    page = place.read_text(encoding="utf-8")
    words = command_in(page)
    assert words[:4] == ["qgis_process", "run", "vbas:anonymize", "--"]
    given = given_twice(words)
    assert given["REGIONS"] == [str(tmp_path / "the areas.gpkg")]
    assert given["RECORDS"] == [str(tmp_path / "it's.gpkg")]
    assert given["QUASI_IDENTIFIERS"] == ["sex", "age"]
    assert given["K"] == ["4"]
    assert given["REPORT"] == [str(place)]
    for path in (tmp_path / "the areas.gpkg", tmp_path / "it's.gpkg"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert ">1440<" in page and ">36<" in page  # rows


def test_no_checksum_is_given_of_a_file_that_nobody_has_read(anonymize, grid, tmp_path, monkeypatch):
    """The records are replaced once they were read, before the report is made."""
    path, place = tmp_path / "records.gpkg", tmp_path / "report.html"
    records = written(grid[1], path)
    whole = path.read_bytes()
    outputs_add = Outputs.add

    def replaced(self, *arguments, **options):
        path.write_bytes(whole[: len(whole) // 2])
        return outputs_add(self, *arguments, **options)

    monkeypatch.setattr(Outputs, "add", replaced)
    anonymize(RECORDS=records, REPORT=str(place))
    page = place.read_text(encoding="utf-8")
    assert "none: another program changed the file after it was read" in page
    for content in (whole, path.read_bytes()):
        assert hashlib.sha256(content).hexdigest() not in page
    row = next(row for row in page.split("<tr>") if "records.gpkg" in row and "none: another" in row)
    assert re.findall(r">([^<]*)</td>", row)[2].strip() == ""  # the number of rows


@pytest.mark.parametrize("kind", ["memory", "csv", "filtered"])
def test_each_input_is_told_with_its_rows(anonymize, grid, tmp_path, kind):
    records, n_records = grid[1], 1_440
    if kind != "memory":
        path = tmp_path / "people.csv"
        rows = [f"{f['home']},{f['sex']},{f['age']}" for f in records.getFeatures()]
        path.write_text("\n".join(["home,sex,age", *rows[:700], "", *rows[700:], ""]), encoding="utf-8")
        records = QgsVectorLayer(str(path), "people", "ogr")
    if kind == "filtered":
        records.setSubsetString("home < '4603'")
        n_records = 720
    assert records.featureCount() == n_records
    place = tmp_path / "report.html"
    anonymize(RECORDS=records, REPORT=str(place))
    told = [re.findall(r">([^<]*)</td>", row) for row in place.read_text(encoding="utf-8").split("<tr>")]
    rows_of = {cells[0]: cells[2] for cells in told if cells and "(RE" in cells[0] and len(cells) > 3}
    assert rows_of["Areas (REGIONS)"] == "36" and rows_of["Records (RECORDS)"].replace("\xa0", " ") in (
        str(n_records),
        f"{n_records:,}".replace(",", " "),
    )


def test_what_a_command_cannot_do_is_said(anonymize, grid, tmp_path):
    place = tmp_path / "report.html"
    QgsProject.instance().addMapLayer(grid[0], False)
    grid[0].selectByIds([feature.id() for feature in grid[0].getFeatures()])
    selected = QgsProcessingFeatureSourceDefinition(QgsProperty.fromValue(grid[0].id()), True)
    anonymize(REGIONS=selected, REPORT=str(place))
    page = unescape(place.read_text(encoding="utf-8"))
    assert "Only the selected features of REGIONS were read" in page
    assert "RECORDS was held in memory: save it" in page
    assert "this computer's memory" in page and "none: no file" in page


@pytest.mark.slow
def test_no_value_leaves_its_quotes(run, tmp_path):
    """Hostile names of fields and layers come out of bash as they went in."""
    for i, text in enumerate((*HOSTILE, "a'b\"c$(id)`id`\\", "two   blanks & <tags>")):
        place = tmp_path / f"{i}.html"
        town = Town(text)
        parameters = of_town(town)
        outputs = {"RELEASED_RECORDS": "memory:", "CROSSWALK": "memory:"}
        run("anonymize", **parameters, **outputs, REPORT=str(place))
        given = given_twice(command_in(place.read_text(encoding="utf-8")))
        assert given["REGION_ID"] == [parameters["REGION_ID"]]
        assert given["QUASI_IDENTIFIERS"] == parameters["QUASI_IDENTIFIERS"]
        assert given["LEVEL_FIELDS"] == parameters["LEVEL_FIELDS"] if "LEVEL_FIELDS" in given else True


@pytest.mark.parametrize(
    "text",
    [
        "dbname='x' host=h user='u' password='it\\'s secret' table=t",
        "PG:dbname=x password=secret host=h",
        "postgres://user:secret@host/db",
        'dbname=x password="secret" key=y',
        "PASSWORD = secret",
    ],
)
def test_a_password_is_left_out_and_the_page_says_so(text):
    caveats: list[str] = []
    assert "secret" not in without_password(text, "RECORDS", caveats)
    assert caveats == ["The password in RECORDS is left out: write it in before you run the command."]


def test_what_is_no_password_stays():
    caveats: list[str] = []
    for text in ("/home/a/passwords.gpkg|layername=x", "https://host/a@b", "password", "K"):
        assert without_password(text, "RECORDS", caveats) == text
    assert caveats == []


def test_settings_that_do_not_count_are_in_no_command(anonymize, tmp_path):
    place = tmp_path / "report.html"
    anonymize(COMBINATION="most compact", N_SITES=20, SITE_NUMBER="given number", REPORT=str(place))
    given = given_twice(command_in(place.read_text(encoding="utf-8")))
    assert given["COMBINATION"] == ["most compact"]
    assert not {"N_SITES", "SITE_NUMBER"} & set(given)


# ---- the public report


def test_every_setting_is_said_or_kept_back(provider):
    """Whoever adds a parameter decides whether the public report may say it."""
    kept_back = {
        *("RECORDS", "RECORD_REGION", "RECORD_COUNT", "UNMATCHED", "SEED", "CROSSWALK", "CROSSWALK_ID", "SITES"),
        *("REGISTER", "REGISTER_ACTION", "ALIASES", "SERIES"),
        *("COMBINATION", "SITE_NUMBER", "N_SITES", "CUTOFF", "LOG_BASE"),
        *("GAPS_REGION", "GAPS_COEFFICIENT", "GAPS_EXPONENT", "BUDGET"),
        *("GENERALISE", "HIERARCHIES", "HIERARCHY_RULES", "FAIR", "TIES"),
        *("PUBLISHED_COUNTS", "PUBLISHED_AREA", "PUBLISHED_NUMBER"),
        *("FOLDER_FORMAT", "LICENCE", "RECIPIENT", "PURPOSE", "PREPARED_BY"),
    }
    said = {*MAY_BE_SAID, *SAID_WITH_POPULATION}
    assert not said & kept_back
    for name in ("anonymize", "releaserecords"):
        algorithm = QgsApplication.processingRegistry().algorithmById(f"vbas:{name}")
        inputs = {parameter.name() for parameter in algorithm.parameterDefinitions() if not parameter.isDestination()}
        assert inputs <= said | kept_back


def page_of(run, town, path, **changes):
    parameters = {**of_town(town), "POPULATION": None, "LEVEL_FIELDS": None, "N_SITES": 1, "KEEP_FIELDS": None}
    parameters.update(
        dict.fromkeys(("PUBLISHED_COUNTS", "PUBLISHED_AREA", "PUBLISHED_NUMBER"))
    )  # which know no rare ones
    parameters.update(changes)
    outputs = {"RELEASED_RECORDS": "memory:", "CROSSWALK": "memory:"}
    internal = path.with_name(f"internal_{path.name}")
    run("anonymize", **parameters, **outputs, REPORT=str(internal), RELEASE_REPORT=str(path))
    texts = [one.read_text(encoding="utf-8") for one in (path, internal)]
    return [re.sub(r'<p class="date">[^<]*</p>', "", text) for text in texts]


class TownWithRare(Town):
    """The town, and a few people whose sex nobody else has, all in one corner."""

    def __init__(self, text, n_rare):
        super().__init__(text)
        self.n_rare = n_rare

    def records(self):
        layer = super().records()
        features = list(layer.getFeatures())
        rare = []
        for i, feature in enumerate(features[: self.n_rare]):
            feature[self.field("home")] = self.areas[0]
            feature[self.field("sex")] = f"rare {i}"
            rare.append(feature)
        layer.dataProvider().addFeatures(rare)
        return layer


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_suppressed_people_leave_no_trace_in_it(run, tmp_path, release):
    """Neither where people are counted from the records: the regions are the same here, whatever the people are."""
    changes = {"RELEASE": release, "FINEST": "configuration"}
    pages = [page_of(run, TownWithRare("x", n), tmp_path / f"{n}.html", **changes) for n in (0, 4)]
    assert pages[0][0] == pages[1][0]
    assert pages[0][1] != pages[1][1]
    text = "".join(Page(pages[1][0]).shown).replace("it may be rare there", "")  # of periods, whoever lives there
    assert "rare" not in text and "SEED" not in text and "364" not in text


@pytest.mark.parametrize("release", ["one level", "nested levels"])
def test_both_reports_tell_the_same_mean_distance(run, tmp_path, release):
    """Of the people of a census; where records alone say where people are, the public report says that areas count."""

    def shown(page, title):
        return re.findall(rf"<tr><td[^>]*>{title}, m</td><td[^>]*>([^<]+)</td>", page)

    town, changes = TownWithRare("x", 4), {"RELEASE": release, "FINEST": "configuration"}
    changes["N_SITES"] = 3
    public_report, internal = page_of(run, town, tmp_path / "a.html", POPULATION=town.field("people"), **changes)
    (metres,) = shown(internal, "Mean distance")
    assert shown(public_report, "Mean distance") == [metres]
    public_report, _ = page_of(run, town, tmp_path / "b.html", **changes)
    assert not shown(public_report, "Mean distance") and len(shown(public_report, "Mean distance of the areas")) == 1


def test_floors_are_said_only_where_the_people_are_those_of_a_census(run, tmp_path):
    town = Town("x")
    without, _ = page_of(run, town, tmp_path / "a.html", LEAST_POPULATION=50)
    counted, _ = page_of(run, town, tmp_path / "b.html", LEAST_POPULATION=50, POPULATION=town.field("people"))
    assert "(LEAST_POPULATION)" in counted and "(LEAST_POPULATION)" not in without
    for page in (without, counted):
        assert "(N_SITES)" not in page and "(COMBINATION)" not in page


def test_the_step_writes_it_too(run, grid, tmp_path):
    crosswalk = make_layer(
        {"da": [f["da"] for f in grid[0].getFeatures()], "vbas_region": [1 + i % 3 for i in range(36)]}
    )
    place = tmp_path / "page.html"
    run(
        "releaserecords",
        RECORDS=grid[1],
        RECORD_REGION="home",
        QUASI_IDENTIFIERS=["sex", "age"],
        CROSSWALK=crosswalk,
        K=4,
        RELEASED_RECORDS="memory:",
        RELEASE_REPORT=str(place),
    )
    page = place.read_text(encoding="utf-8")
    assert "The release is 4-anonymous" in page and "For release" in page and "Do not publish" not in page


# ---- north


@pytest.mark.parametrize(
    ("crs", "point", "expected"),
    [
        ("EPSG:26914", (630_000, 5_520_000), 1.4),  # a degree and more east of the zone's middle
        ("EPSG:3347", (3_900_000, 2_000_000), None),  # Vancouver side of Statistics Canada's Lambert
        ("EPSG:32631", (500_000, 5_000_000), 0.0),
    ],
)
def test_north_is_where_the_meridian_goes(crs, point, expected):
    import shapely

    planar = QgsCoordinateReferenceSystem(crs)
    found = north_of(planar, shapely.points([point]), QgsProcessingContext())
    assert found is not None
    if expected is None:
        assert abs(found) > 10
    else:
        assert abs(abs(found) - expected) < 0.2


def test_what_a_link_leads_to_is_told_with_the_log_beside_it(tmp_path):
    file, link = tmp_path / "people.gpkg", tmp_path / "elsewhere.gpkg"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE people (home)")
        connection.commit()
        link.symlink_to(file)
        assert provenance._files(link) == [link, tmp_path / "people.gpkg-wal"]
