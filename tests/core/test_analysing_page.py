"""docs/analysing.md: its figures are those of a fresh run, its examples run, and R says what Python says."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vbas.core.synthetic.city
from vbas.benchmarks import analysing_example, nested_example
from vbas.core.analysis import read_release
from vbas.core.analysis.spreading import AT_LEVEL_1
from vbas.core.areas import make_areas
from vbas.core.nesting.making import build_levels
from vbas.core.nesting.planning import nest
from vbas.core.records.matching import match_records
from vbas.core.records.table import RecordTable
from vbas.core.release import apply
from vbas.core.synthetic.city import demonstration_city

from ..engines_there import absent, needed
from ..exploring import tried
from .nested_cases import profile_of
from .release_to_spread import nested_release
from .test_reader import frames

pd = pytest.importorskip("pandas", reason="pandas is not installed: bash scripts/setup test")

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "analysing.md").read_text(encoding="utf-8")
FRENCH = (DOCS / "fr" / "analyser.md").read_text(encoding="utf-8")
SCRIPT = DOCS / "assets" / "read_release.R"
QUASI = ("age_group", "sex")
RSCRIPT = shutil.which("Rscript")


def examples(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def release_of_city(tmp_path_factory):
    """A folder with a nested release of a small demonstration city, its census by age, and the reader for R."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vbas.core.synthetic.city, "N_AREAS", 40)
        city = demonstration_city(0)
    people, areas = city.people().table(), city.areas()
    table = RecordTable(people.area, {name: people.quasi_identifiers[name] for name in QUASI}, people.kept)
    records = match_records(table, areas, k=5)
    levels = build_levels(areas, records.profile)
    release = apply(nest(areas, records.profile, levels, 5), records)
    folder = tmp_path_factory.mktemp("analysing")
    (folder / "release").mkdir()
    shutil.copy(SCRIPT, folder)
    rows = release.rows
    level, region = release.level[rows], release.region[rows]
    numbers = np.array([levels.crosswalks[one].numbers[at] for one, at in zip(level, region)])
    fields = {name: column.categories[column.codes[rows]] for name, column in release.fields.items()}
    frame = pd.DataFrame({"vbas_level": level + 1, "vbas_region": numbers, **fields})
    frame.to_csv(folder / "release" / "released_records.csv", index=False)
    regions = {f"vbas_region_{i}": one.numbers[one.region_of] for i, one in enumerate(levels.crosswalks, 1)}
    pd.DataFrame({"area": areas.identifiers, **regions}).to_csv(folder / "release" / "crosswalk.csv", index=False)
    traffic = np.random.default_rng(0).gamma(2, 1, len(areas)).round(6)
    known = pd.DataFrame({"area": areas.identifiers, "population": areas.population, "traffic": traffic})
    known.to_csv(folder / "release" / "areas.csv", index=False)
    ages = table.quasi_identifiers["age_group"]
    homes = pd.DataFrame({"area": people.area.categories[people.area.codes], "age_group": ages.categories[ages.codes]})
    every = pd.MultiIndex.from_product([areas.identifiers, ages.categories], names=["area", "age_group"])
    census = homes.value_counts(["area", "age_group"]).reindex(every, fill_value=0).rename("people").reset_index()
    census.to_csv(folder / "census.csv", index=False)
    return folder


@pytest.mark.slow
def test_the_page_quotes_what_the_script_prints():
    printed = list(analysing_example.printed(nested_example.make_example()))
    assert len(printed) > 5
    assert set(printed) <= set(PAGE.splitlines())


def test_examples_are_short():
    found = [*examples("python"), *examples("r")]
    assert len(found) == 5
    assert all(len(code.strip().splitlines()) <= 10 for code in found)


