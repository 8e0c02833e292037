"""What a page could run or fetch, as a browser's parser finds it: for tests of reports."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

# Each ends what it may stand in (an element, an attribute, a string of a script, a template) and begins something new.
# No semicolons: QGIS splits lists of fields at them.
HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "'><svg/onload=alert(1)></title></text><a href=javascript:alert(1)>",
    "<!--<script>{{7*7}}{% raw %}${7*7}&ltscript&gt\u2028alert(1)//\u2029end",
)
HARMLESS = "name"
URL_ATTRIBUTES = ("href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "style", "srcset", "poster")
# Elements that run or fetch something, whatever their attributes are.
ACTIVE = ("script", "link", "iframe", "object", "embed", "img", "image", "use", "form", "base", "audio", "video")


class Page(HTMLParser):
    """Elements with the names of their attributes, what runs or fetches something, headings, and all that is shown."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter = Counter()
        self.runs: list[tuple] = []
        self.comments = 0
        self.shown: list[str] = []
        self.styles = ""
        self.headings: list[int] = []
        self.attributes: list[tuple[str, dict]] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        self.elements[(tag, *sorted(name for name, _ in attrs))] += 1
        self.attributes.append((tag, dict(attrs)))
        if tag in ACTIVE:
            self.runs.append((tag, *sorted(attrs)))
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))
        for name, value in attrs:
            address = (value or "").strip()
            if name.startswith("on") or (name in URL_ATTRIBUTES and not address.startswith("#")):
                self.runs.append((tag, name, value))

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "style":
            self.styles += data
        else:
            self.shown.append(data)

    def handle_comment(self, data):
        self.comments += 1


def assert_runs_nothing(text: str) -> Page:
    """The page has no script, no handler, and no address but its own headings."""
    page = Page(text)
    assert page.runs == []
    assert page.comments == 0
    assert "url(" not in page.styles and "@import" not in page.styles and "<" not in page.styles
    return page


def assert_runs_no_more_than(text: str, harmless: str) -> None:
    """The page runs nothing and has the very elements of the harmless one."""
    assert assert_runs_nothing(text).elements == assert_runs_nothing(harmless).elements
