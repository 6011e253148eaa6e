# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What tests of packages do over and over on their machine: ask its daemons, change its packages, send packets."""

import os
import re
import struct
import threading

from accesses import Socket
from chroot import field, new_chroot, other_version, wait_until

TRUMPET = "/usr/lib/openvswitch-switch-trumpet/ovs-vswitchd-trumpet"
NAMES = ["openvswitch-switch-trumpet", "trumpet-analyzer", "trumpet-controller", "trumpet-doc", "trumpet-utils"]
UNITS = ["trumpet-analyzer", "trumpet-controller", "trumpet-db"]
# 200,000 bytes at once.
BURST = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
         "for i in range(200): s.sendto(bytes(1000), ('10.7.0.2', 5201))")


class Traffic:
    """Pings while a block of code runs, none of which may be lost."""

    def __init__(self, story):
        self.story = story
        self.is_over = threading.Event()
        self.lost = []
        self.thread = threading.Thread(target=self._go_on)

    def _go_on(self):
        while not self.is_over.is_set():
            self.lost.append(self.story.lost_pings(50))

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.lost, "pings")

    def __exit__(self, kind, *_):
        self.is_over.set()
        self.thread.join()
        if kind is None:
            assert sum(self.lost) == 0, self.lost


class Story:
    """A machine, from the first package to the last."""

    def __init__(self, packages, dev, folder):
        self.packages, self.dev = packages, dev
        self.utils = packages[NAMES.index("trumpet-utils")]
        version = field(packages[0], "Version") + "+1"
        self.newer = [other_version(package, folder, version) for package in packages]
        self.chroot = new_chroot(packages)
        self.before = None

    def ctl(self, *words):
        return self.chroot.run("trumpetctl", "--token-file=/root/token", *words)

    def analyzer(self, *words):
        return self.chroot.run("ovs-appctl", "-t", "/run/trumpet/trumpet-analyzer.ctl", *words)

    def has_monitor(self):
        return "trumpet/status" in self.chroot.run("ovs-appctl", "list-commands")

    def has_host(self):
        return "connected" in self.ctl("host", "list")

    def has_analyzer(self):
        """It answers what the controller asks it."""
        said = self.chroot.run("trumpetctl", "--token-file=/root/token", "trace", "query", "--estimate", "-o", "json", check=False)
        return '"an1"' in said

    def all_is_as_before(self):
        """Whatever was restarted: daemons find each other again, and what was told them stays."""
        # The controller that is still starting does not answer.
        wait_until(lambda: "heavy" in self.chroot.run("trumpetctl", "--token-file=/root/token", "event", "list", check=False), "events last")
        wait_until(self.has_host, "the agent is back")
        wait_until(self.has_analyzer, "the analyzer is back")

    def find_event(self):
        watch = self.chroot.start("trumpetctl", "--token-file=/root/token", "event", "watch", "--count=1", "-o", "json", "heavy")
        # Until one is seen: the watcher may need a moment to listen.
        wait_until(lambda: self.burst() or watch.poll() is not None, "a report")
        said = watch.stdout.read()
        assert watch.returncode == 0 and '"heavy"' in said, said

    def simulate(self):
        """Over a capture of nothing: the controller calls trumpet-replay."""
        header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        with open(self.chroot.path("/root/empty.pcap"), "wb") as file:
            file.write(header)
        assert self.ctl("simulate", "/root/events.yaml", "/root/empty.pcap") == "no reports\n"

    def is_allowed(self, profile, access, user):
        """Whether a profile of AppArmor lets a daemon of `user` do that."""
        if isinstance(access, Socket):
            return profile.may_open_socket(*access)
        path = self.chroot.path(access.path)
        name = os.path.join(access.path, "") if os.path.isdir(path) else access.path
        # What is gone was the daemon's own.
        return profile.may(access.letters, name, not os.path.exists(path) or os.stat(path).st_uid == user)

    def change_packages(self, packages):
        """With traffic; daemons are others afterwards, the switch is not, and all go on."""
        chroot = self.chroot
        daemons = {unit: chroot.main_pid(unit) for unit in UNITS}
        switch = chroot.main_pid("ovs-vswitchd")
        with Traffic(self):
            chroot.install(packages)
            for unit, pid in daemons.items():
                assert chroot.shows(unit, "ActiveState") == ["active"] and chroot.main_pid(unit) not in (0, pid), unit
            self.all_is_as_before()
        assert chroot.main_pid("ovs-vswitchd") == switch != 0
        assert os.path.exists(chroot.path(f"/proc/{switch}"))
        assert os.readlink(chroot.path("/etc/alternatives/ovs-vswitchd")) == TRUMPET

    def make_network(self):
        """Two hosts at a bridge of the userspace datapath."""
        self.chroot.run("ovs-vsctl", "--may-exist", "add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
        for number in (1, 2):
            host = f"h{number}"
            self.chroot.run("ip", "netns", "add", host)
            self.chroot.run("ip", "link", "add", f"p{number}", "type", "veth", "peer", "name", "eth0", "netns", host)
            self.chroot.run("ip", "link", "set", f"p{number}", "up")
            inside = ["ip", "netns", "exec", host, "ip"]
            self.chroot.run(*inside, "address", "add", f"10.7.0.{number}/24", "dev", "eth0")
            self.chroot.run(*inside, "link", "set", "eth0", "up")
            self.chroot.run("ovs-vsctl", "--may-exist", "add-port", "br0", f"p{number}")
        wait_until(lambda: self.lost_pings(1) == 0, "the first packet")
        assert self.lost_pings(20) == 0

    def burst(self):
        self.chroot.run("ip", "netns", "exec", "h1", "python3", "-c", BURST)

    def lost_pings(self, count):
        said = self.chroot.run("ip", "netns", "exec", "h1", "ping", "-q", "-i", "0.02", "-c", str(count), "-W", "20", "10.7.0.2", check=False)
        sent, received = re.search(r"(\d+) packets transmitted, (\d+) received", said).groups()
        return int(sent) - int(received)

    def change_configuration(self, daemon, changes, text=None):
        text = text or self.chroot.read(f"/etc/trumpet/{daemon}.yaml")
        for old, new in changes.items():
            assert text.count(old) == 1, (old, text.count(old))
            text = text.replace(old, new)
        self.chroot.write(f"/etc/trumpet/{daemon}.yaml", text)
        self.chroot.run(f"trumpet-{daemon}", "--check-config")