def test_the_page_in_french_has_the_same_examples_names_and_figures():
    def told(page):
        """Code without its comments, and of the text the names and the figures of every row of a table."""
        code = [re.sub(r" *#.*", "", one) for one in re.findall(r"```\w+\n.*?```", page, re.DOTALL)]
        text = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
        rows = [line for line in text.splitlines() if line.startswith("|")]
        names = {name for name in re.findall(r"`([^`]+)`", text) if name not in ("in zones", AT_LEVEL_1)}
        return (
            code,
            [[float(one) for one in re.findall(r"\d*\.?\d+", line)] for line in rows],
            text.count("\n## "),
            names,
        )

    assert told(PAGE) == told(re.sub(r"(?<=\d),(?=\d)", ".", FRENCH))


@pytest.mark.slow
def test_the_examples_in_python_run(release_of_city, monkeypatch, capsys):
    monkeypatch.chdir(release_of_city)
    found: dict[str, Any] = {}
    rates, _, census, in_place = examples("python")
    for code in (rates, census):
        exec(compile(code, "docs/analysing.md", "exec"), found)
    assert len(capsys.readouterr().out.splitlines()) > 12
    release, rows = found["release"], len(found["release"].records)
    assert found["weights"]["weight"].sum() == pytest.approx(rows)
    assert found["rates"]["ratio"].notna().any()
    table = pd.read_csv("census.csv", dtype={"area": str}).query("age_group == '80 and over'")
    people = table.set_index("area")["people"]
    assert len(found["old"]) == len(people)
    assert (found["old"]["estimate"] <= people[found["old"].index] + 1e-6).all()
    for package in ("ibis", "duckdb"):
        needed(package)
    exec(compile(in_place, "docs/analysing.md", "exec"), found)
    here = release.counts(by="sex").groupby("sex", dropna=False)["estimate"].sum()
    assert found["found"].estimate.sum() == pytest.approx(here.sum()) == pytest.approx(rows)


@pytest.mark.slow
def test_the_models_in_python_run(release_of_city, monkeypatch):
    needed("statsmodels", "pip install vbas[analysis]")
    monkeypatch.chdir(release_of_city)
    found: dict[str, Any] = {}
    for code in examples("python")[:2]:
        exec(compile(code, "docs/analysing.md", "exec"), found)
    assert np.isfinite(found["odds"].params["mean_traffic"]) and found["risks"].bse["mean_traffic"] > 0


def test_the_join_by_hand_gives_what_the_reader_gives(release_of_city):
    from vbas.core.engines.spreading import weights_of_regions

    release = read_release(release_of_city / "release")
    weights = pd.DataFrame(weights_of_regions(release.rows.areas, release.rows.levels))
    names = {"w_level": "vbas_level", "w_region": "vbas_region"}
    weights = weights.rename(columns=names).assign(area=release.areas.index[weights["w_area"]])
    (query,) = examples("sql")
    with closing(sqlite3.connect(":memory:")) as base:
        release.records.to_sql("released_records", base)
        weights[["vbas_level", "vbas_region", "area", "weight"]].to_sql("weights", base)
        found = pd.read_sql(query, base, index_col=["area", "sex"])["estimate"]
    wanted = release.counts(by="sex").set_index("sex", append=True)["estimate"]
    np.testing.assert_allclose(found, wanted[found.index])


