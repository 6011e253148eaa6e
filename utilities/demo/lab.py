# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A laboratory of one's own: a run directory, network namespaces, processes in them.

Everything made is written to DIRECTORY/lab.json at once, so that remove() can
take it away again, from this process or (run --stop DIRECTORY) from another.
Nothing outside is touched: no system daemon, no address or link of the host.
"""
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


class Lab:
    def __init__(self, directory=None):
        self.directory = directory or tempfile.mkdtemp(prefix="trumpet-demo.")
        self.tag = "trumpet-demo-%d" % os.getpid()
        self.namespaces = []
        self.processes = []             # (pid, words that its command line holds)
        self._children = {}             # pid -> Popen
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
        lab._children = {}
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

    def inside(self, name, argv):
        """`argv` as a command that runs in the namespace."""
        return ["nsenter", "--net=/run/netns/%s-%s" % (self.tag, name)] + argv

    def run_in(self, name, argv, **more):
        return run(self.inside(name, argv), **more)

    # --- processes -----------------------------------------------------------

    def start(self, argv, log, env=None, namespace=None):
        """A process in the background; its output goes to the file `log`."""
        mark = argv[0]
        if namespace:
            argv = self.inside(namespace, argv)
        with open(self.path(log), "ab") as out:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                                     start_new_session=True, cwd=self.directory)
        self._children[child.pid] = child
        self.processes.append((child.pid, mark))
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

    def _is_ours(self, pid, mark):
        child = self._children.get(pid)
        if child:
            return child.poll() is None
        try:                            # of another run: make sure that the number still means it
            with open("/proc/%d/cmdline" % pid, "rb") as f:
                words = f.read().decode(errors="replace").split("\0")
            return mark in words and os.path.samefile("/proc/%d/cwd" % pid, self.directory)
        except OSError:
            return False

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
        for name in self.namespaces:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)
