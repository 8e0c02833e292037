"""The models that come with the plugin."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from qgis.core import QgsProcessingContext, QgsProcessingException, QgsProcessingFeedback, QgsProcessingModelAlgorithm
from qgis.PyQt.QtGui import QIcon

from ..algorithms.databases.choosing import check_address, with_list
from ..algorithms.form.base import EVERYWHERE
from ..algorithms.form.effective import Effective
from ..algorithms.form.form import FormJob
from ..algorithms.form.help_panel import help_of
from ..algorithms.form.layer_chooser import propose_layer
from ..algorithms.form.understanding import understood, with_labels
from ..algorithms.form.usual_fields import propose_usual_field
from ..algorithms.layers.delivery.groups import one_group, title_of_run
from ..algorithms.layers.feedback import addresses_in
from ..algorithms.layers.inputs import Inputs
from ..algorithms.named import GROUPS, ICONS, help_page, name_pages
from ..core.errors import InputError
from ..core.job.conditions import with_combination
from ..core.job.configuring import settled_by_combination
from ..core.language import as_data, tr
from ..core.policy import policies_for_lists
from ..core.secrecy import without_secrets
from ..core.tables import table_of

FOLDER = Path(__file__).resolve().parent.parent / "models"
TITLES = {
    "anonymizestepbystep": tr("Anonymise records, step by step (model)"),
    "nestedstepbystep": tr("Anonymise records with nested levels, step by step (model)"),
    "inplacestepbystep": tr("Anonymise records in a database, step by step (model)"),
    "monthlyupdate": tr("Update a release each month, step by step (model)"),
}
SUMMARIES = {
    "anonymizestepbystep": tr(
        "The steps of “Anonymise records” one after the other, to be changed in the model designer."
    ),
    "nestedstepbystep": tr("The steps of a nested release one after the other, to be changed in the model designer."),
    "inplacestepbystep": tr("The steps over records that stay in a database, to be changed in the model designer."),
    "monthlyupdate": tr(
        "This month's release, all months held against each other, and the register, to be changed in the model "
        "designer."
    ),
}

TAGS = as_data("model,workflow,suppression,nested,voronoi")


class TitledModel(QgsProcessingModelAlgorithm):
    """A model that shows a title: QGIS would show its id, which has to be one word for the command line.

    It has inputs of the main algorithm and its steps, and understands them as those do.
    """

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self.readable = self.fromFile(str(file))
        self.setSourceFilePath(str(file))
        # None while the provider is read: QGIS knows the steps once that is registered. First: it names outputs anew.
        for step in self.childAlgorithms().values():
            step.setDescription(tr(step.description()))
            self.setChildAlgorithm(step)
        texts = {part: _help_text(part, tr(text)) for part, text in self.helpContent().items()}
        self.setHelpContent(texts)
        for output in self.outputDefinitions():
            output.setDescription(tr(output.description()))
        name_pages(self)
        for definition in self.parameterDefinitions():
            definition.setDescription(tr(definition.description()))
            # QGIS 3.22 keeps the texts of inputs with the model, not with them.
            definition.setHelp(texts.get(definition.name(), tr(definition.help())))
            if definition.type() == "field" and not definition.allowMultiple():
                propose_usual_field(definition)
            elif definition.type() == "source":
                propose_layer(definition)
            elif definition.type() == "string" and self.parameterDefinition("CONNECTION") is not None:
                with_list(definition)
            if definition.type() == "matrix":
                definition.setHeaders([tr(header) for header in definition.headers()])

    def createInstance(self) -> TitledModel:
        return type(self)(self._file)

    def displayName(self) -> str:
        return TITLES.get(self.name(), self.name())

    def groupId(self) -> str:
        return "anonymise"

    def group(self) -> str:
        return GROUPS["anonymise"]

    def helpUrl(self) -> str:
        return help_page(self.name())

    def shortDescription(self) -> str:
        return SUMMARIES.get(self.name(), "")

    def tags(self) -> list[str]:
        """Words to search the toolbox by, as of the forms."""
        words = [text for tags in (EVERYWHERE, TAGS) for text in (tags, tr(tags))]
        return list(dict.fromkeys(",".join(["vbas", *words]).split(",")))

    def shortHelpString(self) -> str:
        """The help panel, as beside the forms: QGIS would repeat the help of every input."""
        return help_of(self.helpContent().get("ALG_DESC", ""), self.parameterDefinitions())

    def createCustomParametersWidget(self, parent: Any) -> Any:
        """The dialog of the forms."""
        from ..algorithms.window.dialog import FormDialog

        return FormDialog(self, False, parent)

    def icon(self) -> QIcon:
        return QIcon(str(ICONS / "vbas.svg"))

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # Headless QGIS asks the model that was read with the provider, before its steps were there to give it outputs.
        whole = self.createInstance()
        try:
            self._check_connection(parameters, context)
            given = understood(whole, parameters, context)
            taken, problem = QgsProcessingModelAlgorithm.checkParameterValues(whole, given, context)
        except (QgsProcessingException, InputError) as error:
            taken, problem = False, with_labels(whole, str(error))
        return taken, without_secrets(problem, *addresses_in(parameters, context))

    def _check_connection(self, parameters: dict[str, object], context: QgsProcessingContext) -> None:
        """Refuse a password in the address of a database before QGIS writes it into its history. Raises InputError."""
        if self.parameterDefinition("CONNECTION") is not None:
            given = self.parameterAsString(parameters, "CONNECTION", context).strip()
            if given:
                check_address(given)

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        inputs = Inputs(self, understood(self, parameters, context), context)
        if inputs.has("COMBINATION"):  # which the steps do not know, so that they cannot warn of it
            settled = settled_by_combination(FormJob(inputs))
            for sentence in Effective(inputs, with_combination(), settled).idle():
                feedback.pushWarning(sentence)
        attributes = inputs.field_names("QUASI_IDENTIFIERS")
        with one_group(title_of_run(self._group_title(inputs), attributes, datetime.now().astimezone())):
            return super().processAlgorithm(inputs.parameters, context, feedback)

    def _group_title(self, inputs: Inputs) -> str:
        """What the layers of a run are called together, as “Anonymise records” calls them."""
        if inputs.has("UPDATE"):  # whose k may be that of the release before
            return tr("A month's release, step by step")
        k = f"k = {inputs.whole('K')}"
        if inputs.has("CONNECTION"):
            return tr("Regions for records in a database, {k}, step by step", k=k)
        if not inputs.has("COMBINATION"):
            return tr("Nested regions, {k}, step by step", k=k)
        return tr("Regions, {k}, {given}, step by step", k=k, given=inputs.text("COMBINATION"))


def _help_text(part: str, text: str) -> str:
    """A text of a model, with the fields where it is that of a table."""
    table = table_of(part, text)
    return text if table is None else table.about


def models() -> list[TitledModel]:
    """Those that this QGIS can read, and that no policy of the house hides."""
    hidden = {name for policy in policies_for_lists() for name in policy.hidden}
    read = map(TitledModel, sorted(FOLDER.glob("*.model3")))
    return [model for model in read if model.readable and model.name() not in hidden]