def r_run(code, folder):
    if RSCRIPT is None:
        return absent("R", "apt-get install r-base-core")
    done = subprocess.run(
        [RSCRIPT, "--vanilla", "-"], input=code, capture_output=True, text=True, cwd=folder, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_in_r_runs(release_of_city):
    (code,) = examples("r")
    assert "mean_traffic" in r_run(code, release_of_city)


@pytest.mark.slow
@pytest.mark.parametrize("leave_out", ["none", "where level 1 shows the class", "in zones"])
def test_r_says_what_python_says(release_of_city, tmp_path, leave_out):
    place = release_of_city / "release"
    options = f"leave_out = '{leave_out}', quasi_identifiers = c('age_group', 'sex')"
    release = read_release(place).leaving_out(leave_out, QUASI)
    if leave_out == "in zones":  # this release was not made like that: where rows are left without an area both say so
        try:
            release.weights  # noqa: B018
        except vbas.core.errors.InputError:
            with pytest.raises(AssertionError, match="not made like that"):
                r_run(f"source('read_release.R'); read_release('release', {options})", release_of_city)
            return
    code = f"""
    source("read_release.R")
    release <- read_release("release", {options})
    ill <- release$records$diagnosis %in% "diabetes"
    write.csv(rates(release, ill, c("age_group", "sex"), 1000), "{tmp_path}/rates.csv", row.names = FALSE)
    write.csv(counts(release, "sex"), "{tmp_path}/counts.csv", row.names = FALSE)
    write.csv(exposure(release, "traffic"), "{tmp_path}/exposure.csv", row.names = FALSE)
    write.csv(spread(release), "{tmp_path}/spread.csv", row.names = FALSE)
    fitted <- with_margins(release, "census.csv", "area", "age_group", "people")
    write.csv(counts(fitted, "age_group"), "{tmp_path}/fitted.csv", row.names = FALSE)
    """
    r_run(code, release_of_city)
    ill = release.records["diagnosis"] == "diabetes"

    def told(name, index):
        return pd.read_csv(tmp_path / f"{name}.csv", dtype={"area": str}).set_index(index)

    def same(one, other, off=1e-9):
        assert list(one.columns) == list(other.columns)
        np.testing.assert_allclose(one.to_numpy(float), other.loc[one.index].to_numpy(float), atol=off, rtol=off)

    same(told("rates", "area"), release.rates(ill, QUASI, per=1000))
    same(told("counts", ["area", "sex"]), release.counts("sex").set_index("sex", append=True))
    fitted = release.with_margins(release_of_city / "census.csv", "area", "age_group", "people").counts("age_group")
    same(told("fitted", ["area", "age_group"]), fitted.set_index("age_group", append=True), 1e-6)
    exposure = pd.read_csv(tmp_path / "exposure.csv")
    np.testing.assert_allclose(exposure.to_numpy(), release.exposure("traffic").to_numpy(), atol=1e-7)
    found = told("spread", ["row", "area"])["weight"]
    wanted = release.spread().set_index("area", append=True)["weight"]
    wanted.index = wanted.index.set_levels(wanted.index.levels[0] + 1, level=0)
    np.testing.assert_allclose(found.sort_index(), wanted.sort_index())


@pytest.mark.slow
def test_r_takes_counts_and_codes_for_what_they_are(tmp_path):
    shutil.copy(SCRIPT, tmp_path)
    codes = ["53.10", "53.1"]
    areas = pd.DataFrame({"area": codes, "x": [0, 900], "y": [0, 0], "population": [30, 10]})
    people = {"area": codes * 2, "code": ["1.5", "1.50", "1.50", "1.5"], "n": [20, 30, 30, 20]}
    made = vbas.anonymize(areas, people, area="area", quasi_identifiers="code", record_count="n")
    made.write(tmp_path / "release")
    areas.to_csv(tmp_path / "areas.csv", index=False)
    code = """
    source("read_release.R")
    found <- counts(read_release("release/records.csv", "release/crosswalk.csv", "areas.csv"), "code")
    write.csv(found[order(-found$estimate), c("area", "code", "estimate")], "counts.csv", row.names = FALSE)
    """
    r_run(code, tmp_path)
    found = pd.read_csv(tmp_path / "counts.csv", dtype={"area": str, "code": str}).values.tolist()
    assert found == [["53.10", "1.50", 45], ["53.10", "1.5", 30], ["53.1", "1.50", 15], ["53.1", "1.5", 10]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "sentence"),
    [
        ([3, 5, 5], "area a has 4 records, the table has 3 people there"),
        ([4, 2, 3], "region 1 of level 2 shows 10 records with those within, the table has 9 people there"),
        ([4, 1, 8], None),
    ],
)
def test_in_r_a_table_is_met_or_the_contradiction_named(tmp_path, people, sentence):
    shutil.copy(SCRIPT, tmp_path)
    code = f"""
    source("read_release.R")
    records <- data.frame(vbas_level = rep(1:2, c(4, 6)), vbas_region = 1, q = "x")
    crosswalk <- data.frame(area = c("a", "b", "c"), vbas_region_1 = 1:3, vbas_region_2 = 1)
    release <- read_release(records, crosswalk, data.frame(area = c("a", "b", "c"), population = c(10, 20, 30)))
    table <- data.frame(area = c("a", "b", "c"), q = "x", people = c({", ".join(map(str, people))}))
    by_table <- suppressWarnings(with_margins(release, table, "area", "q", "people", "take it as weights"))
    cat(format(counts(by_table)$estimate, digits = 8), "\\n")
    cat(format(counts(with_margins(release, table, "area", "q", "people"))$estimate, digits = 8))
    """
    if sentence is not None:
        with pytest.raises(AssertionError, match=sentence):
            r_run(code, tmp_path)
        return
    for line in r_run(code, tmp_path).splitlines():  # the first area is full: of the 9 people of the others 6 are shown
        np.testing.assert_allclose(np.array(line.split(), float), [4, 2 / 3, 16 / 3], atol=1e-6)


