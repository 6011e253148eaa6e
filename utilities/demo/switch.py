# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A private Open vSwitch with the monitor in it: ovsdb-server, ovs-vswitchd, one netdev bridge."""
import json
import os
import re
import time

from lab import run, wait_until
from show import DemoError

BRIDGE = "br0"
DPDK = "other_config:dpdk-init=true"
MEMORY_MB = 512
# Kept beside the losses, but nothing that falls into a demonstration is missing because of them.
NO_LOSSES = ("interruptions", "reports_forgotten", "history_evicted")
HUGE = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"


def programs(build):
    """Paths of the switch's programs, from the build's ovs-env.sh."""
    path = os.path.join(build, "vswitchd-plugin", "ovs-env.sh")
    try:
        with open(path) as f:
            found = dict(re.findall(r"^(\w+)='(.*)'$", f.read(), re.M))
    except OSError:
        raise DemoError("%s is not there; build first (make), or name the build directory with "
                        "--build" % path) from None
    for name in ("OVS_VSWITCHD", "OVSDB_SERVER", "OVSDB_TOOL", "OVS_VSCTL", "OVS_APPCTL",
                 "OVS_OFCTL", "OVS_SCHEMA"):
        if not os.path.exists(found.get(name, "")):
            raise DemoError("%s of %s does not exist; run make again" % (name, path))
    return found


def free_huge_mb():
    try:
        with open(HUGE) as f:
            return int(f.read()) * 2
    except (OSError, ValueError):
        return 0


