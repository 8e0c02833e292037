"""The layers of one run together in the layer tree, in an order in which each is seen.

QGIS 3.32 can put layers into a group, and later versions order them; 3.22 does neither. All of them call the
post-processors of a run once its layers are in the tree, so the layers are moved there: one way in every version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from qgis.core import QgsLayerTree, QgsLayerTreeGroup, QgsLayerTreeNode, QgsProject, QgsVectorLayer
from qgis.PyQt import sip

from ...compat import geometry_kind

# From the top: points over lines over surfaces, and tables at the end; of those of a kind what tells the cost over what
# is released. Outputs of one name are points of one form and surfaces of another.
DRAWN = ("point", "line", "polygon")
ORDER = (
    *("SITE_POINTS", "AUDIT", "MASKED", "VORONOI", "PINNED", "REGION_AUDIT", "AREA_AUDIT", "LEFT_OUT", "GROUPS"),
    *("RELEASED_REGIONS", "AREAS", "RELEASED_RECORDS", "FLATTENED", "RECORDS", "CROSSWALK"),
)


OF_A_RUN = "vbas/run"
NAMED_ATTRIBUTES = 3  # more of them would be cut in the layer tree


class LayerGroup:
    """The group of one run. Made where the first of its layers was loaded; a layer alone needs none."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._expected: set[str] = set()
        self._ranks: dict[str, tuple[int, int]] = {}
        self._group: QgsLayerTreeGroup | None = None

    def expect(self, name: str) -> None:
        """Say before that the output of this name will be loaded."""
        self._expected.add(name)

    def numbers_regions_below(self, name: str) -> bool:
        """Whether the regions of this output are numbered by another layer of the run: both would overlap."""
        return name == "REGION_AUDIT" and "RELEASED_REGIONS" in self._expected

    def take(self, layer: QgsVectorLayer, name: str, project: QgsProject) -> None:
        """Move a loaded layer to its place in the group; one alone to where it belongs."""
        node = project.layerTreeRoot().findLayer(layer.id())
        if node is None or node.parent() is None:
            return
        if len(self._expected) < 2:
            _place_alone(node, layer, project)
            return
        if self._group is None or sip.isdeleted(self._group):
            above, position = _outside_of_runs(node)
            title = _unused(self.title, project.layerTreeRoot())
            self._group, self._ranks = above.insertGroup(position, title), {}
            self._group.setCustomProperty(OF_A_RUN, True)
            self._group.setExpanded(True)
        drawn = geometry_kind(layer)
        below = DRAWN.index(drawn) if drawn in DRAWN else len(DRAWN)
        rank = (below, ORDER.index(name) if name in ORDER else len(ORDER))
        before = [child for child in self._group.children() if self._ranks.get(_id_of(child), rank) <= rank]
        self._ranks[layer.id()] = rank
        _move(node, self._group, len(before))
        _unlabel_earlier_runs(self._group, project.layerTreeRoot())


def title_of_run(title: str, attributes: Sequence[str], when: datetime) -> str:
    """What tells the layers of one run from those of another: the method, what was asked, and the time of the day."""
    named = ", ".join(attributes[:NAMED_ATTRIBUTES])
    more = len(attributes) - NAMED_ATTRIBUTES
    return " · ".join(part for part in (title, f"{named} + {more}" if more > 0 else named, f"{when:%H:%M}") if part)


def _unlabel_earlier_runs(group: QgsLayerTreeGroup, root: QgsLayerTreeGroup) -> None:
    """The numbers of regions of two runs over each other can be read of neither."""
    for earlier in root.findGroups(True):
        if earlier.customProperty(OF_A_RUN) and earlier.name() != group.name():
            for node in earlier.findLayers():
                if isinstance(node.layer(), QgsVectorLayer):
                    node.layer().setLabelsEnabled(False)
                    node.layer().triggerRepaint()


def _unused(title: str, root: QgsLayerTreeGroup) -> str:
    """The title, numbered where an earlier run has a group of the same."""
    names = {group.name() for group in root.findGroups(True)}
    return next(name for name in (title, *(f"{title} ({n})" for n in range(2, len(names) + 3))) if name not in names)


def _place_alone(node: QgsLayerTreeNode, layer: QgsVectorLayer, project: QgsProject) -> None:
    """QGIS puts a layer beside the selected one: a table is seen below all that is drawn, and no layer in the group of
    another run."""
    root = project.layerTreeRoot()
    if not layer.isSpatial():
        _move(node, root, len(root.children()))
        return
    above, position = _outside_of_runs(node)
    if (above, position) != (node.parent(), node.parent().children().index(node)):
        _move(node, above, position)


def _outside_of_runs(node: QgsLayerTreeNode) -> tuple[QgsLayerTreeGroup, int]:
    """The group that a node stands in and its position there; over the outermost run's group where it is in one, and
    over those of earlier runs, under which nobody would see it."""
    above, beside = node.parent(), node
    parent = above
    while parent.parent() is not None:
        if parent.customProperty(OF_A_RUN):
            above, beside = parent.parent(), parent
        parent = parent.parent()
    siblings = above.children()
    of_runs = (n for n, sibling in enumerate(siblings) if sibling.customProperty(OF_A_RUN))
    return above, min(siblings.index(beside), next(of_runs, len(siblings)))


def _id_of(node: QgsLayerTreeNode) -> str:
    return node.layerId() if QgsLayerTree.isLayer(node) else ""


def _move(node: QgsLayerTreeNode, group: QgsLayerTreeGroup, position: int) -> None:
    """A copy into the group first: QGIS takes a layer out of the project that no node shows."""
    above = node.parent()
    group.insertChildNode(position, node.clone())
    above.removeChildNode(node)


_current: ContextVar[LayerGroup | None] = ContextVar("the group of the model that runs", default=None)


def group_of_run(title: str) -> LayerGroup:
    """The group of the model that runs, else one of this run's own."""
    return _current.get() or LayerGroup(title)


@contextmanager
def one_group(title: str) -> Iterator[None]:
    """Put the layers of all runs within into one group: those of the steps of a model."""
    token = _current.set(LayerGroup(title))
    try:
        yield
    finally:
        _current.reset(token)
