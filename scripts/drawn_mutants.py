"""Breaks drawn at random from the code that decides what may be published, each held against the tests that reach it.

mutants.txt lists what must not break, chosen by hand; here nobody chooses: comparisons flipped, numbers one up, “and”
for “or”, a “not”, a call or an exception left out, nothing returned. Started by

    bash scripts/mutants --drawn 300 --seed 1            draws as many, and goes on where it was ended
    bash scripts/mutants --drawn 300 --seed 1 --again tests/core/test_x.py …   survivors against these tests
    bash scripts/mutants --drawn 300 --seed 1 --again --budget 300   survivors against more of those that reach them

Which tests reach which lines is noted once, in build/reached_lines.json (--reached FILE; all of tests/core, tests/files
and tests/algorithms, or what --tests names), by reached_lines.py. A break is held against those that reach its
statement, the cheapest of each file first, then others that cost little, up to --budget seconds of them, in a fork of
one process (breaks_in_forks.py); whoever noticed one is run without it, too. Outcomes are kept in
build/drawn_mutants.jsonl (--results FILE). Survivors that change nothing stand in drawn_mutants.txt, with reasons.
Ends with 1 where another survives, with 2 where the lines were noted in a run that was ended early.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from tree_copy import ROOT, copy_of_the_tree

ROOMS = ("core/privacy", "core/releases", "core/disclosure", "core/nesting", "core/publish")
IN_QGIS = "tests/algorithms"
TESTS = ("tests/core", "tests/files", IN_QGIS)
EQUIVALENT = ROOT / "scripts" / "drawn_mutants.txt"
OF_CONSTANTS = "tests/core/test_limits.py::"  # reads what is written outside of functions, and runs no line of it
BUDGET = 60.0  # seconds of tests that a break is held against
MOST_TESTS = 400
FAILED = 1

KILLED, SURVIVED, UNREACHED, NOT_RUN = "killed", "survived", "unreached", "not run"
NOT_HERE = "not here"  # in forks: no function that is loaded holds the break

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMBINED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Mult: ast.Add,
}
CALLED = {"min": "max", "any": "all", "minimum": "maximum", "floor": "ceil", "argmin": "argmax", "first": "last"}
CALLED |= {other: name for name, other in CALLED.items()}


@dataclass(frozen=True)
class Break:
    """One break of a file: bytes from start to end are replaced.

    statement : first and last line of the statement that it is in; within : the function, empty outside of any
    """

    file: str
    within: str
    line: int
    start: int
    end: int
    text: str
    instead: str
    statement: tuple[int, int]
    nth: int = 0

    @property
    def key(self) -> str:
        """What it is, wherever the file's lines move to."""
        times = f" ({self.nth + 1})" if self.nth else ""
        return f"{self.file} | {self.within} | {_short(self.text)} -> {_short(self.instead)}{times}"

    def applied(self, code: bytes) -> bytes:
        """The code with the break."""
        return code[: self.start] + self.instead.encode() + code[self.end :]


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 90 else f"{one_line[:60]} … {one_line[-25:]}"


