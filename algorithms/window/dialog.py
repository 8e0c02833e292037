"""The dialog of a form: QGIS's own, with its fields put into groups that fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from processing.gui.AlgorithmDialog import AlgorithmDialog
from processing.gui.AlgorithmDialogBase import AlgorithmDialogBase
from processing.gui.ParametersPanel import ParametersPanel
from qgis.core import QgsProcessingAlgorithm, QgsProcessingParameterDefinition, QgsProcessingParameterEnum
from qgis.gui import QgsCollapsibleGroupBoxBasic
from qgis.PyQt.QtCore import Qt
from qgis.PyQt.QtWidgets import QComboBox, QGroupBox, QLabel, QScrollArea, QVBoxLayout, QWidget

from ...core.language import tr
from ..form.parameters import ADVANCED
from .choices import choice_label
from .groups import OUTPUTS, SETTINGS, Fold, Parameter, folded

QGIS_ADVANCED = "grpAdvanced"  # as QGIS calls its own group


class FormDialog(AlgorithmDialog):
    """QGIS's dialog, whose panel of parameters folds."""

    def getParametersPanel(self, algorithm: QgsProcessingAlgorithm, parent: QWidget) -> ParametersPanel:
        """The panel, which QGIS asks for while the dialog is made."""
        return FoldingPanel(parent, algorithm, self.in_place, self.active_layer)


class FoldedGroup(QgsCollapsibleGroupBoxBasic):
    """A group of fields that opens by a click; folded, its title says how many of them are set."""

    def __init__(self, fold: Fold, wrappers: Mapping[str, Any]) -> None:
        super().__init__(fold.title)
        self._title = fold.title
        self._settings = []  # each with what it holds untouched
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 6)
        for wrapper in (wrappers[name] for name in fold.names):
            for widget in (wrapper.wrappedLabel(), wrapper.wrappedWidget()):
                if widget is not None:
                    layout.addWidget(widget)
            if not wrapper.parameterDefinition().isDestination():
                self._settings.append((wrapper, wrapper.parameterValue()))
        self.setCollapsed(True)
        self.collapsedStateChanged.connect(self.say_how_many)

    def say_how_many(self) -> None:
        """Put into the title how many fields are set, where they cannot be seen."""
        n_set = self._n_set() if self.isCollapsed() else 0
        self.setTitle(tr("{title} ({n} set)", title=self._title, n=n_set) if n_set else self._title)

    def open_if_set(self) -> None:
        """Open where a field is set, such as in a run of the history."""
        if self._n_set():
            self.setCollapsed(False)

    def _n_set(self) -> int:
        return sum(wrapper.parameterValue() != untouched for wrapper, untouched in self._settings)


class FoldingPanel(ParametersPanel):
    """QGIS's panel of parameters, with what is not asked of everybody in groups that fold."""

    def initWidgets(self) -> None:
        """Have QGIS make all fields, and put them in their groups."""
        _say_lists(self.algorithm())
        super().initWidgets()
        definitions = self.algorithm().parameterDefinitions()
        folds = folded([Parameter(d.name(), _is_advanced(d), d.isDestination()) for d in definitions])
        self._groups = {fold: FoldedGroup(fold, self.wrappers) for fold in folds}
        self._place_groups(folds)
        for wrapper in self.wrappers.values():
            _no_wider_than_the_panel(wrapper)
            _say_choices(wrapper)

    def _place_groups(self, folds: Sequence[Fold]) -> None:
        """Settings stand before QGIS's own group, which is hidden where nothing is left in it; outputs at the end."""
        layout = self.findChild(QScrollArea).widget().layout()
        advanced = self.findChild(QGroupBox, QGIS_ADVANCED)
        at = layout.indexOf(advanced) if advanced is not None else layout.count() - 1
        for offset, fold in enumerate(fold for fold in folds if fold.place == SETTINGS):
            layout.insertWidget(at + offset, self._groups[fold])
        for fold in folds:
            if fold.place == OUTPUTS:
                layout.insertWidget(layout.count() - 1, self._groups[fold])  # before the space below
        grouped = {name for fold in folds for name in fold.names}
        if advanced is not None and all(
            d.name() in grouped for d in self.algorithm().parameterDefinitions() if _is_advanced(d)
        ):
            advanced.hide()

    def setParameters(self, parameters: Mapping[str, object]) -> None:
        """Fill the fields, and open each group in which something is set."""
        super().setParameters(parameters)
        for group in self._groups.values():
            group.open_if_set()

    def createProcessingParameters(self, include_default: bool = True) -> dict[str, object]:
        """What was filled in. A field that is wrong is shown before QGIS says so."""
        try:
            return super().createProcessingParameters(include_default)
        except (AlgorithmDialogBase.InvalidParameterValue, AlgorithmDialogBase.InvalidOutputExtension) as error:
            for group in self._groups.values():
                if error.widget is not None and group.isAncestorOf(error.widget):
                    group.setCollapsed(False)
            raise


def _is_advanced(definition: QgsProcessingParameterDefinition) -> bool:
    return bool(definition.flags() & ADVANCED)


def _no_wider_than_the_panel(wrapper: Any) -> None:
    """Let long labels break and long choices be cut, so that nobody has to scroll sideways."""
    label = wrapper.wrappedLabel()
    wrapper.wrappedWidget().setMinimumWidth(1)
    if isinstance(label, QLabel):
        label.setWordWrap(True)
    for box in _combo_boxes(wrapper):
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(12)


def _say_lists(algorithm: QgsProcessingAlgorithm) -> None:
    """The same for choices of several, which are handed on by their positions.

    The algorithm is the dialog's own: the run makes another, which has the words.
    """
    for definition in algorithm.parameterDefinitions():
        if isinstance(definition, QgsProcessingParameterEnum) and definition.allowMultiple():
            definition.setOptions([choice_label(word) for word in definition.options()])


def _say_choices(wrapper: Any) -> None:
    """Show each choice in the user's language; what is chosen stays the word that is typed headless."""
    definition = wrapper.parameterDefinition()
    if not (isinstance(definition, QgsProcessingParameterEnum) and definition.usesStaticStrings()):
        return
    for box in _combo_boxes(wrapper):
        for i in range(box.count()):
            word = box.itemData(i)
            if isinstance(word, str):
                box.setItemText(i, choice_label(word))
                box.setItemData(i, choice_label(word), Qt.ItemDataRole.ToolTipRole)


def _combo_boxes(wrapper: Any) -> list[QComboBox]:
    widget = wrapper.wrappedWidget()
    return [widget] if isinstance(widget, QComboBox) else widget.findChildren(QComboBox)
