# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes a failing case small, and readable."""

MOST_TRIES = 400


def shrink(case, fails):
    """The smallest case found by leaving out events, then packets, for which fails(case) holds."""
    tries = [MOST_TRIES]

    def still(candidate):
        tries[0] -= 1
        return tries[0] >= 0 and fails(candidate)

    if case.may_lose_events:
        case = _fewer_events(case, still)
    return _fewer_packets(case, still)


def _fewer_events(case, still):
    place = 0
    while len(case.events) > 1 and place < len(case.events):
        candidate = case.copy()
        del candidate.events[place]
        if still(candidate):
            case = candidate
        else:
            place += 1
    return case


def _fewer_packets(case, still):
    for capture in range(len(case.captures)):
        size = max(len(case.captures[capture]) // 2, 1)
        while size:
            place = 0
            while place < len(case.captures[capture]):
                candidate = case.copy()
                del candidate.captures[capture][place:place + size]
                if any(candidate.captures) and still(candidate):
                    case = candidate
                else:
                    place += size
            size //= 2
    return case


def dump(trace):
    """One packet a line: its time, fields and variables as the evaluator sees them."""
    lines, first = [], trace.packets[0].time
    for place, entry in enumerate(trace.entries):
        packet = entry.packet
        lines.append("#%d t=%d (+%d ns) wire %d volume %d" %
                     (place, packet.time, packet.time - first, packet.bytes, packet.volume))
        for depth, level in enumerate(packet.levels):
            lines.append("    " + "  " * depth + " ".join("%s=%s" % (k, _show(k, v)) for k, v in level.items()))
        if packet.tunnel_ids:
            lines.append("    tunnel ids %s" % packet.tunnel_ids)
        header = packet.tcp
        if header:
            lines.append("    tcp %s seq %d ack %d window %d payload %d mss %s shift %s" % (
                "".join(name for name, on in (("S", header.syn), ("F", header.fin), ("R", header.rst),
                                              (".", header.has_ack)) if on),
                header.seq, header.ack, header.window, header.payload, header.mss, header.shift))
            lines.append("    " + " ".join("%s=%s" % each for each in entry.variables.items()))
    for sample in trace.flows.samples:
        lines.append("rtt sample at %d: %d ns, of packet #%d" % (sample.time, sample.rtt, sample.index))
    return "\n".join(lines) + "\n"


def _show(name, value):
    if name in ("srcIP", "dstIP"):
        return "%d:%x" % value
    return "%#x" % value if name in ("srcMAC", "dstMAC", "ethType", "tcpFlags") else value