class Breaks(ast.NodeVisitor):
    """All breaks of a file."""

    def __init__(self, file: str, code: bytes) -> None:
        self.file, self.code = file, code
        self.breaks: list[Break] = []
        self._line_starts = [0]
        for line in code.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._within: list[str] = []
        self._in_function = 0
        self._statement = (1, 1)
        self._seen: Counter[str] = Counter()
        self.visit(ast.parse(code))

    def _add(self, node: ast.expr | ast.stmt, instead: str) -> None:
        start = self._line_starts[node.lineno - 1] + node.col_offset
        end = self._line_starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        within = ".".join(self._within)
        lines = self._statement if self._in_function else (0, 0)
        mutant = Break(self.file, within, node.lineno, start, end, self.code[start:end].decode(), instead, lines)
        nth = self._seen[mutant.key]
        self._seen[mutant.key] += 1
        self.breaks.append(replace(mutant, nth=nth))

    def _swapped(self, node: ast.expr, new: ast.expr) -> None:
        self._add(node, f"({ast.unparse(new)})")

    def visit(self, node: ast.AST) -> None:
        """Note the statement that what follows is in."""
        if isinstance(node, ast.stmt):
            before = self._statement
            # A compound statement's own lines are those before its body.
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or node.lineno
            self._statement = (node.lineno, max(last, node.lineno))
            super().visit(node)
            self._statement = before
        else:
            super().visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._within.append(node.name)
        # What is asked for where nothing is said is read as the file is loaded.
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        self._in_function += 1
        for statement in _without_docstring(node.body):
            self.visit(statement)
        self._in_function -= 1
        self._within.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Its defaults and its body."""
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its body, without decorators."""
        self._within.append(node.name)
        for statement in _without_docstring(node.body):
            self.visit(statement)
        self._within.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Its value."""
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text: where its parts stand Python 3.11 does not say."""

    def visit_If(self, node: ast.If) -> None:
        """All but what only a type checker reads."""
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Each sign of comparison."""
        for place, sign in enumerate(node.ops):
            signs = [
                COMPARED[type(sign)]() if other == place else operator_there
                for other, operator_there in enumerate(node.ops)
            ]
            self._swapped(node, ast.Compare(node.left, signs, node.comparators))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """“and” for “or”."""
        self._swapped(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Without “not”."""
        if isinstance(node.op, (ast.Not, ast.Invert)):
            self._swapped(node, node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """+ for -, & for |."""
        if type(node.op) in COMBINED:
            self._swapped(node, ast.BinOp(node.left, COMBINED[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A number one up; false for true."""
        if isinstance(node.value, bool):
            self._add(node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._add(node, str(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        """min for max, any for all."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in CALLED:
            other: ast.expr
            if isinstance(node.func, ast.Attribute):
                other = ast.Attribute(node.func.value, CALLED[name], ast.Load())
            else:
                other = ast.Name(CALLED[name], ast.Load())
            self._swapped(node, ast.Call(other, node.args, node.keywords))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call that is left out."""
        if isinstance(node.value, ast.Call):
            self._add(node, "pass")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """An exception that is left out; what it says is no matter of these."""
        self._add(node, "pass")

    def visit_Return(self, node: ast.Return) -> None:
        """Nothing returned."""
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(node, "return None")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        """A step that is not left out."""
        self._add(node, "pass")

    def visit_Break(self, node: ast.Break) -> None:
        """A loop that goes on."""
        self._add(node, "pass")


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return body[1:] if text else body


def all_breaks(rooms: tuple[str, ...] = ROOMS, root: Path = ROOT) -> list[Break]:
    """Every break of every file of the rooms."""
    files = sorted(file for room in rooms for file in (root / room).rglob("*.py"))
    return [mutant for file in files for mutant in Breaks(file.relative_to(root).as_posix(), file.read_bytes()).breaks]


def drawn(breaks: list[Break], count: int, seed: int) -> list[Break]:
    """As many of them, by lot; where code changes elsewhere, the same are drawn."""
    by_lot = sorted(breaks, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    return list(islice((mutant for mutant in by_lot if _is_code(mutant)), count))


def _is_code(mutant: Break) -> bool:
    try:
        compile(mutant.applied((ROOT / mutant.file).read_bytes()), mutant.file, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


@dataclass(frozen=True)
class Reached:
    """Which tests reach which lines, as reached_lines.py wrote it."""

    tests: list[tuple[str, float]]
    lines: dict[str, dict[str, list[int]]]

    def of(self, mutant: Break, budget: float) -> list[str]:
        """The tests that reach a break, as many as the budget has seconds for.

        The cheapest of each file of tests come first, then what costs least by how many of its file are there already:
        tests of one file look at much the same, but of a long one many cost next to nothing.
        """
        of_file = self.lines.get(mutant.file, {})
        first, last = mutant.statement
        lines = of_file if last == 0 else [str(line) for line in range(first, last + 1)]
        reaching = {test for line in lines for test in of_file.get(line, ())}
        if last == 0:
            reaching |= {number for number, (name, _) in enumerate(self.tests) if name.startswith(OF_CONSTANTS)}
        chosen: list[str] = []
        spent = 0.0
        nth: Counter[str] = Counter()
        in_turn: list[tuple[float, float, int]] = []
        for test in sorted(reaching, key=lambda test: self.tests[test][1]):
            name, seconds = self.tests[test]
            in_turn.append((nth[name.partition("::")[0]] * seconds, seconds, test))
            nth[name.partition("::")[0]] += 1
        for _, _, test in sorted(in_turn)[:MOST_TESTS]:
            spent += self.tests[test][1]
            if chosen and spent > budget:
                break
            chosen.append(self.tests[test][0])
        return chosen


def in_forks(tree: Path, asked: dict[str, list[str]], seconds: float, results: Path) -> None:
    """Try breaks in forks of one process, which has read the tests once; outcomes are added to a file.

    asked : of each break's key the tests; seconds : of the processor that a break may take
    Of tests in a QGIS none is tried: its threads do not outlive a fork, and what waits for them never ends.
    """
    asked = {key: tests for key, tests in asked.items() if not any(test.startswith(IN_QGIS) for test in tests)}
    if not asked:
        return
    said = tree / "asked.json"
    said.write_text(json.dumps({"tests": asked, "seconds": seconds}), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'build' / 'package'}{os.pathsep}{tree / 'scripts'}"}
    environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    environment |= {"BREAKS_ASKED": str(said), "BREAKS_TOLD": str(results), "OPENBLAS_NUM_THREADS": "1"}
    files = sorted({test.partition("::")[0] for tests in asked.values() for test in tests})
    command = [str(tree / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "breaks_in_forks"]
    command += ["-p", "no:pytest_qgis", "-p", "no:cacheprovider"]
    subprocess.run([*command, *files], cwd=tree, env=environment, check=False)


class Trial:
    """Breaks in a copy of the tree, one after the other."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.passing: dict[str, bool] = {}  # whether a test passes without any break

    def run(self, tests: list[str], seconds: float) -> tuple[int | None, list[str]]:
        """What pytest ends with (None where it does not end), and which tests failed first."""
        environment = {**os.environ, "PYTHONPATH": str(self.tree / "build" / "package"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "ignore"}
        command = [str(self.tree / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        if not any(test.startswith(IN_QGIS) for test in tests):
            command += ["-p", "no:pytest_qgis"]
        try:
            done = subprocess.run(
                [*command, *tests], cwd=self.tree, env=environment, capture_output=True, check=False, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None, []
        said = done.stdout.decode(errors="replace")
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+?\.py(?:::.*?)?)(?: - .*)?$", said, re.MULTILINE)
        code = FAILED if re.search(r"^\d+ (?:failed|error)", said.strip().rpartition("\n")[2]) else done.returncode
        return code, failed

    def outcome(self, mutant: Break, tests: list[str], seconds: float) -> tuple[str, str]:
        """What became of a break, and the test that noticed it."""
        file = self.tree / mutant.file
        code = file.read_bytes()
        tests = [test for test in tests if self.passing.get(test, True)]
        while tests:
            file.write_bytes(mutant.applied(code))
            try:
                ended, failed = self.run(tests, seconds)
            finally:
                file.write_bytes(code)
            if ended is None:
                return KILLED, "it never ends"
            if ended == 0:
                return SURVIVED, ""
            if not failed:  # no test was even started: an import fails, or the process is gone
                return (KILLED, "nothing runs") if self.run(tests, seconds)[0] == 0 else (NOT_RUN, "")
            known = [test for test in tests if test == failed[0] or test.startswith(failed[0] + "::")] or [failed[0]]
            if self._passes(failed[0], seconds):
                return KILLED, failed[0]
            tests = [test for test in tests if test not in known]
        return NOT_RUN, ""

    def _passes(self, test: str, seconds: float) -> bool:
        if test not in self.passing:
            self.passing[test] = self.run([test], seconds)[0] == 0
        return self.passing[test]


def note_reached(tree: Path, tests: list[str], to: Path) -> None:
    """Run the tests once, and note which lines they reach."""
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'build' / 'package'}{os.pathsep}{tree / 'scripts'}"}
    environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONWARNINGS": "ignore"}
    environment |= {"REACHED_LINES_OF": " ".join(ROOMS), "REACHED_LINES_TO": str(to)}
    command = [str(tree / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "reached_lines"]
    subprocess.run([*command, "-p", "no:cacheprovider", *tests], cwd=tree, env=environment, check=False)


def read_reached(files: list[Path]) -> Reached:
    """What is noted in one or several files, of other tests each. Raises ValueError where a run was ended early."""
    tests: list[tuple[str, float]] = []
    lines: dict[str, dict[str, list[int]]] = {}
    for file in files:
        noted = json.loads(file.read_text(encoding="utf-8"))
        if not noted.get("whole"):
            raise ValueError(f"{file}: of a run that was ended early; remove it, to note lines anew")
        for name, of_file in noted["lines"].items():
            for line, reaching in of_file.items():
                into = lines.setdefault(name, {}).setdefault(line, [])
                into.extend(test + len(tests) for test in reaching)
        tests += [(test, seconds) for test, seconds in noted["tests"]]
    return Reached(tests, lines)


def read_results(file: Path) -> dict[str, dict[str, str]]:
    """The last outcome of each break."""
    if not file.is_file():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["key"]: row for row in rows if row["outcome"] != NOT_HERE}


def reasons(file: Path = EQUIVALENT) -> dict[str, str]:
    """Of breaks that change nothing: why. In the file a line of what it is, and an indented one of the reason."""
    listed: dict[str, str] = {}
    key = ""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            listed[key] = f"{listed.get(key, '')} {line.strip()}".strip()
        elif line.strip() and not line.startswith("#"):
            key = line
    return listed


def _undecided(
    breaks: list[Break], results: dict[str, dict[str, str]], again: bool, listed: dict[str, str]
) -> Iterator[Break]:
    for mutant in breaks:
        outcome = results.get(mutant.key, {}).get("outcome")
        if (outcome in (SURVIVED, UNREACHED) and mutant.key not in listed) if again else outcome is None:
            yield mutant


def summarise(breaks: list[Break], results: dict[str, dict[str, str]], listed: dict[str, str]) -> int:
    """Say how many were noticed, and which were not; how many survive and are not listed."""
    decided = [mutant for mutant in breaks if mutant.key in results]
    count = Counter(results[mutant.key]["outcome"] for mutant in decided)
    alive = [mutant for mutant in decided if results[mutant.key]["outcome"] in (SURVIVED, UNREACHED)]
    unlisted = [mutant for mutant in alive if mutant.key not in listed]
    for mutant in sorted(unlisted, key=lambda mutant: (mutant.file, mutant.line)):
        print(f"{results[mutant.key]['outcome']:9} line {mutant.line}: {mutant.key}")
    matter = len(decided) - count[NOT_RUN] - (len(alive) - len(unlisted))
    share = 100 * count[KILLED] / matter if matter else 0.0
    print(
        f"{len(decided)} of {len(breaks)} drawn are decided: {count[KILLED]} killed, {count[SURVIVED]} survived, "
        f"{count[UNREACHED]} reached by no test, {count[NOT_RUN]} not run; {len(alive) - len(unlisted)} survivors "
        f"change nothing. {share:.1f} % of those that change something were killed."
    )
    return len(unlisted)


def main(words: list[str]) -> int:
    """Draw, try what is not decided yet, and tell."""
    arguments = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    arguments.add_argument("--drawn", type=int, required=True)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--results", type=Path, default=ROOT / "build" / "drawn_mutants.jsonl")
    arguments.add_argument("--reached", type=Path, nargs="*", default=[ROOT / "build" / "reached_lines.json"])
    arguments.add_argument("--tests", nargs="*", default=list(TESTS))
    arguments.add_argument("--again", nargs="*", metavar="TEST")
    arguments.add_argument("--budget", type=float, default=BUDGET)
    arguments.add_argument("--only", default="", help="files whose names hold this")
    arguments.add_argument("--tell", action="store_true", help="say what is known, and try nothing")
    asked = arguments.parse_args(words)
    asked.results = asked.results.absolute()
    listed, results = reasons(), read_results(asked.results)
    breaks = [mutant for mutant in drawn(all_breaks(), asked.drawn, asked.seed) if asked.only in mutant.file]
    if not asked.tell:
        asked.results.parent.mkdir(parents=True, exist_ok=True)
        with copy_of_the_tree() as tree:
            if not asked.again and not all(file.is_file() for file in asked.reached):
                note_reached(tree, asked.tests, asked.reached[0])
            try:
                reached = None if asked.again else read_reached(asked.reached)
            except ValueError as error:
                print(error)
                return 2
            trial = Trial(tree)
            if reached is not None and asked.again is None:
                keys = [mutant.key for mutant in _undecided(breaks, results, False, listed)]
                by_key = {mutant.key: mutant for mutant in breaks}
                in_forks(
                    tree,
                    {key: reached.of(by_key[key], asked.budget) for key in keys},
                    30 + 4 * asked.budget,
                    asked.results,
                )
                results = read_results(asked.results)
            due = list(_undecided(breaks, results, asked.again is not None, listed))
            if asked.again:
                in_tree = tree / "told.jsonl"
                in_forks(tree, {mutant.key: asked.again for mutant in due}, 30 + 4 * asked.budget, in_tree)
                rows = list(read_results(in_tree).values())
                with asked.results.open("a", encoding="utf-8") as file:
                    file.writelines(
                        json.dumps(row, ensure_ascii=False) + "\n" for row in rows if row["outcome"] == KILLED
                    )
                results = read_results(asked.results)
                tried = {row["key"] for row in rows}
                due = [mutant for mutant in due if mutant.key not in tried]
            for mutant in due:
                tests = asked.again if reached is None else reached.of(mutant, asked.budget)
                if asked.again == [] and len(tests) <= int(results[mutant.key]["tests"]):
                    continue  # there are no more
                outcome, by = trial.outcome(mutant, tests, 120 + 6 * asked.budget) if tests else (UNREACHED, "")
                if reached is None and outcome == NOT_RUN:
                    continue
                row = {
                    "key": mutant.key,
                    "line": str(mutant.line),
                    "outcome": outcome,
                    "by": by,
                    "tests": str(len(tests)),
                }
                if reached is None and outcome == SURVIVED and results[mutant.key]["outcome"] == UNREACHED:
                    row["outcome"] = UNREACHED
                results[mutant.key] = row
                with asked.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                print(f"{outcome:9} {mutant.key}{f'   by {by}' if by else ''}", flush=True)
    return int(summarise(breaks, results, listed) > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
