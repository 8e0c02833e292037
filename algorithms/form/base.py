"""What all forms share: help, outputs, and errors as QGIS shows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from qgis.core import (
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingOutputNumber,
    QgsProcessingParameterDefinition,
)

from ...core.errors import PrivacyError, VbasError
from ...core.garbage import garbage_looked_for_seldom
from ...core.job.rules import hold_to_policies, refusal, with_rule_minimums
from ...core.job.signing import SAID
from ...core.language import as_data, language, tr
from ...core.policy import policies, policies_for_lists
from ...core.privacy.rules import NO_RULE, list_rules
from ...core.records.table_file import state_of
from ...core.secrecy import without_secrets
from ...core.tables.schema import FOR_RELEASE, kind_of_output
from ..compat import hidden_flags
from ..layers.delivery.outputs import Outputs
from ..layers.feedback import DiscreetFeedback, addresses_in, cancelled_by_signals
from ..layers.gdal_errors import raised_by_gdal, sentence_of_gdal
from ..layers.inputs import Inputs, own_rules, remember, remembered
from ..layers.leaving import layers_stay
from ..named import NamedAlgorithm, history, name_pages
from ..unavailable import not_loaded
from .effective import Conditions, Effective
from .form import Form, FormJob
from .help_panel import help_of
from .refusals import fault_of_the_program, kept_by_qgis, problem_of, refused_value
from .understanding import as_spelled, is_blank, understood, with_labels

# The parameters that tell one run of a form from another, beside k.
METHODS = ("METHOD", "AGGREGATION", "SITE_LOCATION", "APPROACH")
RELEASE_FOLDER = "RELEASE_FOLDER"
# Of each algorithm by its id: what the declaration depends on, its parameters, and its outputs that are none.
_declared: dict[str, tuple[Any, list[QgsProcessingParameterDefinition], list[tuple[Any, str, str]]]] = {}
_conditions: dict[str, Conditions] = {}
EVERYWHERE = as_data("k-anonymity,anonymization,privacy")


class VbasAlgorithm(NamedAlgorithm):
    """A form over core. A subclass names itself, declares its parameters in `declare` and works in `work`."""

    TAGS: ClassVar[str] = ""
    SUMMARY: ClassVar[str]
    """One sentence for the tooltip."""
    HELP: ClassVar[str]
    """What it does and when to use it: paragraphs of HTML."""
    _parameters: Mapping[str, object] = MappingProxyType({})  # of the run
    _in_place = False  # whether the outputs of the run were put in their place

    def declare(self) -> None:
        """Add the parameters and outputs."""
        raise NotImplementedError

    def work(self, form: Form) -> Any:
        """Do the work: read the form, add to its outputs, return the numbers; VbasError becomes what QGIS shows.

        A form that releases gives what it made, of which `handed_over` adds the outputs.
        """
        raise NotImplementedError

    def handed_over(self, form: Form, made: Any) -> dict[str, object]:
        """Add the outputs of what `work` made; the numbers."""
        return dict(made)

    def conditions(self) -> Conditions:
        """Under which choices a parameter counts, see `effective`; one that is not named always counts."""
        return {}

    def settled(self, inputs: Inputs) -> Mapping[str, object]:
        """Values that the form uses in place of what was typed; an empty text where it needs none."""
        return {}

    def group_title(self, inputs: Inputs) -> str:
        """What the layers of a run are called together: a k that nothing was held to would be a promise."""
        counted = self.effective(dict(inputs.parameters), inputs.context).values()
        k = [f"k = {counted['K']}"] if counted.get("K", "") != "" else []
        methods = [str(counted[name]) for name in METHODS if name in counted]
        return ", ".join([self.displayName(), *k, *methods])

    def with_rule_minimums(self, inputs: Inputs) -> Inputs:
        """The run as it is worked with: a published rule that is followed raises other parameters."""
        if not inputs.has("RULE") or inputs.text("RULE") == NO_RULE:
            return inputs
        return inputs.with_parameters(**with_rule_minimums(FormJob(inputs)))

    def effective(self, parameters: dict[str, object], context: QgsProcessingContext) -> Effective:
        """What a run with these parameters really uses."""
        inputs = Inputs(self, parameters, context)
        if self.ID not in _conditions:
            _conditions[self.ID] = self.conditions()
        return Effective(inputs, _conditions[self.ID], self.settled(inputs))

    def flags(self) -> Any:
        """Those of QGIS; what a policy of the house hides is not in the toolbox and the model designer."""
        hidden = any(self.ID in policy.hidden for policy in policies_for_lists())
        return super().flags() | hidden_flags() if hidden else super().flags()

    def createCustomParametersWidget(self, parent: Any) -> Any:
        """The dialog: QGIS's own, with what is not asked of everybody in groups that fold."""
        from ..window.dialog import FormDialog

        return FormDialog(self, False, parent)

    def createInstance(self) -> VbasAlgorithm:
        return type(self)()

    def tags(self) -> list[str]:
        """Words to search the toolbox by: in English, and in the language of the user."""
        words = ["vbas"] + [text for tags in (EVERYWHERE, self.TAGS) for text in (tags, tr(tags)) if tags]
        return list(dict.fromkeys(",".join(words).split(",")))

    def shortDescription(self) -> str:
        return self.SUMMARY

    def shortHelpString(self) -> str:
        """The help panel."""
        return help_of(self.HELP, self.parameterDefinitions())

    def initAlgorithm(self, configuration: dict[str, object] | None = None) -> None:
        # QGIS makes an algorithm anew for each run: what it declares is kept, and declared again where it could differ.
        of = (language(), *map(state_of, own_rules()), *map(remembered, SAID))
        if _declared.get(self.ID, (None,))[0] != of:
            self.declare()
            kept = [_copy_of(definition) for definition in self.parameterDefinitions()]
            destinations = {definition.name() for definition in kept if definition.isDestination()}
            numbers = [output for output in self.outputDefinitions() if output.name() not in destinations]
            _declared[self.ID] = of, kept, [(type(number), number.name(), number.description()) for number in numbers]
        else:
            _, kept, outputs = _declared[self.ID]
            self.addParameters(*map(_copy_of, kept))
            for kind, name, label in outputs:
                self.addOutput(kind(name, label))
        name_pages(self)

    def addParameters(self, *parameters: QgsProcessingParameterDefinition) -> None:
        """Declare inputs and outputs."""
        for parameter in parameters:
            self.addParameter(parameter)

    def addNumbers(self, **labels: str) -> None:
        """Declare numeric outputs by name and label."""
        for name, label in labels.items():
            self.addOutput(QgsProcessingOutputNumber(name, label))

    def checkParameterValues(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        taken, problem = self._taken(parameters, context)
        return taken, without_secrets(problem, *addresses_in(parameters, context))

    def _taken(self, parameters: dict[str, object], context: QgsProcessingContext) -> tuple[bool, str]:
        # A rule of a file that cannot be read is not in the list: this says why, before QGIS says that it is not.
        if parameters.get("RULE") not in (None, "", NO_RULE):
            unreadable = list_rules(*own_rules()).problem
            if unreadable:
                return False, with_labels(self, refusal(unreadable))
        try:
            inputs = understood(self, parameters, context)
        except QgsProcessingException as error:
            return False, with_labels(self, str(error))
        taken, problem = super().checkParameterValues(inputs, context)
        if not taken:
            return taken, with_labels(self, refused_value(self, inputs, context) or problem)
        try:
            self._hold_to_policies(self.with_rule_minimums(as_spelled(Inputs(self, inputs, context))))
        except PrivacyError as error:
            return False, with_labels(self, str(error))
        except VbasError:
            pass  # which the run says in its place
        return taken, problem

    def _hold_to_policies(self, inputs: Inputs) -> None:
        """Raise PrivacyError for a run that a policy of the house does not have, before anything is read."""
        for policy in policies_for_lists():
            policy.refuse_hidden(self.ID)
        destinations = [definition for definition in self.parameterDefinitions() if definition.isDestination()]
        if any(kind_of_output(output.description()) == FOR_RELEASE for output in destinations) and policies():
            folder = not is_blank(inputs.parameters.get(RELEASE_FOLDER)) if inputs.has(RELEASE_FOLDER) else None
            hold_to_policies(FormJob(inputs), folder)

    def processAlgorithm(
        self, parameters: dict[str, object], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> dict[str, object]:
        # Whatever leaves a run is told through one of these: its log, what it gives, and the sentence that ends it.
        problem, addresses = "", addresses_in(parameters, context)
        feedback = DiscreetFeedback(feedback, addresses)
        try:
            with garbage_looked_for_seldom():
                results = self._result(parameters, context, feedback, addresses)
            return {name: _discreet(value, addresses) for name, value in results.items()}
        except (VbasError, QgsProcessingException, MemoryError) as error:
            problem = problem_of(self, error, addresses)
        except ImportError as error:  # what is heavy is loaded when it is used
            problem = not_loaded(error)
        except Exception as error:
            expected = raised_by_gdal(error) and not self._in_place
            problem = sentence_of_gdal(error) if expected else fault_of_the_program(error, self._in_place, feedback)
            problem = without_secrets(problem, *addresses)
        # QGIS never lets go of an exception that an algorithm raises. Raised here, it holds on to none of the records.
        raise QgsProcessingException(problem)

    def postProcessAlgorithm(self, context: QgsProcessingContext, feedback: QgsProcessingFeedback) -> dict[str, object]:
        # In the thread of the window, where a project may be changed.
        if self._parameters.keys() & set(SAID):
            remember(self, SAID, self._parameters, context.project())
        return {}

    def _result(
        self,
        parameters: dict[str, object],
        context: QgsProcessingContext,
        feedback: QgsProcessingFeedback,
        addresses: tuple[str, ...],
    ) -> dict[str, object]:
        with cancelled_by_signals(feedback), layers_stay(self, parameters, context, feedback):
            inputs = self.with_rule_minimums(as_spelled(Inputs(self, understood(self, parameters, context), context)))
            self._hold_to_policies(inputs)
            effective = self.effective(inputs.parameters, context)
            for sentence in effective.idle():
                feedback.pushWarning(sentence)
            settings = effective.sentence()
            if settings:
                feedback.pushInfo(settings)
            for sentence in kept_by_qgis(parameters) if addresses else ():
                feedback.pushWarning(sentence)
            with Outputs(inputs, feedback, self.group_title(inputs), partial(history, self.displayName())) as outputs:
                form = Form(inputs, feedback, effective, outputs)
                try:
                    numbers = self.handed_over(form, self.work(form))
                    results = outputs.deliver()
                    self._parameters = dict(inputs.parameters)
                finally:
                    self._in_place = outputs.in_place
            form.info(*form.conclusion)
            feedback.setProgress(100)
            if self.outputDefinition("RUNNING_TIME") is not None:
                numbers["RUNNING_TIME"] = form.seconds()
            return {**results, **numbers}


def _copy_of(definition: QgsProcessingParameterDefinition) -> QgsProcessingParameterDefinition:
    """A copy that goes in Python when it goes in QGIS.

    Of one that `clone` made PyQt would not hear that it is gone: its Python object would live as long as that of the
    algorithm, and be given out, with its kind, for the next definition at its place in memory.
    """
    return type(definition)(definition)


def _discreet(value: object, addresses: tuple[str, ...]) -> object:
    """A result as it is printed: an output that is told by its address needs no password there, see `Outputs`."""
    return without_secrets(value, *addresses) if isinstance(value, str) else value
