"""All that was said in the dock, without a widget: layers, roles of columns, what was decided, and where it goes.

`job` gives the parameters of the main algorithm, as a file of a job has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field

from ...core.dataclass import dataclass
from ...core.language import tr
from ...core.preparing.roles import AREA, HOUSEHOLD, KEEP, LEAVE_OUT, PERIOD, PERSON, QUASI, ROLES, SENSITIVE, SINGLE
from ...core.records.matching import STOP, SUPPRESS

LEAST_DIFFERENT = 2  # values of a sensitive field that a class shows, where nothing else is said
# Of what a role is: the parameters that take one field, and those that take several.
ONE_FIELD = {PERSON: "PERSON_ID", HOUSEHOLD: "HOUSEHOLD_ID", PERIOD: "PERIOD"}


@dataclass()
class ReleaseState:
    """What a release is to be made of and how.

    regions, records : ids of layers; region_id, population, record_region, record_count : fields, empty for none
    leave_out : whether records of unknown areas are suppressed; fields : those of the records
    proposed, chosen : roles by field; coarser : by field, a rule and a level
    decision : the parameters of the candidate that was chosen; outputs, said : what goes where, and what the page says
    """

    regions: str = ""
    region_id: str = ""
    population: str = ""
    records: str = ""
    record_region: str = ""
    record_count: str = ""
    leave_out: bool = False
    fields: tuple[str, ...] = ()
    proposed: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)
    coarser: dict[str, tuple[str, int]] = field(default_factory=dict)
    l_diversity: int = LEAST_DIFFERENT
    max_share: float = 100.0
    decision: dict[str, object] = field(default_factory=dict)
    outputs: dict[str, object] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)

    def role(self, name: str) -> str:
        """The role of a field of the records: chosen, else proposed, else to be left out."""
        if name == self.record_region:
            return AREA
        role = self.chosen.get(name) or self.proposed.get(name) or LEAVE_OUT
        return LEAVE_OUT if role == AREA or name == self.record_count else role

    def take_fields(self, fields: Sequence[str]) -> None:
        """The records have these fields; what was said of others is forgotten."""
        self.fields = tuple(fields)
        for said_of in (self.proposed, self.chosen, self.coarser):
            for name in {*said_of} - {*fields}:
                del said_of[name]

    def with_role(self, role: str) -> list[str]:
        """The fields of a role, in the order of the table."""
        return [name for name in self.fields if self.role(name) == role]

    def choose(self, name: str, role: str) -> None:
        """Give a field a role; of a role that one field alone can have, the one before is left out."""
        if role in SINGLE:
            for other in self.with_role(role):
                self.chosen[other] = LEAVE_OUT
        if role == AREA:
            before, self.record_region = self.record_region, name
            if before and self.role(before) in SINGLE:
                self.chosen[before] = LEAVE_OUT
        elif name == self.record_region:
            self.record_region = ""
        self.chosen[name] = role

    def choose_alone(self, quasi_identifiers: Sequence[str]) -> None:
        """Have these identify indirectly, and leave out all else but the area."""
        self.chosen = {
            name: QUASI if name in quasi_identifiers else LEAVE_OUT
            for name in self.fields
            if name != self.record_region
        }

    def missing_data(self) -> str:
        """What is still to be chosen of layers and fields, in a sentence; empty where nothing is."""
        if not self.regions:
            return tr("Choose the layer of areas: polygons, or one point for each area.")
        if not self.records:
            return tr("Choose the table of records.")
        if not self.region_id:
            return tr("Choose the field that identifies the areas.")
        if not self.record_region:
            return tr("Choose the field of the records that says in which area a person lives.")
        return ""

    def missing(self) -> str:
        """What is still to be chosen before anything can be looked at, in a sentence; empty where nothing is."""
        if self.missing_data() or self.with_role(QUASI):
            return self.missing_data()
        return tr("Say of at least one column that it identifies indirectly: what an outsider could know of a person.")

    def looked_at(self) -> dict[str, object]:
        """What the main algorithm is given of the data, of what is known and of what else is released. POPULATION and
        RECORD_COUNT are empty for none: left out, the dialog would propose a field."""
        given: dict[str, object] = {
            "REGIONS": self.regions,
            "REGION_ID": self.region_id,
            "POPULATION": self.population,
            "RECORDS": self.records,
            "RECORD_REGION": self.record_region,
            "QUASI_IDENTIFIERS": self.with_role(QUASI),
            "RECORD_COUNT": self.record_count,
            "UNMATCHED": SUPPRESS if self.leave_out else STOP,
        }
        for role, parameter in ONE_FIELD.items():
            for name in self.with_role(role):
                given[parameter] = name
        if self.with_role(SENSITIVE):
            given["SENSITIVE"] = self.with_role(SENSITIVE)
            given["L_DIVERSITY"], given["MAX_SHARE"] = self.l_diversity, self.max_share
        if self.with_role(KEEP):
            given["KEEP_FIELDS"] = self.with_role(KEEP)  # a release may be refused for what they tell
        coarser = [(name, *self.coarser[name]) for name in self.with_role(QUASI) if name in self.coarser]
        if coarser:
            given["GENERALISE"] = [cell for name, _, level in coarser for cell in (name, level)]
            given["HIERARCHY_RULES"] = [cell for name, rule, _ in coarser for cell in (name, rule)]
        return given

    def job(self) -> dict[str, object]:
        """The parameters of the main algorithm for the release that was decided on."""
        said = {name: value for name, value in (*self.said.items(), *self.outputs.items()) if value}
        return {**self.looked_at(), **self.decision, **said}

    def answers(self) -> str:
        """What a project keeps: the roles that were chosen and how coarse columns are shown, by field; no value of a
        record."""
        coarser = {name: list(asked) for name, asked in self.coarser.items()}
        return json.dumps({"roles": self.chosen, "coarser": coarser}, sort_keys=True, ensure_ascii=False)

    def recall(self, answers: str) -> None:
        """Take the answers that a project kept; whatever is none is left aside."""
        try:
            kept = json.loads(answers)
            roles, coarser = dict(kept["roles"]), dict(kept["coarser"])
        except (ValueError, TypeError, KeyError):
            return
        self.chosen = {name: role for name, role in roles.items() if name in self.fields and role in ROLES}
        self.coarser = {name: asked for name, words in coarser.items() if (asked := _rule(name, words, self.fields))}


def _rule(name: str, words: object, fields: Sequence[str]) -> tuple[str, int] | None:
    if name not in fields or not isinstance(words, list) or len(words) != 2:
        return None
    rule, level = words
    return (rule, level) if isinstance(rule, str) and isinstance(level, int) else None


def differences(now: Mapping[str, object], then: Mapping[str, object]) -> list[str]:
    """The keys that two jobs say differently."""
    return sorted(name for name in {*now, *then} if now.get(name) != then.get(name))
