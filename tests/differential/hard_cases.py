# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases that press: several threads, events that come and go under traffic, tables
that are too small for the flows there are, attacks.  The seed says which.
"""
import os
import random

import compare
import frames as f
import generate
import random_events
import traffic
from oracle import evaluate, language, pcapio

# What depends on both directions of a connection, or on the order of its packets.
TCP_VARIABLES = ("is_lost", "is_burst", "rwnd", "rtt", "ack", "seq", "dup",
                 "ack_lastepoch", "seq_lastepoch", "dup_lastepoch")
# Shown by nearly every bucket in every interval.
SPLIT_VALUES = (
    ("sum(rtt) + count(rtt) >= 0", ""), ("max(rtt) >= 0", "5-tuple"), ("min(rtt) >= 0", "dstIP"),
    ("sum(is_lost) >= 0", "5-tuple"), ("sum(is_lost & is_burst) >= 0 and sum(is_lost) >= 0", "srcIP"),
    ("sum(ack) >= 0", "5-tuple"), ("max(dup) >= 0", "5-tuple"), ("max(seq - ack) >= -1000000", ""),
    ("sum(rwnd) >= 0", "srcIP"), ("ack >= 0", "5-tuple"), ("seq >= 0", "5-tuple"), ("dup >= 0", "5-tuple"),
    ("ack - ack_lastepoch + dup >= 0", "5-tuple"), ("seq - seq_lastepoch >= 0", "5-tuple"))
# What an event that comes later cannot know of the time before.
REMEMBERED = ("rtt",) + language.FLOW_VARIABLES
MS = 10**6


class ThreadsCase(generate.Case):
    """The ordinary case, spread over threads."""

    def options(self, directory):
        return ["--threads", str(self.threads), "--split", self.split]


class SplitCase(ThreadsCase):
    """Connections whose directions are on two threads.  The first event witnesses every interval."""

    may_lose_events = False

    def difference(self, expected, outcome, events):
        longest = max(event.parse(place).interval_ms for place, event in enumerate(self.events))
        runs = max(event.runs for event in self.events)
        return compare.marked_difference(expected, outcome, self.events[0].name,
                                         longest * MS * (evaluate.IDLE_INTERVALS + runs + 1))


class ScheduleCase(ThreadsCase):
    """Events that come and go; self.schedule holds (time, "install" or "remove", place)."""

    may_lose_events = False
    threads, split = 1, "flow"

    def write(self, directory):
        paths = super().write(directory)
        with open(os.path.join(directory, "schedule"), "w", encoding="utf-8") as out:
            for time, what, place in self.schedule:
                out.write("%d %s %s\n" % (time, what, self.events[place].parse(place).name))
        return paths

    def options(self, directory):
        return super().options(directory) + ["--schedule", os.path.join(directory, "schedule")]

    def lives(self):
        lives, open_at = [], {}
        for place in range(len(self.events)):
            changes = [(time, what) for time, what, which in self.schedule if which == place]
            mine = []
            if not changes or changes[0][1] == "remove":
                open_at[place] = None
            for time, what in changes:
                if what == "install":
                    open_at[place] = time
                else:
                    mine.append(evaluate.Life(open_at.pop(place), time))
            if place in open_at:
                mine.append(evaluate.Life(open_at[place]))
            lives.append(mine)
        return lives

    def expected(self, paths):
        events = [event.parse(place) for place, event in enumerate(self.events)]
        trace = evaluate.Trace(pcapio.merge([pcapio.read_capture(path) for path in paths]))
        return evaluate.evaluate(events, trace, self.lives())


class CrowdedCase(ThreadsCase):
    """Too little room: the first event witnesses every interval."""

    may_lose_events = False

    def options(self, directory):
        return super().options(directory) + (["--flows", str(self.flows)] if self.flows else [])

    def difference(self, expected, outcome, events):
        if self.flows:
            return compare.bounded_difference(expected, outcome, self.events[0].name)
        return compare.difference(expected, outcome, events)


def make_case(seed):
    rng = random.Random("hard %d" % seed)
    make = (make_threads, make_schedule, make_churn, make_attack)[seed % 4]
    while True:
        try:
            return make(rng)
        except (evaluate.OutOfBounds, language.EventError):
            continue


def mentions_any(event, names):
    return any(language.mentions(event.predicate, name) for name in names)


def event_without(rng, trace, place, names):
    while True:
        made = random_events.random_event(rng, trace, place)
        if not mentions_any(made.parse(place), names):
            return made


# --- threads -----------------------------------------------------------------

def make_threads(rng):
    base = generate.make_case(rng.randrange(10**6))
    made = ThreadsCase(base.captures, base.formats, base.events)
    made.threads = rng.choice((2, 2, 3, 4, 8))
    made.split = rng.choice(("flow", "direction", "direction", "packet"))
    if made.split == "flow":
        return made
    trace = evaluate.Trace(pcapio.merge(made.captures))
    if rng.random() < 0.7:
        return make_split(rng, made, trace)
    made.events = [event_without(rng, trace, place, TCP_VARIABLES) for place in range(rng.choice((1, 2, 4)))]
    return made


def make_split(rng, base, trace):
    """Both directions of connections on different threads, seen by events that need both."""
    made = SplitCase(base.captures, base.formats, [])
    made.threads, made.split = base.threads, base.split
    # Bursts are of one direction, and told by the thread that has it.
    unknown = ("is_burst",) if made.split == "packet" else ()
    interval = random_events.pick_interval(rng, trace)
    made.events = [random_events.EventText("witness", "*", "count(seq) + sum(is_lost) >= 0", "", interval)]
    shown = [each for each in SPLIT_VALUES if not any(name in each[0] for name in unknown)]
    for place, (what, granularity) in enumerate(rng.sample(shown, 3), 1):
        made.events.append(random_events.EventText("e%d" % place, "*", what, granularity, interval))
    for place in range(4, rng.choice((4, 5, 7))):
        event = event_without(rng, trace, place, unknown)
        while not mentions_any(event.parse(place), TCP_VARIABLES):
            event = event_without(rng, trace, place, unknown)
        made.events.append(event)
    return made


# --- events that come and go -------------------------------------------------

def make_schedule(rng):
    packets = traffic.make_trace(rng)
    made = ScheduleCase([packets], [("pcap", {})], [])
    trace = evaluate.Trace(pcapio.merge(made.captures))
    if rng.random() < 0.5:
        # An event that asks for all TCP state from the beginning: what comes later finds it whole.
        made.events.append(random_events.EventText(
            "base", "*", "sum(is_lost) + sum(is_burst) + count(rwnd) + max(seq) >= 0", "5-tuple",
            random_events.pick_interval(rng, trace)))
        unknown = REMEMBERED
    else:
        unknown = TCP_VARIABLES
    for place in range(len(made.events), rng.choice((2, 3, 4, 6))):
        made.events.append(event_without(rng, trace, place, unknown))
    changing = range(rng.choice((0, 1)) if made.events[0].name != "base" else 1, len(made.events))
    made.schedule = random_schedule(rng, trace, changing)
    if rng.random() < 0.3:
        made.threads = rng.choice((2, 3))
    return made


def random_schedule(rng, trace, places):
    """Instants around packets and the edges of intervals, each event in turn on and off."""
    first, last = trace.packets[0].time, trace.packets[-1].time
    is_on = {place: rng.random() < 0.5 for place in places}
    schedule = []
    for _ in range(rng.choice((1, 2, 3, 6, 12, 40))):
        near = rng.choice(trace.packets).time
        schedule.append(rng.choice((near, near + 1, near // MS * MS, near // (10 * MS) * 10 * MS,
                                    rng.randrange(first, last + 1), first - 1, last + 1)))
    made = []
    for time in sorted(schedule):
        place = rng.choice(list(is_on)) if is_on else None
        if place is not None and time >= 0:
            made.append((time, "remove" if is_on[place] else "install", place))
            is_on[place] = not is_on[place]
    return made


# --- too little room ---------------------------------------------------------

def crowded(rng, packets, interval):
    """Events whose values cannot rise by forgetting something."""
    made = CrowdedCase([packets], [("pcap", {})], [])
    made.events = [random_events.EventText("e%d" % place, *each, interval) for place, each in enumerate((
        ("*", "count(packets) >= 0 and sum(is_burst) >= 0", ""),
        ("*", "sum(volume) > %d" % rng.choice((0, 50, 500)), "5-tuple"),
        ("*", "count(packets) >= %d" % rng.choice((1, 2, 5)), rng.choice(("srcIP/24", "dstIP", "Protocol"))),
        ("dstIP=10.9.0.0/16", "sum(bytes) >= %d" % rng.choice((1, 1000)), "dstIP, dstPort"),
        ("Protocol=TCP", "sum(is_lost) >= 1", rng.choice(("5-tuple", ""))),
        ("not dstPort=53", "sum(is_burst) > %d" % rng.choice((0, 3)), rng.choice(("5-tuple", "srcIP"))),
        ("*", "max(volume) >= 1", "5-tuple"),
        ("tunnelId=*", "count(packets) > 0", "outer.srcIP, tunnelId"),
    ))]
    made.flows = rng.choice((0, 16, 17, 32, 64, 128))
    made.threads, made.split = rng.choice(((1, "flow"), (1, "flow"), (3, "flow")))
    return made


class ShortFlow:
    """A TCP or UDP flow of a few packets, some of them twice."""

    def __init__(self, rng, number):
        self.rng = rng
        self.hosts = "10.%d.%d.%d" % (rng.randrange(3), number >> 8 & 255, number & 255), "10.9.0.%d" % (number % 5)
        self.ports = 1024 + number % 60000, rng.choice((80, 443))
        self.is_tcp = rng.random() < 0.6
        self.seq, self.left = rng.choice((0, 2**32 - 500)), rng.choice((1, 2, 3, 10))

    def frame(self):
        self.left -= 1
        size = self.rng.choice((0, 10, 100))
        if not self.is_tcp:
            return f.packet(f.udp(*self.ports, b"s" * size), 17, *self.hosts)
        seq = self.seq - (self.rng.choice((0, 0, 0, 50)))
        self.seq = max(self.seq, seq + size)
        return f.packet(f.tcp(*self.ports, seq, payload=size), 6, *self.hosts)


def timed(rng, wanted, pace, next_frame):
    now, packets = 1_700_000_000 * 10**9 + rng.randrange(10**9), []
    while len(packets) < wanted:
        now += rng.choice((0, 1_000, 10_000, 10_001, rng.randrange(2 * pace)))
        data = next_frame()
        packets.append((now, data, len(data)))
    return packets


def make_churn(rng):
    """New flows all the time, few alive at once."""
    alive, born = [], [0]
    most = rng.choice((5, 30, 100))

    def next_frame():
        while len(alive) < most:
            alive.append(ShortFlow(rng, born[0]))
            born[0] += 1
        flow = rng.choice(alive)
        data = flow.frame()
        if not flow.left:
            alive.remove(flow)
        return data

    packets = timed(rng, rng.choice((300, 1000)), rng.choice((20_000, 200_000)), next_frame)
    return crowded(rng, packets, rng.choice(("1ms", "2ms", "5ms", "20ms")))


# --- attacks -----------------------------------------------------------------

def attack_frame(rng, kind):
    source = "10.%d.%d.%d" % (rng.randrange(256), rng.randrange(256), rng.randrange(256))
    ports = rng.randrange(65536), rng.randrange(65536)
    if kind == "flood":
        return f.packet(f.udp(*ports, b"a" * rng.randrange(20)), 17, source, "10.9.0.1")
    if kind == "syn":
        return f.packet(f.tcp(ports[0], 80, rng.randrange(2**32), flags=f.SYN), 6, source, "10.9.0.1")
    if kind == "fragments":
        return f.packet(b"f" * rng.choice((8, 40)), rng.choice((6, 17)), source, "10.9.0.1",
                        offset=rng.choice((0, 1, 100, 8191)), more=rng.random() < 0.5)
    data = f.packet(f.udp(*ports, b"t"), 17, source, "10.9.0.1")
    for _ in range(rng.choice((1, 2, 7, 8, 9, 12))):
        outer = "172.16.%d.%d" % (rng.randrange(256), rng.randrange(256)), "172.16.0.1"
        body, protocol = rng.choice((
            (f.udp(ports[0], 4789, f.vxlan(rng.randrange(2**24), data)), 17),
            (f.udp(ports[0], 6081, f.geneve(rng.randrange(2**24), data)), 17),
            (f.gre(data, 0x6558, key=rng.randrange(2**32)), 47)))
        data = f.packet(body, protocol, *outer)
    return data


def make_attack(rng):
    """Nine packets in ten open a flow; the tenth is of a few flows that were there before."""
    kinds = rng.choice((("flood",), ("syn",), ("fragments",), ("tunnels",), ("flood", "syn", "fragments", "tunnels")))
    good = [ShortFlow(rng, number) for number in range(3)]
    for flow in good:
        flow.left = 10**9
    quiet = [rng.choice((20, 100))]

    def next_frame():
        quiet[0] -= 1
        if quiet[0] > 0 or rng.random() < 0.1:
            return rng.choice(good).frame()
        return attack_frame(rng, rng.choice(kinds))

    packets = timed(rng, rng.choice((300, 1000)), rng.choice((2_000, 20_000)), next_frame)
    return crowded(rng, packets, rng.choice(("1ms", "2ms", "5ms")))
