"""Any table that is to be published, checked."""

from __future__ import annotations

from qgis.core import QgsProcessingException

from ...core import counted
from ...core.language import as_data, plural, tr
from ...core.privacy.checking import ReleaseCheck, check_release
from ...core.report.certificate import not_by_the_method
from ...core.report.certificate import verdict as tried
from ...core.report.checking import certificate_of_check, check_report, is_nested
from ...core.tables.privacy import CHECK
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..form.guarantees import PROTECTION, k_parameter, protection_parameters
from ..form.layer_chooser import RELEASED, propose_layer
from ..form.provenance import provenance_of
from ..form.records import record_count
from .checked import check_table_of, columns_of


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
        "untick “End with an error” to go on.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            propose_layer(
                shared.source("RECORDS", tr("Table to check"), tr("The records as they are to be published.")), RELEASED
            ),
            shared.field(
                "QUASI_IDENTIFIERS",
                tr("Quasi-identifiers"),
                "RECORDS",
                tr("What an outsider could know about a person, the region that the table shows included."),
                several=True,
            ),
            record_count(numeric=True),
            k_parameter(),
            *protection_parameters(),
            *(shared.optional(shared.advanced(parameter)) for parameter in area_parameters(with_population=False)),
            shared.yes(
                "STOP", tr("End with an error where classes fall short"), True, tr("So that a script stops there too.")
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
        )

    def conditions(self) -> Conditions:
        return {**PROTECTION, **{name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "AREA_POINT")}}

    def work(self, form: Form) -> dict[str, object]:
        quasi, others, members, sensitive, counts = columns_of(form)
        areas = areas_of(form).areas if form.given("REGIONS") else None
        k, distinct, share = form.whole("K"), form.whole("L_DIVERSITY"), form.number("MAX_SHARE")
        check = check_release(quasi, others, k, members, sensitive, distinct, share, areas, counts)
        form.outputs.add("CHECK", check_table_of(form, quasi, check))
        form.outputs.add_text("REPORT", lambda: check_report(check, k, quasi, provenance_of(form)))
        form.warn(*check.problems, *(text for field in check.kept for text in (field.refusal, field.warning) if text))
        certificate = certificate_of_check(check, k)
        form.info(verdict(check, k), tried(certificate))
        if is_nested(quasi):
            form.info(not_by_the_method(k))
        if form.yes("STOP") and check.classes_below:
            form.outputs.deliver()
            raise QgsProcessingException(verdict(check, k))
        numbers = {"K_FOUND": check.k_found, "N_BELOW": check.records_below, "LARGEST_RISK": check.largest_risk}
        diversity = {} if check.l_found is None else {"L_FOUND": check.l_found, "T_FOUND": check.t_found}
        return {**numbers, "MEAN_RISK": check.mean_risk, **diversity}


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
