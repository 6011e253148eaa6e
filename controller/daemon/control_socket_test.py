#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The daemon side of the controller as an administrator meets it, by Open vSwitch's own ovs-appctl.

usage: control_socket_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "controller/daemon/small_daemon")
ENVIRONMENT_FILE = os.path.join(BUILD, "vswitchd-plugin/ovs-env.sh")
PATIENCE_S = 60


def appctl_path():
    with open(ENVIRONMENT_FILE, encoding="utf-8") as lines:
        return re.search(r"^OVS_APPCTL='(.*)'$", lines.read(), re.M).group(1)


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("nothing happened in a minute")
        time.sleep(0.01)  # between looks at the condition


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="trumpet-")
        self.run_dir = self.folder.name
        self.env = dict(os.environ, OVS_RUNDIR=self.run_dir, OVS_LOGDIR=self.run_dir)
        self.start("--detach", "--pidfile", "--log-file", "-vconsole:off")

    def tearDown(self):
        if os.path.exists(self.path("small_daemon.pid")):
            self.appctl("exit")
        self.folder.cleanup()

    def start(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], env=self.env, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def appctl(self, *arguments):
        return subprocess.run([appctl_path(), "-t", "small_daemon", *arguments], env=self.env,
                              capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def answer(self, *arguments):
        done = self.appctl(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def path(self, name):
        return os.path.join(self.run_dir, name)

    def pid(self):
        with open(self.path("small_daemon.pid"), encoding="utf-8") as text:
            return int(text.read())

    def log(self):
        with open(self.path("small_daemon.log"), encoding="utf-8") as text:
            return text.read()

    def test_answers_what_every_daemon_of_the_family_answers(self):
        commands = self.answer("list-commands")
        for name in ("vlog/set", "vlog/reopen", "coverage/show", "coverage/read-counter",
                     "memory/show", "version", "list-commands", "exit", "test/echo"):
            self.assertRegex(commands, rf"\n  {name}\s")
        self.assertTrue(self.answer("version").startswith("small_daemon "))

    def test_runs_commands_of_the_program(self):
        self.assertEqual(self.answer("test/echo", "a", "b c"), "a\nb c\n")
        self.assertEqual(self.answer("test/greeting"), "hello\n")
        done = self.appctl("test/fail", "this is why")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("this is why", done.stderr)
        self.assertIn("at least 1 arg", self.appctl("test/fail").stderr)

    def test_carries_an_answer_of_megabytes(self):
        text = "x" * 100000
        self.assertEqual(len(self.answer("test/echo", *[text] * 9)), 9 * (len(text) + 1))

    def test_waits_for_late_answers_while_others_are_served(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = [pool.submit(self.answer, "test/wait") for _ in range(5)]
            released = 0
            while released < len(waiting):
                released += int(self.answer("test/release", "now"))
            self.assertEqual([one.result() for one in waiting], ["now\n"] * len(waiting))

    def test_shows_the_figures_of_the_program(self):
        self.assertRegex(self.answer("memory/show"), r"asked:\d+ events:12")
        wait_until(lambda: self.answer("coverage/read-counter", "trumpet_reports") == "1000\n")

    def test_logs_by_module_and_level_and_limits_the_rate(self):
        self.answer("test/log", "dbg", "not yet")
        self.answer("vlog/set", "trumpet_tem:file:dbg")
        self.answer("test/log", "dbg", "but now")
        for i in range(200):
            self.answer("test/log", "warn", f"warning {i} of many")
        wait_until(lambda: "warning 59" in self.log())
        self.assertNotIn("not yet", self.log())
        self.assertIn("|trumpet_tem|DBG|but now", self.log())
        self.assertLess(self.log().count("of many"), 200)

    def test_survives_a_change_of_the_log_pattern(self):
        for i in range(50):
            self.answer("vlog/set", f"PATTERN:file:{i} %m")
            self.answer("test/log", "info", "a line")
        wait_until(lambda: "49 a line" in self.log())
        self.assertNotIn("blocked", self.log())

    def test_reopens_its_log_for_logrotate(self):
        os.rename(self.path("small_daemon.log"), self.path("old.log"))
        self.answer("vlog/reopen")
        self.answer("test/log", "info", "after the rotation")
        wait_until(lambda: "after the rotation" in self.log())

    def test_answers_whoever_waits_and_takes_its_files_away_when_told_to_exit(self):
        self.answer("vlog/set", "unixctl:file:dbg")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(self.appctl, "test/wait")
            wait_until(lambda: "request test/wait" in self.log())
            self.assertEqual(self.answer("exit"), "")
            self.assertEqual(waiting.result().returncode, 0)
        wait_until(lambda: not os.path.exists(self.path("small_daemon.pid")))
        self.assertEqual([n for n in os.listdir(self.run_dir) if n.endswith(".ctl")], [])

    def test_a_signal_ends_it_and_takes_its_files_away(self):
        os.kill(self.pid(), signal.SIGTERM)
        wait_until(lambda: not os.path.exists(self.path("small_daemon.pid")))

    def test_refuses_to_run_twice(self):
        second = self.start("--detach", "--pidfile")
        self.assertNotEqual(second.returncode, 0)
        self.assertIn("already running", second.stderr)

    def test_comes_again_when_it_crashed_under_monitor(self):
        self.answer("exit")
        wait_until(lambda: not os.path.exists(self.path("small_daemon.pid")))
        self.start("--detach", "--pidfile", "--monitor", "--log-file", "-vconsole:off")
        first = self.pid()
        os.kill(first, signal.SIGABRT)
        wait_until(lambda: os.path.exists(self.path("small_daemon.pid")) and self.pid() != first)
        wait_until(lambda: self.appctl("test/greeting").stdout == "hello\n")

    def test_explains_its_options(self):
        text = self.start("--help").stdout
        for option in ("--greeting=TEXT", "--detach", "--pidfile", "--overwrite-pidfile", "--no-chdir",
                       "--monitor", "--user", "--unixctl", "--log-file", "--syslog-target"):
            self.assertIn(option, text)
        wrong = self.start("--nonsense")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("nonsense", wrong.stderr)


def main():
    if not os.path.exists(PROGRAM) or not os.path.exists(ENVIRONMENT_FILE):
        print("this build is without Open vSwitch\n(control_socket_test.py)")
        return 77
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
