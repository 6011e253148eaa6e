# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packets that are lost among copies that are, in the network of leaves and spines."""

import json
import re
import struct
import subprocess
import sys
import time

from clos import LEAVES, SPINES, Clos, ClosNetwork, clos_on
from clos_cases import FaultyClos, flows_of_others
from switch import at_best
from trace_number_cases import packets_of_pcapng

RULES = "{switch_rate: 1000000, rules: [{name: data, filter: 'Protocol=UDP and dstPort=9000-9015'}]}"
PACKETS, RATE = 100_000, 4000
PACKET_LOSS, COPY_LOSS = 0.001, 0.01
LEAST_ENTERED = 0.999  # of packets that are sent
MOST_FALSE, MOST_MISSED = 0.001, 0.01  # of packets that arrive, and of those that are lost
# From these ports the wire to a leaf, or to a spine, loses them.  Where one copy alone is left and lost,
# nobody knows of the packet, so most are lost at leaves.
AT_LEAF, AT_SPINE = 41000, 42000
NUMBER_AT = 42
# Numbered datagrams to two leaves, some of them from the ports whose packets are lost; says which.  When
# the machine has stood still, it does not make up for it by a burst, for which ports have no room.
SENDER = f"""
import json, random, socket, struct, sys, time
packets, rate, loss, first = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
chance = random.Random(19 + first)
def from_port(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("10.1.0.1", port))
    return one
usual = [from_port(20000 + number) for number in range(40)]
lossy = [from_port({AT_LEAF}), from_port({AT_SPINE})]
lost, due = [], time.monotonic()
for number in range(packets):
    one = chance.choice(usual)
    if chance.random() < loss:
        one = lossy[len(lost) % 10 == 9]
        lost.append(first + number)
    to = f"10.{{chance.choice((2, 3))}}.0.{{chance.randrange(1, 9)}}", 9000 + chance.randrange(16)
    one.sendto(struct.pack("!Q", first + number) + bytes(52), to)
    due = max(due + 1 / rate, time.monotonic() - 0.02)
    while time.monotonic() < due:
        time.sleep(0.0005)
print(json.dumps(lost))
"""


# Bursts, and pauses between them in which counters are brought up to date.
BURSTS, BURST, BURST_LOSS, PAUSE_S = 12, 2000, 0.01, 2.5
MOST_MISSED_WITHOUT_NUMBERS = 0.05


class UnnumberedClos(FaultyClos):
    """Its copies have no numbers: the controller asks its switches how many there were."""

    def add_copy_port(self, name, number):
        return super(ClosNetwork, self).add_copy_port(name, number)

    @staticmethod
    def tunnel_of(_name):
        return "gre"


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


def places_that_lose():
    places = [(leaf, f"priority=65535,udp,tp_src={AT_LEAF}", "drop") for leaf in LEAVES[1:3]]
    return places + [(spine, f"priority=65535,udp,tp_src={AT_SPINE}", "drop") for spine in SPINES]


def send(links, packets, loss, first=0):
    """Numbers of those that are lost."""
    words = [SENDER, str(packets), str(RATE), str(loss), str(first)]
    return json.loads(subprocess.run(links.at(1) + [sys.executable, "-c", *words], check=True,
                                     capture_output=True, text=True, timeout=120).stdout)


def entered(switch):
    """Packets that the first leaf has sent on to the spines."""
    for _ in range(2):  # the first may have begun to count before
        switch.rpc("revalidator/wait")
    text = switch.ofctl_text("-O", "OpenFlow15", "dump-flows", LEAVES[0])
    return sum(map(int, re.findall(r"n_packets=(\d+).*group:1", text)))


def sent_whole(links, network, packets, send_all):
    """(when it began, what `send_all` says, the sums, how many came to the first switch); sent again
    where many have been lost before it, of which nobody knows."""
    def attempt():
        before, begun = entered(links.switch), time.time_ns()
        lost = send_all()
        sums = network.settled()
        return begun, lost, sums, entered(links.switch) - before

    told = at_best(attempt, lambda answer: answer[-1] >= LEAST_ENTERED * packets)
    assert told[-1] <= packets, f"{told[-1]} of {packets} packets are counted"
    return told


def lost_packets_are_told_from_lost_copies(switch):
    with clos_on(switch, FaultyClos, ClosThatLosesCopies) as (links, network):
        network.use(RULES)
        with flows_of_others(links, *places_that_lose()):
            begun, lost, sums, came = sent_whole(links, network, PACKETS,
                                                 lambda: send(links, PACKETS, PACKET_LOSS))
        told = told_drops(network, begun)
        copies = sums["copies"]
        parts = ("in_traces", "duplicates", "shed", "waiting", "lost")
        assert sum(copies[part] for part in parts) == copies["sent"], copies
        ways = links.copies.counts()
        assert any(way["all"]["lost"] > 0.8 * COPY_LOSS * 3 * PACKETS for way in ways.values()), ways
        assert len(lost) >= 0.7 * PACKET_LOSS * PACKETS, len(lost)
        assert len(set(told)) == len(told), "each is told once"
        false, missed = set(told) - set(lost), set(lost) - set(told)
        note = (f"{len(lost)} of {PACKETS} packets lost, {len(missed)} of them not told; {len(false)} told that "
                f"were not; {copies['lost']} of {copies['sent']} copies lost; {PACKETS - came} packets have "
                "not come to the first switch")
        assert len(false) <= MOST_FALSE * (PACKETS - len(lost)), note
        assert len(missed) <= MOST_MISSED * len(lost), note
        return note


def send_bursts(links):
    lost = []
    for burst in range(BURSTS):
        time.sleep(PAUSE_S)
        lost += send(links, BURST, BURST_LOSS, burst * BURST)
    return lost


def lost_in_bursts(switch, clos):
    """(lost packets, those that are said to be, copies that are known to be lost, and that were)."""
    with clos_on(switch, UnnumberedClos, clos) as (links, network):
        network.use(RULES)
        with flows_of_others(links, *places_that_lose()):
            begun, lost, sums, _ = sent_whole(links, network, BURSTS * BURST,
                                              lambda: send_bursts(links))
        told = told_drops(network, begun)
        assert len(set(told)) == len(told), "each is told once"
        assert all("lost" not in one for one in sums["switches"]), sums["switches"]
        copies_lost = sum(one["lost_at_least"] for one in sums["switches"])
        ways = links.copies.counts().values() if clos is ClosThatLosesCopies else []
        return set(lost), set(told), copies_lost, max((way["all"]["lost"] for way in ways), default=0)


def lost_copies_without_numbers_are_counted(switch):
    """Where none is lost nearly all lost packets are told, and where some are no others."""
    notes = []
    for clos in (Clos, ClosThatLosesCopies):
        lost, told, counted, copies_lost = lost_in_bursts(switch, clos)
        false, missed = told - lost, lost - told
        notes.append(f"{len(lost)} of {BURSTS * BURST} packets lost, {len(missed)} of them not told, {len(false)} "
                     f"told that were not; of {copies_lost} lost copies {counted} are known")
        assert len(lost) >= 0.7 * BURST_LOSS * BURSTS * BURST, notes
        assert len(false) <= MOST_FALSE * (BURSTS * BURST - len(lost)), notes
        if clos is Clos:
            assert counted == 0 and len(missed) <= MOST_MISSED_WITHOUT_NUMBERS * len(lost), notes
        else:
            assert 0.5 * copies_lost <= counted <= copies_lost, notes
    return "; ".join(notes)


ALL = [lost_packets_are_told_from_lost_copies, lost_copies_without_numbers_are_counted]
