# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is compared: the switch as it is, its own monitors, and ours in several states."""

import multiprocessing
import os
import re
import signal
import socket

from ovs_workload import event_lines, write_events
from switch import eventually

# Beside all traffic: a packet is parsed and looked up, and no event wants it.
NOWHERE = "dstIP=192.0.2.1, sum(packets) >= 80000000, 10ms"
COUNTERS = ("packets", "matched_packets", "flows_added", "batches", "batch_cycles", "sweep_cycles",
            "epochs", "epochs_skipped", "uncounted_packets", "withheld_packets")
ATTACK_TABLE = 16384    # flows: the capture has ten times as many, or it would soon be known
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "../../docs/measurements")
VERSUS = ", versus"      # after the names of what runs in the other ovs-vswitchd
PATIENCE = 120      # seconds, for a machine that has other things to do


class Contender:
    """`enter()` brings the switch into the state that is measured."""

    is_attack = False

    def __init__(self, name, switch):
        self.name, self.switch = name, switch

    def enter(self):
        """Nothing to do for the switch as it is."""

    def leave(self):
        """Takes back what would cost the other contenders of the same switch."""

    def facts(self):
        """Counters that rise, to be told with the figure."""
        return {}

    def state(self):
        """In a few words, for a window that does not count."""
        return "it counts no packets of its own"


class Exporter(Contender):
    """sFlow or IPFIX of the switch itself, to `port` on this machine."""

    def __init__(self, name, switch, table, columns, sink):
        super().__init__(name, switch)
        self.table, self.columns, self.sink = table, columns, sink

    def enter(self):
        self.switch.vsctl("--", "--id=@it", "create", self.table, *self.columns,
                          "--", "set", "bridge", "br0", f"{self.table.lower()}=@it")

    def leave(self):
        self.switch.vsctl("clear", "bridge", "br0", self.table.lower())

    def facts(self):
        return {"datagrams": self.sink.datagrams}


class Monitor(Contender):
    """Our monitor; `lines` are its events, `is_on` whether it is enabled.

    Events are installed once, so a switch has one such contender with events: a change of events
    leaves the flow table full of entries of the old ones for some while, which is not what is
    measured here.  Under attack it is ready when it withholds."""

    def __init__(self, name, switch, lines, is_on=True):
        super().__init__(name, switch)
        self.is_on, self.is_installed = is_on, False
        self.path = None
        lines = list(lines)
        if lines:
            self.path, self.last = f"{switch.folder}/events.yaml", f"bench-{len(lines) - 1}"
            write_events(self.path, lines)

    def enter(self):
        if self.is_attack:
            self.switch.set_config(max_flows=str(ATTACK_TABLE))
        self.switch.set_config(enable="true" if self.is_on else "false")
        if self.is_on and not self.switch.status()["enabled"]:
            self.switch.rpc("trumpet/enable")   # its watchdog had switched it off
        if self.path is None:
            return
        if not self.is_installed:
            self.switch.rpc("trumpet/event-add", f"@{self.path}")
            eventually(self._runs, f"{self.name} is active", PATIENCE)
            self.is_installed = True
        met = [-1]

        def is_steady():
            counters = self._counters()
            if self.is_attack:
                return counters["admission_threshold_bytes"] != 0
            met.append(counters["flows_added"])
            return met[-1] == met[-2]

        eventually(is_steady, f"{self.name} knows all flows", PATIENCE, pause=0.05)

    def _counters(self):
        return next(thread["counters"] for thread in self.switch.status()["threads"]
                    if thread["is_pmd"])

    def _runs(self):
        shown = self.switch.ask("event-show", self.last)
        return shown["generation"] and all(
            thread["attached"] and thread["generation"] >= shown["generation"]
            for thread in self.switch.status()["threads"] if thread["is_pmd"])

    def facts(self):
        if self.path is None:
            return {}
        counters = self._counters()
        return {name: counters[name] for name in COUNTERS}

    def state(self):
        """What the switch says of the monitor, with the last of its log about it."""
        state = self.switch.status()["state"]
        with open(f"{self.switch.folder}/switch.log", encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if "trumpet" in line and "|INFO|" not in line]
        return f'"{state}"' + (f"; its log ends with: {lines[-1]}" if lines else "")


