"""What was said in the dock, without a window: its job is one that the library and the command understand."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.job.settings import SETTINGS, understood
from vbas.core.preparing.roles import AREA, KEEP, LEAVE_OUT, PERSON, QUASI, ROLES, SENSITIVE, SINGLE
from vbas.vbas_plugin.release.state import ReleaseState

FIELDS = ("home", "pid", "age", "sex", "illness", "note")
CHOICES = st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(ROLES)), max_size=12)


def said():
    """A state with layers and fields, and nothing said of roles."""
    return ReleaseState(
        regions="areas",
        region_id="da",
        records="people",
        record_region="home",
        fields=FIELDS,
        said={"PURPOSE": "study"},
    )


@settings(max_examples=50, deadline=None)
@given(choices=CHOICES, proposed=st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(ROLES)))
def test_whatever_is_chosen_makes_a_job_of_which_each_column_has_one_part(choices, proposed):
    state = said()
    state.proposed = proposed
    for name, role in choices:
        state.choose(name, role)
        assert state.role(name) == role
    for role in SINGLE:
        if any(chosen == role for _, chosen in choices):
            assert len(state.with_role(role)) <= 1, role
    if not state.missing() and all(len(state.with_role(role)) <= 1 for role in SINGLE):
        job = state.job()
        assert job.keys() <= SETTINGS.keys()
        understood({name: value for name, value in job.items() if value not in ("", [])})
        assert job["RECORD_REGION"] == state.record_region
        parts = [*job["QUASI_IDENTIFIERS"], *job.get("SENSITIVE", []), *job.get("KEEP_FIELDS", [])]
        parts += [job[name] for name in ("RECORD_REGION", "PERSON_ID", "HOUSEHOLD_ID", "PERIOD") if name in job]
        assert len(parts) == len(set(parts))
        assert set(parts) == {name for name in FIELDS if state.role(name) != LEAVE_OUT}


@settings(max_examples=50, deadline=None)
@given(choices=CHOICES)
def test_a_project_keeps_roles_and_no_more(choices):
    state, again = said(), said()
    for name, role in choices:
        state.choose(name, role)
    state.coarser["age"] = ("bands 5, 10", 2)
    kept = json.loads(state.answers())
    assert kept.keys() == {"roles", "coarser"} and "study" not in state.answers()
    again.record_region = state.record_region
    again.recall(state.answers())
    assert again.job() == state.job()
    for broken in ("", "[]", "{}", "no JSON", '{"roles": {"x": "y"}, "coarser": {"age": 3}}'):
        again.recall(broken)
    assert again.chosen == {} and again.coarser == {}


def test_nothing_is_asked_that_was_not_chosen():
    state = said()
    assert state.missing().startswith("Say of at least one column")
    state.choose("age", QUASI)
    state.choose("illness", SENSITIVE)
    state.choose("note", KEEP)
    state.choose("pid", PERSON)
    state.coarser = {"age": ("bands 5, 10", 2), "sex": ("bands 5", 1)}
    assert state.missing() == ""
    looked_at = state.looked_at()
    assert looked_at["KEEP_FIELDS"] == state.job()["KEEP_FIELDS"] == ["note"]
    assert (looked_at["SENSITIVE"], looked_at["L_DIVERSITY"], looked_at["PERSON_ID"]) == (["illness"], 2, "pid")
    assert looked_at["GENERALISE"] == ["age", 2] and looked_at["HIERARCHY_RULES"] == ["age", "bands 5, 10"]
    state.choose("pid", AREA)  # and the area before is no longer one
    assert state.record_region == "pid" and state.role("home") == LEAVE_OUT and "PERSON_ID" not in state.looked_at()
    state.choose_alone(["sex"])
    assert state.with_role(QUASI) == ["sex"] and not {"SENSITIVE", "KEEP_FIELDS"} & {*state.looked_at()}
