# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The first part of the demonstration: an event of the network, which no host sees by itself."""
import os
import time

from beside import judge, truth_text
from controller import Controller
from hypervisors import CONTROL, HOSTS, STORAGE_ADDRESS, Hypervisors
from incast import INTERVAL, MS, THRESHOLD, Incast
from show import clock, count, many, median

EVENTS = """\
events:
  - name: incast
    filter: dstIP={storage}
    predicate: sum(volume) > {kilobytes}KB
    flow_granularity: dstIP
    time_interval: {interval}ms
    deadline: 1s
  - name: ledger
    event: dstIP={storage}, sum(volume) > 0, srcIP, 500ms
    deadline: 2s
""".format(storage=STORAGE_ADDRESS, kilobytes=THRESHOLD // 1000, interval=INTERVAL // MS)

# What a report says of its way; delivered_ns and detected_ns are always there.
STAGES = [("told_ns", "a host reported its share"),
          ("delivered_ns", "all hosts had delivered the interval"),
          ("asked_ns", "the host below its share was asked"),
          ("answered_ns", "it had answered"),
          ("detected_ns", "the controller had decided"),
          ("subscriber_ns", "`trumpetctl event watch` had it")]


class NetworkStory:
    TITLE = "Across three hypervisors: an event that no host sees by itself"
    STEPS = 5
    ROWS = 6                            # of the table; all intervals are checked

    def __init__(self, lab, build, show):
        self.lab, self.show = lab, show
        self.hypervisors = Hypervisors(lab, build)
        programs = self.hypervisors.switches[HOSTS[0]].programs
        self.controller = Controller(lab, build, programs)
        self.traffic = Incast(lab)

    def tell(self):
        begin = time.monotonic()
        self.start()
        self.install()
        watch = self.controller.watch("incast")
        self.write_to_storage()
        told = watch.stop()
        self.compare(told)
        self.compare_ledger()
        self.timeline(told)
        self.show.line()
        self.show.conclude("controller", time.monotonic() - begin)

    # --- 1 and 2: the scene --------------------------------------------------

    def start(self):
        show = self.show
        show.step("Start three hypervisors and a controller")
        show.why("Each is a network namespace with an Open vSwitch, a database and a tenant of its own: "
                 "hv1 polls with a PMD thread (DPDK), hv2 and hv3 do without. Their uplinks end at a storage "
                 "server, %s, where no monitor runs. Agents and controller show each other certificates "
                 "(TLS, made with ovs-pki); events are kept in a database of the controller's own." %
                 STORAGE_ADDRESS)
        self.controller.make_keys()
        self.hypervisors.start(sorted(os.sched_getaffinity(0)))
        self.controller.start_for_hosts()
        self.hypervisors.connect(self.controller.keys)
        self.controller.wait_for_hosts()
        self.hypervisors.check_ways()

    def install(self):
        show = self.show
        show.step("Say what to watch, once for the whole network")
        show.command("trumpetctl event add incast.yaml --wait")
        for line in EVENTS.splitlines()[1:7]:
            show.line("        " + line)
        self.controller.add_events("incast.yaml", EVENTS)
        event = self.controller.ask("event", "show", "incast")
        show.why("Runs on %d of %d hosts, %.1f ms after the controller sent it. A host is silent below its "
                 "share, half of the threshold divided by three; beyond it reports, and then the others are "
                 "asked. A second event, always true, is a ledger of every byte." % (
                     event["hosts_applied"], event["hosts_wanted"],
                     (event["applied_ns"] - event["sent_ns"]) / 1e6))
        show.check(event["hosts_applied"] == len(HOSTS), "the event runs on all hosts")

    # --- 3: traffic ----------------------------------------------------------

    def write_to_storage(self):
        show = self.show
        show.step("Let the tenants write to the storage server, now and then too much at once")
        self.traffic.prepare()
        self.begin, self.end = self.traffic.run()
        self.controller.wait_until_decided(self.end + 500 * MS)
        self.truth = self.traffic.read()
        show.why("%s datagrams from three tenants in %.1f s. Ground truth: captures of each tenant's cable "
                 "and of the far end of each uplink, added up by a program that shares nothing with the "
                 "monitor." % (count(self.truth.count), (self.end - self.begin) / 1e9))

    # --- 4: verdicts beside the captures -------------------------------------

    def compare(self, told):
        show = self.show
        show.step("Compare: what each host saw, and what the controller concluded")
        found = {report["start_ns"] // INTERVAL: report for _, report in told
                 if not report.get("cleared")}
        most = max(high for counts in self.truth.hosts.values() for _, high in counts.ranges.values())
        show.check(most < THRESHOLD, "no host had more than %s bytes in an interval; the threshold is %s" % (
            count(most), count(THRESHOLD)))
        intervals = sorted(set(self.truth.intervals()) | set(found))
        rows = [self._row(interval, found.get(interval)) for interval in intervals]
        show.table(["interval"] + [">" + host for host in HOSTS] +
                   [">captures, all", ">controller", ""], [row for row, _ in rows[:self.ROWS]])
        show.line("      ... and %s more" % many(len(rows) - self.ROWS, "interval"))
        wrong = [row for row, fits in rows if not fits]
        claims = any(fits is None for _, fits in rows)
        judge(show, not wrong, {} if claims else self._losses(),
              "%d of %d intervals were above the threshold: the controller reported these and no other, "
              "and what each host had in them, to the byte" % (len(found), len(rows)) if not wrong else
              "%d intervals disagree, the first is %s" % (len(wrong), wrong[0][0]))
        clears = sum(1 for _, report in told if report.get("cleared"))
        show.check(clears == len(found), "each was told to be over in the next interval")

    def _row(self, interval, report):
        """(cells of the table, whether the report fits the captures; None: it claims too much)"""
        key = (STORAGE_ADDRESS, interval)
        low, high = self.truth.together.at(*key)
        truth = {host: self.truth.hosts[host].at(*key) for host in HOSTS}
        if report is None:
            fits, shares = low <= THRESHOLD, {}
        else:
            shares = {share["host"]: share["value"] for share in report["hosts"]}
            pairs = [(report["value"], low, high)]
            pairs += [(shares.get(host, 0),) + truth[host] for host in HOSTS]
            fits = not report["complete"] or all(value >= least for value, least, _ in pairs)
            if high <= THRESHOLD or any(value > most for value, _, most in pairs):
                fits = None
        cells = [clock(interval * INTERVAL)]
        cells += [count(shares[host]) if host in shares else truth_text(*truth[host]) for host in HOSTS]
        cells += [truth_text(low, high), count(report["value"]) if report else "-",
                  self.show.mark(fits)]
        return cells, fits

    def _losses(self):
        counters = self.controller.ask("event", "show", "incast")["counters"]
        number = counters["intervals_incomplete"]
        return {"intervals_without_an_answer": number} if number else {}

    def compare_ledger(self):
        truth = self.truth.sums()
        reports, told = self._ledger()
        end = time.monotonic() + 3      # the store takes reports by and by
        while told != truth and time.monotonic() < end:
            reports, told = self._ledger()
        text = "the ledger of all three tenants: controller %s bytes, captures %s" % (
            count(sum(told.values())), count(sum(truth.values())))
        is_too_high = any(told.get(source, 0) > truth.get(source, 0) for source in told)
        incomplete = sum(1 for report in reports if not report["complete"])
        judge(self.show, told == truth,
              {"incomplete_reports": incomplete} if incomplete and not is_too_high else {}, text)

    def _ledger(self):
        """The reports, and what they say of each tenant."""
        reports, told = self.controller.reports("ledger", self.begin), {}
        for report in reports:
            source = report["bucket"]["srcIP"]
            told[source] = told.get(source, 0) + (report["value"] or 0)
        return reports, told

    # --- 5: how long it took -------------------------------------------------

    def timeline(self, told):
        show = self.show
        show.step("Ask how long that took")
        reports = []
        for came_ns, report in told:
            if not report.get("cleared") and report["start_ns"] >= self.begin:
                reports.append(dict(report, subscriber_ns=came_ns, **report.get("stages", {})))
        if not reports:
            show.check(False, "there was no report")
            return
        rows = [["the last datagram had crossed its switch"] + _spans(
            [self.truth.last_come[report["start_ns"] // INTERVAL] - report["end_ns"]
             for report in reports])]
        rows.append(["the interval ended", "0.00 ms"])
        for key, text in STAGES:
            spans = [report[key] - report["end_ns"] for report in reports if key in report]
            rows.append([text] + (_spans(spans) if spans else ["did not happen"]))
        show.table(["after the interval's end", ">first report", ">median", ">longest"],
                   [row + [""] * (4 - len(row)) for row in rows])
        show.why("Stamps are those that the reports carry (`stages`); one clock, as all runs on one machine. "
                 "Everything here shares %s." % many(len(os.sched_getaffinity(0)), "CPU"))


    # --- the end -------------------------------------------------------------

    def leave_running(self, program):
        """Goes on with the traffic for ten minutes."""
        show, controller = self.show, self.controller
        self.traffic.write(time.time_ns() + MS, 6000)
        show.line()
        show.line("The hypervisors and the controller go on, the tenants write for ten minutes more. Try:")
        show.line("  export %s PATH=%s:$PATH" % (
            " ".join("%s=%s" % (key, controller.env[key]) for key in (
                "TRUMPET_SERVER", "TRUMPET_TOKEN_FILE", "OVS_RUNDIR")), os.path.dirname(
                    controller.trumpetctl)))
        for text in ("trumpetctl event watch incast", "trumpetctl event show incast",
                     "trumpetctl host list", "trumpetctl report list --limit=5 -o yaml",
                     "trumpetctl status"):
            show.line("  " + " ".join(self.lab.inside(CONTROL, [text])))
        show.line("  ovs-appctl -t trumpet-controller tem/status")
        show.line("and in the end")
        show.line("  %s --stop %s" % (program, self.lab.directory))


def _spans(spans):
    return ["%.2f ms" % (span / 1e6) for span in (spans[0], median(spans), max(spans))]
