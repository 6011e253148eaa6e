# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Capture files: reads pcap and pcapng, writes both.

A packet is (time in ns, captured bytes, length on the wire).  Frame check
sequences that the file declares are cut off on reading, from both lengths.
"""
import struct

ETHERNET = 1


class CaptureError(Exception):
    pass


def read_capture(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return list(_read_pcapng(data))
    return list(_read_pcap(data))


def merge(captures):
    """All packets in time order; ties keep the order of the captures."""
    everything = [packet for capture in captures for packet in capture]
    return sorted(everything, key=lambda packet: packet[0])


def _without_fcs(time, data, wire, fcs):
    wire = max(wire - fcs, 0)
    return time, data[:wire], wire


def _read_pcap(data):
    magics = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
    for order in "<>":
        magic = struct.unpack_from(order + "I", data, 0)[0]
        if magic in magics:
            break
    else:
        raise CaptureError("not a capture file")
    unit = magics[magic]
    link = struct.unpack_from(order + "I", data, 20)[0]
    if link & 0xFFFF != ETHERNET:
        raise CaptureError("link type %d" % (link & 0xFFFF))
    fcs = (link >> 28) * 2 if link & 0x04000000 else 0
    at = 24
    while at < len(data):
        sec, frac, cap, wire = struct.unpack_from(order + "IIII", data, at)
        at += 16
        yield _without_fcs(sec * 10**9 + frac * unit, data[at:at + cap], wire, fcs)
        at += cap


def _read_pcapng(data):
    at, order, interfaces = 0, "<", []
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, size = struct.unpack_from(order + "II", data, at)
        body = data[at + 8:at + size - 4]
        if kind == 1:
            interfaces.append(_read_interface(order, body))
        elif kind == 6:
            index, high, low, cap, wire = struct.unpack_from(order + "IIIII", body)
            per_second, offset, fcs = interfaces[index]
            ticks = high << 32 | low
            fcs = _stated_fcs(order, body[20 + (cap + 3) // 4 * 4:]) or fcs
            time = ticks * 10**9 // per_second + offset * 10**9
            yield _without_fcs(time, body[20:20 + cap], wire, fcs)
        at += size


def _stated_fcs(order, options):
    """Bytes of check sequence that epb_flags states, 0 if it does not."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        if code == 2:
            return struct.unpack_from(order + "I", options, at + 4)[0] >> 5 & 15
        at += 4 + (size + 3) // 4 * 4
    return 0


def _read_interface(order, body):
    if struct.unpack_from(order + "H", body)[0] != ETHERNET:
        raise CaptureError("not Ethernet")
    per_second, offset, fcs, at = 10**6, 0, 0, 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4:at + 4 + size]
        if code == 0:
            break
        if code == 9:
            base = 2 if value[0] & 0x80 else 10
            per_second = base ** (value[0] & 0x7F)
        elif code == 13:
            fcs = value[0] // 8 if value[0] >= 8 else value[0]  # bits, but some writers put bytes
        elif code == 14:
            offset = struct.unpack(order + "q", value)[0]
        at += 4 + (size + 3) // 4 * 4
    return per_second, offset, fcs


def write_pcap(path, packets, order="<", micro=False, fcs=0):
    magic = 0xA1B2C3D4 if micro else 0xA1B23C4D
    link = ETHERNET | (0x04000000 | (fcs // 2) << 28 if fcs else 0)
    with open(path, "wb") as f:
        f.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link))
        for time, data, wire in packets:
            data, wire = _with_fcs(data, wire, fcs)
            sec, frac = divmod(time, 10**9)
            if micro:
                frac //= 1000
            f.write(struct.pack(order + "IIII", sec, frac, len(data), wire) + data)


def write_pcapng(path, packets, order="<", micro=False, fcs=0):
    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        size = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + size + body + size

    def option(code, value):
        return struct.pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)

    with open(path, "wb") as f:
        f.write(block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)))
        options = option(9, b"\x06" if micro else b"\x09")
        if fcs:
            options += option(13, bytes([fcs * 8]))
        f.write(block(1, struct.pack(order + "HHI", ETHERNET, 0, 262144) + options + option(0, b"")))
        for time, data, wire in packets:
            data, wire = _with_fcs(data, wire, fcs)
            ticks = time // 1000 if micro else time
            f.write(block(6, struct.pack(order + "IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF,
                                         len(data), wire) + data))


def _with_fcs(data, wire, fcs):
    """A frame that was captured whole is captured with its check sequence."""
    if fcs and len(data) == wire:
        data = data + b"\xfc" * fcs
    return data, wire + fcs
