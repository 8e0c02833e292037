"""Texts that stand somewhere in a buffer, as codes: many at once, in words of eight bytes, and each an object once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

WORD = 8  # bytes
WIDTHS = (1, 4, 16, 64)  # words, in which texts of about the same length are compared
LONGEST = WORD * WIDTHS[-1]
FEWEST_SLOTS, SLOTS_A_TEXT = 1 << 12, 16
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class NotEncoded(Exception):
    """A text is longer than LONGEST, or two different ones have one key: they are to be encoded another way."""


class TextEncoder:
    """Gives texts their codes."""

    def __init__(self, code_of: Callable[[str], int]) -> None:
        """code_of : the code of a text that was not met before"""
        self._of_width = [_Width(n_words, code_of) for n_words in WIDTHS]

    def codes(self, buffer: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
        """The codes of texts, (n,) int32.

        buffer : bytes, LONGEST more than the last text needs; start, length : (n,) int64, of each text in bytes.
        Raises UnicodeDecodeError for a text that is not UTF-8, NotEncoded.
        """
        if not len(start):
            return np.empty(0, np.int32)
        longest = int(length.max())
        if longest > LONGEST:
            raise NotEncoded
        if longest <= WORD * WIDTHS[1]:  # to tell them apart by their length takes longer than it saves
            return self._of_width[longest > WORD * WIDTHS[0]].codes(buffer, start, length)
        codes = np.empty(len(start), np.int32)
        above = -1
        for width in self._of_width:
            rows = np.flatnonzero((length > above) & (length <= width.n_bytes))
            if len(rows):
                codes[rows] = width.codes(buffer, start[rows], length[rows])
            above = width.n_bytes
        return codes


def stretches(buffer: np.ndarray, start: np.ndarray, n_bytes: int) -> np.ndarray:
    """So many bytes from each place of a buffer on, (n, n_bytes) uint8; start : (n,) int64."""
    every: np.ndarray = np.ndarray((len(buffer) - n_bytes + 1,), f"S{n_bytes}", buffer, strides=(1,))
    return every[start].view(np.uint8).reshape(len(start), n_bytes)


class _Width:
    """Texts of up to so many words. Each is found by a key of 64 bits, and then compared with the one that is known."""

    def __init__(self, n_words: int, code_of: Callable[[str], int]) -> None:
        self.n_bytes = WORD * n_words
        self._n_words = n_words
        self._code_of = code_of
        self._number: dict[int, int] = {}  # of the known texts, by their key
        self._new: list[tuple[int, int, bytes]] = []
        self._keys, self._codes = np.empty(0, np.uint64), np.empty(0, np.int32)
        self._lengths = np.empty(0, np.int64)
        self._words = np.empty((n_words, 0), "<u8")
        # Of each word, by the length of a text, which bytes are its own.
        own = np.arange(self.n_bytes, dtype=np.int64) < np.arange(self.n_bytes + 1, dtype=np.int64)[:, None]
        self._masks = np.ascontiguousarray(np.where(own, np.uint8(255), np.uint8(0)).view("<u8").T)
        self._slots, self._shift = np.empty(0, np.int32), np.uint64(0)
        self._make_slots(FEWEST_SLOTS)

    def codes(self, buffer: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
        """As `TextEncoder.codes`, of texts that are no longer."""
        words = self._words_of(buffer, start, length)
        key = length.astype(np.uint64) * _SPREAD
        for word in words:
            key ^= word
            key *= _SPREAD
            key ^= key >> _HALF
        key *= _SPREAD
        number = self._slots.take((key >> self._shift).view(np.int64))
        # Some are not known yet, and of those that are, some have lost their slot to others.
        other = (
            np.flatnonzero(~self._are(number, length, words))
            if len(self._keys)
            else np.arange(len(key), dtype=np.int64)
        )
        if len(other):
            unique, first, which = np.unique(key[other], return_index=True, return_inverse=True)
            for code, row in zip(unique.tolist(), other[first].tolist()):
                if code not in self._number:
                    self._learn(code, buffer[start[row] : start[row] + length[row]].tobytes())
            self._keep()
            numbers = np.fromiter(map(self._number.__getitem__, unique.tolist()), np.int32, len(unique))
            number[other] = numbers[which.reshape(-1)]
            if not self._are(number[other], length[other], [word[other] for word in words]).all():
                raise NotEncoded
        return self._codes.take(number)

    def _words_of(self, buffer: np.ndarray, start: np.ndarray, length: np.ndarray) -> list[np.ndarray]:
        """The words of texts, (n,) each, without what stands behind a text."""
        every = stretches(buffer, start, self.n_bytes).view("<u8")
        return [every[:, j] & masks.take(length) for j, masks in enumerate(self._masks)]

    def _are(self, number: np.ndarray, length: np.ndarray, words: list[np.ndarray]) -> np.ndarray:
        """Whether texts are those that are known by these numbers, byte by byte, (n,) bool."""
        same: np.ndarray = self._lengths.take(number) == length
        for known, word in zip(self._words, words):
            same &= known.take(number) == word
        return same

    def _learn(self, key: int, content: bytes) -> None:
        self._number[key] = len(self._number)
        self._new.append((key, self._code_of(content.decode("utf-8")), content))

    def _keep(self) -> None:
        """Add what was learned to the arrays."""
        if not self._new:
            return
        keys, codes, contents = zip(*self._new)
        self._new.clear()
        words = np.frombuffer(b"".join(content.ljust(self.n_bytes, b"\0") for content in contents), "<u8")
        self._keys = np.append(self._keys, np.array(keys, np.uint64))
        self._codes = np.append(self._codes, np.array(codes, np.int32))
        self._lengths = np.append(self._lengths, np.array([len(content) for content in contents], np.int64))
        self._words = np.concatenate([self._words, words.reshape(-1, self._n_words).T], axis=1)
        self._make_slots(max(len(self._slots), SLOTS_A_TEXT * len(self._keys)))

    def _make_slots(self, fewest: int) -> None:
        """Where the known texts are looked for, by the first bits of their keys."""
        n_bits = max(int(fewest - 1).bit_length(), 1)
        self._shift = np.uint64(64 - n_bits)
        self._slots = np.zeros(1 << n_bits, np.int32)
        self._slots[self._keys >> self._shift] = np.arange(len(self._keys), dtype=np.int32)
