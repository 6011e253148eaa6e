# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Many write to one: what each tenant sends when, and what the captures say became of it.

In each period all tenants write at once, for a millisecond or two.  Most of the time that is too
little for the event, sometimes enough; each tenant's own part looks the same both times.
"""
import os
import random
import sys
import time
from collections import defaultdict

import datagrams
from captures import Captures
from hypervisors import HOSTS, STORAGE, STORAGE_ADDRESS, TENANT_LINK, tenant, tenant_mac
from lab import let_run, wait_until
from show import DemoError
from truth import Counts, Direction, parse

from oracle import pcapio

MS = 10**6
INTERVAL = 50 * MS
THRESHOLD = 140_000
PERIOD = 2 * INTERVAL
BURST_AT = 10 * MS                      # after an interval's begin
ROUNDS = 24
PORT = 4420
# Datagrams of each tenant, from and to; the third always stays below what it must report.
USUAL = {"hv1": (40, 48), "hv2": (24, 32), "hv3": (8, 12)}
INCAST = {"hv1": (46, 48), "hv2": (40, 42), "hv3": (16, 16)}


def plan(rounds):
    """{host: datagrams in each round}; one round of three is an incast."""
    chance = random.Random(1)
    kinds = [INCAST if number % 3 == 2 else USUAL for number in range(rounds)]
    return {host: [chance.randint(*kind[host]) for kind in kinds] for host in HOSTS}


class Incast:
    """The traffic of one run and its captures at both ends of each switch."""

    def __init__(self, lab):
        self.lab = lab
        self.captures = Captures(lab, [link for host in HOSTS for link in self.ends(host)])
        self.program = [sys.executable, os.path.abspath(datagrams.__file__)]

    @staticmethod
    def ends(host):
        return [(tenant(host), TENANT_LINK), (STORAGE, "to-" + host)]

    def prepare(self):
        self.lab.start(self.program + ["take", str(PORT)], "storage.out", namespace=STORAGE)
        self.captures.start()

    def run(self):
        """Lets the tenants write; returns when it began and ended."""
        start = (time.time_ns() // PERIOD + 6) * PERIOD
        children = self.write(start, ROUNDS)
        end = start + ROUNDS * PERIOD
        wait_until(lambda: all(child.poll() is not None for child in children),
                   "the tenants to have written", 60)
        if any(child.returncode for child in children):
            raise DemoError("a tenant could not write")
        wait_until(lambda: time.time_ns() > end, "the last interval's end", 10)
        return start, end

    def write(self, start, rounds):
        """The tenants' processes, under way."""
        return [self.lab.start(
            self.program + ["send", STORAGE_ADDRESS, str(PORT), str(start + BURST_AT), str(PERIOD)]
            + list(map(str, counts)), "%s.out" % tenant(host), namespace=tenant(host))
            for host, counts in plan(rounds).items()]

    def read(self):
        let_run(0.1)                    # what is on its way
        return IncastTruth(self.captures.stop())


class IncastTruth:
    """What the captures say: per interval, of each host and of all together."""

    def __init__(self, paths):
        self.hosts, together = {}, []
        self.last_come = defaultdict(int)       # interval -> when its last datagram had crossed
        for host in HOSTS:
            near, far = (_datagrams(paths[link]) for link in Incast.ends(host))
            way = Direction(near, far, bytes.fromhex(tenant_mac(host).replace(":", "")))
            if way.dropped or way.strangers:
                raise DemoError("of %s's datagrams %d did not arrive, %d come from nowhere; this "
                                "machine is too busy for a ground truth, try again" % (
                                    tenant(host), way.dropped, way.strangers))
            self.hosts[host] = _counts(way.segments)
            together += way.segments
        self.together = _counts(together)
        self.count = len(together)
        for each in together:
            interval = each.come_ns // INTERVAL
            self.last_come[interval] = max(self.last_come[interval], each.come_ns)

    def intervals(self):
        return sorted(interval for _, interval in self.together.ranges)

    def sums(self):
        """Bytes of each tenant over all intervals, by its address."""
        return {"10.0.%s.1" % host[2:]: counts.totals[STORAGE_ADDRESS]
                for host, counts in self.hosts.items()}


def _datagrams(path):
    """The frames of a capture that are ours: no ARP, no answers."""
    frames = [(parse(frame[1]), frame) for frame in pcapio.read_capture(path)]
    return [frame for parsed, frame in frames if parsed and parsed[0][3] == PORT]


def _counts(segments):
    counts = Counts(INTERVAL, lambda segment: segment.flow[1])
    for segment in segments:
        counts.add(segment, segment.volume)
    return counts