class Switch:
    """Runs in the namespace `name` of a lab; its files are in a folder of that name."""

    def __init__(self, lab, build, name):
        self.lab, self.name = lab, name
        self.programs = programs(build)
        self.directory = here = lab.path(name)
        os.mkdir(here)
        self.env = dict(os.environ, OVS_RUNDIR=here, OVS_LOGDIR=here, OVS_DBDIR=here,
                        OVS_SYSCONFDIR=here, RUNTIME_DIRECTORY=here, LC_ALL="C")
        self.has_huge = free_huge_mb() >= MEMORY_MB

    # --- start ---------------------------------------------------------------

    def start(self, settings, has_own_cpu=False):
        """`settings` are columns of the table Open_vSwitch."""
        database, socket = self.path("conf.db"), self.path("db.sock")
        run([self.programs["OVSDB_TOOL"], "create", database, self.programs["OVS_SCHEMA"]])
        self._daemon("OVSDB_SERVER", "ovsdb-server", [database, "--remote=punix:" + socket])
        wait_until(lambda: os.path.exists(socket), "ovsdb-server", 30)
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *settings)
        switch = self._daemon("OVS_VSWITCHD", "ovs-vswitchd", ["unix:" + socket])
        if has_own_cpu:                 # a polling CPU is meant to be the switch's own
            os.setpriority(os.PRIO_PROCESS, switch.pid, -15)

        def is_ready():
            if switch.poll() is not None:
                raise DemoError("ovs-vswitchd ended at its start: " + self.last_error())
            if DPDK not in settings:
                return os.path.exists(self.path("ovs-vswitchd.%d.ctl" % switch.pid))
            return self.vsctl("get", "Open_vSwitch", ".", "dpdk_initialized").strip() == "true"

        wait_until(is_ready, "ovs-vswitchd to start", 30, 0.1)
        self.vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev",
                   "fail-mode=secure", "--", "set", "interface", BRIDGE, "mtu_request=1500")

    def path(self, name):
        return os.path.join(self.directory, name)

    def dpdk_settings(self, cpus):
        """`cpus` are those we may use: the last one polls, the first does the rest."""
        # Neither needs a hugetlbfs mount or leaves files behind.
        extra, memory = "--no-pci --no-telemetry ", []
        if self.has_huge:
            memory = ["other_config:dpdk-socket-mem=%d" % MEMORY_MB]
            extra += "--in-memory"
        else:
            extra += "--no-huge --legacy-mem --no-shconf -m %d" % MEMORY_MB
        return memory + [DPDK, 'other_config:dpdk-extra="%s"' % extra,
                         "other_config:dpdk-lcore-mask=0x%x" % (1 << cpus[0]),
                         "other_config:pmd-cpu-mask=0x%x" % (1 << cpus[-1])]

    def _daemon(self, program, name, arguments):
        argv = [self.programs[program]] + arguments + [
            "--pidfile", "--log-file=" + self.path(name + ".log"),
            "-vconsole:off", "-vsyslog:off", "-vfile:info"]
        return self.lab.start(argv, self.path(name + ".out"), self.env, self.name)

    def last_error(self):
        lines = []
        for name in ("ovs-vswitchd.log", "ovs-vswitchd.out"):
            try:
                with open(self.path(name), errors="replace") as f:
                    lines += f.read().splitlines()
            except OSError:
                pass
        bad = [line for line in lines if re.search(r"\|(ERR|EMER|WARN)\|", line)]
        return (bad or lines or ["no message"])[-1]

    # --- commands ------------------------------------------------------------

    def vsctl(self, *arguments):
        return run([self.programs["OVS_VSCTL"], "--db=unix:" + self.path("db.sock"),
                    "--timeout=30"] + list(arguments), env=self.env,
                   what="ovs-vsctl " + " ".join(arguments[:4]))

    def appctl(self, *arguments):
        return run([self.programs["OVS_APPCTL"]] + list(arguments), env=self.env,
                   what="ovs-appctl " + arguments[0])

    def ofctl(self, command, *arguments):
        return run([self.programs["OVS_OFCTL"], "-O", "OpenFlow13", command, BRIDGE]
                   + list(arguments), env=self.env, what="ovs-ofctl " + command)

    def trumpet(self, command, *arguments):
        """The answer of a command of the monitor, as data."""
        text = self.appctl("trumpet/" + command, "json", *arguments)
        try:
            return json.loads(text)
        except ValueError:
            raise DemoError("trumpet/%s json answers what is not JSON: %.80s" % (command, text)) from None

    # --- ports and flows -----------------------------------------------------

    def add_port(self, name, number, device):
        """`device` is the DPDK device and its options: "net_null1,no-rx=1"."""
        self.vsctl("add-port", BRIDGE, name, "--", "set", "interface", name, "type=dpdk",
                   "ofport_request=%d" % number, "options:n_rxq=1", "mtu_request=1500",
                   "options:dpdk-devargs=" + device)
        error = self.vsctl("get", "interface", name, "error").strip()
        if error != "[]":
            raise DemoError("port %s (%s): %s" % (name, device, error))

    def add_system_port(self, name):
        """A device of the kernel that is there already."""
        self.vsctl("add-port", BRIDGE, name, "--", "set", "interface", name, "mtu_request=1500")

    def del_port(self, name):
        self.vsctl("del-port", BRIDGE, name)

    def port_packets(self, number, direction):
        """Packets that the port's device counted, `direction` being "rx" or "tx"."""
        text = self.ofctl("dump-ports", str(number))
        return int(re.search(direction + r" pkts=(\d+)", text).group(1))

    def failed_upcalls(self):
        """Packets so far that came before OpenFlow knew their port, so that nobody took them."""
        text = self.appctl("dpif-netdev/pmd-stats-show")
        found = re.findall(r"(?:miss with failed upcall|- Lost upcalls): *(\d+)", text)  # 4.0: the latter
        return sum(int(each) for each in found)

    def meter_drops(self):
        text = self.ofctl("meter-stats", "meter=1")
        return int(re.search(r"0:\s*packet_count:(\d+)", text).group(1))

    # --- the monitor ---------------------------------------------------------

    def add_event(self, name, event):
        """Installs an event and waits until it counts."""
        self.trumpet("event-add", "name=" + name, event)

        def is_active():
            shown = self.trumpet("event-show", name)
            return shown["applied_on"] == shown["threads"] and shown["active_from_ns"] > 0

        wait_until(is_active, "event %s to become active" % name)
        wait_until(lambda: self._has_begun(name), "event %s to begin" % name)

    def _has_begun(self, name):
        return "active" in next(line for line in self.appctl("trumpet/event-list").splitlines()
                                if name in line.split())

    def reports(self, event):
        return self.trumpet("reports", event, "--last", "1000")

    def reports_of_the_past(self, event, until_ns):
        """All reports of an event, once every interval up to `until_ns` has been decided."""
        wait_until(lambda: time.time_ns() > until_ns + 60 * 10**6, "the last interval", 5)
        return self.reports(event)

    def losses(self):
        """What the monitor says it could not count so far: {"epochs_skipped": 3}."""
        return {key: number for key, number in self.trumpet("status")["losses"].items()
                if number and key not in NO_LOSSES}
