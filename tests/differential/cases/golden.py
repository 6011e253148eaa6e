# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A case worked out by hand: packets, events, and the reports typed in."""
import frames as f
from generate import Case
from random_events import EventText

START_S = 1000
US, MS, S = 10**3, 10**6, 10**9
START = START_S * S

ALL = []


def golden(name, packets, events, expected):
    """`packets` as at() gives them, or a list of such lists for several captures; `expected` None: refused.

    A single line is the event "e", the lines of a list are "e1", "e2" and so on.
    """
    captures = packets if packets and isinstance(packets[0], list) else [packets]
    if isinstance(events, str):
        events = line(events)
    if isinstance(events, EventText):
        events = [events]
    events = [line(event, "e%d" % (place + 1)) if isinstance(event, str) else event
              for place, event in enumerate(events)]
    ALL.append(Golden(name, captures, events, expected))


class Golden:
    def __init__(self, name, captures, events, expected):
        self.name, self.expected = name, expected
        self.case = Case(captures, [("pcap", {})] * len(captures), events)

    def write(self, directory):
        return self.case.write(directory)


def at(ns, frame, wire=None):
    """A packet `ns` after the start, by default captured whole."""
    return START + ns, frame, len(frame) if wire is None else wire


def line(text, name="e", runs=1):
    """An event in the one-line spelling."""
    made = EventText(name, "", "", "", "", runs, "line")
    made.line = lambda: text
    return made


def report(start_ms, end_ms, value, threshold, bucket=None, event="e", **more):
    """Times in ms after the start."""
    made = {"event": event, "bucket": bucket or {}, "start_ns": START + start_ms * MS,
            "end_ns": START + end_ms * MS, "value": value, "threshold": threshold, "complete": True}
    made.update(more)
    return made


def flow(src, sport, dst, dport, protocol="TCP"):
    return {"srcIP": src, "dstIP": dst, "srcPort": sport, "dstPort": dport, "Protocol": protocol}


A, B = "10.0.0.1", "10.0.0.2"
A_TO_B, B_TO_A = flow(A, 1000, B, 80), flow(B, 80, A, 1000)


def from_a(seq, payload=0, ack=500, **more):
    return f.packet(f.tcp(1000, 80, seq, ack, payload=payload, **more), 6, A, B)


def from_b(ack, seq=500, payload=0, **more):
    return f.packet(f.tcp(80, 1000, seq, ack, payload=payload, **more), 6, B, A)


def datagram(payload=0, src=A, dst=B, sport=1000, dport=2000, **more):
    return f.packet(f.udp(sport, dport, b"u" * payload), 17, src, dst, **more)
