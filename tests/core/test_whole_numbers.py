"""Whole numbers have 64 bits wherever numpy makes them.

Before numpy 2, numpy's own have 32 bits on Windows: a number of a class in a region, or a place in a file, would come
out as another without a word. The QGIS of many there brings numpy 1.26.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(file for part in ("core", "algorithms", "vbas_plugin", "verify") for file in (ROOT / part).rglob("*.py"))
TYPE_AT = {"arange": 3, "full": 2, "array": 1, "asarray": 1, "zeros": 1, "ones": 1, "empty": 1}  # of the arguments


def of_numpy(call):
    """The name of numpy's function; empty for others."""
    of = call.func
    return of.attr if isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) and of.value.id == "np" else ""


def is_whole(value):
    """Whether an expression is a whole number, as far as it can be read: a constant, the length of something."""
    if isinstance(value, ast.UnaryOp):
        return is_whole(value.operand)
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in ("len", "int")
    if isinstance(value, ast.Name):
        return value.id.isupper()  # constants of ours: of those that are not whole the width is said too
    return isinstance(value, ast.Constant) and type(value.value) is int


def typed(call, name):
    return any(word.arg == "dtype" for word in call.keywords) or len(call.args) > TYPE_AT.get(name, 9)


def left_to_the_system(tree):
    """Of each array of whole numbers whose width nobody says, the line."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = of_numpy(node)
        kinds = [word.value for word in node.keywords if word.arg == "dtype"]
        kinds += node.args[TYPE_AT.get(name, 9) :] if name else []
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
            kinds += node.args
        if any(isinstance(kind, ast.Name) and kind.id == "int" for kind in kinds):
            yield node.lineno
        elif name and not typed(node, name):
            first = node.args[0] if node.args else None
            if (
                name == "arange"
                or (name == "full" and is_whole(node.args[1]))
                or (name in ("array", "asarray") and isinstance(first, (ast.List, ast.ListComp)) and all_whole(first))
                or (name == "cumsum" and isinstance(first, (ast.List, ast.Compare)))
            ):
                yield node.lineno


def all_whole(values):
    of = [values.elt] if isinstance(values, ast.ListComp) else values.elts
    return bool(of) and all(map(is_whole, of))


def test_none_is_as_wide_as_the_system_has_it():
    lines = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in FILES
        for line in left_to_the_system(ast.parse(file.read_bytes()))
    ]
    assert not lines


@pytest.mark.parametrize(
    "text",
    [
        *(
            "np.arange(n)",
            "np.full(n, -1)",
            "np.full(n, NONE)",
            "np.full(n, len(a))",
            "np.array([1, 2])",
            "np.array([len(a) for a in b])",
        ),
        *("np.zeros(n, int)", "a.astype(int)", "np.array(a, int)", "np.cumsum([0, *a])", "np.cumsum(a > 0)"),
    ],
)
def test_those_are_seen(text):
    assert list(left_to_the_system(ast.parse(text)))
    assert not list(
        left_to_the_system(ast.parse("np.arange(n, dtype=np.int64) + np.full(n, 0.5) + np.array([0.5, 1])"))
    )
