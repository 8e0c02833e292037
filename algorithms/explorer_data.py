"""What the dock looks at: read as the main algorithm reads it, and made into the regions that it would make.

Everything begins with the parameters of the main algorithm, those that a run with the same regions is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from qgis.core import QgsApplication, QgsMapLayer, QgsProcessingContext, QgsProcessingFeedback, QgsProject

from ..core.account import Account
from ..core.aggregation import APPROACHES as AGGREGATIONS
from ..core.anonymise import rate
from ..core.approach import choosing_sites
from ..core.areas import Areas
from ..core.ask import Ask
from ..core.configuration import CUSTOM, RECOMMENDED, Configuration
from ..core.crosswalk import Crosswalk
from ..core.dataclass import dataclass
from ..core.errors import VbasError
from ..core.evaluation import ByValue, Measures, RegionAudit
from ..core.job import configuring
from ..core.job.asking import rated, terms_as_asked
from ..core.job.levels import level_options_of
from ..core.job.making import READ, aggregations_used, estimated, need_neighbours
from ..core.job.rules import hold_before_a_place
from ..core.job.values import CONFIGURATION, NESTED, ONE_LEVEL
from ..core.levels import Levels
from ..core.nesting.making import LevelOptions, build_levels
from ..core.profile import Profile
from ..core.progress import Progress, part
from ..core.records.columns import Column
from ..core.records.matching import Records
from ..core.region_account import RegionAccount, account_of_region
from ..core.source import RecordSource
from ..core.suppression import Terms
from ..core.trade_off.curve import Curve
from ..core.trade_off.nested_curve import NestedCurve
from .form import regions
from .form.areas import areas_of
from .form.effective import Effective
from .form.form import Form
from .form.records import populated, records_of
from .form.refusals import problem_of
from .form.understanding import as_spelled, understood, with_labels
from .layers.inputs import Inputs
from .layers.shapes.areas import AreaLayer
from .layers.tables import Table

MAIN = "vbas:anonymize"


@dataclass(frozen=True)
class Choices:
    """What is chosen once for all numbers of regions.

    k : the smallest class allowed; combination : a key of RECOMMENDED, or CUSTOM; site_location, aggregation : the
    approaches, for CUSTOM; nested : whether a release has nested levels, the finest of them the regions
    """

    k: int
    combination: str
    site_location: str = ""
    aggregation: str = ""
    nested: bool = False

    def parameters(self, n_sites: int) -> dict[str, object]:
        """What the main algorithm is given to make so many regions."""
        chosen = RECOMMENDED.get(self.combination, self)
        values: dict[str, object] = {
            "K": self.k,
            "COMBINATION": CUSTOM,
            "SITE_NUMBER": "given number",
            "N_SITES": n_sites,
            "AGGREGATION": chosen.aggregation,
            "RELEASE": NESTED if self.nested else ONE_LEVEL,
        }
        if chosen.aggregation not in choosing_sites(AGGREGATIONS):
            values["SITE_LOCATION"] = chosen.site_location
        if self.nested:
            values["FINEST"] = CONFIGURATION
        return values


@dataclass(frozen=True)
class Settings:
    """The choices as core takes them.

    ask : what is asked of every class; own : the configuration that chooses its number of regions itself
    """

    ask: Ask
    configuration: Configuration
    own: Configuration
    levels: LevelOptions

    @property
    def k(self) -> int:
        """The smallest class allowed."""
        return self.ask.k

    @property
    def nested(self) -> bool:
        """Whether rows say their level."""
        return bool(self.ask.nested)

    @property
    def needs_neighbours(self) -> bool:
        """Whether the aggregation looks at which areas share a border."""
        return AGGREGATIONS[self.configuration.aggregation].neighbours


@dataclass(frozen=True, eq=False)
class ExplorerData:
    """What was read: the layer of areas; the areas with the population to balance; the records, matched with them."""

    layer: AreaLayer
    areas: Areas
    records: Records

    @property
    def profile(self) -> Profile:
        """The records by area and class."""
        return self.records.profile

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the records."""
        return self.records.warnings

    def with_neighbours(self, progress: Progress) -> ExplorerData:
        """The same, knowing which areas share a border."""
        if self.areas.neighbours is not None:
            return self
        layer = self.layer.with_neighbours(progress)
        return replace(self, layer=layer, areas=replace(self.areas, neighbours=layer.areas.neighbours))

    def terms(self, ask: Ask) -> Terms:
        """What is asked of a release, as the main algorithm counts what it suppresses: of persons and sensitive values
        too, where records have them."""
        return terms_as_asked(ask, self.records)


@dataclass(frozen=True, eq=False)
class Shown:
    """Regions to be shown: of one level, or of nested ones. table : the layer that shows them, internal; lost : who is
    suppressed, by group"""

    n_sites: int
    levels: Levels
    measures: Measures
    audit: RegionAudit
    table: Table
    lost: ByValue

    def position(self, level: int, number: int) -> tuple[Crosswalk, int]:
        """The crosswalk of a level, 0-based, and the position in it of the region of a public number."""
        crosswalk = self.levels.crosswalks[level]
        return crosswalk, int(np.flatnonzero(crosswalk.numbers == number)[0])


