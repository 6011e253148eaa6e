# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packets that are lost among copies that are, in the network of leaves and spines."""

import json
import struct
import subprocess
import sys
import time

from clos import LEAVES, SPINES, Clos, clos_on
from clos_cases import FaultyClos, flows_of_others
from trace_number_cases import packets_of_pcapng

RULES = "{switch_rate: 1000000, rules: [{name: data, filter: 'Protocol=UDP and dstPort=9000-9015'}]}"
PACKETS, RATE = 100_000, 4000
PACKET_LOSS, COPY_LOSS = 0.001, 0.01
MOST_FALSE, MOST_MISSED = 0.001, 0.01  # of packets that arrive, and of those that are lost
# From these ports the wire to a leaf, or to a spine, loses them.  Where one copy alone is left and lost,
# nobody knows of the packet, so most are lost at leaves.
AT_LEAF, AT_SPINE = 41000, 42000
NUMBER_AT = 42
# Numbered datagrams to two leaves, some of them from the ports whose packets are lost; says which.
SENDER = f"""
import json, random, socket, struct, sys, time
packets, rate, loss = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
chance = random.Random(19)
def from_port(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("10.1.0.1", port))
    return one
usual = [from_port(20000 + number) for number in range(40)]
lossy = [from_port({AT_LEAF}), from_port({AT_SPINE})]
lost, begin = [], time.monotonic()
for number in range(packets):
    one = chance.choice(usual)
    if chance.random() < loss:
        one = lossy[len(lost) % 10 == 9]
        lost.append(number)
    to = f"10.{{chance.choice((2, 3))}}.0.{{chance.randrange(1, 9)}}", 9000 + chance.randrange(16)
    one.sendto(struct.pack("!Q", number) + bytes(52), to)
    while time.monotonic() - begin < number / rate:
        time.sleep(0.0005)
print(json.dumps(lost))
"""


class ClosThatLosesCopies(Clos):
    """On the wire by which all copies go to the analyzer."""

    copies = None

    def add_wire_of_copies(self, one, other):
        self.copies = self.emulator_of(one, other, COPY_LOSS)
        for device in (one, other):
            self.ip("link", "set", device, "up")


def told_drops(network, begun):
    """Numbers of the packets that are said to be dropped."""
    path = network.path("drops.pcapng")
    network.ctl("trace", "export", f"--from={begun}", "--verdict=dropped", "--payload", f"--write={path}",
                output="table")
    return [struct.unpack("!Q", frame[NUMBER_AT:NUMBER_AT + 8])[0]
            for _, _, frame in packets_of_pcapng(path)]


def lost_packets_are_told_from_lost_copies(switch):
    with clos_on(switch, FaultyClos, ClosThatLosesCopies) as (links, network):
        network.use(RULES)
        places = [(leaf, f"priority=65535,udp,tp_src={AT_LEAF}", "drop") for leaf in LEAVES[1:3]]
        places += [(spine, f"priority=65535,udp,tp_src={AT_SPINE}", "drop") for spine in SPINES]
        with flows_of_others(links, *places):
            begun = time.time_ns()
            lost = json.loads(subprocess.run(
                links.at(1) + [sys.executable, "-c", SENDER, str(PACKETS), str(RATE), str(PACKET_LOSS)],
                check=True, capture_output=True, text=True, timeout=120).stdout)
            sums = network.settled()
        told = told_drops(network, begun)
        copies = sums["copies"]
        parts = ("in_traces", "duplicates", "shed", "waiting", "lost")
        assert sum(copies[part] for part in parts) == copies["sent"], copies
        ways = links.copies.counts()
        assert any(way["all"]["lost"] > 0.8 * COPY_LOSS * 3 * PACKETS for way in ways.values()), ways
        assert len(lost) >= 0.7 * PACKET_LOSS * PACKETS, len(lost)
        assert len(set(told)) == len(told), "each is told once"
        false, missed = set(told) - set(lost), set(lost) - set(told)
        note = (f"{len(lost)} of {PACKETS} packets lost, {len(missed)} of them not told; {len(false)} "
                f"told that were not; {copies['lost']} of {copies['sent']} copies lost")
        assert len(false) <= MOST_FALSE * (PACKETS - len(lost)), note
        assert len(missed) <= MOST_MISSED * len(lost), note
        return note


ALL = [lost_packets_are_told_from_lost_copies]
