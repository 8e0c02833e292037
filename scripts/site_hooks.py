"""What MkDocs does beyond its settings for the site of the guide, see mkdocs.yml."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

LIST = "README.md"
# The reference in French, where scripts/docs has written it.
IN_FRENCH = Path(__file__).resolve().parent.parent / "build" / "reference" / "fr"


def on_config(config: Any) -> Any:
    """Put the pages of the reference into the navigation."""
    for entry in config.nav:
        if "Reference" in entry:
            entry["Reference"] = _pages(Path(config.docs_dir, "reference"), "reference")
        if "En français" in entry and IN_FRENCH.is_dir():
            entry["En français"].append({"Référence": _pages(IN_FRENCH, "fr/reference")})
    return config


def _pages(folder: Path, address: str) -> list[Any]:
    """The pages of a reference by their groups, as its list of algorithms has them."""
    sections = re.split(r"^## (.+)$", (folder / LIST).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    rows = re.compile(r"^\| \[(.+?)\]\((.+?)\)", re.MULTILINE)
    groups = [
        {heading: [{title: f"{address}/{page}"} for title, page in rows.findall(text)]}
        for heading, text in zip(sections[::2], sections[1::2])
    ]
    return [f"{address}/{LIST}", *groups]


def on_files(files: Any, config: Any) -> Any:
    """Add the reference in French."""
    for page in sorted(IN_FRENCH.glob("*.md")):
        files.append(File.generated(config, f"fr/reference/{page.name}", abs_src_path=str(page)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Whoever searches finds the guide before the reference, whose many pages name everything."""
    if "reference/" not in page.file.src_uri:
        page.meta.setdefault("search", {"boost": 3})
    return markdown


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """The words around a page, such as “Search”, are in the language of the page."""
    config.theme["language"] = "fr" if page.file.src_uri.startswith("fr/") else "en"
    return context
