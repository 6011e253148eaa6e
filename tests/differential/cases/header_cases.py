# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is read from headers: fields, levels, bytes and volume."""
import frames as f

from .golden import A, B, MS, US, at, datagram, flow, golden, report

V6A, V6B = "2001:db8::1", "2001:db8::2"
OUTER_A, OUTER_B = "172.16.0.1", "172.16.0.2"
UDP_FLOW = flow(A, 1000, B, 2000, "UDP")


def _outer(upper, protocol=17, **more):
    return f.packet(upper, protocol, OUTER_A, OUTER_B, **more)


# 14 + 20 + 8 + 3 = 45 B, padded to 60; on the wire 60.
golden(
    "Padding counts as bytes, not as volume",
    [at(0, datagram(3) + b"\0" * 15)],
    ["*, sum(bytes) > 0, none, 10ms", "*, sum(volume) > 0, none, 10ms"],
    [report(0, 10, 60, 0, event="e1"), report(0, 10, 3, 0, event="e2")])

golden(
    "A packet cut by the snap length has the lengths of the wire",
    [at(0, datagram(1000)[:42], 1042)],
    ["*, sum(bytes) > 0, none, 10ms", "*, sum(volume) > 0, none, 10ms"],
    [report(0, 10, 1042, 0, event="e1"), report(0, 10, 1000, 0, event="e2")])

# 4 bytes of MSS option: data offset 24.
golden(
    "The volume of TCP leaves out its options, also where they were not captured",
    [at(0, f.packet(f.tcp(1, 2, 0, payload=50, options=f.mss(1460)), 6, A, B)),
     at(10 * MS, f.packet(f.tcp(1, 2, 50, payload=50, options=f.mss(1460)), 6, A, B)[:14 + 20 + 13], 108),
     # The offset is not there either: 20 bytes are assumed, 74 - 20.
     at(20 * MS, f.packet(f.tcp(1, 2, 50, payload=50, options=f.mss(1460)), 6, A, B)[:14 + 20 + 12], 108)],
    "*, sum(volume) > 0, none, 10ms",
    [report(0, 10, 50, 0), report(10, 20, 50, 0), report(20, 30, 54, 0)])

# The offset says 2 words; 5 is the least there is: 30 - 20.
SHORT_OFFSET = bytearray(f.packet(f.tcp(1, 2, 0, payload=10), 6, A, B))
SHORT_OFFSET[14 + 20 + 12] = 0x20
golden(
    "A TCP data offset below 20 bytes counts as 20",
    [at(0, bytes(SHORT_OFFSET))], "*, sum(volume) > 0, none, 10ms", [report(0, 10, 10, 0)])

# First fragment: 8 + 24 B, volume 24.  Later one: 16 B whatever the protocol, ports are absent.
golden(
    "A later fragment has its whole payload as volume and no ports",
    [at(0, f.packet(f.udp(1000, 2000, b"u" * 24), 17, A, B, more=True)),
     at(1 * MS, f.packet(b"u" * 16, 17, A, B, offset=4))],
    ["*, sum(volume) > 0, 5-tuple, 10ms", "srcPort=*, sum(packets) > 0, none, 10ms",
     "not srcPort=1000, sum(volume) > 0, none, 10ms"],
    [report(0, 10, 16, 0, flow(A, 0, B, 0, "UDP"), event="e1"), report(0, 10, 24, 0, UDP_FLOW, event="e1"),
     report(0, 10, 1, 0, event="e2"), report(0, 10, 16, 0, event="e3")])

golden(
    "A stated length of zero means no volume, but headers are read",
    [at(0, f.packet(f.udp(1000, 2000, b"u" * 24), 17, A, B, total=0))],
    ["*, sum(volume) >= 0, 5-tuple, 10ms"],
    [report(0, 10, 0, 0, UDP_FLOW, event="e1")])

golden(
    "A header beyond the stated length of IP is padding",
    [at(0, f.packet(f.udp(1000, 2000, b"u" * 24), 17, A, B, total=24))],
    "*, sum(packets) > 0, 5-tuple, 10ms",
    [report(0, 10, 1, 0, flow(A, 0, B, 0, "UDP"))])

golden(
    "The ports of a header that is cut short are absent",
    [at(0, f.packet(f.tcp(1000, 80, 1, payload=9), 6, A, B)[:14 + 20 + 19], 63)],
    ["srcPort=*, sum(packets) > 0, none, 10ms", "*, sum(packets) > 0, 5-tuple, 10ms"],
    [report(0, 10, 1, 0, flow(A, 0, B, 0), event="e2")])

