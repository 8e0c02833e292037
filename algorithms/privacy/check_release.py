"""Any table that is to be published, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from qgis.core import QgsField, QgsProcessingException, QgsProcessingParameterDefinition, QgsProcessingParameterFile

from ...core import counted
from ...core.dataclass import dataclass
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.package.checking import Claim, check_folder, read_descriptor
from ...core.package.dataset import RECORDS
from ...core.package.descriptor import OURS
from ...core.package.table import BOOLEAN, COUNT, INTEGER, KEPT, LEVEL, NUMBER, QUASI, REGION, SENSITIVE
from ...core.privacy.checking import ReleaseCheck, check_release
from ...core.records.columns import Column, columns_at
from ...core.records.table import MEMBER_FIELDS, counts_of
from ...core.report.certificate import not_by_the_method
from ...core.report.certificate import verdict as tried
from ...core.report.checking import certificate_of_check, check_report, is_nested, said_of_fields
from ...core.tables.privacy import CHECK
from ..compat import field as qgis_field
from ..form import parameters as shared
from ..form.areas import area_parameters, areas_of
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, NOT_GIVEN, Conditions
from ..form.form import Form
from ..form.guarantees import PROTECTION, k_parameter, protection_parameters
from ..form.layer_chooser import RELEASED, propose_layer
from ..form.provenance import provenance_of
from ..form.records import record_count
from ..layers.reading.checked_source import field_index
from ..layers.reading.records import read_columns
from ..layers.tables import Table, filled

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
        "outsider could know, the region it shows (vbas_level, vbas_region) and the period included: the check is no "
        "better than that choice. Rows are people, unless you say whose they are; what several periods tell beside "
        "each other of somebody who is in them is not looked at.</p><p>Headless, the run ends with an error where "
        "classes fall short, after its outputs are written; untick “Stop with an error where classes fall short” to go "
        "on.</p><p>Give a folder that RELEASE_FOLDER wrote, and everything that it claims is looked at.</p>"
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
        areas = areas_of(form.job).areas if form.given("REGIONS") else None
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
        form.info(*(f"{claim.called}: {claim.says}" for claim in table.claims if claim.holds))
        form.warn(*(f"{claim.called}: {claim.says}" for claim in table.claims if claim.holds is None))
        form.warn(*said_of_fields(check))
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
    return tr("The folder is not what it says ({claim}): {says}", claim=claim.called, says=claim.says)


def verdict(check: ReleaseCheck, k: int) -> str:
    """One sentence."""
    if not check.classes_below:
        return tr("Every class has at least {least}; the smallest has {n}.", least=check.counted(k), n=check.k_found)
    return plural(
        "{n} class with {records} falls short of what is asked; the smallest has {people}. "
        "Coarser quasi-identifiers or larger regions, or leaving these records out, mend "
        "that.",
        "{n} classes with {records} fall short of what is asked; the smallest has {people}. "
        "Coarser quasi-identifiers or larger regions, or leaving these records out, mend "
        "that.",
        check.classes_below,
        records=counted.records(check.records_below),
        people=check.counted(check.k_found),
    )


Columns = Mapping[str, Column]
# The kinds of fields of QGIS, by the types of a schema; dates are read as text.
KINDS = {INTEGER: "long", NUMBER: "real", BOOLEAN: "boolean"}


@dataclass(frozen=True, eq=False)
class TableToCheck:
    """What is checked, as columns by name: quasi-identifiers, other fields, members by kind, sensitive fields.

    counts : records of each row; fields : by name; k, l_diversity, max_share : asked, by the folder too; claims : of a
    folder, empty for a table
    """

    quasi: Columns
    others: Columns
    members: Columns
    sensitive: Columns
    counts: np.ndarray | None
    fields: Mapping[str, QgsField]
    k: int
    l_diversity: int
    max_share: float
    claims: tuple[Claim, ...] = ()

    @property
    def broken(self) -> tuple[Claim, ...]:
        """The claims that do not hold."""
        return tuple(claim for claim in self.claims if claim.holds is False)


def table_to_check(form: Form) -> TableToCheck:
    """RECORDS, or the records of RELEASE_FOLDER with its claims. Raises InputError."""
    k, distinct, share = form.whole("K"), form.whole("L_DIVERSITY"), form.number("MAX_SHARE")
    if not form.given("RELEASE_FOLDER"):
        source = form.layers.source("RECORDS")
        fields = {field.name(): field for field in source.fields()}
        return TableToCheck(*columns_of(form), fields, k, distinct, share)
    folder = Path(form.text("RELEASE_FOLDER"))
    checked, ours = check_folder(folder, k), read_descriptor(folder)[OURS]
    table = checked.tables.get(RECORDS)
    if table is None:
        raise InputError(next(claim.says for claim in checked.claims if claim.name == f"fields {RECORDS}"))
    rows = np.repeat(np.arange(len(table.copies), dtype=np.int64), table.copies)
    columns = columns_at(dict(zip(table.names, table.columns)), rows)
    role = {field.name: field.role for field in table.fields}
    counts = next((columns[name] for name in role if role[name] == COUNT), None)
    # What was asked of the values of persons cannot be seen by their rows.
    asked = ours if ours.get("counts", [RECORDS]) == [RECORDS] else {}
    return TableToCheck(
        {name: of for name, of in columns.items() if role[name] in (LEVEL, REGION, QUASI)},
        {name: of for name, of in columns.items() if role[name] == KEPT},
        {},
        {name: of for name, of in columns.items() if role[name] == SENSITIVE},
        None if counts is None else np.array([*counts.categories, 0], np.int64)[counts.codes],
        {field.name: qgis_field(field.name, KINDS.get(field.type, "text")) for field in table.fields},
        checked.k,
        max(distinct, int(asked.get("l_diversity", 1))),
        min(share, float(asked.get("max_share", 100.0))),
        checked.claims,
    )


def columns_of(form: Form) -> tuple[Columns, Columns, Columns, Columns, np.ndarray | None]:
    """Quasi-identifiers, other fields, members by kind, sensitive fields, and counts, from RECORDS."""
    source = form.layers.source("RECORDS")
    quasi, sensitive = form.field_names("QUASI_IDENTIFIERS"), form.field_names("SENSITIVE")
    members = {kind: form.text(name) for kind, name in MEMBER_FIELDS.items() if form.given(name)}
    count = form.text("RECORD_COUNT")
    named = [("QUASI_IDENTIFIERS", quasi), ("SENSITIVE", sensitive), ("RECORD_COUNT", [count] if count else [])]
    named += [(MEMBER_FIELDS[kind], [name]) for kind, name in members.items()]
    for parameter, names in named:
        for name in names:
            field_index(source.fields(), name, parameter, "RECORDS")
    keys = (
        {source.fields().at(index).name() for index in source.layer.primaryKeyAttributes()} if source.layer else set()
    )
    used = {*quasi, *sensitive, *members.values(), count, *keys}
    others = [name for name in source.fields().names() if name not in used and name.lower() not in ("fid", "ogc_fid")]
    wanted = dict.fromkeys([*quasi, *sensitive, *others, *members.values(), *([count] if count else [])])
    columns = read_columns(source, list(wanted), form.feedback)
    counts = counts_of(columns, count)
    return (
        {name: columns[name] for name in quasi},
        {name: columns[name] for name in others},
        {kind: columns[name] for kind, name in members.items()},
        {name: columns[name] for name in sensitive if name not in quasi},
        counts,
    )


def check_table_of(table: TableToCheck, check: ReleaseCheck) -> Table:
    """CHECK: a row per class that falls short, the smallest first."""
    rows = np.flatnonzero(check.fails)
    rows = rows[np.lexsort((rows, check.people[rows]))]
    own = [
        (table.fields[name], Column(check.classes[rows, position], column.categories))
        for position, (name, column) in enumerate(table.quasi.items())
    ]
    columns = {"vbas_records": check.records[rows], "vbas_people": check.people[rows]}
    for number, diversity in enumerate(check.diversity.values(), 1):
        columns[f"vbas_values_{number}"] = diversity.distinct[rows]
        columns[f"vbas_share_{number}"] = diversity.largest_share[rows]
    return filled(CHECK, columns, own=own)
