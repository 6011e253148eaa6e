# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random traffic that likes the edges: of intervals, of bursts, of 2^32, of headers.

Every actor yields frames; make_trace() interleaves actors along one clock.
"""
import frames as f

HOSTS4 = ("10.0.0.1", "10.0.0.2", "10.0.0.130", "10.0.1.1", "192.168.1.1")
HOSTS6 = ("2001:db8::1", "2001:db8::2", "2001:db8:1::1")
UNDERLAY4, UNDERLAY6 = ("172.16.0.1", "172.16.0.2"), ("fd00::1", "fd00::2")
PORTS = (80, 443, 5000, 5001, 0)
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:01:01")
SECOND = 10**9
STATED_LENGTHS = (0, 19, 20, 24, 30, 39, 40, 41, 500)   # lies of IP headers
SIZES = (1, 2, 10, 64, 100, 100, 200, 1460)


class Clock:
    """Time in ns; steps are often exactly what some rule compares with."""

    def __init__(self, rng):
        self.rng = rng
        self.now = rng.choice((1_700_000_000, 1_699_999_999, 0, 5, 1_234_567)) * SECOND
        self.now += rng.choice((0, 1, 999_999_999, rng.randrange(SECOND)))
        self.pace = rng.choice((20_000, 200_000, 2_000_000, 20_000_000))
        self.idles = rng.choice((0, 0, 1, 2))

    def step(self):
        rng, kind = self.rng, self.rng.random()
        if kind < 0.08:
            gap = 0
        elif kind < 0.25:
            gap = 10_000 + rng.choice((-1, 0, 1))
        elif kind < 0.40:
            gap = rng.randrange(30_000)
        elif kind < 0.60:
            unit = rng.choice((1, 1, 2, 5, 10)) * 1_000_000
            gap = unit - self.now % unit + rng.choice((-1, 0, 0, 1))
        elif self.idles and kind < 0.65:
            self.idles -= 1
            gap = self._idle()
        else:
            gap = rng.randrange(self.pace)
        self.now += max(gap, 0)
        return self.now

    def _idle(self):
        return self.rng.choice((200_000_000, 1_000_000_000, 2_999_999_999, 4 * SECOND, 10 * SECOND - 1,
                                10 * SECOND, 10 * SECOND + 1, 11 * SECOND))


class Style:
    """How one direction of an actor is carried: tags, MACs, tunnels."""

    def __init__(self, rng, plain):
        self.rng = rng
        self.macs = rng.sample(MACS, 2)
        self.tags = rng.choice(((), (), ((0x8100, 10),), ((0x8100, 0x6014),), ((0x8100, 0xE000),),
                                ((0x88A8, 20), (0x8100, 10))))
        self.ttl, self.dscp = rng.choice((64, 63, 128)), rng.choice((0, 0, 10, 46))
        self.restless = rng.random() < 0.3
        self.tunnels = [] if plain else [self._tunnel() for _ in range(rng.choice((1, 1, 1, 2, 3)))]

    def _tunnel(self):
        return (self.rng.choice(("vxlan", "geneve", "geneve-ip", "gre", "gre-ip")),
                self.rng.choice((0, 1, 7, 0xFFFFFF)), self.rng.choice((UNDERLAY4, UNDERLAY6)))

    def header(self):
        """ttl and tos of one packet's IP header."""
        rng = self.rng
        if self.restless and rng.random() < 0.3:
            self.ttl, self.dscp = rng.choice((1, 63, 64, 255)), rng.choice((0, 10))
        return {"ttl": self.ttl, "tos": self.dscp << 2 | rng.choice((0, 0, 1, 2, 3, 3))}

    def frame(self, packet):
        """The frame that carries an IP packet (bytes)."""
        if self.restless and self.rng.random() < 0.1:
            self.tags = self.rng.choice(((), ((0x8100, 11),)))
        kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
        for spec in reversed(self.tunnels):
            packet, kind = self._wrap(spec, packet, kind)
        return f.ethernet(packet, kind, *self.macs, self.tags)

    def _wrap(self, spec, packet, kind):
        rng, (name, number, hosts) = self.rng, spec
        if not name.endswith("-ip"):
            tags = rng.choice(((), (), ((0x8100, 30),)))
            packet, kind = f.ethernet(packet, kind, MACS[2], MACS[0], tags), 0x6558
        if name == "vxlan":
            upper, protocol = f.udp(49152, 4789, f.vxlan(number, packet)), 17
        elif name.startswith("geneve"):
            upper = f.udp(49153, 6081, f.geneve(number, packet, kind, options=rng.choice((0, 0, 2))))
            protocol = 17
        else:
            upper = f.gre(packet, kind, key=rng.choice((None, number)), checksum=rng.random() < 0.2,
                          sequence=rng.choice((None, 5)))
            protocol = 47
        outer = f.ip(upper, protocol, hosts[0], hosts[1], ttl=rng.choice((64, 60)), tos=rng.choice((0, 0, 3)))
        return outer, 0x0800 if f.family(hosts[0]) == 4 else 0x86DD


