# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What really happened to the traffic, from captures at both ends of a switch.

The switch stamps a packet when it takes it from the port: after the sender's
end saw it go, before the receiver's end saw it come.  So each packet lies in a
known interval, unless an interval's edge falls between the two captures; such
a packet may have been counted on either side, and gives a range.  Nothing here
shares code with the monitor.
"""
import struct
from collections import defaultdict, deque

from oracle import pcapio

# The switch's clock has microseconds and follows the wall clock, which captures use directly.
CLOCK_SLACK_NS = 50_000
HALF = 2**31
TCP, UDP = 6, 17


class Segment:
    """A TCP segment or UDP datagram that crossed the switch, or was dropped there."""

    __slots__ = ("flow", "volume", "is_lost", "sent_ns", "come_ns")


def _address(data):
    return "%d.%d.%d.%d" % tuple(data)


def parse(data):
    """(flow, sequence number, SYN or FIN, payload bytes) of TCP and UDP over IPv4; of others None.

    UDP has no sequence number: None.
    """
    if len(data) < 42 or data[12:14] != b"\x08\x00" or data[23] not in (TCP, UDP):
        return None
    total = struct.unpack_from(">H", data, 16)[0]
    at = 14 + (data[14] & 15) * 4
    source, target, seq = struct.unpack_from(">HHI", data, at)
    flow = (_address(data[26:30]), _address(data[30:34]), source, target)
    if data[23] == UDP:
        return flow, None, 0, total - (at - 14) - 8
    header, flags = (data[at + 12] >> 4) * 4, data[at + 13]
    return flow, seq, (flags & 1) + (flags >> 1 & 1), total - (at - 14) - header


class Losses:
    """A segment is sent again if it begins below what was sent before in its direction."""

    def __init__(self):
        self.ends = {}                  # flow -> end of the highest data sent, modulo 2^32

    def see(self, flow, seq, marks, payload):
        if marks + payload == 0 or seq is None:
            return 0
        end, before = (seq + marks + payload) % 2**32, self.ends.get(flow)
        if before is None or 0 < (end - before) % 2**32 < HALF:
            self.ends[flow] = end
        return int(payload > 0 and before is not None and 0 < (before - seq) % 2**32 < HALF)


class Direction:
    """Everything one end sent, with what came of it at the other end."""

    def __init__(self, sender, receiver, mac):
        """`sender` and `receiver` are captures; `mac` is the sender's address."""
        sent = [each for each in sender if each[1][6:12] == mac]
        come = defaultdict(deque)       # frame -> when it arrived, if it was not matched yet
        for time, data, _ in receiver:
            if data[6:12] == mac:
                come[data].append(time)
        self.frames, self.dropped = len(sent), 0
        self.segments = []
        losses = Losses()
        for time, data, _ in sent:
            arrival = come[data].popleft() if come.get(data) else None
            self.dropped += arrival is None
            parsed = parse(data)
            if parsed:
                self.segments.append(_segment(parsed, losses, time, arrival))
        self.strangers = sum(map(len, come.values()))   # came and were never sent
        self._bound(max(each[0] for each in sender + receiver))

    def _bound(self, end):
        """A dropped segment was stamped before the next of its flow came out: ports keep the order."""
        latest = defaultdict(lambda: end)
        for segment in reversed(self.segments):
            if segment.come_ns is None:
                segment.come_ns = latest[segment.flow]
            latest[segment.flow] = segment.come_ns


def _segment(parsed, losses, sent_ns, come_ns):
    segment = Segment()
    segment.flow, segment.volume = parsed[0], parsed[3]
    segment.is_lost = losses.see(*parsed)
    segment.sent_ns, segment.come_ns = sent_ns, come_ns
    return segment


class Counts:
    """Sums per flow and interval, each a range [low, high].

    `bucket_of` gives something else of a segment to add up by.
    """

    def __init__(self, interval_ns, bucket_of=lambda segment: segment.flow):
        self.interval_ns, self.bucket_of = interval_ns, bucket_of
        self.ranges = defaultdict(lambda: [0, 0])       # (flow, interval) -> [low, high]
        self.totals = defaultdict(int)

    def add(self, segment, value):
        first = (segment.sent_ns - CLOCK_SLACK_NS) // self.interval_ns
        last = (segment.come_ns + CLOCK_SLACK_NS) // self.interval_ns
        bucket = self.bucket_of(segment)
        self.totals[bucket] += value
        for interval in range(first, last + 1):
            around = self.ranges[bucket, interval]
            around[1] += value
            if first == last:
                around[0] += value

    def at(self, flow, interval):
        return tuple(self.ranges.get((flow, interval), (0, 0)))


class Traffic:
    """Both directions, from the captures of the two ends."""

    def __init__(self, client_capture, server_capture, client_mac, server_mac):
        client, server = pcapio.read_capture(client_capture), pcapio.read_capture(server_capture)
        self.forth = Direction(client, server, client_mac)
        self.back = Direction(server, client, server_mac)
        self.segments = self.forth.segments + self.back.segments

    def counts(self, value, interval_ns, begin_ns=0, end_ns=2**63):
        """`value` is "volume" or "is_lost"; of segments sent from `begin_ns` to before `end_ns`."""
        counts = Counts(interval_ns)
        for segment in self.segments:
            amount = getattr(segment, value)
            if amount and begin_ns <= segment.sent_ns < end_ns:
                counts.add(segment, amount)
        return counts
