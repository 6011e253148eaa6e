# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is known of TCP connections, one sentence of the contract at a time."""
import frames as f

from .golden import A_TO_B, B_TO_A, MS, S, US, at, datagram, flow, from_a, from_b, golden, report

ACK, SYN, FIN, RST = f.ACK, f.SYN, f.FIN, f.RST
LOSSES = "*, sum(is_lost) > 0, 5-tuple, 10ms"


def _syn(seq=999, **more):
    return from_a(seq, ack=0, flags=SYN, **more)


def _syn_ack(ack=1000, seq=499, **more):
    return from_b(ack, seq, flags=SYN | ACK, **more)


# --- loss --------------------------------------------------------------------

golden(
    "A late original counts as lost, the segment before the hole does not",
    [at(0, from_a(1000, 100)), at(1 * MS, from_a(1200, 100)), at(2 * MS, from_a(1100, 100))],
    LOSSES, [report(0, 10, 1, 0, A_TO_B)])

golden(
    "A segment that begins at the highest end is new, one that begins below is lost",
    [at(0, from_a(1000, 100)), at(10 * MS, from_a(1100, 100)), at(20 * MS, from_a(1199, 100))],
    LOSSES, [report(20, 30, 1, 0, A_TO_B)])

golden(
    "A zero-window probe is not lost and not new data",
    # The probe at 1100 sets no seq: the segment at 1100 is not lost after it, seq is 1150 then.
    [at(0, from_a(1000, 100)), at(1 * MS, from_b(1100, window=0)), at(2 * MS, from_a(1100, 1)),
     at(3 * MS, from_a(1099, 1)), at(4 * MS, from_b(1100, window=9)), at(5 * MS, from_a(1100, 50))],
    ["*, sum(is_lost) = 0 and seq = 1150, 5-tuple, 10ms"], [report(0, 10, 1, 1, A_TO_B, event="e1")])

golden(
    "A keep-alive of an acknowledged byte is not lost, of an unacknowledged byte it is",
    [at(0, from_a(1000, 100)), at(1 * MS, from_a(1099, 1)),
     at(10 * MS, from_b(1100)), at(11 * MS, from_a(1099, 1)), at(12 * MS, from_a(1098, 1))],
    LOSSES,
    # In the second interval only the byte at 1098 counts: it is not one below the highest end.
    [report(0, 10, 1, 0, A_TO_B), report(10, 20, 1, 0, A_TO_B)])

golden(
    "State lives exactly 10 s after the last packet of either direction",
    [at(0, from_a(1000, 100)), at(1 * S, from_b(1000)), at(11 * S, from_a(1000, 100)),
     at(21 * S + 1, from_a(1000, 100))],
    LOSSES, [report(11000, 11010, 1, 0, A_TO_B)])

golden(
    "A SYN with another sequence number starts anew, the same SYN again does not",
    [at(0, _syn()), at(1 * MS, from_a(1000, 100)), at(2 * MS, _syn()), at(3 * MS, from_a(1000, 100)),
     at(10 * MS, _syn(5)), at(11 * MS, from_a(6, 100)), at(12 * MS, from_a(106, 100)),
     at(20 * MS, from_a(300, 10, flags=RST)), at(21 * MS, from_a(6, 10))],
    LOSSES, [report(0, 10, 1, 0, A_TO_B), report(20, 30, 1, 0, A_TO_B)])

golden(
    "Fragments after the first are not seen by TCP",
    [at(0, from_a(1000, 100)),
     at(1 * MS, f.packet(f.tcp(1000, 80, 1000, payload=20), 6, "10.0.0.1", "10.0.0.2", offset=5))],
    ["*, sum(is_lost) >= 0, none, 10ms"], [report(0, 10, 0, 0, event="e1")])

golden(
    "State is alive at an interval's end 10 s after the last packet, and no longer",
    [at(0, from_a(1000, 100)), at(500 * MS, from_b(1100)), at(1000 * MS, from_b(1100)), at(14 * S, datagram())],
    # The last packet came at 1 s: [10 s, 11 s) ends exactly 10 s later.
    ["srcPort=1000, ack = 1100, 5-tuple, 1s"],
    [report(i * 1000, i * 1000 + 1000, 1100, 1100, A_TO_B, event="e1") for i in range(11)])

