"""The policy of a house: what every release must hold, in a file whose place an administrator fixes, for all doors.

Every file that is in force is held, so that one more can only ask for more. One that cannot be read as a whole refuses
whatever releases: nobody knows what it asks for. It holds against mistakes and habit, not against a user who owns the
machine (docs/policy.md).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .dataclass import dataclass
from .errors import PrivacyError, first_values
from .language import all_of, in_turn, tr
from .parameters import SMALLEST_K
from .privacy.derivable import CLASS_HAS_K, DISCLOSURES, NO_SMALL_COUNT
from .privacy.rules import NO_RULE, read_rules

VARIABLE = "VBAS_POLICY"  # of the environment: the path of a file
FILE = "vbas_policy.toml"
LARGEST_K = 10**6
KEYS = ("least_k", "rules", "disclosure", "register", "release_folder", "hidden")


@dataclass(frozen=True)
class Policy:
    """What a file asks of every release.

    Attributes
    ----------
    path : Path
        The file.
    sha256 : str
        Of its bytes.
    least_k : int
        The smallest k.
    rules : tuple of str
        The choices of RULE that are allowed; any where empty.
    disclosure : str
        The least that DISCLOSURE of a nested release must be, empty for any.
    register : bool
        Whether a release must be added to a register.
    register_file : Path, optional
        The one register that it must be; any where None.
    release_folder : bool
        Whether a release must be written as a folder that describes itself.
    hidden : tuple of str
        Ids of algorithms that must not be used, without “vbas:”.
    """

    path: Path
    sha256: str
    least_k: int = SMALLEST_K
    rules: tuple[str, ...] = ()
    disclosure: str = ""
    register: bool = False
    register_file: Path | None = None
    release_folder: bool = False
    hidden: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What it asks for, and its hash, for the log and the report."""
        asked = [tr("k of at least {k}", k=self.least_k)]
        if self.rules:
            asked.append(tr("RULE {rules}", rules=_quoted(self.rules)))
        if self.disclosure:
            asked.append(tr("DISCLOSURE “{disclosure}” of nested levels", disclosure=self.disclosure))
        if self.register_file is not None:
            asked.append(tr("the register {file}", file=self.register_file))
        elif self.register:
            asked.append(tr("a register"))
        if self.release_folder:
            asked.append(tr("a release folder"))
        return tr(
            "The policy {path} was held: {asked}. SHA-256 of the file: {checksum}.",
            path=self.path,
            asked=in_turn(asked),
            checksum=self.sha256,
        )

    def refuse_k(self, parameter: str, k: float) -> None:
        """Raise PrivacyError for a k, or another least count, below that of the policy."""
        if k < self.least_k:
            raise PrivacyError.saying(
                "{parameter} is {k:g}, and the policy {path} asks for at least {least_k}: give {least_k} or more.",
                parameter=parameter,
                k=float(k),
                path=self.path,
                least_k=self.least_k,
            )

    def refuse_rule(self, rule: str) -> None:
        """Raise PrivacyError for a choice of RULE that the policy does not have."""
        if self.rules and rule not in self.rules:
            raise PrivacyError.saying(
                "RULE is “{rule}”, and the policy {path} allows {rules}: choose one of these in a form with RULE.",
                rule=rule,
                path=self.path,
                rules=_quoted(self.rules),
            )

    def refuse_disclosure(self, nested: bool, disclosure: str) -> None:
        """Raise PrivacyError for a release of several levels that holds against less than the policy asks for."""
        if self.disclosure and nested and disclosure != self.disclosure:
            raise PrivacyError.saying(
                "DISCLOSURE is “{given}”, and the policy {path} asks for “{asked}” of nested levels: choose that.",
                given=disclosure,
                path=self.path,
                asked=self.disclosure,
            )

    def refuse_without_register(self, has_register: bool) -> None:
        """Raise PrivacyError for a release that is held against no register where the policy asks for one."""
        if self.register and not has_register:
            raise PrivacyError.saying(
                "REGISTER is not given, and the policy {path} asks for one: name a register.", path=self.path
            )

    def refuse_register(self, register: str) -> None:
        """Raise PrivacyError for a register, by its path or empty, that is not what the policy asks for."""
        wanted = self.register_file
        if wanted is None:
            self.refuse_without_register(bool(register))
        elif not register or not _same(Path(register), wanted):
            raise PrivacyError.saying(
                "REGISTER is “{given}”, and the policy {path} asks for {register}: give that.",
                given=register,
                path=self.path,
                register=wanted,
            )

    def refuse_without_folder(self, has_folder: bool) -> None:
        """Raise PrivacyError for a release that is not written as a folder where the policy asks for that."""
        if self.release_folder and not has_folder:
            raise PrivacyError.saying(
                "RELEASE_FOLDER is not given, and the policy {path} asks for one: name a folder.", path=self.path
            )

    def refuse_hidden(self, algorithm: str) -> None:
        """Raise PrivacyError for an algorithm, by its id without “vbas:”, that the policy hides."""
        if algorithm in self.hidden:
            raise PrivacyError.saying(
                "vbas:{algorithm} is not to be used here: the policy {path} hides it.",
                algorithm=algorithm,
                path=self.path,
            )


