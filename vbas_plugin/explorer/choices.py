"""What is chosen once for all numbers of regions: k, the method, nested levels."""

from __future__ import annotations

from qgis.PyQt.QtCore import pyqtSignal
from qgis.PyQt.QtWidgets import QCheckBox, QComboBox, QSpinBox, QVBoxLayout, QWidget

from ...algorithms.explorer_data import Choices
from ...algorithms.window.choices import choice_label
from ...core.aggregation import APPROACHES as AGGREGATIONS
from ...core.approach import choosing_sites
from ...core.configuration import CUSTOM, RECOMMENDED
from ...core.language import tr
from ...core.nesting.planning import LARGEST_K
from ...core.parameters import DEFAULT_K, SMALLEST_K
from ...core.site_location import APPROACHES as SITE_LOCATIONS
from .widgets import add_row, narrow, rows


class ChoiceInputs(QWidget):
    """The widgets of the choices. changed : any of them was."""

    changed = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.k = QSpinBox()
        self.k.setRange(SMALLEST_K, LARGEST_K)
        self.k.setValue(DEFAULT_K)
        self.k.setKeyboardTracking(False)
        self.combination, self.site_location, self.aggregation = (narrow(QComboBox()) for _ in range(3))
        self.nested = QCheckBox(tr("Nested levels"))
        self.nested.setToolTip(
            tr(
                "Each record shows the smallest of several nested regions in which k people hide it: nearly nothing is "
                "suppressed. The larger regions are drawn as outlines."
            )
        )
        # The approaches are called as in the toolbox; behind each is its word, its id.
        for list_of, words in (
            (self.combination, [*RECOMMENDED, CUSTOM]),
            (self.site_location, SITE_LOCATIONS),
            (self.aggregation, AGGREGATIONS),
        ):
            for word in words:
                list_of.addItem(choice_label(word), word)
        for list_of, default in (
            (self.combination, "all-rounder"),
            (self.site_location, "balanced density"),
            (self.aggregation, "iterative Voronoi"),
        ):
            list_of.setCurrentIndex(list_of.findData(default))
        layout, custom = rows(), rows()
        self._custom = QWidget()
        self._custom.setLayout(custom)
        add_row(layout, tr("k: smallest class allowed"), self.k, tr("Classes of fewer records are suppressed."))
        add_row(
            layout,
            tr("Method"),
            self.combination,
            tr("How regions are made. The number of regions is what you explore; the slider starts where this has it."),
        )
        add_row(custom, tr("Where the sites go"), self.site_location, tr("The points that draw the regions."))
        add_row(custom, tr("Which area joins which region"), self.aggregation, tr("How areas become regions."))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addLayout(layout)
        outer.addWidget(self._custom)
        outer.addWidget(self.nested)
        self._show_custom()
        self.k.valueChanged.connect(lambda *_: self.changed.emit())
        self.nested.toggled.connect(lambda *_: self.changed.emit())
        for list_of in (self.combination, self.site_location, self.aggregation):
            list_of.currentIndexChanged.connect(self._take)

    def choices(self) -> Choices:
        """What is chosen."""
        return Choices(
            self.k.value(),
            str(self.combination.currentData()),
            str(self.site_location.currentData()),
            str(self.aggregation.currentData()),
            self.nested.isChecked(),
        )

    def choose(self, choices: Choices) -> None:
        """Set the widgets."""
        self.k.setValue(choices.k)
        self.nested.setChecked(choices.nested)
        for list_of, word in (
            (self.combination, choices.combination),
            (self.site_location, choices.site_location),
            (self.aggregation, choices.aggregation),
        ):
            if word:
                list_of.setCurrentIndex(list_of.findData(word))

    def _take(self) -> None:
        self._show_custom()
        self.changed.emit()

    def _show_custom(self) -> None:
        """The approaches by themselves, only where they count."""
        self._custom.setVisible(self.combination.currentData() == CUSTOM)
        self.site_location.setEnabled(self.aggregation.currentData() not in choosing_sites(AGGREGATIONS))
