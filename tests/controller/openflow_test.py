#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-controller and a stock ovs-vswitchd: OpenFlow as its users meet it, over TLS, and what
tshark and the switch's own log say of a session.

usage: openflow_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f"{HERE}/../support"]

from daemon_kit import CONTROLLER, DaemonTest, Vswitch, main, run, wait_until  # noqa: E402
from openflow_recorder import OpenflowRecorder  # noqa: E402

REST = "rest: {listen: ['ptcp:0:127.0.0.1']}\n"
PLAIN = REST + "openflow: {listen: ['ptcp:0:127.0.0.1'], switches: [{name: edge, datapath_id: 'ab'}]}\n"
LINK_PROBES = "dl_src=06:54:52:4d:50:54"    # the controller's own
THEIRS = "cookie=0x5,table=7,priority=9,ip actions=drop"
# As the switch's log calls them, but for statistics.
TYPES = {0: "HELLO", 1: "ERROR", 2: "ECHO_REQUEST", 3: "ECHO_REPLY", 4: "EXPERIMENTER", 5: "FEATURES_REQUEST",
         6: "FEATURES_REPLY", 10: "PACKET_IN", 11: "FLOW_REMOVED", 12: "PORT_STATUS", 13: "PACKET_OUT",
         14: "FLOW_MOD", 18: "STATS_REQUEST", 19: "STATS_REPLY", 20: "BARRIER_REQUEST",
         21: "BARRIER_REPLY", 24: "ROLE_REQUEST", 25: "ROLE_REPLY", 28: "SET_ASYNC",
         33: "BUNDLE_CONTROL", 34: "BUNDLE_ADD_MESSAGE"}
# tshark 4.0 ends at the first field of any match of 1.5; the same bytes are fine in 1.4.
HAVE_MATCHES = {"PACKET_IN", "FLOW_MOD", "STATS_REQUEST", "STATS_REPLY", "BUNDLE_ADD_MESSAGE", "PACKET_OUT",
                "FLOW_REMOVED"}


class OpenflowTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.switch = Vswitch(self)

    def listed(self):
        return {one["name"]: one for one in json.loads(self.answer("openflow/list", "json"))}

    def wait_until_ready(self, name="edge"):
        return wait_until(lambda: (one := self.listed().get(name)) and one["state"] == "ready" and one,
                          f"the switch {name} is ready")

    def flows(self, match=""):
        lines = self.switch.ofctl("OpenFlow15", "dump-flows", "br0", "--no-stats", match).splitlines()
        return sorted(line.strip() for line in lines if "actions=" in line)

    def refused(self, *arguments):
        done = self.appctl(*arguments)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    # --- commands ---

    def test_commands_show_and_purge_what_is_ours(self):
        port = self.start_controller(PLAIN)["openflow"][0]
        self.assertEqual(self.answer("openflow/list"), "no switch has come\n")
        self.assertEqual(self.answer("openflow/list", "json"), "[]\n")
        for command in ("openflow/show", "openflow/purge"):
            self.assertIn("there is no switch 'edge'; openflow/list shows them", self.refused(command, "edge"))
        self.switch.add_bridge("br0", 0xAB)
        self.switch.vsctl("set-controller", "br0", f"tcp:127.0.0.1:{port}")
        one = self.wait_until_ready()
        self.assertEqual((one["datapath_id"], one["version"], one["copies_port"]), ("00000000000000ab", "1.5", 0))
        self.assertEqual({p["name"] for p in one["ports"]} - {"br0"}, {"br0p1", "br0p2"})
        self.assertRegex(self.answer("openflow/list"), r"edge +00000000000000ab +ready +1\.5 +127\.0\.0\.1:\d+ ")

        self.switch.ofctl("OpenFlow15", "add-flow", "br0", THEIRS)

        def shown_with_one_more():
            """Until the switch is compared once more, for trace rules it has no longer, a flow may go again."""
            self.switch.ofctl("OpenFlow15", "add-flow", "br0", "cookie=0x7472000000000001,table=6,arp actions=drop")
            text = self.answer("openflow/show", "edge")
            return "table=6" in text and text
        shown = wait_until(shown_with_one_more, "the flow is shown")
        self.assertRegex(shown, r"cookie=0x7472000000000001 packets=0 table=6,arp,actions=drop\n")
        self.assertNotIn("table=7", shown)
        self.assertEqual(self.answer("openflow/purge", "edge"), "nothing of ours is left at edge\n")
        self.assertEqual(self.flows(), ["cookie=0x5, table=7, priority=9,ip actions=drop"])
        self.assertEqual(self.answer("openflow/show", "edge"), "nothing of ours\n")

    def test_ports_to_analyzers_are_made_put_back_and_removed(self):
        self.switch.add_bridge("br0", 0xAB)
        port = self.start_controller(REST + f"""
ovsdb: {{switches: [{{name: tor1, database: "{self.switch.database}"}}]}}
openflow:
  listen: ["ptcp:0:127.0.0.1"]
  switches:
    - {{name: edge, datapath_id: "ab", copies: {{analyzer: 127.0.0.9, number: 5}}}}
""")["openflow"][0]
        self.switch.vsctl("set-controller", "br0", f"tcp:127.0.0.1:{port}")
        self.wait_until_ready()

        def made():
            return self.listed()["edge"]["copies_port"]

        def tunnels():
            return [name for name in self.switch.vsctl("list-ports", "br0").split() if not name.startswith("br0p")]
        first = wait_until(made, "the port is made")
        name, = tunnels()
        self.assertEqual(self.switch.vsctl("get", "interface", name, "type", "options:remote_ip", "ofport").split(),
                         ["gre", '"127.0.0.9"', str(first)])
        self.switch.vsctl("--no-wait", "del-port", name)
        wait_until(lambda: tunnels() == [name] and made() and
                   self.switch.vsctl("get", "interface", name, "ofport") == str(made()), "the port is put back")
        self.assertIn(f"switch edge: port {name} to the analyzer 127.0.0.9 has the number", self.log())
        self.assertEqual(self.answer("ovsdb/uninstall"), "nothing of this controller is left in the databases\n")
        self.assertEqual((tunnels(), made()), ([], 0))

    # --- TLS ---

    def keys(self, name, authority):
        """Key, certificate, and the certificate of who signed it."""
        files = [self.path(f"{name}{suffix}") for suffix in (".key", ".csr", ".pem")]
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout"]
        ca_key, ca = self.path(f"{authority}-ca.key"), self.path(f"{authority}-ca.pem")
        commands = [["req", "-new", *new_key, files[0], "-subj", f"/CN={name}", "-out", files[1]],
                    ["x509", "-req", "-in", files[1], "-days", "2", "-CA", ca, "-CAkey", ca_key,
                     "-CAcreateserial", "-out", files[2]]]
        if not os.path.exists(ca):
            commands.insert(0, ["req", "-x509", *new_key, ca_key, "-days", "2", "-subj", f"/CN={authority}",
                                "-out", ca])
        for command in commands:
            done = run(["openssl", *command], self.env)
            self.assertEqual(done.returncode, 0, done.stderr)
        return files[0], files[2], ca

    def start_with_tls(self, section):
        key, certificate, ca = self.keys("tem", "good")
        return self.start_controller(REST + f"openflow:\n  private_key: {key}\n  certificate: {certificate}\n"
                                     f"  ca_certificate: {ca}\n{section}")["openflow"]

    def test_tls_with_switches_that_come_and_none_of_another_authority(self):
        port, = self.start_with_tls("  listen: ['pssl:0:127.0.0.1']\n  switches: [{name: edge, datapath_id: 'ab'}]\n")
        self.switch.add_bridge("br0", 0xAB)
        stranger = self.keys("stranger", "bad")
        # A switch that believes us, and whom we do not believe.
        self.switch.vsctl("set-ssl", *stranger[:2], self.path("good-ca.pem"))
        self.switch.vsctl("set-controller", "br0", f"ssl:127.0.0.1:{port}")
        wait_until(lambda: "peer's certificate: " in self.log(), "the stranger is refused")
        self.assertEqual(self.listed(), {})
        self.switch.vsctl("set-ssl", *self.keys("switch", "good"))
        self.assertEqual(self.wait_until_ready()["version"], "1.5")
        wait_until(lambda: self.flows("cookie=0x7472000000000000/0xffff000000000000"), "the flow of LLDP")

    def test_tls_with_switches_that_listen_and_none_of_another_authority(self):
        self.switch.add_bridge("br0", 0xAB)
        good = self.keys("switch", "good")
        self.switch.vsctl("set-ssl", *self.keys("stranger", "bad")[:2], good[2])
        self.switch.vsctl("set-controller", "br0", "pssl:0:127.0.0.1")
        said = wait_until(lambda: re.findall(r"listening on port (\d+)", self.switch.log()), "the switch listens")
        self.start_with_tls("  switches: [{name: edge, datapath_id: 'ab', "
                            f"connect: 'ssl:127.0.0.1:{said[-1]}'}}]\n")
        wait_until(lambda: "peer's certificate: " in self.log(), "the stranger is refused")
        self.assertEqual(self.listed(), {})
        self.switch.vsctl("set-ssl", *good)
        self.wait_until_ready()

    # --- a session as others see it ---

    def seen_by_tshark(self, recorder, version):
        """How often it sees each (is from the switch, type, xid); nothing is malformed."""
        path = self.path("session.pcap")
        recorder.write_capture(path)
        fields = ["tcp.dstport", "_ws.malformed", "_ws.col.Protocol"]
        fields += [f"openflow_v{one}.{what}" for one in (4, 5, 6) for what in ("type", "xid")]
        done = subprocess.run(["tshark", "-n", "-r", path, "-d", "tcp.port==6653,openflow", "-T", "fields",
                               *(word for field in fields for word in ("-e", field))],
                              capture_output=True, text=True, check=True)
        seen = Counter()
        for line in done.stdout.splitlines():
            port, malformed, protocol, *values = line.split("\t")
            self.assertEqual(protocol, "OpenFlow", line)
            kinds, xids = ([int(one.split(",")[0]) for one in values[which::2] if one] for which in (0, 1))
            self.assertEqual((len(kinds), len(xids)), (1, 1), line)  # the first is the message itself
            name = TYPES[kinds[0]]
            self.assertTrue(malformed == "" or (version == 6 and name in HAVE_MATCHES), line)
            seen[port == "6653", name, xids[0]] += 1
        return seen

    def logged_by_switch(self, port):
        logged = Counter()
        for way, name in re.findall(rf"\|vconn\|DBG\|tcp:127\.0\.0\.1:{port}: (sent \(Success\)|received): (.*)",
                                    self.switch.log()):
            kind, is_reply, xid = re.match(r"(\S+)( request| reply)? .*\(xid=(0x[0-9a-f]+)\)", name).groups()
            if kind.startswith("OFPST_"):
                kind = "STATS" + is_reply.upper().replace(" ", "_")
            elif kind.startswith("ONFT_"):
                kind = "EXPERIMENTER"
            logged[way != "received", kind.replace("OFPT_", ""), int(xid, 16)] += 1
        return logged

    def check_session(self, protocol, version):
        port = self.start_controller(PLAIN)["openflow"][0]
        recorder = OpenflowRecorder(port)
        self.addCleanup(recorder.stop)
        self.switch.add_bridge("br0", 0xAB, protocol)
        self.switch.ofctl(protocol, "add-flow", "br0", "cookie=0x7472000000000001,table=6,arp actions=drop")
        self.switch.appctl("vlog/set", "vconn:file:dbg")
        self.switch.appctl("vlog/disable-rate-limit", "vconn")
        self.switch.vsctl("set-controller", "br0", f"tcp:127.0.0.1:{recorder.port}")
        self.wait_until_ready()
        wait_until(lambda: LINK_PROBES in self.switch.ofctl(protocol, "dump-flows", "br0", "table=0"),
                   "the switch sends probes of links to the controller")
        self.answer("openflow/show", "edge")
        self.answer("openflow/purge", "edge")
        recorder.stop()
        wait_until(lambda: self.listed()["edge"]["state"] == "away", "the session has ended")
        seen, logged = self.seen_by_tshark(recorder, version), self.logged_by_switch(recorder.port)
        names = {(is_sent, name) for is_sent, name, _ in seen}
        for name in ("HELLO", "FEATURES_REPLY", "STATS_REPLY", "BARRIER_REPLY"):
            self.assertIn((True, name), names)
        self.assertIn((False, "EXPERIMENTER" if version == 4 else "BUNDLE_ADD_MESSAGE"), names)
        self.assertNotIn("ERROR", {name for _, name in names})
        # What the switch says that it was sent and has sent; but the end may cut off what was under way.
        self.assertGreater(sum(seen.values()), 50)
        for unlike in (+(logged - seen), +(seen - logged)):
            self.assertLess(sum(unlike.values()), 8, unlike)

    def test_a_session_of_1_3_as_tshark_and_the_switch_see_it(self):
        self.check_session("OpenFlow13", 4)

    def test_a_session_of_1_4_as_tshark_and_the_switch_see_it(self):
        self.check_session("OpenFlow14", 5)

    def test_a_session_of_1_5_as_tshark_and_the_switch_see_it(self):
        self.check_session("OpenFlow15", 6)


if __name__ == "__main__":
    sys.exit(main(CONTROLLER))
