# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trace rules at real bridges: what trumpetctl compiles is what the switch does."""

import contextlib
import ipaddress
import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
import time

from mark_cases import frame_to, pass_all, wires
from switch import eventually

IN_PORTS, OUT_PORT, COPY_PORT = (1, 3), 2, 4
PORT_NAMES = {1: "tr-in", 2: "tr-out", 3: "tr-in3", 4: "tr-copy"}
LOCAL = "10.9.0.0/16"
TYPES = {"ip": 0x0800, "ipv6": 0x86DD, "arp": 0x0806, "pfc": 0x8808}
PROTOCOLS = {"TCP": 6, "UDP": 17, "SCTP": 132, "ICMP": 1}
FLAGS = {"fin": 1, "syn": 2, "rst": 4, "ack": 16}
ADDRESSES = {"ip": ["10.1.0.1", "10.1.0.2", "10.2.0.1", "10.9.0.1", "10.9.7.2"],
             "ipv6": ["2001:db8::1", "2001:db8:1::1"]}
PREFIXES = ["10.1.0.0/16", "10.0.0.0/8", "10.9.0.1", "2001:db8::/48", "10.1.0.0/31"]
TCP_UDP_PORTS = [22, 80, 81, 443, 4791]


def compiled(switch, rules, *options):
    """What `trumpetctl trace rules compile` says of rules, a dictionary; None: it takes too many
    matches."""
    path = f"{switch.folder}/rules.json"
    with open(path, "w", encoding="utf-8") as out:
        json.dump(rules, out)
    done = subprocess.run([f"{switch.paths['BUILD']}/utilities/trumpetctl", "trace", "rules",
                           "compile", path, "-o", "json", *options],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:
        assert "needs more than 64 OpenFlow matches" in done.stderr, done.stderr
        return None
    return json.loads(done.stdout)


def install(switch, bridge, flows, others):
    """Instead of all that is there; `others` are the flows of somebody else."""
    switch.ofctl("-O", "OpenFlow13", "del-flows", bridge)
    switch.ofctl("-O", "OpenFlow13", "del-meters", bridge)
    for meter in flows["meters"]:
        switch.ofctl("-O", "OpenFlow13", "add-meter", bridge, meter)
    path = f"{switch.folder}/flows.txt"
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(flows["flows"] + others) + "\n")
    switch.ofctl("-O", "OpenFlow13", "add-flows", bridge, path)


