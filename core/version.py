"""Which version of this program runs."""

from __future__ import annotations

import configparser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METADATA = ROOT / "metadata.txt"


def version() -> str:
    """The version of the plugin."""
    return _metadata("version")


def _metadata(name: str) -> str:
    metadata = configparser.ConfigParser(interpolation=None)
    metadata.read(METADATA, encoding="utf-8")
    return metadata.get("general", name, fallback="")


def commit() -> str:
    """The commit of the checkout that runs, or that the plugin was packaged from; empty where that is not known."""
    git = ROOT / ".git"
    try:
        if git.is_file():  # a worktree, which names its folder
            git = (ROOT / git.read_text(encoding="utf-8").partition(":")[2].strip()).resolve()
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        if not head.startswith("ref: "):
            return head
        name, common = head.partition(" ")[2], git
        if (git / "commondir").is_file():
            common = (git / (git / "commondir").read_text(encoding="utf-8").strip()).resolve()
        if (common / name).is_file():
            return (common / name).read_text(encoding="utf-8").strip()
        packed = (common / "packed-refs").read_text(encoding="utf-8").splitlines()
        return next((line.partition(" ")[0] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return _metadata("commit")