golden(
    "and not one nanosecond longer",
    [at(0, from_a(1000, 100)), at(500 * MS, from_b(1100)), at(1000 * MS - 1, from_b(1100)), at(14 * S, datagram())],
    ["srcPort=1000, ack = 1100, 5-tuple, 1s"],
    [report(i * 1000, i * 1000 + 1000, 1100, 1100, A_TO_B, event="e1") for i in range(10)])

golden(
    "A SYN comes before its payload: data in a second SYN is no loss, sent again it is",
    [at(0, _syn(999)), at(1 * MS, _syn(999, payload=10)), at(11 * MS, from_a(1000, 10))],
    LOSSES, [report(10, 20, 1, 0, A_TO_B)])

# --- burst -------------------------------------------------------------------

golden(
    "A gap of exactly 10 us is a burst, one of 10,001 ns is not; gaps cross intervals",
    [at(0, datagram()), at(10 * US, datagram()), at(20 * US + 1, datagram()),
     at(10 * MS - 1, datagram()), at(10 * MS, datagram())],
    ["*, sum(is_burst) > 0, 5-tuple, 10ms"],
    [report(0, 10, 1, 0, flow("10.0.0.1", 1000, "10.0.0.2", 2000, "UDP"), event="e1"),
     report(10, 20, 1, 0, flow("10.0.0.1", 1000, "10.0.0.2", 2000, "UDP"), event="e1")])

golden(
    "is_lost & is_burst asks for the first sending, with an operator between them for the packet itself",
    # 1000 (no burst), 1100 (burst); then 1100 again alone, 1000 again 1 us later.
    [at(0, from_a(1000, 100)), at(5 * US, from_a(1100, 100)), at(1 * MS, from_a(1100, 100)),
     at(1 * MS + US, from_a(1000, 100))],
    ["*, sum(is_lost & is_burst) > 0, 5-tuple, 10ms", "*, sum(is_burst and (is_lost)) > 0, 5-tuple, 10ms",
     "*, sum(is_lost * is_burst) > 0, 5-tuple, 10ms",
     "*, sum(is_lost and volume > 0 and is_burst) > 0, 5-tuple, 10ms",
     "*, max((is_lost & is_burst) * packets * seq) > 0, 5-tuple, 10ms",
     "*, max(is_lost * is_burst * (seq + 1)) > 0, 5-tuple, 10ms"],
    [report(0, 10, 1, 0, A_TO_B, event="e%d" % i) for i in (1, 2, 3, 4)]
    + [report(0, 10, 1200, 0, A_TO_B, event="e5"), report(0, 10, 1201, 0, A_TO_B, event="e6")])

golden(
    "The first sending is remembered over 64 segments if it is less than 3 s old",
    [at(i * 5 * US, from_a(1000 + 10 * i, 10)) for i in range(100)] + [at(2900 * MS, from_a(1010, 10))],
    ["*, sum(is_lost & is_burst) > 0, 5-tuple, 10ms"], [report(2900, 2910, 1, 0, A_TO_B, event="e1")])

golden(
    "and over 3 s if there were less than 64 segments since",
    [at(i * 5 * US, from_a(1000 + 10 * i, 10)) for i in range(50)] + [at(9 * S, from_a(1010, 10))],
    ["*, sum(is_lost & is_burst) > 0, 5-tuple, 10ms"], [report(9000, 9010, 1, 0, A_TO_B, event="e1")])

golden(
    "The earliest sending counts, not the latest",
    # 1010: first in a burst, then alone, then again; 1000: first alone, then in a burst.
    [at(0, from_a(1000, 10)), at(5 * US, from_a(1010, 10)), at(1 * MS, from_a(1010, 10)),
     at(1 * MS + US, from_a(1000, 10)), at(10 * MS, from_a(1010, 10)), at(11 * MS, from_a(1000, 10))],
    ["*, sum(is_lost & is_burst) > 0, 5-tuple, 10ms"],
    [report(0, 10, 1, 0, A_TO_B, event="e1"), report(10, 20, 1, 0, A_TO_B, event="e1")])

golden(
    "A late original was not seen before: no burst loss",
    [at(0, from_a(1000, 100)), at(5 * US, from_a(1200, 100)), at(8 * US, from_a(1100, 100))],
    ["*, sum(is_lost & is_burst) >= 0 , 5-tuple, 10ms"], [report(0, 10, 0, 0, A_TO_B, event="e1")])

# --- ack, seq, dup -----------------------------------------------------------

