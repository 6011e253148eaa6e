# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two hosts at the bridge: a namespace each, linked to a DPDK port, and captures at the hosts' ends."""
import os
import subprocess

from captures import Captures
from lab import run, wait_until
from show import DemoError

CLIENT, SERVER = "client", "server"
ADDRESSES = {CLIENT: "198.51.100.1", SERVER: "198.51.100.2"}
MACS = {CLIENT: "02:00:00:00:00:c1", SERVER: "02:00:00:00:00:51"}
PORTS = {CLIENT: 1, SERVER: 2}
LINK = "eth0"                           # of each host


def mac_bytes(host):
    return bytes.fromhex(MACS[host].replace(":", ""))


class Hosts:
    def __init__(self, lab):
        self.lab = lab
        self.captures = Captures(lab, [(CLIENT, LINK), (SERVER, LINK)])

    def link(self):
        """Both hosts with their links, still down."""
        for host in (CLIENT, SERVER):
            self.lab.add_namespace(host)
            self.lab.link(host, LINK, "switch", "to-" + host, MACS[host])
            self._keep_order("to-" + host)
            self.lab.raise_link("switch", "to-" + host)
            self.lab.run_in(host, ["sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"])

    def _keep_order(self, link):
        """One CPU takes all packets from the wire, so that they come in as the capture saw them go."""
        path = "/sys/class/net/%s/queues/rx-0/rps_cpus" % link
        cpu = "%x" % (1 << min(os.sched_getaffinity(0)))
        run(["ip", "netns", "exec", self.lab.tag + "-switch", "sh", "-c", "echo %s >%s" % (cpu, path)],
            what="giving the packets of a veth link to one CPU (RPS)")

    def raise_links(self):
        for host in (CLIENT, SERVER):
            self.lab.raise_link(host, LINK, ADDRESSES[host] + "/24")
            other = SERVER if host == CLIENT else CLIENT
            self.lab.run_in(host, ["ip", "neighbour", "replace", ADDRESSES[other], "lladdr",
                                   MACS[other], "dev", LINK])

    def serve(self, port):
        """An iperf3 server for one test."""
        log = "iperf3-server-%d.log" % port
        self.lab.start(["iperf3", "-s", "-1", "-p", str(port), "--forceflush"], log, namespace=SERVER)
        wait_until(lambda: b"listening" in open(self.lab.path(log), "rb").read(), "the iperf3 server")

    def serve_on(self):
        """An iperf3 server that stays."""
        self.lab.start(["iperf3", "-s"], "iperf3-server.log", namespace=SERVER)

    def call(self, port, rate, seconds):
        """An iperf3 client under way; wait() for it."""
        return self.lab.start(["iperf3", "-c", ADDRESSES[SERVER], "-p", str(port), "-b", rate, "-t",
                               str(seconds)], "iperf3-client-%d.log" % port, namespace=CLIENT)

    def finish(self, client, port, seconds):
        try:
            code = client.wait(seconds)
        except subprocess.TimeoutExpired:
            raise DemoError("iperf3 did not come to its end") from None
        if code != 0:
            with open(self.lab.path("iperf3-client-%d.log" % port)) as f:
                lines = f.read().strip().splitlines() or ["no message"]
            raise DemoError("iperf3: " + lines[-1])

    def kernel_retransmissions(self):
        """TCP segments that the client's own kernel says it sent again."""
        names, values = [line.split() for line in self.lab.run_in(
            CLIENT, ["cat", "/proc/net/snmp"]).splitlines() if line.startswith("Tcp:")]
        return int(values[names.index("RetransSegs")])
