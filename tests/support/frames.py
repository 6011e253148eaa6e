# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes packets of tests as bytes, and pcap files of them."""

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


def pcap_file(frames, first=1700000000, gap=1, least=60):
    """The bytes of a capture: frames `gap` microseconds apart from second `first` on."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    for number, frame in enumerate(frames):
        frame = frame.ljust(least, b"\0")
        second, micros = divmod(number * gap, 1000000)
        parts.append(struct.pack("<IIII", first + second, micros, len(frame), len(frame)) + frame)
    return b"".join(parts)


def write_pcap(path, frames, **options):
    """As pcap_file.  A microsecond apart, so that nothing in a replay depends on long gaps."""
    with open(path, "wb") as out:
        out.write(pcap_file(frames, **options))