def policies() -> tuple[Policy, ...]:
    """The policies in force: that of the system's folder, and that of the environment; none where there are none.

    Raises PrivacyError for one that cannot be read as a whole.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from vbas.core.policy import VARIABLE, policies
    >>> file = Path(tempfile.mkdtemp()) / "vbas_policy.toml"
    >>> _ = file.write_text("least_k = 11")
    >>> os.environ[VARIABLE] = str(file)
    >>> [policy.least_k for policy in policies() if policy.path == file]
    [11]
    >>> del os.environ[VARIABLE]
    """
    own = os.environ.get(VARIABLE, "").strip()
    files = [path for path in (system_file(),) if os.path.lexists(path)]
    if own and Path(own) not in files:
        files.append(Path(own))
    return tuple(map(read_policy, files))


def hold_release(k: int, rule: str, nested: bool, disclosure: str, registered: bool) -> tuple[Policy, ...]:
    """The policies that a release of these terms holds. Raises PrivacyError where it does not hold one.

    rule : the choice of RULE; nested : whether rows say their level; disclosure : of DISCLOSURES; registered : whether
    it is held against a register
    """
    held = policies()
    for policy in held:
        policy.refuse_k("K", k)
        policy.refuse_rule(rule)
        policy.refuse_disclosure(nested, disclosure)
        policy.refuse_without_register(registered)
    return held


def policies_for_lists() -> tuple[Policy, ...]:
    """The same for what only lists algorithms: none where one cannot be read, since whatever releases is refused."""
    try:
        return policies()
    except PrivacyError:
        return ()


def system_file() -> Path:
    """Where an administrator puts the policy of a machine."""
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA") or r"C:\ProgramData") / "vbas" / FILE
    if sys.platform == "darwin":
        return Path("/Library/Application Support/vbas") / FILE
    return Path("/etc/vbas") / FILE


def read_policy(path: Path) -> Policy:
    """The policy of a file. Raises PrivacyError for one that cannot be read as a whole, in one sentence with its path.

    path : of a TOML file with any of the keys least_k (a whole number), rules and hidden (lists of names), disclosure
    (true, or a choice of DISCLOSURE), register (true, or the path of one) and release_folder (true)
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib
        except ImportError as error:
            raise _wrong(path, tr("Python before 3.11 needs the package tomli to read it")) from error
    try:
        content = path.read_bytes()
        values = tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise _wrong(path, str(error.strerror)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _wrong(path, str(error).rstrip(".")) from error
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise _wrong(
            path, tr("“{key}” is no key of a policy, which are {keys}", key=unknown[0], keys=all_of(sorted(KEYS)))
        )
    return Policy(path.absolute(), hashlib.sha256(content).hexdigest(), **_terms(values, path))


def _terms(values: Mapping[str, object], path: Path) -> dict[str, Any]:
    readers: dict[str, Callable[[object], dict[str, object] | None]] = {
        "least_k": _least_k,
        "rules": _rules,
        "disclosure": _disclosure,
        "register": lambda value: _register(value, path),
        "release_folder": lambda value: {"release_folder": value} if isinstance(value, bool) else None,
        "hidden": lambda value: None if _names(value) is None else {"hidden": _names(value)},
    }
    terms: dict[str, Any] = {}
    for key, value in values.items():
        read = readers[key](value)
        if read is None:
            raise _wrong(path, tr("“{key}” is {value}, which it cannot be", key=key, value=repr(value)))
        terms.update(read)
    return terms


def _least_k(value: object) -> dict[str, object] | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and SMALLEST_K <= value <= LARGEST_K
    return {"least_k": value} if fits else None


def _rules(value: object) -> dict[str, object] | None:
    """Names of the rules that are shipped, or “none” for own numbers: a user may change what a file of his own says."""
    names = _names(value)
    return {"rules": names} if names and all(name in (NO_RULE, *read_rules()) for name in names) else None


def _disclosure(value: object) -> dict[str, object] | None:
    if isinstance(value, bool):
        return {"disclosure": NO_SMALL_COUNT if value else ""}
    return {"disclosure": "" if value == CLASS_HAS_K else value} if value in DISCLOSURES else None


def _register(value: object, path: Path) -> dict[str, object] | None:
    if isinstance(value, bool):
        return {"register": value}
    if isinstance(value, str) and value.strip():
        return {"register": True, "register_file": path.absolute().parent / value.strip()}
    return None


def _names(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        return None
    return tuple(name.strip().removeprefix("vbas:") for name in value)


def _wrong(path: Path, why: str) -> PrivacyError:
    return PrivacyError.saying(
        "The policy {path} cannot be read ({why}): until it can, nothing is released, since nobody knows what it asks "
        "for.",
        path=path,
        why=why,
    )


def _same(path: Path, other: Path) -> bool:
    """Whether two paths are of one file, which need not be there yet."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.normcase(os.path.realpath(path)) == os.path.normcase(os.path.realpath(other))


def _quoted(names: tuple[str, ...]) -> str:
    return first_values(names, len(names))
