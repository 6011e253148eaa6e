# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What measurement programs collect leaves the switch, and is counted."""

import collections
import json
import socket
import struct
import subprocess

import captures
from mark_cases import frame_to, pass_all, wires
from switch import CommandError, eventually

SENDER = 10 << 24 | 9 << 8 | 1  # the machine sends packets of its own through the bridge's ports
PROGRAM = f"""
endpoint CARDS, FRAMES;
pkts >> match(ipv4.src == {SENDER}) >> duplicate(cards) >> duplicate(frames);
cards >> collect(CARDS);
frames >> tag(ipv4.tos, switch.id) >> tag(ipv4.id, pkt.size) >> collect(FRAMES);
"""
COUNT = 300


class Collector:
    """A UDP port of loopback, and all GRE that comes there."""

    def __init__(self):
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.gre = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_GRE)
        self.gre.bind(("127.0.0.1", 0))
        for each in (self.udp, self.gre):
            each.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
            each.setblocking(False)
        self.address = "udp:127.0.0.1:%d" % self.udp.getsockname()[1]
        self.cards, self.packets = [], []

    def take(self):
        """What has come since; true once there are `COUNT` of both."""
        for one, all_of_them in ((self.udp, self.cards), (self.gre, self.packets)):
            while True:
                try:
                    all_of_them.append(one.recv(65536))
                except BlockingIOError:
                    break
        return len(self.cards) >= COUNT and len(self.packets) >= COUNT

    def close(self):
        self.udp.close()
        self.gre.close()


def targets_of(switch):
    return {target["endpoint"]: target for target in switch.ask("program-show", "p")["targets"]}


def read_by_tshark(packets, path):
    """Of each copy: session, whether it is cut, and destination, id, tos and length of the packet."""
    captures.write_pcap(path, [captures.ethernet(packet) for packet in packets])
    fields = ["erspan.spanid", "erspan.truncated", "gre.sequence_number", "ip.dst", "ip.id",
              "ip.dsfield", "ip.len", "udp.dstport"]
    done = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=l",
                           *(word for field in fields for word in ("-e", field))],
                          check=True, capture_output=True, text=True)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


def copies_leave_as_datagrams_and_as_erspan(switch):
    collector = Collector()
    try:
        with wires(switch) as wire:
            switch.rpc("trumpet/program-add", "p", PROGRAM, "switch=5",
                       f"CARDS={collector.address}", "FRAMES=erspan:127.0.0.1")
            frames = [frame_to(n % 7, n, n % 900) for n in range(COUNT)]
            forwarded, _, _ = pass_all(wire, frames)
            assert sorted(forwarded) == sorted(frames), "each packet is forwarded once, unchanged"
            eventually(collector.take, "all copies come")
        assert len(collector.cards) == len(collector.packets) == COUNT

        def truth(frame):
            return (frame[30:34], *struct.unpack("!HH", frame[16:20]), len(frame))

        cards = [json.loads(card) for card in collector.cards]
        told = [(struct.pack("!I", card["packet"]["ipv4.dst"]), card["packet"]["ipv4.len"],
                 card["packet"]["ipv4.id"], card["packet"]["pkt.size"]) for card in cards]
        assert collections.Counter(told) == collections.Counter(truth(frame) for frame in frames)
        heads = {(card["program"], card["switch"], card["endpoint"]) for card in cards}
        assert heads == {("p", 5, "CARDS")}, heads

        read = read_by_tshark(collector.packets, f"{switch.folder}/copies.pcap")
        assert sorted(int(line[2]) for line in read) == list(range(COUNT)), "numbered from 0 on"
        assert {line[0] for line in read} == {"5"} and {int(line[5], 0) for line in read} == {5}
        told = [(socket.inet_aton(line[3]), int(line[6]), int(line[4], 0)) for line in read]
        sizes = collections.Counter((frame[30:34], struct.unpack("!H", frame[16:18])[0], len(frame))
                                    for frame in frames)
        assert collections.Counter(told) == sizes, "with what was tagged"
        assert {line[1] for line in read if int(line[4], 0) > 60} == {"1"}, "cut, and said so"
        targets = targets_of(switch)
        for name, address in (("CARDS", collector.address), ("FRAMES", "erspan:127.0.0.1")):
            assert targets[name] == {"endpoint": name, "address": address, "sent": COUNT,
                                     "over_rate": 0, "failed": 0}, targets
    finally:
        collector.close()


