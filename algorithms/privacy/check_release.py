"""Any table that is to be published, checked."""

from __future__ import annotations

from dataclasses import replace

from qgis.core import QgsProcessingException, QgsProcessingParameterDefinition, QgsProcessingParameterFile

from ...core import counted
from ...core.language import as_data, plural, tr
from ...core.package.checking import Claim
from ...core.privacy.checking import ReleaseCheck, check_release
from ...core.report.certificate import not_by_the_method
from ...core.report.certificate import verdict as tried
from ...core.report.checking import certificate_of_check, check_report, is_nested
from ...core.tables.privacy import CHECK
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.guarantees import PROTECTION, k_parameter, protection_parameters
from ..form.layer_chooser import RELEASED, propose_layer
from ..form.provenance import provenance_of
from ..form.records import record_count
from .checked import check_table_of, table_to_check

FOLDER = "RELEASE_FOLDER"
# What a folder says itself.
OF_A_TABLE = ("RECORDS", "QUASI_IDENTIFIERS", "RECORD_COUNT", "PERSON_ID", "HOUSEHOLD_ID", "SENSITIVE")


class CheckRelease(VbasAlgorithm):
    """`vbas:checkrelease`."""

    ID = "checkrelease"
    TAGS = as_data("risk,audit,l-diversity,t-closeness")
    SUMMARY = tr(
        "Checks any table of person records before it is published: k, l, t, risk, and what further fields reveal."
    )
    HELP = tr(
        "<p>How well does a table hide people? Records that share all quasi-identifiers make a class; the smallest "
        "class, what the members of a class have in common, and the risk of being recognised (1 / class) are reported, "
        "with every class that falls short. The other fields are looked at for values that single out a person or "
        "refine a quasi-identifier.</p><p>The table may come from here or from anywhere. Name every field that an "
        "outsider could know, the region it shows (vbas_level, vbas_region) included: the check is no better than that "
        "choice.</p><p>Headless, the run ends with an error where classes fall short, after its outputs are written; "
        "untick “End with an error” to go on.</p><p>Give a folder that RELEASE_FOLDER wrote, and everything that it "
        "claims is looked at.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            shared.optional(
                propose_layer(
                    shared.source("RECORDS", tr("Table to check"), tr("The records as they are to be published.")),
                    RELEASED,
                )
            ),
            shared.field(
                "QUASI_IDENTIFIERS",
                tr("Quasi-identifiers"),
                "RECORDS",
                tr("What an outsider could know about a person, the region that the table shows included."),
                several=True,
                optional=True,
            ),
            folder_to_check(),
            record_count(numeric=True),
            k_parameter(),
            *protection_parameters(),
            *(shared.optional(shared.advanced(parameter)) for parameter in area_parameters(with_population=False)),
            shared.yes(
                "STOP", tr("Stop with an error where classes fall short"), True, tr("So that a script stops there too.")
            ),
            shared.sink(CHECK, optional=True),
            shared.report(tr("A page with the verdict, the risk, and what the other fields reveal.")),
        )
        self.addNumbers(
            K_FOUND=tr("People in the smallest class"),
            L_FOUND=tr("Fewest sensitive values in a class"),
            T_FOUND=tr("Largest distance of a class from the table"),
            N_BELOW=tr("Records in classes that fall short"),
            LARGEST_RISK=tr("Largest risk"),
            MEAN_RISK=tr("Mean risk"),
            N_BROKEN=tr("Claims of the folder that do not hold"),
        )

    def conditions(self) -> Conditions:
        return {
            **{name: [{**given, FOLDER: GIVEN} for given in PROTECTION[name]] for name in PROTECTION},
            **{name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "AREA_POINT")},
            **{name: [{FOLDER: NOT_GIVEN}] for name in OF_A_TABLE},
        }

    def work(self, form: Form) -> dict[str, object]:
        table = table_to_check(form)
        areas = areas_of(form).areas if form.given("REGIONS") else None
        quasi, k = table.quasi, table.k
        check = check_release(
            quasi,
            table.others,
            k,
            table.members,
            table.sensitive,
            table.l_diversity,
            table.max_share,
            areas,
            table.counts,
        )
        said = tuple(claim_sentence(claim) for claim in table.broken)
        check = replace(check, problems=(*check.problems, *said))
        form.outputs.add("CHECK", check_table_of(table, check))
        form.outputs.add_text("REPORT", lambda: check_report(check, k, quasi, provenance_of(form)))
        form.info(*(f"{claim.name}: {claim.says}" for claim in table.claims if claim.holds))
        form.warn(*(f"{claim.name}: {claim.says}" for claim in table.claims if claim.holds is None))
        form.warn(*check.problems, *(text for field in check.kept for text in (field.refusal, field.warning) if text))
        form.info(verdict(check, k), tried(certificate_of_check(check, k)))
        if is_nested(quasi):
            form.info(not_by_the_method(k))
        if form.yes("STOP") and (check.classes_below or said):
            form.outputs.deliver()
            raise QgsProcessingException(" ".join([*said, *([verdict(check, k)] if check.classes_below else [])]))
        numbers = {"K_FOUND": check.k_found, "N_BELOW": check.records_below, "LARGEST_RISK": check.largest_risk}
        diversity = {} if check.l_found is None else {"L_FOUND": check.l_found, "T_FOUND": check.t_found}
        claims = {"N_BROKEN": len(said)} if table.claims else {}
        return {**numbers, "MEAN_RISK": check.mean_risk, **diversity, **claims}


def folder_to_check() -> QgsProcessingParameterDefinition:
    """RELEASE_FOLDER."""
    folder = QgsProcessingParameterFile(
        FOLDER, tr("Folder of a release"), QgsProcessingParameterFile.Behavior.Folder, optional=True
    )
    return shared.described(
        folder,
        tr(
            "In place of a table: a folder that RELEASE_FOLDER wrote. Its description says which fields are "
            "quasi-identifiers and what was asked; every claim that it makes is looked at: content hashes, types and "
            "values, k, that levels nest, and what is counted for each region."
        ),
    )


def claim_sentence(claim: Claim) -> str:
    """What is said of a claim that does not hold."""
    return tr("The folder is not what it says ({claim}): {says}", claim=claim.name, says=claim.says)


def verdict(check: ReleaseCheck, k: int) -> str:
    """One sentence."""
    if not check.classes_below:
        return tr("Every class has at least {k} people; the smallest has {smallest}.", k=k, smallest=check.k_found)
    return plural(
        "{n} class with {records} falls short of what is asked; the smallest has {people}. "
        "Coarser quasi-identifiers or larger regions, or leaving these records out, mend "
        "that.",
        "{n} classes with {records} fall short of what is asked; the smallest has {people}. "
        "Coarser quasi-identifiers or larger regions, or leaving these records out, mend "
        "that.",
        check.classes_below,
        records=counted.records(check.records_below),
        people=counted.people(check.k_found),
    )
