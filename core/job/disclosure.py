"""What a nested release holds against, as a job asks for it."""

from __future__ import annotations

from typing import TypedDict

from .inputs import Inputs

DISCLOSURE, CLOSED = "DISCLOSURE", "CLOSED_BY_CHANCE"
LEFT_AREAS, LEFT_PEOPLE = "LEAST_LEFT_AREAS", "LEAST_LEFT_PEOPLE"


class Held(TypedDict):
    """What `Ask` is told of it."""

    disclosure: str
    closed_by_chance: float
    least_left_areas: int
    least_left_people: float


def held_against(given: Inputs) -> Held:
    """What is asked of a nested release."""
    return {
        "disclosure": given.text(DISCLOSURE),
        "closed_by_chance": given.number(CLOSED),
        "least_left_areas": given.whole(LEFT_AREAS),
        "least_left_people": given.number(LEFT_PEOPLE),
    }
