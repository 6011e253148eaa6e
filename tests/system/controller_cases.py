# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The switch with a real controller beside it, over TLS; run with the cases of cases.py."""

import contextlib
import hashlib
import json
import os
import re
import subprocess

import captures
from cluster import Cluster
from switch import eventually, sent_by, settled, stat_of

HOST = "hv-1"  # the switch's system-id, and the name in its certificate


class Network(Cluster):
    """A controller with its database, and trumpetctl."""

    def __init__(self, paths):
        super().__init__(paths["BUILD"], paths["SOURCE"])
        with open(self.path("token"), "w", encoding="ascii") as token:
            token.write(os.urandom(16).hex() + "\n")
        self.token_file = self.path("tokens.yaml")
        self.make_keys(HOST, "switches")

    def start(self):
        with open(self.path("token"), "rb") as token:
            digest = hashlib.sha256(token.read().strip()).hexdigest()
        with open(self.token_file, "w", encoding="ascii") as tokens:
            tokens.write(f"tokens:\n  - {{name: test, sha256: {digest}, role: admin}}\n")
        os.chmod(self.token_file, 0o600)
        self.start_database()
        self.start_controller()

    def start_controller(self, port=0):
        super().start_controller(port)

        def has_opened():
            status, text = self.answer("GET", "/readyz")
            return status == 200 or '"standby"' in text

        eventually(has_opened, "everything can be changed, or another controller acts")

    def ctl(self, *arguments, output="json"):
        environment = dict(self.environment, TRUMPET_TOKEN_FILE=self.path("token"),
                           TRUMPET_SERVER=f"http://127.0.0.1:{self.rest_port}")
        done = subprocess.run([f"{self.build}/utilities/trumpetctl", *arguments, "-o", output],
                              capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise AssertionError(f"trumpetctl {arguments}: {done.stderr or done.stdout}")
        return done.stdout if output == "table" else json.loads(done.stdout)

    def host(self):
        """What the controller knows of the switch, while it is connected."""
        hosts = [host for host in self.ctl("host", "list") if host["connected"]]
        return self.ctl("host", "show", hosts[0]["id"]) if hosts else None

    def host_ports(self):
        host = self.host()
        return {port["name"]: port for port in host["ports"]} if host else {}

    def add_event(self, name, line):
        path = self.path(f"{name}.yaml")
        with open(path, "w", encoding="utf-8") as text:
            text.write(f"- {{name: {name}, event: {json.dumps(line)}}}\n")
        self.ctl("event", "add", path)
        eventually(lambda: self.applied(name), f"event {name} is applied")

    def applied(self, name):
        event = next(e for e in self.ctl("event", "list") if e["name"] == name)
        return event["hosts_wanted"] == event["hosts_applied"] == 1

    def firings(self, name):
        """The newest first, without those that only say that it is over."""
        return [report for report in self.ctl("report", "list", "--event", name, "--limit", "1000")
                if not report.get("cleared")]

    def reported(self, name):
        """The values of all reports of the event, added up."""
        return sum(report["value"] for report in self.firings(name))


def give_keys(switch, network, keys=HOST, believes="controllers"):
    """As an administrator does: the switch has one set of keys, for all that it speaks to."""
    switch.vsctl("set-ssl", network.path(f"{keys}.key"), network.path(f"{keys}.pem"),
                 network.path(f"{believes}-ca.pem"))


def status_of(switch):
    """Of the session; empty until the agent has heard of a controller."""
    return switch.status()["controller"] or {"address": "", "connected": False, "last_error": ""}


@contextlib.contextmanager
def network_of(switch, has_keys=True):
    network = Network(switch.paths)
    try:
        network.start()
        switch.vsctl("set", "Open_vSwitch", ".", f"external_ids:system-id={HOST}",
                     "external_ids:hostname=hv-1.example")
        if has_keys:
            give_keys(switch, network)
        switch.set_config(enable="true", memory_mb="16",
                          controller=f"ssl:127.0.0.1:{network.agents_port}")
        if has_keys:
            eventually(network.host, "the switch has come to the controller")
        yield network
    except BaseException:
        with open(network.path("controller.out"), encoding="utf-8", errors="replace") as out:
            said = network.log().splitlines()[-15:] + out.read().splitlines()[-15:]
        print("".join(f"# controller: {line}\n" for line in said), end="", flush=True)
        raise
    finally:
        network.close()


def the_controller_knows_what_the_switch_knows(switch):
    with network_of(switch) as network:
        eventually(lambda: {"br0", "sink0"} <= set(network.host_ports()), "the ports are known")
        host = network.host()
        assert host["id"] == HOST and host["external_ids"]["hostname"] == "hv-1.example", host
        bridge, = host["bridges"]
        datapath_id = switch.vsctl("get", "bridge", "br0", "datapath_id").strip('"')
        assert (bridge["datapath_type"], bridge["datapath_id"]) == ("netdev", datapath_id), bridge
        ports = network.host_ports()
        assert ports["sink0"]["is_uplink"] and ports["sink0"]["type"] == "dpdk"
        local_mac = switch.vsctl("get", "interface", "br0", "mac_in_use").strip('"')
        assert ports["br0"]["macs"] == [local_mac] and not ports["br0"]["is_uplink"], ports["br0"]
        switch.vsctl("add-port", "br0", "vx0", "--", "set", "interface", "vx0", "type=vxlan",
                     "options:remote_ip=192.0.2.9", "--", "add-port", "br0", "vm1", "--", "set",
                     "interface", "vm1", "type=dpdkvhostuserclient",
                     f"options:vhost-server-path={switch.folder}/vm1.sock",
                     "external_ids:attached-mac=52:54:00:00:00:01", "external_ids:iface-id=vm-1")
        eventually(lambda: network.host_ports().get("vm1", {}).get("of_port"), "the new ports are known")
        ports = network.host_ports()
        assert ports["vm1"]["macs"] == ["52:54:00:00:00:01"], ports["vm1"]
        assert str(ports["vm1"]["of_port"]) == switch.vsctl("get", "interface", "vm1", "ofport")
        assert ports["vx0"]["is_uplink"] and ports["vx0"]["remote_ip"] == "192.0.2.9", ports["vx0"]
        eventually(lambda: network.ctl("topology", "show")["hosts"][0]["macs"] ==
                   sorted(["52:54:00:00:00:01", local_mac]), "the topology has the MACs")
        text = network.ctl("host", "show", HOST, output="table")
        assert re.search(r"br0 +vm1 +\d+ +dpdkvhostuserclient +edge .*52:54:00:00:00:01", text), text
        switch.vsctl("del-port", "br0", "vm1")
        eventually(lambda: "vm1" not in network.host_ports(), "the port that went is forgotten")


def keys_are_those_of_the_switch_as_they_change(switch):
    with network_of(switch, has_keys=False) as network:
        eventually(lambda: "set-ssl" in status_of(switch)["last_error"], "it says what is missing")
        give_keys(switch, network)
        eventually(network.host, "keys bring it to the controller")
        network.make_keys("stranger", "strangers")
        give_keys(switch, network, "stranger")
        eventually(lambda: not network.host() and not status_of(switch)["connected"],
                   "keys of a stranger lead nowhere")
        give_keys(switch, network)
        eventually(network.host, "the right ones again do")
        # The same files with new content are used for the next connection.
        old = open(network.path(f"{HOST}.pem"), encoding="ascii").read()
        network.make_keys(HOST, "switches")
        assert open(network.path(f"{HOST}.pem"), encoding="ascii").read() != old
        network.kill_controller()
        network.start_controller(port=network.agents_port)
        eventually(network.host, "the new content of the files does as well")


def an_event_of_the_controller_fires_on_the_switch(switch):
    with network_of(switch) as network:
        network.add_event("packets", "Protocol=UDP, sum(packets) >= 1, dstPort, 100ms")
        assert [event["name"] for event in switch.ask("event-list")] == ["packets"]
        frames = [captures.ethernet(captures.ipv4((10, 0, 0, 1), (10, 0, 0, 2), 17,
                                                  captures.udp(1000, 2000 + n % 5, bytes(50))))
                  for n in range(500)]
        path = f"{switch.folder}/udp.pcap"
        captures.write_pcap(path, frames)
        switch.ofctl("add-flow", "br0", "actions=output:sink0")
        switch.add_dpdk_port("src0", f"net_pcap0,rx_pcap={path}")
        eventually(lambda: network.reported("packets") == len(frames), "every packet was reported")
        report = network.firings("packets")[0]
        assert [host["host"] for host in report["hosts"]] == [HOST], report
        network.ctl("event", "rm", "packets", output="table")
        eventually(lambda: not switch.ask("event-list"), "the event is gone from the switch")


def a_killed_controller_costs_neither_packet_nor_event(switch):
    with network_of(switch) as network:
        network.add_event("packets", "*, sum(packets) >= 1, 5-tuple, 100ms")
        path = f"{switch.folder}/endless.pcap"
        captures.write_pcap(path, captures.mixed(5, 50))
        switch.ofctl("add-flow", "br0", "actions=output:sink0")
        switch.rpc("dpif-netdev/pmd-stats-clear")
        sent_before, seen_before = sent_by(switch, "sink0"), switch.packets_seen()
        switch.add_dpdk_port("src0", f"net_pcap0,rx_pcap={path},infinite_rx=1")
        eventually(lambda: network.reported("packets") > 0, "it fires")
        lost_with_port = stat_of(switch, "miss with failed upcall")
        for _ in range(2):
            network.kill_controller()
            eventually(lambda: not status_of(switch)["connected"], "the switch notices")
            alone = switch.packets_seen()
            eventually(lambda: switch.packets_seen() > alone + 10000,  # pylint: disable=W0640
                       "it goes on counting by itself")
            network.start_controller(port=network.agents_port)
            eventually(network.host, "it has come back")
            eventually(lambda: network.applied("packets"), "the event is known to run")
            last = max(report["number"] for report in network.firings("packets"))
            eventually(lambda: [report for report in network.firings("packets")
                                if report["number"] > last and report["complete"]],  # pylint: disable=W0640
                       "it fires again, and nothing is missing in it")
        status = switch.status()
        assert status["losses"]["interruptions"] == 0, status
        assert stat_of(switch, "miss with failed upcall") == lost_with_port
        switch.vsctl("del-port", "br0", "src0")
        received = stat_of(switch, "packets received")
        seen = switch.packets_seen() - seen_before
        lost_with_port = stat_of(switch, "miss with failed upcall")
        sent = eventually(lambda: settled(lambda: sent_by(switch, "sink0")), "the sink is quiet")
        sent -= sent_before
        assert seen == received, f"received {received}, seen by the monitor {seen}"
        assert sent == received - lost_with_port, f"received {received}, sent {sent}"
        return f"{received} packets"


def a_controller_that_stands_by_takes_over(switch):
    with network_of(switch) as network:
        network.add_event("packets", "*, sum(packets) >= 1, 5-tuple, 100ms")
        acting, acting_port = network.controller, network.agents_port
        try:
            network.reports = network.path("reports-of-the-other.db")
            network.start_controller()
            both = f"ssl:127.0.0.1:{network.agents_port},ssl:127.0.0.1:{acting_port}"
            switch.set_config(controller=both)
            eventually(lambda: status_of(switch)["connected"] and
                       status_of(switch)["address"] == both, "it finds the one that acts")
            assert not network.host(), "the other one stands by"
        finally:
            acting.kill()
            acting.wait()
        eventually(network.host, "it has come to the other one")
        eventually(lambda: network.applied("packets"), "which knows the event")
        assert [event["name"] for event in switch.ask("event-list")] == ["packets"]


ALL = [
    the_controller_knows_what_the_switch_knows,
    keys_are_those_of_the_switch_as_they_change,
    an_event_of_the_controller_fires_on_the_switch,
    a_killed_controller_costs_neither_packet_nor_event,
    a_controller_that_stands_by_takes_over,
]
