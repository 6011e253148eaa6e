# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The network of Fig. 2 of the Stroboscope paper: a bridge for each router, links with delay and loss
between them, a controller that drives the bridges by OpenFlow, and an analyzer that takes copies.

All of it is in one network namespace, which this process enters.
"""
import os
import urllib.request

from controller import SERVER, Controller
from lab import run, wait_until
from routers import COLLECTOR, COLLECTOR_DEVICE, PAPER_LINKS, Routers
from show import DemoError
from switch import Switch

NAMESPACE = "network"
DELAY_MS, LOSS = 5, 0.01                # of each link
BORDERS = "AD123"
COPY_PORT = 100

CONFIG = """\
database: unix:{here}/trumpet-db.sock
topology: {here}/topology.yaml
agents: {listen: []}
reports: {database: {here}/reports.db}
rest: {listen: ["ptcp:8650:127.0.0.1"], tokens: {here}/tokens.yaml}
analyzers: {listen: ["ptcp:6651:127.0.0.1"]}
slices: {longest_path: 20ms, shortest_slice: 100ms}
openflow:
  listen: ["ptcp:6653:127.0.0.1"]
  switches:
"""


class RouterSwitch(Switch):
    """One process of Open vSwitch, in which each bridge is a router; as Routers wants it."""

    def ofctl(self, *arguments):
        return run([self.programs["OVS_OFCTL"], *arguments], env=self.env, what="ovs-ofctl")

    def vsctl(self, *arguments):
        return super().vsctl(*arguments).strip()

    def rpc(self, method, *arguments):
        return self.appctl(method, *arguments)


class SliceNetwork:
    def __init__(self, lab, build):
        self.lab, self.build = lab, build
        lab.add_namespace(NAMESPACE)
        lab.enter(NAMESPACE)
        self.emulator = os.path.join(build, "tests", "support", "link_emulator")
        if not os.path.exists(self.emulator):
            raise DemoError("%s is not there; build it first (make tests/support/link_emulator)" %
                            self.emulator)
        self.switch = RouterSwitch(lab, build, NAMESPACE)
        self.controller = Controller(lab, build, self.switch.programs, NAMESPACE)
        self.numbers = {}

    def start(self):
        self.switch.start(["other_config:trumpet-enable=false"])
        self.routers = Routers(self.switch, self.emulator, delay_ms=DELAY_MS, loss=LOSS,
                               start=self._start_emulator)
        self.numbers = {name: number for number, name in enumerate(self.routers.names, 1)}
        for name, number in self.numbers.items():
            port = "copies-" + name
            self.switch.vsctl("add-port", name, port, "--", "set", "interface", port, "type=gre",
                              "options:remote_ip=" + COLLECTOR, "options:out_key=flow",
                              "options:in_key=%d" % number, "ofport_request=%d" % COPY_PORT)
        self.controller.start(self._topology(), CONFIG + self._switches())
        self._start_analyzer()
        for name in self.numbers:
            self.switch.vsctl("set-controller", name, "tcp:127.0.0.1:6653")
        wait_until(self._is_complete, "all switches and the analyzer to come", 30, 0.1)
        self.routers.route()

    def _start_emulator(self, argv):
        return self.lab.start(argv, "emulator.err", namespace=NAMESPACE, piped=True)

    def _topology(self):
        links = "".join("  - {from: '%s', to: '%s', weight: %d}\n" % (name[0], name[1], weight)
                        for name, weight in PAPER_LINKS.items())
        switches = "".join("  - {name: '%s'}\n" % name for name in self.numbers)
        hosts = "".join("  - {id: behind-%s, attached_to: '%s'}\n" % (name, name) for name in BORDERS)
        return "switches:\n%slinks:\n%shosts:\n%s" % (switches, links, hosts)

    def _switches(self):
        return "".join("    - {name: '%s', datapath_id: %s, copies: {port: %d, number: %d}}\n" % (
            name, self.switch.vsctl("get", "bridge", name, "datapath_id"), COPY_PORT, number)
            for name, number in self.numbers.items())

    def _start_analyzer(self):
        controller = self.controller
        argv = [os.path.join(self.build, "controller", "daemon", "trumpet-analyzer"), "--name=an1",
                "--interface=" + COLLECTOR_DEVICE, "--controller=tcp:127.0.0.1:6651",
                "--unixctl=" + controller.path("analyzer.ctl"), "-vconsole:off", "-vsyslog:off"]
        if not os.path.exists(argv[0]):
            raise DemoError("%s is not there; build first (make)" % argv[0])
        self.lab.start(argv, "analyzer.out", controller.env, NAMESPACE)

    def _is_complete(self):
        with open(self.controller.path("token"), encoding="ascii") as token:
            headers = {"Authorization": "Bearer " + token.read().strip()}
        with urllib.request.urlopen(urllib.request.Request(SERVER + "/metrics", headers=headers),
                                    timeout=30) as answer:
            metrics = answer.read().decode().splitlines()
        return ("trumpet_openflow_switches %d" % len(self.numbers) in metrics
                and "trumpet_analyzers_connected 1" in metrics)

    def flows_of_ours(self):
        """What is left of slices at the routers."""
        found = []
        for name in self.numbers:
            text = self.switch.ofctl("-O", "OpenFlow14", "dump-flows", name,
                                     "cookie=0x7472000000000000/0xffff000000000000")
            found += [line for line in text.splitlines()
                      if "cookie=" in line and "dl_type=0x88cc" not in line]
        return found
