"""Chromium without a window, led over a pipe as its developers' tools lead it: opens a page, types, and looks at it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .patience import PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ENDED = b"\0"  # what ends each message of the pipe


class Page:
    """The page that is open. `found` answers a script, `until` waits for its answer to be true."""

    def __init__(self, reading: int, writing: int) -> None:
        self._answers, self._writing, self._n = os.fdopen(reading, "rb"), writing, 0
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def open(self, address: str) -> None:
        self._call("Page.enable")
        self._call("Page.navigate", {"url": address})
        self.until("document.readyState == 'complete' && location.protocol != 'about:'")

    def type(self, text: str) -> None:
        """Into what has the focus, key by key."""
        for letter in text:
            self._call("Input.dispatchKeyEvent", {"type": "char", "text": letter})

    def found(self, script: str) -> Any:
        told = self._call("Runtime.evaluate", {"expression": script, "returnByValue": True})
        return told["result"].get("value")

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        end = time.monotonic() + seconds
        while not (value := self.found(script)):
            if time.monotonic() > end:
                raise TimeoutError(script)
            time.sleep(0.1)
        return value

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._call("Page.captureScreenshot")["data"]))

    def _call(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        self._n += 1
        said = {"id": self._n, "method": method, "params": parameters or {}}
        said |= {"sessionId": self._session} if hasattr(self, "_session") else {}
        os.write(self._writing, json.dumps(said).encode() + ENDED)
        while True:
            answer = json.loads(self._message())
            if answer.get("id") == self._n:
                return answer["result"]

    def _message(self) -> bytes:
        message = b""
        while (one := self._answers.read(1)) != ENDED:
            if not one:
                raise EOFError("chromium has ended")
            message += one
        return message


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """A page of a chromium with a profile of its own, which ends with the block."""
    to_read, its_writing = os.pipe()
    its_reading, to_write = os.pipe()
    # It reads from 3 and writes to 4.
    started = ["bash", "-c", f'exec "$@" 3<&{its_reading} 4>&{its_writing}', "-", str(CHROMIUM), "--headless"]
    options = ["--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [*started, *options, "--window-size=1200,900"], pass_fds=(its_reading, its_writing), stderr=subprocess.DEVNULL
    )
    os.close(its_writing)
    os.close(its_reading)
    try:
        yield Page(to_read, to_write)
    finally:
        process.terminate()
        process.wait(120)
        os.close(to_write)
