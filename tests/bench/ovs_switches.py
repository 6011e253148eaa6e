# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Switches for the bench: net_pcap that never ends -> br0 -> net_null, one PMD thread.

Several live side by side, each with the same PMD core, and only the one that is resumed runs: the
others are stopped by signal, so that windows of two builds can follow each other within tenths of
a second.  A stopped switch costs nothing but memory.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))

from ovs_figures import read_pmd_stats, read_schedstat  # noqa: E402
from ovs_workload import DESTINATION_MAC  # noqa: E402
from switch import CommandError, Switch, eventually  # noqa: E402

SINK_MAC = ":".join(f"{byte:02x}" for byte in DESTINATION_MAC)


class BenchSwitch(Switch):
    """`program` is the ovs-vswitchd to run; `pmd_core` and `other_core` are processors.  All but
    one switch of a network namespace must be `apart`: the datapath has an interface there."""

    def __init__(self, paths, program, pmd_core, other_core, memory, apart=False, realtime=False):
        self.pmd_core, self.other_core, self.memory = pmd_core, other_core, memory
        self.realtime = realtime
        self.apart = ["unshare", "--net"] if apart else []
        self.sources = 0        # names of DPDK's devices cannot be used again at once
        self.is_stopped = False
        super().__init__(dict(paths, OVS_VSWITCHD=program))

    def _start(self):
        database = f"{self.folder}/conf.db"
        self.database = f"unix:{self.folder}/db.sock"
        self.control = f"{self.folder}/switch.ctl"
        subprocess.run([self.paths["OVSDB_TOOL"], "create", database, self.paths["OVS_SCHEMA"]],
                       check=True, env=self.environment)
        self._spawn("ovsdb-server", self._on_other_core(
            self.paths["OVSDB_SERVER"], database, f"--remote=punix:{self.folder}/db.sock",
            f"--unixctl={self.folder}/ovsdb.ctl"))
        eventually(lambda: os.path.exists(f"{self.folder}/db.sock"), "ovsdb-server listens")
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true",
                   f"other_config:pmd-cpu-mask={1 << self.pmd_core:#x}",
                   f"other_config:dpdk-lcore-mask={1 << self.other_core:#x}",
                   f"other_config:dpdk-extra=--no-pci {self.memory} --file-prefix="
                   + os.path.basename(self.folder))
        self._spawn("ovs-vswitchd", self._on_other_core(
            self.paths["OVS_VSWITCHD"], self.database, f"--unixctl={self.control}",
            f"--log-file={self.folder}/switch.log"))
        eventually(lambda: os.path.exists(self.control), "ovs-vswitchd listens", 60)
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                   "fail-mode=secure")
        self.add_dpdk_port("sink0", "net_null0,no-rx=1")
        task = eventually(self.pmd_task, "a PMD thread runs")
        if self.realtime:
            os.sched_setscheduler(int(os.path.basename(task)), os.SCHED_FIFO, os.sched_param(1))
            # The rest of the switch, too: whoever had the PMD's processor comes to the other one.
            with contextlib.suppress(OSError):
                with open(f"/proc/{self.pid}/autogroup", "w", encoding="ascii") as group:
                    group.write("-15")

    def _on_other_core(self, *command):
        # A session of its own: an interrupt from the terminal is for the bench, which ends them.
        return ["setsid", *self.apart, "taskset", "-c", str(self.other_core), *command]

    @property
    def pid(self):
        return self.processes[1].pid

    def pmd_task(self):
        """Path in /proc of the PMD thread, or None."""
        folder = f"/proc/{self.pid}/task"
        for task in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                with open(f"{folder}/{task}/comm", encoding="utf-8") as name:
                    if name.read().startswith(f"pmd-c{self.pmd_core:02}"):
                        return f"{folder}/{task}"
        return None

    # --- one at a time -------------------------------------------------------

    def stop(self):
        if not self.is_stopped:
            os.kill(self.pid, signal.SIGSTOP)
            self.is_stopped = True

    def resume(self):
        if self.is_stopped:
            os.kill(self.pid, signal.SIGCONT)
            self.is_stopped = False

    def close(self):
        if len(self.processes) > 1 and self.processes[1].poll() is None:
            self.resume()
            # Bridges and ports first, the database after it, or the switch waits for the latter.
            with contextlib.suppress(CommandError, AssertionError, OSError):
                self.rpc("exit", "--cleanup")
                self.processes[1].wait(20)
        super().close()
        # DPDK leaves the book-keeping of its memory behind.
        shutil.rmtree(f"/run/dpdk/{os.path.basename(self.folder)}", ignore_errors=True)

    # --- what it switches ----------------------------------------------------

    def set_source(self, capture):
        """Replaces the port that packets come from."""
        self.vsctl("--if-exists", "del-port", f"src{self.sources}")
        self.sources += 1
        self.add_dpdk_port(f"src{self.sources}",
                           f"net_pcap{self.sources},rx_pcap={capture},infinite_rx=1")

    def set_forwarding(self, kind):
        """`normal`: a learning switch; `port`: one rule from the source to the sink."""
        rule = "actions=NORMAL"
        if kind == "port":
            rule = f"in_port=src{self.sources},actions=output:sink0"
        self.ofctl("del-flows", "br0")
        self.ofctl("--names", "add-flow", "br0", rule)
        # A sink that says nothing is never learnt, and unknown addresses flood.
        self.rpc("fdb/add", "br0", "sink0", "0", SINK_MAC)
        self.rpc("revalidator/purge")

    def reading(self):
        """The counters of the PMD thread now."""
        reading = read_pmd_stats(self.rpc("dpif-netdev/pmd-stats-show"), self.pmd_core)
        with open(f"{self.pmd_task()}/schedstat", encoding="ascii") as text:
            run, waited = read_schedstat(text.read())
        return type(reading)(**{**vars(reading), "run_ns": run, "wait_ns": waited})
