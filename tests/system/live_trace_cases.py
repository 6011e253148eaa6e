# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Traces as packets pass: bridges with trace rules, tunnels, and a running trumpet-analyzer."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

from switch import at_best, eventually
from trace_cases import BASE_SET, CHAIN, SERVER, Chain, compiled, install

COPY_PORT = 8
CARRIER = "trace-carrier"  # the bridge through which tunnels leave
WIRE = "trc-an"
TOPOLOGY = f"""
hosts:
  - {{id: h1, prefixes: [10.77.0.1/32], attached_to: {CHAIN[0]}}}
  - {{id: h2, prefixes: [10.77.0.2/32], attached_to: {CHAIN[2]}}}
switches: [{{name: {CHAIN[0]}}}, {{name: {CHAIN[1]}}}, {{name: {CHAIN[2]}}}]
links:
  - {{from: {CHAIN[0]}, to: {CHAIN[1]}}}
  - {{from: {CHAIN[1]}, to: {CHAIN[2]}}}
"""
# Attempts that a blackhole swallows, with connections between them that it does not.
MIXED_CLIENT = """
import socket, sys
for number in range(int(sys.argv[1])):
    with socket.socket() as peer:
        peer.settimeout(0.05)
        try:
            peer.connect(("10.77.0.2", 8001))
        except (ConnectionRefusedError, TimeoutError):
            pass
    with socket.create_connection(("10.77.0.2", 8000)) as peer:
        peer.sendall(b"hello")
        peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b""
"""
DPDK_ARGUMENTS = "--no-huge --no-pci --file-prefix=trumpet-copies --vdev=net_af_packet0"
DPDK_FOLDER = "/var/run/dpdk/trumpet-copies"
# The first bridge's copies have no numbers.
TUNNELS = (("gre", []), ("gre", ["options:seq=true"]),
           ("erspan", ["options:erspan_ver=1", "options:erspan_idx=flow"]))


