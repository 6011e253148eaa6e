# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What differs between two outputs of a measurement run, in words; and running trumpet-replay for one."""
import json
import subprocess

TIMEOUT_S = 600
# Estimates are sums of floating-point numbers, which may be added in any order.
ESTIMATE_TOLERANCE = 1e-5


def difference(wanted, got, where=""):
    """The first difference, or None.  Of diagnostics only which there are counts."""
    if where == ".diagnostics":
        wanted, got = ([sorted(set(map(tuple, each))) for each in side] for side in (wanted, got))
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name in list(wanted) + [name for name in got if name not in wanted]:
            if name not in got:
                return "%s.%s is missing; it should be %s" % (where, name, wanted[name])
            if name not in wanted:
                return "%s.%s should not be there; it is %s" % (where, name, got[name])
            found = difference(wanted[name], got[name], "%s.%s" % (where, name))
            if found:
                return found
        return None
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        return next(filter(None, (difference(one, other, "%s[%d]" % (where, place))
                                  for place, (one, other) in enumerate(zip(wanted, got)))), None)
    if where.endswith(".estimate") and isinstance(got, (int, float)):
        return None if abs(wanted - got) <= ESTIMATE_TOLERANCE else "%s is %s, not %s" % (where, got, wanted)
    return None if wanted == got else "%s is %s, not %s" % (where, got, wanted)


def difference_of_bursts(binary, *files):
    """Whether packets one by one say something else than those of a burst, with the hash of everyday use."""
    (alone, problem), (burst, other) = (replay(binary, *files, options=("--batch", batch)) for batch in ("1", "32"))
    return problem or other or difference(alone, burst)


def replay(binary, program, capture, meta, options=("--hash", "reference")):
    """The output of trumpet-replay as an object, and None; or None, and what went wrong."""
    done = subprocess.run([binary, "--program", program, "--meta", meta, *options, "--state", capture],
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        return None, "ended with %d: %s" % (done.returncode, done.stderr.strip() or done.stdout.strip())
    try:
        return json.loads(done.stdout), None
    except json.JSONDecodeError as error:
        return None, "printed no JSON: %s" % error
