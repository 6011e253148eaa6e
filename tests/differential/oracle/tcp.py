# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the contract says about connections: bursts, losses, ack, seq, dup, windows, RTT.

Nothing is ever forgotten, but for the rules of the contract: every segment
of a connection stays in its list until the state ends.
"""

NO_MSS = 1460
LOSS_MEMORY_SEGMENTS = 64
LOSS_MEMORY_NS = 3 * 10**9


class Segment:
    """A part of sequence space as it was sent once."""

    def __init__(self, start, end, time, burst, index):
        self.start, self.end = start, end
        self.time, self.burst = time, burst
        self.index = index              # of its packet in the trace
        self.sent_again = False


class Direction:
    """Data of one direction, the other side's answers to it, and its sender's own traits."""

    def __init__(self):
        self.seq = None                 # end of the highest sequence space sent
        self.ack = None                 # highest acknowledgement of this data
        self.dup = 0
        self.segments = []
        # Of the side that sends in this direction:
        self.last_ack = None            # last acknowledgement number and window sent, raw
        self.last_window = None
        self.mss = None
        self.syn_shifts = []            # shift (or None) of each SYN seen

    def extend(self, number):
        """The 64-bit number that `number` stands for in this direction's data."""
        near = self.seq if self.seq is not None else self.ack
        if near is None:
            return number
        step = (number - near) & 0xFFFFFFFF
        return near + (step - 2**32 if step >= 2**31 else step)

    def shift(self):
        """The window scale offered in this side's SYN, None without."""
        return self.syn_shifts[-1] if self.syn_shifts else None


class Connection:
    def __init__(self, generation):
        self.generation = generation
        self.directions = {}            # 5-tuple -> Direction
        self.last_packet = None
        self.last_syn = None            # of the SYNs without ACK

    def direction(self, flow):
        return self.directions.setdefault(flow, Direction())


class Moment:
    """A connection's values after one packet, kept for the ends of intervals."""

    def __init__(self, time, generation, values):
        self.time, self.generation = time, generation
        self.values = values            # 5-tuple -> (ack, seq, dup)


class PacketValues:
    """Flow-dependent variables of one packet; None where undefined."""

    def __init__(self):
        self.is_burst = self.is_lost = self.lost_in_burst = 0
        self.ack = self.seq = self.dup = self.rwnd = None
        self.unscaled = False
        self.loss_forgotten = False     # beyond what must be remembered: either answer is right


class Sample:
    def __init__(self, time, rtt, index):
        self.time, self.rtt, self.index = time, rtt, index


def opposite(flow):
    return (flow[1], flow[0], flow[3], flow[2], flow[4])


