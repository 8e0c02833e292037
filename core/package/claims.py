"""Claims of a release's folder."""

from __future__ import annotations

from ..dataclass import dataclass
from ..language import as_data, tr

# Names of claims as people read them, by how the name begins; the others stand for themselves.
_OF = {
    "file ": as_data("file {subject}"),
    "fields ": as_data("fields {subject}"),
    "content ": as_data("content {subject}"),
    "values ": as_data("values {subject}"),
    "shapes ": as_data("shapes {subject}"),
    "k of ": as_data("k of {subject}"),
}
ALL_TABLES = as_data("k of all tables")  # no kind of those who are counted
_ALONE = as_data("content"), as_data("counts"), as_data("areas"), as_data("regions"), as_data("levels"), ALL_TABLES


@dataclass(frozen=True)
class Claim:
    """Something that a folder claims.

    name : such as “k”, or “content records”; holds : None where it could not be looked at; says : a sentence
    """

    name: str
    holds: bool | None
    says: str

    @property
    def called(self) -> str:
        """The name in the language of the user; what a file or a field is called stays."""
        begins = next((text for text in _OF if self.name.startswith(text)), None)
        if begins is None or self.name in _ALONE:
            return tr(self.name)
        subject = self.name[len(begins) :]
        return tr(_OF[begins], subject=tr(subject) if begins == "k of " else subject)


def unseen(name: str) -> Claim:
    """A claim that rests on what cannot be read."""
    return Claim(name, None, tr("Not looked at: what it rests on cannot be read."))