def pick_hosts(rng):
    return rng.sample(HOSTS4 if rng.random() < 0.7 else HOSTS6, 2)


def styles(rng):
    """Both directions, at times carried differently."""
    first = Style(rng, rng.random() < 0.75)
    return [first, first if rng.random() < 0.7 else Style(rng, rng.random() < 0.6)]


def extensions(rng, host):
    if f.family(host) == 4 or rng.random() < 0.7:
        return {"options": b"\x01" * 4} if f.family(host) == 4 and rng.random() < 0.1 else {}
    return {"extensions": rng.sample((f.hop_by_hop(), f.destination_options(1), f.authentication(),
                                      f.fragment_header(0, False)), rng.choice((1, 2)))}


class Side:
    """One end of a TCP connection; numbers run on past 2^32."""

    def __init__(self, rng):
        self.rng = rng
        self.start()

    def start(self):
        rng = self.rng
        self.isn = rng.choice((rng.randrange(2**32), 2**32 - rng.randrange(1, 3000), 1000, 0))
        self.next = self.isn
        self.sent = []              # (sequence, payload size)
        self.holes = []
        self.answered = None        # last acknowledgement this side sent
        self.window = rng.choice((1000, 65535, 10))

    def remember(self, seq, size):
        self.sent.append((seq, size))
        self.next = max(self.next, seq + size)


