# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Probes of a controller through real bridges, whose copies become traces in an analyzer."""

import contextlib
import json
import subprocess
import sys

from switch import eventually
from trace_cases import CHAIN
from trace_controller_cases import TraceNetwork, traces_on

MARKED = "{debug_bit: 5, rules: [{name: marked, filter: '*', marked: true}]}"
SYN_ONLY = "{rules: [{name: syn, filter: 'tcpFlags=+syn'}]}"
VIA = "cookie=0x7472080000000000/0xffffff0000000000"
HOSTS = ("srcIP=10.77.0.1", "dstIP=10.77.0.2")
# Says that it is there, and then whatever comes.
LISTENER = """
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.bind(("10.77.0.2", 9000))
print("ready", flush=True)
while True:
    print("taken:", peer.recv(2000).hex(), flush=True)
"""


class ProbeNetwork(TraceNetwork):
    """Its analyzer makes traces, and knows where packets ought to go."""

    def write_topology(self):
        switches = ", ".join(f"{{name: {name}}}" for name in CHAIN)
        links = ", ".join(f"{{from: {one}, to: {other}}}" for one, other in zip(CHAIN, CHAIN[1:]))
        hosts = ", ".join(f"{{id: h{number}, prefixes: [10.77.0.{number}/32], attached_to: {name}}}"
                          for number, name in ((1, CHAIN[0]), (2, CHAIN[-1])))
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write(f"switches: [{switches}]\nlinks: [{links}]\nhosts: [{hosts}]\n")

    def analyzer_configuration(self):
        return {"traces": {"directory": self.path("traces")}}

    def start_analyzer(self):
        with open(self.path("analyzer.yaml"), "w", encoding="utf-8") as text:
            json.dump(self.analyzer_configuration(), text)
        super().start_analyzer()

    def use(self, rules):
        self.apply(rules)
        eventually(self.are_active, "copies of test packets have come", seconds=120)

    def wait_until_routes_are_known(self, *packet):
        """The controller tells its analyzers the network every few seconds."""
        eventually(lambda: self.probe(CHAIN[0], "trc-h1", *packet, count=1)["verdict"] == "delivered",
                   "the analyzer knows where packets ought to go", seconds=120)

    def probe(self, switch, port, *packet, count=5):
        """What is told of it in the end, which is soon if there is a trace of each packet."""
        begun = self.ctl("probe", "send", switch, port, *packet, f"--count={count}", "--rate=20",
                         "--timeout=20", "--background")
        return self.ended(begun["id"])

    def ended(self, number):
        def told():
            probe = self.ctl("probe", "show", number)
            return probe if probe["state"] == "done" else None
        return eventually(told, "the probe ends", seconds=120)

    def search(self, *flow):
        """Why it is dropped, as is found by probes."""
        begun = self.ctl("probe", "drops", *flow, "--rate=100", "--timeout=10", "--background")

        def told():
            search = self.ctl("probe", "search", begun["id"])
            return search if search["state"] != "running" else None
        return eventually(told, "the search ends", seconds=240)

    def refusal(self, *arguments):
        try:
            self.ctl("probe", "send", *arguments)
        except AssertionError as error:
            return str(error)
        raise AssertionError(f"{arguments} is not refused")


@contextlib.contextmanager
def probes_on(switch):
    with traces_on(switch, ProbeNetwork) as (links, network):
        links.connect([100])  # so that all bridges learn where the hosts are
        yield links, network