golden(
    "seq counts SYN and FIN; a segment that occupies nothing does not set it",
    [at(0, _syn(1000)), at(1 * MS, from_a(5000)), at(10 * MS, from_a(1001, 9, flags=FIN | ACK))],
    # 1000 + SYN; then 1001 + 9 + FIN.  The empty segment at 5000 sets nothing.
    ["srcIP=10.0.0.1, seq > 0, 5-tuple, 10ms"],
    [report(0, 10, 1001, 0, A_TO_B, event="e1"),
     report(10, 20, 1011, 0, A_TO_B, event="e1")])

golden(
    "A duplicate ACK adds the MSS of its sender, a rising ACK subtracts what it covers",
    [at(0, _syn(options=f.mss(9000))), at(1 * MS, _syn_ack(options=f.mss(100), window=5)),
     at(2 * MS, from_a(1000, 1000)),
     at(3 * MS, from_b(1000)), at(4 * MS, from_b(1000)), at(5 * MS, from_b(1000)),   # two duplicates: 200
     at(12 * MS, from_b(1150)),                                                       # 200 - 150 = 50
     at(22 * MS, from_b(1150, window=7)),                                             # another window: none
     at(32 * MS, from_b(1150, window=7)),                                             # 150
     at(42 * MS, from_b(1950)),                                                       # 150 - 800: 0
     at(52 * MS, from_b(1950)), at(53 * MS, from_b(1950)),                            # clamped to 2000 - 1950
     at(62 * MS, from_b(2000)), at(63 * MS, from_b(2000))],                           # nothing outstanding
    ["srcPort=1000, dup >= 0, 5-tuple, 10ms"],
    [report(i * 10, i * 10 + 10, dup, 0, A_TO_B, event="e1") for i, dup in enumerate((200, 50, 50, 150, 0, 50, 0))])

golden(
    "Without the option a duplicate ACK is worth 1460 bytes",
    [at(0, from_a(1000, 5000)), at(1 * MS, from_b(1000)), at(2 * MS, from_b(1000)),
     at(3 * MS, from_b(1000, payload=10)), at(4 * MS, from_b(900)), at(5 * MS, from_b(1000))],
    # Data is no duplicate; after the older 900 the last one differs, so 1000 is none either.
    ["srcPort=1000, dup > 0, 5-tuple, 10ms"], [report(0, 10, 1460, 0, A_TO_B, event="e1")])

golden(
    "The ack of an RST is ignored; an older ACK does not lower ack",
    [at(0, from_a(1000, 500)), at(1 * MS, from_b(1200)), at(2 * MS, from_b(1100)),
     at(3 * MS, from_b(1500, flags=RST | ACK))],
    ["srcPort=1000, ack > 0, 5-tuple, 10ms"], [report(0, 10, 1200, 0, A_TO_B, event="e1")])

golden(
    "Inside an aggregate seq and ack are those just after the packet, of its direction",
    [at(0, from_a(1000, 100)), at(1 * MS, from_b(1050)), at(2 * MS, from_a(1100, 100))],
    # A to B: 1100, undefined; then 1200 - 1050.
    ["srcPort=1000, max(seq) - min(seq) > 0, none, 10ms", "srcPort=1000, count(seq - ack) > 0, none, 10ms",
     "srcPort=1000, max(seq - ack) > 0, none, 10ms"],
    [report(0, 10, 100, 0, event="e1"), report(0, 10, 1, 0, event="e2"), report(0, 10, 150, 0, event="e3")])

golden(
    "_lastepoch is the start of the event's own interval, undefined after a restart",
    [at(0, from_a(1000, 100)), at(10 * MS, from_a(1100, 100)), at(20 * MS, from_a(1200, 100)),
     at(40 * MS, _syn(7))],
    # 10 ms: 1200 - 1100, 1300 - 1200, then nothing new in [30, 40), restarted in [40, 50).
    ["*, seq - seq_lastepoch >= 0, 5-tuple, 10ms", "*, seq - seq_lastepoch >= 0, 5-tuple, 20ms"],
    [report(10, 20, 100, 0, A_TO_B, event="e1"), report(20, 30, 100, 0, A_TO_B, event="e1"),
     report(30, 40, 0, 0, A_TO_B, event="e1"),
     report(20, 40, 100, 0, A_TO_B, event="e2")])

# --- windows -----------------------------------------------------------------

