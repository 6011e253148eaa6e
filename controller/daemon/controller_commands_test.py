#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-controller as an administrator meets it: ovs-appctl, trumpetctl, its configuration.

usage: controller_commands_test.py (environment: top_builddir, top_srcdir)

Skipped (77) in a build without Open vSwitch.
"""

import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/controller"))

from daemon_kit import (BUILD, CONTROLLER, SOURCE, DaemonTest, Vswitch, main, run,  # noqa: E402
                        wait_until)

CTL = os.path.join(BUILD, "utilities/trumpetctl")
LINE = "*, count(packets) > 1, srcIP, 10ms"

CONFIG = """
rest:
  listen: ["ptcp:0:127.0.0.1"]
  trust_loopback: yes
"""


class ControllerTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.ports = self.start_controller(CONFIG)
        self.env["TRUMPET_SERVER"] = f"http://127.0.0.1:{self.ports['rest'][0]}"

    def ctl(self, *arguments, text=None):
        return run([CTL, *arguments], self.env, text)

    def said(self, *arguments, text=None):
        done = self.ctl(*arguments, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_events_by_the_control_socket(self):
        self.assertEqual(self.answer("event/list"), "no events\n")
        self.assertEqual(self.answer("event/add", "name=heavy", LINE), "added heavy\n")
        self.assertRegex(self.answer("event/list"), r"heavy +enabled +0 of 0")
        self.assertEqual(json.loads(self.answer("event/list", "json"))[0]["name"], "heavy")
        self.assertTrue(self.answer("event/show", "heavy").startswith("heavy: "))
        self.assertIn("replaces", self.answer("event/check", "name=heavy", LINE))
        path = self.write("more.yaml", f"- {{name: one, event: \"{LINE}\"}}\n")
        self.assertEqual(self.answer("event/add", "@" + path), "added one\n")
        self.assertEqual(self.answer("event/del", "heavy", "one"), "removed heavy\nremoved one\n")

    def test_facts_of_a_switch_whose_database_is_not_in_the_run_directory(self):
        switch = Vswitch(self, "OVS_VSWITCHD", "elsewhere.sock")
        switch.add_bridge("br7", 7)
        controller = f"tcp:127.0.0.1:{self.ports['agents'][0]}"
        switch.vsctl("set", "Open_vSwitch", ".", "external_ids:system-id=hv7",
                     "other_config:trumpet-enable=true",
                     f"other_config:trumpet-controller={controller}")
        wait_until(lambda: "br7p2" in self.appctl("host/show", "hv7").stdout, "the switch's ports")
        self.assertRegex(self.answer("host/show", "hv7"), r"br7 .*0000000000000007")
        self.assertIn("elsewhere.sock: connected", switch.appctl("trumpet/status"))

    def test_wrong_arguments_of_the_control_socket_change_nothing(self):
        for arguments, error in (
                (("event/add", LINE), "needs a name"),
                (("event/add", "name=x", "*, sum(bytez) > 1, 10ms"), "event:1:8: 'bytez'"),
                (("event/add", "nam=x", LINE), "'nam=x' is not name=NAME"),
                (("event/add", "@relative.yaml"), "the path must be absolute"),
                (("event/add", "@" + self.folder.name), "it is not a regular file"),
                (("event/show", "nobody"), "there is no event 'nobody'"),
                (("host/show", "nobody"), "there is no host 'nobody'"),
                (("measure/show", "nobody"), "there is no measurement named 'nobody'"),
                (("report/list", "many"), "it takes 1 to 10000")):
            done = self.appctl(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(error, done.stderr)
        self.assertEqual(self.answer("event/list"), "no events\n")

    def test_how_it_is(self):
        self.assertEqual(self.answer("host/list"), "no hosts\n")
        self.assertEqual(self.answer("report/list"), "no reports\n")
        self.assertEqual(self.answer("topology/show"), "no hosts\n")
        self.assertEqual(self.answer("trace/rules-list"), "no trace rules\n")
        self.assertEqual(json.loads(self.answer("trace/rules-list", "json")), {"rules": []})
        self.assertEqual(self.answer("measure/list"), "no measurements\n")
        self.assertEqual(json.loads(self.answer("measure/list", "json")), {"measurements": []})
        self.assertEqual(self.answer("ovsdb/list"), "no switches whose databases are followed\n")
        self.assertEqual(self.answer("ovsdb/uninstall"),
                         "nothing of this controller is left in the databases\n")
        self.assertIn("store: ok\n", self.answer("tem/status"))
        self.assertEqual(json.loads(self.answer("tem/status", "json"))["events"], 0)
        self.assertIn("hosts-connected:0", self.answer("memory/show"))

    def test_events_by_trumpetctl(self):
        path = self.write("events.yaml", f"- name: heavy\n  event: \"{LINE}\"\n")
        self.assertIn("new", self.said("event", "check", path))
        self.assertEqual(self.said("event", "add", path, "--wait"), "heavy\n")
        self.assertRegex(self.said("event", "list"), r"heavy +enabled +0 of 0")
        self.assertEqual(self.ctl("event", "add", path).returncode, 1)  # it is there
        self.said("event", "add", "--replace", "-", text=f"- {{name: heavy, event: \"{LINE}\"}}")
        self.said("event", "disable", "heavy")
        self.assertIn("disabled", self.said("event", "show", "heavy"))
        self.said("event", "enable", "heavy")
        self.assertTrue(json.loads(self.said("event", "list", "-o", "json"))[0]["enabled"])
        self.assertTrue(self.said("event", "list", "-o", "yaml").startswith("- name: heavy\n"))
        self.said("event", "rm", "heavy")
        self.assertEqual(self.said("event", "list"), "no events\n")

    def test_trumpetctl_shows_the_place_of_an_error(self):
        path = self.write("wrong.yaml", "- name: a\n  event: \"*, sum(bytez) > 1, 10ms\"\n")
        done = self.ctl("event", "add", path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, re.escape(path) + r":2:\d+: 'bytez'")
        self.assertRegex(done.stderr, r"\n     2 \|   event: .*\n       \| +\^\n")

    def test_trumpetctl_asks_how_things_are(self):
        wait_until(lambda: self.ctl("status").returncode == 0, "that all can be changed")
        self.assertIn(": ok\n", self.said("status"))
        self.assertEqual(self.said("host", "list"), "no hosts\n")
        self.assertEqual(self.said("topology", "show"), "no hosts\n")
        self.assertEqual(self.ctl("host", "show", "nobody").returncode, 1)
        self.assertEqual(self.ctl("nonsense").returncode, 2)

    def test_refuses_a_wrong_configuration_by_its_place(self):
        path = self.write("wrong.yaml", "agents:\n  listne: [\"ptcp:1:127.0.0.1\"]\n")
        done = self.run_program("--check-config", "--config=" + path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count(path + ":2:3: "), 1, done.stderr)
        done = self.run_program("--check-config", "--config=/nowhere")
        self.assertEqual(done.stderr, "trumpet-controller: /nowhere: cannot be read: No such file or directory\n")

    def test_takes_the_configuration_that_is_installed(self):
        path = os.path.join(SOURCE, "controller/daemon/controller.yaml")
        done = self.run_program("--check-config", "--config=" + path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # And with every key that is commented out, too.
        with open(path, encoding="utf-8") as text:
            whole = re.sub(r"^( *)#(?=[a-z]|  -|    )", r"\1", text.read(), flags=re.M)
        self.assertNotIn("\n  #", whole)
        path = self.write("whole.yaml", whole)
        done = self.run_program("--check-config", "--config=" + path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    sys.exit(main(CONTROLLER, CTL))
