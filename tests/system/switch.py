# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A patched switch of its own: private run directory, private database, nothing shared."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time


class CommandError(Exception):
    """What ovs-appctl would print as an error."""


def read_environment(path):
    """The paths that the build wrote down (NAME='VALUE' lines)."""
    with open(path, encoding="utf-8") as lines:
        return dict(re.match(r"(\w+)='(.*)'", line).groups() for line in lines)


def eventually(condition, what, seconds=30, pause=0.01):
    """Asks until `condition()` is true, and gives its answer."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"did not happen within {seconds} s: {what}")
        time.sleep(pause)


def at_best(attempt, is_right, tries=3):
    """The first answer of `attempt` that is right, or else the last: of what a machine that stands
    still for a while spoils, though nothing is wrong with what is tested."""
    for _ in range(tries):
        answer = attempt()
        if is_right(answer):
            break
    return answer


@contextlib.contextmanager
def standstill():
    """A list with the seconds for which other processes of the machine have kept this one from running."""
    told, is_over = [], threading.Event()

    def watch():
        while not is_over.is_set():
            begun = time.monotonic()
            time.sleep(0.01)
            late = time.monotonic() - begun - 0.01
            if late > 0.02:
                told.append(late)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield told
    finally:
        is_over.set()
        watcher.join()


def is_listening(path):
    """Whether somebody listens at the socket; it is there a little earlier."""
    with socket.socket(socket.AF_UNIX) as peer:
        return peer.connect_ex(path) == 0


def call(control, method, *arguments):
    """A command at the control socket of a daemon."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(control)
        peer.sendall(json.dumps({"id": 0, "method": method, "params": arguments}).encode())
        text, decoder = "", json.JSONDecoder()
        while True:
            got = peer.recv(1 << 16)
            if not got:
                raise AssertionError(f"the daemon hung up on {method}")
            text += got.decode()
            try:
                answer, _ = decoder.raw_decode(text)
                break
            except json.JSONDecodeError:
                continue
    if answer["error"] is not None:
        raise CommandError(answer["error"].strip())
    return answer["result"]


DPDK_PREFIX = f"trumpet-system{os.getpid()}"