@pytest.mark.slow
def test_in_r_a_table_is_met_where_areas_are_nearly_full(tmp_path):
    shutil.copy(SCRIPT, tmp_path)
    seeds = range(tried(2, 6))
    wanted = {}
    for seed in seeds:
        rng = np.random.default_rng(seed)
        areas = make_areas([f"a{i}" for i in range(80)], rng.uniform(0, 1e4, (80, 2)), rng.integers(50, 300, 80))
        counts = rng.poisson(rng.exponential(3, (1, 40)) * rng.uniform(0.3, 1.7, (80, 40)))
        profile = profile_of(counts)
        rows, _ = nested_release(areas, profile, build_levels(areas, profile), 5)
        census = pd.DataFrame({"code": areas.identifiers, "all": "x", "people": counts.sum(axis=1)})
        records, crosswalk, places = (
            one.assign(all="x") if "q" in one else one for one in frames(areas, rows.levels, rows)
        )
        fitted = read_release(records, crosswalk, places).with_margins(census, "code", "all", "people")
        wanted[seed] = fitted.counts("q").set_index("q", append=True)["estimate"]
        for name, table in {
            "released_records": records,
            "crosswalk": crosswalk,
            "areas": places,
            "census": census,
        }.items():
            (tmp_path / f"{seed}").mkdir(exist_ok=True)
            table.to_csv(tmp_path / f"{seed}" / f"{name}.csv", index=False)
    code = f"""
    source("read_release.R")
    for (seed in 0:{max(seeds)}) {{
      folder <- as.character(seed)
      fitted <- with_margins(read_release(folder), file.path(folder, "census.csv"), "code", "all", "people")
      write.csv(counts(fitted, "q"), file.path(folder, "found.csv"), row.names = FALSE)
    }}
    """
    r_run(code, tmp_path)
    for seed, of_python in wanted.items():
        found = pd.read_csv(tmp_path / f"{seed}" / "found.csv", dtype={"code": str, "q": str}).set_index(["code", "q"])
        of_python.index = of_python.index.set_levels(of_python.index.levels[1].astype(str), level=1)
        np.testing.assert_allclose(found["estimate"], of_python[found.index], atol=1e-4)
        by_area = found.groupby("code")["estimate"].sum()
        people = pd.read_csv(tmp_path / f"{seed}" / "census.csv", index_col="code")["people"]
        assert (by_area <= people[by_area.index] + 1e-6).all()
