# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The six events of the paper's Table 2, verbatim, each with its arithmetic.

Then the wrong answers that were seen in the authors' code, by their letters.
"""
import frames as f

from .golden import A_TO_B, B_TO_A, MS, US, at, datagram, flow, from_a, from_b, golden, report

# 1. 100 datagrams of 1,250 B make 125,000 B: not above 125 KB.  One byte more is.
# Into the next rack the same traffic matches nothing.
golden(
    "Table 2, 1: a flow of 125,001 B is heavy, one of 125,000 B is not",
    [at(i * US, datagram(1250, dst="10.0.128.7")) for i in range(100)]
    + [at(200 * US, datagram(1, dst="10.0.128.7"))]
    + [at(i * US + 300 * US, datagram(1250, dst="10.0.128.8")) for i in range(100)]
    + [at(i * US + 500 * US, datagram(1250, dst="10.0.129.7")) for i in range(101)],
    "dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuples, 10ms",
    [report(0, 10, 125001, 125000, flow("10.0.0.1", 1000, "10.0.128.7", 2000, "UDP"))])


def _bursty(src, retransmitted, packets):
    """Segments of 100 B from 1000 on, 5 us apart, the last packet sends `retransmitted` again.

    The first has is_burst 0, the others 1.
    """
    frames = [f.packet(f.tcp(1000, 80, 1000 + 100 * i, payload=100), 6, src, "10.9.9.9")
              for i in range(packets - 1)]
    again = f.packet(f.tcp(1000, 80, retransmitted, payload=100), 6, src, "10.9.9.9")
    return [at(i * 5 * US, frame) for i, frame in enumerate(frames)] + [at(5 * MS, again)]


# 2. Of 9 packets one is a retransmission (of the second segment, sent in a burst): 1/9 = 0.111... > 0.1.
# Of 10 packets one: 0.1 is not above 10 %.  The first segment was not in a burst: 0/9.
golden(
    "Table 2, 2: one burst loss in 9 packets is above 10 %, in 10 it is not",
    sorted(_bursty("10.0.128.5", 1100, 9) + _bursty("10.0.128.6", 1100, 10) + _bursty("10.0.128.7", 1000, 9),
           key=lambda packet: packet[0]),
    "srcIP=10.0.128.0/24, sum(is_lost & is_burst)>10%, 5-tuples, 10ms",
    [report(0, 10, 0.1111111111111111, 0.1, flow("10.0.128.5", 1000, "10.9.9.9", 80))])

# 3. Epoch 0 ends with seq 2000, ack 1200.  Epoch 1 ends with ack 1400, dup 0:
#    1 - (1400 - 1200 + 0) / (2000 - 1200) = 1 - 200/800 = 0.75 > 0.5.
# Epoch 2 starts with seq 2100, ack 1400, ends with ack 2100: 1 - 700/700 = 0.
# In epoch 0 there is no last epoch; towards A nobody sent data, so seq is undefined.
golden(
    "Table 2, 3: a flow whose acknowledgements stay out is congested",
    [at(1 * MS, from_a(1000, 1000)), at(2 * MS, from_b(1200)),
     at(12 * MS, from_a(2000, 100)), at(13 * MS, from_b(1400)),
     at(22 * MS, from_b(2100))],
    "Protocol=TCP, 1 - (ack - ack_lastepoch + dup) / (seq_lastepoch - ack_lastepoch) >0.5, 5-tuples, 10ms",
    [report(10, 20, 0.75, 0.5, A_TO_B)])

# The largest datagram carries 65,535 - 20 - 8 = 65,507 B; only 42 B of it are captured.
LARGEST_WIRE = 14 + 65535


def _large(ns, dst, dport=80, src="10.1.1.1"):
    return at(ns, f.packet(f.udp(1000, dport), 17, src, dst, total=65535), LARGEST_WIRE)


# 4. 1,527 of them are 100,029,189 B > 100 MB; 1,526 are 99,963,682 B.
golden(
    "Table 2, 4: the load of a service is that of all its addresses together",
    [_large(i * US, "10.0.128.%d" % (1 + i % 3)) for i in range(1527)]
    + [_large(2 * MS, "10.0.128.1", dport=81)]
    + [_large(10 * MS + i * US, "10.0.128.9") for i in range(1526)],
    "(dstIP=10.0.128.0/24 and dstPort=80), sum(volume)>100MB, dstIP/24, 10ms",
    [report(0, 10, 100029189, 100000000, {"dstIP": "10.0.128.0/24"})])


def _again_and_again(times, dst):
    """A segment, then the same `times` times more."""
    frame = f.packet(f.tcp(1000, 80, 1000, payload=10), 6, "10.0.128.3", dst)
    return [at(i * 20 * US, frame) for i in range(times + 1)]


# 5. 101 retransmissions are above 100, 100 are not.
golden(
    "Table 2, 5: 101 lost packets between a pair of hosts",
    sorted(_again_and_again(101, "10.20.93.1") + _again_and_again(100, "10.20.93.2"),
           key=lambda packet: packet[0]),
    "(srcIP=10.0.128.0/24 and dstIP=10.20.93.0/24), sum(is_lost)>100, (srcIP and dstIP), 10ms",
    [report(0, 10, 101, 100, {"srcIP": "10.0.128.3", "dstIP": "10.20.93.1"})])

# 6. 152,656 x 65,507 B = 10,000,036,592 B > 10 GB; one packet fewer would have 9,999,971,085 B, so the
# one that comes from 10.0.144.0/24, outside the /20, must not count, nor the one of the next second.
golden(
    "Table 2, 6: two racks that exchange more than 10 GB in a second",
    [_large(i * 6 * US, "10.7.1.%d" % (i % 200), src="10.0.143.%d" % (i % 100)) for i in range(152656)]
    + [_large(999 * MS, "10.7.1.1", src="10.0.144.1"), _large(1000 * MS, "10.7.1.1", src="10.0.143.1")],
    "srcIP=10.0.128.0/20, sum(volume)>10GB, (dstIP/24 and srcIP/24), 1s",
    [report(0, 1000, 10000036592, 10000000000, {"dstIP": "10.7.1.0/24", "srcIP": "10.0.143.0/24"})])

# A. No payload, no loss: the authors' code counts 9.
golden(
    "Defect A: ten pure acknowledgements are no losses",
    [at(i * 20 * US, from_a(1000, ack=500 + i)) for i in range(10)],
    "*, sum(is_lost) >= 0, 5-tuple, 10ms",
    [report(0, 10, 0, 0, A_TO_B)])

# B. The state outlives an idle RTO: the authors' code counts 0.
golden(
    "Defect B: a retransmission after 200 ms of silence is a loss",
    [at(0, from_a(1000, 1460)), at(1 * MS, from_a(2460, 1460)), at(201 * MS, from_a(1000, 1460))],
    "*, sum(is_lost) > 0, 5-tuple, 10ms",
    [report(200, 210, 1, 0, A_TO_B)])

# C. Sequence numbers run on past 2^32: the authors' code counts 4.
golden(
    "Defect C: segments in order across 2^32 are no losses",
    [at(i * 20 * US, from_a(0xFFFFFFFF - 5 * 1460 + i * 1460, 1460)) for i in range(10)],
    ["*, sum(is_lost) >= 0, 5-tuple, 10ms", "*, seq - 0 > 4294967295, 5-tuple, 10ms"],
    [report(0, 10, 0, 0, A_TO_B, event="e1"),
     # 2^32 - 1 - 7300 + 14600
     report(0, 10, 4294974595, 4294967295, A_TO_B, event="e2")])

# A plain flow in both directions loses nothing in either.
golden(
    "An exchange in order has no losses in either direction",
    [at(0, from_a(1000, 100, ack=500)), at(20 * US, from_b(1100, 500, 200)), at(40 * US, from_a(1100, 100, ack=700))],
    "*, sum(is_lost) >= 0, 5-tuple, 10ms",
    [report(0, 10, 0, 0, A_TO_B), report(0, 10, 0, 0, B_TO_A)])
