"""Write the models: the steps chained, for a release of one level, of nested levels, in place, and for each month.

Run it again when an algorithm's parameters or the recommended combinations change, with QGIS 3.22 (Debian 12):
    PYTHONPATH=build/package QT_QPA_PLATFORM=offscreen .venv/bin/python scripts/make_model.py [FOLDER]
The same forms make the same bytes. Later versions read what 3.22 writes and keep its names; what they write themselves
names the outputs otherwise.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsProcessingModelAlgorithm,
    QgsProcessingModelChildAlgorithm,
    QgsProcessingModelChildDependency,
    QgsProcessingModelChildParameterSource,
    QgsProcessingModelGroupBox,
    QgsProcessingModelOutput,
    QgsProcessingModelParameter,
    QgsProcessingParameterDefinition,
    QgsProcessingProvider,
)
from qgis.PyQt.QtCore import QPointF, QSizeF
from qgis.PyQt.QtGui import QColor

from vbas.algorithms.named import GROUPS
from vbas.core.approach import using_setting
from vbas.core.configuration import CUSTOM, RECOMMENDED
from vbas.core.site_number import APPROACHES as SITE_NUMBERS
from vbas.core.tables import table_of

FOLDER = Path(__file__).resolve().parent.parent / "models"
# The oldest QGIS that the plugin runs in: what it writes, all of them read.
WRITTEN_BY = "3.22"
OPTIONAL = QgsProcessingParameterDefinition.Flag.FlagOptional
REGIONS = ("REGIONS", "REGION_ID", "POPULATION", "AREA_POINT")
COARSER = ("GENERALISE", "HIERARCHIES", "HIERARCHY_RULES")
RECORDS = ("RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "RECORD_COUNT", *COARSER)
PROTECTION = ("PERSON_ID", "HOUSEHOLD_ID", "SENSITIVE", "L_DIVERSITY", "MAX_SHARE")
NUMBER = ("GAPS_REGION", "GAPS_COEFFICIENT", "GAPS_EXPONENT", "LOG_BASE", "CUTOFF", "N_SITES", "BUDGET", "FAIR")
LEVELS = ("COARSEST", "RATIO", "LEVEL_FIELDS", "LEAST_POPULATION")
APPROACHES = ("SITE_LOCATION", "AGGREGATION", "CAPACITY_FACTOR")
OF_NESTED = ("LOSS", "DISCLOSURE", "CLOSED_BY_CHANCE", "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE")
OVER_TIME = ("PERIOD", "PERIODS")
HELD = ("MORE_RECORDS", "HELD_PERCENT", "RESERVE")
START = ("START",)  # of clustering, which the combination leaves open
ASKED = ("K", "RULE", "KEEP_FIELDS", *PROTECTION, "PUBLISHED_MARGINS", "LEAST_POPULATION", *HELD[1:], *OF_NESTED[1:])
# What goes along wires: layers, tables and files, and, into the steps that release or say what a release is, what
# protects people or says who is released: the designer keeps a wire where an input is renamed. All other settings are
# taken by name, of which it draws none, and so are all in the steps that only make regions: those that come of others
# are no less safe, as it is the release that suppresses.
FILES = ("source", "multilayer", "file")
PROTECTING = (*ASKED, *COARSER, *OVER_TIME, "SCHEMA", "FILTER", "FOLLOWED", "ALIASES")
MAKING_REGIONS = ("sitenumber", "sitelocation", "aggregate", "nestlevels")


def setting(name: str) -> str:
    """The expression for what the user gave as an input of the model."""
    return f"parameter('{name}')"


@dataclass(frozen=True)
class Step:
    """One step: an algorithm and what it does.

    inputs : from the model; earlier : by input, the step and its output; chosen : inputs that the combination settles;
    outputs : those that the user sees; fixed : inputs that are the same in every run; reckoned : by an expression;
    after : steps that must be done before, though nothing of theirs goes in
    """

    algorithm: str
    title: str
    inputs: tuple[str, ...]
    earlier: dict[str, tuple[str, str]]
    chosen: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    reckoned: Mapping[str, str] = field(default_factory=dict)
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chain:
    """One model. declared_by : algorithms whose parameters it takes over, each from the first that has it."""

    file: str
    name: str
    title: str
    help: str
    declared_by: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def inputs(self) -> set[str]:
        """The inputs that have an effect."""
        chosen = {name for step in self.steps for name in step.chosen}
        return {name for step in self.steps for name in step.inputs} | chosen | ({"COMBINATION"} if chosen else set())


ONE_LEVEL = Chain(
    "vbas_step_by_step.model3",
    "anonymizestepbystep",
    "Anonymise records, step by step",
    "The same job as “Anonymise records”, with every component as a step of its own: open it in the model designer, "
    "save a copy, and change or exchange steps. Inputs and outputs are those of “Anonymise records” with one level; "
    "the same inputs give the same crosswalk and the same release.",
    ("anonymize",),
    (
        Step(
            "sitenumber",
            "1 How many sites",
            (*REGIONS, *RECORDS, "K", *PROTECTION, "UNMATCHED", *NUMBER, *START, "FLOOR", "SEED"),
            {},
            ("SITE_NUMBER", *APPROACHES),
        ),
        Step(
            "sitelocation",
            "2 Where they go",
            (*REGIONS, *RECORDS, "K", "UNMATCHED", *START, "SEED"),
            {"N_SITES": ("sitenumber", "N_SITES")},
            ("SITE_LOCATION",),
        ),
        Step(
            "aggregate",
            "3 Which area joins which",
            (*REGIONS, *RECORDS, "K", "UNMATCHED", "FLOOR", "SEED"),
            {"SITES": ("sitelocation", "SITE_POINTS")},
            ("AGGREGATION", "CAPACITY_FACTOR", "BUDGET"),
            ("CROSSWALK", "RELEASED_REGIONS", "SITE_POINTS", "VORONOI"),
        ),
        Step(
            "releaserecords",
            "4 Suppress, release, and say what it cost",
            (*REGIONS, *RECORDS, "K", "KEEP_FIELDS", *PROTECTION, "PUBLISHED_MARGINS", "UNMATCHED"),
            {"CROSSWALK": ("aggregate", "CROSSWALK"), "SITES": ("aggregate", "SITE_POINTS")},
            outputs=("RELEASED_RECORDS", "REGION_AUDIT", "REPORT"),
        ),
    ),
)
NESTED = Chain(
    "vbas_nested_step_by_step.model3",
    "nestedstepbystep",
    "Anonymise records with nested levels, step by step",
    "The same job as “Anonymise records” with nested levels, step by step: open it in the model designer, save a copy, "
    "and change or exchange steps. With the same approaches and levels it gives the same crosswalk and the same "
    "release; as it stands, those of the combination “all-rounder”.",
    ("evaluate", "releaserecords", "nestlevels"),
    (
        Step(
            "nestlevels",
            "1 Regions within regions",
            (*REGIONS, *RECORDS, "PERIOD", "K", *PROTECTION, "UNMATCHED", *LEVELS, *APPROACHES, *START, "SEED", *HELD),
            {},
            outputs=("CROSSWALK", "RELEASED_REGIONS"),
        ),
        Step(
            "releaserecords",
            "2 The finest that hides, released and rated",
            (
                *REGIONS,
                *RECORDS,
                *OVER_TIME,
                "K",
                "KEEP_FIELDS",
                *PROTECTION,
                "PUBLISHED_MARGINS",
                "UNMATCHED",
                *OF_NESTED,
            ),
            {"CROSSWALK": ("nestlevels", "CROSSWALK")},
            outputs=("RELEASED_RECORDS", "REGION_AUDIT", "REPORT"),
        ),
    ),
)
# Where records are that stay there; and how they are named in a line of text, not chosen from a layer.
PLACE = ("CONNECTION", "SCHEMA", "TABLE", "FILTER", "MEMORY")
FIELDS = ("RECORD_REGION", "QUASI_IDENTIFIERS")
IN_PLACE = Chain(
    "vbas_in_place_step_by_step.model3",
    "inplacestepbystep",
    "Anonymise records in a database, step by step",
    "Records that stay where they are: profiled there, anonymised here, released there. The engine counts the profile; "
    "the regions are found from it with the combination “all-rounder”, of one level or nested; the engine writes the "
    "release, unless the table was changed meanwhile. Open it in the model designer, save a copy, and change or "
    "exchange steps.",
    ("profiledatabase", "releasedatabase", "anonymize"),
    (
        Step("profiledatabase", "1 Count them where they are", (*PLACE, *FIELDS, "RECORD_COUNT", *COARSER), {}),
        Step(
            "anonymize",
            "2 Find the regions here",
            (*REGIONS, *FIELDS, "K", "RULE", "UNMATCHED", "RELEASE", *OF_NESTED, *LEVELS[:2], "GAPS_REGION", "SEED"),
            {"RECORDS": ("profiledatabase", "PROFILE")},
            outputs=("CROSSWALK", "RELEASED_REGIONS", "REGION_AUDIT", "REPORT"),
            fixed={"RECORD_COUNT": "records"},
        ),
        Step(
            "releasedatabase",
            "3 Release them where they are",
            (
                *(*PLACE, *FIELDS, "RECORD_COUNT", *COARSER, *REGIONS, "K", "RULE", "UNMATCHED", *OF_NESTED),
                *("KEEP_FIELDS", *PROTECTION, "DESTINATION"),
            ),
            {"CROSSWALK": ("anonymize", "CROSSWALK"), "PROFILE": ("profiledatabase", "PROFILE")},
            outputs=("RELEASE_REPORT",),
        ),
    ),
)
MONTHLY = Chain(
    "vbas_monthly_update.model3",
    "monthlyupdate",
    "Update a release each month, step by step",
    "Each month: “Update a release” with the records of now, under the regions of the release before; then all "
    "releases of the register are held against each other once more, by themselves; then the register is listed, with "
    "a map of the detail in which areas were released. Give the crosswalk and the register of the first month, which "
    "“Anonymise records” makes. Open it in the model designer, save a copy, and add what you do each month.",
    ("updaterelease", "checkreleases", "editregister"),
    (
        Step(
            "updaterelease",
            "1 Release this month",
            (
                *(*RECORDS, "PERIOD", "CROSSWALK", "CROSSWALK_ID", "REGISTER", "ENTRY", "UPDATE", "K"),
                *("KEEP_FIELDS", "PERSON_ID", "SENSITIVE", "L_DIVERSITY", "MAX_SHARE", "FOLLOWED", "UNMATCHED"),
                *(*REGIONS, "LOSS", "ALIASES"),
            ),
            {},
            outputs=("RELEASED_RECORDS", "RELEASE_REPORT"),
        ),
        Step(
            "checkreleases",
            "2 Hold all months against each other",
            ("REGISTER", "ALIASES", "HIERARCHIES", "HIERARCHY_RULES"),
            {},
            outputs=("PINNED", "REPORT"),
            after=("updaterelease",),
        ),
        Step(
            "editregister",
            "3 What the register has",
            ("REGISTER", "REGIONS", "REGION_ID"),
            {},
            outputs=("CONTENTS", "DETAIL"),
            after=("checkreleases",),
        ),
    ),
)
CHAINS = (ONE_LEVEL, NESTED, IN_PLACE, MONTHLY)
# What is asked first; all else is advanced, as in “Anonymise records”, whose order the inputs are in.
FIRST = (
    *("REGIONS", "REGION_ID", "POPULATION", "RECORDS", "RECORD_REGION", "QUASI_IDENTIFIERS", "K", "COMBINATION"),
    *("CONNECTION", "SCHEMA", "TABLE", "RELEASE", "DESTINATION", "CROSSWALK", "REGISTER", "UPDATE"),
)
# Inputs are drawn in two columns on the left, each group of them in a box, the steps down the middle.
GROUPED = (
    ("Areas", (*REGIONS, "LEVEL_FIELDS")),
    ("Records", (*PLACE, *RECORDS, *OVER_TIME, *HELD[:1], "UNMATCHED")),
    ("What is asked of a release", ASKED),
    ("The release before, and the register", ("CROSSWALK", "CROSSWALK_ID", "REGISTER", "ENTRY", "UPDATE", "FOLLOWED")),
    ("Where it goes", ("DESTINATION",)),
)
OTHERS = "How regions are made"
LEFT, SECOND, MIDDLE, RIGHT = 140, 400, 760, 1080
ROW, HEADING, BETWEEN = 75, 40, 20  # heights of a row of inputs and of a heading, and the space between two boxes
BOX = QColor(236, 239, 241)


def by_combination(name: str) -> str:
    """The expression that picks a single choice: the combination's own, or the user's for `custom`."""
    parts = {"SITE_NUMBER": "site_number", "SITE_LOCATION": "site_location", "AGGREGATION": "aggregation"}
    if name == "CAPACITY_FACTOR":  # the recommended transport heuristics have no limit
        return f"if({setting('COMBINATION')} = '{CUSTOM}', {setting(name)}, 0)"
    if name == "BUDGET":  # an exchange keeps within it where the number of sites does
        budgeted = ", ".join(f"'{number}'" for number in using_setting(SITE_NUMBERS, "budget"))
        return f"if({by_combination('SITE_NUMBER')} IN ({budgeted}), {setting(name)}, NULL)"
    cases = " ".join(
        # A combination by transport chooses its own sites; any location gives it their number.
        f"WHEN {setting('COMBINATION')} = '{key}' THEN '{getattr(c, parts[name]) or 'balanced density'}'"
        for key, c in RECOMMENDED.items()
    )
    return f"CASE {cases} ELSE {setting(name)} END"


def inputs_of(chain: Chain) -> list[QgsProcessingParameterDefinition]:
    """The inputs of a model as the algorithms declare them, in the order of the work; needed if any step needs them."""
    definitions: dict[str, QgsProcessingParameterDefinition] = {}
    needed = set()
    reckoned = {(step.algorithm, parameter) for step in chain.steps for parameter in step.reckoned}
    for name in chain.declared_by:
        for definition in definitions_of(name):
            if definition.name() in chain.inputs:
                definitions.setdefault(definition.name(), definition)
                if not definition.flags() & OPTIONAL and (name, definition.name()) not in reckoned:
                    needed.add(definition.name())
    order = [*PLACE, *(definition.name() for definition in definitions_of("anonymize")), *definitions]
    inputs = [input_of_model(definition, definition.name() in needed) for definition in definitions.values()]
    return sorted(inputs, key=lambda definition: order.index(definition.name()))


def definitions_of(algorithm: str) -> list[QgsProcessingParameterDefinition]:
    """The parameters of an algorithm of the provider."""
    return QgsApplication.processingRegistry().algorithmById(f"vbas:{algorithm}").parameterDefinitions()


def input_of_model(definition: QgsProcessingParameterDefinition, needed: bool) -> QgsProcessingParameterDefinition:
    """A parameter as an input of a model, which keeps none of the widgets of the form."""
    copy = definition.clone()
    copy.setMetadata({})
    advanced = QgsProcessingParameterDefinition.Flag.FlagAdvanced
    flags = definition.flags() & ~OPTIONAL if needed else definition.flags()
    copy.setFlags(flags & ~advanced if definition.name() in FIRST else flags | advanced)
    return copy


def help_of(chain: Chain, inputs: list[QgsProcessingParameterDefinition]) -> dict[str, str]:
    """The text of a model and of each of its inputs and outputs, by the names that QGIS 3.22 knows them by."""
    helps = {definition.name(): definition.help() for definition in inputs}
    for step in chain.steps:
        texts = {definition.name(): definition.help() for definition in definitions_of(step.algorithm)}
        for output in step.outputs:  # of a table what its rows are: of its fields the plugin knows
            table = table_of(output, texts[output])
            helps[f"{step.algorithm}:{output}"] = texts[output] if table is None else table.help
    return {**helps, "ALG_DESC": chain.help, "ALG_CREATOR": "The VBAS for QGIS developers"}


def make_model(chain: Chain) -> QgsProcessingModelAlgorithm:
    """The model as QGIS's object; the provider vbas must be registered."""
    registry = QgsApplication.processingRegistry()
    model = QgsProcessingModelAlgorithm(chain.title, GROUPS["anonymise"], "VBAS")
    model.setName(chain.name)
    inputs = inputs_of(chain)
    apart = max(210.0, draw_inputs(model, inputs) / len(chain.steps))  # from step to step
    model.setParameterOrder([model_input.name() for model_input in inputs])
    source = QgsProcessingModelChildParameterSource
    kinds = {model_input.name(): model_input.type() for model_input in inputs}
    for i, step in enumerate(chain.steps):
        algorithm = registry.algorithmById(f"vbas:{step.algorithm}")
        child = QgsProcessingModelChildAlgorithm(algorithm.id())
        child.setChildId(step.algorithm)
        child.setDescription(step.title)
        for parameter in step.inputs:
            protects = parameter in PROTECTING and step.algorithm not in MAKING_REGIONS
            wired = protects or kinds[parameter] in FILES
            taken = source.fromModelParameter(parameter) if wired else source.fromExpression(setting(parameter))
            child.addParameterSources(parameter, [taken])
        for parameter, (earlier, output) in step.earlier.items():
            child.addParameterSources(parameter, [source.fromChildOutput(earlier, output)])
        for parameter in step.chosen:
            child.addParameterSources(parameter, [source.fromExpression(by_combination(parameter))])
        for parameter, value in step.fixed.items():
            child.addParameterSources(parameter, [source.fromStaticValue(value)])
        for parameter, expression in step.reckoned.items():
            child.addParameterSources(parameter, [source.fromExpression(expression)])
        child.setDependencies([QgsProcessingModelChildDependency(earlier) for earlier in step.after])
        for name, default in defaults_of(step):
            child.addParameterSources(name, [source.fromStaticValue(default)])
        child.setPosition(QPointF(MIDDLE, 80 + apart * i))
        child.setSize(QSizeF(230, 40))
        results = {}
        for row, output in enumerate(step.outputs):
            result = QgsProcessingModelOutput(output, algorithm.parameterDefinition(output).description())
            result.setChildId(step.algorithm)
            result.setChildOutputName(output)
            result.setPosition(QPointF(RIGHT + 60, 80 + apart * i + 48 * row))
            result.setSize(QSizeF(270, 34))
            # The designer draws the name, which scripts hold on to; beside it what people call it.
            result.comment().setDescription(algorithm.parameterDefinition(output).description())
            result.comment().setPosition(QPointF(RIGHT + 370, 80 + apart * i + 48 * row))
            result.comment().setSize(QSizeF(280, 34))
            results[output] = result
        child.setModelOutputs(results)
        model.addChildAlgorithm(child)
        if not step.outputs:  # what the next step needs, and the user does not
            child.setModelOutputs({})
    model.setHelpContent(help_of(chain, inputs))
    return model


