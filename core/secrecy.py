"""Passwords and tokens in addresses: found however they are written, and left out of every text that a person reads.

An address is what opens a database, a file or a service: a URL, `key=value` as PostgreSQL, GDAL or ODBC read them, or
what QGIS makes of these. `without_secrets` is the one way in which text loses them; all that leaves goes through it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote, unquote

HIDDEN = "…"
# What a key is called, or holds, whose value is nobody's business; `passfile` names a file, `authcfg` an entry.
KEY = (
    r"[\w.:-]*(?:passw|passphrase|passcode|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|credential|signature|authorization)[\w.-]*"
)
# Names that say so only as a parameter of a web address, or among the keys of GDAL.
OF_WEB = r"(?:key|pass|pw|sig|auth|jwt|sas|code|session)"
OF_GDAL = r"(?:pass|pw)"
# Equals signs and ampersands stand in addresses within addresses as %3D and %26, or as %253D.
# After an empty value, the next key is no value.
EQUALS = r"(?:\s*=(?!\s)|\s*=\s+(?![\w.-]+\s*=)|%(?:25)*3D)"
AND, FIRST = r"(?:&|%(?:25)*26)", r"(?:\?|%(?:25)*3F)"
QUOTED = r"(?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|\{(?:[^}]|\}\})*\})(?=[\s;,&|)”»\"']|$)"
# What ends a value without quotes: the next key, the end of the address, what QGIS adds to it. Keys of two words are
# those of ODBC.
TWO_WORDS = r"(?:(?:initial|user|data|integrated|application|persist|connect(?:ion)?|packet|trusted|network)\s+)?"
NEXT_KEY = rf",\s*[\w.-]+=|\s*;\s*{TWO_WORDS}[\w.-]+\s*=|\|[\w:]+=|{AND}[\w.%:-]+(?:=|%(?:25)*3D)"
NEXT = rf"(?=\s+[\w.-]+\s*=|{NEXT_KEY}|\s*[”»]|\s*$)"
NEXT_IN_TEXT = rf"(?=\s|{NEXT_KEY}|[”»\"]|$)"
SCHEME = r"(?:Bearer|Basic|Token)(?:\s+|%20|\+)"
PLAIN = r"(?:\\.|[^\n])"
PLAIN_IN_TEXT = r"(?:\\.|[^\s])"
ENDS_HERE = r"[^\s“”«»\"<>]"
PORT = re.compile(r"\d{1,5}(?:[/?#]|$)")
OF_THE_WEB, OF_DATABASES = ("http:", "https:", "ftp:"), ("postgresql:", "postgres:")
SHORTEST = 4  # characters of a value that is looked for by itself: shorter ones stand in many words
IN_QUOTES = re.compile(r"“[^“]*”|«[^«]*»")


def _of_keys(plain: str, following: str) -> re.Pattern[str]:
    """A key and its value, which is the group `secret`."""
    key = rf"(?:(?<![\w-])(?:{KEY}|{OF_GDAL})|(?:{FIRST}|{AND}){OF_WEB}|userpwd)"
    value = rf"(?P<secret>{QUOTED}|(?:{SCHEME})?{plain}+?{following})"
    return re.compile(key + EQUALS + value, re.IGNORECASE)


OF_ADDRESS, OF_TEXT = _of_keys(PLAIN, NEXT), _of_keys(PLAIN_IN_TEXT, NEXT_IN_TEXT)
HEADER = re.compile(rf"(?:authorization|x-[\w-]*(?:key|token))\s*:\s*(?P<secret>(?:{SCHEME})?[^\s,;“”\"']+)", re.I)
JSON = re.compile(rf"\"{KEY}\"\s*:\s*(?P<secret>\"(?:[^\"\\]|\\.)*\")", re.IGNORECASE)
# user:password@host of a URL; what follows a port and a slash is a path, which may hold an @.
USER = r"(?P<scheme>[A-Za-z][\w+.-]*:)?//[^\s/@:?#“”«»\"<>]*:"
USER_OF_URL = re.compile(USER + rf"(?P<secret>{ENDS_HERE}+)@")
USER_OF_ADDRESS = re.compile(USER + r"(?P<secret>[^\n]+)@")
ENCODED = re.compile(r"%(?:25)*3A%(?:25)*2F%(?:25)*2F[^\s&/]*?%(?:25)*3A(?P<secret>[^\s&/]+?)%(?:25)*40", re.IGNORECASE)
# The same without slashes: postgresql:nurse:…@host, nurse:…@host; one letter is a drive.
WITHOUT_SLASHES = re.compile(
    r"(?<![\w/\\.-])(?:[a-z][\w+.-]+:)?[\w.+-]{2,}:(?!//)(?P<secret>[^\s“”«»\"<>/\\=',][^\s“”«»\"<>=',]*)@[\w\[]"
)
ORACLE = re.compile(
    r"\b(?:OCI|ODBC|ORACLE):[^\s/@,=:]+/(?P<secret>[^\n]+?)(?:@(?=[^@]*$)|(?=[,”»\"]|$))", re.IGNORECASE
)
ARCSDE = re.compile(r"\bSDE:(?:[^,\n]*,){4}(?P<secret>[^,\n]+)", re.IGNORECASE)


def secrets_in(address: str) -> list[str]:
    """The passwords and tokens that are written in an address, as they are written there."""
    return [address[start:end] for start, end in _spans(address, whole=True)]


def holds_secret(address: str) -> bool:
    """Whether a password or token is written in an address."""
    return any(value.strip("'\"{} ") for value in secrets_in(address))


def without_secrets(text: str, *addresses: str) -> str:
    """A text without passwords and tokens: those in any address that it holds, and those of these addresses wherever
    they stand, in whole. What is not secret stays: names of files, hosts, databases, tables."""
    known = [address for address in dict.fromkeys(addresses) if holds_secret(address)]
    for address in sorted(known, key=len, reverse=True):
        if address in text:
            text = text.replace(address, _masked(address, _spans(address, whole=True)))
    text = without_values(text, known)
    for quoted in dict.fromkeys(IN_QUOTES.findall(text)):
        inside = quoted[1:-1]
        text = text.replace(quoted, quoted[0] + _masked(inside, _spans(inside, whole=True)) + quoted[-1])
    return _masked(text, _spans(text, whole=False))


def without_values(text: str, addresses: Iterable[str]) -> str:
    """A text without the passwords and tokens of these addresses, as words of their own."""
    for value in values_of(addresses):
        text = re.sub(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", HIDDEN, text)
    return text


def values_of(addresses: Iterable[str]) -> list[str]:
    """The secrets of addresses in every way that they may be written, longest first: as they are, without quotes and
    escapes, for a web address, for a page. What stands openly there too, such as the name of the user, is none."""
    ways: set[str] = set()
    for address in addresses:
        spans = _spans(address, whole=True)
        masked = _masked(address, spans)
        for start, end in spans:
            for reading in _readings(address[start:end].strip()):
                ways |= {way for way in (reading, quote(reading, safe=""), escape(reading)) if len(way) >= SHORTEST}
        ways = {way for way in ways if not re.search(rf"(?<![^\W_]){re.escape(way)}(?![^\W_])", masked)}
    return sorted(ways, key=lambda way: (-len(way), way))


def _readings(written: str) -> set[str]:
    """What a secret that is written so may be."""
    bare = written.strip("'\"")
    if written[:1] + written[-1:] in ("''", '""', "{}"):
        bare = written[1:-1]
    plain = re.sub(r"\\(.)", r"\1", bare).replace("''", "'").replace("}}", "}")
    token = re.sub(f"^{SCHEME}", "", bare, flags=re.IGNORECASE)
    return {written, bare, plain, unquote(bare), token, bare.partition(":")[2]}


def _spans(text: str, whole: bool) -> list[tuple[int, int]]:
    """Where secrets stand; whole : the text is one address, in which a value may hold blanks."""
    spans: list[tuple[int, int]] = []
    patterns = [OF_ADDRESS, USER_OF_ADDRESS] if whole else [OF_TEXT, USER_OF_URL]
    for pattern in (*patterns, HEADER, JSON, ENCODED, WITHOUT_SLASHES, ORACLE, ARCSDE):
        spans += _matches(pattern, text)
    return sorted(spans)


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        start, end = match.span("secret")
        if pattern in (USER_OF_URL, USER_OF_ADDRESS):
            end = _end_of_password(match["secret"], match["scheme"] or "") + start
        if text[start:end].strip("'\"{} ") not in ("", HIDDEN):
            yield start, end


def _end_of_password(text: str, scheme: str) -> int:
    """How much of what stands between a colon and the last @ is a password; 0 where the colon was that of a port."""
    in_time, asked, _ = text.partition("?")
    host, _, _ = in_time.partition("/")
    if scheme.lower() in OF_THE_WEB and "@" in host:  # an @ of the path is none of the password's
        return host.rindex("@")
    if PORT.match(text) and (scheme.lower() not in OF_DATABASES or (asked and "@" not in in_time)):
        return 0
    if asked and "@" in in_time:  # nor one of what is asked for
        return in_time.rindex("@")
    return len(text)


def _masked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with each of these parts, which may overlap, replaced by one sign."""
    pieces, last = [], 0
    for start, end in spans:
        if end <= last:
            continue
        if start >= last:
            pieces += [text[last:start], HIDDEN]
        last = max(last, end)
    return "".join([*pieces, text[last:]])
