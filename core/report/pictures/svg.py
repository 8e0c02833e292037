"""SVG, piece by piece: every text and attribute is escaped here, so that no name can become markup."""

from __future__ import annotations

from html import escape

INK, QUIET, GRID = "#20262e", "#4a535e", "#dfe4ea"
MARK = "#b3261e"
# Okabe and Ito: told apart with every kind of colour vision.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 2")
LETTER = 0.56  # of the font size: how wide a letter is, about
FONT = 13.0


def element(tag: str, content: str = "", **attributes: object) -> str:
    """An element. content : SVG; attributes : with _ for -; numbers are rounded to a tenth of a unit."""
    attributes_text = "".join(
        f' {name.replace("_", "-")}="{escape(_attribute(value))}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{tag}{attributes_text}>{content}</{tag}>" if content else f"<{tag}{attributes_text}/>"


def words(x: float, y: float, text: str, size: float = FONT, **attributes: object) -> str:
    """A line of text."""
    return element("text", escape(text), x=x, y=y, font_size=size, **attributes)


def hint(text: str) -> str:
    """What is shown when one points at the element that holds it."""
    return f"<title>{escape(text)}</title>"


def picture(content: str, width: float, height: float, name: str, description: str, css_class: str = "chart") -> str:
    """A whole SVG: name and description are what a screen reader says in its place."""
    return (
        f'<svg role="img" class="{css_class}" aria-label="{escape(name)}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"><title>{escape(name)}</title><desc>{escape(description)}</desc>'
        f"{content}</svg>"
    )


def caption(text: str) -> str:
    """What stands under a picture."""
    return f"<figcaption>{escape(text)}</figcaption>"


def legend(entries: list[tuple[str, str, str]], title: str = "") -> str:
    """A key in words below a picture: (colour, dashes of a line or "area", label) each."""
    items = "".join(f"<li>{_swatch(colour, kind)}{escape(label)}</li>" for colour, kind, label in entries)
    heading = f'<p class="key">{escape(title)}</p>' if title else ""
    return f'{heading}<ul class="legend">{items}</ul>'


def clipped(text: str, most: int) -> str:
    """A text of so many letters at most."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _swatch(colour: str, kind: str) -> str:
    if kind == "area":
        inside = element("rect", x=0.5, y=0.5, width=17, height=11, fill=colour, stroke=QUIET, stroke_width=0.5)
    elif kind == "point":
        inside = element("circle", cx=9, cy=6, r=4, fill=colour)
    elif kind == "diamond":
        inside = element("path", d="M9 0L15 6L9 12L3 6z", fill=colour)
    else:
        inside = element("path", d="M0 6h18", stroke=colour, stroke_width=2.5, stroke_dasharray=kind)
    return f'<svg class="swatch" aria-hidden="true" width="18" height="12">{inside}</svg>'


def _attribute(value: object) -> str:
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)
