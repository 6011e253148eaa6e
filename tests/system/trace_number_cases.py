# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Samples, budgets and lengths of copies in numbers, with traffic over three real bridges."""

import contextlib
import math
import re
import struct
import subprocess
import sys

from live_trace_cases import COPY_PORT, TUNNELS, live_network
from probe_cases import mac_of
from switch import at_best, eventually
from trace_cases import CHAIN, chain, compiled, install

BUDGET, FLOOD, FLOOD_S = 50, 5000, 4  # copies and packets per second
SAMPLE, CONNECTIONS, PACKETS = 16, 4096, 1_000_000
SHORTEST, LONGEST, CUT = 60, 1514, 96  # bytes of frames

# So many datagrams with the time since the first, so many per second; says how long that took.  When
# the machine has stood still, it does not make up for it by a burst.
FLOOD_SENDER = """
import socket, struct, sys, time
rate, count = int(sys.argv[1]), int(sys.argv[2])
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind(("10.77.0.1", 20000))
out.connect(("10.77.0.2", 9000))
begin = due = time.monotonic()
for number in range(count):
    out.send(struct.pack("!Id", number, time.monotonic() - begin))
    due = max(due + 1 / rate, time.monotonic() - 0.02)
    if due > time.monotonic() + 0.005:
        time.sleep(0.005)
print(time.monotonic() - begin)
"""
COUNTER = """
import select, socket, sys
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
peer.bind(("10.77.0.2", 9000))
print("ready", flush=True)
count = 0
while True:
    ready = select.select([peer, sys.stdin], [], [])[0]
    if peer in ready:
        peer.recv(100)
        count += 1
    elif sys.stdin.readline():
        print(count, flush=True)
    else:
        break
"""
# Frames of many connections, half of them IPv6, round after round; none has an IP ID.
ROUND_SENDER = """
import socket, struct, sys, time
connections = int(sys.argv[1])
ethernet = bytes.fromhex(sys.argv[2].replace(":", "")) + bytes.fromhex("020000000001")
def frame(number):
    udp = struct.pack("!HHHHI", 1024 + number, 9, 12, 0, 0)
    if number % 2:
        ip = struct.pack("!IHBB", 6 << 28, 12, 17, 64) + bytes(15) + b"\\1" + bytes(15) + b"\\2"
        return ethernet + b"\\x86\\xdd" + ip + udp
    ip = struct.pack("!BBHHHBBHII", 0x45, 0, 32, 0, 0, 64, 17, 0, 0x0a010001, 0x0a010002)
    return ethernet + b"\\x08\\x00" + ip + udp
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
    out.bind(("trc-h1p", 0))
    frames = [frame(number) for number in range(connections)]
    while True:
        for number, one in enumerate(frames):
            out.send(one)
            if number % 64 == 63:
                time.sleep(0.0004)
"""
LENGTH_SENDER = """
import socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.bind(("10.77.0.1", 20000))
out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x80)
for size in map(int, sys.stdin.read().split()):
    out.sendto(bytes(size - 42), ("10.77.0.2", 9000))
    time.sleep(0.002)
"""


