#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Emulated links: delay, loss, order, and that what they tell adds up.

usage: link_emulator_test.py (environment: top_builddir)

Needs root for TAP devices, which live in a network namespace of the test's own; skipped (77)
without.
"""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "tests/support/link_emulator")
PATIENCE_S = 30
FRAMES = 5000
ETHERTYPE_IPV4 = 0x0800


def enter_namespace():
    if os.environ.get("TRUMPET_LINK_NAMESPACE"):
        return
    if os.geteuid() != 0 or shutil.which("unshare") is None or not os.path.exists("/dev/net/tun"):
        print("link_emulator_test.py: needs root, unshare and /dev/net/tun")
        sys.exit(77)
    os.environ["TRUMPET_LINK_NAMESPACE"] = "yes"
    os.execvp("unshare", ["unshare", "--net", sys.executable, os.path.abspath(__file__),
                          *sys.argv[1:]])


def frame(number, destination):
    """A UDP datagram whose payload is its number."""
    payload = struct.pack("!Q", number)
    udp = struct.pack("!HHHH", 7, 7, 8 + len(payload), 0)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp) + len(payload), 0, 0, 64, 17, 0,
                     socket.inet_aton("10.9.0.1"), socket.inet_aton(destination))
    ethernet = bytes.fromhex("020000000002020000000001") + struct.pack("!H", ETHERTYPE_IPV4)
    return ethernet + ip + udp + payload


class End:
    """One end of a link: a raw socket on its device."""

    def __init__(self, device):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_IPV4))
        self.socket.bind((device, ETHERTYPE_IPV4))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        self.socket.settimeout(0.5)

    def send(self, number, destination="1.2.3.4"):
        self.socket.send(frame(number, destination))

    def receive(self):
        """The number of the next frame of ours, or None when nothing more comes."""
        while True:
            try:
                data, address = self.socket.recvfrom(65536)
            except TimeoutError:
                return None
            if address[2] != socket.PACKET_OUTGOING and data[:6] == bytes.fromhex("020000000002"):
                return struct.unpack("!Q", data[42:50])[0]


class Emulator:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("the emulator does not start")

    def counts(self):
        """Of each way, by the device where it begins."""
        self.process.send_signal(signal.SIGUSR1)
        return {way["from"]: way for way in json.loads(self.process.stdout.readline())["ways"]}

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)


class LinkEmulatorTest(unittest.TestCase):
    def open_end(self, device):
        end = End(device)
        self.addCleanup(end.socket.close)
        return end

    def start(self, *arguments):
        emulator = Emulator(*arguments)
        self.addCleanup(emulator.end)
        return emulator

    def send_all(self, sender, receiver):
        """Frames that arrive, in order."""
        arrived = []
        for number in range(FRAMES):
            sender.send(number, "1.2.3.4" if number % 2 else "10.9.9.9")
            if number % 500 == 499:
                while len(arrived) <= number:
                    seen = receiver.receive()
                    if seen is None:
                        break
                    arrived.append(seen)
        return arrived

    def test_perfect_link_passes_everything_in_order(self):
        emulator = self.start("one,two,0,0")
        arrived = self.send_all(self.open_end("one"), self.open_end("two"))
        self.assertEqual(arrived, list(range(FRAMES)))
        counts = emulator.counts()
        self.assertEqual(counts["two"]["all"]["lost"], 0)
        self.assertGreaterEqual(counts["one"]["all"]["passed"], FRAMES)

    def test_loss_is_as_asked_and_counted_to_the_frame(self):
        emulator = self.start("--seed=7", "--watch=1.2.3.0/24", "one,two,1,0.1")
        arrived = self.send_all(self.open_end("one"), self.open_end("two"))
        self.assertEqual(arrived, sorted(arrived))
        watched = emulator.counts()["one"]["watched"]
        self.assertEqual(watched["taken"], FRAMES // 2)
        self.assertEqual(watched["passed"], sum(number % 2 for number in arrived))
        self.assertEqual(watched["lost"], watched["taken"] - watched["passed"])
        # Six standard deviations of a binomial variable.
        self.assertAlmostEqual(watched["lost"] / watched["taken"], 0.1, delta=0.036)

    def test_delay_is_as_asked(self):
        self.start("one,two,20,0")
        sender, receiver = self.open_end("one"), self.open_end("two")
        took = []
        for number in range(20):
            begin = time.monotonic()
            sender.send(number)
            self.assertEqual(receiver.receive(), number)
            took.append(time.monotonic() - begin)
        # Never early; the quickest is about the link alone, whatever the machine does beside.
        self.assertGreaterEqual(min(took), 0.020)
        self.assertLess(min(took), 0.025)

    def test_both_ways_are_links_of_their_own(self):
        emulator = self.start("one,two,0,1", "three,four,0,0")
        self.open_end("one").send(1)
        far = self.open_end("four")
        self.open_end("three").send(2)
        self.assertEqual(far.receive(), 2)
        counts = emulator.counts()
        self.assertEqual(counts["one"]["all"]["passed"], 0)
        self.assertGreaterEqual(counts["one"]["all"]["lost"], 1)

    def test_wrong_arguments_are_named(self):
        for arguments, words in ((["one,two,5"], "DEVICE,DEVICE,DELAY-MS,LOSS"),
                                 (["one,two,5,2"], "'2' is not a number from 0 to 1"),
                                 (["one,two,x,0"], "'x' is not a number"),
                                 (["--watch=1.2.3", "one,two,0,0"], "1.2.3"),
                                 ([], "no link given")):
            ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                                   timeout=PATIENCE_S, check=False)
            self.assertEqual(ended.returncode, 1)
            self.assertIn(words, ended.stderr)


if __name__ == "__main__":
    enter_namespace()
    unittest.main()
