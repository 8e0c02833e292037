"""What a job says of who asks for a release, and what goes out of it, for the page that is signed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256

from ..language import tr
from ..package.content_hash import content_hash, hash_of_all
from ..package.table import DataTable
from ..publish.register import particulars
from ..report.sign import FileToSign, Signing
from ..version import commit, version
from .job import Job

RECIPIENT, PURPOSE, PREPARED_BY = "RECIPIENT", "PURPOSE", "PREPARED_BY"
SAID = (RECIPIENT, PURPOSE, PREPARED_BY)
SERIES = "SERIES"
IN_REGISTER = {SERIES: particulars.SERIES, RECIPIENT: particulars.RECIPIENT, PURPOSE: particulars.PURPOSE}
ABBREVIATED = 12  # characters of a commit


def made_by() -> str:
    """The program that makes a release: version and commit."""
    code = commit()[:ABBREVIATED]
    if code:
        return tr("VBAS {version}, commit {commit}", version=version(), commit=code)
    return tr("VBAS {version}, commit unknown", version=version())


def particulars_of(job: Job) -> dict[str, str]:
    """What the register keeps of what a job says of its release: series, recipient, purpose."""
    return {what: job.text(name) for name, what in IN_REGISTER.items() if job.has(name)}


def content_of(tables: Iterable[DataTable]) -> str:
    """The content hash of a whole release; empty where its tables are not at hand."""
    hashes = {table.name: content_hash(table) for table in tables}
    return hash_of_all(hashes) if hashes else ""


def hashes_of(tables: Iterable[DataTable]) -> list[tuple[str, str]]:
    """Title and content hash of each table, and last, under no title, that of the whole release; none of no tables."""
    of = {table.name: (table.title, content_hash(table)) for table in tables}
    if not of:
        return []
    return [*of.values(), ("", hash_of_all({name: value for name, (_, value) in of.items()}))]


def page_to_publish(file: str, content: bytes) -> FileToSign:
    """A page that goes out with a release, which cannot hold its own hash. file : where it goes; content : its bytes"""
    return FileToSign(tr("Page to publish (hash of the file)"), file, sha256(content).hexdigest())


def signing_of(
    job: Job,
    tables: Iterable[DataTable],
    files_of: Callable[[str], str] = lambda table: "",
    register: str = "",
    pages: Iterable[FileToSign] = (),
) -> Signing:
    """What the page says beside the account of a release.

    tables : that are released; files_of : where each goes, by its name; register : the entry of the register; pages :
    that are published with them
    """
    of = {table.name: (table.title, content_hash(table)) for table in tables}
    files = [FileToSign(title, files_of(name), value) for name, (title, value) in of.items()]
    said = {name: job.text(name) if job.has(name) else "" for name in SAID}
    return Signing(
        said[RECIPIENT],
        said[PURPOSE],
        said[PREPARED_BY],
        [*files, *pages],
        hash_of_all({name: value for name, (_, value) in of.items()}) if of else "",
        made_by(),
        register,
    )