class RandomRules:
    """Rules and packets that often meet; `says` is a slow reading of the rules."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def test(self):
        """(text, whether a packet passes)"""
        pick = self.random.choice
        kind = pick("address port protocol flags dscp vlan type inport".split())
        if kind == "address":
            side, text = pick(("src", "dst")), pick(PREFIXES)
            block = ipaddress.ip_network(text)
            return f"{side}IP={text}", lambda p: (
                side in p and ipaddress.ip_address(p[side]) in block)
        if kind == "port":
            side, low = pick(("src", "dst")), pick(TCP_UDP_PORTS)
            high = pick([port for port in TCP_UDP_PORTS if port >= low])
            return f"{side}Port={low}-{high}", lambda p: low <= p.get(f"{side}_port", -1) <= high
        if kind == "protocol":
            name = pick(list(PROTOCOLS))
            return f"Protocol={name}", lambda p: p.get("protocol") == PROTOCOLS[name]
        if kind == "flags":
            wanted = {name: pick("+-") for name in self.random.sample(list(FLAGS), 2)}
            return ("tcpFlags=" + "".join(sign + name for name, sign in wanted.items()),
                    lambda p: "flags" in p and all(
                        bool(p["flags"] & FLAGS[name]) == (sign == "+")
                        for name, sign in wanted.items()))
        if kind == "dscp":
            low = self.random.randrange(60)
            return f"dscp={low}-{low + 3}", lambda p: low <= p.get("dscp", -1) <= low + 3
        if kind == "vlan":
            vlan = pick((5, 6))
            return f"vlan={vlan}", lambda p: p.get("vlan") == vlan
        if kind == "type":
            name = pick(list(TYPES))
            return f"ethType=0x{TYPES[name]:04x}", lambda p: p["type"] == name
        port = pick(IN_PORTS)
        return f"inPort={port}", lambda p: p["in_port"] == port

    def filter(self):
        roll = self.random.random()
        if roll < 0.1:
            return "*", lambda p: True
        (one, passes_one), (other, passes_other) = self.test(), self.test()
        if roll < 0.4:
            return one, passes_one
        if roll < 0.7:
            return f"{one} and {other}", lambda p: passes_one(p) and passes_other(p)
        return f"{one} or {other}", lambda p: passes_one(p) or passes_other(p)

    def rules(self):
        """(the set as trumpetctl takes it, [(rule, whether a packet passes)])"""
        document, readings = {"rules": []}, []
        if self.random.random() < 0.7:
            document["debug_bit"] = self.random.randrange(6)
        if self.random.random() < 0.3:
            document["switch_rate"] = 1000000
        for number in range(self.random.randrange(1, 8)):
            text, passes = self.filter()
            rule = {"name": f"r{number}", "filter": text}
            if "debug_bit" in document and self.random.random() < 0.4:
                rule["marked"] = True
            if self.random.random() < 0.4:
                rule["sample"] = self.random.choice(("1/2", "1/4"))
            if self.random.random() < 0.3:
                rule["truncate"] = 64
            if self.random.random() < 0.2:
                rule["rate"] = 1000000
            document["rules"].append(rule)
            readings.append((rule, passes))
        return document, readings

    def packet(self):
        pick = self.random.choice
        packet = {"type": pick(["ip"] * 6 + ["ipv6"] * 3 + ["arp", "pfc"]), "in_port": pick(IN_PORTS)}
        if self.random.random() < 0.2:
            packet["vlan"] = pick((5, 6))
        if packet["type"] in ADDRESSES:
            packet.update(src=pick(ADDRESSES[packet["type"]]), dst=pick(ADDRESSES[packet["type"]]),
                          protocol=pick(list(PROTOCOLS.values())), dscp=self.random.randrange(64))
            if packet["protocol"] != PROTOCOLS["ICMP"]:
                packet.update(src_port=pick(TCP_UDP_PORTS), dst_port=pick(TCP_UDP_PORTS))
            if packet["protocol"] == PROTOCOLS["TCP"]:
                packet["flags"] = self.random.randrange(32)
        return packet


def as_flow(packet):
    """A packet as ofproto/trace takes it."""
    words = [f"in_port={packet['in_port']}", f"dl_type=0x{TYPES[packet['type']]:04x}",
             "dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02"]
    names = ("nw_src", "nw_dst") if packet["type"] == "ip" else ("ipv6_src", "ipv6_dst")
    if "vlan" in packet:
        words.append(f"dl_vlan={packet['vlan']}")
    if "src" in packet:
        words += [f"{names[0]}={packet['src']}", f"{names[1]}={packet['dst']}",
                  f"nw_proto={packet['protocol']}", f"nw_tos={packet['dscp'] << 2}"]
    if "src_port" in packet:
        name = next(n.lower() for n, number in PROTOCOLS.items() if number == packet["protocol"])
        words += [f"{name}_src={packet['src_port']}", f"{name}_dst={packet['dst_port']}"]
    if "flags" in packet:
        words.append(f"tcp_flags=0x{packet['flags']:x}")
    return ",".join(words)


def wanted_rule(document, readings, packet, sample):
    """The number of the rule that copies the packet, or None."""
    for number, (rule, passes) in enumerate(readings):
        if not passes(packet):
            continue
        if rule.get("marked") and not packet.get("dscp", 0) >> document["debug_bit"] & 1:
            continue
        if "sample" in rule and ("dscp" not in packet or sample % int(rule["sample"][2:])):
            continue
        return number
    return None


def tos_after(actions, tos):
    """What actions of the datapath, which set nothing else, make of it."""
    for value, mask in re.findall(r"set\(ipv4\(tos=(\w+)/(\w+)\)\)", actions):
        tos = tos & ~int(mask, 16) | int(value, 16)
    assert actions.count("set(") == actions.count("set(ipv4(tos="), actions
    return tos


def check_trace(document, readings, packet, text, samples):
    """What the switch would do with a packet against what it should."""
    actions = re.search(r"^Datapath actions: (.*)$", text, re.M).group(1)
    final = re.search(r"^Final flow: (.*)$", text, re.M).group(1)
    register = re.search(r"reg12=(0x[0-9a-f]+)", final)
    sample = int(register.group(1), 16) & 0xFFFF if register else 0
    if "src" in packet and "multipath" in text:
        ends = frozenset(((packet["src"], packet.get("src_port")),
                          (packet["dst"], packet.get("dst_port"))))
        key = (ends, packet["protocol"])
        assert samples.setdefault(key, sample) == sample, f"another hash of {key}"
    number = wanted_rule(document, readings, packet, sample)
    # Forwarded once, and first; the debug bit is gone where the packet leaves the network.
    before, _, after = actions.partition(PORT_NAMES[OUT_PORT])
    tos = packet.get("dscp", 0) << 2
    leaves = "dst" in packet and ipaddress.ip_address(packet["dst"]) in ipaddress.ip_network(LOCAL)
    bit = 4 << document["debug_bit"] if "debug_bit" in document and leaves else 0
    forwarded = tos_after(before, tos)
    assert forwarded == tos & ~bit, (actions, forwarded)
    if number is not None:
        assert tos_after(after.partition(PORT_NAMES[COPY_PORT])[0], forwarded) == tos, actions
    assert PORT_NAMES[OUT_PORT] not in after, actions
    copies = after.count(PORT_NAMES[COPY_PORT])
    assert copies == (number is not None), (number, actions)
    if number is None:
        return
    matched = re.search(r"^\s*251\..*priority (\d+)", text, re.M)
    assert matched and 40000 - int(matched.group(1)) == 2 * number, (number, text)
    rule = readings[number][0]
    assert ("trunc(64)" in after) == ("truncate" in rule), actions
    assert after.count("meter(") == ("rate" in rule) + ("switch_rate" in document), actions


def trace_rules_do_what_a_slow_reading_of_them_says(switch):
    for number, name in PORT_NAMES.items():
        switch.vsctl("add-port", "br0", name, "--", "set", "interface", name, "type=internal",
                     f"ofport_request={number}")
    seed = int(os.environ.get("TRUMPET_SEED", "1"))
    sets = traced = copied = 0
    for round_seed in range(seed, seed + 25):
        source, samples = RandomRules(round_seed), {}
        document, readings = source.rules()
        flows = compiled(switch, document, f"--port={COPY_PORT}", f"--local={LOCAL}",
                         "--analyzers=192.0.2.9")
        if flows is None:
            continue
        sets += 1
        install(switch, "br0", flows, [f"table=0,priority=1,actions=output:{OUT_PORT}"])
        for _ in range(60):
            packet = source.packet()
            text = switch.rpc("ofproto/trace", "br0", "--names", as_flow(packet))
            try:
                check_trace(document, readings, packet, text, samples)
            except AssertionError as wrong:
                raise AssertionError(f"seed {round_seed}, {document}, {packet}: {wrong}\n"
                                     f"{text}") from wrong
            traced += 1
            copied += PORT_NAMES[COPY_PORT] in text.rsplit("Datapath actions", 1)[1]
        # Copies on their way to the analyzer, of whatever rules.
        text = switch.rpc("ofproto/trace", "br0", "--names",
                          "in_port=1,ip,nw_src=10.1.0.1,nw_dst=192.0.2.9,nw_proto=47")
        assert text.rstrip().endswith(f"Datapath actions: {PORT_NAMES[OUT_PORT]}"), text
    assert traced // 5 < copied < traced, f"{copied} of {traced} packets are copied"
    assert sets >= 15, f"only {sets} sets could be compiled"
    return f"{sets} sets, {traced} packets, {copied} of them copied"


CHAIN = ("trace-s1", "trace-s2", "trace-s3")
BASE_SET = {"base": True}
SERVER = """
import socket
listener = socket.create_server(("10.77.0.2", 8000), backlog=64)
print("ready", flush=True)
while True:
    with listener.accept()[0] as peer:
        while peer.recv(65536):
            pass
