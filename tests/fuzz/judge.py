"""What a run must end in: a result that recounts, or one sentence that helps; and nothing half done."""

from __future__ import annotations

import re
from pathlib import Path

from qgis.core import QgsApplication

from vbas.algorithms.form.parameters import label_of

from .folders import recount_folder
from .recounts import RECOUNTS

SECONDS = 60.0
# What a sentence never holds: the words of Python, C++ and SQL about themselves.
RAW = re.compile(
    r"Traceback|File \"|Error\b(?!s)(?<!with an error)|Exception|object at 0x|NoneType|<class|ndarray|dtype|"
    r"out of (?:range|bounds)|not subscriptable|has no attribute|syntax error|unrecognized token|near \"|"
    r"operands could not|invalid literal|codec can|cannot convert|\bshape \(|division by zero|zero-size|"
    r"PyQt|QtCore|QVariant|std::|terminate called|\bnumpy\b|\bGEOS|\bassert"
)
# How nothing reads that people read aloud; what stands between “ and ” is theirs.
NOUNS = (
    "records|areas|regions|people|persons|households|rows|classes|levels|groups|values|sites|points|cells|fields|"
    "releases|layers|tables|attributes|columns|periods|parts|rounds|quasi-identifiers|equivalence classes"
)
READ_BADLY = {
    "a power of ten as computers write it": re.compile(r"(?<!\w)(?<![a-z]-)\d+(?:\.\d+)?[eE][+-]?\d{2}\b"),
    "a name that is empty": re.compile(r"“[ \u00a0]*”(?! is)|: :|\(\)"),
    "one of several": re.compile(rf"(?<![\d.,\u00a0/–-])(?<!level )(?<!Level )\b1 (?:{NOUNS})\b"),
    # Of a parameter, by its name in brackets, it may be said that it is that.
    "a number that is none": re.compile(r"(?<!\) is )(?<!\) is -)\b(?:nan|inf|None|NULL)\b"),
}
CLASS = " · "  # between the values of a class
TAGS = re.compile(r"<(style|script|svg)\b.*?</\1>|<[^>]+>", re.DOTALL)
# Sentences that need name nothing: the user knows what was cancelled, and no memory has a name.
SELF_EVIDENT = ("Cancelled: nothing was written.",)


def complaints(case, outcome):
    """What is wrong with how a case ended, in a sentence each; empty where nothing is."""
    found = []
    fault = "fault of VBAS" in outcome.error
    if outcome.foreign or fault:
        found.append(f"An exception that nobody foresaw: {_last_line(outcome.foreign or outcome.error)}")
    found += [f"A warning of a library: {warning}" for warning in dict.fromkeys(outcome.warnings)]
    found += [f"The log holds {line[:300]!r}" for line in outcome.log if re.search(r"Traceback|\w+Warning: ", line)]
    if outcome.seconds > SECONDS:
        found.append(f"It took {outcome.seconds:.0f} seconds of the processor.")
    if outcome.results is None:
        found += [] if outcome.foreign or fault else _sentence(case, outcome.error)
        found += _untouched(case, outcome)
    else:
        found += _delivered(case, outcome)
        found += _recounted(case, outcome)
    return found + read_badly(outcome, _texts_given(case))


def _texts_given(case):
    """The texts in the tables of a case: a cell of a page may show one alone, and how that reads is not ours."""
    tables = [table for value in case.parameters.values() for table in (value if isinstance(value, list) else [value])]
    columns = [column for table in tables for column in getattr(table, "columns", ())]
    return {str(value) for _, _, values in columns for value in values if isinstance(value, (str, float))}


