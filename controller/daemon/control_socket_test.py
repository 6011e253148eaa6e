#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The daemon side of the controller as an administrator meets it, by Open vSwitch's own ovs-appctl.

usage: control_socket_test.py (environment: top_builddir)

Skipped (77) in a build without Open vSwitch.
"""

import concurrent.futures
import os
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/controller"))

from daemon_kit import BUILD, DaemonTest, family, main, wait_until  # noqa: E402

PROGRAM = os.path.join(BUILD, "controller/daemon/small_daemon")


class SmallDaemonTest(DaemonTest):
    PROGRAM = PROGRAM

    def setUp(self):
        super().setUp()
        self.start()

    def pid(self):
        return int(self.read("small_daemon.pid"))

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
        self.assertEqual([n for n in os.listdir(self.folder.name) if n.endswith(".ctl")], [])

    def test_a_signal_ends_it_and_takes_its_files_away(self):
        os.kill(self.pid(), signal.SIGTERM)
        wait_until(lambda: not os.path.exists(self.path("small_daemon.pid")))

    def test_refuses_to_run_twice(self):
        second = self.run_program("--detach", "--pidfile")
        self.assertNotEqual(second.returncode, 0)
        self.assertIn("already running", second.stderr)

    def test_comes_again_when_it_crashed_under_monitor(self):
        self.answer("exit")
        wait_until(lambda: not os.path.exists(self.path("small_daemon.pid")))
        self.start("--monitor")
        first = self.pid()
        os.kill(first, signal.SIGABRT)
        wait_until(lambda: os.path.exists(self.path("small_daemon.pid")) and self.pid() != first)
        wait_until(lambda: self.appctl("test/greeting").stdout == "hello\n")
        self.assertEqual(len(family(self.pid())), 2)

    def test_explains_its_options(self):
        text = self.run_program("--help").stdout
        for option in ("--greeting=TEXT", "--detach", "--pidfile", "--overwrite-pidfile", "--no-chdir",
                       "--monitor", "--user", "--unixctl", "--log-file", "--syslog-target"):
            self.assertIn(option, text)
        wrong = self.run_program("--nonsense")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("nonsense", wrong.stderr)


if __name__ == "__main__":
    sys.exit(main(PROGRAM))