def mac_of(links, number):
    told = subprocess.run(links.at(number) + ["ip", "-j", "link", "show", f"trc-h{number}p"],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(told)[0]["address"]


def checksum_errors(links, protocol):
    """Packets that the last host has not taken for their checksum."""
    text = subprocess.run(links.at(2) + ["cat", "/proc/net/snmp"], check=True,
                          capture_output=True, text=True).stdout
    names, values = (line.split() for line in text.splitlines() if line.startswith(f"{protocol}:"))
    return int(dict(zip(names, values))["InCsumErrors"])


def paths_of(probe):
    return [[hop["switch"] for hop in packet.get("path", [])] for packet in probe["packets"]]


def a_probe_shows_its_way_and_no_host_takes_it(switch):
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        to_host = (*HOSTS, f"dstMAC={mac_of(links, 2)}", "dstPort=9000")
        network.wait_until_routes_are_known("udp", *to_host)
        listener = subprocess.Popen(links.at(2) + [sys.executable, "-c", LISTENER],
                                    stdout=subprocess.PIPE, text=True)
        try:
            assert listener.stdout.readline() == "ready\n"
            for protocol, name in (("udp", "Udp"), ("tcp", "Tcp"), ("icmp", "Icmp")):
                fields = to_host if protocol != "icmp" else to_host[:-1]
                before = checksum_errors(links, name)
                probe = network.probe(CHAIN[0], "trc-h1", protocol, *fields)
                assert probe["verdict"] == "delivered" and not probe["notes"], probe
                assert paths_of(probe) == [list(CHAIN)] * 5, probe
                eventually(lambda: checksum_errors(links, name) >= before + 5,  # pylint: disable=W0640
                           "the host has had them, and not taken them")
            # As if it came from the first bridge.
            probe = network.probe(CHAIN[1], f"{CHAIN[1]}-down", "udp", *to_host, count=2)
            assert paths_of(probe) == [list(CHAIN[1:])] * 2, probe
        finally:
            listener.kill()
            taken = listener.communicate()[0]
        assert taken == "", f"the host has taken {taken}"
        assert "there is no switch 'other'" in network.refusal("other", "1", "udp", *to_host)
        assert "has no port '77'" in network.refusal(CHAIN[0], "77", "udp", *to_host)
        assert "packets of probes per second at most" in network.refusal(
            CHAIN[0], "trc-h1", "udp", *to_host, "--rate=101")
        sent = network.metric("trumpet_probe_packets_sent_total")
        assert sent == network.metric("trumpet_probe_packets_traced_total") >= 18, sent
        assert [one["id"] for one in network.ctl("probe", "list")][0] == probe["id"]
        return f"{sent} packets"


def a_probe_says_where_packets_end(switch):
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        to_host = (*HOSTS, f"dstMAC={mac_of(links, 2)}")
        network.wait_until_routes_are_known("udp", *to_host)
        switch.ofctl("-O", "OpenFlow13", "add-flow", CHAIN[1],
                     "table=0,priority=100,udp,tp_dst=9000,actions=drop")
        probe = network.probe(CHAIN[0], "trc-h1", "udp", *to_host, "dstPort=9000")
        assert probe["verdict"] == "dropped" and probe["last_switch"] == CHAIN[1], probe
        assert probe["confidence"] > 0.99, probe
        assert paths_of(probe) == [list(CHAIN[:2])] * 5, probe
        probe = network.probe(CHAIN[0], "trc-h1", "udp", *to_host, "dstPort=9001")
        assert probe["verdict"] == "delivered", probe
        shown = network.ctl("probe", "show", probe["id"], output="table")
        assert f"delivered: 5 of 5 packets left the network at {CHAIN[2]}" in shown, shown
        begun = network.ctl("probe", "replay", probe["packets"][0]["trace"], "--count=2",
                            "--timeout=20", "--background")
        again = network.ended(begun["id"])
        assert again["port"] == probe["port"] and again["packet"] == dict(
            probe["packet"], dscp="32"), again  # with the debug bit
        assert paths_of(again) == [list(CHAIN)] * 2, again

        network.use(SYN_ONLY)
        probe = network.probe(CHAIN[0], "trc-h1", "tcp", *to_host, "tcpFlags=+syn")
        assert probe["verdict"] == "delivered", probe
        assert "have no debug_bit" in probe["notes"][0], probe
        begun = network.ctl("probe", "send", CHAIN[0], "trc-h1", "udp", *to_host, "--timeout=3",
                            "--background")
        probe = network.ended(begun["id"])
        assert probe["verdict"] == "no_copies" and probe["sent"] == 3, probe
        network.ctl("trace", "rules", "rm", output="table")
        begun = network.ctl("probe", "send", CHAIN[0], "trc-h1", "udp", *to_host, "--timeout=1",
                            "--background")
        assert "there are no trace rules" in network.ended(begun["id"])["notes"][0]
        return None


# Datagrams of a hundred flows, one of which the sender has marked; the receiver says what it sees.
MARKING_SENDER = """
import socket, time
for flow in range(100):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("10.77.0.1", 20000 + flow))
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x28 | (0x80 if flow == 42 else 0))
        for number in range(5):
            one.sendto(bytes([number]), ("10.77.0.2", 9000))
            time.sleep(0.002)
"""
TOS_READER = """
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
peer.bind(("10.77.0.2", 9000))
peer.settimeout(20)
print("ready", flush=True)
for number in range(500):
    data, notes, _, source = peer.recvmsg(100, 100)
    print(source[1], *(note[2][0] for note in notes), flush=True)
"""


def marked_packets_are_copied_and_their_receiver_sees_no_mark(switch):
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        reader = subprocess.Popen(links.at(2) + [sys.executable, "-c", TOS_READER],
                                  stdout=subprocess.PIPE, text=True)
        try:
            assert reader.stdout.readline() == "ready\n"
            links.take_traces()
            subprocess.run(links.at(1) + [sys.executable, "-c", MARKING_SENDER], check=True)
            seen = [tuple(map(int, reader.stdout.readline().split())) for _ in range(500)]
        finally:
            reader.kill()
            reader.communicate()
        copies = links.take_traces()
        assert {tos for _, tos in seen} == {0x28}, "the receiver sees what the sender meant"
        assert len({port for port, _ in seen}) == 100, "and all flows"
        assert set(copies) == {1, 2, 3}, copies.keys()
        for inner in copies.values():
            assert [frame[34:36] for frame in inner] == [(20042).to_bytes(2, "big")] * 5, inner
            assert {frame[15] for frame in inner} == {0xa8}, "copies have the mark"
        return None


def flows_of_via(switch):
    return [line for bridge in CHAIN for line in switch.ofctl_text(
        "-O", "OpenFlow14", "dump-flows", bridge, VIA).splitlines() if "dl_dst" in line]


def probes_go_over_the_switches_that_they_have_to(switch):
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        to_host = (*HOSTS, f"dstMAC={mac_of(links, 2)}", "dstPort=9000")
        network.wait_until_routes_are_known("udp", *to_host)
        eventually(lambda: len([link for link in network.ctl("topology", "show")["links"]
                                if link.get("to_port")]) == len(CHAIN) - 1,
                   "LLDP finds all links", seconds=60)
        # What the first two switches would do with such packets.
        for bridge in CHAIN[:2]:
            switch.ofctl("-O", "OpenFlow13", "add-flow", bridge,
                         "table=0,priority=100,udp,tp_dst=9000,actions=drop")
        flow = (CHAIN[0], "trc-h1", "udp", *to_host)
        assert network.probe(*flow)["last_switch"] == CHAIN[0]
        probe = network.probe(*flow, f"--via={CHAIN[1]},{CHAIN[2]}")
        assert probe["verdict"] == "delivered" and not probe["notes"], probe
        assert paths_of(probe) == [list(CHAIN)] * 5, probe
        assert probe["via"] == list(CHAIN[1:]), probe
        # The last one of the list decides by itself again.
        probe = network.probe(*flow, f"--via={CHAIN[1]}")
        assert probe["verdict"] == "dropped" and probe["last_switch"] == CHAIN[1], probe
        eventually(lambda: not flows_of_via(switch), "no flow of a probe is left")
        assert "no link of switch" in network.refusal(*flow, f"--via={CHAIN[2]}")

        begun = network.ctl("probe", "send", *flow, f"--via={CHAIN[1]},{CHAIN[2]}", "--count=100",
                            "--rate=10", "--background")
        eventually(lambda: len(flows_of_via(switch)) == 3, "each switch has a flow")
        assert all("hard_timeout=" in line and "in_port=" in line for line in flows_of_via(switch))
        links.connect([20000] * 5)  # as ever
        assert network.ctl("probe", "show", begun["id"])["state"] == "sending"
        network.kill_controller()
        network.restart_controller()
        eventually(lambda: not flows_of_via(switch), "the next controller removes them",
                   seconds=60)
        return None


def fields_of(search):
    return {field["field"]: (field["role"], field.get("lost")) for field in search["fields"]}


def drops_are_explained_by_probes_that_vary(switch):
    with probes_on(switch) as (links, network):
        network.use(MARKED)
        to_host = (*HOSTS, f"dstMAC={mac_of(links, 2)}")
        network.wait_until_routes_are_known("udp", *to_host)
        flow = (CHAIN[0], "trc-h1", "udp", *to_host, "dstPort=9000", "bytes=900")
        clean = network.search(*flow)
        assert (clean["verdict"], clean["persistence"]) == ("nothing", "none"), clean
        assert clean["sent"] == 40 and clean["complete"] and not clean["notes"], clean

        def drop(*flows):
            switch.ofctl("-O", "OpenFlow13", "del-flows", CHAIN[1], "cookie=77/-1")
            for one in flows:
                switch.ofctl("-O", "OpenFlow13", "add-flow", CHAIN[1], "cookie=77," + one)

        drop("table=0,priority=100,udp,tp_dst=9000,actions=drop")
        port = network.search(*flow)
        assert (port["verdict"], port["persistence"]) == ("pattern", "persistent"), port
        assert port["places"][0]["behind"] == CHAIN[1], port
        assert port["places"][0]["towards"] == [CHAIN[2]], port
        roles = fields_of(port)
        assert roles["dstPort"] == ("decides", "9000"), port
        assert roles["Protocol"] == ("decides", "UDP"), port
        assert all(roles[field][0] == "no_matter" for field in ("srcPort", "bytes", "ttl", "dscp")), port
        assert roles["srcIP"][0] == "not_tried", "the topology has one address of this host"

        # What the switch has of it is a packet of so many bytes.
        drop("table=0,priority=100,udp,actions=check_pkt_larger(600)->NXM_NX_REG9[0],resubmit(,77)",
             "table=77,priority=2,reg9=1/1,actions=drop", "table=77,priority=1,actions=NORMAL")
        size = network.search(*flow)
        assert size["verdict"] == "pattern", size
        assert fields_of(size)["bytes"] == ("decides", "of 601 and more"), size
        assert fields_of(size)["dstPort"][0] == "no_matter", size

        drop()
        trace = size["kinds"][0]["traces"]["lost"][0]
        gone = network.search(f"--trace={trace}")
        assert (gone["verdict"], gone["persistence"]) == ("gone", "transient"), gone
        assert gone["packet"]["bytes"] == "900" and gone["trace"] == trace, gone
        begun = network.ctl("probe", "drops", *flow, "--rate=10", "--count=500", "--background")
        network.ctl("probe", "stop", begun["id"], output="table")
        assert network.ctl("probe", "search", begun["id"])["state"] == "stopped"
        return f"{clean['sent']}, {port['sent']}, {size['sent']} and {gone['sent']} packets"


ALL = [marked_packets_are_copied_and_their_receiver_sees_no_mark,
       a_probe_shows_its_way_and_no_host_takes_it, a_probe_says_where_packets_end,
       probes_go_over_the_switches_that_they_have_to, drops_are_explained_by_probes_that_vary]
