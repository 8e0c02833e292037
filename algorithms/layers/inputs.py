"""What one run was given: the one way to read a parameter."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from qgis.core import (
    Qgis,
    QgsApplication,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingFeatureSource,
    QgsProcessingParameterDefinition,
    QgsProject,
)

from ...core.dataclass import dataclass
from ...core.errors import InputError
from ...core.plain_text import in_one_line


def own_rules() -> list[Path]:
    """The user's own file, `vbas_rules.csv` in QGIS's settings folder, where it is there."""
    own = Path(QgsApplication.qgisSettingsDirPath()) / "vbas_rules.csv"
    return [own] if os.path.lexists(own) else []


PROJECT = "vbas"  # the scope in the project


def remember(
    algorithm: QgsProcessingAlgorithm,
    names: Iterable[str],
    parameters: Mapping[str, object],
    project: QgsProject | None,
) -> None:
    """Have the project propose what some parameters said of a run to the next one."""
    for name in names:
        value = parameters.get(name)
        given = algorithm.parameterDefinition(name) is not None and isinstance(value, str)
        said = in_one_line(str(value))
        if project is not None and given and said != (_of(project, name) or ""):
            project.writeEntry(PROJECT, name.lower(), said)


def remembered(name: str) -> str | None:
    """What the project remembers of a parameter."""
    return _of(QgsProject.instance(), name)


def _of(project: QgsProject, name: str) -> str | None:
    return project.readEntry(PROJECT, name.lower(), "")[0] or None


@dataclass(eq=False)
class Inputs:
    """The algorithm, its parameters as `understood` and `as_spelled` give them, and QGIS's context."""

    algorithm: QgsProcessingAlgorithm
    parameters: dict[str, object]
    context: QgsProcessingContext

    def with_parameters(self, **changed: object) -> Inputs:
        """The same run with some parameters changed."""
        return Inputs(self.algorithm, {**self.parameters, **changed}, self.context)

    def has(self, name: str) -> bool:
        """Whether the algorithm has this parameter: what several forms read, some declare only in part."""
        return self.algorithm.parameterDefinition(name) is not None

    def definition(self, name: str) -> QgsProcessingParameterDefinition:
        """The parameter of this name, which the algorithm has."""
        return self.algorithm.parameterDefinition(name)

    def text(self, name: str) -> str:
        """A choice among words, or the name of a field; empty where it is not given."""
        read = self.algorithm.parameterAsString
        if self.definition(name).type() == "enum":
            read = self.algorithm.parameterAsEnumString
        return read(self.parameters, name, self.context)

    def words(self, name: str) -> list[str]:
        """The words of a choice among several."""
        options = self.definition(name).options()
        return [options[position] for position in self.algorithm.parameterAsEnums(self.parameters, name, self.context)]

    def field_names(self, name: str) -> list[str]:
        """The fields chosen; QGIS 3.40 renamed the method."""
        new = Qgis.QGIS_VERSION_INT >= 34000
        read = self.algorithm.parameterAsStrings if new else self.algorithm.parameterAsFields
        return list(read(self.parameters, name, self.context))

    def source(self, name: str) -> QgsProcessingFeatureSource | None:
        """A layer or a selection of it, None where none is given. Raises InputError where QGIS cannot open it."""
        try:
            return self.algorithm.parameterAsSource(self.parameters, name, self.context)
        except Exception as error:  # of no words, by QGIS 3.34, whose layers work out at once how far they reach
            if type(error) is not Exception:
                raise
            raise InputError.saying(
                "{name} cannot be opened: see whether its shapes have coordinates that are missing, infinite or far "
                "too large.",
                name=name,
            ) from error

    def cells(self, name: str) -> list[object]:
        """The cells of a table that is filled in by hand, row by row."""
        return self.algorithm.parameterAsMatrix(self.parameters, name, self.context)

    def whole(self, name: str) -> int:
        """A whole number."""
        return self.algorithm.parameterAsInt(self.parameters, name, self.context)

    def number(self, name: str) -> float:
        """A number."""
        return self.algorithm.parameterAsDouble(self.parameters, name, self.context)

    def yes(self, name: str) -> bool:
        """Whether a box is ticked."""
        return self.algorithm.parameterAsBool(self.parameters, name, self.context)

    def rule_files(self) -> list[Path]:
        """Files of rules beside those that are shipped."""
        return own_rules()
