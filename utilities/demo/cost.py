# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speed of the switch with the monitor on and off."""
import re
import time

from lab import let_run
from show import median


class Turn:
    """What one stretch of time gave."""

    def __init__(self, mpps, cycles, monitor_cycles, share):
        self.mpps, self.cycles = mpps, cycles
        self.monitor_cycles, self.share = monitor_cycles, share


class Cost:
    TURNS = 4
    SECONDS = 0.5

    def __init__(self):
        self.turns = {True: [], False: []}

    def middle(self, is_on, name):
        return median([getattr(turn, name) for turn in self.turns[is_on]])

    def rows(self):
        return [["on" if is_on else "off", "%.2f" % self.middle(is_on, "mpps"),
                 "%.0f" % self.middle(is_on, "cycles"),
                 "%.0f" % self.middle(is_on, "monitor_cycles") if is_on else "-",
                 "%.1f %%" % (100 * self.middle(is_on, "share")) if is_on else "-"]
                for is_on in (True, False)]

    def sentence(self):
        return "%.2f Mpps with the monitor on, %.2f without; it took %.1f %% of the PMD thread's " \
            "cycles" % (self.middle(True, "mpps"), self.middle(False, "mpps"),
                        100 * self.middle(True, "share"))


def measure_cost(switch, sink):
    """Turns the monitor on and off while traffic runs to the port `sink`; leaves it on."""
    cost = Cost()
    for _ in range(cost.TURNS):
        for is_on in (True, False):
            switch.trumpet("enable" if is_on else "disable")
            let_run(0.1)
            cost.turns[is_on].append(_turn(switch, sink, cost.SECONDS))
    switch.trumpet("enable")
    return cost


def _turn(switch, sink, seconds):
    switch.appctl("dpif-netdev/pmd-stats-clear")
    switch.trumpet("perf-show")         # begins anew at each call
    before, first = switch.port_packets(sink, "tx"), time.monotonic()
    let_run(seconds)
    after, second = switch.port_packets(sink, "tx"), time.monotonic()
    perf = [row for row in switch.trumpet("perf-show")["threads"] if row["thread"].startswith("pmd")]
    monitor = sum(row["batch_cycles"] + row["sweep_cycles"] for row in perf)
    return Turn((after - before) / (second - first) / 1e6, _cycles_per_packet(switch),
                monitor / max(sum(row["packets"] for row in perf), 1),
                monitor / max(sum(row["busy_cycles"] + row["idle_cycles"] for row in perf), 1))


def _cycles_per_packet(switch):
    """Of the PMD thread, busy cycles only."""
    found = re.search(r"pmd thread.*?(?:avg processing cycles per packet: ([\d.]+)|([\d.]+) cycles/pkt)",
                      switch.appctl("dpif-netdev/pmd-stats-show"), re.S)  # the latter from 4.0 on
    return float(found.group(1) or found.group(2)) if found else 0.0