golden(
    "vlan is the outermost VID, ethType comes after the tags, a priority tag is VLAN 0",
    [at(0, datagram(tags=((0x88A8, 20), (0x8100, 10)))), at(1 * MS, datagram(tags=((0x8100, 0xE000),))),
     at(2 * MS, datagram())],
    ["*, sum(packets) > 0, (vlan, ethType), 10ms", "not vlan=0-4095, sum(packets) > 0, none, 10ms"],
    [report(0, 10, 1, 0, {"vlan": 0, "ethType": "0x0800"}, event="e1"),
     report(0, 10, 1, 0, {"vlan": 20, "ethType": "0x0800"}, event="e1"),
     report(0, 10, 1, 0, event="e2")])

golden(
    "ARP has no IP addresses and no volume",
    [at(0, f.ethernet(b"\0\1\x08\0\6\4\0\1" + b"\1" * 20, 0x0806))],
    ["not srcIP=*, sum(volume) = 0 and sum(bytes) = 42, srcMAC, 10ms"],
    [report(0, 10, 1, 1, {"srcMAC": "02:00:00:00:00:0a"}, event="e1")])

# 16 B of hop-by-hop and 8 B of fragment header leave 8 + 5 B of UDP.
golden(
    "IPv6 extension headers are no volume; the hop limit is the ttl",
    [at(0, f.packet(f.udp(7, 8, b"u" * 5), 17, V6A, V6B, ttl=9,
                    extensions=[f.hop_by_hop(1), f.fragment_header(0, True)])),
     at(10 * MS, f.packet(b"u" * 5, 17, V6A, V6B, extensions=[f.fragment_header(3, False), f.hop_by_hop()]))],
    ["*, sum(volume) > 0, 5-tuple, 10ms", "*, max(ttl) = 9, dstIP/64, 10ms"],
    # A later fragment ends the walk: 8 B of options header are payload.
    [report(0, 10, 5, 0, flow(V6A, 7, V6B, 8, "UDP"), event="e1"),
     report(0, 10, 9, 9, {"dstIP": "2001:db8::/64"}, event="e2"),
     report(10, 20, 13, 0, {"srcIP": V6A, "dstIP": V6B, "srcPort": 0, "dstPort": 0, "Protocol": 0}, event="e1")])

# bytes: 14 + 20 + 8 + 8 + (14 + 20 + 8 + 5) = 97; volume is the inner one, 5.
INNER = datagram(5)
golden(
    "Fields and volume are the innermost, bytes the outermost",
    [at(0, _outer(f.udp(9, 4789, f.vxlan(77, INNER)))), at(1 * MS, INNER)],
    ["*, sum(bytes) > 0, 5-tuple, 10ms", "*, sum(volume) > 0, none, 10ms",
     "*, sum(packets) > 0, (tunnelId, inner.srcIP, outer.srcIP), 10ms", "*, sum(packets) > 0, outer.dstIP, 10ms",
     "inner.srcPort=*, sum(packets) > 0, none, 10ms",
     "outer.tunnelId=77 or dstPort=4789, sum(packets) > 0, none, 10ms"],
    # 97 + 47
    [report(0, 10, 144, 0, UDP_FLOW, event="e1"), report(0, 10, 10, 0, event="e2"),
     report(0, 10, 1, 0, {"tunnelId": 77, "inner.srcIP": A, "outer.srcIP": OUTER_A}, event="e3"),
     report(0, 10, 1, 0, {"outer.dstIP": B}, event="e4"),
     report(0, 10, 1, 0, {"outer.dstIP": OUTER_B}, event="e4"),
     report(0, 10, 1, 0, event="e5"), report(0, 10, 1, 0, event="e6")])

golden(
    "IP in GRE has no MAC; its ethType is the GRE protocol; without a key there is no tunnelId",
    [at(0, _outer(f.gre(INNER[14:], 0x0800), 47)), at(1 * MS, _outer(f.gre(INNER[14:], 0x0800, key=5), 47))],
    ["srcMAC=*, sum(packets) > 0, none, 10ms", "not tunnelId=*, sum(packets) > 0, (ethType, outer.srcMAC), 10ms",
     "*, sum(packets) > 0, tunnelId, 10ms"],
    [report(0, 10, 1, 0, {"ethType": "0x0800", "outer.srcMAC": "02:00:00:00:00:0a"}, event="e2"),
     report(0, 10, 1, 0, {"tunnelId": 5}, event="e3")])