class LiveNetwork(Chain):
    """The chain, whose bridges send their copies through tunnels to a trumpet-analyzer."""

    def __init__(self, switch):
        super().__init__(switch)
        self.devices.append(WIRE)
        self.analyzer = None

    def open(self):
        super().open()
        self.ip("addr", "flush", "dev", WIRE)
        self.switch.vsctl("add-br", CARRIER, "--", "set", "bridge", CARRIER,
                          "datapath_type=netdev", "--", "add-port", CARRIER, WIRE)
        self.ip("addr", "add", "10.20.0.1/24", "dev", CARRIER)
        self.ip("link", "set", CARRIER, "up")
        self.ip("link", "set", f"{WIRE}p", "up")
        for number, (bridge, (kind, options)) in enumerate(zip(CHAIN, TUNNELS), 1):
            self.switch.vsctl("add-port", bridge, f"trc-t{number}", "--", "set", "interface",
                              f"trc-t{number}", f"type={kind}", f"ofport_request={COPY_PORT}",
                              f"options:remote_ip=10.20.0.{number + 1}", "options:key=flow", *options)
            self.switch.rpc("tnl/neigh/set", CARRIER, f"10.20.0.{number + 1}", "02:00:00:00:20:02")
            flows = compiled(self.switch, BASE_SET, f"--number={number}", f"--port={COPY_PORT}",
                             f"--tunnel={kind}", "--analyzers=10.20.0.2")
            install(self.switch, bridge, flows, ["table=0,priority=0,actions=NORMAL"])

    def close(self):
        if self.analyzer:
            self.analyzer.kill()
            self.analyzer.wait()
        self.switch.vsctl("--if-exists", "del-br", CARRIER)
        super().close()

    def path(self, name):
        return os.path.join(self.switch.folder, name)

    def start_analyzer(self, ring="64MiB", by_dpdk=False, **traces):
        device = f"{WIRE}p"
        capture = {"dpdk": {"ports": ["net_af_packet0"], "eal": f"{DPDK_ARGUMENTS},iface={device}"}} if by_dpdk else (
            {"interfaces": [device]})
        with open(self.path("network.yaml"), "w", encoding="utf-8") as out:
            out.write(TOPOLOGY)
        with open(self.path("analyzer.yaml"), "w", encoding="utf-8") as out:
            json.dump({"capture": {"ring": ring, **capture},
                       "controller": {"address": "tcp:127.0.0.1:9"},
                       "traces": {"directory": self.path("traces"),
                                  "topology": self.path("network.yaml"), **traces}}, out)
        with open(self.path("analyzer.out"), "wb") as out:
            self.analyzer = subprocess.Popen(
                [f"{self.switch.paths['BUILD']}/controller/daemon/trumpet-analyzer", "--name=an1",
                 f"--config={self.path('analyzer.yaml')}", f"--unixctl={self.path('analyzer.ctl')}",
                 "-vconsole:off"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        eventually(lambda: self.tell("trace/status") is not None, "the analyzer is there")

    def tell(self, command, *arguments):
        done = subprocess.run([self.switch.paths["OVS_APPCTL"], "-t", self.path("analyzer.ctl"),
                               command, "json", *arguments],
                              check=False, capture_output=True, text=True)
        if done.returncode != 0:
            return None
        return [json.loads(line) for line in done.stdout.splitlines()]

    def status(self):
        return self.tell("trace/status")[0]

    def stored(self, *conditions):
        return self.tell("trace/list", "limit=1000", *conditions)

    def settled(self, packets):
        """The sums, once so many packets have been told of and none is under way."""
        def told():
            sums = self.status()
            is_told = sums["packets"]["all"] >= packets and sums["copies"]["waiting"] == 0
            return sums if is_told else None
        return eventually(told, f"{packets} packets are told of")

    def connect_and_lose(self, count):
        """So many connections, and as many attempts that end behind the second bridge."""
        self.switch.ofctl("-O", "OpenFlow13", "add-flow", CHAIN[2],
                          "table=0,priority=65535,tcp,tp_dst=8001,actions=drop")
        self.switch.heed_flows()
        server = subprocess.Popen(self.at(2) + [sys.executable, "-c", SERVER],
                                  stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout.readline() == "ready\n"
            subprocess.run(self.at(1) + [sys.executable, "-c", MIXED_CLIENT, str(count)],
                           check=True, timeout=120)
        finally:
            server.kill()
            server.communicate()

    def copied(self):
        """Packets that the bridges have copied, as they count them."""
        for _ in range(2):
            self.switch.rpc("revalidator/wait")
        text = "".join(self.switch.ofctl_text("dump-flows", bridge, "table=251") for bridge in CHAIN)
        return sum(int(count) for count in re.findall(r"n_packets=(\d+).*output", text))

    def kernel_drops(self):
        """Copies that came while the analyzer's ring was full."""
        text = self.switch_text("analyzer/show")
        return sum(int(count) for count in re.findall(r"kernel_drops\D+(\d+)", text))

    def switch_text(self, command):
        return subprocess.run([self.switch.paths["OVS_APPCTL"], "-t", self.path("analyzer.ctl"),
                               command], check=True, capture_output=True, text=True).stdout

    def kill_analyzer(self):
        self.analyzer.send_signal(signal.SIGKILL)
        self.analyzer.wait()


@contextlib.contextmanager
def live_network(switch):
    made = LiveNetwork(switch)
    try:
        made.open()
        made.start_analyzer()
        yield made
    finally:
        made.close()


def check_sums(sums):
    """Everything is somewhere, and all of it together is 100 %."""
    copies = sums["copies"]
    parts = ("in_traces", "duplicates", "shed", "waiting", "lost")
    assert sum(copies[part] for part in parts) == copies["sent"], copies
    shares = sum(copies[f"{part}_percent"] for part in ("received", "shed", "waiting", "lost"))
    assert abs(shares - 100) < 0.001, copies


def copies_of_trace_rules_become_traces_as_they_come(switch):
    with live_network(switch) as network:
        network.connect([20000] * 40)
        sums = network.settled(160)
        check_sums(sums)
        # On a busy machine some packets are sent again, and copied again.
        assert sums["copies"]["in_traces"] + sums["copies"]["duplicates"] >= 480, sums
        assert sums["packets"]["verdicts"]["delivered"] == sums["packets"]["all"], sums
        assert network.stored() == [], "what is delivered is summed up"
        network.connect_and_lose(20)
        sums = network.settled(sums["packets"]["all"] + 20 * 5)
        check_sums(sums)
        lost = network.stored("verdict=dropped")
        # Where numbers have gaps at that time, a lost copy is the likelier story of some.
        faults = sums["packets"]["verdicts"]
        assert faults["dropped"] + faults["copies_lost"] >= 20, sums
        assert len(lost) >= 5, sums
        for trace in lost:
            assert trace["packet"]["dst_port"] == 8001, trace
            assert trace["last_switch"] == CHAIN[1], trace
        return f"{sums['copies']['sent']} copies, {sums['packets']['all']} packets"


def ten_thousand_connections_make_twelve_copies_each(switch):
    with live_network(switch) as network:
        network.connect([10] * 10000)
        sums = network.settled(40000)
        check_sums(sums)
        copies, packets = sums["copies"], sums["packets"]
        # Frames of others are flooded into tunnels, too, which number them as they do copies.
        assert copies["shed"] == copies["lost_by_trace"] == 0 and copies["lost"] < 1200, copies
        received = copies["in_traces"] + copies["duplicates"]
        assert received == network.copied(), (received, network.copied())
        assert packets["verdicts"]["delivered"] == packets["all"], packets
        # Four of each connection at three bridges; on a busy machine some are sent again.
        assert 120000 <= received <= 121200 and received == 3 * (received // 3), received
        return f"{received} copies"


def overload_is_counted_to_the_last_copy(switch):
    """Ten times as many packets as the table of traces holds; and while the analyzer is stopped,
    more than its ring does."""
    with live_network(switch) as network:
        network.kill_analyzer()
        network.start_analyzer(ring="2MiB", max_traces=200)
        told = []

        def all_are_counted():
            now = network.status()["copies"]
            taken = now["in_traces"] + now["duplicates"] + now["shed"]
            told[:] = network.copied(), taken, network.kernel_drops()
            # Frames of others that are flooded into tunnels may be among those that were dropped.
            is_all = 0 <= told[1] + told[2] - told[0] <= 100
            return now["waiting"] == 0 and is_all

        def count_all(sent):
            try:
                eventually(lambda: all_are_counted() and told[0] >= sent, "all copies are somewhere",
                           seconds=60, pause=0.5)
            except AssertionError as error:
                raise AssertionError(f"{error}: {told}") from error
            check_sums(network.status())

        network.connect([10] * 1000)
        count_all(12000)
        evicted = network.status()["traces"]["evicted"]
        assert evicted > 0, network.status()
        network.analyzer.send_signal(signal.SIGSTOP)
        network.connect([10] * 2500)
        network.analyzer.send_signal(signal.SIGCONT)
        count_all(42000)
        sent, taken, dropped = told
        assert dropped > 0, told
        return (f"{evicted} packets were told of early; of {sent} copies {taken} were taken, {dropped} "
                "dropped by the kernel")


def traces_that_are_stored_outlive_an_analyzer_that_is_killed(switch):
    with live_network(switch) as network:
        network.connect_and_lose(20)
        network.settled(20 * 5)
        sums = eventually(lambda: network.status() if network.status()["store"]["written"] == (
            network.status()["packets"]["kept"]) else None, "what is kept is stored")
        stored = network.stored()
        assert len(stored) >= 5, sums
        assert len(stored) == sums["store"]["written"], (len(stored), sums)
        network.kill_analyzer()
        network.start_analyzer()
        assert network.stored() == stored
        return f"{len(stored)} traces"


def processor_time(pid):
    """Seconds that a process has had until now."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def share_of_processor(pid, seconds=3):
    """That a process takes from now on."""
    before, begun = processor_time(pid), time.monotonic()
    time.sleep(seconds)
    return (processor_time(pid) - before) / (time.monotonic() - begun)


def flags_of(device):
    shown = subprocess.run(["ip", "-d", "-j", "link", "show", "dev", device], check=True,
                           capture_output=True, text=True).stdout
    link, = json.loads(shown)
    return sorted(link["flags"]), link["promiscuity"]


def files_of_dpdk():
    return [name for _, _, names in os.walk(DPDK_FOLDER) for name in names]


def copies_are_taken_from_a_port_of_dpdk(switch):
    """By net_af_packet, without huge pages; an idle port takes little of a processor."""
    with live_network(switch) as network:
        network.kill_analyzer()
        flags = flags_of(f"{WIRE}p")
        network.start_analyzer(by_dpdk=True)
        network.connect([20000] * 40)
        sums = network.settled(160)
        check_sums(sums)
        copies = sums["copies"]
        received = copies["in_traces"] + copies["duplicates"]
        assert received == network.copied() >= 480, (received, network.copied())
        assert sums["packets"]["verdicts"]["delivered"] == sums["packets"]["all"], sums
        port, = network.tell("analyzer/show")[0]["interfaces"]
        assert port["name"] == "net_af_packet0" and port["frames"] >= received, port
        assert port["missed"] == port["no_buffers"] == port["ring_drops"] == 0, port
        network.connect_and_lose(20)
        sums = network.settled(sums["packets"]["all"] + 20 * 5)
        check_sums(sums)
        assert sums["packets"]["verdicts"]["dropped"] >= 5, sums
        # Not in each window: what else the machine does costs its processes time, too.
        idle = at_best(lambda: share_of_processor(network.analyzer.pid), lambda share: share < 0.25,
                       tries=5)
        assert idle < 0.25, idle
        network.analyzer.terminate()
        assert network.analyzer.wait(timeout=20) == 0, "it ends when it is told to"
        assert flags_of(f"{WIRE}p") == flags and files_of_dpdk() == [], "nothing is left behind"
        with contextlib.suppress(OSError):
            os.rmdir(DPDK_FOLDER)
        return f"{received} copies; idle it takes {idle:.1%} of a processor"


ALL = [
    copies_of_trace_rules_become_traces_as_they_come,
    ten_thousand_connections_make_twelve_copies_each,
    overload_is_counted_to_the_last_copy,
    copies_are_taken_from_a_port_of_dpdk,
    traces_that_are_stored_outlive_an_analyzer_that_is_killed,
]
