"""The main job in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qgis.core import QgsProcessingParameterDefinition

from ..core.areas import Areas
from ..core.configuration import CUSTOM
from ..core.job.conditions import of_settings
from ..core.job.configuring import settled_by_combination
from ..core.job.making import aggregations_used, is_nested, released
from ..core.language import as_data, tr
from ..core.records.matching import Records
from ..core.source import RecordSource, Source
from .form import approaches, regions
from .form import parameters as shared
from .form.areas import area_parameters, areas_of, with_neighbours
from .form.effective import Conditions
from .form.form import FormJob
from .form.guarantees import k_parameter, periods
from .form.job_file import job_file
from .form.public_report import public_report_parameter
from .form.records import populated, record_parameters, records_of, released_fields
from .form.release import CONDITIONS as IN_A_FOLDER
from .form.release import release_folder, release_folder_settings, released_records, ties
from .form.signing import sign_page_parameter, signing_conditions, signing_parameters
from .handed_over import Handed, Releasing
from .layers.inputs import Inputs
from .nested import disclosure
from .nested import levels as nested_levels
from .nested.levels import NUMBERS
from .privacy import earlier
from .privacy.rule import rule_parameter

CONDITIONS: Conditions = {**of_settings(), **IN_A_FOLDER, **signing_conditions()}


class Anonymize(Releasing):
    """`vbas:anonymize`."""

    ID = "anonymize"
    TAGS = as_data("suppression,release,voronoi,aggregation")
    SUMMARY = tr("Merges areas into small compact regions and releases the records that are k-anonymous there.")
    HELP = tr(
        "<p>Takes small areas and a table of person records, and merges the areas along a Voronoi diagram into small "
        "compact regions. Each record then shows its region in place of its area; those that fewer than k people in "
        "a region share are left out. What is written is recounted before it reaches its place.</p>"
        "<p>With “nested levels” each record shows the smallest of several nested regions in which k people hide it: "
        "only what is too rare everywhere is suppressed.</p>"
        "<p>Start with “all-rounder” and look at the report: too much suppression calls for coarser quasi-identifiers "
        "or fewer regions.</p>"
        "<p>Outputs marked “for release” may be published under your rules; those marked “internal” may not: "
        "suppressed counts could be derived from them.</p><p>Croft et al. 2015, 2018.</p>"
    )

    ABOUT_REPORT = tr(
        "A page for a privacy officer: the verdict, what it means for a person, who is "
        "suppressed, maps before and after, what was read, and the command that does it again."
    )
    IN_PLACE = False  # whether the records are in an engine, and no layer

    def of_areas_and_records(self) -> Iterable[QgsProcessingParameterDefinition]:
        """Where the areas and the records are, and their fields."""
        yield from area_parameters()
        yield from record_parameters()

    def of_what_is_released(self) -> Iterable[QgsProcessingParameterDefinition]:
        """What is released beside quasi-identifiers, and what is held against."""
        yield from released_fields()

    def of_rows(self) -> QgsProcessingParameterDefinition:
        """Where the released rows go."""
        return released_records()

    def declare(self) -> None:
        self.addParameters(
            *self.of_areas_and_records(),
            k_parameter(),
            periods(),
            approaches.combination(),
            nested_levels.release_kind(),
            rule_parameter(),
            *self.of_what_is_released(),
            *shared.for_whom(tr("Custom only"), approaches.single_choices(self.IN_PLACE)),
            nested_levels.least_population(),
            *shared.for_whom(
                tr("Nested levels only"),
                [
                    *disclosure.disclosure_parameters(),
                    *nested_levels.level_parameters(),
                    nested_levels.loss(),
                    nested_levels.levels_coarser(),
                ],
            ),
            shared.seed(),
            *shared.for_whom(tr("Earlier releases"), earlier.register_parameters()),
            ties(),
            *release_folder_settings(),
            *signing_parameters(),
            self.of_rows(),
            *regions.region_outputs(),
            shared.report(self.ABOUT_REPORT),
            sign_page_parameter(),
            public_report_parameter(),
            release_folder(),
            *(() if self.IN_PLACE else (job_file(),)),
        )
        self.addNumbers(**regions.NUMBERS, **NUMBERS)

    def conditions(self) -> Conditions:
        return CONDITIONS

    def group_title(self, inputs: Inputs) -> str:
        regions_of = tr("Nested regions") if inputs.text("RELEASE") == nested_levels.NESTED else tr("Regions")
        method = inputs.text("COMBINATION")
        if method == CUSTOM:
            method = f"{method}: {inputs.text('SITE_LOCATION')}, {inputs.text('AGGREGATION')}"
        return f"{regions_of}, k = {inputs.whole('K')}, {method}"

    def settled(self, inputs: Inputs) -> Mapping[str, object]:
        return settled_by_combination(FormJob(inputs))

    def made(self, job: FormJob) -> Handed:
        is_nested(job)  # which raises for what cannot go together
        layer = with_neighbours(job, areas_of(job), aggregations_used(job))
        records = records_of(job, layer.areas, job.whole("K"))
        source = self.source(job, records, layer.areas)
        return Handed(released(job, populated(layer, records), source, records.notes), layer)

    def source(self, job: FormJob, records: Records, areas: Areas) -> Source:
        """The records, with what belongs to them."""
        return RecordSource(records)