golden(
    "There is no fallback to outer fields",
    [at(0, _outer(f.udp(9, 4789, f.vxlan(1, f.ethernet(b"\0" * 28, 0x0806)))))],
    ["srcIP=*, sum(packets) > 0, none, 10ms", "outer.srcIP=*, sum(volume) = 0, ethType, 10ms"],
    [report(0, 10, 0, 0, {"ethType": "0x0806"}, event="e2")])

golden(
    "What cannot be a tunnel is a plain packet",
    [at(0, _outer(f.udp(9, 4789, f.vxlan(1, INNER, flags=0)))),
     at(1 * MS, _outer(f.udp(9, 4789, f.vxlan(1, INNER[:13])))),
     at(2 * MS, _outer(f.udp(9, 6081, f.geneve(1, INNER, version=1)))),
     at(3 * MS, _outer(f.gre(INNER, flags=1), 47)), at(4 * MS, _outer(f.gre(INNER, flags=0x4000), 47)),
     at(5 * MS, _outer(f.gre(INNER, kind=0x88BE), 47)),
     at(6 * MS, _outer(f.gre(b"\x35" + INNER[15:], kind=0x0800), 47)),
     at(7 * MS, _outer(f.udp(9, 4789, f.vxlan(1, INNER)), more=True))],
    ["inner.ethType=*, sum(packets) > 0, none, 10ms", "*, sum(packets) > 0, dstIP, 10ms"],
    [report(0, 10, 8, 0, {"dstIP": OUTER_B}, event="e2")])

golden(
    "Bytes behind the outer IP packet are not in the tunnel",
    # Outer IP says 20 + 8 + 8 + 13: one byte short of an Ethernet header.
    [at(0, _outer(f.udp(9, 4789, f.vxlan(1, INNER)), total=49))],
    "tunnelId=*, sum(packets) > 0, none, 10ms",
    [])

golden(
    "A frame of less than 14 captured bytes has no fields but is a packet",
    [at(0, INNER[:13], 47)],
    ["ethType=*, sum(packets) > 0, none, 10ms", "*, sum(bytes) > 0, none, 10ms",
     "*, sum(volume) > 0, ethType, 10ms"],
    [report(0, 10, 47, 0, event="e2")])

golden(
    "Every packet of a flow is judged by its own changing fields",
    [at(0, datagram(ttl=64)), at(1 * MS, datagram(ttl=63)), at(2 * MS, datagram(ttl=64, tos=0x28 | 3))],
    ["ttl=64, sum(packets) > 0, 5-tuple, 10ms", "ecn=3 or dscp=10, sum(ecn) > 0, none, 10ms"],
    [report(0, 10, 2, 0, UDP_FLOW, event="e1"), report(0, 10, 1, 0, event="e2")])

# SYN|ACK = 18.
golden(
    "tcpFlags compares all of the flags, or the ones named",
    [at(i * US, f.packet(f.tcp(1, 2, 0, flags=flags), 6, A, B)) for i, flags in enumerate((2, 18, 16, 0x112))],
    ["tcpFlags=18, sum(packets) > 0, none, 10ms", "tcpFlags=+syn-ack, sum(packets) > 0, none, 10ms",
     "tcpFlags=+syn+ack, sum(packets) > 0, none, 10ms"],
    [report(0, 10, 1, 0, event="e1"), report(0, 10, 1, 0, event="e2"), report(0, 10, 2, 0, event="e3")])

golden(
    "An address matches by its own family; sets hold ranges and prefixes",
    [at(0, datagram()), at(1 * MS, f.packet(f.udp(1, 2), 17, V6A, V6B)), at(2 * MS, datagram(dst="10.0.9.9"))],
    ["dstIP=0.0.0.0/0, sum(packets) > 0, none, 10ms",
     "dstIP={10.0.9.0-10.0.9.200,2001:db8::/32}, sum(packets) > 0, none, 10ms",
     "port:2000, sum(packets) > 0, none, 10ms", "srcIP=* and not dstPort={2,2000}, sum(packets) > 0, none, 10ms"],
    [report(0, 10, 2, 0, event="e1"), report(0, 10, 2, 0, event="e2"), report(0, 10, 2, 0, event="e3")])

golden(
    "No packet of a capture has an inPort",
    [at(0, datagram())],
    ["inPort=*, sum(packets) > 0, none, 10ms", "not inPort=1, sum(packets) > 0, none, 10ms"],
    [report(0, 10, 1, 0, event="e2")])