class TcpActor:
    def __init__(self, rng):
        self.rng = rng
        self.hosts = pick_hosts(rng)
        self.ports = [rng.choice(PORTS), rng.choice(PORTS)]
        self.styles = styles(rng)
        self.ends = [Side(rng), Side(rng)]
        self.options = [self._options(), self._options()]
        self.queue = []
        self.bulk = 12 if rng.random() < 0.1 else 1
        self.midstream = rng.random() < 0.35
        if not self.midstream:
            self._handshake()

    def _options(self):
        rng = self.rng
        return ((f.mss(rng.choice((500, 1400, 1460))) if rng.random() < 0.7 else b"")
                + (f.window_scale(rng.choice((0, 2, 7, 14, 15))) if rng.random() < 0.7 else b""))

    def frame(self, side, seq, flags=f.ACK, payload=0, window=None, options=b"", ack=None):
        rng, own, peer = self.rng, self.ends[side], self.ends[1 - side]
        if ack is None:
            ack = own.answered if own.answered is not None else peer.next
        window = own.window if window is None else window
        if flags & f.ACK and not flags & f.RST:
            own.answered = ack
        segment = f.tcp(self.ports[side], self.ports[1 - side], seq, ack if flags & f.ACK else 0, flags,
                        window, payload, options)
        source, target = self.hosts[side], self.hosts[1 - side]
        if payload > 16 and rng.random() < 0.02:
            return self._fragments(side, segment)
        more = extensions(rng, source)
        if rng.random() < 0.02:
            more["total"] = rng.choice(STATED_LENGTHS)
        return [self.styles[side].frame(f.ip(segment, 6, source, target, **self.styles[side].header(), **more))]

    def _fragments(self, side, segment):
        source, target, style = self.hosts[side], self.hosts[1 - side], self.styles[side]
        made = []
        for offset, part, more in ((0, segment[:32], True), (4, segment[32:], False)):
            if f.family(source) == 4:
                made.append(f.ipv4(part, 6, source, target, offset=offset, more=more, **style.header()))
            else:
                made.append(f.ipv6(part, 6, source, target, extensions=[f.fragment_header(offset, more)],
                                   **style.header()))
        return [style.frame(packet) for packet in made]

    def _handshake(self):
        a, b = self.ends
        steps = [lambda: self.frame(0, a.isn, f.SYN, options=self.options[0]),
                 lambda: self.frame(1, b.isn, f.SYN | f.ACK, options=self.options[1], ack=a.isn + 1),
                 lambda: self.frame(0, a.isn + 1, ack=b.isn + 1)]
        a.next, b.next = a.isn + 1, b.isn + 1
        self.queue += steps[:self.rng.choice((1, 3, 3, 3, 3))]

    def step(self):
        if self.queue:
            return self.queue.pop(0)()
        actions = ((self._data, 30), (self._ack, 25), (self._duplicate_acks, 8), (self._retransmit, 14),
                   (self._hole, 8), (self._zero_window, 4), (self._keep_alive, 3), (self._fin, 2),
                   (self._reset, 1), (self._reuse, 2), (self._syn_again, 1), (self._bulk_data, self.bulk),
                   (self._from_before, 2 if self.midstream else 0))
        action = self.rng.choices([a for a, _ in actions], [weight for _, weight in actions])[0]
        return action(self.rng.choice((0, 0, 0, 1)))

    def _data(self, side):
        own, size = self.ends[side], self.rng.choice(SIZES)
        seq = own.next
        own.remember(seq, size)
        return self.frame(side, seq, payload=size, flags=f.ACK | self.rng.choice((0, f.PSH)))

    def _bulk_data(self, side):
        """More segments than must be remembered, then some of them again."""
        many = self.rng.choice((5, 20, 40, 70))
        self.queue += [lambda: self._data(side)] * many + [lambda: self._retransmit(side)] * 3
        return self._data(side)

    def _from_before(self, side):
        """What was sent before the capture began, at times before number 0."""
        own, size = self.ends[side], self.rng.choice(SIZES)
        return self.frame(side, own.isn - self.rng.choice((size, size // 2, 500)), payload=size)

    def _ack(self, side):
        """Side `side` answers data of the other: a boundary, the middle of a segment, or beyond."""
        rng, own, peer = self.rng, self.ends[side], self.ends[1 - side]
        goal = peer.next
        if peer.sent and rng.random() < 0.5:
            seq, size = rng.choice(peer.sent[-6:])
            goal = seq + rng.choice((size, size, size, size // 2))
        if rng.random() < 0.02:
            goal += rng.choice((1, 100))
        if own.answered is not None and rng.random() < 0.85:
            goal = max(goal, own.answered)
        own.window = rng.choice((own.window, own.window, 500, 65535))
        return self.frame(side, own.next, ack=goal)

    def _duplicate_acks(self, side):
        own = self.ends[side]
        self.queue += [lambda: self.frame(side, own.next)] * self.rng.choice((0, 1, 2, 3))
        return self.frame(side, own.next)

    def _retransmit(self, side):
        rng, own = self.rng, self.ends[side]
        if not own.sent:
            return self._data(side)
        seq, size = rng.choice(own.sent[-8:] if rng.random() < 0.8 else own.sent)
        kind = rng.randrange(5)
        if kind == 0 and size > 1:              # a part
            cut = rng.randrange(1, size)
            seq, size = (seq + cut, size - cut) if rng.random() < 0.5 else (seq, cut)
        elif kind == 1:                         # and more than it
            size += rng.choice((1, 50))
            own.next = max(own.next, seq + size)
        elif kind == 2:                         # from within, over the end
            seq, size = seq + size // 2, size + 20
            own.next = max(own.next, seq + size)
        return self.frame(side, seq, payload=size)

    def _hole(self, side):
        """Leaves a hole, or fills one late."""
        own, rng = self.ends[side], self.rng
        if own.holes and rng.random() < 0.6:
            seq, size = own.holes.pop(0)
            own.sent.append((seq, size))
            return self.frame(side, seq, payload=size)
        size = rng.choice(SIZES)
        own.holes.append((own.next, size))
        own.next += size
        return self._data(side)

    def _zero_window(self, side):
        rng, own, peer = self.rng, self.ends[side], self.ends[1 - side]
        before = own.window
        own.window = 0

        def probe():
            at = rng.choice((peer.next, peer.next, peer.next - 1))
            return self.frame(1 - side, at, payload=1)

        def reopen():
            own.window = before
            return self.frame(side, own.next)

        self.queue += [probe] * rng.choice((1, 2)) + [reopen]
        return self.frame(side, own.next, ack=peer.next)

    def _keep_alive(self, side):
        own, peer = self.ends[side], self.ends[1 - side]
        self.queue.append(lambda: self.frame(1 - side, peer.next))
        return self.frame(side, own.next - 1, payload=self.rng.choice((0, 1, 1)))

    def _fin(self, side):
        own, size = self.ends[side], self.rng.choice((0, 0, 10))
        seq = own.next
        own.next += size + 1
        return self.frame(side, seq, f.FIN | f.ACK, payload=size)

    def _reset(self, side):
        return self.frame(side, self.ends[side].next, self.rng.choice((f.RST, f.RST | f.ACK)), window=0)

    def _reuse(self, _):
        for end in self.ends:
            end.start()
        self.queue = []
        self._handshake()
        return self.queue.pop(0)()

    def _syn_again(self, _):
        return self.frame(0, self.ends[0].isn, f.SYN, options=self.options[0], payload=self.rng.choice((0, 0, 9)))


class DatagramActor:
    """UDP, SCTP, ICMP and unknown protocols, whole and in fragments."""

    def __init__(self, rng):
        self.rng = rng
        self.hosts = pick_hosts(rng)
        self.styles = styles(rng)
        self.ports = [rng.choice(PORTS), rng.choice(PORTS + (4789, 6081))]
        self.protocol = rng.choice((17, 17, 17, 132, 1, 58, 89))

    def step(self):
        rng, side = self.rng, self.rng.choice((0, 0, 1))
        source, target, style = self.hosts[side], self.hosts[1 - side], self.styles[side]
        body = b"u" * rng.choice((0, 1, 20, 100))
        ports = self.ports if side == 0 else self.ports[::-1]
        upper = {17: lambda: f.udp(*ports, body), 132: lambda: f.sctp(*ports, body),
                 1: lambda: f.icmp(body), 58: lambda: f.icmp(body, 128)}.get(self.protocol, lambda: body)()
        kind = rng.random()
        more = extensions(rng, source)
        if kind < 0.10:
            more = self._fragment(source)
        elif kind < 0.20:
            more["total"] = rng.choice(STATED_LENGTHS)
        return [style.frame(f.ip(upper, self.protocol, source, target, **style.header(), **more))]

    def _fragment(self, source):
        offset, more = self.rng.choice(((0, True), (1, True), (4, False)))
        if f.family(source) == 4:
            return {"offset": offset, "more": more}
        return {"extensions": [f.hop_by_hop(), f.fragment_header(offset, more)]}


class CrowdActor:
    """Many flows of few packets each."""

    def __init__(self, rng):
        self.rng = rng
        self.style = Style(rng, True)

    def step(self):
        rng = self.rng
        hosts = "10.0.%d.%d" % (rng.randrange(4), rng.randrange(1, 9)), "10.9.0.%d" % rng.randrange(1, 9)
        ports = rng.randrange(1, 20), rng.choice(PORTS)
        if rng.random() < 0.5:
            upper, protocol = f.udp(*ports, b"c" * rng.randrange(9)), 17
        else:
            seq, flags = rng.randrange(5), rng.choice((f.ACK, f.ACK, f.SYN, f.SYN | f.ACK))
            upper, protocol = f.tcp(*ports, seq, flags=flags, payload=rng.randrange(3)), 6
        if rng.random() < 0.5:
            hosts = hosts[::-1]
        return [self.style.frame(f.ip(upper, protocol, *hosts, **self.style.header()))]


class OddActor:
    """ARP, 802.3, noise, short frames, broken tunnels."""

    def __init__(self, rng):
        self.rng = rng

    def step(self):
        rng = self.rng
        noise = bytes(rng.randrange(256) for _ in range(rng.randrange(60)))
        inner = f.packet(f.udp(80, 443, b"x"), 17, *HOSTS4[:2])
        long_chain = f.packet(f.udp(80, 443, b"xyz"), 17, *HOSTS6[:2], extensions=rng.choices(
            (f.hop_by_hop(), f.destination_options(2), f.authentication()), k=rng.choice((1, 2, 3, 17))))
        return [rng.choice((
            lambda: f.ethernet(b"\0\1\x08\0\6\4\0\1" + b"\1" * 20, 0x0806),
            lambda: f.ethernet(noise, len(noise), tags=((0x8100, 10),)),
            lambda: noise,
            lambda: f.ethernet(noise, 0x0800),
            lambda: f.ethernet(b"\x45" + noise, 0x0800),
            lambda: f.ethernet(b"\x60" + noise, 0x86DD),
            lambda: f.ethernet(noise[:3], 0x8100),
            lambda: f.ethernet(inner[14:], 0x0800, tags=((0x8100, 5),) * rng.choice((3, 8, 9))),
            lambda: f.packet(f.udp(1, 4789, f.vxlan(5, inner, flags=rng.choice((0, 8)))), 17, *UNDERLAY4),
            lambda: f.packet(f.udp(1, 6081, f.geneve(5, inner, version=rng.choice((0, 1)))), 17, *UNDERLAY4),
            lambda: f.packet(f.udp(1, 4789, f.vxlan(5, inner[:rng.randrange(30)])), 17, *UNDERLAY4),
            lambda: f.packet(f.gre(inner[14:], rng.choice((0x0800, 0x86DD, 0x88BE)), key=9,
                                   flags=rng.choice((0, 1, 0x4000))), 47, *UNDERLAY6),
            lambda: f.packet(f.udp(1, 4789, f.vxlan(5, inner)), 17, *UNDERLAY4, more=True),
            lambda: f.packet(f.udp(1, 4789, f.vxlan(5, inner)), 17, *UNDERLAY6,
                             extensions=[f.fragment_header(0, rng.random() < 0.5)]),
            lambda: f.packet(f.udp(1, 4789, f.vxlan(5, inner)), 17, *UNDERLAY4,
                             total=rng.choice((28, 36, 49, 50, 69, 70, 90))),
            lambda: long_chain[:rng.randrange(54, len(long_chain))],
            lambda: long_chain,
            lambda: f.ethernet(bytes([rng.choice((0x44, 0x46, 0x4F, 0x35, 0x55))]) + inner[15:], 0x0800),
        ))()]


def damage(rng, frame):
    """Cuts, pads or changes a frame: (captured bytes, length on the wire)."""
    kind = rng.random()
    if kind < 0.02 and frame:
        place = rng.randrange(min(len(frame), 80))
        frame = frame[:place] + bytes([rng.randrange(256)]) + frame[place + 1:]
    elif kind < 0.10 and len(frame) < 60:
        frame += b"\0" * (60 - len(frame))
    wire = len(frame)
    if rng.random() < 0.03:
        frame = frame[:rng.randrange(len(frame) + 1)]
    return frame, wire


def make_trace(rng):
    """A list of (time, captured bytes, wire length), times never falling."""
    clock = Clock(rng)
    tcp = [TcpActor(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    actors = tcp * 5 + [DatagramActor(rng) for _ in range(rng.choice((0, 1, 2)))]
    if rng.random() < 0.5:
        actors += [OddActor(rng)] * rng.choice((1, 1, 4))
    wanted = rng.choice((20, 40, 60, 60, 100, 100, 200, 300))
    if rng.random() < 0.05:
        actors += [CrowdActor(rng)] * 30
        wanted = 1500
    snap = rng.choice((None, None, None, 96, 54, 128))
    trace = []
    while len(trace) < wanted:
        actor = rng.choice(actors)
        for _ in range(rng.choice((1, 1, 2, 5))):
            for frame in actor.step():
                data, wire = damage(rng, frame)
                trace.append((clock.step(), data[:snap], wire))
    return trace