def copies_beyond_their_rate_are_dropped_and_counted(switch):
    collector = Collector()
    try:
        with wires(switch) as wire:
            switch.rpc("trumpet/program-add", "p", PROGRAM, "switch=5", "copy-rate=1",
                       f"CARDS={collector.address}")
            pass_all(wire, [frame_to(1, n) for n in range(COUNT)])
            eventually(lambda: switch.ask("program-show", "p")["collected"] == 2 * COUNT,
                       "all are collected")
            shown = switch.ask("program-show", "p")
            target, = shown["targets"]
            assert shown["lost"] == 0 and target["failed"] == 0, shown
            assert target["sent"] + target["over_rate"] == COUNT, shown
            assert 1 <= target["sent"] <= 60, "one a second, of a test that takes less than a minute"
            collector.take()
            assert len(collector.cards) == target["sent"]
        try:
            switch.rpc("trumpet/program-add", "q", PROGRAM, "switch=5", "CARD=udp:127.0.0.1:9")
        except CommandError as error:
            assert "the program has no endpoint 'CARD'" in str(error), error
        else:
            raise AssertionError("an endpoint that is not there has an address")
    finally:
        collector.close()


ASKED = f"""
endpoint CONTROLLER;
host = Key(ipv4.dst);
bytes = HashMap(key=host, size=4096, type=Counter(width=64));
pkts >> match(ipv4.src == {SENDER}) >> bytes.add(pkt.size);
ctrl >> match(pkt.request == 7) >> duplicate(asked);
asked >> tag(pkt.hh_volume, bytes) >> collect(CONTROLLER);
"""


def request_frame(program, **fields):
    """As lib/measure/request_frame.h says."""
    def name(text):
        return bytes([len(text)]) + text.encode()

    mac = bytes.fromhex("025452510000")
    body = b"".join(name(field.replace("_", ".")) + struct.pack("!Q", value)
                    for field, value in fields.items())
    return (mac + mac + b"\x88\xb6TRQ1" + name(program) + bytes([len(fields)]) + body).ljust(60, b"\0")


def packet_outs_ask_and_the_collector_hears(switch):
    collector = Collector()
    try:
        with wires(switch) as wire:
            switch.rpc("trumpet/program-add", "p", ASKED, f"CONTROLLER={collector.address}")
            frames = [frame_to(n % 5, n, n % 900) for n in range(COUNT)]
            forwarded, _, _ = pass_all(wire, frames)
            assert sorted(forwarded) == sorted(frames), "each packet is forwarded once, unchanged"
            truth = sum(len(frame) for frame in frames if frame[33] == 3)
            at_once = switch.ask("program-ask", "p", "bytes", "key=10.0.0.3", "request=7")["copies"]
            assert [copy["packet"]["pkt.hh_volume"] for copy in at_once] == [truth], at_once
            for host, request in ((3, 7), (3, 8), (4, 7)):
                question = request_frame("p", ipv4_dst=10 << 24 | host, pkt_request=request)
                switch.ofctl("packet-out", "br0",
                             f"in_port=controller,packet={question.hex()},actions=LOCAL")
            wire.send(question.ljust(80, b"\0"))  # from a port it is a packet like any other
            eventually(lambda: switch.ask("program-list")["requests"] == 4, "all were answered")
            eventually(lambda: collector.take() or len(collector.cards) >= 3, "answers come")
            values = [json.loads(card)["packet"]["pkt.hh_volume"] for card in collector.cards]
            other = sum(len(frame) for frame in frames if frame[33] == 4)
            assert values == [truth, truth, other], values
            eventually(lambda: question.ljust(80, b"\0") in wire.take_forwarded(),
                       "the packet from a port is forwarded")
            assert switch.ask("program-list")["requests"] == 4
    finally:
        collector.close()


ALL = [copies_leave_as_datagrams_and_as_erspan, copies_beyond_their_rate_are_dropped_and_counted,
       packet_outs_ask_and_the_collector_hears]