class Program(Contender):
    """A measurement program, which takes all packets of the source.

    It is installed for its windows only, so a switch may have several."""

    def __init__(self, name, switch, path):
        super().__init__(name, switch)
        self.path = path

    def enter(self):
        self.switch.set_config(enable="true")
        with open(self.path, encoding="utf-8") as text:
            has_port = "param PORT" in text.read()
        ports = self.switch.rpc("dpctl/show")
        number = re.search(rf"port (\d+): src{self.switch.sources}\b", ports).group(1)
        self.switch.rpc("trumpet/program-add", "bench", f"@{self.path}",
                        *([f"PORT={number}"] if has_port else []))
        eventually(self._counts, f"{self.name} sees packets", PATIENCE, pause=0.02)

    def _counts(self):
        variables = self.switch.ask("program-read", "bench")["variables"]
        return any(variable["in_use"] for variable in variables)

    def leave(self):
        self.switch.rpc("trumpet/program-del", "bench")


class Sink:
    """Receives datagrams on this machine, in a process of its own, and counts them."""

    def __init__(self, core):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self._count = multiprocessing.Value("Q", 0, lock=False)
        self._process = multiprocessing.Process(target=self._receive, args=(core,), daemon=True)
        self._process.start()

    def _receive(self, core):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.sched_setaffinity(0, {core})
        os.nice(5)
        buffer = bytearray(1 << 16)
        while True:
            self.socket.recv_into(buffer)
            self._count.value += 1

    @property
    def datagrams(self):
        return self._count.value

    def close(self):
        self._process.terminate()
        self._process.join()
        self.socket.close()


def make(start, is_wanted, sink, is_attack=False, has_versus=False):
    """The contenders whose names `is_wanted`, the yardstick first.  `start(key)` gives the switch of
    that name: "plain" is unpatched, all others have the monitor.  With `has_versus` all of ours
    once more, in switches whose names end with VERSUS."""
    target = f"127.0.0.1:{sink.port}"

    def sflow(rate):
        return "plain", Exporter, ("sFlow", ("agent=lo", f'target="{target}"', f"sampling={rate}",
                                             "header=128", "polling=0"), sink)

    everything = {
        "plain": ("plain", Contender, ()),
        "off": ("idle", Monitor, ([], False)),
        "0 triggers": ("idle", Monitor, ([],)),
        "1 trigger, unmatched": ("unmatched", Monitor, ([NOWHERE],)),
        "4096 triggers, 1 per packet": ("one", Monitor, (list(event_lines(4096, 1)),)),
        "4096 triggers, 8 per packet": ("eight", Monitor, (list(event_lines(4096, 8)),)),
        "heavy hitters": ("idle", Program, (f"{PROGRAMS}/uc10_two_phase_hh.mafia",)),
        "count-min": ("idle", Program, (f"{PROGRAMS}/uc02_flow_volume_cm.mafia",)),
        "packet counter": ("idle", Program, (f"{HERE}/packet_counter.mafia",)),
        "sFlow 1:256": sflow(256), "sFlow 1:64": sflow(64), "sFlow 1:1": sflow(1),
        "IPFIX 1:64": ("plain", Exporter,
                       ("IPFIX", (f'targets="{target}"', "sampling=64", "cache_active_timeout=1",
                                  "cache_max_flows=200000"), sink)),
    }
    if has_versus:
        everything.update({name + VERSUS: (key + VERSUS, kind, more)
                           for name, (key, kind, more) in everything.items() if key != "plain"})
    contenders = [kind(name, start(key), *more) for name, (key, kind, more) in everything.items()
                  if is_wanted(name)]
    for contender in contenders:
        contender.is_attack = is_attack
    return contenders
