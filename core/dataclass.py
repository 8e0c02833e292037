"""Data classes that are made whole with the first object of theirs.

QGIS loads all that the toolbox consists of when it starts: more than three hundred data classes, and makes objects of
thirty. To write the methods of all of them, class by class, was a third of that time (benchmarks/start_up.py).
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(**options: bool):
        """That of the standard library, whose methods come with the first object (or `make_whole`)."""

        def deferred(cls: type) -> type:
            def first(self: object, *values: Any, **named: Any) -> None:
                make_whole(cls)
                cls.__init__(self, *values, **named)

            cls.__init__, cls._data_class_options = first, options
            return cls

        return deferred


_writing = threading.RLock()


def make_whole(cls: type) -> None:
    """Give a data class, and those it derives from, the methods that they lack so far."""
    with _writing:
        for each in reversed(cls.__mro__):
            if "_data_class_options" in vars(each):
                _write_methods(each)


def _write_methods(cls: Any) -> None:
    of_class = {name: value for name, value in vars(cls).items() if name not in {"__dict__", "__weakref__", "__init__"}}
    options = of_class.pop("_data_class_options")
    # Another thread finds the class without a way to make objects at no time: the way is written for a copy, and set.
    copy: Any = dataclasses.dataclass(**options)(type(cls)(cls.__name__, cls.__bases__, of_class))
    dataclasses.dataclass(**options, init=False)(cls)
    del cls._data_class_options
    cls.__init__ = copy.__init__