golden(
    "Windows are scaled once both SYNs offered it; those in SYNs never are",
    [at(0, _syn(options=f.window_scale(2), window=50)), at(10 * MS, _syn_ack(options=f.window_scale(7), window=60)),
     at(20 * MS, from_a(1000, window=3)), at(30 * MS, from_b(1000, window=3)),
     at(40 * MS, from_b(1000, window=9, flags=RST))],
    ["*, max(rwnd) > 0, none, 10ms", "*, sum(packets) > 0, none, 50ms"],
    [report(0, 10, 50, 0, unscaled=True, event="e1"), report(10, 20, 60, 0, unscaled=True, event="e1"),
     report(20, 30, 12, 0, event="e1"),
     report(30, 40, 384, 0, event="e1"), report(0, 50, 5, 0, event="e2")])

golden(
    "A shift above 14 is 14; with one option missing windows stay as they are",
    [at(0, _syn(options=f.window_scale(15))), at(1 * MS, _syn_ack(options=f.window_scale(0))),
     at(10 * MS, from_a(1000, window=1)),
     at(15 * MS, _syn(77, options=f.window_scale(5))), at(16 * MS, _syn_ack()), at(20 * MS, from_a(78, window=2))],
    ["tcpFlags=-syn, max(rwnd) > 0, none, 10ms"],
    [report(10, 20, 16384, 0, event="e1"), report(20, 30, 2, 0, unscaled=True, event="e1")])

# --- rtt ---------------------------------------------------------------------

golden(
    "An ACK gives the age of the newest segment it covers, to the data's bucket, when it arrives",
    [at(0, from_a(1000, 100)), at(3 * MS, from_a(1100, 100)), at(8 * MS, from_a(1200, 100)),
     at(10 * MS + 5, from_b(1250))],
    # 1250 covers 1000-1200 entirely: from 3 ms to 10 ms + 5 ns.  No packet from A in that interval.
    ["*, max(rtt) > 0, 5-tuple, 10ms", "*, count(rtt) >= 0 and sum(packets) = 0, 5-tuple, 10ms"],
    [report(10, 20, 7000005, 0, A_TO_B, event="e1"), report(10, 20, 1, 1, A_TO_B, event="e2")])

golden(
    "The handshake gives both sides a sample",
    [at(0, _syn()), at(2 * MS, _syn_ack()), at(5 * MS, from_a(1000, ack=500))],
    ["*, min(rtt) > 0, 5-tuple, 10ms"],
    [report(0, 10, 2000000, 0, A_TO_B, event="e1"),
     report(0, 10, 3000000, 0, B_TO_A, event="e1")])

golden(
    "No sample where any part of what is covered was sent twice",
    [at(0, from_a(1000, 100)), at(1 * MS, from_a(1100, 100)), at(2 * MS, from_a(1050, 10)), at(3 * MS, from_b(1200)),
     at(4 * MS, from_a(1200, 100)), at(5 * MS, from_b(1300))],
    ["*, avg(rtt) > 0, 5-tuple, 10ms", "*, count(rtt) > 0, none, 10ms"],
    [report(0, 10, 1000000, 0, A_TO_B, event="e1"), report(0, 10, 1, 0, event="e2")])

golden(
    "A segment that a later one overlaps gives no sample, though only it is covered",
    [at(0, from_a(1000, 100)), at(1 * MS, from_a(1050, 100)), at(2 * MS, from_b(1100))],
    ["*, count(rtt) >= 0, 5-tuple, 10ms"],
    [report(0, 10, 0, 0, A_TO_B, event="e1"), report(0, 10, 0, 0, B_TO_A, event="e1")])

golden(
    "A retransmission of what is acknowledged already spoils the sample of its new part",
    [at(0, from_a(1000, 100)), at(1 * MS, from_b(1100)), at(12 * MS, from_a(1050, 100)), at(13 * MS, from_b(1150)),
     at(14 * MS, from_a(1150, 10)), at(15 * MS, from_b(1160))],
    ["*, max(rtt) > 0, none, 10ms"],
    [report(0, 10, 1000000, 0, event="e1"), report(10, 20, 1000000, 0, event="e1")])

golden(
    "A sample is filtered by the fields of its segment, and is no packet",
    [at(0, from_a(1000, 100)), at(4 * MS, from_b(1100))],
    ["dstPort=80, sum(packets + 0) + count(rtt) > 0, none, 10ms", "srcPort=80, count(rtt) >= 0, none, 10ms",
     "dstPort=80, count(rtt or packets) > 0, none, 10ms"],
    # 1 packet and 1 sample; B's packets have none; in SQL's logic both have a true side.
    [report(0, 10, 2, 0, event="e1"), report(0, 10, 0, 0, event="e2"), report(0, 10, 2, 0, event="e3")])