def draw_inputs(model: QgsProcessingModelAlgorithm, inputs: list[QgsProcessingParameterDefinition]) -> float:
    """Add the inputs to a model, each group in a box of its own, one below the other; how far down they go."""
    top = 20.0
    for title, group in grouped(inputs):
        for i, definition in enumerate(group):
            component = QgsProcessingModelParameter(definition.name())
            component.setPosition(QPointF(SECOND if i % 2 else LEFT, top + HEADING + ROW * (i // 2 + 0.5)))
            component.setSize(QSizeF(230, 46))
            model.addModelParameter(definition.clone(), component)
        height = HEADING + ROW * ((len(group) + 1) // 2)
        box = QgsProcessingModelGroupBox(title)
        box.loadVariant({**box.toVariant(), "uuid": f"vbas:{title}"})  # a drawn one would be another in each file
        box.setPosition(QPointF((LEFT + SECOND) / 2, top + height / 2))
        box.setSize(QSizeF(SECOND - LEFT + 260, height))
        box.setColor(BOX)
        model.addGroupBox(box)
        top += height + BETWEEN
    return top


def grouped(
    inputs: list[QgsProcessingParameterDefinition],
) -> list[tuple[str, list[QgsProcessingParameterDefinition]]]:
    """The inputs by what they are about, with the title of each group, in their order."""
    group_of = {name: title for title, names in GROUPED for name in names}
    titles = [*(title for title, _ in GROUPED), OTHERS]
    groups = [(title, [own for own in inputs if group_of.get(own.name(), OTHERS) == title]) for title in titles]
    return [(title, group) for title, group in groups if group]


def defaults_of(step: Step) -> Iterator[tuple[str, object]]:
    """What the step is not given and must have, by name, with its default: without it the designer draws it in red."""
    given = {*step.inputs, *step.earlier, *step.chosen, *step.fixed, *step.reckoned}
    for definition in definitions_of(step.algorithm):
        needless = definition.isDestination() or definition.flags() & OPTIONAL
        if definition.name() not in given and not needless:
            yield definition.name(), definition.defaultValue()


def start_qgis() -> tuple[QgsApplication, QgsProcessingProvider]:
    """QGIS without windows and this checkout's provider: both live as long as what is returned is kept."""
    application = QgsApplication([], False)
    application.initQgis()
    from vbas.vbas_plugin.provider import VbasProvider

    provider = VbasProvider()
    QgsApplication.processingRegistry().addProvider(provider)
    return application, provider


def write(chain: Chain, folder: Path) -> bool:
    """Write a model into a folder; whether it could be."""
    file = folder / chain.file
    if not make_model(chain).toFile(str(file)):
        return False
    # Qt gives the attributes of an element in another order in each process.
    file.write_bytes(ATTRIBUTES.sub(in_order, file.read_text(encoding="utf-8")).encode())
    return True


ATTRIBUTES = re.compile(r'(?<=<Option)( \w+="[^"]*")+')


def in_order(match: re.Match[str]) -> str:
    """The attributes of an element by name."""
    return "".join(sorted(re.findall(r' \w+="[^"]*"', match[0])))


def main(folder: Path = FOLDER) -> int:
    """Write the files."""
    if not Qgis.QGIS_VERSION.startswith(f"{WRITTEN_BY}."):
        print(
            f"QGIS {Qgis.QGIS_VERSION} would name the outputs of models otherwise: write them with QGIS {WRITTEN_BY}."
        )
        return 1
    kept = start_qgis()
    failed = 0
    for chain in CHAINS:
        written = write(chain, folder)
        print(folder / chain.file if written else f"{folder / chain.file} could not be written")
        failed += not written
    del kept
    return int(failed > 0)


if __name__ == "__main__":
    code = main(*map(Path, sys.argv[1:2]))
    sys.stdout.flush()
    # QGIS's own shutdown may crash once Python is being torn down.
    import os

    os._exit(code)
