"""Breaks the code on purpose, one line at a time, and sees that the tests named beside each break notice it.

The breaks stand in mutants.txt. Started by `bash scripts/mutants`, with words that titles or files of some of them
hold; with --passed where all tests have just passed, so that they are not run without a mutant first. Works in a copy
of the tree. Ends with 1 if a mutant survives, if its text is no longer found, or if the tests fail
without any mutant; with 2 if the tests do not run. With --drawn N breaks are drawn at random instead: drawn_mutants.py.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tree_copy import ROOT, copy_of_the_tree, surroundings

LIST = ROOT / "scripts" / "mutants.txt"
PASSED = "--passed"
DRAWN = "--drawn"
SECONDS = 600  # a mutant that never ends is noticed, too
FAILED = 1  # what pytest ends with where a test failed, and not where it could not start


@dataclass(frozen=True)
class Mutant:
    """One break: what stands in a file, what stands there instead, and the tests that must fail then."""

    title: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]

    def applied(self, code: str) -> str:
        """The code with the break. Raises ValueError where its text is not there exactly once."""
        if code.count(self.text) != 1:
            raise ValueError(f"{self.title}: its text is {code.count(self.text)} times in {self.file}")
        return code.replace(self.text, self.instead)


def listed(file: Path = LIST) -> list[Mutant]:
    """The mutants of a list. Raises ValueError for one that is not whole."""
    blocks = [block for block in file.read_text(encoding="utf-8").split("\n\n") if not block.startswith("#")]
    return [_mutant(block.strip("\n").split("\n")) for block in blocks if block.strip()]


def _mutant(lines: list[str]) -> Mutant:
    marked: dict[str, list[str]] = {mark: [] for mark in "=@-+!"}
    for line in lines:
        if line[:1] not in marked or line[1:2] not in ("", " "):
            raise ValueError(f"a line of the list begins with none of = @ - + !: {line}")
        marked[line[0]].append(line[2:])
    if any(len(marked[mark]) != 1 for mark in "=@") or not all(marked[mark] for mark in "-+!"):
        raise ValueError(f"a mutant is not whole: {lines[0]}")
    (title,), (file,) = marked["="], marked["@"]
    return Mutant(title, file, "\n".join(marked["-"]), "\n".join(marked["+"]), tuple(marked["!"]))


def ending(tree: Path, tests: list[str] | tuple[str, ...], seconds: float = SECONDS) -> int | None:
    """What pytest ends with, stopping at the first failure; None where it does not end."""
    command = [str(tree / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        with (tree / "said.txt").open("wb") as said:
            done = subprocess.run(
                command, cwd=tree, env=surroundings(tree), stdout=said, stderr=said, check=False, timeout=seconds
            )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def said(tree: Path) -> str:
    """The last line that pytest said."""
    lines = (tree / "said.txt").read_text(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line), "")


def outcome(tree: Path, mutant: Mutant) -> str:
    """killed, survived, not found, or that the tests did not run."""
    file = tree / mutant.file
    code = file.read_text(encoding="utf-8")
    try:
        file.write_text(mutant.applied(code), encoding="utf-8")
        ended = ending(tree, mutant.tests)
    except ValueError:
        return "not found"
    finally:
        file.write_text(code, encoding="utf-8")
    if ended in (None, FAILED) or re.match(r"\d+ failed", said(tree)):  # QGIS may crash as it ends with an error
        return "killed"
    return "survived" if ended == 0 else f"the tests did not run: {said(tree)}"


def main(words: list[str]) -> int:
    """Try all mutants, or those whose titles or files hold one of the words; or, with --drawn, some drawn at random."""
    if DRAWN in words:
        import drawn_mutants

        return drawn_mutants.main(words)
    parser = argparse.ArgumentParser(
        prog="scripts/mutants",
        description="Breaks what must not break, line by line in a copy of the tree, and sees that the tests notice.",
        epilog="With --drawn the breaks are drawn at random: --drawn --help says the rest.",
    )
    parser.add_argument(PASSED, action="store_true", help="the tests are known to pass as the tree stands")
    parser.add_argument("words", nargs="*", help="of titles or files; all mutants where none is given")
    given = parser.parse_args(words)
    mutants = [
        listed_mutant
        for listed_mutant in listed()
        if not given.words or any(word in f"{listed_mutant.title} {listed_mutant.file}" for word in given.words)
    ]
    if not mutants:
        print(f"No mutant has any of these in its title or file: {', '.join(given.words)}")
        return 2
    with copy_of_the_tree() as tree:
        tests = sorted({test for mutant in mutants for test in mutant.tests})
        # All tests together take longer than those of one mutant.
        if not given.passed and ending(tree, tests, SECONDS * len(tests)) != 0:
            print(f"Without any mutant the tests do not pass: {said(tree)}")
            return 2
        outcomes = {}
        for mutant in mutants:
            outcomes[mutant.title] = outcome(tree, mutant)
            print(f"{outcomes[mutant.title]:9} {mutant.title}", flush=True)
    killed = sum(ending_of == "killed" for ending_of in outcomes.values())
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{killed} of {len(outcomes)} mutants killed, {spent.ru_utime + spent.ru_stime:.0f} s of processor time.")
    return int(killed < len(outcomes))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
