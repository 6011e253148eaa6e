# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes the captures of the system tests: Ethernet frames as bytes, and pcap files of them."""

import random
import struct

MAC = bytes.fromhex("020000000002020000000001")


def ipv4(source, destination, protocol, payload, identifier=0):
    total = 20 + len(payload)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, total, identifier & 0xFFFF, 0x4000, 64, protocol,
                       0, bytes(source), bytes(destination))
    sum16 = sum(struct.unpack("!10H", head))
    sum16 = (sum16 & 0xFFFF) + (sum16 >> 16)
    checksum = ~(sum16 + (sum16 >> 16)) & 0xFFFF
    return head[:10] + struct.pack("!H", checksum) + head[12:] + payload


def udp(source_port, destination_port, payload):
    return struct.pack("!HHHH", source_port, destination_port, 8 + len(payload), 0) + payload


def tcp(source_port, destination_port, seq, ack, flags, payload=b"", window=1000):
    return struct.pack("!HHIIBBHHH", source_port, destination_port, seq & 0xFFFFFFFF,
                       ack & 0xFFFFFFFF, 0x50, flags, window, 0, 0) + payload


def ethernet(payload, ethertype=0x0800, vlan=None):
    tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
    return MAC + tag + struct.pack("!H", ethertype) + payload


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


def write_pcap(path, frames):
    """Frames a microsecond apart, so that nothing in a replay depends on long gaps."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            frame = frame.ljust(60, b"\0")
            out.write(struct.pack("<IIII", 1700000000 + number // 1000000, number % 1000000,
                                  len(frame), len(frame)))
            out.write(frame)