@contextlib.contextmanager
def counter_at(network):
    """A function that says how many datagrams the last host has got until now."""
    counter = subprocess.Popen(network.at(2) + [sys.executable, "-c", COUNTER], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def count():
        counter.stdin.write("now\n")
        counter.stdin.flush()
        return int(counter.stdout.readline())

    try:
        assert counter.stdout.readline() == "ready\n"
        yield count
    finally:
        counter.kill()
        counter.communicate()


def looked_through(switch, bridge):
    """Packets that have met a rule."""
    for _ in range(2):
        switch.rpc("revalidator/wait")
    return sum(map(int, re.findall(r"n_packets=(\d+)",
                                   switch.ofctl_text("dump-flows", bridge, "table=251"))))


def flood(switch, network, rules):
    """(copies of each bridge, packets that came to the first bridge, seconds that it took)"""
    for number, bridge in enumerate(CHAIN, 1):
        install(switch, bridge, compiled(switch, rules, f"--number={number}", "--port=9",
                                         "--switches=3"),
                ["table=0,priority=0,actions=NORMAL"])
    switch.heed_flows()
    with counter_at(network) as count:
        took = float(subprocess.run(
            network.at(1) + [sys.executable, "-c", FLOOD_SENDER, str(FLOOD), str(FLOOD * FLOOD_S)],
            check=True, capture_output=True, text=True, timeout=60).stdout)
        copies = network.take_copies()
        came = looked_through(switch, CHAIN[0])
        eventually(lambda: count() == came, f"the host gets all {came}")
    return copies, came, took


def is_flood(told):
    """Else the machine stood still, and it was none."""
    _, came, took = told
    return came >= 0.95 * FLOOD * FLOOD_S and took <= FLOOD_S / 0.9


def a_flood_of_a_hundred_budgets_is_forwarded_whole(switch):
    """The budget is a rule's, a switch's, and each switch's share of the network's."""
    rule, noted = {"name": "all", "filter": "Protocol=UDP and dstPort=9000"}, []
    with chain(switch) as network:
        for rules in ({"rules": [dict(rule, rate=BUDGET)]}, {"rules": [rule], "switch_rate": BUDGET},
                      {"rules": [rule], "network_rate": 3 * BUDGET}):
            told = at_best(lambda: flood(switch, network, rules), is_flood)  # pylint: disable=W0640
            copies, came, took = told
            assert is_flood(told), (came, took)
            for frames in copies:
                times = [struct.unpack("!d", frame[46:54])[0] for frame in frames]
                # The first second has the burst.
                in_time = sum(time >= 1 for time in times)
                allowed = BUDGET * (took - 1)
                assert 0.8 * allowed <= in_time <= 1.05 * allowed, (rules, in_time, allowed)
                noted.append(in_time)
    return f"{noted} copies of {FLOOD * (FLOOD_S - 1)} packets each"


def connection_of(frame):
    is_ipv6 = frame[12:14] == b"\x86\xdd"
    return is_ipv6, frame[54:56] if is_ipv6 else frame[34:36]


def a_sample_of_a_million_packets_has_its_share_and_is_the_same_everywhere(switch):
    """Of IPv4 and IPv6; the switches' hash knows neither IP IDs nor what connections carry."""
    with chain(switch) as network:
        network.set_rules({"rules": [{"name": "some", "filter": "Protocol=UDP and dstPort=9",
                                      "sample": f"1/{SAMPLE}", "truncate": 64}]})
        network.connect([100])  # so that all bridges learn where the hosts are
        mac, copies = mac_of(network, 2), [[], [], []]
        sender = subprocess.Popen(network.at(1) + [sys.executable, "-c", ROUND_SENDER,
                                                   str(CONNECTIONS), mac])

        def take():
            for frames, tap in zip(copies, network.taps):
                with contextlib.suppress(BlockingIOError):
                    while True:  # until there is none
                        frame = tap.recv(128)
                        if frame[6:12] == b"\2\0\0\0\0\1":
                            frames.append(connection_of(frame))
            return all_that_came(switch) >= PACKETS

        try:
            eventually(take, "a million packets have come", seconds=120, pause=0.05)
        finally:
            sender.kill()
            sender.wait()
        before = [-1]

        def is_quiet():
            take()
            before.append(sum(map(len, copies)))
            return before[-1] == before[-2]

        eventually(is_quiet, "no more copies come", pause=0.5)
        came = all_that_came(switch)
        assert sorted(copies[0]) == sorted(copies[1]) == sorted(copies[2]), list(map(len, copies))
        told = []
        for is_ipv6 in (False, True):
            count = len({port for family, port in copies[0] if family == is_ipv6})
            all_, share = CONNECTIONS / 2, 1 / SAMPLE
            off = abs(count - all_ * share) / math.sqrt(all_ * share * (1 - share))
            assert off <= 3, f"{count} of {all_:.0f} connections, {off:.1f} sigma"
            told.append(count)
        return f"{told} of {CONNECTIONS // 2} connections each, {len(copies[0])} of {came} packets"


def all_that_came(switch):
    """Packets at the first bridge that a sampled rule may want, as far as they are counted."""
    text = switch.ofctl_text("dump-flows", CHAIN[0], "table=0")
    return sum(int(re.search(r"n_packets=(\d+)", line).group(1)) for line in text.splitlines()
               if "multipath" in line)


def packets_of_pcapng(path):
    """(bytes that are there, bytes that there were, those that are there) of each packet."""
    with open(path, "rb") as capture:
        data = capture.read()
    found, at = [], 0
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured, length = struct.unpack_from("<II", data, at + 20)
            found.append((captured, length, data[at + 28:at + 28 + captured]))
        at += size
    return found


def truncated_copies_say_how_long_packets_were(switch):
    """Of each length that a frame has; headers are all there, as the trace of each tells."""
    lengths = list(range(SHORTEST, LONGEST + 1, 13)) + [CUT - 1, CUT, CUT + 1, LONGEST]
    with live_network(switch) as network:
        network.kill_analyzer()
        network.start_analyzer(debug_dscp=32)
        rules = {"rules": [{"name": "all", "filter": "Protocol=UDP", "truncate": CUT}]}
        for number, (bridge, (kind, _)) in enumerate(zip(CHAIN, TUNNELS), 1):
            install(switch, bridge, compiled(switch, rules, f"--number={number}",
                                             f"--port={COPY_PORT}", f"--tunnel={kind}",
                                             "--analyzers=10.20.0.2"),
                    ["table=0,priority=0,actions=NORMAL"])
        subprocess.run(network.at(1) + [sys.executable, "-c", LENGTH_SENDER], check=True, text=True,
                       input=" ".join(map(str, lengths)))
        found = eventually(lambda: len(told := network.stored("mark=debug")) == len(lengths) and told,
                           "each packet has a trace")
        assert sorted(trace["bytes"] for trace in found) == sorted(lengths), found[:2]
        for trace in found:
            assert trace["packet"] == {"src": "10.77.0.1", "dst": "10.77.0.2", "protocol": 17,
                                       "src_port": 20000, "dst_port": 9000}, trace
            # No hop is taken from their TTL, and the last bridge copies first.
            assert sorted(hop["switch"] for hop in trace["path"]) == sorted(CHAIN), trace
        capture = network.path("packets.pcapng")
        subprocess.run([f"{switch.paths['BUILD']}/controller/daemon/trumpet-analyzer", "query",
                        f"--store={network.path('traces')}", f"--pcapng={capture}", "--limit=1000",
                        "--from=1"], check=True, capture_output=True)
        packets = [sizes for *sizes, _ in packets_of_pcapng(capture)]
        assert sorted(packets) == sorted([min(size, CUT), size] for size in lengths), packets[:5]
        return f"{len(lengths)} lengths"


ALL = [
    a_flood_of_a_hundred_budgets_is_forwarded_whole,
    a_sample_of_a_million_packets_has_its_share_and_is_the_same_everywhere,
    truncated_copies_say_how_long_packets_were,
]