"""
CLIENT = """
import socket, sys
for size in map(int, sys.argv[1:]):
    with socket.create_connection(("10.77.0.2", 8000)) as peer:
        peer.sendall(bytes(size))
        peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b""
"""


class Chain:
    """A host, three bridges that learn addresses, a host; a device at each bridge takes copies."""

    def __init__(self, switch):
        self.switch = switch
        self.hosts = []
        self.devices = [f"trc-{name}" for name in ("h1", "h2", "c1", "c2", "c3")]
        self.taps = []

    def open(self):
        for name in self.devices:
            self.ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
            self.ip("link", "set", name, "up")
        for number, bridge in enumerate(CHAIN, 1):
            self.switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge,
                              "datapath_type=netdev", "fail-mode=secure",
                              "--", "add-port", bridge, f"trc-c{number}", "--", "set", "interface",
                              f"trc-c{number}", "ofport_request=9")
        for bridge, device in ((CHAIN[0], "trc-h1"), (CHAIN[-1], "trc-h2")):
            self.switch.vsctl("add-port", bridge, device)
        for one, other in zip(CHAIN, CHAIN[1:]):
            names = f"{one}-up", f"{other}-down"
            for bridge, name, peer in ((one, *names), (other, *reversed(names))):
                self.switch.vsctl("add-port", bridge, name, "--", "set", "interface", name,
                                  "type=patch", f"options:peer={peer}")
        for number in (1, 2):
            self.hosts.append(subprocess.Popen(["unshare", "--net", "sleep", "1000"]))
            device = f"trc-h{number}p"
            own = os.readlink("/proc/self/ns/net")
            pid = self.hosts[-1].pid
            eventually(lambda: os.readlink(f"/proc/{pid}/ns/net") != own,  # pylint: disable=W0640
                       "the host has a namespace")
            self.ip("link", "set", device, "netns", str(pid))
            for command in (f"ip addr add 10.77.0.{number}/24 dev {device}",
                            f"ip link set {device} up", "ip link set lo up",
                            f"ethtool -K {device} tx off"):
                subprocess.run(self.at(number) + command.split(), check=True, capture_output=True)
        for number in (1, 2, 3):
            self.ip("link", "set", f"trc-c{number}p", "up")
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
            tap.bind((f"trc-c{number}p", 0))
            tap.setblocking(False)
            self.taps.append(tap)

    def use_wires(self):
        """Between the bridges: where they are one datapath, all copies are made at once, the last one first."""
        for one, other in zip(CHAIN, CHAIN[1:]):
            names = f"{one}-up", f"{other}-down"
            for bridge, name in zip((one, other), names):
                self.switch.vsctl("del-port", bridge, name)
            self.ip("link", "add", names[0], "type", "veth", "peer", "name", names[1])
            self.devices.append(names[0])
            for bridge, name in zip((one, other), names):
                self.ip("link", "set", name, "up")
                self.switch.vsctl("add-port", bridge, name)

    def close(self):
        for tap in self.taps:
            tap.close()
        for host in self.hosts:
            host.kill()
            host.wait()
        for bridge in CHAIN:
            self.switch.vsctl("--if-exists", "del-br", bridge)
        for name in self.devices:
            subprocess.run(["ip", "link", "del", name], check=False, stderr=subprocess.DEVNULL)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def at(self, number):
        return ["nsenter", "-t", str(self.hosts[number - 1].pid), "-n"]

    def set_rules(self, rules):
        for number, bridge in enumerate(CHAIN, 1):
            flows = compiled(self.switch, rules, f"--number={number}", "--port=9")
            install(self.switch, bridge, flows, ["table=0,priority=0,actions=NORMAL"])

    def connect(self, sizes):
        """A connection for each size, that many bytes long."""
        server = subprocess.Popen(self.at(2) + [sys.executable, "-c", SERVER],
                                  stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout.readline() == "ready\n"
            subprocess.run(self.at(1) + [sys.executable, "-c", CLIENT, *map(str, sizes)],
                           check=True, timeout=120)
        finally:
            server.kill()
            server.communicate()

    def take_copies(self):
        """A list of frames of each bridge, once nothing comes any more."""
        copies = [[], [], []]

        def is_quiet():
            before = sum(map(len, copies))
            for frames, tap in zip(copies, self.taps):
                while True:
                    try:
                        frame, address = tap.recvfrom(65536)
                    except BlockingIOError:
                        break
                    if address[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00":
                        frames.append(frame)
            return sum(map(len, copies)) == before

        eventually(is_quiet, "no more copies come", pause=0.5)
        return copies


def segment_of(frame):
    """What tells a segment that opens or closes a connection from others: (ports, sequence number of
    the SYN or FIN, which of both).  What is sent again may have the data before the FIN with it."""
    length, = struct.unpack("!H", frame[16:18])
    sequence, = struct.unpack("!I", frame[38:42])
    data = length - 20 - 4 * (frame[46] >> 4)
    return struct.unpack("!HH", frame[34:38]), (sequence + data) % (1 << 32), frame[47] & 3


@contextlib.contextmanager
def chain(switch):
    made = Chain(switch)
    try:
        made.open()
        yield made
    finally:
        made.close()


def forty_connections_over_three_bridges_make_480_copies(switch):
    with chain(switch) as network:
        network.set_rules(BASE_SET)
        network.connect([20000] * 40)
        copies = network.take_copies()
        assert sorted(copies[0]) == sorted(copies[1]) == sorted(copies[2])
        # On a busy machine some are sent again, and copied again; what acknowledges a FIN that was sent
        # again comes to a socket that is gone, which answers with a RST.
        assert len({segment_of(frame) for frame in copies[0] if frame[47] & 3}) == 160, len(copies[0])
        network.set_rules({"rules": []})
        network.connect([20000] * 5)
        assert network.take_copies() == [[], [], []], "without rules nothing is copied"


def a_sample_has_whole_connections_at_all_hops_or_none(switch):
    with chain(switch) as network:
        network.set_rules({"rules": [{"name": "some", "filter": "Protocol=TCP", "sample": "1/4",
                                      "truncate": 64}]})
        network.connect([3000] * 80)
        copies = network.take_copies()
        assert sorted(copies[0]) == sorted(copies[1]) == sorted(copies[2])
        assert all(len(frame) <= 64 for frame in copies[0])
        connections = {}
        for ports, _, flags in {segment_of(frame) for frame in copies[0]}:
            client = next(port for port in ports if port != 8000)
            connections.setdefault(client, []).append(flags & 3)
        # Binomial of 80 and 1/4: outside of this once in 100,000 times.
        assert 5 <= len(connections) <= 38, connections
        for flags in connections.values():
            assert flags.count(2) == 2 and flags.count(1) == 2, "both directions, from begin to end"
        return f"{len(connections)} of 80 connections"


def a_budget_holds_back_copies_and_nothing_else(switch):
    with chain(switch) as network:
        network.set_rules({"rules": [{"name": "all", "filter": "Protocol=TCP", "rate": 5}],
                           "switch_rate": 1000})
        begin = time.monotonic()
        network.connect([500000] * 10)
        seconds = time.monotonic() - begin
        copies = network.take_copies()
        packets = [int(re.search(r"n_packets=(\d+)", line).group(1))
                   for line in switch.ofctl_text("dump-flows", CHAIN[1], "table=251").splitlines()
                   if "n_packets" in line]
        # A burst, and then five a second.
        for frames in copies:
            assert 5 <= len(frames) <= 5 * (seconds + 2) + 5, (len(frames), seconds)
        assert sum(packets) > 10 * len(copies[1]), (packets, len(copies[1]))
        return f"{len(copies[1])} copies of {sum(packets)} packets in {seconds:.1f} s"


def check_origin(switch, kind):
    """Copies say switch, rule and port, and the bridge that carries them copies none of them."""
    rules = {"rules": [{"name": "vlan", "filter": "vlan=7"},
                       {"name": "host-1", "filter": "dstIP=10.0.0.1", "truncate": 100}]}
    of_tunnels = {"rules": [{"name": "gre", "filter": "Protocol=47 and ethType=0x0800"}]}
    with wires(switch, kind) as wire:
        install(switch, "br0", compiled(switch, rules, "--number=321", "--port=13",
                                        f"--tunnel={kind}", "--analyzers=10.20.0.2"),
                ["table=0,priority=1,in_port=11,actions=output:12"])
        install(switch, "br-phy", compiled(switch, of_tunnels, "--port=99",
                                           "--analyzers=10.20.0.2"),
                ["table=0,priority=0,actions=NORMAL"])
        frames = [frame_to(number % 3, number, 200) for number in range(90)]
        forwarded, copies, take = pass_all(wire, frames)
        eventually(lambda: take() and len(copies) >= 30, "all copies come")
        assert sorted(forwarded) == sorted(frames), "each packet is forwarded once, unchanged"
        tag = 1 << 19 | 1 << 12 | 11  # of a trace, the second rule, the port of arrival
        assert {(number, one) for number, one, _ in copies} == {(321, tag)}, copies[0][:2]
        wanted = sorted(frame[:100] for frame in frames if frame[33] == 1)
        assert sorted(frame for _, _, frame in copies) == wanted
        switch.rpc("revalidator/wait")
        switch.rpc("revalidator/wait")
        carried = switch.ofctl_text("dump-flows", "br-phy", "table=0,ip,nw_proto=47")
        assert int(re.search(r"n_packets=(\d+)", carried).group(1)) >= 30, carried
        again = switch.ofctl_text("dump-flows", "br-phy", "table=251")
        assert "output" in again and "n_packets=0," in again, again


def copies_in_gre_say_switch_rule_and_port_and_are_not_copied(switch):
    check_origin(switch, "gre")


def copies_in_erspan_say_switch_rule_and_port_and_are_not_copied(switch):
    check_origin(switch, "erspan")


ALL = [
    copies_in_gre_say_switch_rule_and_port_and_are_not_copied,
    copies_in_erspan_say_switch_rule_and_port_and_are_not_copied,
    trace_rules_do_what_a_slow_reading_of_them_says,
    forty_connections_over_three_bridges_make_480_copies,
    a_sample_has_whole_connections_at_all_hops_or_none,
    a_budget_holds_back_copies_and_nothing_else,
]
