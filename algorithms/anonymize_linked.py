"""Persons and the tables that belong to them, in one step."""

from __future__ import annotations

from ..core.job.making import aggregations_used, is_nested, released
from ..core.language import as_data, tr
from .anonymize import Anonymize
from .form import approaches, published, regions
from .form import parameters as shared
from .form.approaches import conditions_with_costs
from .form.areas import area_parameters, areas_of, with_neighbours
from .form.effective import GIVEN, Condition, Conditions
from .form.form import FormJob
from .form.generalising import CONDITIONS as GENERALISING
from .form.guarantees import OVER_TIME, k_parameter, periods
from .form.job_file import job_file
from .form.linked import linked_of, linked_parameters, released_tables
from .form.public_report import public_report_parameter
from .form.records import populated, record_parameters, records_of, released_fields
from .form.release import CONDITIONS as IN_A_FOLDER
from .form.release import release_folder, release_folder_settings, ties
from .form.signing import sign_page_parameter, signing_conditions, signing_parameters
from .handed_over import Handed, Releasing
from .nested import disclosure
from .nested import levels as nested_levels
from .nested.levels import NUMBERS
from .privacy import earlier
from .privacy.rule import FollowsRules, rule_parameter

NOT_YET = ("RECORD_COUNT", "PERSON_ID")  # a row is a person


class AnonymizeLinked(Releasing, FollowsRules):
    """`vbas:anonymizelinked`."""

    ID = "anonymizelinked"
    TAGS = as_data("suppression,release,relational,join,stays,prescriptions")
    SUMMARY = tr("Releases persons and the tables that belong to them, k-anonymously together, in one geography.")
    HELP = tr(
        "<p>Takes a table of persons, one row each, and tables that belong to them by a key, such as stays, drugs or "
        "tests. The persons are released as “Anonymise records” does it; a person is in one region in all "
        "tables.</p><p>A person's rows of a linked table are shown where at least k people are alike in all that "
        "others may know of them, in all tables together. Elsewhere they are left out, and the person's row "
        "says so. Nobody is suppressed because of a linked table.</p><p>Name few and coarse fields as known, and "
        "choose a k that is larger than LINKED_K: then more rows are shown. The report says how many.</p>"
        "<p>Outputs marked “for release” may be published under your rules; those marked “internal” may not.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            *area_parameters(),
            *(parameter for parameter in record_parameters() if parameter.name() not in NOT_YET),
            *linked_parameters(),
            k_parameter(),
            periods(),
            approaches.combination(),
            nested_levels.release_kind(),
            rule_parameter(),
            *(parameter for parameter in released_fields() if parameter.name() not in NOT_YET),
            *shared.for_whom(tr("Custom only"), approaches.single_choices()),
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
            released_tables(),
            *regions.region_outputs(),
            shared.report(
                tr(
                    "A page for a privacy officer: the verdict, what it means for a person, who is suppressed, which "
                    "rows of the linked tables are shown, and the command that does it again."
                )
            ),
            sign_page_parameter(),
            public_report_parameter(),
            release_folder(),
            job_file(),
        )
        self.addNumbers(**regions.NUMBERS, **NUMBERS)

    def conditions(self) -> Conditions:
        asked: Condition = {"SENSITIVE": GIVEN, "LINKED_SENSITIVE": GIVEN}
        tied: Condition = {
            "RELEASE": [nested_levels.NESTED],
            "PUBLISHED_MARGINS": GIVEN,
            "PUBLISHED_COUNTS": GIVEN,
            "REGISTER_ACTION": [earlier.REPAIR],
        }
        own: Conditions = {
            **nested_levels.conditions(),
            **disclosure.CONDITIONS_OF_RELEASE,
            **nested_levels.COARSER,
            "L_DIVERSITY": [asked],
            "MAX_SHARE": [asked],
            **OVER_TIME,
            **GENERALISING,
            **earlier.CONDITIONS,
            **published.CONDITIONS,
            **IN_A_FOLDER,
            **signing_conditions(),
            "TIES": [tied],
        }
        conditions: Conditions = {**approaches.conditions_with_combination(), **own}
        return conditions_with_costs(
            conditions, {"RELEASE": [nested_levels.ONE_LEVEL], nested_levels.LEVELS_COARSER: GIVEN}
        )

    group_title = Anonymize.group_title
    settled = Anonymize.settled

    def made(self, job: FormJob) -> Handed:
        is_nested(job)
        layer = with_neighbours(job, areas_of(job), aggregations_used(job))
        records = records_of(job, layer.areas, job.whole("K"))
        source = linked_of(job, records, layer.areas)
        return Handed(released(job, populated(layer, records), source, records.notes), layer)
