"""Claims of a release's folder."""

from __future__ import annotations

from ..dataclass import dataclass
from ..language import tr


@dataclass(frozen=True)
class Claim:
    """Something that a folder claims.

    name : such as “k”, or “content records”; holds : None where it could not be looked at; says : a sentence
    """

    name: str
    holds: bool | None
    says: str


def unseen(name: str) -> Claim:
    """A claim that rests on what cannot be read."""
    return Claim(name, None, tr("Not looked at: what it rests on cannot be read."))
