# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Bytes of a frame -> fields of each header level.

A packet is a list of levels, outermost first.  A level is a plain dict: a field
that the packet lacks is not in it.  Addresses are (family, integer), so that
they sort as reports do.
"""

VLAN_TYPES = (0x8100, 0x88A8)
MOST_TAGS = 8
EXTENSIONS = (0, 43, 44, 51, 60, 135, 139, 140)
MOST_EXTENSIONS = 16
MOST_TUNNELS = 8
TCP, UDP, GRE, SCTP = 6, 17, 47, 132
PORTS_NEED = {TCP: 20, UDP: 8, SCTP: 12}
VXLAN_PORT, GENEVE_PORT = 4789, 6081
INNER_ETHERNET, INNER_IPV4, INNER_IPV6 = 0x6558, 0x0800, 0x86DD

# What a level is called in filters and granularities.
FIELDS = ("srcIP", "dstIP", "srcPort", "dstPort", "Protocol", "srcMAC", "dstMAC", "ethType", "vlan",
          "dscp", "ecn", "ttl", "tcpFlags", "inPort", "tunnelId")


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "big")


class Packet:
    """What the contract sees of one frame."""

    def __init__(self, time, data, wire):
        self.time = time
        self.bytes = wire
        self.levels = []        # dicts of fields, outermost first
        self.tunnel_ids = []    # one for each tunnel; None without an id
        self.volume = 0         # of the innermost level
        self.tcp = None         # TcpHeader of the innermost level
        self._add(*_ethernet(data))

    def _add(self, level, upper):
        self.levels.append(level)
        self.volume = upper.volume if upper else 0
        self.tcp = upper.tcp if upper else None
        if upper and len(self.tunnel_ids) < MOST_TUNNELS:
            inner = _tunnel(upper)
            if inner:
                tunnel_id, level, upper = inner
                self.tunnel_ids.append(tunnel_id)
                self._add(level, upper)

    def field(self, name):
        """The value of `name`, as `x`, `outer.x` or `inner.x`; None without one."""
        prefix, _, plain = name.rpartition(".")
        if prefix == "inner" and len(self.levels) == 1:
            return None
        outer = prefix == "outer"
        if plain == "tunnelId":
            return self.tunnel_ids[0 if outer else -1] if self.tunnel_ids else None
        return self.levels[0 if outer else -1].get(plain)

    def five_tuple(self):
        """The innermost 5-tuple with 0 for absent ports; None if it is not IP."""
        level = self.levels[-1]
        if "srcIP" not in level:
            return None
        return (level["srcIP"], level["dstIP"], level.get("srcPort", 0), level.get("dstPort", 0),
                level["Protocol"])


class TcpHeader:
    def __init__(self, data, payload):
        self.seq = number(data, 4, 4)
        self.ack = number(data, 8, 4)
        flags = number(data, 12, 2) & 0xFFF
        self.fin, self.syn, self.rst = flags & 1, flags >> 1 & 1, flags >> 2 & 1
        self.has_ack = flags >> 4 & 1
        self.window = number(data, 14, 2)
        self.payload = payload
        self.mss, self.shift = _options(data[20:max(data[12] >> 4, 5) * 4])


def _options(data):
    mss = shift = None
    at = 0
    while at < len(data) and data[at] != 0:
        if data[at] == 1:
            at += 1
            continue
        size = data[at + 1] if at + 1 < len(data) else 0
        if size < 2 or at + size > len(data):
            break
        if data[at] == 2 and size == 4:
            mss = number(data, at + 2, 2)
        elif data[at] == 3 and size == 3:
            shift = min(data[at + 2], 14)
        at += size
    return mss, shift


class Upper:
    """What follows the IP header: `data` ends where the packet or its IP length does."""

    def __init__(self, protocol, data, length, fragment, later):
        self.protocol = protocol
        self.data = data
        self.fragment = fragment
        self.volume = 0 if length is None else max(length - self._header(later), 0)
        self.tcp = None
        self.later = later

    def _header(self, later):
        if later:
            return 0
        if self.protocol == TCP:
            return max(self.data[12] >> 4, 5) * 4 if len(self.data) > 12 else 20
        return {UDP: 8, SCTP: 12}.get(self.protocol, 0)


def _ethernet(data):
    if len(data) < 14:
        return {}, None
    level = {"dstMAC": number(data, 0, 6), "srcMAC": number(data, 6, 6)}
    at, kind = 14, number(data, 12, 2)
    for _ in range(MOST_TAGS):
        if kind not in VLAN_TYPES or at + 4 > len(data):
            break
        level.setdefault("vlan", number(data, at, 2) & 0xFFF)
        kind = number(data, at + 2, 2)
        at += 4
    level["ethType"] = kind
    return level, _ip(level, kind, data[at:])


def _ip(level, kind, data):
    """Adds the fields of an IP header to `level`; returns Upper, or None if it is none."""
    if kind == INNER_IPV4 and len(data) >= 20 and data[0] >> 4 == 4 and data[0] & 15 >= 5:
        upper = _ipv4(level, data)
    elif kind == INNER_IPV6 and len(data) >= 40 and data[0] >> 4 == 6:
        upper = _ipv6(level, data)
    else:
        return None
    level["Protocol"] = upper.protocol
    need = PORTS_NEED.get(upper.protocol)
    if need and not upper.later and len(upper.data) >= need:
        level["srcPort"] = number(upper.data, 0, 2)
        level["dstPort"] = number(upper.data, 2, 2)
        if upper.protocol == TCP:
            level["tcpFlags"] = number(upper.data, 12, 2) & 0xFFF
            upper.tcp = TcpHeader(upper.data, upper.volume)
    return upper


def _traffic_class(level, value):
    level["dscp"], level["ecn"] = value >> 2, value & 3


def _ipv4(level, data):
    header, total = (data[0] & 15) * 4, number(data, 2, 2)
    fragment = number(data, 6, 2)
    later = fragment & 0x1FFF != 0
    _traffic_class(level, data[1])
    level["ttl"] = data[8]
    level["srcIP"], level["dstIP"] = (4, number(data, 12, 4)), (4, number(data, 16, 4))
    length = None if total < header else total - header
    end = len(data) if length is None else total
    return Upper(data[9], data[header:end], length, later or bool(fragment & 0x2000), later)


def _ipv6(level, data):
    stated = number(data, 4, 2)
    _traffic_class(level, number(data, 0, 2) >> 4 & 0xFF)
    level["ttl"] = data[7]
    level["srcIP"], level["dstIP"] = (6, number(data, 8, 16)), (6, number(data, 24, 16))
    if stated:
        data = data[:40 + stated]
    kind, at, fragment, later = data[6], 40, False, False
    for _ in range(MOST_EXTENSIONS):
        if kind not in EXTENSIONS or later or at + 8 > len(data):
            break
        this, kind = kind, data[at]
        if this == 44:
            later = number(data, at + 2, 2) >> 3 != 0
            fragment = later or bool(data[at + 3] & 1)
            at += 8
        elif this == 51:
            at += (data[at + 1] + 2) * 4
        else:
            at += (data[at + 1] + 1) * 8
    length = stated - (at - 40) if stated else None
    return Upper(kind, data[at:], length, fragment, later)


def _tunnel(upper):
    """(id, level, upper) of what `upper` carries, or None for a plain packet."""
    data = upper.data
    if upper.fragment:
        return None
    if upper.protocol == UDP and len(data) >= 16:
        port = number(data, 2, 2)
        if port == VXLAN_PORT and data[8] & 0x08:
            return _inside(number(data, 12, 3), INNER_ETHERNET, data[16:])
        if port == GENEVE_PORT and data[8] >> 6 == 0:
            skip = 16 + (data[8] & 0x3F) * 4
            return _inside(number(data, 12, 3), number(data, 10, 2), data[skip:])
    if upper.protocol == GRE and len(data) >= 4:
        return _gre(data)
    return None


def _gre(data):
    flags = number(data, 0, 2)
    checksum, routing, key, sequence = (flags & bit for bit in (0x8000, 0x4000, 0x2000, 0x1000))
    if routing or flags & 7:
        return None
    at, tunnel_id = 8 if checksum else 4, None
    if key:
        tunnel_id = number(data, at, 4) if at + 4 <= len(data) else None
        at += 4
    if sequence:
        at += 4
    return _inside(tunnel_id, number(data, 2, 2), data[at:])


def _inside(tunnel_id, kind, data):
    if kind == INNER_ETHERNET:
        if len(data) < 14:
            return None
        level, upper = _ethernet(data)
        return tunnel_id, level, upper
    if kind not in (INNER_IPV4, INNER_IPV6):
        return None
    level = {"ethType": kind}
    upper = _ip(level, kind, data)
    return (tunnel_id, level, upper) if upper else None