def read_badly(outcome, given=frozenset()):
    """What would be stumbled over where the log, the sentence or the pages of a run are read aloud.

    given : texts that are passed over where they stand alone, or with others as the values of a class
    """
    texts = [*outcome.log, outcome.error]
    for value in (outcome.results or {}).values():
        if isinstance(value, str) and value.endswith(".html") and Path(value).is_file():
            texts += TAGS.sub("\n", Path(value).read_text(encoding="utf-8")).splitlines()
    found: dict[str, str] = {}
    for text in texts:
        text = CLASS.join(value for value in text.split(CLASS) if value.strip() not in given)
        if not text.strip():
            continue
        told = re.sub(r"“[^”]*[^” ][^”]*”", "“…”", text)
        for what, pattern in READ_BADLY.items():
            if pattern.search(told):
                found.setdefault(what, f"It reads badly ({what}): {text.strip()[:300]!r}")
    return list(found.values())


def _last_line(trace):
    lines = trace.strip().splitlines()
    where = next((line.strip() for line in reversed(lines) if line.strip().startswith("File")), "")
    return f"{lines[-1][:300]} at {where}"


def _sentence(case, text):
    """Whether an error is one sentence that somebody can act on."""
    found = []
    if not text.strip():
        return ["It failed without a word."]
    told = re.sub(r"“[^”]*”", "“”", text, flags=re.DOTALL)
    if RAW.search(told):
        found.append(f"Not a sentence for a user: {text[:400]!r}")
    if "\n" in told.strip() or len(text) > 1_500:
        found.append(f"More than a sentence: {text[:400]!r}")
    if not told.strip().endswith((".", "?", "”")):
        found.append(f"It does not end as a sentence does: {text[-200:]!r}")
    form = QgsApplication.processingRegistry().algorithmById(f"vbas:{case.algorithm}")
    names = [
        word
        for parameter in form.parameterDefinitions()
        for word in (parameter.name(), label_of(parameter), parameter.description())
    ]
    helps = "“" in text or any(name in text for name in names) or re.search(r"\d", text)
    if not helps and text not in SELF_EVIDENT:
        found.append(f"It names nothing to act on: {text[:400]!r}")
    return found


def _untouched(case, outcome):
    """After a failure the folder of outputs is as it was: nothing new, nothing gone, nothing changed."""
    before, after = outcome.files
    if case.algorithm == "checkrelease" and "short of what is asked" in outcome.error:
        return []  # written before it ends with an error, as its help says
    found = [f"After a failure there is {name}." for name in after.keys() - before.keys()]
    found += [f"After a failure {name} is gone." for name in before.keys() - after.keys()]
    found += [
        f"After a failure {name} is changed." for name in before.keys() & after.keys() if before[name] != after[name]
    ]
    return found


def _delivered(case, outcome):
    """Every output that was asked for is there, and nothing else."""
    found = []
    asked = {name for name in case.parameters if name in outcome.results}
    expected = {name for name, value in case.parameters.items() if type(value).__name__ == "Place" and value.text}
    found += [f"{name} was asked for and is not there." for name in expected - asked if not _not_made(case, name)]
    for name, value in outcome.results.items():
        file = Path(str(value).partition("|")[0])
        if file.is_absolute() and not file.exists():
            found.append(f"{name} is said to be in {file.name}, which is not there.")
    # QGIS holds a database open where it has written several tables: its journal stays, and must be empty.
    left = [name for name in outcome.files[1] if re.search(r"vbas_[0-9a-f]{8}|\.vbas|-journal$", name)]
    left += [name for name, held in outcome.files[1].items() if name.endswith("-wal") and held]
    found += [f"After the run there is {name}." for name in left]
    return found


def _not_made(case, name):
    nested = case.parameters.get("RELEASE") in ("nested levels", 1, "1")
    if name == "SCENARIO_AVERAGES":
        return not case.parameters.get("SCENARIOS")
    if name in ("MENDED", "MOVES"):
        return case.parameters.get("MEND") is False
    return (name in ("SITE_POINTS", "VORONOI") and nested) or name in ("AUDIT", "SMALLEST", "AREA_AUDIT")


def _recounted(case, outcome):
    recount = RECOUNTS.get(case.algorithm)
    try:
        found = [] if recount is None else list(recount(case, outcome))
        return [*found, *recount_folder(case, outcome)]
    except Exception as error:  # a recount that breaks down is a finding as well
        import traceback

        return [f"The recount broke down: {error!r} {traceback.format_exc()[-900:]}"]
