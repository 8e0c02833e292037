"""`python -m vbas`: the same as the command `vbas`."""

from __future__ import annotations

import sys

from .core.command.main import main

if __name__ == "__main__":
    sys.exit(main())
