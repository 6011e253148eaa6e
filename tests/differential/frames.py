# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Builds frames, layer by layer, with every length in reach of the caller's lies."""
import ipaddress
import struct

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MAC_A, MAC_B = "02:00:00:00:00:0a", "02:00:00:00:00:0b"
TYPES = {4: 0x0800, 6: 0x86DD}


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def address(text):
    return ipaddress.ip_address(text).packed


def family(text):
    return ipaddress.ip_address(text).version


def ethernet(payload, kind, src=MAC_A, dst=MAC_B, tags=()):
    """`tags` are (TPID, TCI), outermost first."""
    data = mac(dst) + mac(src)
    for tpid, tci in tags:
        data += struct.pack(">HH", tpid, tci)
    return data + struct.pack(">H", kind) + payload


def ipv4(payload, protocol, src, dst, ttl=64, tos=0, offset=0, more=False, options=b"", total=None):
    """`offset` in units of 8 bytes; `total` overrides the stated length."""
    header = 20 + len(options)
    stated = header + len(payload) if total is None else total
    return struct.pack(">BBHHHBBH", 0x40 | header // 4, tos, stated, 1, offset | (0x2000 if more else 0),
                       ttl, protocol, 0) + address(src) + address(dst) + options + payload


def ipv6(payload, protocol, src, dst, ttl=64, tos=0, extensions=(), total=None):
    """`extensions` are (number, body) with the next header left out; `total` is the payload length."""
    chain, following = b"", protocol
    for kind, body in reversed(extensions):
        chain = bytes([following]) + body + chain
        following = kind
    stated = len(chain) + len(payload) if total is None else total
    return (struct.pack(">IHBB", 6 << 28 | tos << 20, stated, following, ttl)
            + address(src) + address(dst) + chain + payload)


def hop_by_hop(units=0):
    return 0, bytes([units]) + b"\x01\x04\0\0\0\0" + b"\0" * 8 * units


def destination_options(units=0):
    return 60, hop_by_hop(units)[1]


def fragment_header(offset, more):
    return 44, struct.pack(">BHI", 0, offset << 3 | int(more), 7)


def authentication():
    return 51, bytes([4]) + b"\0" * 22


def ip(payload, protocol, src, dst, **more):
    return (ipv4 if family(src) == 4 else ipv6)(payload, protocol, src, dst, **more)


def packet(payload, protocol, src, dst, tags=(), macs=(MAC_A, MAC_B), **more):
    """An Ethernet frame around an IP packet."""
    return ethernet(ip(payload, protocol, src, dst, **more), TYPES[family(src)], macs[0], macs[1], tags)


def tcp(sport, dport, seq, ack=0, flags=ACK, window=1000, payload=0, options=b""):
    options += b"\0" * (-len(options) % 4)
    header = struct.pack(">HHIIHHHH", sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                         (5 + len(options) // 4) << 12 | flags, window, 0, 0)
    return header + options + b"d" * payload


def mss(size):
    return struct.pack(">BBH", 2, 4, size)


def window_scale(shift):
    return b"\x01" + struct.pack(">BBB", 3, 3, shift)


def udp(sport, dport, payload=b"", length=None):
    return struct.pack(">HHHH", sport, dport, 8 + len(payload) if length is None else length, 0) + payload


def sctp(sport, dport, payload=b""):
    return struct.pack(">HHII", sport, dport, 1, 0) + payload


def icmp(payload=b"", kind=8):
    return struct.pack(">BBHI", kind, 0, 0, 0) + payload


def vxlan(vni, inner, flags=0x08):
    return struct.pack(">II", flags << 24, vni << 8) + inner


def geneve(vni, inner, kind=0x6558, options=0, version=0):
    return struct.pack(">BBHI", version << 6 | options, 0, kind, vni << 8) + b"\0" * 4 * options + inner


def gre(inner, kind=0x6558, key=None, checksum=False, sequence=None, flags=0):
    flags |= (0x8000 if checksum else 0) | (0 if key is None else 0x2000) | (0 if sequence is None else 0x1000)
    data = struct.pack(">HH", flags, kind)
    if checksum:
        data += b"\0" * 4
    for word in (key, sequence):
        if word is not None:
            data += struct.pack(">I", word)
    return data + inner
