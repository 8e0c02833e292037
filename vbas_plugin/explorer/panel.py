"""What is told of one region: who lives there, what is suppressed of them, and why."""

from __future__ import annotations

from html import escape

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QToolButton, QVBoxLayout, QWidget

from ...core import counted
from ...core.attribute_costs import AttributeCost
from ...core.language import plural, tr
from ...core.plain_text import value_text
from ...core.region_account import RegionAccount, ValueLost
from .widgets import wrapped

NAMED = 4  # values and quasi-identifiers in a list


class RegionPanel(QWidget):
    """The panel. clicking : clicks on the map are to ask for regions, or no longer; filled : one is told of"""

    clicking = pyqtSignal(bool)
    filled = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = QToolButton()
        self.button.setText(tr("Click a region"))
        self.button.setCheckable(True)
        self.button.setToolTip(tr("On the map: its people, its classes, and what is suppressed and why are then told."))
        self.button.clicked.connect(self.clicking.emit)
        self.text = wrapped()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.button)
        layout.addWidget(self.text)

    def show_text(self, html: str) -> None:
        """Show what is told of a region; nothing where it is empty."""
        self.text.setText(html)
        self.text.setVisible(bool(html))
        if html:
            self.filled.emit()


def told_of(number: int, k: int, account: RegionAccount, shown_where: str = "") -> str:
    """The account of a region, as HTML; shown_where : a sentence on where its records are shown, with nested levels."""
    parts = [
        f"<b>{escape(tr('Region {number}', number=number))}</b> – <b>{escape(tr('internal: not for publishing'))}</b>",
        escape(_people(account)),
    ]
    if account.records:
        parts.append(escape(_classes(account)))
    if shown_where:
        parts.append(escape(shown_where))
    if account.suppressed:
        parts.append(escape(_suppressed(account, k, bool(shown_where))))
        parts.append(_why(account))
        parts.append(_who(account.lost))
    elif account.records:
        parts.append(escape(_all_shown(account, k)))
    html = "".join(f"<div style='margin:3px 0'>{part}</div>" for part in parts if part)
    return html.replace(" %", "&nbsp;%")  # on one line


def _all_shown(account: RegionAccount, k: int) -> str:
    if account.asks_for_more:
        return tr("Every class meets what is asked of it: nothing is suppressed here.")
    return tr("Every class has at least {k} records: nothing is suppressed here.", k=k)


def _people(account: RegionAccount) -> str:
    areas = plural("{n} area", "{n} areas", account.areas)
    return tr(
        "{areas}, population {population:,.0f}, {records}.",
        areas=areas,
        population=account.population,
        records=counted.records(account.records),
    )


def _classes(account: RegionAccount) -> str:
    return plural(
        "{n} class of {largest}.",
        "{n} classes; the smallest has {smallest:,}, the largest {largest}.",
        account.classes,
        smallest=account.smallest,
        largest=counted.records(account.largest),
    )


def _suppressed(account: RegionAccount, k: int, nested: bool) -> str:
    words = {"records": counted.records(account.suppressed), "classes": counted.classes(account.small_classes)}
    if nested and account.asks_for_more:
        return tr(
            "Not shown here: {records} ({percent:.3g} %), in {classes} that do not hold what is asked of a class. They "
            "need a larger region, where others go with them to hide them.",
            percent=account.percent,
            **words,
        )
    if nested:
        return tr(
            "Too few to be shown here: {records} ({percent:.3g} %), in {classes} of fewer than {k}. They need a larger "
            "region, where others go with them to hide them.",
            percent=account.percent,
            k=k,
            **words,
        )
    if account.asks_for_more:
        return tr(
            "Suppressed: {records} ({percent:.3g} %), in {classes} that do not hold what is asked of a class.",
            percent=account.percent,
            **words,
        )
    return tr(
        "Suppressed: {records} ({percent:.3g} %), in {classes} of fewer than {k}.",
        percent=account.percent,
        k=k,
        **words,
    )


def _why(account: RegionAccount) -> str:
    """What makes records rare: the quasi-identifiers without which fewest would be."""
    dearest = sorted((cost for cost in account.costs if cost.without < account.percent), key=lambda cost: cost.without)
    if not dearest:
        return escape(tr("No single quasi-identifier makes them rare."))
    return _listed(tr("What makes them rare:"), [_cost(cost) for cost in dearest[:NAMED]])


def _cost(cost: AttributeCost) -> str:
    return tr("without “{field}” it would be {percent:.3g} %", field=cost.quasi_identifier, percent=cost.without)


def _who(lost: tuple[ValueLost, ...]) -> str:
    return _listed(tr("Who they are, most first:"), [_value(value) for value in lost[:NAMED]])


def _value(lost: ValueLost) -> str:
    return tr(
        "{field} {value}: {suppressed:,} of {records:,}",
        field=lost.quasi_identifier,
        value=value_text(lost.value),
        suppressed=lost.suppressed,
        records=lost.records,
    )


def _listed(title: str, items: list[str]) -> str:
    lines = "".join(f"<tr><td>•&nbsp;</td><td>{escape(item)}</td></tr>" for item in items)
    return f"{escape(title)}<table>{lines}</table>"
