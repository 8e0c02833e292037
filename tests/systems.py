"""What tests are of one kind of system."""

import os

import pytest

ON_WINDOWS = os.name == "nt"
KILLED = 9 if ON_WINDOWS else -9  # the code of a process that ended itself so
of_posix = pytest.mark.skipif(ON_WINDOWS, reason="of rights, links, signals, limits and names of POSIX")
