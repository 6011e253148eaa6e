# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What tests of our daemons share: a daemon in a folder of its own, asked by Open vSwitch's own
ovs-appctl, and a stock switch beside it.  Tests import it by this folder's path."""

import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
CONTROLLER = os.path.join(BUILD, "controller/daemon/trumpet-controller")
ENVIRONMENT_FILE = os.path.join(BUILD, "vswitchd-plugin/ovs-env.sh")
PATIENCE_S = 60


def wait_until(condition, what="something"):
    """Asks until `condition()` is true, and gives its answer."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.01)  # between looks at the condition


def status_of(pid):
    """Of a process, as the kernel tells it; None if there is none."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
            return dict(line.rstrip("\n").split(":\t", 1) for line in lines if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_running(pid):
    status = status_of(pid)
    return status is not None and not status["State"].startswith("Z")


def program_of(pid):
    """The path of the program that a process runs; None if there is none, or it is not ours to see."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return None


def family(pid):
    """A daemon, and the one that monitors it if there is one: it runs the same program, under a name
    of its own."""
    status, program = status_of(pid), program_of(pid)
    if status is None or program is None:
        return []
    parent = int(status["PPid"])
    return [pid, parent] if program_of(parent) == program else [pid]


def ovs_path(name):
    """Of a program of the Open vSwitch that this build has, as OVS_APPCTL."""
    with open(ENVIRONMENT_FILE, encoding="utf-8") as lines:
        return re.search(rf"^{name}='(.*)'$", lines.read(), re.M).group(1)


def run(command, env, text=None):
    return subprocess.run(command, env=env, input=text, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)


class DaemonTest(unittest.TestCase):
    """PROGRAM is the daemon's path; its files lie in a folder that goes with the test."""

    PROGRAM = CONTROLLER

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="trumpet-")
        self.addCleanup(self.folder.cleanup)
        self.env = dict(os.environ, OVS_RUNDIR=self.folder.name, OVS_LOGDIR=self.folder.name,
                        TRUMPET_SYSCONFDIR=self.folder.name, TRUMPET_STATEDIR=self.folder.name,
                        HOME=self.folder.name, XDG_CONFIG_HOME=self.folder.name)
        self.name = os.path.basename(self.PROGRAM)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run_program(self, *arguments):
        return run([self.PROGRAM, *arguments], self.env)

    def start(self, *arguments):
        """Detached, until the test ends."""
        started = self.run_program("--detach", "--pidfile", "--log-file", "-vconsole:off", *arguments)
        self.assertEqual(started.returncode, 0, started.stderr)
        self.addCleanup(self.stop)

    def start_controller(self, config, *arguments):
        """Without a database, at free ports; gives these."""
        self.write("controller.yaml", config)
        self.start("--db=memory:", "--reports-db=", "--agents=ptcp:0:127.0.0.1",
                   "--ports-file=" + self.path("ports.json"), *arguments)
        return json.loads(self.read("ports.json"))

    def stop(self):
        """Only when its processes are gone, one that monitors it with them, does nothing write to its
        folder any more."""
        processes = []
        if os.path.exists(self.path(self.name + ".pid")):
            processes = family(int(self.read(self.name + ".pid")))
            self.appctl("exit")
        wait_until(lambda: not os.path.exists(self.path(self.name + ".pid")), "the daemon's end")
        wait_until(lambda: not any(map(is_running, processes)), "the end of the daemon's processes")

    def appctl(self, *arguments):
        return run([ovs_path("OVS_APPCTL"), "-t", self.name, *arguments], self.env)

    def answer(self, *arguments):
        done = self.appctl(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def log(self):
        return self.read(self.name + ".log")


class Vswitch:
    """A stock ovs-vswitchd, or ours, with its database, all devices of which are dummies; it needs
    no privileges, and goes with the test."""

    def __init__(self, test, program="OVS_VSWITCHD_PLAIN", socket="db.sock"):
        self.folder = test.path("switch")
        os.mkdir(self.folder)
        self.env = dict(test.env, OVS_RUNDIR=self.folder, OVS_LOGDIR=self.folder,
                        OVS_SYSCONFDIR=self.folder, OVS_DBDIR=self.folder)
        self.database = f"unix:{self.folder}/{socket}"
        self._run("OVSDB_TOOL", "create", f"{self.folder}/conf.db", ovs_path("OVS_SCHEMA"))
        self._spawn(test, "OVSDB_SERVER", f"--remote=p{self.database}", f"{self.folder}/conf.db",
                    f"--unixctl={self.folder}/db.ctl")
        wait_until(lambda: os.path.exists(f"{self.folder}/{socket}"), "the switch's database")
        self.vsctl("--no-wait", "init")
        self._spawn(test, program, self.database, "--enable-dummy=override",
                    "--disable-system", f"--unixctl={self.folder}/vswitchd.ctl",
                    f"--log-file={self.folder}/vswitchd.log", "-vfile:info")
        self.vsctl("set", "Open_vSwitch", ".", "external_ids:up=1")  # returns when it is

    def _spawn(self, test, name, *arguments):
        process = subprocess.Popen(
            [ovs_path(name), "--no-chdir", "-vconsole:off", "-vsyslog:off", *arguments], env=self.env,
            stdin=subprocess.DEVNULL)

        def end():
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE_S)
        test.addCleanup(end)

    def _run(self, name, *arguments):
        done = run([ovs_path(name), *arguments], self.env)
        if done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def vsctl(self, *arguments):
        return self._run("OVS_VSCTL", "--timeout=60", f"--db={self.database}", *arguments)

    def appctl(self, *arguments):
        return self._run("OVS_APPCTL", "-t", f"{self.folder}/vswitchd.ctl", *arguments)

    def ofctl(self, version, command, bridge, *arguments):
        return self._run("OVS_OFCTL", "-O", version, command,
                         f"unix:{self.folder}/{bridge}.mgmt", *arguments)

    def add_bridge(self, name, number, protocols="OpenFlow13,OpenFlow14,OpenFlow15"):
        """Ports 1 and 2; `number` is its datapath id."""
        self.vsctl("add-br", name, "--", "set", "bridge", name, "datapath_type=dummy",
                   "fail-mode=secure", f"protocols={protocols}",
                   f"other_config:datapath-id={number:016x}",
                   *(word for port in "12" for word in (
                       "--", "add-port", name, f"{name}p{port}", "--", "set", "interface",
                       f"{name}p{port}", "type=dummy", f"ofport_request={port}")))

    def log(self):
        with open(f"{self.folder}/vswitchd.log", encoding="utf-8") as text:
            return text.read()


class Result(unittest.TextTestResult):
    """To each failure it adds how the logs end that lie in the test's folder, which goes with it."""

    LINES = 12  # of each log

    def addError(self, test, err):
        super().addError(test, err)
        self._add_logs(self.errors)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._add_logs(self.failures)

    def _add_logs(self, failed):
        test, text = failed[-1]
        folder = getattr(test, "folder", None)
        for path in sorted(glob.glob(f"{folder.name}/**/*.log", recursive=True) if folder else []):
            with open(path, encoding="utf-8", errors="replace") as log:
                text += f"\n{os.path.basename(path)} ends:\n" + "".join(log.readlines()[-self.LINES:])
        failed[-1] = (test, text)


def main(*programs):
    """Runs the tests of the script; 77 (skipped) in a build without these programs, which is one
    without Open vSwitch."""
    missing = [path for path in (*programs, ENVIRONMENT_FILE) if not os.path.exists(path)]
    if missing:
        print(f"this build is without Open vSwitch\n({os.path.basename(sys.argv[0])})")
        return 77
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
    result = unittest.main(exit=False, testRunner=runner).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed else 0
