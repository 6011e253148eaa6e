# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A laboratory of one's own: a run directory, network namespaces, processes in them.

Everything made is written to DIRECTORY/lab.json at once, so that remove() can
take it away again, from this process or (run --stop DIRECTORY) from another.
Nothing outside is touched: no system daemon, no address or link of the host.
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from show import DemoError

STATE = "lab.json"
CLONE_NEWNET = 0x40000000               # of sched.h


def run(argv, timeout=60, env=None, what=None):
    """Output of a command that must succeed."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout, env=env, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DemoError("%s: %s" % (what or argv[0], error)) from None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise DemoError("%s failed: %s" % (what or " ".join(argv[:6]), lines[-1]))
    return done.stdout


def wait_until(condition, what, seconds=15.0, pause=0.02):
    """Waits for `condition` to give something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise DemoError("waited %g s in vain for %s" % (seconds, what))
        let_run(pause)


def let_run(seconds):
    """Lets traffic run for a while."""
    threading.Event().wait(seconds)


def started(pid):
    """When a process was started, in ticks since the machine was; None: there is none."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return int(f.read().rpartition(")")[2].split()[19])
    except OSError:
        return None


class Lab:
    def __init__(self, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="trumpet-demo.")
        self.tag = "trumpet-demo-%d" % os.getpid()
        self.namespaces = []
        self.processes = []             # (pid, when it was started)
        self._children = {}             # pid -> Popen
        self._home = None               # the namespace that enter() has left
        self._save()

    @classmethod
    def load(cls, directory):
        path = os.path.join(directory, STATE)
        try:
            with open(path) as f:
                state = json.load(f)
        except (OSError, ValueError):
            raise DemoError("%s is not the directory of a demonstration" % directory) from None
        lab = cls.__new__(cls)
        lab.directory, lab.tag = directory, state["tag"]
        lab.namespaces = state["namespaces"]
        lab.processes = [tuple(each) for each in state["processes"]]
        lab._children, lab._home = {}, None
        return lab

    def _save(self):
        path = self.path(STATE)
        with open(path + ".new", "w") as f:
            json.dump({"tag": self.tag, "namespaces": self.namespaces, "processes": self.processes}, f)
        os.rename(path + ".new", path)

    def path(self, name):
        return os.path.join(self.directory, name)

    # --- namespaces ----------------------------------------------------------

    def add_namespace(self, name):
        full = "%s-%s" % (self.tag, name)
        self.namespaces.append(full)
        self._save()
        run(["ip", "netns", "add", full], what="making a network namespace")
        self.run_in(name, ["ip", "link", "set", "lo", "up"])

    def enter(self, name):
        """This thread, and all threads and processes that it starts, are in the namespace from now on;
        remove() leaves it again."""
        if self._home is None:
            self._home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        inside = os.open("/run/netns/%s-%s" % (self.tag, name), os.O_RDONLY)
        self._enter(inside)
        os.close(inside)

    @staticmethod
    def _enter(namespace):
        library = ctypes.CDLL(None, use_errno=True)
        if library.setns(namespace, CLONE_NEWNET) != 0:
            raise DemoError("entering a network namespace: " + os.strerror(ctypes.get_errno()))

    def inside(self, name, argv):
        """`argv` as a command that runs in the namespace."""
        return ["nsenter", "--net=/run/netns/%s-%s" % (self.tag, name)] + argv

    def run_in(self, name, argv, **more):
        return run(self.inside(name, argv), **more)

    def link(self, namespace, name, far_namespace, far_name, mac=None):
        """A cable: a pair of veth devices, both still down, that carry frames as they will be seen."""
        ends = ["%s-%s" % (self.tag, each) for each in (namespace, far_namespace)]
        run(["ip", "link", "add", name, "netns", ends[0]] + (["address", mac] if mac else [])
            + ["type", "veth", "peer", "name", far_name, "netns", ends[1]], what="making a veth pair")
        self._quiet(namespace, name)
        self._quiet(far_namespace, far_name)

    def _quiet(self, namespace, link):
        """No IPv6 of its own, and no frame longer than the MTU or without its checksum."""
        if os.path.isdir("/proc/sys/net/ipv6"):
            self.run_in(namespace, ["sysctl", "-qw", "net.ipv6.conf.%s.disable_ipv6=1" % link])
        self.run_in(namespace, ["ethtool", "-K", link, "tx", "off", "tso", "off", "gso", "off", "gro",
                                "off"], what="switching off offloads with ethtool")

    def raise_link(self, namespace, name, address=None):
        """`address` is as 10.0.0.1/24."""
        if address:
            self.run_in(namespace, ["ip", "address", "add", address, "dev", name])
        self.run_in(namespace, ["ip", "link", "set", name, "up"])

    def reach(self, namespace, address):
        """A connection to a closed port is refused if the way there and back works."""
        program = ("import socket\n"
                   "try: socket.create_connection(('%s', 9), 10)\n"
                   "except ConnectionRefusedError: pass" % address)
        self.run_in(namespace, ["/usr/bin/python3", "-c", program],
                    what="a connection from %s to %s" % (namespace, address))

    # --- processes -----------------------------------------------------------

    def start(self, argv, log, env=None, namespace=None, piped=False):
        """A process in the background; its output goes to the file `log`, or its standard output, as
        text, to whoever reads child.stdout."""
        if namespace:
            argv = self.inside(namespace, argv)
        with open(self.path(log), "ab") as out:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=out, env=env, text=True,
                                     stdout=subprocess.PIPE if piped else out,
                                     start_new_session=True, cwd=self.directory)
        self._children[child.pid] = child
        self.processes.append((child.pid, started(child.pid)))
        self._save()
        return child

    def stop(self, child, signal_number=signal.SIGTERM, seconds=10):
        """Ends one process of ours and waits for it."""
        if child.poll() is None:
            child.send_signal(signal_number)
            try:
                child.wait(seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self._forget(child.pid)

    def _forget(self, pid):
        self._children.pop(pid, None)
        self.processes = [each for each in self.processes if each[0] != pid]
        self._save()

    def _is_ours(self, pid, start):
        child = self._children.get(pid)
        if child:
            return child.poll() is None
        return started(pid) == start    # of another run: the number may mean something else by now

    def remove(self):
        """Takes everything away.  Goes on whatever fails; may be called twice."""
        for signal_number, seconds in ((signal.SIGTERM, 8), (signal.SIGKILL, 2)):
            alive = [each for each in reversed(self.processes) if self._is_ours(*each)]
            for pid, _ in alive:
                try:
                    os.kill(pid, signal_number)
                except ProcessLookupError:
                    pass
            end = time.monotonic() + seconds
            while any(self._is_ours(*each) for each in alive) and time.monotonic() < end:
                let_run(0.02)
        if self._home is not None:
            self._enter(self._home)
            os.close(self._home)
            self._home = None
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)
