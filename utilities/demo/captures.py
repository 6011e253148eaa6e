# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Captures of what really crosses links, taken with tcpdump in their namespaces."""
import re
import signal

from lab import wait_until
from show import DemoError

SNAP = 128                              # bytes kept of a frame: all headers


class Captures:
    """`links` are (namespace, link); captures of them all run from start() to stop()."""

    def __init__(self, lab, links):
        self.lab, self.links = lab, links
        self._running = {}              # (namespace, link) -> (process, path, log)

    def start(self):
        for link in self.links:
            self._start(*link)
        for link in self.links:
            self._wait_for(link)

    def _start(self, namespace, link):
        path, log = (self.lab.path("%s-%s.%s" % (namespace, link, kind)) for kind in ("pcap", "log"))
        open(log, "wb").close()
        child = self.lab.start(
            ["tcpdump", "-n", "-i", link, "-s", str(SNAP), "-B", "32768", "-Z", "root",
             "--immediate-mode", "--time-stamp-precision=nano", "-w", path], log, namespace=namespace)
        self._running[namespace, link] = (child, path, log)

    def _wait_for(self, link):
        child, _, log = self._running[link]

        def is_listening():
            with open(log, "rb") as f:
                text = f.read()
            if child.poll() is not None:
                raise DemoError("tcpdump ended: " + text.decode(errors="replace").strip())
            return b"listening on" in text

        wait_until(is_listening, "tcpdump at %s of %s" % (link[1], link[0]), 10)

    def stop(self):
        """{(namespace, link): path}; the captures are complete, or the demonstration ends here."""
        paths = {}
        for link, (child, path, log) in self._running.items():
            self.lab.stop(child, signal.SIGINT)
            with open(log) as f:
                dropped = re.search(r"(\d+) packets? dropped by kernel", f.read())
            if not dropped or int(dropped.group(1)):
                raise DemoError("tcpdump at %s of %s lost packets; this machine is too busy for a "
                                "ground truth, try again" % (link[1], link[0]))
            paths[link] = path
        self._running = {}
        return paths
