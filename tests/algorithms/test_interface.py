"""The promise to scripts and models: ids, parameters, outputs and choices keep their names."""

from __future__ import annotations

import subprocess
import sys

import pytest
from qgis.core import QgsApplication

from vbas.algorithms.form import base
from vbas.algorithms.named import ICONS
from vbas.vbas_plugin.models import TITLES

REGIONS = "REGIONS REGION_ID POPULATION"
RECORDS = "RECORDS RECORD_REGION QUASI_IDENTIFIERS RECORD_COUNT GENERALISE HIERARCHIES HIERARCHY_RULES"
NUMBER = "SITE_NUMBER GAPS_REGION GAPS_COEFFICIENT GAPS_EXPONENT LOG_BASE CUTOFF N_SITES BUDGET FAIR"
HELD_AGAINST = "DISCLOSURE CLOSED_BY_CHANCE LEAST_LEFT_AREAS LEAST_LEFT_PEOPLE"
LEVELS = "COARSEST RATIO LEVEL_FIELDS LEAST_POPULATION"
MEASURES = (
    "N_SITES N_RECORDS N_SUPPRESSED SUPPRESSION_PERCENT COMPACTNESS DISCERNIBILITY NON_UNIFORM_ENTROPY RUNNING_TIME"
)
SIGNED = "RECIPIENT PURPOSE PREPARED_BY"
PUBLISHED = "PUBLISHED_MARGINS PUBLISHED_COUNTS PUBLISHED_AREA PUBLISHED_NUMBER"
STUDIED = (
    "RECORDS QUASI_IDENTIFIERS RECORD_COUNT CROSSWALK CROSSWALK_ID REGIONS REGION_ID POPULATION CASE_FIELD CASE_VALUES "
    "DENOMINATOR ADJUST LEAVE_OUT MARGINS MARGIN_AREA MARGIN_FIELDS MARGIN_COUNT MARGINS_DIFFER"
)
PROMISED = {
    "anonymize": (
        f"{REGIONS} {RECORDS} PERIOD PERIODS K KEEP_FIELDS UNMATCHED COMBINATION {NUMBER} SITE_LOCATION AGGREGATION "
        f"CAPACITY_FACTOR SEED RELEASE FINEST {LEVELS} {HELD_AGAINST} LOSS TIES LEVELS_COARSER REGISTER "
        f"REGISTER_ACTION ALIASES SERIES {PUBLISHED} FOLDER_FORMAT LICENCE {SIGNED}",
        "RELEASED_RECORDS RELEASED_REGIONS CROSSWALK REGION_AUDIT SITE_POINTS VORONOI REPORT RELEASE_REPORT "
        f"RELEASE_FOLDER SIGN_PAGE {MEASURES} N_LEVELS "
        "MEAN_DISTANCE",
    ),
    "anonymizelinked": (
        f"{REGIONS} {RECORDS} PERIOD PERIODS K KEEP_FIELDS UNMATCHED COMBINATION {NUMBER} SITE_LOCATION AGGREGATION "
        f"CAPACITY_FACTOR SEED RELEASE FINEST {LEVELS} {HELD_AGAINST} LOSS TIES LEVELS_COARSER RULE REGISTER "
        f"REGISTER_ACTION ALIASES SERIES {PUBLISHED} FOLDER_FORMAT LICENCE {SIGNED} KEY "
        "ROWS_KNOWN LINKED_TABLES LINKED_KEYS LINKED_KNOWN LINKED_KEEP LINKED_SENSITIVE COUNT_KNOWN NEW_KEY "
        "LINKED_K".replace("RECORD_COUNT ", ""),
        "RELEASED_TABLES RELEASED_REGIONS CROSSWALK REGION_AUDIT SITE_POINTS VORONOI REPORT RELEASE_REPORT "
        f"RELEASE_FOLDER SIGN_PAGE {MEASURES} N_LEVELS MEAN_DISTANCE",
    ),
    "anonymizedatabase": (
        f"{REGIONS} CONNECTION SCHEMA TABLE FILTER MEMORY RECORD_REGION QUASI_IDENTIFIERS RECORD_COUNT GENERALISE "
        "HIERARCHIES HIERARCHY_RULES KEEP_FIELDS PERSON_ID HOUSEHOLD_ID SENSITIVE L_DIVERSITY MAX_SHARE PERIOD PERIODS "
        f"K UNMATCHED COMBINATION {NUMBER} SITE_LOCATION START AGGREGATION CAPACITY_FACTOR FLOOR SEED RELEASE FINEST "
        f"{LEVELS} {HELD_AGAINST} LOSS TIES LEVELS_COARSER RULE REGISTER REGISTER_ACTION ALIASES SERIES {PUBLISHED} "
        f"FOLDER_FORMAT LICENCE {SIGNED} DESTINATION",
        "RELEASED_RECORDS RELEASED_REGIONS CROSSWALK REGION_AUDIT SITE_POINTS VORONOI REPORT RELEASE_REPORT "
        f"RELEASE_FOLDER SIGN_PAGE {MEASURES} N_LEVELS MEAN_DISTANCE",
    ),
    "profilerecords": (f"{RECORDS} PERIOD", "PROFILE"),
    "profiledatabase": (
        "CONNECTION SCHEMA TABLE FILTER RECORD_REGION QUASI_IDENTIFIERS PERIOD RECORD_COUNT GENERALISE HIERARCHIES "
        "HIERARCHY_RULES",
        "PROFILE N_RECORDS N_CLASSES",
    ),
    "releasedatabase": (
        "CONNECTION SCHEMA TABLE FILTER RECORD_REGION QUASI_IDENTIFIERS RECORD_COUNT KEEP_FIELDS PERSON_ID SENSITIVE "
        "KEY LINKED_TABLES LINKED_KEYS LINKED_KNOWN LINKED_KEEP LINKED_SENSITIVE ROWS_KNOWN COUNT_KNOWN LINKED_K "
        "CROSSWALK K UNMATCHED DESTINATION REGIONS REGION_ID POPULATION LOSS PROFILE RULE REGISTER REGISTER_ACTION "
        "ALIASES GENERALISE HIERARCHIES HIERARCHY_RULES HOUSEHOLD_ID L_DIVERSITY MAX_SHARE PUBLISHED_MARGINS TIES "
        f"UPDATE ENTRY FOLLOWED PERIOD PERIODS LEVELS_COARSER {HELD_AGAINST} {PUBLISHED} FOLDER_FORMAT LICENCE "
        f"{SIGNED}",
        "RELEASED_RECORDS REPORT SIGN_PAGE RELEASE_REPORT RELEASE_FOLDER N_RECORDS N_SUPPRESSED SUPPRESSION_PERCENT",
    ),
    "sitenumber": (f"{RECORDS} PERIOD PERIODS {NUMBER} K", "N_SITES CUTOFF ENTROPY MAX_COMBINATIONS"),
    "sitelocation": (f"{REGIONS} {RECORDS} N_SITES SITE_LOCATION START SITES K SEED", "SITE_POINTS"),
    "aggregate": (f"{REGIONS} SITES AGGREGATION PERIOD", "CROSSWALK SITE_POINTS RELEASED_REGIONS VORONOI"),
    "locateallocate": (
        "REGIONS REGION_ID N_SITES METHOD CAPACITY_FACTOR",
        "CROSSWALK SITE_POINTS RELEASED_REGIONS VORONOI",
    ),
    "nestlevels": (
        f"{REGIONS} {RECORDS} PERIOD {LEVELS} CROSSWALKS SITE_LOCATION AGGREGATION K SEED MORE_RECORDS HELD_PERCENT "
        "RESERVE",
        "CROSSWALK RELEASED_REGIONS N_LEVELS N_SITES",
    ),
    "flattenrelease": (
        "RECORDS QUASI_IDENTIFIERS RECORD_COUNT CROSSWALK CROSSWALK_ID LEVEL K",
        "FLATTENED N_RECORDS N_LEFT_OUT",
    ),
    "spreadrelease": (
        "RECORDS QUASI_IDENTIFIERS RECORD_COUNT CROSSWALK CROSSWALK_ID REGIONS REGION_ID POPULATION KEEP_FIELDS GROUPS "
        "EXPOSURE_FIELDS LEAVE_OUT MARGINS MARGIN_AREA MARGIN_FIELDS MARGIN_COUNT MARGINS_DIFFER",
        "AREA_COUNTS SPREAD EXPOSURES N_RECORDS AT_AREA_PERCENT",
    ),
    "ratemap": (f"{STUDIED} SMOOTHING BANDWIDTH PER SEED", "RATE_MAP N_RECORDS N_CASES OVERALL_RATE BANDWIDTH_USED"),
    "clusterscan": (
        f"{STUDIED} MODEL LOOK_FOR LARGEST DRAWS SIGNIFICANCE SEED",
        "CLUSTERS CIRCLES N_RECORDS N_CASES N_CLUSTERS P_VALUE LLR RELATIVE_RISK",
    ),
    "moran": (
        f"{STUDIED} DRAWS SIGNIFICANCE SEED",
        "LOCAL_MORAN N_RECORDS N_CASES MORANS_I EXPECTED_I SD_I Z P_VALUE N_AREAS",
    ),
    "releaserecords": (
        f"{RECORDS} PERIOD PERIODS CROSSWALK K KEEP_FIELDS UNMATCHED REGIONS REGION_ID POPULATION SITES LOSS TIES "
        f"LEVELS_COARSER REGISTER REGISTER_ACTION ALIASES {HELD_AGAINST} {PUBLISHED} FOLDER_FORMAT LICENCE {SIGNED}",
        "RELEASED_RECORDS RELEASE_FOLDER SIGN_PAGE REGION_AUDIT REPORT N_RECORDS N_SUPPRESSED SUPPRESSION_PERCENT",
    ),
    "updaterelease": (
        f"{RECORDS} PERIOD CROSSWALK CROSSWALK_ID REGISTER ENTRY UPDATE K KEEP_FIELDS PERSON_ID SENSITIVE "
        f"L_DIVERSITY MAX_SHARE FOLLOWED UNMATCHED REGIONS REGION_ID POPULATION LOSS ALIASES {PUBLISHED} FOLDER_FORMAT "
        f"LICENCE {SIGNED}",
        "RELEASED_RECORDS RELEASE_FOLDER SIGN_PAGE RELEASE_REPORT N_RECORDS N_SUPPRESSED SUPPRESSION_PERCENT N_SAME "
        "N_CHANGED N_GONE N_NEW MOVED_PERCENT",
    ),
    "evaluate": (
        f"{REGIONS} {RECORDS} PERIOD PERIODS CROSSWALK SITES K LOSS {HELD_AGAINST}",
        f"REGION_AUDIT REPORT {MEASURES} N_LEVELS MEAN_DISTANCE",
    ),
    "checkreleases": (
        "REGISTER RELEASES CROSSWALKS QUASI_IDENTIFIERS SENSITIVE K ALIASES",
        "PINNED REPORT N_PINNED N_PERSONS N_VALUES N_ALIKE N_NOT_COMPARED",
    ),
    "editregister": (
        "REGISTER REMOVE NEVER_PUBLISHED APPROVE WHO REMOVE_POINTS RENAME NAME SERIES REGIONS REGION_ID",
        "CONTENTS DETAIL N_RELEASES N_REMOVED N_BROKEN N_POINTS",
    ),
    "compare": (
        f"{REGIONS} {RECORDS} PERIOD PERIODS K WEIGHTS SCENARIOS LEAST_ATTRIBUTES MOST_ATTRIBUTES PART_FIELD",
        "COMPARISON SCENARIO_AVERAGES REPORT N_SCENARIOS",
    ),
    "estimatedistributions": ("MICRODATA PROVINCE ATTRIBUTES WEIGHT MISSING", "DISTRIBUTIONS"),
    "generaterecords": ("REGIONS REGION_ID PROVINCE DISTRIBUTIONS POPULATION SEED", "RECORDS"),
    "staticcutoff": (f"{REGIONS} PUBLISHED CUTOFF GAPS_REGION", "CROSSWALK RELEASED_REGIONS CUTOFF"),
    "mergeadjacent": (f"{REGIONS} PUBLISHED CUTOFF GAPS_REGION", "CROSSWALK RELEASED_REGIONS CUTOFF"),
    "cropidentifiers": ("REGIONS REGION_ID CHARACTERS LEAVE_OUT HIERARCHY", "CROSSWALK RELEASED_REGIONS"),
    "partitioncells": (
        "CELLS CELL_ID POPULATIONS K NEIGHBOURS ATTEMPTS RESTARTS BETA SEED WITHIN FALL_BACK LEAST_HULL_SHARE "
        "NEIGHBOUR_DISTANCE CHUNK_KM2",
        "CROSSWALK GROUPS REPORT NON_POP WEIGHTED_DIST LOSS N_GROUPS",
    ),
    "mendpartition": (
        "CELLS CELL_ID POPULATIONS K NEIGHBOURS CROSSWALK CROSSWALK_ID MEND REACH",
        "FAILING MOVES MENDED REPORT N_FAILING N_MOVES",
    ),
    "dotmap": (
        "GROUPS GROUP_ID PEOPLE RATE RECORDS RECORD_REGION CATEGORY RECORD_COUNT LEAST SEED",
        "POINTS AUDIT REPORT N_DOTS",
    ),
    "donutmask": (
        "POINTS AREAS POPULATION K_INNER K_OUTER DISTANCE SEED HOUSEHOLD_ID K_MIN EARLIER EARLIER_ID REGISTER "
        "FIND_CLUSTERS",
        "MASKED AUDIT",
    ),
    "donutaudit": (
        "HOUSEHOLDS AREAS POPULATION K_INNER K_MIN SEED K_OUTER COMPARE_WITH PLANTED_CLUSTERS CLUSTER_CASES "
        "CLUSTER_RISK CLUSTER_PERCENT",
        "AUDIT REPORT",
    ),
}
CHOICES = {
    ("anonymize", "PERIODS"): ("the same in all periods", "each period by itself"),
    ("anonymize", "COMBINATION"): (
        "least suppression",
        "all-rounder",
        "all-rounder by transport",
        "fastest",
        "most compact",
        "compact with less suppression",
        "compact by transport",
        "custom",
    ),
    ("anonymize", "UNMATCHED"): ("stop", "suppress"),
    ("anonymize", "SITE_NUMBER"): (
        "max combinations",
        "entropy",
        "population cut-off",
        "given number",
        "max combinations (2018)",
    ),
    ("anonymize", "GAPS_REGION"): (
        "from the identifiers",
        "Western Canada",
        "Central Canada",
        "Eastern Canada",
        "custom",
    ),
    ("anonymize", "SITE_LOCATION"): (
        "balanced density",
        "anonymity-driven clustering",
        "anonymity-driven clustering (2015)",
        "random",
        "split and merge",
    ),
    ("anonymize", "AGGREGATION"): (
        "basic Voronoi",
        "iterative Voronoi",
        "site optimisation",
        "alternating location-allocation",
        "transportation-location",
    ),
    ("anonymize", "RELEASE"): ("one level", "nested levels"),
    ("anonymize", "FINEST"): ("areas", "configuration"),
    ("anonymize", "LOSS"): ("mean distance", "non-uniform entropy"),
    ("releaserecords", "LOSS"): ("mean distance", "non-uniform entropy"),
    ("anonymize", "DISCLOSURE"): ("a class has k", "no small count follows"),
    ("anonymize", "TIES"): ("fixed", "secret"),
    ("updaterelease", "UPDATE"): ("a further period", "the same people updated"),
    ("updaterelease", "FOLLOWED"): ("held back", "shown"),
    ("releaserecords", "TIES"): ("fixed", "secret"),
    ("locateallocate", "METHOD"): ("alternating location-allocation", "transportation-location"),
    ("partitioncells", "NEIGHBOURS"): ("edge", "edge or corner", "within a distance"),
    ("donutmask", "DISTANCE"): ("uniform in distance", "uniform in area"),
}
DEFAULTS = {
    "K": 5,
    "COMBINATION": "all-rounder",
    "UNMATCHED": "stop",
    "SEED": 0,
    "GAPS_REGION": "from the identifiers",
    "RELEASE": "one level",
    "FINEST": "areas",
    "COARSEST": 1,
    "RATIO": 2,
    "LEAST_POPULATION": 0,
    "LOSS": "mean distance",
    "DISCLOSURE": "a class has k",
    "CLOSED_BY_CHANCE": 0.2,
    "LEAST_LEFT_AREAS": 0,
    "LEAST_LEFT_PEOPLE": 0,
    "TIES": "fixed",
}


