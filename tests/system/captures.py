# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes the captures of the system tests."""

import random
import struct

from frames import ethernet, ipv4, tcp, udp, write_pcap  # noqa: F401 (for users of this module)


def vxlan(vni, inner, flow):
    outer = udp(40000 + flow, 4789, struct.pack("!II", 0x08000000, vni << 8) + inner)
    return ethernet(ipv4((172, 16, 0, 1), (172, 16, 0, 2), 17, outer))


def tcp_flow(rng, number, segments):
    """One direction of a connection in which some segments are sent twice."""
    source, destination = (10, 1, 0, 1 + number), (10, 2, 0, 1)
    seq = rng.getrandbits(32)
    frames = [tcp(1000 + number, 80, seq, 0, 0x02)]
    seq += 1
    for _ in range(segments):
        size = rng.choice((1, 100, 1000))
        segment = tcp(1000 + number, 80, seq, 1, 0x18, bytes(size))
        frames += [segment, segment] if rng.random() < 0.1 else [segment]
        seq += size
    return [ethernet(ipv4(source, destination, 6, segment)) for segment in frames]


def mixed(seed, rounds):
    """UDP, TCP with retransmissions, VLAN and VXLAN, interleaved but in order within a flow."""
    rng = random.Random(seed)
    flows = [tcp_flow(rng, number, rounds) for number in range(6)]
    for number in range(6):
        body = [ipv4((10, 3, 0, 1 + number), (10, 4, number, 1), 17,
                     udp(5000, 53 + number, bytes(rng.randrange(20, 900)))) for _ in range(rounds)]
        flows.append([ethernet(packet) for packet in body])
        flows.append([ethernet(packet, vlan=100 + number % 2) for packet in body])
        flows.append([vxlan(7000 + number % 3, ethernet(packet), number) for packet in body])
    frames = []
    while flows:
        flow = rng.choice(flows)
        frames.append(flow.pop(0))
        if not flow:
            flows.remove(flow)
    return frames
