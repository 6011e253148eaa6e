# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports of the monitor beside the ground truth of the captures."""
from show import clock, count, flow_text, many, median

ROWS = 4                                # of each table; all reports are checked


def flow_of(bucket):
    return bucket["srcIP"], bucket["dstIP"], bucket["srcPort"], bucket["dstPort"]


def sentence(report):
    """A report in words."""
    return "First report: %s, %s to %s: %s, threshold %s; told %.2f ms after the interval's end." % (
        report["event"], clock(report["start_ns"]), clock(report["end_ns"]), count(report["value"]),
        count(report["threshold"]), (report["detected_ns"] - report["end_ns"]) / 1e6)


def truth_text(low, high):
    return count(low) if low == high else "%s to %s" % (count(low), count(high))


class Comparison:
    """One event's reports against Counts (truth.py).

    `ledger` are reports of an event that is always true: where one of them says that it is
    incomplete, a report may rightly be missing.  A count that is too high is always wrong.
    """

    def __init__(self, reports, counts, threshold, ledger, losses):
        self.counts, self.threshold, self.losses = counts, threshold, losses
        self.gaps = [(r["start_ns"], r["end_ns"]) for r in ledger if not r["complete"]]
        self.rows = []                  # (report, low, high), in the order of the reports
        for report in reports:
            interval = report["start_ns"] // counts.interval_ns
            self.rows.append((report,) + counts.at(flow_of(report["bucket"]), interval))
        told = {(flow_of(r["bucket"]), r["start_ns"] // counts.interval_ns) for r in reports}
        self.missing = [key for key, (low, _) in counts.ranges.items()
                        if low > threshold and key not in told]

    def fits(self, report, low, high):
        return (low <= report["value"] or not report["complete"]) and report["value"] <= high

    def print(self, show, unit):
        """A few rows, and the checks."""
        if self.rows:
            show.why(sentence(self.rows[0][0]))
        show.table(["interval", "flow", ">monitor", ">capture", ""],
                   [[clock(r["start_ns"]), flow_text(r["bucket"]), count(r["value"]),
                     truth_text(low, high), show.mark(self.fits(r, low, high))]
                    for r, low, high in self.rows[:ROWS]])
        if len(self.rows) > ROWS:
            show.line("      ... and %d more" % (len(self.rows) - ROWS))
        self._check_values(show, unit)
        self._check_missing(show)
        incomplete = [r for r, _, _ in self.rows if not r["complete"]]
        if incomplete:
            show.why("Incomplete by their own account: %s (%s)." % (
                many(len(incomplete), "report"), ", ".join(sorted({why for r in incomplete for why in r["reasons"]}))))

    def _check_values(self, show, unit):
        wrong = [r for r, low, high in self.rows if not self.fits(r, low, high)]
        exact = sum(1 for r, low, high in self.rows if low == high == r["value"])
        if wrong:
            text = "%d of %d reports disagree with the captures, the first at %s" % (
                len(wrong), len(self.rows), clock(wrong[0]["start_ns"]))
        elif self.rows:
            text = "%d reports agree: %d to the last %s, %d within what crossed the bridge at an " \
                "interval's edge" % (len(self.rows), exact, unit, len(self.rows) - exact)
        else:
            text = "the event was never reported"
        show.check(self.rows and not wrong, text)

    def _check_missing(self, show):
        if not self.missing:
            show.check(True, "no interval above the threshold is missing")
            return
        length = self.counts.interval_ns
        starts = sorted(interval * length for _, interval in self.missing)
        admits = all(any(begin <= start < end for begin, end in self.gaps) for start in starts)
        judge(show, False, self.losses if admits else {},
              "no report of %s above the threshold, the first at %s" % (
                  many(len(starts), "interval"), clock(starts[0])))


def judge(show, agrees, losses, text):
    """A check of counts that may only be too low, and only if the monitor says that it lost some."""
    if not agrees and losses:
        show.admit("%s; the monitor says so itself: %s" % (text, losses_text(losses)))
    else:
        show.check(agrees, text)


def losses_text(losses):
    return ", ".join("%s %s" % (count(number), name.replace("_", " "))
                     for name, number in losses.items())


def check_totals(show, ledger, counts, losses, what):
    """An event that is always true: added up, nothing may be missing or counted twice."""
    told = {}
    for report in ledger:
        flow = flow_of(report["bucket"])
        told[flow] = told.get(flow, 0) + report["value"]
    truth = {flow: total for flow, total in counts.totals.items() if total}
    differing = [flow for flow in set(told) | set(truth) if told.get(flow, 0) != truth.get(flow, 0)]
    text = "all intervals of all %d flows together: monitor %s %s, captures %s" % (
        len(truth), count(sum(told.values())), what, count(sum(truth.values())))
    if differing:
        flow = differing[0]
        text += "; %s differing, for example %s:%d > %s:%d with %s and %s" % (
            many(len(differing), "flow"), flow[0], flow[2], flow[1], flow[3], count(told.get(flow, 0)),
            count(truth.get(flow, 0)))
    too_high = any(told.get(flow, 0) > truth.get(flow, 0) for flow in differing)
    confesses = any(not report["complete"] for report in ledger)
    judge(show, not differing, losses if confesses and not too_high else {}, text)


def delays_ms(reports):
    """From the end of the interval to the verdict: (median, longest)."""
    delays = [(r["detected_ns"] - r["end_ns"]) / 1e6 for r in reports]
    return (median(delays), max(delays)) if delays else (0.0, 0.0)
