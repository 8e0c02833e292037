"""scipy's packages, each loaded when something of it is first used.

Together they take as long to load as all of VBAS, and neither a toolbox that is only shown nor most runs need all of
them. Whoever wants one imports it from here, and uses it as ever: `sparse.csr_matrix(…)`, `spatial.cKDTree(…)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING


class LoadedWhenUsed:
    """Stands for a module until something of it is asked for.

    name : of the module, such as "scipy.sparse". What the module raises as it is loaded, is raised then.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)  # found at once from now on
        return value


if TYPE_CHECKING:
    from scipy import optimize, sparse, spatial, special, stats
    from scipy.sparse import linalg as sparse_linalg
else:
    optimize = LoadedWhenUsed("scipy.optimize")
    sparse = LoadedWhenUsed("scipy.sparse")
    sparse_linalg = LoadedWhenUsed("scipy.sparse.linalg")
    spatial = LoadedWhenUsed("scipy.spatial")
    special = LoadedWhenUsed("scipy.special")
    stats = LoadedWhenUsed("scipy.stats")

__all__ = ["optimize", "sparse", "sparse_linalg", "spatial", "special", "stats"]
