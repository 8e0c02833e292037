"""All outputs put in their place, or none: what was there is kept until the last one is in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..errors import Cancelled, OutcomeUnknown, VbasError


class Place(Protocol):
    """Where one output goes."""

    def prepare(self) -> None:
        """Bring the output next to its place, without touching what is there."""

    def put(self) -> None:
        """Put it in place, and keep what was there under another name."""

    def check(self) -> None:
        """Read it in its place, as its user will. Raises VbasError where it is not what was to be delivered."""

    def undo(self) -> list[str]:
        """Put back what was there, however far `put` came; sentences on what could not be put back."""

    def forget(self) -> list[str]:
        """Remove what was kept; sentences on what could not be removed."""

    def discard(self) -> list[str]:
        """Remove what `prepare` brought; sentences on what could not be removed."""


def deliver(
    places: Sequence[Place],
    check_cancelled: Callable[[], None] = lambda: None,
    last: Sequence[Callable[[], None]] = (),
) -> list[str]:
    """Put every output in its place, or leave all as it was. Returns warnings.

    last : what cannot be undone, done when nothing else can fail any more

    Raises VbasError where one cannot be put in its place; whatever else ends it (Cancel, Ctrl-C) undoes it too.
    """
    begun: list[Place] = []
    try:
        for place in places:
            place.prepare()
        for place in places:
            check_cancelled()
            begun.append(place)
            place.put()
        for place in places:
            check_cancelled()
            place.check()
        check_cancelled()
        for publish in last:
            publish()
    except BaseException as error:
        lost = [sentence for place in reversed(begun) for sentence in place.undo()]
        lost += [sentence for place in places for sentence in place.discard()]
        if lost:
            raise VbasError.saying(
                "The outputs could not be put in their place: {reason}. {lost}",
                reason=_reason(error),
                lost=" ".join(lost),
            ) from error
        if isinstance(error, OutcomeUnknown):
            raise OutcomeUnknown.saying(
                "{reason}. The other outputs of this run were not written, and no register has the release: remove "
                "what is there, and run again.",
                reason=_reason(error),
            ) from error
        if isinstance(error, (OSError, VbasError)) and not isinstance(error, Cancelled):
            raise VbasError.saying(
                "The outputs could not be put in their place: {reason}. Nothing was changed.", reason=_reason(error)
            ) from error
        raise
    return [sentence for place in places for sentence in place.forget()]


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f" ({error.filename2 or error.filename})" if error.filename else "")
    return str(error).rstrip(".") or type(error).__name__
