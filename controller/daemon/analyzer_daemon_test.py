#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-analyzer as an administrator meets it, by Open vSwitch's own ovs-appctl.

usage: analyzer_daemon_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/controller"))

from daemon_kit import BUILD, DaemonTest, main  # noqa: E402

PROGRAM = os.path.join(BUILD, "controller/daemon/trumpet-analyzer")


class AnalyzerTest(DaemonTest):
    PROGRAM = PROGRAM

    def empty_capture(self):
        path = self.path("empty.pcap")
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        return path

    def test_tells_of_itself_until_it_ends(self):
        # Nobody listens at the discard port.
        self.start("--name=an1", "--controller=tcp:127.0.0.1:9")
        shown = json.loads(self.answer("analyzer/show", "json"))
        self.assertEqual(shown["controller"], "away")
        self.assertEqual(shown["counters"]["copies"], 0)
        self.assertIn("runs finished: 0\n", self.answer("analyzer/show"))
        self.assertEqual(self.answer("analyzer/slices", "json"), "[]\n")
        wrong = self.appctl("analyzer/show", "xml")
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("'xml' is not known; it takes json", wrong.stderr)

    def test_says_what_is_wrong(self):
        path = self.write("analyzer.yaml", "packets: {snap: 1}\n")
        checked = self.run_program("--check-config")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("analyzer.yaml:1:17: ", checked.stderr)
        os.remove(path)
        self.assertEqual(self.run_program("--check-config").returncode, 0)
        nowhere = self.run_program("--interface=nowhere0", "--controller=tcp:127.0.0.1:9")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("cannot receive from nowhere0", nowhere.stderr)

    def dpdk(self, port, arguments):
        """The program with a port of DPDK, which ends at once, if there is something wrong."""
        ran = self.run_program(f"--dpdk-port={port}", f"--dpdk-eal={arguments}", "--controller=tcp:127.0.0.1:9")
        if "was built without DPDK" in ran.stderr:
            self.skipTest("it was built without DPDK")
        self.assertEqual((ran.returncode, ran.stdout), (1, ""), ran.stderr)
        self.assertNotIn("Usage", ran.stderr)
        return ran.stderr

    def test_says_what_is_wrong_with_dpdk(self):
        for arguments, error in (("--no-huge --nonsense", "EAL: Invalid 'command line' arguments.: Invalid argument"),
                                 ("--no-huge -l nothing", "EAL: Invalid 'command line' arguments.: Invalid argument"),
                                 ("--no-huge --vdev=net_nothing0", "Unable to parse device 'net_nothing0': No such device"),
                                 ("--no-huge --help", "'--help' only prints a text"),
                                 ("--no-huge -v", "'-v' only prints a text")):
            told = self.dpdk("net_ring0", arguments)
            self.assertIn(f"trumpet-analyzer: cannot start DPDK with '{arguments}': ", told)
            self.assertIn(error, told)
        self.assertIn("cannot receive from DPDK's port net_ring0: there is no such port; DPDK has none",
                      self.dpdk("net_ring0", "--no-huge --no-pci"))
        self.assertIn("there are: net_ring0", self.dpdk("net_ring1", "--no-huge --no-pci --vdev=net_ring0"))
        self.assertIn("no memory for 8191 packets", self.dpdk("net_ring0", "--no-huge --no-pci -m 8 --vdev=net_ring0"))

    def test_takes_copies_of_a_file_from_a_port_of_dpdk(self):
        self.dpdk("net_ring0", "--no-huge --help")  # skips
        self.start("--name=an1", "--controller=tcp:127.0.0.1:9", "--dpdk-port=net_pcap0",
                   f"--dpdk-eal=--no-huge --no-pci --vdev=net_pcap0,rx_pcap={self.empty_capture()}")
        shown = json.loads(self.answer("analyzer/show", "json"))
        self.assertEqual([(one["name"], one["frames"]) for one in shown["interfaces"]], [("net_pcap0", 0)])
        self.assertIn("net_pcap0", self.answer("analyzer/show"))

    def test_makes_traces_of_captures_without_being_a_daemon(self):
        path = self.empty_capture()
        traced = self.run_program("traces", path)
        self.assertEqual(traced.stderr, "")
        self.assertEqual(json.loads(traced.stdout)["sums"]["frames"]["all"], 0)
        wrong = self.run_program("traces", "/nowhere.pcap")
        self.assertEqual(wrong.returncode, 1)
        self.assertEqual(wrong.stderr, "trumpet-analyzer: /nowhere.pcap: cannot be read: No such file or directory\n")

    def test_asks_the_store_of_traces(self):
        path = self.empty_capture()
        store = "--store=" + self.path("traces")
        self.assertEqual(self.run_program("traces", store, path).returncode, 0)
        for words in (("query",), ("app", "drops"), ("app", "loops")):
            asked = self.run_program(*words, store)
            self.assertEqual((asked.returncode, asked.stdout, asked.stderr), (0, "", ""))

    def test_makes_traces_where_it_is_told_to_keep_them(self):
        self.write("analyzer.yaml", f"traces: {{directory: {self.path('traces')}}}\n")
        self.start("--name=an1", "--controller=tcp:127.0.0.1:9")
        told = json.loads(self.answer("trace/status", "json"))
        self.assertEqual(told["copies"]["sent"], 0)
        self.assertIn("store written: 0\n", self.answer("trace/status"))
        self.assertEqual(self.answer("trace/list"), "no traces\n")
        self.assertEqual(self.answer("trace/list", "json", "verdict=loop"), "")
        for words, error in ((("trace/list", "verdict=lost"), "'lost' is no verdict"),
                             (("trace/list", "lost"), "'lost' is not NAME=VALUE"),
                             (("trace/show", "7"), "'7' is no id of a trace"),
                             (("trace/show", "0123456789abcdef"), "there is no trace 0123456789abcdef")):
            wrong = self.appctl(*words)
            self.assertNotEqual(wrong.returncode, 0)
            self.assertIn(error, wrong.stderr)

    def test_says_that_it_makes_no_traces(self):
        self.start("--name=an1", "--controller=tcp:127.0.0.1:9")
        wrong = self.appctl("trace/status")
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("no traces are made", wrong.stderr)


if __name__ == "__main__":
    sys.exit(main(PROGRAM))
