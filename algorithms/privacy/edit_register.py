"""A register of releases: looked at, and corrected."""

from __future__ import annotations

from pathlib import Path

from ...core import counted
from ...core.errors import InputError
from ...core.language import as_data, tr
from ...core.publish.register.listing import releases_in, taking_out
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
        "take it out.</p><p>Never take out what anybody outside has seen, even if it was withdrawn: what is published "
        "stays known, and the next release would be held against too little. The same release run twice is in the "
        "register twice; it does no harm.</p>"
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
            shared.sink(CONTENTS, optional=True),
        )
        self.addNumbers(N_RELEASES=tr("Releases in the register"), N_REMOVED=tr("Releases taken out"))

    def conditions(self) -> Conditions:
        return {"NEVER_PUBLISHED": [{"REMOVE": GIVEN}]}

    def work(self, form: Form) -> dict[str, object]:
        path, remove = Path(form.text("REGISTER")), form.whole("REMOVE") if form.given("REMOVE") else None
        releases = releases_in(path)
        if remove is not None:
            if not form.yes("NEVER_PUBLISHED"):
                raise InputError(
                    tr(
                        "REMOVE names release {remove}: tick NEVER_PUBLISHED if nobody outside has seen it. "
                        "Otherwise it must stay, or the next release is held against too little.",
                        remove=remove,
                    )
                )
            entry = taking_out(path, remove)
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
        return {"N_RELEASES": len(releases), "N_REMOVED": int(remove is not None)}
