#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-analyzer as an administrator meets it, by Open vSwitch's own ovs-appctl.

usage: analyzer_daemon_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "controller/daemon/trumpet-analyzer")
ENVIRONMENT_FILE = os.path.join(BUILD, "vswitchd-plugin/ovs-env.sh")
PATIENCE_S = 60


def appctl_path():
    with open(ENVIRONMENT_FILE, encoding="utf-8") as lines:
        return re.search(r"^OVS_APPCTL='(.*)'$", lines.read(), re.M).group(1)


class AnalyzerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="trumpet-")
        self.addCleanup(self.folder.cleanup)
        run_dir = self.folder.name
        self.env = dict(os.environ, OVS_RUNDIR=run_dir, OVS_LOGDIR=run_dir,
                        TRUMPET_SYSCONFDIR=run_dir, TRUMPET_STATEDIR=run_dir)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.env, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def appctl(self, *arguments):
        return subprocess.run([appctl_path(), "-t", "trumpet-analyzer", *arguments], env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def test_tells_of_itself_until_it_ends(self):
        # Nobody listens at the discard port.
        started = self.run_program("--detach", "--pidfile", "--log-file", "-vconsole:off",
                                   "--name=an1", "--controller=tcp:127.0.0.1:9")
        self.assertEqual(started.returncode, 0, started.stderr)
        try:
            shown = json.loads(self.appctl("analyzer/show", "json").stdout)
            self.assertEqual(shown["controller"], "away")
            self.assertEqual(shown["counters"]["copies"], 0)
            self.assertIn("runs finished: 0\n", self.appctl("analyzer/show").stdout)
            self.assertEqual(self.appctl("analyzer/slices", "json").stdout, "[]\n")
            wrong = self.appctl("analyzer/show", "xml")
            self.assertNotEqual(wrong.returncode, 0)
            self.assertIn("'xml' is not known; it takes json", wrong.stderr)
        finally:
            self.assertEqual(self.appctl("exit").returncode, 0)

    def test_says_what_is_wrong(self):
        path = os.path.join(self.folder.name, "analyzer.yaml")
        with open(path, "w", encoding="utf-8") as text:
            text.write("packets: {snap: 1}\n")
        checked = self.run_program("--check-config")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("analyzer.yaml:1:17: ", checked.stderr)
        os.remove(path)
        self.assertEqual(self.run_program("--check-config").returncode, 0)
        nowhere = self.run_program("--interface=nowhere0", "--controller=tcp:127.0.0.1:9")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("cannot receive from nowhere0", nowhere.stderr)


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print(f"skipped: there is no {PROGRAM}")
        sys.exit(77)
    unittest.main(verbosity=2)
