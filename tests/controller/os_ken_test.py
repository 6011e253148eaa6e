#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-controller's OpenFlow as os-ken understands it, which plays the switch.

usage: os_ken_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemon_kit import CONTROLLER, DaemonTest, main, wait_until  # noqa: E402
from os_ken_switch import OsKenSwitch  # noqa: E402

OURS, THEIRS = 0x7472000000000000, 0x1234
LLDP_COOKIE = OURS | 0x11D9
DELETE_STRICT = 4
LLDP = (LLDP_COOKIE, 65535, 0x88CC)  # cookie, priority, eth_type
CONFIG = "openflow: {listen: ['ptcp:0:127.0.0.1']}\nrest: {listen: ['ptcp:0:127.0.0.1']}\n"


class OsKenTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.port = self.start_controller(CONFIG)["openflow"][0]

    def bring(self, version, **options):
        """A switch with two flows that only look like ours, and one of somebody else's."""
        switch = OsKenSwitch(version, 0xAB, **options)
        parser = switch.parser
        switch.add_flow(OURS | 1, 7, parser.OFPMatch(eth_type=0x800, ipv4_dst=("10.1.0.0", "255.255.0.0")),
                        [parser.OFPActionOutput(1)])
        switch.add_flow(OURS | 2, 8, parser.OFPMatch(in_port=2), [parser.OFPActionOutput(2)], table=3)
        switch.add_flow(THEIRS, 5, parser.OFPMatch(in_port=1), [parser.OFPActionOutput(2)])
        before = switch.table()
        self.addCleanup(switch.stop)
        switch.start(self.port)
        return switch, before

    def listed(self):
        return json.loads(self.answer("openflow/list", "json"))[0]

    def wait_until_ready(self):
        wait_until(lambda: self.answer("openflow/list", "json") != "[]\n" and
                   self.listed()["state"] == "ready", "the switch is ready")

    def check_order(self, version, has_bundles):
        switch, before = self.bring(version, has_bundles=has_bundles)
        self.wait_until_ready()
        listed = self.listed()
        self.assertEqual(listed["datapath_id"], "00000000000000ab")
        self.assertEqual(listed["version"], {4: "1.3", 5: "1.4"}[version])
        self.assertEqual([(port["number"], port["name"], port["up"]) for port in listed["ports"]],
                         [(1, "p1", True), (2, "p2", True)])
        # The flow that LLDP comes by is the last one.
        wait_until(lambda: [flow for flow in switch.table() if flow[0] == LLDP_COOKIE], "the flow of LLDP")
        # Strays are gone, theirs is untouched, and ours is there.
        theirs = [flow for flow in before if flow[0] == THEIRS]
        table = switch.table()
        self.assertEqual([flow for flow in table if flow[0] == THEIRS], theirs)
        ours = [flow for flow in table if flow[0] != THEIRS]
        self.assertEqual(len(ours), 1, ours)
        cookie, priority, match, outputs = ours[0]
        match = dict(match)
        self.assertEqual((cookie, priority, match["eth_type"]), LLDP)
        self.assertEqual(set(match), {"eth_src", "eth_dst", "eth_type"})
        self.assertEqual(outputs, (switch.ofproto.OFPP_CONTROLLER,))
        self.assertEqual({was_bundled for _, was_bundled in switch.mods}, {has_bundles})
        self.assertIn("OFPT_BARRIER_REQUEST", switch.seen)

        shown = self.answer("openflow/show", "00000000000000ab")
        self.assertIn(f"cookie=0x{LLDP_COOKIE:016x} ", shown)
        self.assertEqual(len(shown.splitlines()), 1, shown)
        self.assertIn("nothing of ours is left", self.answer("openflow/purge", "00000000000000ab"))
        self.assertEqual(switch.table(), theirs)
        self.assertEqual(switch.problems, [])

    def check_refusal(self, version, has_bundles):
        """All or nothing: of two strays one cannot be removed, so the other one is there again."""
        switch, before = self.bring(version, has_bundles=has_bundles,
                                    refuses=lambda mod: mod.command == DELETE_STRICT and mod.priority == 8)
        wait_until(lambda: self.answer("openflow/list", "json") != "[]\n" and
                   "TABLE_FULL" in self.listed()["last_error"], "the refusal is told")
        self.assertEqual(switch.table(), before)
        self.assertIn("refuses to remove 'table=3,priority=8,in_port=2,", self.listed()["last_error"])
        self.assertEqual({was_bundled for _, was_bundled in switch.mods}, {has_bundles})
        self.assertEqual(switch.problems, [])

    def test_a_switch_of_1_3_with_bundles_of_the_onf(self):
        self.check_order(4, True)

    def test_a_switch_of_1_3_without_bundles(self):
        self.check_order(4, False)

    def test_a_switch_of_1_4_with_bundles(self):
        self.check_order(5, True)

    def test_a_switch_of_1_4_that_refuses_bundles(self):
        self.check_order(5, False)

    def test_a_full_table_of_1_3_with_bundles(self):
        self.check_refusal(4, True)

    def test_a_full_table_of_1_3_without_bundles(self):
        self.check_refusal(4, False)

    def test_a_full_table_of_1_4_with_bundles(self):
        self.check_refusal(5, True)

    def test_a_full_table_of_1_4_without_bundles(self):
        self.check_refusal(5, False)


if __name__ == "__main__":
    sys.exit(main(CONTROLLER))
