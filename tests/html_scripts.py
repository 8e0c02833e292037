"""What a page could run, as a browser's parser finds it: for tests of reports."""

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
URL_ATTRIBUTES = ("href", "src", "action", "formaction", "xlink:href", "data", "srcdoc", "style")


class Page(HTMLParser):
    """Elements with the names of their attributes, handlers, addresses, and the texts of scripts and titles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter = Counter()
        self.runs: list[tuple] = []
        self.scripts: list[str] = []
        self.comments = 0
        self.shown: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self._inside = tag
        self.elements[(tag, *sorted(name for name, _ in attrs))] += 1
        if tag == "script":
            self.runs.append((tag, *sorted(attrs)))
            self.scripts.append("")
        for name, value in attrs:
            address = (value or "").strip().lower()
            if name.startswith("on") or (name in URL_ATTRIBUTES and ("javascript:" in address or "data:" in address)):
                self.runs.append((tag, name, value))

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        else:
            self.shown.append(data)

    def handle_comment(self, data):
        self.comments += 1

    @property
    def charts(self) -> list[str]:
        """Scripts that draw a chart."""
        return [script for script in self.scripts if "Plotly.newPlot(" in script and len(script) < 1_000_000]


def assert_runs_no_more_than(text: str, harmless: str) -> None:
    """The page has the very elements, scripts, handlers and addresses of the harmless one, and closed strings."""
    page, other = Page(text), Page(harmless)
    assert page.runs == other.runs
    assert page.elements == other.elements
    assert page.comments == other.comments
    assert len(page.charts) == len(other.charts)
    for chart in page.charts:
        # Without these a string of a script cannot end the script, start markup or break its line.
        data = chart[chart.index("Plotly.newPlot(") :]
        assert not set(data) & set("<>\u2028\u2029"), data[:300]