class Flows:
    """Follows every packet of a trace, in order."""

    def __init__(self, flow_timeout=10 * 10**9, burst_gap=10 * 10**3):
        self.flow_timeout, self.burst_gap = flow_timeout, burst_gap
        self.previous = {}              # 5-tuple -> time of its last packet
        self.connections = {}           # the lower of both 5-tuples -> Connection
        self.moments = {}               # same key -> list of Moment
        self.samples = []
        self.generations = 0

    def see(self, index, packet):
        values = PacketValues()
        flow = packet.five_tuple()
        if flow is None:
            return values
        if packet.tcp is None:
            values.is_burst = self._burst(flow, packet.time)
            return values
        key = min(flow, opposite(flow))
        connection = self._connection(key, packet)
        values.is_burst = self._burst(flow, packet.time)
        own, peer = connection.direction(flow), connection.direction(opposite(flow))
        self._send(own, peer, index, packet, values)
        self._receive(own, peer, packet, values)
        _clamp(own)
        _clamp(peer)
        values.ack, values.seq, values.dup = own.ack, own.seq, own.dup
        self.moments.setdefault(key, []).append(
            Moment(packet.time, connection.generation,
                   {f: (d.ack, d.seq, d.dup) for f, d in connection.directions.items()}))
        return values

    def at(self, flow, time):
        """(generation, (ack, seq, dup)) of live state just before `time`, else None."""
        found = self._last_moment(flow, time)
        if found is None or time - found.time > self.flow_timeout:
            return None
        return found.generation, found.values[flow]

    def generation_before(self, flow, time):
        found = self._last_moment(flow, time)
        return found.generation if found else None

    def _last_moment(self, flow, time):
        found = None
        for moment in self.moments.get(min(flow, opposite(flow)), []):
            if moment.time >= time:
                break
            found = moment
        return found

    def _burst(self, flow, time):
        before = self.previous.get(flow)
        self.previous[flow] = time
        return int(before is not None and time - before <= self.burst_gap)

    def _connection(self, key, packet):
        """The packet's connection after expiry and restart by SYN."""
        header = packet.tcp
        connection = self.connections.get(key)
        if connection and packet.time - connection.last_packet > self.flow_timeout:
            connection = None
        opening = header.syn and not header.has_ack
        if connection and opening and connection.last_syn != header.seq:
            connection = None
        if connection is None:
            self.generations += 1
            connection = self.connections[key] = Connection(self.generations)
        if opening:
            connection.last_syn = header.seq
        connection.last_packet = packet.time
        return connection

    def _send(self, own, peer, index, packet, values):
        """Loss, and the history of what was sent."""
        header = packet.tcp
        space = header.payload + header.syn + header.fin
        if space == 0:
            return
        start = own.extend(header.seq)
        if _is_probe(own, peer, header, start):
            return
        first_byte = start + header.syn
        if header.payload and own.seq is not None and first_byte < own.seq:
            values.is_lost = 1
            self._first_sending(own, first_byte, packet.time, values)
        sent = Segment(start, start + space, packet.time, values.is_burst, index)
        for earlier in own.segments:
            if earlier.start < sent.end and sent.start < earlier.end:
                earlier.sent_again = sent.sent_again = True
        own.segments.append(sent)
        own.seq = sent.end if own.seq is None else max(own.seq, sent.end)

    @staticmethod
    def _first_sending(own, byte, now, values):
        for place, earlier in enumerate(own.segments):
            if earlier.start <= byte < earlier.end:
                values.lost_in_burst = earlier.burst
                values.loss_forgotten = (len(own.segments) - place > LOSS_MEMORY_SEGMENTS
                                         and now - earlier.time > LOSS_MEMORY_NS)
                return

    def _receive(self, own, peer, packet, values):
        """What the packet says as an answer: ack, RTT, dup, window, options."""
        header = packet.tcp
        if header.syn:
            own.syn_shifts.append(header.shift)
            if header.mss is not None:
                own.mss = header.mss
        if header.rst:
            return
        if header.has_ack:
            self._acknowledge(own, peer, packet)
            own.last_ack = header.ack
        own.last_window = header.window
        scaled = not header.syn and own.shift() is not None and peer.shift() is not None
        values.rwnd = header.window << own.shift() if scaled else header.window
        values.unscaled = not scaled

    def _acknowledge(self, own, peer, packet):
        header = packet.tcp
        ack = peer.extend(header.ack)
        if peer.ack is None or ack > peer.ack:
            self._sample(peer, ack, packet.time)
            if peer.ack is not None:
                peer.dup = max(peer.dup - (ack - peer.ack), 0)
            peer.ack = ack
        elif (not header.payload and not header.syn and not header.fin and header.ack == own.last_ack
              and header.window == own.last_window and peer.seq is not None and peer.seq > peer.ack):
            peer.dup += NO_MSS if own.mss is None else own.mss

    def _sample(self, data, ack, time):
        covered = [s for s in data.segments if s.end <= ack and (data.ack is None or s.end > data.ack)]
        if covered and not any(s.sent_again for s in covered):
            newest = covered[-1]
            self.samples.append(Sample(time, time - newest.time, newest.index))


def _is_probe(own, peer, header, start):
    """A zero-window probe or a keep-alive: sent, but not data that could be lost."""
    if header.payload != 1 or header.syn or header.fin or header.rst:
        return False
    if peer.last_window == 0:
        return True
    return (own.seq is not None and start == own.seq - 1 and own.ack is not None
            and own.ack >= own.seq)


def _clamp(direction):
    known = direction.seq is not None and direction.ack is not None
    room = direction.seq - direction.ack if known else 0
    direction.dup = min(direction.dup, max(room, 0))
