# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""How predicates bind and compute, and which events are refused."""
import frames as f

from random_events import REFUSED, EventText
from .golden import A, B, MS, at, datagram, golden, line, report

# Volumes 2, 4, 9: sum 15, mean 5, deviations -3, -1, 4; 3 * (4 + 16 + 81) - 225 = 78.
THREE = [at(0, datagram(2)), at(1 * MS, datagram(4)), at(2 * MS, datagram(9))]


def _value(name, text, value, threshold, packets=None, **more):
    golden(name, THREE if packets is None else packets, "*, %s, none, 10ms" % text,
           [report(0, 10, value, threshold, **more)])


_value("avg is real", "avg(volume) / 2 > 2", 2.5, 2)
_value("stddev is that of the population", "stddev(volume) > 0", 78 ** 0.5 / 3, 0)
_value("sums of wide whole numbers are exact",
       "sum((volume + 1000000000000) * (volume + 1000000000000)) % 1000000000000 > 0", 101, 0)
_value("and so is what averages and deviations come from", "stddev(volume + 9000000000000000000) > 0", 78 ** 0.5 / 3, 0)
_value("count counts the packets on which its operand is defined, whatever it is", "count(volume > 4) > 0", 3, 0)
_value("Division by 0 is undefined: not counted", "count(1 / (volume - 4)) > 0", 2, 0)
_value("A comparison inside an aggregate is 1 or 0", "sum(volume > 2) > 0", 2, 0)
_value("/ is real, % keeps the sign of the dividend", "(-7) % 4 + 1 / 4 < 0", -2.75, 0)
_value("% before a name is modulo", "sum(volume) % count(ttl) + 7 % (4) > 2", 3, 2)
_value("% elsewhere is percent", "sum(packets) / 10 > 25%", 0.3, 0.25)
_value("and is no name: a percentage may stand before it", "sum(volume) > 10% and max(volume) = 9", 1, 1)
# 15 B of 3 packets.
_value("A sum against a percentage is divided by the packets", "sum(volume) > 499.5%", 5, 4.995)
_value("so is one on the right", "1% < sum(volume > 4)", 0.01, 1 / 3)
_value("but not one in a larger expression", "sum(volume) + 0 > 499.5%", 15, 4.995)
# 15 B in 10 ms = 1,500 B/s = 12,000 bit/s; 3 packets = 300 a second.
_value("bps divides by the interval, times 8", "sum(volume) >= 12kbps", 12000, 12000)
_value("pps divides by the interval", "0.2Kpps < sum(packets)", 200, 300)
_value("and binds tighter than or", "sum(packets) = 3 or sum(packets) = 3 and sum(packets) = 4", 1, 1)
_value("not is looser than a comparison", "not sum(packets) = 4", 1, 1)
_value("Undefined or true is true", "avg(rwnd) > 0 or sum(packets) = 3", 1, 1)
_value("Undefined and false is false", "not (avg(rwnd) > 0 and sum(packets) = 4)", 1, 1)
_value("A number that is not zero is true", "sum(volume) - 14", 1, 1)
_value("Units of bytes and time", "1KiB + 1KB + 1us + 2s > sum(packets)", 1024 + 1000 + 1000 + 2000000000, 3)
_value("Unary minus binds tightest", "-sum(packets) + 10 > 0", 7, 0)
_value("min and max of an expression", "max(volume * 2) - min(volume % 3) > 0", 18, 0)

# The double 0.1 is a little more than 1/10: ten of them are 1 when rounded once, 0.9999999999999999 step by step.
_value("Real operands are summed before they are rounded", "sum(packets * 0.1) = 1", 1, 1,
       [at(i, datagram()) for i in range(10)])

golden("Undefined is not true, nor is its opposite", THREE,
       ["*, not avg(rwnd) > 0, none, 10ms", "*, avg(rwnd), none, 10ms",
        "*, sum(volume) / sum(rwnd) >= 0, none, 10ms",
        "*, avg(rwnd) > 0 and sum(packets) = 3, none, 10ms"], [])

golden("A number without aggregates is a predicate too", [at(0, datagram())],
       ["*, 2 > 1, none, 10ms", "*, 0, none, 10ms"],
       [report(0, 10, 2, 1, event="e1")])

golden("A packet that matches an or twice counts once", [at(0, datagram())],
       "srcIP=%s or dstIP=%s, sum(packets) > 0, none, 10ms" % (A, B), [report(0, 10, 1, 0)])

golden("ecn as a variable is 1 for CE only", [at(i, datagram(tos=i)) for i in range(4)],
       ["*, sum(ecn) > 0, none, 10ms", "ecn=1-2, sum(packets) > 0, none, 10ms"],
       [report(0, 10, 1, 0, event="e1"), report(0, 10, 2, 0, event="e2")])

golden("All spellings of an event mean the same; the unnamed are numbered",
       [at(0, datagram())],
       [EventText(None, "srcIP=10.0.0.0/8", "sum(packets) > 0", "srcIP, dstIP", "10ms", spelling="map"),
        EventText(None, "srcIP=10.0.0.0/8", "sum(packets) > 0", "srcIP, dstIP", "10ms", spelling="line"),
        EventText(None, "srcIP=10.0.0.0/8", "sum(packets) > 0", "(srcIP and dstIP)", "10ms", spelling="string"),
        line("dstIP={10.0.0.2,10.0.0.3}, count(packets) = 1, none, 10ms", name="last")],
       [report(0, 10, 1, 0, {"srcIP": A, "dstIP": B}, event="event-%d" % i) for i in (1, 2, 3)]
       + [report(0, 10, 1, 1, event="last")])

GOOD = EventText("good", "*", "sum(packets) > 0", "", "10ms")
for parts in REFUSED:
    golden("Refused: %s, %s, %s, %s" % parts, [at(0, f.packet(f.udp(1, 2), 17, A, B))],
           [GOOD, EventText("bad", *parts)], None)
