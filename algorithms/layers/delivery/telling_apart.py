"""Outputs of several runs that would have one name: each is called by what differs, such as whose records it has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from qgis.core import QgsProject, QgsVectorLayer

from ....core.language import tr
from ....core.tables.schema import kind_of_output, named
from ..inputs import Inputs

RUN = "vbas/details"  # a property of a layer: title and details of what made it


def details_of_run(inputs: Inputs, when: datetime) -> tuple[str, ...]:
    """What may tell the outputs of one run from those of another, the most telling first: the records, the attributes,
    k, how many sizes of regions, the method, the time."""
    found = [_source_name(inputs, "RECORDS")]
    if inputs.has("QUASI_IDENTIFIERS"):
        found.append(", ".join(inputs.field_names("QUASI_IDENTIFIERS")))
    if inputs.has("K") and inputs.definition("K").type() == "number":
        found.append(tr("k = {k}", k=inputs.whole("K")))
    found += [tr(inputs.text(name)) for name in ("RELEASE", "COMBINATION") if _is_choice(inputs, name)]
    return *(detail for detail in found if detail), f"{when:%H:%M}"


def name_apart(layer: QgsVectorLayer, title: str, details: Sequence[str], project: QgsProject) -> str:
    """The title, or, where the project has another output of it, the title with the first detail that no other has; a
    number where all are the same.

    layer : the output, which keeps what tells it apart
    """
    layer.setCustomProperty(RUN, json.dumps([title, *details]))
    others = [other for other in project.mapLayers().values() if other.id() != layer.id()]
    alike = [kept[1:] for other in others if (kept := _kept(other))[:1] == [title]]
    taken = {other.name() for other in others}
    if title not in taken and not alike:
        return title
    known = {detail for kept in alike for detail in kept}
    detail = next((detail for detail in details if detail not in known), details[-1])
    numbered = (f"{detail} ({n})" for n in range(2, len(taken) + 3))
    return next(name for one in (detail, *numbered) if (name := _with(title, one)) not in taken)


def _with(title: str, detail: str) -> str:
    """A detail in the title, before what says whether it may be published."""
    kind = kind_of_output(title)
    return f"{named(title)} · {detail} ({kind})" if kind else f"{title} · {detail}"


def _kept(layer: object) -> list[str]:
    try:
        kept = json.loads(layer.customProperty(RUN, "[]"))  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        return []
    return [str(part) for part in kept] if isinstance(kept, list) else []


def _source_name(inputs: Inputs, name: str) -> str:
    """What the user calls the layer that was given; empty for none."""
    if not inputs.has(name) or inputs.definition(name).type() != "source":
        return ""
    source = inputs.algorithm.parameterAsSource(inputs.parameters, name, inputs.context)
    return "" if source is None else str(source.sourceName())


def _is_choice(inputs: Inputs, name: str) -> bool:
    return inputs.has(name) and inputs.definition(name).type() == "enum"
