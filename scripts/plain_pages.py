"""The guide as plain pages of HTML, for the plugin's zip: a browser that is given Markdown only offers to save it.

No script, no file of a theme, nothing from elsewhere: what the Help button opens wherever the plugin is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path, PurePosixPath

from markdown import Markdown

STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:56em;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "a{color:#0b4f8a}img{max-width:100%;border:1px solid #ccc}table{border-collapse:collapse}"
    "th,td{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}"
    "code{background:#f2f2f2}pre{background:#f2f2f2;padding:.6em;overflow:auto}"
)


def plain_pages(docs: Path, in_french: Path) -> Iterator[tuple[str, str]]:
    """The pages, by their paths below docs/. in_french : the folder of the French reference, left out if absent."""
    for page in sorted(docs.rglob("*.md")):
        yield _as_html(page.relative_to(docs).as_posix()), plain_page(page.read_text(encoding="utf-8"), page)
    for page in sorted(in_french.glob("*.md")):
        yield f"fr/reference/{_as_html(page.name)}", plain_page(page.read_text(encoding="utf-8"), page, "fr")


def plain_page(text: str, page: Path, language: str = "") -> str:
    """A page of Markdown as a whole page of HTML; its links to other pages lead to those as HTML."""
    body = Markdown(extensions=["tables", "toc", "fenced_code", "md_in_html", "attr_list"]).convert(text)
    body = re.sub(r'href="([^":#]+)\.md(#[^"]*)?"', lambda match: f'href="{match[1]}.html{match[2] or ""}"', body)
    title = escape(text.partition("\n")[0].lstrip("# "))
    spoken = language or ("fr" if "fr" in page.parts[-2:-1] else "en")
    return (
        f'<!DOCTYPE html>\n<html lang="{spoken}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{STYLE}</style></head>'
        f"<body>\n{body}\n</body></html>\n"
    )


def _as_html(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(".html"))
