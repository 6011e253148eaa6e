# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two bridges whose trace rules send copies to an analyzer that is behind gateways: what the cases
of mirror_..._cases.py share.

    mir-in, mir-in3 -- mir-s1 (routes) -- mir-s2 -- mir-out
    tunnels of both -- mir-a or mir-b -- a gateway each -- mir-an, the analyzer

Which gateway it is, the system's routes say, as at any host; gateways answer ARP and neighbour
solicitations as they are told to, and pass on what is sent to their MAC address.
"""

import contextlib
import json
import socket
import struct
import subprocess
import threading
import time

import frames
from carrier_cases import tap
from controller_cases import Network
from gateways import IPV4, IPV6, Gateways, checksum
from slice_cases import COPY_PORT
from switch import eventually
from trace_controller_cases import TraceNetwork, started

BRIDGES = ("mir-s1", "mir-s2")
IN_PORTS = {"mir-in": 1, "mir-in3": 3}
OUT_PORT = 2
ANALYZER, ANALYZER6 = "10.30.0.9", "2001:db8:30::9"
# Of each bridge of the way: its wire, its own addresses, and gateways with their MAC addresses.
WAYS = {"mir-a": ("mir-wa", ("10.20.1.1/24", "2001:db8:1::1/64"),
                  {"10.20.1.2": "02:00:00:00:a1:02", "10.20.1.3": "02:00:00:00:a1:03",
                   "2001:db8:1::2": "02:00:00:00:a1:02"}),
        "mir-b": ("mir-wb", ("10.20.2.1/24", "2001:db8:2::1/64"),
                  {"10.20.2.2": "02:00:00:00:b1:02", "2001:db8:2::2": "02:00:00:00:b1:02"})}
BY_A, BY_A3, BY_B = (("via", "10.20.1.2", "dev", "mir-a"), ("via", "10.20.1.3", "dev", "mir-a"),
                     ("via", "10.20.2.2", "dev", "mir-b"))
HOST_ROUTE, WIDE_ROUTE = f"{ANALYZER}/32", "10.30.0.0/16"
ANALYZER_WIRE = "mir-an"
ALL_UDP = "{rules: [{name: all, filter: Protocol=UDP}]}"
# Packets that are sent and not yet forwarded: the socket of a port has room for some 250.
MOST_UNDER_WAY = 100
SOON_S = 30  # it is told within some 10 s, on a busy machine later


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def datagram(number, length=40):
    """UDP of one of seven flows, whose payload begins with the number."""
    return frames.ethernet(frames.ipv4((10, 1, 0, 1), (10, 2, 0, 1), 17, frames.udp(
        1000 + number % 7, 2000, struct.pack("!I", number) + bytes(length))))


def number_of(frame):
    return struct.unpack("!I", frame[42:46])[0]


def routed(frame):
    """As the first bridge forwards it."""
    at = 16 if frame[12:14] == b"\x81\0" else 12
    kind, head = struct.unpack("!H", frame[at:at + 2])[0], frame[at + 2:]
    if kind == IPV6:
        return frame[:at + 2] + head[:7] + bytes([head[7] - 1]) + head[8:]
    if kind != IPV4:
        return frame
    head = head[:8] + bytes([head[8] - 1]) + head[9:10] + b"\0\0" + head[12:]
    head = head[:10] + struct.pack("!H", checksum(head[:20])) + head[12:]
    return frame[:at + 2] + head


class Stream(threading.Thread):
    """Numbered datagrams at a steady rate, as far as the bridges keep up, until end()."""

    def __init__(self, links, rate):
        super().__init__(daemon=True)
        self.links, self.rate, self.count, self.is_over = links, rate, 0, False
        links.forget()
        self.start()

    def run(self):
        due, forwarded = time.monotonic(), 0
        while not self.is_over:
            if self.count - forwarded > MOST_UNDER_WAY:
                forwarded += len(self.links.forwarded())
                time.sleep(0.005)
                continue
            self.links.taps["mir-in"].send(datagram(self.count))
            self.count += 1
            due = max(due + 1 / self.rate, time.monotonic() - 0.05)
            time.sleep(max(0, due - time.monotonic()))

    def end(self):
        """{(switch, number): how often it was copied}, once no more copies come."""
        self.is_over = True
        self.join()
        self.links.quiet()
        times = {(switch, number): 0 for switch in (1, 2) for number in range(self.count)}
        for copy in self.links.copies():
            times[copy.switch, number_of(copy.frame)] += 1
        return times


class MirrorLinks:
    """What SliceNetwork asks of routers, and wires into and out of the bridges."""

    names, weights = BRIDGES, {}

    def __init__(self, switch):
        self.switch, self.ways, self.taps, self.wires, self.out = switch, {}, {}, [], None

    def open(self):
        self.add_wire(ANALYZER_WIRE)
        for name in IN_PORTS:
            self.add_wire(name)
            self.taps[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.taps[name].bind((f"{name}p", 0))
        self.add_wire("mir-out")
        self.out = tap("mir-outp")
        for bridge in BRIDGES:
            self.switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge,
                              "datapath_type=netdev", "fail-mode=secure")
        for bridge, port, number, *options in (
                *((BRIDGES[0], name, number) for name, number in IN_PORTS.items()),
                (BRIDGES[0], "mir-12", OUT_PORT, "type=patch", "options:peer=mir-21"),
                (BRIDGES[1], "mir-21", 1, "type=patch", "options:peer=mir-12"),
                (BRIDGES[1], "mir-out", OUT_PORT)):
            self.switch.vsctl("add-port", bridge, port, "--", "set", "interface", port,
                              f"ofport_request={number}", *options)
        for bridge, (wire, addresses, gateways) in WAYS.items():
            self.add_wire(wire)
            self.switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge,
                              "datapath_type=netdev", "--", "add-port", bridge, wire)
            for address in addresses:
                nodad = ("nodad",) if ":" in address else ()
                ip("addr", "add", address, "dev", bridge, *nodad)
            ip("link", "set", bridge, "up")
            self.ways[bridge] = Gateways(wire, gateways, ANALYZER_WIRE)

    def add_wire(self, name):
        ip("link", "add", name, "type", "veth", "peer", "name", f"{name}p")
        self.wires.append(name)
        for end in (name, f"{name}p"):
            subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1"], check=True)
            ip("link", "set", end, "up")

    def close(self):
        for gateways in self.ways.values():
            gateways.close()
        for one in (*self.taps.values(), *([self.out.socket] if self.out else [])):
            one.close()
        for bridge in (*BRIDGES, *WAYS):
            self.switch.vsctl("--if-exists", "del-br", bridge)
        for name in self.wires:
            subprocess.run(["ip", "link", "del", name], check=False, stderr=subprocess.DEVNULL)

    def route(self):
        for bridge, taken in ((BRIDGES[0], "dec_ttl,"), (BRIDGES[1], "")):
            for match in ("ip", "ipv6"):
                self.switch.ofctl("-O", "OpenFlow13", "add-flow", bridge,
                                  f"priority=1,{match},actions={taken}output:{OUT_PORT}")
            self.switch.ofctl("-O", "OpenFlow13", "add-flow", bridge,
                              f"priority=0,actions=output:{OUT_PORT}")

    def send(self, sent, wire="mir-in", pause=0.0):
        for number, frame in enumerate(sent):
            self.taps[wire].send(frame)
            time.sleep(pause if pause else 0.01 if number % 20 == 19 else 0)

    def forwarded(self):
        """Ours; bridges and the controller have things to say, too."""
        return [frame for frame in self.out.take() if frame[:12] == frames.MAC]

    def copies(self):
        """Of packets of ours, by whatever way."""
        return [copy for way in self.ways.values() for copy in list(way.copies)
                if not copy.is_test and copy.frame[:12] == frames.MAC]

    def forget(self):
        for way in self.ways.values():
            way.copies.clear()
        self.forwarded()

    def quiet(self):
        def is_quiet():
            before = len(self.copies())
            time.sleep(0.3)
            return len(self.copies()) == before

        eventually(is_quiet, "no more copies come")

    def pass_all(self, sent, wire="mir-in"):
        """Sends frames, all of which have to be forwarded as a router does, and gives the copies."""
        self.forget()
        self.send(sent, wire)
        out = []

        def are_forwarded():
            out.extend(self.forwarded())
            return len(out) >= len(sent)

        eventually(are_forwarded, f"{len(sent)} packets are forwarded")
        self.quiet()
        assert sorted(out) == sorted(map(routed, sent)), "each once, and nothing else"
        return self.copies()

    def check(self, gateway, count=60):
        """Each packet is copied once at each bridge, as it came there, and sent to the gateway."""
        sent = [datagram(number) for number in range(count)]
        copies = self.pass_all(sent)
        check_whole(copies, sent)
        ways = {(copy.gateway, copy.target) for copy in copies}
        assert {to for to, _ in ways} == {gateway} and {
            target for _, target in ways} <= {ANALYZER, ANALYZER6}, ways
        return copies


def check_whole(copies, sent):
    """The first bridge's have the TTL that packets came with, the second's what it is then."""
    for switch, wanted in ((1, sent), (2, list(map(routed, sent)))):
        assert sorted(copy.frame for copy in copies if copy.switch == switch) == sorted(wanted), (
            switch, len(copies), len(wanted))


class MirrorNetwork(TraceNetwork):
    """A controller of the two bridges; `target` and `options` are of their tunnels."""

    def __init__(self, switch, links, target=ANALYZER, options=()):
        super().__init__(switch, links)
        self.target, self.options, self.links = target, options, links

    def write_topology(self):
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write("switches: [" + ", ".join(f"{{name: {name}}}" for name in BRIDGES) + "]\n")

    def add_copy_port(self, name, number):
        self.switch.vsctl("add-port", name, f"gre-{name}", "--", "set", "interface", f"gre-{name}",
                          "type=gre", f"options:remote_ip=\"{self.target}\"",
                          "options:out_key=flow", f"options:in_key={number}",
                          f"ofport_request={COPY_PORT}", *self.options)

    def start_analyzer(self):
        with open(self.path("an1.yaml"), "w", encoding="utf-8") as out:
            json.dump({"capture": {"interfaces": [f"{ANALYZER_WIRE}p"]}}, out)
        super().start_analyzer(f"--config={self.path('an1.yaml')}")

    def start_controller(self, port=0):
        """Again at the ports of its first life: nobody has to be told where it is."""
        for name in ("openflow", "analyzers") if self.ports else ():
            self.more_configuration = self.more_configuration.replace(
                f"{name}:\n  listen: ['ptcp:0:", f"{name}:\n  listen: ['ptcp:{self.ports[name][0]}:")
        super().start_controller(port or self.agents_port)

    def states(self):
        """{switch: (state, why)} of the first rule."""
        shown = self.ctl("trace", "rules", "show", self.rules()[0]["name"])["switches"]
        return {one["name"]: (one["state"], one.get("why", "")) for one in shown}

    def wait_for(self, state, why="", seconds=SOON_S, at=BRIDGES):
        """Until the first rule is in the state at these; how long it took."""
        begin = time.monotonic()

        def is_so():
            states = self.states()
            return all(states[name][0] == state and why in states[name][1] for name in at)

        try:
            eventually(is_so, f"the rule is {state}", seconds, pause=0.1)
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}: {self.states()}") from wrong
        return time.monotonic() - begin

    def stays(self, state, seconds):
        """Whatever is looked at in that time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            states = self.states()
            assert {told for told, _ in states.values()} == {state}, states
            time.sleep(0.2)


class LateNetwork(MirrorNetwork):
    """To which switches, ports and the analyzer come one by one."""

    def start(self):
        self.write_topology()
        self.more_configuration = self.slice_configuration()
        Network.start(self)


@contextlib.contextmanager
def mirrors(switch, rules=ALL_UDP, kind=None, **options):
    """The network, with rules if there are some to apply; no route leads to the analyzer yet."""
    links = MirrorLinks(switch)
    with started(links, lambda: (kind or MirrorNetwork)(switch, links, **options)) as network:
        if rules:
            network.apply(rules)
        yield links, network
