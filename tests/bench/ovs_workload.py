# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The traffic and the triggers of bench-monitor, as a capture file and as an event file."""

import random
import struct

FRAME_BYTES = 60                # 64 with the check sequence
DESTINATION_MAC = bytes.fromhex("6805ca1ea5e4")
SOURCE_MAC = bytes.fromhex("6805ca2a9562")
DESTINATIONS = 65536
FIRST_DESTINATION = 0x0A000400  # 10.0.4.0
FIRST_SOURCE = 0x0A000504       # 10.0.5.4
SOURCE_PORT, DESTINATION_PORT = 58513, 2500
OPERANDS = ("packets", "volume", "is_lost")


def permutation():
    """0 ... 65535 as traffic.cc shuffles them."""
    order, state = list(range(DESTINATIONS)), 88172645463325252
    for i in range(DESTINATIONS - 1, 0, -1):
        state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= state << 17 & 0xFFFFFFFFFFFFFFFF
        j = state % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def frame(source, destination):
    head = struct.pack("!BBHHHBBHII", 0x45, 0, FRAME_BYTES - 14, 0x8D4A, 0x4000, 64, 17, 0,
                       source, destination)
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    head = head[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + head[12:]
    udp = struct.pack("!HHHH", SOURCE_PORT, DESTINATION_PORT, FRAME_BYTES - 34, 0)
    return (DESTINATION_MAC + SOURCE_MAC + b"\x08\x00" + head + udp).ljust(FRAME_BYTES, b"\0")


ORDERS = ("sequential", "random", "zipf")


def flow_numbers(flows, packets, order):
    """Of each packet: by turns, each flow as often, or flow n as often as 1 / n says."""
    if order == "sequential":
        return (packet % flows for packet in range(packets))
    weights = [1 / (flow + 1) for flow in range(flows)] if order == "zipf" else None
    return random.Random(1).choices(range(flows), weights, k=packets)


def write_capture(path, flows, packets, order="sequential"):
    """`packets` frames of `flows` flows."""
    places = permutation()
    head = struct.pack("<IIII", 0, 0, FRAME_BYTES, FRAME_BYTES)
    frames = {}
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for flow in flow_numbers(flows, packets, order):
            if flow not in frames:
                frames[flow] = head + frame(FIRST_SOURCE + flow // DESTINATIONS,
                                            FIRST_DESTINATION + places[flow % DESTINATIONS])
            out.write(frames[flow])


FIRST_ATTACKER, FIRST_VICTIM = 0x80000000, 0x78000400   # 128.0.0.0, 120.0.4.0


def write_attack(path, flows, packets, share):
    """`packets` frames, of which this share has a flow of its own each, evenly spread; the others
    are of `flows` flows by turns."""
    order = permutation()
    head = struct.pack("<IIII", 0, 0, FRAME_BYTES, FRAME_BYTES)
    known = attackers = 0
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for packet in range(packets):
            if int((packet + 1) * share) > int(packet * share):
                out.write(head + frame(FIRST_ATTACKER + attackers // DESTINATIONS,
                                       FIRST_VICTIM + attackers % DESTINATIONS))
                attackers += 1
            else:
                flow = known % flows
                out.write(head + frame(FIRST_SOURCE + flow // DESTINATIONS,
                                       FIRST_DESTINATION + order[flow % DESTINATIONS]))
                known += 1


def ipv4(number):
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def port_range(name, port, bits):
    """The first `bits` of a port."""
    low = port & (0xFFFF << (16 - bits) & 0xFFFF)
    return f"{name}={low}-{low | 0xFFFF >> bits}"


def event_lines(triggers, per_packet, patterns=32):
    """MakeEvents() of triggers.cc as text: address groups that tile the destinations, and in each
    group `per_packet` events under different masks of the ports.  None ever fires."""
    size = DESTINATIONS * per_packet // triggers
    for number in range(triggers):
        first = FIRST_DESTINATION + number // per_packet * size
        bits = 32 - number % patterns
        tests = (f"dstIP={ipv4(first)}-{ipv4(first + size - 1)}",
                 port_range("srcPort", SOURCE_PORT, min(bits, 16)),
                 port_range("dstPort", DESTINATION_PORT, max(bits - 16, 0)))
        yield f"{' and '.join(tests)}, sum({OPERANDS[number % 3]}) >= 80000000, 10ms"


def write_events(path, lines):
    with open(path, "w", encoding="ascii") as out:
        out.write("events:\n")
        for number, line in enumerate(lines):
            out.write(f'  - {{name: bench-{number}, event: "{line}"}}\n')
