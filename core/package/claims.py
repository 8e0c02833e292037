"""Claims of a release's folder."""

from __future__ import annotations

from ..dataclass import dataclass


@dataclass(frozen=True)
class Claim:
    """Something that a folder claims.

    name : such as “k”, or “content records”; holds : None where it could not be looked at; says : a sentence
    """

    name: str
    holds: bool | None
    says: str
