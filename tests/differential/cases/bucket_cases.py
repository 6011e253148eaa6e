# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Buckets, intervals, runs, and the order of reports."""
import frames as f

from .golden import A, B, MS, at, datagram, flow, from_a, golden, line, report

V6 = ("2001:db8::1", "2001:db8::2")
UDP_FLOW = flow(A, 1000, B, 2000, "UDP")

golden("An interval holds its first nanosecond and not its end",
       [at(0, datagram()), at(10 * MS - 1, datagram()), at(10 * MS, datagram())],
       "*, sum(packets) > 0, none, 10ms", [report(0, 10, 2, 0), report(10, 20, 1, 0)])

golden("Intervals are aligned to Unix time, also those of 7 ms",
       # 1000 s = 142857 x 7 ms + 1 ms: the interval began 1 ms before the start.
       [at(0, datagram()), at(6 * MS - 1, datagram()), at(6 * MS, datagram())],
       "*, sum(packets) > 0, none, 7ms", [report(-1, 6, 2, 0), report(6, 13, 1, 0)])

golden("Granularity none is tested in every interval, from the first packet to the last, matching or not",
       [at(0, datagram()), at(20 * MS, datagram(dport=9)), at(30 * MS, datagram())],
       "dstPort=9, sum(packets) < 1, none, 10ms",
       [report(0, 10, 0, 1), report(10, 20, 0, 1), report(30, 40, 0, 1)])

golden("A bucket is tested for 16 intervals after its last packets",
       [at(5 * MS, datagram()), at(300 * MS, datagram(dport=9))],
       "dstPort=2000, sum(packets) = 0, 5-tuple, 10ms",
       [report(10 * i, 10 * i + 10, 0, 0, UDP_FLOW) for i in range(1, 17)])

golden("but not after the last interval of the capture",
       [at(5 * MS, datagram()), at(25 * MS, datagram(dport=9))],
       "dstPort=2000, sum(packets) = 0, dstPort, 10ms",
       [report(10, 20, 0, 0, {"dstPort": 2000}), report(20, 30, 0, 0, {"dstPort": 2000})])

golden("for: 2 reports at every interval that ends a run of two",
       [at(i * 10 * MS, datagram(i)) for i in (1, 2, 3, 0, 5, 6, 7)][0:3]
       + [at(40 * MS, datagram(0)), at(50 * MS, datagram(5)), at(60 * MS, datagram(6)), at(70 * MS, datagram(7))],
       line("*, sum(volume) > 0, 5-tuple, 10ms", runs=2),
       [report(20, 30, 2, 0, UDP_FLOW), report(30, 40, 3, 0, UDP_FLOW), report(60, 70, 6, 0, UDP_FLOW),
        report(70, 80, 7, 0, UDP_FLOW)])

golden("An interval without a test breaks the run",
       # Tested in 0-16 and 18 on.
       [at(0, datagram()), at(180 * MS, datagram()), at(190 * MS, datagram())],
       line("*, sum(packets) >= 0, 5-tuple, 10ms", runs=17),
       [report(160, 170, 0, 0, UDP_FLOW)])

golden("A packet without a field of the granularity is in no bucket, a 5-tuple has ports 0",
       [at(0, f.packet(f.icmp(), 1, A, B)), at(1, f.packet(b"x", 89, A, B)), at(2, datagram())],
       ["*, sum(packets) > 0, dstPort, 10ms", "*, sum(packets) > 0, 5-tuple, 10ms",
        "*, sum(packets) > 0, Protocol, 10ms"],
       [report(0, 10, 1, 0, {"dstPort": 2000}, event="e1"),
        report(0, 10, 1, 0, flow(A, 0, B, 0, "ICMP"), event="e2"),
        report(0, 10, 1, 0, flow(A, 0, B, 0, 89), event="e2"),
        report(0, 10, 1, 0, UDP_FLOW, event="e2"),
        report(0, 10, 1, 0, {"Protocol": "ICMP"}, event="e3"),
        report(0, 10, 1, 0, {"Protocol": "UDP"}, event="e3"),
        report(0, 10, 1, 0, {"Protocol": 89}, event="e3")])

golden("A prefix length applies to both families, at most 32 for IPv4; IPv4 sorts before IPv6",
       [at(0, f.packet(f.udp(1, 2), 17, *V6)), at(1, datagram()), at(2, datagram(src="9.255.255.255"))],
       ["*, sum(packets) > 0, srcIP/64, 10ms", "*, sum(packets) > 0, (srcIP/8), 10ms"],
       [report(0, 10, 1, 0, {"srcIP": "9.255.255.255/32"}, event="e1"),
        report(0, 10, 1, 0, {"srcIP": "10.0.0.1/32"}, event="e1"),
        report(0, 10, 1, 0, {"srcIP": "2001:db8::/64"}, event="e1"),
        report(0, 10, 1, 0, {"srcIP": "9.0.0.0/8"}, event="e2"),
        report(0, 10, 1, 0, {"srcIP": "10.0.0.0/8"}, event="e2"),
        report(0, 10, 1, 0, {"srcIP": "2000::/8"}, event="e2")])

golden("Buckets sort by number, field by field",
       [at(0, datagram(sport=9, dport=100)), at(1, datagram(sport=10, dport=99)), at(2, datagram(sport=9, dport=99))],
       "*, sum(packets) > 0, dstPort and srcPort, 10ms",
       [report(0, 10, 1, 0, {"dstPort": 99, "srcPort": 9}), report(0, 10, 1, 0, {"dstPort": 99, "srcPort": 10}),
        report(0, 10, 1, 0, {"dstPort": 100, "srcPort": 9})])

golden("Reports are in order of their ends, then of the events",
       [at(0, datagram()), at(10 * MS, datagram())],
       [line("*, sum(packets) > 0, none, 20ms", name="long"), line("*, sum(packets) > 0, none, 10ms", name="short")],
       [report(0, 10, 1, 0, event="short"), report(0, 20, 2, 0, event="long"),
        report(10, 20, 1, 0, event="short")])

golden("Captures are merged by time, ties in the order of the arguments",
       # 1100 comes first: then 1000 is lost.  The other way round nothing would be.
       [[at(5, from_a(1100, 100))], [at(5, from_a(1000, 100))]],
       "*, sum(is_lost) > 0, none, 10ms", [report(0, 10, 1, 0)])

golden("A capture without packets has no intervals",
       [[], []], "*, sum(packets) = 0, none, 10ms", [])

golden("Values of equal operands have no deviation, whole or not",
       [at(i * MS, datagram(7)) for i in range(9)],
       ["*, stddev(volume / 3) = 0, none, 10ms", "*, stddev(bytes / 7 + 0.1) = 0, none, 10ms",
        "*, stddev(volume) = 0, none, 10ms"],
       [report(0, 10, 0, 0, event="e%d" % i) for i in (1, 2, 3)])
