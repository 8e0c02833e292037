"""Several releases of the same people, held against each other."""

from __future__ import annotations

from ...core.errors import InputError
from ...core.language import as_data, tr
from ...core.parameters import DEFAULT_K, SMALLEST_K
from ...core.releases.concluding import counts_rows, of_some_people
from ...core.releases.examining import examine_all
from ...core.releases.listing import rows_of
from ...core.report.certificate import not_by_the_method
from ...core.report.certificate import verdict as tried
from ...core.report.releases import certificate_of_all, nested_by_nobody_knows, releases_report, verdict
from ...core.tables.privacy import PINNED
from ..form import parameters as shared
from ..form.areas import area_parameters
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.generalising import relating_parameters
from ..form.provenance import provenance_of
from .relating import aliases_parameter, comparable
from .releases import disclosed_table, register_parameter, release_parameters, releases_of


class CheckReleases(VbasAlgorithm):
    """`vbas:checkreleases`."""

    ID = "checkreleases"
    TAGS = as_data("differencing,earlier,disclosure,overlay,update")
    SUMMARY = tr("Finds the counts of fewer than k people that several releases of the same people give away together.")
    HELP = tr(
        "<p>Every class of every release may have k people, and yet two releases give single persons away: where one "
        "shows twelve people in a region, and another ten in all of it but one area, two live in that area. This holds "
        "for other regions, for more or fewer quasi-identifiers, and for a table that is published again every month: "
        "a count that rises by one is the new patient.</p>"
        "<p>Give the releases as they were published, each with its crosswalk, or a register that “Anonymise records” "
        "keeps. Nothing but what anybody can read is used. Releases of the same regions whose counts differ are taken "
        "as updates and compared count by count; all others are taken to be of the same people, and so are "
        "those that were there before an update, and where they "
        "contradict each other nobody can say what they give away, and the log says so.</p>"
        "<p>Sensitive fields that the releases show may tell more: the diagnosis of the one person who is in one table "
        "and not in the other, or that many people of a small place have the same one. Name them under “Sensitive "
        "fields”; a register knows them.</p>"
        "<p>Nothing found means: nothing of the kinds listed here. Values of other fields are not looked at. Rows are "
        "counted: where a person has several, those that are told together may be of fewer people. A register knows "
        "which releases counted persons; of tables, only you do. Nor do tables say that classes are the same in all "
        "periods (PERIODS), where nobody is in one that is missing, and more follows: name the period of such releases "
        "(PERIOD), or give the register.</p>"
    )

    def declare(self) -> None:
        self.addParameters(
            register_parameter(
                tr("A register of releases, as “Anonymise records” keeps it. Or give the releases below.")
            ),
            *release_parameters(),
            aliases_parameter(),
            *relating_parameters(),
            shared.whole(
                "K",
                tr("k: smallest class allowed"),
                None,
                tr(
                    "Counts of fewer people are looked for. Empty: the smallest k of the releases, or {k} where none "
                    "is given.",
                    k=DEFAULT_K,
                ),
                SMALLEST_K,
                optional=True,
            ),
            *(shared.optional(shared.advanced(parameter)) for parameter in area_parameters(with_population=False)),
            shared.sink(PINNED, optional=True),
            shared.report(tr("A page with the verdict, and what is given away by which releases.")),
        )
        self.addNumbers(
            N_PINNED=tr("Counts given away"),
            N_PERSONS=tr("People in them at least"),
            N_VALUES=tr("Counts given away whose sensitive values are known"),
            N_ALIKE=tr("Groups of K people and more shown to have one sensitive value"),
            N_UNDECIDED=tr("Counts that could not be decided"),
            N_CONTRADICTED=tr("Classes in which the releases contradict each other"),
            N_NOT_COMPARED=tr("Fields or sets of areas that could not be compared"),
        )

    def conditions(self) -> Conditions:
        layers = (
            "RELEASES",
            "CROSSWALKS",
            "QUASI_IDENTIFIERS",
            "SENSITIVE",
            "COUNT_FIELD",
            "EACH_K",
            "BY_SIZE_ALONE",
            "PERIOD",
        )
        return {
            **{name: [{"REGISTER": NOT_GIVEN}] for name in layers},
            "HIERARCHY_RULES": [{"REGISTER": GIVEN}],
            **{name: [{"REGIONS": GIVEN}] for name in ("REGION_ID", "AREA_POINT")},
        }

    def work(self, form: Form) -> dict[str, object]:
        compared = releases_of(form)
        releases = compared.releases
        if len(releases) < 2:
            raise InputError.counting(
                "There is {n} release: give at least two of the same people.",
                "There are {n} releases: give at least two of the same people.",
                len(releases),
            )
        least = min(release.k for release in releases)
        k = form.whole("K") if form.given("K") else least
        releases, same = comparable(form, releases, compared.aliases)
        not_compared = (*compared.warnings, *same.warnings)
        taken = (*compared.said, *same.said)
        form.info(*taken)
        findings = examine_all(releases, k, form.progress(stop=80))
        together = sorted({at for _, kept in findings.each for at in kept} | set(findings.kept))
        apart = of_some_people([releases[at] for at in together])
        of_rows = any(release.of_persons for release in releases)
        beside = (compared.broken, counts_rows(k) if of_rows else "", apart)
        unsure = (*not_compared, *filter(None, beside))
        form.warn(*unsure)
        rows = rows_of(findings, releases)
        form.outputs.add("PINNED", disclosed_table(form, rows, releases))
        form.outputs.add_text(
            "REPORT",
            lambda: releases_report(findings, rows, releases, k, provenance_of(form), taken, unsure, same.assumption),
        )
        sure = not (rows or unsure or findings.n_contradicted or findings.n_undecided)
        (form.info if sure else form.warn)(verdict(findings, k, least, unsure, same.assumption))
        form.info(tried(certificate_of_all(findings, releases, k)))
        if nested_by_nobody_knows(releases):
            form.info(not_by_the_method(k))
        numbers = {"N_PINNED": findings.n_counts, "N_PERSONS": findings.n_persons}
        numbers.update(N_VALUES=findings.n_values, N_ALIKE=findings.n_homogeneous)
        numbers.update(N_UNDECIDED=findings.n_undecided, N_CONTRADICTED=findings.n_contradicted)
        return {**numbers, "N_NOT_COMPARED": len(not_compared)}
