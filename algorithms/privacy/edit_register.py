"""A register of releases: looked at, and corrected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...core import counted
from ...core.errors import InputError
from ...core.language import as_data, plural, tr
from ...core.publish.register.chain import Chain, broken_chain, chain_of
from ...core.publish.register.listing import approving, releases_in, taking_out
from ...core.tables.privacy import CONTENTS
from ..form import parameters as shared
from ..form.base import VbasAlgorithm
from ..form.effective import GIVEN, Conditions
from ..form.form import Form
from ..layers.tables import filled, of_rows
from .releases import register_parameter


class EditRegister(VbasAlgorithm):
    """`vbas:editregister`."""

    ID = "editregister"
    TAGS = as_data("earlier,trial,remove,list")
    SUMMARY = tr("Lists the releases in a register, and takes out one that was never published.")
    HELP = tr(
        "<p>A register keeps what earlier releases of the same people published, so that a new release is held against "
        "them. Each run with REGISTER adds to it, trials too. A trial that was never published is in the way: it "
        "constrains later releases for nothing. Look for its number and the time it was added (UTC) in the list, and "
        "take it out: its counts go, and the chain of the register keeps that it was there.</p><p>Never take out what "
        "anybody outside has seen, even if it was withdrawn: what is published stays known, and the next release would "
        "be held against too little. The same release run twice is in the register twice; it does no harm.</p><p>The "
        "chain has an entry for each release that was added, approved of or taken out, with the hash of the one "
        "before: whoever changes the file by hand breaks it, and this says so.</p>"
    )

    def declare(self) -> None:
        register = register_parameter(tr("A register of releases, as “Anonymise records” keeps it."))
        register.setFlags(register.flags() & ~shared.OPTIONAL)
        self.addParameters(
            register,
            shared.whole(
                "REMOVE",
                tr("Release to take out"),
                None,
                tr("The number in the list of a release that was never published. Leave it empty to look only."),
                1,
                optional=True,
            ),
            shared.yes(
                "NEVER_PUBLISHED",
                tr("Nobody outside has seen that release"),
                False,
                tr("To be ticked for a release to be taken out."),
            ),
            shared.whole(
                "APPROVE",
                tr("Release that somebody approves of"),
                None,
                tr("The number in the list of a release that WHO approves of, who is not who proposed it."),
                1,
                optional=True,
            ),
            shared.text(
                "WHO",
                tr("Who approves, or takes out"),
                None,
                tr("The name that the chain of the register keeps for it."),
                optional=True,
            ),
            shared.sink(CONTENTS, optional=True),
        )
        self.addNumbers(
            N_RELEASES=tr("Releases in the register"),
            N_REMOVED=tr("Releases taken out"),
            N_BROKEN=tr("Places where the chain does not hold"),
        )

    def conditions(self) -> Conditions:
        return {"NEVER_PUBLISHED": [{"REMOVE": GIVEN}], "WHO": [{"REMOVE": GIVEN, "APPROVE": GIVEN}]}

    def work(self, form: Form) -> dict[str, object]:
        path, remove = Path(form.text("REGISTER")), form.whole("REMOVE") if form.given("REMOVE") else None
        releases, chain = releases_in(path), chain_of(path)
        _say_chain(form, path, chain)
        if form.given("APPROVE"):
            if remove is not None:
                raise InputError(tr("REMOVE and APPROVE are both given: do one after the other."))
            approval = approving(path, form.whole("APPROVE"), form.text("WHO"))
            form.outputs.last(approval.put, approval.discard)
            releases = [
                replace(row, approved_by=form.text("WHO")) if row.release == form.whole("APPROVE") else row
                for row in releases
            ]
        if remove is not None:
            if not form.yes("NEVER_PUBLISHED"):
                raise InputError(
                    tr(
                        "REMOVE names release {remove}: tick NEVER_PUBLISHED if nobody outside has seen it. "
                        "Otherwise it must stay, or the next release is held against too little.",
                        remove=remove,
                    )
                )
            entry = taking_out(path, remove, form.text("WHO"))
            form.outputs.last(entry.put, entry.discard)
            releases = [row for row in releases if row.release != remove]
        form.outputs.add("CONTENTS", filled(CONTENTS, of_rows(CONTENTS, releases)))
        form.info(
            *(
                tr(
                    "Release {release}, added {time}: {records}, k {k}.",
                    release=row.release,
                    time=row.time,
                    records=counted.records(row.records),
                    k=row.k,
                )
                for row in releases
            )
        )
        return {"N_RELEASES": len(releases), "N_REMOVED": int(remove is not None), "N_BROKEN": len(chain.problems)}


def _say_chain(form: Form, path: Path, chain: Chain) -> None:
    """What is known of the register's chain: whether it holds, and its last hash."""
    if chain.problems:
        form.warn(broken_chain(path))
    elif chain.links:
        form.info(
            plural(
                "The chain of the register holds: {n} entry, the last with the hash {checksum}.",
                "The chain of the register holds: {n} entries, the last with the hash {checksum}.",
                len(chain.links),
                checksum=chain.links[-1].hash,
            )
        )
    else:
        form.info(tr("The register has no chain yet: it begins with the next entry."))