class Reading:
    """The data of one look. Made in the thread of the window; read in another one.

    parameters : of the main algorithm. Raises VbasError where the toolbox does not have it.
    """

    def __init__(self, parameters: Mapping[str, object]) -> None:
        self._algorithm = QgsApplication.processingRegistry().createAlgorithmById(MAIN)
        if self._algorithm is None:
            raise VbasError.saying("VBAS is not in the toolbox: switch the plugin off and on again under Plugins.")
        # Without the project, whose variables QGIS makes anew for whoever asks, in another thread too, while the map
        # asks for them in its own: the layers are given themselves, and all else that is needed of it.
        project = QgsProject.instance()
        self._context = QgsProcessingContext()
        self._context.setTransformContext(project.transformContext())
        self._context.setEllipsoid(project.ellipsoid())
        self._parameters = {name: project.mapLayer(str(value)) or value for name, value in parameters.items()}

    @property
    def layers(self) -> list[QgsMapLayer]:
        """What must stay in the project while this reads, or asks what fields are called."""
        return [value for value in self._parameters.values() if isinstance(value, QgsMapLayer)]

    def read(self, feedback: QgsProcessingFeedback) -> ExplorerData:
        """Read areas and records, and count these. Raises VbasError for all that cannot be used as it is."""
        form = self._form(feedback, spelled=True)
        layer = areas_of(form.job)
        records = records_of(form.job, layer.areas, form.whole("K"))
        return ExplorerData(layer, populated(layer, records), records)

    def settings(self, combination: str = CUSTOM) -> Settings:
        """The choices. Raises VbasError for those that do not go together."""
        form = self._form(QgsProcessingFeedback(), spelled=False)
        configuration = configuring.configuration_of(form.job)
        number = RECOMMENDED[combination].site_number if combination in RECOMMENDED else Configuration.site_number
        options = level_options_of(
            form.job, configuration.site_location, configuration.aggregation, configuration.aggregation_options
        )
        ask = rated(form.job, form.text("RELEASE") == NESTED)
        return Settings(ask, configuration, replace(configuration, site_number=number), options)

    def account(self, explorer_data: ExplorerData, feedback: QgsProcessingFeedback) -> Account:
        """What the run of the main algorithm with these parameters would give, of data that were read before. Raises
        VbasError for what it refuses, and for what a policy of the house does not have."""
        form = self._form(feedback, spelled=True)
        hold_before_a_place(form.job)
        if need_neighbours(aggregations_used(form.job)):
            explorer_data = explorer_data.with_neighbours(form.progress(0, READ))
        return estimated(form.job, explorer_data.areas, RecordSource(explorer_data.records))

    def columns(self, table: str, names: Sequence[str], feedback: QgsProcessingFeedback) -> dict[str, Column]:
        """Fields of a table as columns; table : REGIONS or RECORDS. Raises VbasError."""
        return dict(self._form(feedback, spelled=False).job.columns(table, names))

    def problem(self, error: Exception) -> str:
        """An error in one sentence, as the main algorithm says it."""
        return problem_of(self._algorithm, error)

    def in_words_of_the_form(self, sentence: str) -> str:
        """A sentence of core that names parameters, as the main algorithm says it."""
        return with_labels(self._algorithm, sentence)

    def _form(self, feedback: QgsProcessingFeedback, spelled: bool) -> Form:
        """The form of the main algorithm, for reading alone; spelled : with fields named as their layers do."""
        algorithm, context = self._algorithm, self._context
        inputs = Inputs(algorithm, understood(algorithm, self._parameters, context), context)
        inputs = algorithm.with_rule_minimums(as_spelled(inputs)) if spelled else inputs
        return Form(inputs, feedback, Effective(inputs, algorithm.conditions(), {}))


def regions_shown(
    explorer_data: ExplorerData, curve: Curve, settings: Settings, n_sites: int, progress: Progress
) -> Shown:
    """The regions of a number of sites, rated and drawn; progress raises to cancel."""
    layer, areas, records = explorer_data.layer, explorer_data.areas, explorer_data.records
    aggregation = curve.aggregation(n_sites, part(progress, 0.0, 0.3))
    levels = Levels((aggregation.crosswalk,))
    if settings.nested:
        step = part(progress, 0.3, 0.5)
        levels = build_levels(areas, records.profile, aggregation.crosswalk, settings.levels, step)
    account = rate(areas, records, levels, settings.ask, aggregation.sites, part(progress, 0.5, 0.7))
    drawn = regions.drawn_regions(layer, levels, part(progress, 0.7, 1.0))
    table = regions.audit_table(drawn, levels, settings.nested, account.audit)
    return Shown(n_sites, levels, account.measures, account.audit, table, account.by_value)


def curve_of(explorer_data: ExplorerData, settings: Settings) -> Curve:
    """The curve of one level."""
    terms = explorer_data.terms(settings.ask)
    return Curve(explorer_data.areas, explorer_data.profile, settings.configuration, terms)


def nested_curve_of(explorer_data: ExplorerData, curve: Curve, settings: Settings) -> NestedCurve:
    """The line of nested levels over the regions of a curve; settings : of a nested release."""
    return NestedCurve(explorer_data.areas, explorer_data.records, curve, settings.ask, settings.levels)


def account_of(explorer_data: ExplorerData, settings: Settings, shown: Shown, level: int, number: int) -> RegionAccount:
    """What is told of one region: level, 0-based, and its public number."""
    crosswalk, region = shown.position(level, number)
    requirement = explorer_data.terms(settings.ask).requirement
    areas, profile = explorer_data.areas, explorer_data.profile
    return account_of_region(areas, profile, crosswalk, region, settings.k, requirement)
