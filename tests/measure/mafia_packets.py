# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packets of a measurement run: captures and meta.csv to fields by name, and records of them."""
import csv
import struct

WIDTHS = {
    "eth.dst": 48, "eth.src": 48, "eth.type": 16,
    "ipv4.tos": 8, "ipv4.len": 16, "ipv4.id": 16, "ipv4.ttl": 8, "ipv4.proto": 8, "ipv4.checksum": 16,
    "ipv4.src": 32, "ipv4.dst": 32, "tcp.src": 16, "tcp.dst": 16, "tcp.flags": 8, "udp.src": 16, "udp.dst": 16,
    "pkt.size": 32, "pkt.input_port": 16, "pkt.output_port": 16, "pkt.in_queue_length": 16, "pkt.request": 16,
    "pkt.hh_volume": 32, "switch.id": 8,
    "segway_header.msg": 8, "segway_header.ts": 8, "segway_header.time": 64,
}
READ_ONLY = ("pkt.size", "pkt.input_port", "pkt.output_port", "pkt.in_queue_length", "switch.id")
# Not in the packet's bytes: come into being where a program writes them.
MADE_BY_TAG = ("pkt.request", "pkt.hh_volume")
VLAN_TYPES = (0x8100, 0x88A8)
NANOSECONDS, MICROSECONDS = 0xA1B23C4D, 0xA1B2C3D4


class Packet:
    """What arrives: when, its fields, the payload of its TCP or UDP (or None), and its line of meta.csv."""

    def __init__(self, time, data, size, meta):
        self.time, self.meta = time, meta
        self.fields, self.payload = parse(data, size)


def read_trace(capture, meta):
    with open(meta, encoding="utf-8", newline="") as f:
        lines = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(f)]
    packets = read_capture(capture)
    if len(packets) != len(lines):
        raise ValueError("%d packets, %d lines of meta" % (len(packets), len(lines)))
    return [Packet(time, data, size, line) for (time, data, size), line in zip(packets, lines)]


def read_capture(path):
    """(time in ns, bytes, original length) of each packet of a little-endian pcap."""
    with open(path, "rb") as f:
        data = f.read()
    unit = {NANOSECONDS: 1, MICROSECONDS: 1000}[struct.unpack_from("<I", data)[0]]
    found, place = [], 24
    while place < len(data):
        seconds, fraction, stored, size = struct.unpack_from("<IIII", data, place)
        found.append((seconds * 10**9 + fraction * unit, data[place + 16:place + 16 + stored], size))
        place += 16 + stored
    return found


def parse(data, size):
    """The fields of a frame, and the payload of TCP or UDP as far as it was captured."""
    def number(place, length):
        return int.from_bytes(data[place:place + length], "big")

    fields = {"pkt.size": size}
    if len(data) < 14:
        return fields, None
    fields.update({"eth.dst": number(0, 6), "eth.src": number(6, 6)})
    start = 14
    while number(start - 2, 2) in VLAN_TYPES and start < 22:
        start += 4
        if len(data) < start:
            return fields, None
    fields["eth.type"] = number(start - 2, 2)
    if fields["eth.type"] != 0x800 or len(data) < start + 20 or data[start] >> 4 != 4:
        return fields, None
    for name, place, length in (("tos", 1, 1), ("len", 2, 2), ("id", 4, 2), ("ttl", 8, 1), ("proto", 9, 1),
                                ("checksum", 10, 2), ("src", 12, 4), ("dst", 16, 4)):
        fields["ipv4." + name] = number(start + place, length)
    words = data[start] & 15
    is_later_fragment = number(start + 6, 2) & 0x1fff != 0
    start += 4 * words
    if words < 5 or is_later_fragment:
        return fields, None
    if fields["ipv4.proto"] == 6 and len(data) >= start + 20:
        fields.update({"tcp.src": number(start, 2), "tcp.dst": number(start + 2, 2),
                       "tcp.flags": number(start + 13, 1)})
        words = data[start + 12] >> 4
        return fields, data[start + 4 * words:] if words >= 5 and len(data) >= start + 4 * words else None
    if fields["ipv4.proto"] == 17 and len(data) >= start + 8:
        fields.update({"udp.src": number(start, 2), "udp.dst": number(start + 2, 2)})
        if fields["udp.dst"] == 30000 and len(data) >= start + 18:
            fields.update({"segway_header.msg": number(start + 8, 1), "segway_header.ts": number(start + 9, 1),
                           "segway_header.time": number(start + 10, 8)})
        return fields, data[start + 8:]
    return fields, None


def record(fields):
    return ";".join("%s=%d" % (name, fields[name]) for name in sorted(fields))


def write_capture(path, packets):
    """`packets`: (time in ns, bytes, original length)."""
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", NANOSECONDS, 2, 4, 0, 0, 256, 1))
        for time, data, size in packets:
            f.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(data), size) + data)


def write_meta(path, lines):
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, ("path", "qlen1", "qlen2", "qlen3", "in_port", "is_ctrl"), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
