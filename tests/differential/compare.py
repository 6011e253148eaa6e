# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs trumpet-replay on a case and tells what differs from the expected reports."""
import json
import os
import subprocess

KEYS = ("event", "bucket", "start_ns", "end_ns", "value", "threshold", "complete")
PATIENCE_S = 60


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def replay(binary, events, captures, options=()):
    try:
        done = subprocess.run([binary, *options, "--events", events] + captures, capture_output=True,
                              timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        return Outcome("no end after %d s" % PATIENCE_S, "", "")
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"),
                   done.stderr.decode("utf-8", "replace"))


def difference(expected, outcome, events):
    """One sentence on the first difference; None if there is none.

    expected is a list of reports, or None where the events must be refused.
    """
    if expected is None:
        if outcome.code != 1 or outcome.out:
            return "a bad event was not refused: exit %s" % outcome.code
        if os.path.basename(events) + ":" not in outcome.err:
            return "the error does not say where: %r" % outcome.err
        return None
    if outcome.code != 0:
        return "exit %s: %s" % (outcome.code, outcome.err.strip()[-300:])
    lines = outcome.out.splitlines()
    for place, (wanted, line) in enumerate(zip(expected, lines)):
        problem = _report_difference(wanted, line)
        if problem:
            return "report %d: %s" % (place + 1, problem)
    if len(lines) != len(expected):
        extra = lines[len(expected)] if len(lines) > len(expected) else json.dumps(expected[len(lines)])
        return "%d reports, expected %d; first of the rest: %s" % (len(lines), len(expected), extra)
    return None


def bounded_difference(expected, outcome, witness):
    """The same for runs that had too little room.

    What is called complete must be exact; the rest must not exceed the truth, and may only be
    missing where the reports of the event `witness`, one an interval, say so.
    """
    if outcome.code != 0:
        return "exit %s: %s" % (outcome.code, outcome.err.strip()[-300:])
    truth = {_place(each): each for each in expected}
    incomplete = set()
    for line in outcome.out.splitlines():
        got = json.loads(line)
        wanted = truth.pop(_place(got), None)
        if wanted is None:
            return "reported, and is not true: %s" % line
        if got["complete"]:
            problem = _report_difference(wanted, line)
            if problem:
                return "complete, and yet %s" % problem
        elif got["value"] > wanted["value"]:
            return "more than the truth, %r: %s" % (wanted["value"], line)
        if got["event"] == witness and not got["complete"]:
            incomplete.add((got["start_ns"], got["end_ns"]))
    for missing in truth.values():
        if missing["event"] == witness or (missing["start_ns"], missing["end_ns"]) not in incomplete:
            return "missing, and nothing says so: %s" % json.dumps(missing)
    if incomplete and "not complete" not in outcome.err:
        return "the losses are not told"
    return None


def marked_difference(expected, outcome, witness, reach):
    """The same for runs that split connections over threads.

    What is called complete must be exact.  A report may be missing, or too many, only where the
    event `witness`, which reports in every interval, is marked somewhere in the `reach` before the
    report's end: for so long a bucket lives on.  History that a thread gave up to follow another's
    numbers shows as "connection-evicted" when it would have been needed.
    """
    if outcome.code != 0:
        return "exit %s: %s" % (outcome.code, outcome.err.strip()[-300:])
    reports = [json.loads(line) for line in outcome.out.splitlines()]
    marks = [each["start_ns"] for each in reports if each["event"] == witness and not each["complete"]]
    truth = {_place(each): each for each in expected}

    def is_excused(report):
        return any(report["end_ns"] - reach <= start < report["end_ns"] for start in marks)

    for got, line in zip(reports, outcome.out.splitlines()):
        wanted = truth.pop(_place(got), None)
        if not got["complete"]:
            if not set(got["reasons"]) <= {"split-connection", "connection-evicted"}:
                return "incomplete for another reason: %s" % line
        elif wanted is not None:
            problem = _report_difference(wanted, line)
            if problem:
                return "complete, and yet %s" % problem
        elif not is_excused(got):
            return "reported, and is not true: %s" % line
    for missing in truth.values():
        if not is_excused(missing):
            return "missing, and nothing says so: %s" % json.dumps(missing)
    return None


def _place(report):
    return report["event"], json.dumps(report["bucket"]), report["start_ns"]


def _report_difference(wanted, line):
    try:
        got = json.loads(line)
    except ValueError:
        return "not JSON: %r" % line
    if list(got)[:len(KEYS)] != list(KEYS):
        return "keys %s" % list(got)
    for key in KEYS:
        if got[key] != wanted[key] or isinstance(got[key], bool) != isinstance(wanted[key], bool):
            return "%s is %r, expected %r, in %s" % (key, got[key], wanted[key], line)
    if list(got["bucket"]) != list(wanted["bucket"]):
        return "bucket keys %s, expected %s" % (list(got["bucket"]), list(wanted["bucket"]))
    if got.get("unscaled", False) != wanted.get("unscaled", False):
        return "unscaled is %s, in %s" % (got.get("unscaled"), line)
    return None
