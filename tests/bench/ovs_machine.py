# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the bench needs of the machine, takes from it for a while, and says about it."""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import time

MEGABYTES = 1024        # of DPDK's memory for each switch: 262,144 packet buffers and the ring
SWITCHES = 5            # at a time, at most
PAGES = "/proc/sys/vm/nr_hugepages"
ENTERED = "TRUMPET_BENCH_NAMESPACE"


def enter_namespaces(with_hugepages):
    """Starts the program again where interfaces and mounts of the machine stay as they are."""
    if os.environ.get(ENTERED):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if os.geteuid() != 0:
        sys.exit("bench-ovs: needs root, for DPDK's memory and a network namespace")
    for tool, package in (("unshare", "util-linux"), ("taskset", "util-linux"), ("setsid", "util-linux"),
                          ("ip", "iproute2")):
        if shutil.which(tool) is None:
            sys.exit(f"bench-ovs: needs {tool} ({package})")
    os.environ[ENTERED] = "yes"
    os.execvp("unshare", ["unshare", "--net", *(["--mount"] if with_hugepages else []),
                          sys.executable, *sys.argv])


def check(options, paths):
    cores = os.sched_getaffinity(0)
    for core in (options.pmd_core, options.other_core):
        if core not in cores:
            sys.exit(f"bench-ovs: there is no processor {core}; --pmd-core and --other-core take "
                     f"{', '.join(map(str, sorted(cores)))}")
    if options.pmd_core == options.other_core:
        sys.exit("bench-ovs: the PMD thread needs a processor to itself")
    missing = [path for path in paths.values() if not os.path.exists(path)]
    if missing:
        sys.exit(f"bench-ovs: {missing[0]} is not there; run make first")
    free = meminfo("MemAvailable") // 1024
    if free < SWITCHES * MEGABYTES * 5 // 4:
        sys.exit(f"bench-ovs: {free} MB of memory are free; {SWITCHES} switches take "
                 f"{SWITCHES * MEGABYTES * 5 // 4}")


def meminfo(name):
    """In kB, or a plain count."""
    with open("/proc/meminfo", encoding="ascii") as text:
        return int(re.search(rf"^{name}:\s+(\d+)", text.read(), re.M).group(1))


def unpatched(root):
    """Open vSwitch without our patches and with the same compiler flags; built once, some minutes."""
    command = [os.path.join(root, "build-aux", "ovs-build"), "--patches", "none"]
    for name, switch in (("OVS_SOURCE", "--source"), ("OVS_CACHE_DIR", "--cache")):
        if os.environ.get(name):
            command += [switch, os.environ[name]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("bench-ovs: the unpatched switch could not be built")
    return f"{done.stdout.strip()}/build/vswitchd/ovs-vswitchd"


def memory(with_hugepages):
    """DPDK's options for its memory."""
    if with_hugepages:
        return f"--huge-dir {os.environ['TRUMPET_BENCH_HUGE']} --socket-mem {MEGABYTES}"
    return f"--no-huge --legacy-mem -m {MEGABYTES}"


@contextlib.contextmanager
def huge_pages(wanted, folder):
    """Reserves pages for all switches beside those in use, and puts the old number back."""
    if not wanted:
        yield
        return
    with open(PAGES, encoding="ascii") as text:
        before = int(text.read())
    need = SWITCHES * MEGABYTES // 2
    mount = f"{folder}/huge"
    os.mkdir(mount)
    try:
        _set_pages(before + need)
        if meminfo("HugePages_Free") < need:
            sys.exit(f"bench-ovs: the machine gives {meminfo('HugePages_Free')} huge pages of "
                     f"{need}; try without --hugepages")
        subprocess.run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "nodev", mount], check=True)
        os.environ["TRUMPET_BENCH_HUGE"] = mount
        yield
    finally:
        subprocess.run(["umount", mount], check=False, stderr=subprocess.DEVNULL)
        _set_pages(before)


def _set_pages(count):
    with open(PAGES, "w", encoding="ascii") as out:
        out.write(str(count))


def describe(options):
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        model = re.search(r"model name\s*:\s*(.*)", text.read())
    return {"processor": model.group(1) if model else platform.machine(), "count": os.cpu_count(),
            "kernel": platform.release(), "load_average": round(os.getloadavg()[0], 2),
            "huge_pages": options.hugepages, "window_s": options.window, "rounds": options.rounds,
            "sweep_budget_us": options.budget_us,
            "pauses_per_second": pauses_per_second(options.pmd_core)}


def pauses_per_second(core, seconds=1.0, pause_us=50):
    """How often a processor does nothing for its thread for so long: interrupts, and a hypervisor
    that gives it to others.  The kernel takes most of it for the thread's own time, so a monitor
    that sweeps much is switched off by its watchdog where pauses are many."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        count, last = 0, time.perf_counter_ns()
        end = last + int(seconds * 1e9)
        while last < end:
            now = time.perf_counter_ns()
            count += now - last > 1000 * pause_us
            last = now
        return round(count / seconds)
    finally:
        os.sched_setaffinity(0, before)
