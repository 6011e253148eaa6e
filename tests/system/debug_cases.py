# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packets that the switches of hosts mark, as users ask for (EnableDbg and DisableDbg of Everflow)."""

import contextlib
import json
import random
import struct
import subprocess
import sys

from probe_cases import MARKED, TOS_READER, mac_of, probes_on
from switch import eventually

FLOWS, CHANGES = 100, 1000
# Datagrams of a hundred flows from the first host, with numbers.
NUMBERED_SENDER = """
import socket, struct, sys, time
sockets = []
for flow in range(100):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("10.77.0.1", 20000 + flow))
    one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28)
    sockets.append(one)
rounds, pause = int(sys.argv[1]), float(sys.argv[2])
print("ready", flush=True)
number = 0
while rounds:
    rounds -= 1
    for one in sockets:
        one.sendto(struct.pack("!I", number), ("10.77.0.2", 9000))
        number += 1
        time.sleep(pause)
"""
SOURCE_PORT, NUMBER = slice(34, 36), slice(42, 46)


def change(network, method, path, body=None):
    """Until nothing else is being changed."""
    with open(network.path("token"), encoding="ascii") as token:
        secret = token.read().strip()

    def is_done():
        status, text = network.answer(method, path, body and json.dumps(body), secret)
        assert status in (200, 201, 204) or (status == 409 and "try again" in text), text
        return status != 409

    eventually(is_done, f"{method} {path} is done")


@contextlib.contextmanager
def reader_at(links):
    reader = subprocess.Popen(links.at(2) + [sys.executable, "-c", TOS_READER],
                              stdout=subprocess.PIPE, text=True)
    try:
        assert reader.stdout.readline() == "ready\n"
        yield reader
    finally:
        reader.kill()
        reader.communicate()


def send_all(links, rounds):
    """What the receiver sees of so many datagrams of each flow: (port, TOS)."""
    with reader_at(links) as reader:
        subprocess.run(links.at(1) + [sys.executable, "-c", NUMBERED_SENDER, str(rounds), "0.002"],
                       check=True, stdout=subprocess.DEVNULL)
        return [tuple(map(int, reader.stdout.readline().split())) for _ in range(rounds * FLOWS)]


@contextlib.contextmanager
def numbered_traffic(links):
    sender = subprocess.Popen(links.at(1) + [sys.executable, "-c", NUMBERED_SENDER, "-1", "0.001"],
                              stdout=subprocess.PIPE, text=True)
    try:
        assert sender.stdout.readline() == "ready\n"
        yield
    finally:
        sender.kill()
        sender.communicate()


def numbers_of(copies):
    """Of the datagrams of NUMBERED_SENDER, by the switch that copied them."""
    numbers = {which: {struct.unpack("!I", frame[NUMBER])[0] for frame in inner
                       if frame[36:38] == b"\x23\x28"} for which, inner in copies.items()}
    assert set(numbers) == {1, 2, 3}, numbers.keys()
    return numbers


def debug_marks_packets_of_a_host_and_takes_the_mark_off(switch):
    """Hosts mark nothing: the switch that the host is attached to does."""
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        links.take_traces()
        network.ctl("debug", "enable", "slow", "--hosts=h1",
                    "--filter=Protocol=UDP and srcPort=20042", output="table")
        seen = send_all(links, rounds=5)
        copies = links.take_traces()
        assert {tos for _, tos in seen} == {0x28}, "the receiver sees what the sender meant"
        assert len({port for port, _ in seen}) == FLOWS, "and all flows"
        assert set(copies) == {1, 2, 3}, copies.keys()
        for inner in copies.values():
            assert [frame[SOURCE_PORT] for frame in inner] == [(20042).to_bytes(2, "big")] * 5, inner
        # The first bridge copies what comes from the host, the others what has the mark.
        assert {frame[15] & 0xfc for frame in copies[2] + copies[3]} == {0xa8}, copies
        # What others send is not meant, and a host that is not there cannot be.
        network.ctl("debug", "enable", "slow", "--hosts=h2", "--filter=Protocol=UDP", output="table")
        send_all(links, rounds=1)
        assert not links.take_traces(), "packets of another host"
        try:
            network.ctl("debug", "enable", "other", "--hosts=h3", output="table")
            raise AssertionError("there is no such host")
        except AssertionError as error:
            assert "no switch that copies has a host 'h3'" in str(error), error
        assert [mark["hosts"] for mark in network.ctl("debug", "list")] == [["h2"]]
        network.ctl("debug", "enable", "slow", output="table")
        send_all(links, rounds=1)
        assert {len(inner) for inner in links.take_traces().values()} == {FLOWS}, "all of them"
        network.ctl("debug", "disable", "slow", output="table")
        send_all(links, rounds=1)
        assert not links.take_traces(), "nothing marks them any more"
        return None


def packets_have_copies_at_all_hops_or_at_none_while_marks_change(switch):
    """A thousand random changes of what is marked, under traffic."""
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        network.wait_until_routes_are_known("udp", "srcIP=10.77.0.1", "dstIP=10.77.0.2",
                                            f"dstMAC={mac_of(links, 2)}", "dstPort=9000")
        links.take_traces()
        chance = random.Random(1)
        names = set()
        with numbered_traffic(links):
            for _ in range(CHANGES):
                name = chance.choice("abcd")
                if name in names and chance.random() < 0.4:
                    change(network, "DELETE", f"/v1/debug-marks/{name}")
                    names.remove(name)
                    continue
                low = 20000 + chance.randrange(FLOWS)
                change(network, "PUT", f"/v1/debug-marks/{name}", {
                    "filter": f"Protocol=UDP and srcPort={low}-{low + chance.randrange(40)}",
                    **({"hosts": ["h1"]} if chance.random() < 0.5 else {})})
                names.add(name)
        numbers = numbers_of(links.take_traces())
        assert numbers[1] == numbers[2] == numbers[3], {
            which: sorted(numbers[1] ^ found)[:9] for which, found in numbers.items()}
        sent = max(numbers[1])
        assert sent // 20 < len(numbers[1]) < sent, (len(numbers[1]), sent)
        eventually(lambda: network.metric("trumpet_trace_switches") == 3, "all are in order")
        return f"{CHANGES} changes, {len(numbers[1])} of {sent} packets"


ALL = [debug_marks_packets_of_a_host_and_takes_the_mark_off,
       packets_have_copies_at_all_hops_or_at_none_while_marks_change]