class Switch:
    """Starts ovsdb-server and ovs-vswitchd with DPDK, without huge pages; close() leaves nothing."""

    def __init__(self, paths):
        self.paths = paths
        self.folder = tempfile.mkdtemp(prefix="trumpet-system-")
        self.processes = []
        self.environment = dict(os.environ, OVS_RUNDIR=self.folder, OVS_LOGDIR=self.folder,
                                OVS_DBDIR=self.folder, OVS_SYSCONFDIR=self.folder,
                                XDG_RUNTIME_DIR=self.folder)
        try:
            self._start()
        except BaseException:
            for name in ("ovs-vswitchd.out", "switch.log"):
                if os.path.exists(f"{self.folder}/{name}"):
                    with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as lines:
                        print("".join(f"#   {line}" for line in lines.readlines()[-15:]))
            self.close()
            raise

    def _start(self):
        self._start_database()
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   "other_config:pmd-cpu-mask=0x2", "other_config:dpdk-lcore-mask=0x1",
                   "other_config:dpdk-extra=--no-pci --no-huge --legacy-mem -m 512 "
                   f"--file-prefix={DPDK_PREFIX}")
        self._start_vswitchd()
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                   "fail-mode=secure")
        # A port that is always there keeps the PMD thread, and with it the monitor, in place.
        self.add_dpdk_port("sink0", "net_null0,no-rx=1")
        self._wait_for_pmd()

    def _start_database(self):
        database = f"{self.folder}/conf.db"
        # Not where ovs-vswitchd looks by itself: agents, too, follow the one that it is told.
        path = f"{self.folder}/switch.sock"
        self.database = f"unix:{path}"
        subprocess.run([self.paths["OVSDB_TOOL"], "create", database, self.paths["OVS_SCHEMA"]],
                       check=True, env=self.environment)
        self._spawn("ovsdb-server", [self.paths["OVSDB_SERVER"], database,
                                     f"--remote=punix:{path}",
                                     f"--unixctl={self.folder}/ovsdb.ctl"])
        eventually(lambda: is_listening(path), "ovsdb-server listens")
        self.vsctl("--no-wait", "init")

    def _start_vswitchd(self, *options):
        self.control = f"{self.folder}/switch.ctl"
        self._spawn("ovs-vswitchd", [self.paths["OVS_VSWITCHD"], self.database,
                                     f"--unixctl={self.control}",
                                     f"--log-file={self.folder}/switch.log", *options])
        eventually(lambda: is_listening(self.control), "ovs-vswitchd listens")

    def _wait_for_pmd(self):
        eventually(lambda: any(t["is_pmd"] for t in self.status()["threads"]), "a PMD thread runs")

    def crash_and_restart(self, *options):
        """Flows are gone then, and bridges are there."""
        crashed = self.processes.pop()
        crashed.kill()
        crashed.wait()
        os.remove(self.control)
        self._start_vswitchd(*options)
        self._wait_for_pmd()

    def _spawn(self, name, command):
        with open(f"{self.folder}/{name}.out", "wb") as out:
            self.processes.append(subprocess.Popen(command, env=self.environment, stdout=out,
                                                   stderr=out, stdin=subprocess.DEVNULL))

    def is_alive(self):
        return all(process.poll() is None for process in self.processes)

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(f"/var/run/dpdk/{DPDK_PREFIX}", ignore_errors=True)  # DPDK leaves it there

    def log(self):
        with open(f"{self.folder}/switch.log", encoding="utf-8", errors="replace") as lines:
            return lines.read()

    def vsctl(self, *arguments):
        done = subprocess.run([self.paths["OVS_VSCTL"], f"--db={self.database}", "--timeout=20",
                               *arguments], capture_output=True, text=True, env=self.environment,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"ovs-vsctl {arguments}: {done.stderr}")
        return done.stdout.strip()

    def set_config(self, **values):
        """set_config(enable="true") sets other_config:trumpet-enable."""
        self.vsctl("set", "Open_vSwitch", ".",
                   *(f"other_config:trumpet-{key.replace('_', '-')}=\"{value}\""
                     for key, value in values.items()))

    def clear_config(self, *keys):
        for key in keys:
            self.vsctl("remove", "Open_vSwitch", ".", "other_config", f"trumpet-{key}")

    def ofctl(self, *arguments):
        subprocess.run([self.paths["OVS_OFCTL"], *arguments], check=True, env=self.environment)

    def ofctl_text(self, *arguments):
        return subprocess.run([self.paths["OVS_OFCTL"], *arguments], check=True, text=True,
                              capture_output=True, env=self.environment).stdout

    def heed_flows(self):
        """From now on packets go by the flows that there are.

        Megaflows are not left to be brought up to date: where two overlap, Open vSwitch 3.1 gives the
        new actions to the one that it finds first, and the other drops or sends as before, for as long
        as packets come by it.  One that is being looked at is not purged, so the datapath is told to
        forget them, too; what is known of those that it has forgotten is purged afterwards.
        """
        for command in ("revalidator/wait", "revalidator/purge", "dpctl/del-flows",
                        "revalidator/wait", "revalidator/purge"):
            self.rpc(command)

    def appctl(self, *arguments):
        """As people type it: (exit code, standard output, standard error)."""
        done = subprocess.run([self.paths["OVS_APPCTL"], "-t", self.control, *arguments],
                              capture_output=True, text=True, env=self.environment, check=False)
        return done.returncode, done.stdout, done.stderr

    def rpc(self, method, *arguments):
        """The same without a process for each call."""
        return call(self.control, method, *arguments)

    def ask(self, command, *arguments):
        return json.loads(self.rpc(f"trumpet/{command}", "json", *arguments))

    def status(self):
        return self.ask("status")

    def add_dpdk_port(self, name, devargs):
        self.vsctl("add-port", "br0", name, "--", "set", "interface", name, "type=dpdk",
                   f"options:dpdk-devargs={devargs}")
        problem = self.vsctl("get", "interface", name, "error")
        if problem != "[]":
            raise AssertionError(f"port {name}: {problem}")

    def install(self, events):
        """{name: one line}; returns once all PMD threads run them."""
        for name, line in events.items():
            self.rpc("trumpet/event-add", f"name={name}", line)

        def runs():
            shown = self.ask("event-show", name)
            threads = [t for t in self.status()["threads"] if t["is_pmd"]]
            return shown["generation"] and all(
                t["attached"] and t["generation"] >= shown["generation"] for t in threads)

        eventually(runs, f"event {name} is active")

    def remove_events(self):
        self.rpc("trumpet/event-del", "--all")
        eventually(lambda: not self.status()["running"], "the monitor comes to rest")

    def packets_seen(self):
        return sum(t["counters"]["packets"] for t in self.status()["threads"])

    def totals(self):
        """{event: {bucket: sum of the values of its reports}}"""
        sums = {}
        for report in self.ask("reports", "--last", "1000"):
            add_report(sums, report)
        return sums


def add_report(sums, report):
    buckets = sums.setdefault(report["event"], {})
    key = json.dumps(report["bucket"], sort_keys=True)
    buckets[key] = buckets.get(key, 0) + report["value"]


# Open vSwitch 4 calls them otherwise, and leaves out what is lost of nothing.
NEWER_STATS = {"packets received": "Rx packets", "miss with failed upcall": "- Lost upcalls"}


def stat_of(switch, name):
    """Of the first packet thread."""
    text = switch.rpc("dpif-netdev/pmd-stats-show")
    found = re.search(rf"(?:{name}|{NEWER_STATS[name]}): *(\d+)", text)
    assert found or "Rx packets: " in text, text
    return int(found.group(1)) if found else 0


def settled(read):
    """The value, once it is the same twice."""
    first = read()
    return first if read() == first else None


def sent_by(switch, port):
    text = switch.rpc("dpctl/show", "-s")
    section = re.search(rf"port \d+: {port} .*?TX packets:(\d+)", text, re.S)
    return int(section.group(1))
