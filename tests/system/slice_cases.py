# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of slices on a network of routers; run with the cases of cases.py."""

import contextlib
import subprocess

import routers as router_network
from controller_cases import HOST, Network, give_keys
from router_cases import routers_of
from routers import Sender
from switch import at_best, call, eventually

# Fig. 2b of the paper, in its spelling.
PAPER_QUERIES = """CONFINE { 1.2.3.0/24 } ON { [A -> D] }
MIRROR { 1.2.3.0/24 } ON { [A -> D] }
USING 15 Mb/s DURING 450 ms EVERY 5 s
"""
BORDERS = ["A", "D", '"1"', '"2"', '"3"']
OURS = "cookie=0x7472000000000000/0xffff000000000000"
COPY_PORT = 100


class SliceNetwork(Network):
    """A controller that drives the routers, by OpenFlow or in their datapath, and an analyzer."""

    def __init__(self, switch, routers, shortest_slice_ms=25, in_datapath=False):
        super().__init__(switch.paths)
        self.in_datapath = in_datapath
        self.switch, self.routers, self.analyzer = switch, routers, None
        self.shortest_slice_ms = shortest_slice_ms
        self.numbers = {name: number for number, name in enumerate(routers.names, 1)}

    def start(self):
        for name, number in self.numbers.items():
            self.add_copy_port(name, number)
        self.write_topology()
        self.more_configuration = self.slice_configuration()
        super().start()
        self.start_analyzer()
        self.introduce_switches()
        self.routers.route()

    def add_copy_port(self, name, number):
        self.switch.vsctl("add-port", name, f"gre-{name}", "--", "set", "interface", f"gre-{name}",
                          "type=gre", f"options:remote_ip={router_network.COLLECTOR}",
                          "options:out_key=flow", f"options:in_key={number}",
                          f"ofport_request={COPY_PORT}")

    @staticmethod
    def tunnel_of(_):
        """The kind of tunnel in which copies of a switch leave."""
        return "gre"

    def introduce_switches(self):
        for name in self.numbers:
            self.switch.vsctl("set-controller", name, f"tcp:127.0.0.1:{self.ports['openflow'][0]}")
        if self.in_datapath:
            self.switch.vsctl("set", "Open_vSwitch", ".", f"external_ids:system-id={HOST}")
            give_keys(self.switch, self)
            self.switch.set_config(enable="true", memory_mb="16",
                                   controller=f"ssl:127.0.0.1:{self.agents_port}")
        self.wait_for_switches()

    def wait_for_switches(self):
        eventually(lambda: self.metric("trumpet_openflow_switches") == len(self.numbers),
                   "all switches have come")
        if self.in_datapath:
            eventually(self.knows_bridges, "the bridges are known")

    def restart_controller(self):
        self.start_controller(port=self.agents_port)
        self.introduce_switches()

    def knows_bridges(self):
        host = self.host()
        return host and {bridge["name"] for bridge in host["bridges"]} >= set(self.numbers)

    def tell(self, method, *arguments):
        """A command for the controller."""
        return call(self.path("controller.ctl"), method, *arguments)

    def write_topology(self):
        links = "".join(f"  - {{from: '{name[0]}', to: '{name[1]}', weight: {weight}}}\n"
                        for name, weight in self.routers.weights.items())
        switches = "".join(f"  - {{name: '{name}'}}\n" for name in self.numbers)
        # Nobody says where the prefix leaves, so it may at every border.
        borders = "".join(f"  - {{id: behind-{name}, attached_to: {name}}}\n" for name in BORDERS)
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write(f"switches:\n{switches}links:\n{links}hosts:\n{borders}")

    def slice_configuration(self):
        switches = ""
        for name, number in self.numbers.items():
            datapath_id = self.switch.vsctl("get", "bridge", name, "datapath_id")
            switches += (f"    - {{name: '{name}', datapath_id: {datapath_id}, copies: "
                         f"{{port: {COPY_PORT}, number: {number}, tunnel: {self.tunnel_of(name)}}}}}\n")
        return (f"topology: {self.path('topology.yaml')}\n"
                "analyzers:\n  listen: ['ptcp:0:127.0.0.1']\n"
                f"openflow:\n  listen: ['ptcp:0:127.0.0.1']\n  switches:\n{switches}"
                f"slices:\n  longest_path: 20ms\n  shortest_slice: {self.shortest_slice_ms}ms\n"
                "  samples: {listen: ['127.0.0.1:0'], from: [127.0.0.1]}\n"
                + self.datapath_configuration())

    def datapath_configuration(self):
        if not self.in_datapath:
            return ""
        return "  switches:\n" + "".join(
            f"    - {{name: '{name}', host: {HOST}, bridge: '{name}', number: {number}}}\n"
            for name, number in self.numbers.items())

    def start_analyzer(self, capture=f"--interface={router_network.COLLECTOR_DEVICE}"):
        with open(self.path("analyzer.out"), "ab") as out:
            self.analyzer = subprocess.Popen(
                [f"{self.build}/controller/daemon/trumpet-analyzer", "--name=an1",
                 capture,
                 f"--controller=tcp:127.0.0.1:{self.ports['analyzers'][0]}",
                 f"--unixctl={self.path('analyzer.ctl')}", "-vconsole:off"],
                env=dict(self.environment, TRUMPET_SYSCONFDIR=self.folder,
                         TRUMPET_STATEDIR=self.folder),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.closers += [self.analyzer.kill, self.analyzer.wait]
        eventually(lambda: self.metric("trumpet_analyzers_connected") == 1, "the analyzer has come")

    def ended_run(self, name):
        """What is told of the last one; nothing until it has ended."""
        return self.ctl("slice", "show", name)["last"]

    def stop_run(self, name):
        """Which may have ended by itself."""
        try:
            self.ctl("slice", "stop", name, output="table")
        except AssertionError as error:
            if "does not run now" not in str(error):
                raise

    def plan(self, text):
        with open(self.path("plan.slices"), "w", encoding="utf-8") as out:
            out.write(text)
        return self.ctl("slice", "plan", self.path("plan.slices"), "--controller")

    def export(self, router, table, column, *settings):
        """Has the router's bridge export samples of its traffic to the controller."""
        self.switch.vsctl("--", "--id=@e", "create", table,
                          f"targets=\"127.0.0.1:{self.ports['samples'][0]}\"", *settings,
                          "--", "set", "bridge", router, f"{column}=@e")

    def samples(self):
        return self.metric("trumpet_slice_samples")

    def run(self, name, text, *flags):
        path = self.path(f"{name}.slices")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return self.ctl("slice", "run", name, path, *flags, output="json" if flags else "table")


@contextlib.contextmanager
def slices_on(switch, shortest_slice_ms=25, in_datapath=False, **options):
    with routers_of(switch, **options) as routers:
        network = SliceNetwork(switch, routers, shortest_slice_ms, in_datapath)
        try:
            network.start()
            yield network
        except BaseException:
            network.print_log()
            raise
        finally:
            network.close()


def flows_that_copy(switch, network):
    """What is left of ours at the switches but the flow that brings LLDP."""
    return {name: lines for name in network.numbers
            for lines in [[line for line in switch.ofctl_text(
                "-O", "OpenFlow14", "dump-flows", name, OURS).splitlines()
                if "cookie=" in line and "dl_type=0x88cc" not in line]] if lines}


def run_the_example_once(network):
    """What is told of it, and of each path that was measured."""
    sender = Sender(5_000_000, flows=64)
    try:
        told = network.run("web", PAPER_QUERIES, "--wait")
    finally:
        sender.close()
    assert told["state"] == "done" and told["failed_slots"] == 0, told
    queries = [query for query in told["queries"] if not query["bootstrap"]]
    assert [("".join(query["path"]), "".join(query["locations"])) for query in queries] == [
        ("ABCDL", "FHP"), ("ABCD", "ABD"), ("ALCD", "ALD")], queries
    measured = [query for query in queries[1:] if query["slots"]]
    # A burst above the budget may leave no time for the other path.
    assert len(measured) == 2 or told["over_budget"] > 0, told
    assert queries[0]["packets"] == 0, "nothing leaves the region"
    return told, measured


def run_the_example(network):
    """To its end, while packets flow; returns all that was asked, with the slots each had, and a
    note.  Again where slots were so few that one in which the machine stood still tells of a path."""
    asked = []

    def attempt():
        if asked:
            network.stop_run("web")
            network.ctl("slice", "rm", "web", output="table")
        told, measured = run_the_example_once(network)
        asked.extend(told["queries"])
        return told, measured

    told, measured = at_best(attempt, lambda answer: all(query["slots"] > 1 for query in answer[1]))
    assert measured and all(query["packets"] > 0 for query in measured), measured
    note = f"{told['slots']} slots, {sum(query['packets'] for query in measured)} copies"
    return asked, "; ".join([note, *told["warnings"]])


def the_example_of_the_paper_runs(switch):
    with slices_on(switch) as network:
        _, note = run_the_example(network)
        eventually(lambda: not flows_that_copy(switch, network), "no flow of ours is left")
        return note


def slices_end_when_their_controller_is_killed(switch):
    with slices_on(switch, shortest_slice_ms=2000) as network:
        sender = Sender(2_000_000, flows=64)
        try:
            network.run("web", PAPER_QUERIES.replace("450 ms", "60 s").replace("5 s", "120 s"))
            eventually(lambda: flows_that_copy(switch, network), "a slice is on")
            network.kill_controller()
            eventually(lambda: not flows_that_copy(switch, network), "all slices end", seconds=10)
        finally:
            sender.close()


def a_plan_knows_of_prefixes_what_routers_count_and_sample(switch):
    with slices_on(switch) as network:
        # No router has a flow of its own for the half of what it forwards.
        halves = PAPER_QUERIES.replace("1.2.3.0/24", "1.2.3.0/25")
        assert network.plan(PAPER_QUERIES)["demands"] == network.plan(halves)["demands"] == []
        sender = Sender(5_000_000, flows=64)
        rates = []

        def told(text=halves, source="samples"):
            for demand in network.plan(text)["demands"]:
                assert demand["prefix"] in text and demand["source"] == source, demand
                rates.append(demand["bps"])
                return abs(demand["bps"] / 5e6 - 1) < 0.3
            return False

        try:
            eventually(lambda: told(PAPER_QUERIES, "flows"),
                       "counters of flows tell what the prefix takes", seconds=60)
            counted = rates[-1]
            network.export("A", "sFlow", "sflow", "sampling=8", "polling=0", "agent=lo")
            eventually(told, "sFlow tells what the prefix takes", seconds=60)
            for router, *exporter in [("B", "NetFlow", "netflow", "active_timeout=1"),
                                      ("D", "IPFIX", "ipfix", "sampling=8",
                                       "cache_active_timeout=1")]:
                before = network.samples()
                network.export(router, *exporter)
                network.switch.vsctl("clear", "bridge", "A", "sflow")
                eventually(lambda least=before + 100: network.samples() > least,
                           f"samples of {exporter[0]} come", seconds=60)
            assert told(), f"{rates[-1]} bit/s, as all of them together tell"
        finally:
            sender.close()
        for result in ["stranger", "malformed", "unknown_protocol"]:
            assert network.metric("trumpet_slice_sample_datagrams", result=result) == 0, result
        return f"5.0 Mb/s sent, {counted / 1e6:.2f} counted and {rates[-1] / 1e6:.2f} sampled"


ALL = [
    a_plan_knows_of_prefixes_what_routers_count_and_sample,
    the_example_of_the_paper_runs,
    slices_end_when_their_controller_is_killed,
]
