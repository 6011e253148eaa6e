# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports of the monitor beside the ground truth of the captures."""
from show import clock, count, flow_text, median

ROWS = 4                                # of each table; all reports are checked


def flow_of(bucket):
    return bucket["srcIP"], bucket["dstIP"], bucket["srcPort"], bucket["dstPort"]


def truth_text(low, high):
    return count(low) if low == high else "%s to %s" % (count(low), count(high))


class Comparison:
    """One event's reports against Counts (truth.py)."""

    def __init__(self, reports, counts, threshold):
        self.counts, self.threshold = counts, threshold
        self.rows = []                  # (report, low, high), in the order of the reports
        for report in reports:
            interval = report["start_ns"] // counts.interval_ns
            self.rows.append((report,) + counts.at(flow_of(report["bucket"]), interval))
        told = {(flow_of(r["bucket"]), r["start_ns"] // counts.interval_ns) for r in reports}
        self.missing = [key for key, (low, _) in counts.ranges.items()
                        if low > threshold and key not in told]

    def exact(self):
        return sum(1 for r, low, high in self.rows if low == high == r["value"])

    def wrong(self):
        return [r for r, low, high in self.rows
                if not low <= r["value"] <= high or high <= self.threshold]

    def incomplete(self):
        return sum(1 for r, _, _ in self.rows if not r["complete"])

    def print(self, show, unit):
        """A few rows, and the checks."""
        shown = self.rows[:ROWS]
        show.table(["interval", "flow", ">monitor", ">capture", ""],
                   [[clock(r["start_ns"]), flow_text(r["bucket"]), count(r["value"]),
                     truth_text(low, high),
                     show.yes if low <= r["value"] <= high else show.no] for r, low, high in shown])
        if len(self.rows) > ROWS:
            show.line("      ... and %d more" % (len(self.rows) - ROWS))
        wrong = self.wrong()
        edge = len(self.rows) - self.exact()
        show.check(self.rows and not wrong, "%d reports: %s" % (
            len(self.rows),
            "%d disagree with the captures, the first at %s" % (
                len(wrong), clock(wrong[0]["start_ns"])) if wrong else
            "%d equal to the last %s, %d within the range of packets that crossed at an interval's "
            "edge" % (self.exact(), unit, edge) if self.rows else "the event was never reported"))
        show.check(not self.missing, "no interval above the threshold is missing"
                   if not self.missing else "%d intervals above the threshold were not reported, "
                   "the first at %s" % (len(self.missing), clock(
                       min(interval for _, interval in self.missing) * self.counts.interval_ns)))
        incomplete = self.incomplete()
        show.check(not incomplete, "every report says that it is complete" if not incomplete else
                   "%d reports say that they are incomplete: %s" % (incomplete, ", ".join(sorted(
                       {why for r, _, _ in self.rows for why in r.get("reasons", [])}))))


def check_totals(show, ledger, counts, what):
    """An event that is always true: added up, nothing may be missing or counted twice."""
    told = {}
    for report in ledger:
        flow = flow_of(report["bucket"])
        told[flow] = told.get(flow, 0) + report["value"]
    truth = {flow: total for flow, total in counts.totals.items() if total}
    differing = [flow for flow in set(told) | set(truth) if told.get(flow, 0) != truth.get(flow, 0)]
    text = "all intervals of all %d flows: monitor %s, captures %s %s" % (
        len(truth), count(sum(told.values())), count(sum(truth.values())), what)
    if differing:
        flow = differing[0]
        text += "; %d flows differ, for example %s:%d > %s:%d has %s and %s" % (
            len(differing), flow[0], flow[2], flow[1], flow[3], count(told.get(flow, 0)),
            count(truth.get(flow, 0)))
    show.check(not differing, text)


def delays_ms(reports):
    """From the end of the interval to the verdict: (median, longest)."""
    delays = [(r["detected_ns"] - r["end_ns"]) / 1e6 for r in reports]
    return (median(delays), max(delays)) if delays else (0.0, 0.0)
