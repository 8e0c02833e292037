"""What a project keeps of the dock: the roles of a table's columns, never a value of it."""

from __future__ import annotations

from qgis.core import QgsProject

PROJECT = "vbas"  # the scope in the project


def kept_answers(layer_id: str) -> str:
    """What the project keeps of a table; empty for nothing."""
    return str(QgsProject.instance().readEntry(PROJECT, _key(layer_id), "")[0])


def keep_answers(layer_id: str, answers: str) -> None:
    """Have the project keep the answers, where they are others."""
    if answers != kept_answers(layer_id):
        QgsProject.instance().writeEntry(PROJECT, _key(layer_id), answers)


def _key(layer_id: str) -> str:
    # Letters, digits and underscores: an entry is an element of the project's XML.
    return "roles/of_" + "".join(letter if letter.isalnum() else "_" for letter in layer_id)
