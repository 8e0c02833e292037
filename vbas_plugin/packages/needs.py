"""What VBAS needs, for which work: what of it is found, and what pip is asked for where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from ...algorithms.unavailable import missing_packages
from ...core.dataclass import dataclass
from ...core.installing import NEEDED, Surroundings, folder_line, for_folder, is_there, lines_for, pip_lines, version_of
from ...core.language import all_of, tr


@dataclass(frozen=True)
class Need:
    """The packages of one kind of work.

    available : names with versions; missing : names; requirements : what pip is asked for
    replaced : QGIS brings an older one, which is found first: a folder behind it would not help
    """

    title: str
    available: tuple[str, ...]
    missing: tuple[str, ...]
    requirements: tuple[str, ...]
    replaced: bool = False

    @property
    def sentence(self) -> str:
        """In a sentence what is found and what is missing."""
        if not self.missing:
            return tr("{work}: {found} found, nothing missing.", work=self.title, found=all_of(self.available))
        missing = all_of(self.missing)
        if not self.available:
            return tr("{work}: {missing} missing.", work=self.title, missing=missing)
        available = all_of(self.available)
        return tr("{work}: {found} found, {missing} missing.", work=self.title, found=available, missing=missing)

    def line(self, folder: Path, where: Surroundings) -> str:
        """What a terminal does in place of the button; empty where nothing is missing."""
        if not self.missing:
            return ""
        if self.replaced:
            return lines_for(self.missing, where)
        if where.managed or where.flatpak or where.platform == "win32":
            return folder_line(self.requirements, folder, where)
        return pip_lines(self.requirements, where)


def needs(where: Surroundings) -> list[Need]:
    """What all work needs, then what engines need; where all work lacks something, that alone."""
    missing = missing_packages()
    available = tuple(f"{name} {version_of(name)}" for name in NEEDED if name not in missing)
    replaced = any(version_of(name) for name in missing)
    first = Need(tr("All work"), available, tuple(missing), tuple(for_folder(missing, where)), replaced)
    return [first] if missing else [first, *_of_engines()]


def _of_engines() -> list[Need]:
    from ...core.engines import ENGINES, PACKAGES

    by_engine: dict[str, list[str]] = {}
    for shown, _, modules in ENGINES.values():
        by_engine.setdefault(shown, []).extend(modules)
    return [_need(tr("Records in {engine}", engine=shown), modules, PACKAGES) for shown, modules in by_engine.items()]


def _need(title: str, modules: Sequence[str], packages: dict[str, str]) -> Need:
    wanted = list(dict.fromkeys(modules))
    lacking = [module for module in wanted if not is_there(module)]
    available = tuple(dict.fromkeys(_with_version(packages[module]) for module in wanted if module not in lacking))
    names = tuple(dict.fromkeys(_name(packages[module]) for module in lacking))
    return Need(title, available, names, tuple(dict.fromkeys(packages[module] for module in lacking)))


def _name(requirement: str) -> str:
    return requirement.partition("[")[0].partition(">")[0]


def _with_version(requirement: str) -> str:
    name = _name(requirement)
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return name
