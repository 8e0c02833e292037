"""What a project remembers from run to run: who a release is for, why, and who makes it."""

from __future__ import annotations

from collections.abc import Mapping

from qgis.core import QgsProcessingAlgorithm, QgsProject

from ...core.job.signing import SAID
from ...core.plain_text import visible

PROJECT = "vbas"  # the scope in the project


def remember(algorithm: QgsProcessingAlgorithm, parameters: Mapping[str, object], project: QgsProject | None) -> None:
    """Have the project propose what was said of a run to the next one."""
    for name in SAID:
        value = parameters.get(name)
        given = algorithm.parameterDefinition(name) is not None and isinstance(value, str)
        said = visible(" ".join(str(value).split()))
        if project is not None and given and said != (_of(project, name) or ""):
            project.writeEntry(PROJECT, name.lower(), said)


def remembered(name: str) -> str | None:
    """What the project remembers of a parameter."""
    return _of(QgsProject.instance(), name)


def _of(project: QgsProject, name: str) -> str | None:
    return project.readEntry(PROJECT, name.lower(), "")[0] or None
