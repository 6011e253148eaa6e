# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Gateways on the way of copies to an analyzer: they answer ARP and neighbour solicitations, as they
are told to, take down the copies that come, and pass on those that are for them."""

import contextlib
import dataclasses
import ipaddress
import socket
import struct
import threading

from trace_controller_cases import FIRST_PROBE_TAG, FIRST_TRACE_TAG, TEST_PORT

ARP, IPV4, IPV6, GRE, ICMPV6 = 0x0806, 0x0800, 0x86DD, 47, 58
NEIGHBOUR_SOLICITATION, NEIGHBOUR_ADVERTISEMENT = 135, 136
GRE_WITH_KEY = (0x2000, 0x6558)


def mac_bytes(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


@dataclasses.dataclass
class Copy:
    """As it left a bridge of the way."""

    wire: str
    gateway: str  # the MAC address that it was sent to
    source: str
    target: str
    dscp: int
    ttl: int
    switch: int
    tag: int
    frame: bytes  # the packet that was copied

    @property
    def rule(self):
        return (self.tag >> 12) & 0x7F

    @property
    def in_port(self):
        return self.tag & 0xFFF

    @property
    def is_test(self):
        return self.in_port == TEST_PORT


def read_copy(wire, frame):
    """None of other frames."""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == IPV4 and frame[23] == GRE:
        tos, ttl, at = frame[15], frame[22], 34
        source, target = frame[26:30], frame[30:34]
    elif kind == IPV6 and frame[20] == GRE:
        tos, ttl, at = struct.unpack("!H", frame[14:16])[0] >> 4 & 0xFF, frame[21], 54
        source, target = frame[22:38], frame[38:54]
    else:
        return None
    flags, protocol, key = struct.unpack("!HHI", frame[at:at + 8])
    tag = key & 0xFFFFF
    if (flags, protocol) != GRE_WITH_KEY or not FIRST_TRACE_TAG <= tag < FIRST_PROBE_TAG:
        return None
    ends = [str(ipaddress.ip_address(end)) for end in (source, target)]
    return Copy(wire, frame[:6].hex(":"), *ends, tos >> 2, ttl, key >> 20, tag, frame[at + 8:])


class Gateways(threading.Thread):
    """All that are behind a wire, {address: MAC address}; what they pass on goes into `onward`."""

    def __init__(self, wire, addresses, onward):
        super().__init__(daemon=True)
        self.wire, self.addresses = wire, dict(addresses)
        self.copies, self.asked = [], 0
        self.is_over = self.is_silent = False
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.socket.bind((f"{wire}p", 0))
        self.socket.settimeout(0.2)
        self.onward = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.onward.bind((onward, 0))
        self.start()

    def run(self):
        while not self.is_over:
            with contextlib.suppress(TimeoutError):
                frame, address = self.socket.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING:
                    self.take(frame)

    def take(self, frame):
        kind = struct.unpack("!H", frame[12:14])[0]
        if kind == ARP and frame[20:22] == b"\0\1":
            self.answer(str(ipaddress.ip_address(frame[38:42])), frame[22:28], frame[28:32])
        elif kind == IPV6 and frame[20] == ICMPV6 and frame[54] == NEIGHBOUR_SOLICITATION:
            self.answer(str(ipaddress.ip_address(frame[62:78])), frame[6:12], frame[22:38])
        else:
            copy = read_copy(self.wire, frame)
            if copy is None:
                return
            self.copies.append(copy)
            if copy.gateway in self.addresses.values():
                self.onward.send(frame)

    def answer(self, wanted, mac, asker):
        mine = self.addresses.get(wanted)
        if mine is None:
            return
        self.asked += 1
        if self.is_silent:
            return
        own, target = mac_bytes(mine), ipaddress.ip_address(wanted).packed
        if len(target) == 4:
            return self.send(mac, own, ARP, self.arp(2, own, target, mac, asker))
        told = struct.pack("!BBHI", NEIGHBOUR_ADVERTISEMENT, 0, 0, 0x60000000) + target + b"\2\1" + own
        pseudo = target + asker + struct.pack("!II", len(told), ICMPV6)
        told = told[:2] + struct.pack("!H", checksum(pseudo + told)) + told[4:]
        head = struct.pack("!IHBB", 6 << 28, len(told), ICMPV6, 255)
        return self.send(mac, own, IPV6, head + target + asker + told)

    def move(self, address, mac, is_announced=True):
        """A card is changed, or another router of a pair takes over."""
        self.addresses[address] = mac
        if is_announced:
            own, target = mac_bytes(mac), ipaddress.ip_address(address).packed
            everyone = b"\xff" * 6
            self.send(everyone, own, ARP, self.arp(1, own, target, everyone, target))

    @staticmethod
    def arp(operation, mac, address, to_mac, to_address):
        return (struct.pack("!HHBBH", 1, IPV4, 6, 4, operation) + mac + address + to_mac
                + to_address).ljust(46, b"\0")

    def send(self, mac, own, kind, payload):
        self.socket.send(mac + own + struct.pack("!H", kind) + payload)

    def close(self):
        self.is_over = True
        self.join()
        self.socket.close()
        self.onward.close()