def algorithm(name):
    return QgsApplication.processingRegistry().algorithmById(f"vbas:{name}")


@pytest.mark.slow
def test_the_toolbox_loads_without_what_engines_need():
    """These packages are optional: nothing may load them before a form of theirs runs."""
    code = """
import sys
for name in ("ibis", "duckdb", "pyarrow", "adbc_driver_postgresql"):
    sys.modules[name] = None
import vbas.algorithms.catalogue
print(len(vbas.algorithms.catalogue.ALGORITHMS))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert int(done.stdout or 0) > 20, done.stderr


@pytest.mark.parametrize("name", PROMISED)
def test_parameters_and_outputs_keep_their_names(provider, name):
    inputs, outputs = (set(text.split()) for text in PROMISED[name])
    found = algorithm(name)
    assert inputs <= {d.name() for d in found.parameterDefinitions() if not d.isDestination()}
    assert outputs <= {d.name() for d in found.outputDefinitions()}


@pytest.mark.parametrize(("name", "parameter"), CHOICES)
def test_choices_keep_their_words(provider, name, parameter):
    definition = algorithm(name).parameterDefinition(parameter)
    assert set(CHOICES[name, parameter]) <= set(definition.options())
    assert definition.usesStaticStrings()


def test_models_keep_their_names_and_inputs(provider):
    """What a model of one level asks for has an effect in it: levels are for the nested one."""
    common = set(f"{REGIONS} {RECORDS} K KEEP_FIELDS UNMATCHED SITE_LOCATION AGGREGATION CAPACITY_FACTOR SEED".split())
    of_levels = {*LEVELS.split(), "LOSS", *HELD_AGAINST.split()}
    inputs = {name: {parameter.name() for parameter in algorithm(name).parameterDefinitions()} for name in TITLES}
    assert common | {"COMBINATION", *NUMBER.split()} <= inputs["anonymizestepbystep"]
    assert not (of_levels | {"RELEASE", "FINEST"}) & inputs["anonymizestepbystep"]
    assert common | of_levels <= inputs["nestedstepbystep"]
    assert not {"RELEASE", "FINEST", "COMBINATION", "SITE_NUMBER"} & inputs["nestedstepbystep"]
    of_place = {"CONNECTION", "SCHEMA", "TABLE", "FILTER", "DESTINATION", "RELEASE", "RULE", "PERSON_ID", "DISCLOSURE"}
    assert of_place | {"REGIONS", "RECORD_REGION", "QUASI_IDENTIFIERS", "K"} <= inputs["inplacestepbystep"]
    assert not {"RECORDS", "PROFILE", "CROSSWALK", "COMBINATION"} & inputs["inplacestepbystep"]


def test_defaults(provider):
    for parameter, value in DEFAULTS.items():
        assert algorithm("anonymize").parameterDefinition(parameter).defaultValue() == value


def test_every_algorithm_explains_itself(provider):
    for found in provider.algorithms():
        icon = ICONS / f"{found.name()}.svg"
        if found.name() in TITLES:  # a model has the icon of the plugin, and the help of its steps
            continue
        assert icon.is_file(), icon
        assert len(found.shortHelpString()) > 300, found.name()
        for definition in found.parameterDefinitions():
            assert definition.help(), (found.name(), definition.name())
            assert "(optional)" not in definition.description()
            if definition.isDestination() and definition.type() == "sink":
                label = definition.description()
                assert any(f"({kind})" in label for kind in ("for release", "internal", "test data", "estimate")), label


def _declared_by(algorithm):
    parameters = [
        (one.type(), one.isDestination(), one.metadata(), one.help(), one.toVariantMap())
        for one in algorithm.parameterDefinitions()
    ]
    return parameters, [(one.type(), one.name(), one.description()) for one in algorithm.outputDefinitions()]


def test_a_form_that_is_made_again_declares_what_it_declared_first(provider):
    forms = [form for form in provider.algorithms() if isinstance(form, base.VbasAlgorithm)]
    assert forms
    for form in forms:
        base._declared.pop(form.ID, None)
        assert _declared_by(form.create()) == _declared_by(form.create()), form.ID
