# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two hosts at the bridge: a namespace each, linked to a DPDK port, with a capture at the host's end."""
import os
import re
import signal
import subprocess

from lab import run, wait_until
from show import DemoError

CLIENT, SERVER = "client", "server"
ADDRESSES = {CLIENT: "198.51.100.1", SERVER: "198.51.100.2"}
MACS = {CLIENT: "02:00:00:00:00:c1", SERVER: "02:00:00:00:00:51"}
PORTS = {CLIENT: 1, SERVER: 2}
SNAP = 128                              # bytes kept of a frame: all headers


def mac_bytes(host):
    return bytes.fromhex(MACS[host].replace(":", ""))


class Hosts:
    def __init__(self, lab):
        self.lab = lab
        self.captures = {}

    def link(self):
        """Both hosts with their links, still down."""
        for host in (CLIENT, SERVER):
            self.lab.add_namespace(host)
            far = "%s-switch" % self.lab.tag
            near = "%s-%s" % (self.lab.tag, host)
            run(["ip", "link", "add", "eth0", "netns", near, "address", MACS[host], "type", "veth",
                 "peer", "name", "to-" + host, "netns", far], what="making a veth pair")
            self._quiet(host, "eth0")
            self._quiet("switch", "to-" + host)
            # A frame as TCP sends it: whole, no longer than the MTU, with its checksum.
            self.lab.run_in(host, ["ethtool", "-K", "eth0", "tx", "off", "tso", "off", "gso", "off",
                                   "gro", "off"], what="switching off offloads with ethtool")
            self._keep_order("to-" + host)
            self.lab.run_in("switch", ["ip", "link", "set", "to-" + host, "up"])
            self.lab.run_in(host, ["sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"])

    def _quiet(self, namespace, link):
        """No IPv6 of its own: what crosses the bridge is what we send."""
        key = "net.ipv6.conf.%s.disable_ipv6" % link
        if os.path.isdir("/proc/sys/net/ipv6"):
            self.lab.run_in(namespace, ["sysctl", "-qw", key + "=1"])

    def _keep_order(self, link):
        """One CPU takes all packets from the wire, so that they come in as the capture saw them go."""
        path = "/sys/class/net/%s/queues/rx-0/rps_cpus" % link
        cpu = "%x" % (1 << min(os.sched_getaffinity(0)))
        run(["ip", "netns", "exec", self.lab.tag + "-switch", "sh", "-c", "echo %s >%s" % (cpu, path)],
            what="giving the packets of a veth link to one CPU (RPS)")

    def raise_links(self):
        for host in (CLIENT, SERVER):
            self.lab.run_in(host, ["ip", "address", "add", ADDRESSES[host] + "/24", "dev", "eth0"])
            self.lab.run_in(host, ["ip", "link", "set", "eth0", "up"])
            other = SERVER if host == CLIENT else CLIENT
            self.lab.run_in(host, ["ip", "neighbour", "replace", ADDRESSES[other], "lladdr",
                                   MACS[other], "dev", "eth0"])

    def check_way(self):
        """A connection to a closed port is refused if the way through the switch works."""
        program = ("import socket\n"
                   "try: socket.create_connection(('%s', 9), 10)\n"
                   "except ConnectionRefusedError: pass" % ADDRESSES[SERVER])
        run(self.lab.inside(CLIENT, ["/usr/bin/python3", "-c", program]),
            what="a connection from client to server through the switch")

    def start_captures(self):
        for host in (CLIENT, SERVER):
            path = self.lab.path(host + ".pcap")
            log = "tcpdump-%s.log" % host
            open(self.lab.path(log), "wb").close()
            child = self.lab.start(
                ["tcpdump", "-n", "-i", "eth0", "-s", str(SNAP), "-B", "32768", "-Z", "root",
                 "--immediate-mode", "--time-stamp-precision=nano", "-w", path], log, namespace=host)
            self.captures[host] = (child, path, self.lab.path(log))
        for host in (CLIENT, SERVER):
            self._wait_for_capture(host)

    def _wait_for_capture(self, host):
        child, _, log = self.captures[host]

        def is_listening():
            with open(log, "rb") as f:
                text = f.read()
            if child.poll() is not None:
                raise DemoError("tcpdump ended: " + text.decode(errors="replace").strip())
            return b"listening on" in text

        wait_until(is_listening, "tcpdump at the %s's end" % host, 10)

    def stop_captures(self):
        """Paths of the captures, which are complete or the demonstration ends here."""
        for host, (child, path, log) in self.captures.items():
            self.lab.stop(child, signal.SIGINT)
            with open(log) as f:
                dropped = re.search(r"(\d+) packets? dropped by kernel", f.read())
            if not dropped or int(dropped.group(1)):
                raise DemoError("tcpdump at the %s's end lost packets; this machine is too busy for "
                                "a ground truth, try again" % host)
        return self.captures[CLIENT][1], self.captures[SERVER][1]

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
