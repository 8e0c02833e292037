"""Python runs this first in headless QGIS: until an algorithm runs, Ctrl-C ends the process at once.

Python's own way, a KeyboardInterrupt, would be raised inside whatever QGIS happens to be loading; QGIS prints it, goes
on without that plugin, and the Ctrl-C is lost.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
