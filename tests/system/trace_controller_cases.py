# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trace rules that a controller installs at real bridges, with an analyzer that takes the copies."""

import contextlib
import socket
import struct

import routers as router_network
from slice_cases import COPY_PORT, SliceNetwork, flows_that_copy
from switch import eventually
from trace_cases import CHAIN, Chain

GRE_WITH_KEY = b"\x20\x00\x65\x58"
FIRST_TRACE_TAG, FIRST_PROBE_TAG = 0x80000, 0xffff8  # bridges flood into tunnels, too
TEST_PORT = 0xffd  # of copies of test packets
SYN_FIN_RST, SYN_FIN = 7, 3
TCP = 6


class CopyChain(Chain):
    """Its bridges have tunnels to an analyzer, too; what SliceNetwork asks of routers."""

    names, weights = CHAIN, {}

    def __init__(self, switch):
        super().__init__(switch)
        self.tap = None

    def open(self):
        super().open()
        device = router_network.COLLECTOR_DEVICE
        self.devices.append("col-sw")
        self.ip("link", "add", "col-sw", "type", "veth", "peer", "name", device)
        for name in ("col-sw", device):
            self.ip("link", "set", name, "up")
        self.switch.vsctl("add-br", "phy", "--", "set", "bridge", "phy", "datapath_type=netdev",
                          "--", "add-port", "phy", "col-sw")
        router_network.Routers.reach_collector(self)
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.tap.bind((device, 0x0800))
        self.tap.setblocking(False)
        self.taps.append(self.tap)

    def close(self):
        super().close()
        self.switch.vsctl("--if-exists", "del-br", "phy")

    def route(self):
        for bridge in CHAIN:
            self.switch.ofctl("-O", "OpenFlow13", "add-flow", bridge, "priority=0,actions=NORMAL")

    def take_traces(self):
        """{switch's number: copied frames}, once no more come; test packets do not count."""
        found = {}

        def is_quiet():
            before = sum(map(len, found.values()))
            with contextlib.suppress(BlockingIOError):
                while True:  # until there is none
                    frame = self.tap.recv(65536)
                    if frame[23] != 47 or frame[34:38] != GRE_WITH_KEY:
                        continue
                    key, inner = struct.unpack("!I", frame[38:42])[0], frame[42:]
                    is_of_trace = FIRST_TRACE_TAG <= key & 0xfffff < FIRST_PROBE_TAG
                    if is_of_trace and key & 0xfff != TEST_PORT:
                        found.setdefault(key >> 20, []).append(inner)
            return sum(map(len, found.values())) == before

        eventually(is_quiet, "no more copies come", pause=0.5)
        return found


class WiredChain(CopyChain):
    """Each bridge sees a packet by itself, at its own time."""

    def open(self):
        super().open()
        self.use_wires()


class TraceNetwork(SliceNetwork):
    """A controller of the three bridges."""

    def write_topology(self):
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write("switches: [" + ", ".join(f"{{name: {name}}}" for name in CHAIN) + "]\n")

    def apply(self, text):
        with open(self.path("rules.yaml"), "w", encoding="utf-8") as out:
            out.write(text)

        def applied():
            """Switches that have just come are asked first what they have."""
            try:
                return self.ctl("trace", "rules", "apply", self.path("rules.yaml"))
            except AssertionError as error:
                if "is getting its rules; try again" in str(error):
                    return None
                raise

        return eventually(applied, "the controller knows what its switches have")

    def rules(self):
        return self.ctl("trace", "rules", "list")["rules"]

    def are_active(self):
        return {rule["state"] for rule in self.rules()} == {"active"}


@contextlib.contextmanager
def started(links, make_network):
    """The network on its links, both gone in the end; its log is told if something is wrong."""
    network = None
    try:
        links.open()
        network = make_network()
        network.start()
        yield network
    except BaseException:
        if network:
            network.print_log()
        raise
    finally:
        if network:
            network.close()
        links.close()


@contextlib.contextmanager
def traces_on(switch, kind=TraceNetwork, chain=CopyChain):
    links = chain(switch)
    with started(links, lambda: kind(switch, links)) as network:
        yield links, network


def flows_of(switch):
    return [sorted(line for line in switch.ofctl_text(
        "-O", "OpenFlow14", "--no-stats", "dump-flows", bridge).splitlines() if "table=251" in line)
        for bridge in CHAIN]


def trace_rules_of_the_controller_copy_at_every_hop(switch):
    with traces_on(switch) as (links, network):
        told = network.apply("{base: true, switch_rate: 1000000}")
        assert [rule["name"] for rule in told["rules"]] == ["handshakes", "bgp", "pfc", "roce-cnp"]
        eventually(network.are_active, "copies of test packets have come", seconds=120)
        assert "active" in network.tell("trace/rules-list"), network.tell("trace/rules-list")
        links.take_traces()
        links.connect([20000] * 40)
        copies = links.take_traces()
        assert set(copies) == {1, 2, 3}, copies.keys()
        for inner in copies.values():
            assert sorted(inner) == sorted(copies[1]), "each packet at all hops"
            assert all(frame[23] == TCP and frame[47] & SYN_FIN_RST for frame in inner)
            # On a busy machine some are sent again, with what was sent before perhaps.
            ends = {(frame[34:38], frame[47] & SYN_FIN) for frame in inner if frame[47] & SYN_FIN}
            assert len(ends) == 160, len(ends)

        before = flows_of(switch)
        network.kill_controller()
        assert flows_of(switch) == before and all(before), "rules stay without a controller"
        network.start_controller(port=network.agents_port)
        for bridge in CHAIN:
            switch.vsctl("set-controller", bridge, f"tcp:127.0.0.1:{network.ports['openflow'][0]}")
        links.route()
        network.wait_for_switches()
        network.analyzer.kill()
        network.analyzer.wait()
        network.start_analyzer()
        eventually(network.are_active, "they are tried again", seconds=120)
        assert flows_of(switch) == before
        shown = network.ctl("trace", "rules", "show", "pfc")
        assert {one["name"]: one["state"] for one in shown["switches"]} == dict.fromkeys(
            CHAIN, "active"), shown

        network.ctl("trace", "rules", "rm", output="table")
        assert flows_that_copy(switch, network) == {}
        for bridge in CHAIN:
            assert "meter=" not in switch.ofctl_text("-O", "OpenFlow14", "dump-meters", bridge)
        links.connect([20000] * 5)
        assert links.take_traces() == {}, "without rules nothing is copied"
        return f"{sum(map(len, copies.values()))} copies"


ALL = [trace_rules_of_the_controller_copy_at_every_hop]
