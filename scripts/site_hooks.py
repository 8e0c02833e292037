"""What MkDocs does beyond its settings for the site of the guide, see mkdocs.yml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

REFERENCE = "reference/README.md"


def on_config(config: Any) -> Any:
    """Put the pages of the reference into the navigation, by their groups, as its list of algorithms has them."""
    listed = Path(config.docs_dir, REFERENCE).read_text(encoding="utf-8")
    sections = re.split(r"^## (.+)$", listed, flags=re.MULTILINE)[1:]
    pages = [
        {heading: [{title: f"reference/{page}"} for title, page in re.findall(r"^\| \[(.+?)\]\((.+?)\)", text, re.M)]}
        for heading, text in zip(sections[::2], sections[1::2])
    ]
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] = [REFERENCE, *pages]
    return config


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """The words around a page, such as “Search”, are in the language of the page."""
    config.theme["language"] = "fr" if page.file.src_uri.startswith("fr/") else "en"
    return context
