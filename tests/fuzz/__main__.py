"""Cases from the command line: scripts/fuzz."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pprint import pformat

SEED = "vbas"
IN_ONE_PROCESS = 20_000  # cases that are gone on with: QGIS holds on to each exception, and its frames to 0.1 MB


def main():
    arguments = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    arguments.add_argument("--cases", type=int, default=2_000)
    arguments.add_argument("--seed", default=SEED)
    arguments.add_argument("--first", type=int, default=0, help="the number of the first case")
    arguments.add_argument("--case", type=int, help="run this case alone, and tell all of it")
    arguments.add_argument("--only", help="run the cases of this form alone, such as checkreleases")
    arguments.add_argument("--resume", help="a file of what came of the cases so far: they are not run again")
    asked = arguments.parse_args()
    from .starting import toolbox

    provider = toolbox()  # noqa: F841  it must be held
    from .frozen import FROZEN, oracle
    from .many import Kept, run_cases

    alone = asked.case is not None
    numbers = [asked.case] if alone else range(asked.first, asked.first + asked.cases)

    def tell(number, case, outcome, found):
        if alone:
            print(pformat(case, width=140)[:20_000])
            print("results:", outcome.results, "\nerror:", outcome.error, "\nlog:", *outcome.log, sep="\n")
            print(outcome.foreign)
        for one in found:
            print(f"case {number} ({case.algorithm}): {one}", flush=True)
        if number % 1_000 == 0 and not alone:
            print(f"up to {number}", flush=True)
        if asked_to_stop:
            raise KeyboardInterrupt

    # An exception in what QGIS calls back (the name of a form, its fields) would be the end of the process: the case at
    # hand is run to its end, unless there is a second signal.
    asked_to_stop = []

    def stop(number, _):
        asked_to_stop.append(number)
        signal.signal(number, signal.default_int_handler)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    kept = Kept(asked.resume, asked.seed, asked.only) if asked.resume and not alone else None
    now = numbers if kept is None else numbers[: max(kept.next - asked.first, 0) + IN_ONE_PROCESS]
    tally = run_cases(asked.seed, now, tell, asked.only, kept)
    if len(now) < len(numbers) and not tally.interrupted:
        sys.stdout.flush()
        os.execv(sys.executable, sys.orig_argv)  # the same command, which goes on
    print(f"seed {asked.seed}, cases {numbers[0]} to {numbers[-1]}{', interrupted' * tally.interrupted}")
    print("\n".join(tally.lines()))
    print(
        f"recounted by oracle {oracle()[:16]}{'' if oracle() == FROZEN else ', which is not the frozen one'}",
        flush=True,
    )
    sys.stdout.flush()
    # QGIS may crash while it takes down layers that exceptions still hold: what was to be said is said.
    os._exit(130 if tally.interrupted else 1 if tally.findings else 0)


if __name__ == "__main__":
    main()
