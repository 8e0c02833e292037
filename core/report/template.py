"""The templates of pages, each compiled once in a process: that takes longer than to fill one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


@cache
def template_of(file: str) -> jinja2.Template:
    """A template of this folder. Raises ImportError where Jinja2 is missing."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string((Path(__file__).parent / file).read_text(encoding="utf-8"))
