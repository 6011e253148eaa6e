# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Figures of the switch: what its counters say between two readings, and what many such windows
say together."""

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Reading:
    """Counters of one PMD thread since it started."""
    packets: int
    idle_cycles: int
    busy_cycles: int
    emc_hits: int
    simple_hits: int
    upcalls: int
    run_ns: int = 0     # on the processor
    wait_ns: int = 0    # ready to run, but another had the processor

    def since(self, before):
        return Reading(*(now - then for now, then in zip(dataclasses.astuple(self),
                                                         dataclasses.astuple(before))))


NAMES = {"packets": "packets received", "idle_cycles": "idle cycles",
         "busy_cycles": "processing cycles", "emc_hits": "emc hits",
         "simple_hits": "simple match hits", "upcalls": "miss with success upcall"}


def read_pmd_stats(text, core):
    """The part of `dpif-netdev/pmd-stats-show` about the PMD thread on `core`."""
    for part in re.split(r"^(?=\S)", text, flags=re.M):
        if re.match(rf"pmd thread .*core_id {core}:", part):
            found = {}
            for name, label in NAMES.items():
                number = re.search(rf"^\s+{label}: (\d+)", part, re.M)
                if number is None:
                    raise ValueError(f"pmd-stats-show does not tell '{label}'")
                found[name] = int(number.group(1))
            return Reading(**found)
    raise ValueError(f"pmd-stats-show knows no PMD thread on core {core}")


def read_schedstat(text):
    """(nanoseconds run, nanoseconds waited) of /proc/PID/task/TID/schedstat."""
    run, waited, _ = text.split()
    return int(run), int(waited)


@dataclasses.dataclass(frozen=True)
class Window:
    cycles: float           # per packet, as if the thread had had the processor to itself
    counted_cycles: float   # per packet, as the switch counted them
    wait_share: float       # of the time, in which the thread waited for the processor
    packets: int
    emc_share: float
    upcalls: int
    facts: dict


def window_of(reading, facts):
    """Of the difference of two readings; None if nothing can be said: no packets came, or the
    switch began to count anew."""
    cycles = reading.idle_cycles + reading.busy_cycles
    if reading.packets <= 0 or reading.idle_cycles < 0 or reading.busy_cycles <= 0:
        return None
    ready = reading.run_ns + reading.wait_ns
    wait_share = reading.wait_ns / ready if ready else 0.0
    counted = cycles / reading.packets
    return Window(counted * (1 - wait_share), counted, wait_share, reading.packets,
                  reading.emc_hits / reading.packets, reading.upcalls, facts)


def is_seen(window):
    """Whether the monitor, if it is one that counts, saw the packets of the window: one that its
    watchdog switched off costs nothing, and proves nothing."""
    return window.facts.get("packets", window.packets) >= 0.9 * window.packets


def why_not(window):
    """Why there is no figure, of a window that is None or not seen."""
    if window is None:
        return "no packets came, or the switch began to count anew"
    return f"it saw {window.facts['packets']} of {window.packets} packets"


def quantile(values, share):
    """The value below which `share` of the others lie (the nearest one)."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def summary(windows):
    cycles = [window.cycles for window in windows]
    return {"windows": len(cycles), "median": median(cycles), "p10": quantile(cycles, 0.1),
            "min": min(cycles), "p90": quantile(cycles, 0.9), "max": max(cycles),
            "counted_median": median([window.counted_cycles for window in windows]),
            "wait_share": sum(window.wait_share for window in windows) / len(windows),
            "emc_share": median([window.emc_share for window in windows]),
            "upcalls": sum(window.upcalls for window in windows)}


def paired_ratio(windows, base):
    """Median over the turns of one window against that of `base` in the same turn: what the
    machine did slowly to both falls out.  None without common turns."""
    ratios = [windows[turn].cycles / base[turn].cycles for turn in windows if turn in base]
    return median(ratios) if ratios else None


def paired_rates(windows, base):
    """How much is forwarded in one window for each packet of `base` in the same turn."""
    rates = [base[turn].cycles / windows[turn].cycles for turn in windows if turn in base]
    return {"median": median(rates), "p10": quantile(rates, 0.1), "p90": quantile(rates, 0.9)}


def render(header, rows):
    """A table of text: first column to the left, all others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in lines)
