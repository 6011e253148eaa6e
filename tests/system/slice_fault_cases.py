# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of slices when something breaks, and what is left when all is taken away; run with the
cases of cases.py.
"""

import json
import re
import signal
import struct
import subprocess
import urllib.request

from controller_cases import Network
from router_cases import routers_of
from routers import COLLECTOR, COLLECTOR_DEVICE, PREFIX, Sender
from slice_cases import COPY_PORT, PAPER_QUERIES, SliceNetwork, flows_that_copy, slices_on
from switch import eventually

LONG_QUERIES = PAPER_QUERIES.replace("450 ms", "60 s").replace("5 s", "120 s")
MIRROR_ONLY = "\n".join(LONG_QUERIES.splitlines()[1:])


def run_of(network):
    """The run under way, or else the last one."""
    campaign = network.ctl("slice", "show", "web")
    return campaign["now"] or campaign["last"]


def begin(network, text=LONG_QUERIES):
    """A campaign that goes on for a minute; returns when copies have been counted."""
    network.run("web", text)
    eventually(lambda: (run_of(network) or {"slots": 0})["slots"] > 2, "slots are run")


def ended(network, state, problem, seconds=30):
    run = eventually(lambda: network.ctl("slice", "show", "web")["last"], "the run ends", seconds)
    assert run["state"] == state and re.search(problem, run["problem"]), run
    return run


def nothing_is_on(switch, network):
    eventually(lambda: not flows_that_copy(switch, network), "no flow of a slice is left")


def a_campaign_ends_when_its_collector_dies(switch):
    with slices_on(switch) as network:
        sender = Sender(2_000_000, flows=16)
        try:
            begin(network)
            network.analyzer.kill()
            ended(network, "failed", "analyzer")
            nothing_is_on(switch, network)
            # It is the campaign that goes on, as soon as there is somebody to take copies.
            network.analyzer.wait()
            network.start_analyzer()
            network.ctl("slice", "run", "web", output="table")
            eventually(lambda: run_of(network)["slots"] > 0, "the next run has slots")
            network.ctl("slice", "stop", "web", output="table")
            nothing_is_on(switch, network)
        finally:
            sender.close()


def a_campaign_without_a_tunnel_tells_that_nothing_arrived(switch):
    with slices_on(switch) as network:
        sender = Sender(2_000_000, flows=16)
        try:
            subprocess.run(["ip", "link", "set", COLLECTOR_DEVICE, "down"], check=True)
            told = network.run("web", PAPER_QUERIES, "--wait")
            mirrored = [query for query in told["queries"] if query["action"] == "MIRROR"]
            assert told["state"] == "done" and all(query["packets"] == 0 for query in mirrored), told
            assert told["copied_bytes"] > 0, "what routers copied counts against the budget all the same"
            nothing_is_on(switch, network)
        finally:
            sender.close()


def a_changed_topology_is_planned_anew(switch):
    with slices_on(switch) as network:
        sender = Sender(2_000_000, flows=16)
        try:
            begin(network, MIRROR_ONLY)
            ways = {"".join(query["path"]) for query in paths_of(network)}
            assert ways == {"ABCD", "ALCD"}, ways
            put_topology(network, lambda line: "from: 'A', to: 'L'" not in line)
            # It is planned anew when LLDP finds something, too.
            eventually(lambda: (lambda now: now["replans"] and now["topology_changed"])(run_of(network)),
                       "what is left is planned anew")
            before = {"".join(query["path"]): query["slots"] for query in paths_of(network)}
            eventually(lambda: slots_over(network, "ABCD") > before["ABCD"] + 3, "slots over B go on")
            assert slots_over(network, "ALCD") <= before["ALCD"] + 1, "but none over the link that went"
            network.ctl("slice", "stop", "web", output="table")
            nothing_is_on(switch, network)
        finally:
            sender.close()


class SetClock:
    """Starts the controller anew with a clock that can be set."""

    def __init__(self, network):
        self.path = network.path("clock-shift")
        with open(self.path, "wb") as file:
            file.write(bytes(8))
        preload = {"LD_PRELOAD": f"{network.build}/tests/support/clock_shift.so",
                   "CLOCK_SHIFT_FILE": self.path}
        network.analyzer.kill()
        network.analyzer.wait()
        network.kill_controller()
        network.environment.update(preload)
        network.restart_controller()
        for name in preload:
            del network.environment[name]
        network.start_analyzer()

    def put_forward(self, seconds):
        """From the true time, or back."""
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", seconds))


def a_campaign_goes_on_when_the_clock_of_its_controller_is_set(switch):
    with slices_on(switch) as network:
        clock = SetClock(network)
        sender = Sender(2_000_000, flows=16)
        try:
            begin(network, MIRROR_ONLY)
            for seconds in (3600, -3600, 0):
                clock.put_forward(seconds)
                slots, packets = run_of(network)["slots"], packets_of(network)
                eventually(lambda: run_of(network)["slots"] > slots + 5
                           and packets_of(network) > packets, "slots and copies go on")
                run = run_of(network)
                assert run["state"] not in ("done", "failed", "stopped"), run
                assert run["failed_slots"] == 0, run
            network.ctl("slice", "stop", "web", output="table")
            ended(network, "stopped", "")
            nothing_is_on(switch, network)
            told = network.run("web", PAPER_QUERIES, "--wait")
            assert told["state"] == "done" and told["failed_slots"] == 0, told
        finally:
            sender.close()


def packets_of(network):
    return sum(query["packets"] for query in paths_of(network))


def paths_of(network):
    return [query for query in network.ctl("slice", "show", "web")["results"]["queries"]
            if not query["bootstrap"]]


def slots_over(network, path):
    return sum(query["slots"] for query in paths_of(network) if "".join(query["path"]) == path)


def put_topology(network, keeps):
    """PUT /v1/topology, with the lines of the file that are to be kept."""
    with open(network.path("topology.yaml"), encoding="utf-8") as lines:
        body = "".join(line for line in lines if keeps(line))
    with open(network.path("token"), encoding="ascii") as token:
        request = urllib.request.Request(
            f"http://127.0.0.1:{network.rest_port}/v1/topology", body.encode(), method="PUT", headers={
                "Authorization": "Bearer " + token.read().strip(), "Content-Type": "application/yaml"})
    urllib.request.urlopen(request, timeout=30).close()


class Installed(SliceNetwork):
    """A controller that makes the ports to the analyzer itself, in the database of the switch."""

    def start(self):
        self.write_topology()
        self.more_configuration = self.slice_configuration().replace(
            f"port: {COPY_PORT}", f"analyzer: {COLLECTOR}") + (
                f"ovsdb:\n  switches: [{{name: host, database: '{self.switch.database}'}}]\n")
        Network.start(self)
        self.start_analyzer()
        self.introduce_switches()
        eventually(lambda: self.tell("openflow/list", "json").count('"copies_port": 0') == 0,
                   "all switches have their ports")
        self.routers.route()

    def tell(self, *command):
        done = subprocess.run([self.switch.paths["OVS_APPCTL"], "-t", self.path("controller.ctl"),
                               *command], check=True, capture_output=True, text=True)
        return done.stdout


def rows_of(switch, table, columns):
    answer = json.loads(switch.vsctl("--format=json", f"--columns={columns}", "list", table))
    return sorted(json.dumps(row) for row in answer["data"])


def state_of(switch, routers):
    """Flows, groups, meters, ports, mirrors and keys, of whomever; without who the controllers are."""
    found = {table: rows_of(switch, table, columns) for table, columns in (
        ("Port", "name,tag,external_ids,other_config"),
        ("Interface", "name,type,options,external_ids"),
        ("Bridge", "name,ports,mirrors,external_ids,other_config"),
        ("Mirror", "name,output_port,external_ids"),
        ("Open_vSwitch", "other_config,external_ids"))}
    for name in routers.names:
        for command in ("dump-flows", "dump-groups", "dump-meters"):
            text = switch.ofctl_text("-O", "OpenFlow15", command, name)
            found[f"{command} {name}"] = sorted(
                re.sub(r"(duration|n_packets|n_bytes|idle_age|hard_age)=[^, ]*,? ?", "", line)
                for line in text.splitlines() if "reply" not in line.lower())
    return found


def check_uninstall(switch, in_datapath, is_ready=lambda network: True):
    """`is_ready` says when campaigns can begin."""
    with routers_of(switch) as routers:
        before = state_of(switch, routers)
        assert PREFIX in str(before), "the flows of others are looked at, too"
        network = Installed(switch, routers, in_datapath=in_datapath)
        sender = Sender(2_000_000, flows=16)
        try:
            network.start()
            eventually(lambda: is_ready(network), "campaigns can begin")
            begin(network)
            assert in_datapath == bool(switch.ask("slice-show")["ended"])
            during = state_of(switch, routers)
            assert "gre" in str(during) and "7472" in str(during), "there is something of ours"
            network.ctl("slice", "stop", "web", output="table")
            network.ctl("slice", "rm", "web", output="table")
            for name in network.numbers:
                network.tell("openflow/purge", name)
            network.tell("ovsdb/uninstall")
            network.controller.send_signal(signal.SIGTERM)
            network.controller.wait(30)
            assert not switch.ask("slice-show")["on"]
            after = state_of(switch, routers)
            if in_datapath:  # the test itself has told the monitor where the controller is
                after["Open_vSwitch"] = before["Open_vSwitch"]
            assert after == before, differences(before, after)
        finally:
            sender.close()
            network.close()


def uninstall_leaves_nothing(switch):
    check_uninstall(switch, in_datapath=False)


def differences(before, after):
    return {what: (sorted(set(before[what]) - set(after[what])), sorted(set(after[what]) - set(before[what])))
            for what in before if before[what] != after[what]}


ALL = [
    a_campaign_ends_when_its_collector_dies,
    a_campaign_without_a_tunnel_tells_that_nothing_arrived,
    a_campaign_goes_on_when_the_clock_of_its_controller_is_set,
    a_changed_topology_is_planned_anew,
    uninstall_leaves_nothing,
]
