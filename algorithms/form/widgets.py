"""QGIS's own widgets of parameters, to which a form adds something once all widgets are there.

Nothing of this touches models or headless runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qgis.core import QgsProcessingParameterDefinition

# Called with the widget's wrapper and those of all parameters of the form, by name.
Link = Callable[[Any, Mapping[str, Any]], None]


def linked_widget(parameter: QgsProcessingParameterDefinition, dialog: Any, row: int, col: int, link: Link) -> Any:
    """The wrapper that QGIS itself makes for a parameter, and `link` is called when the form is ready.

    For classes that a parameter's metadata names, which QGIS calls with the other arguments; in the model designer
    nothing is linked.
    """
    from processing.gui.wrappers import WidgetWrapperFactory

    metadata = parameter.metadata()
    parameter.setMetadata({})
    try:
        wrapper = WidgetWrapperFactory.create_wrapper(parameter, dialog, row, col)
    finally:
        parameter.setMetadata(metadata)
    linked = getattr(wrapper, "postInitialize", None)
    if linked is None:  # in the model designer
        return wrapper

    def ready(wrappers: list[Any]) -> None:
        del wrapper.postInitialize  # or the widget would hold itself, and outlive its form
        linked(wrappers)
        link(wrapper, {field_wrapper.parameterDefinition().name(): field_wrapper for field_wrapper in wrappers})

    wrapper.postInitialize = ready
    return wrapper
