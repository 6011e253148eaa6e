# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""For tests in Python: cases are functions that yield what is wrong."""


def run(*cases, given=None):
    """Exits with 1 if any case yields anything, else with 0; a line for each.  With `given` each case gets
    what that, a context manager, makes for it."""
    bad = 0
    for case in cases:
        if given is None:
            faults = list(case())
        else:
            with given() as argument:
                faults = list(case(argument))
        bad += bool(faults)
        print(f"{'not ok' if faults else 'ok'} - {case.__name__.replace('_', ' ')}")
        print("".join(f"# {fault}\n" for fault in faults), end="")
    raise SystemExit(1 if bad else 0)
