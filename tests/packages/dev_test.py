#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""libtrumpet-dev as its users have it: installed somewhere, every header compiles there, and the example finds what trumpet-replay finds."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.environ["top_srcdir"])
BUILD = os.path.abspath(os.environ["top_builddir"])
EVENT = "*, count(volume) > 40, srcIP, 10ms"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)[:2000]}\n{done.stdout}{done.stderr}")
    return done.stdout


def frame(source):
    """A UDP packet of 60 bytes from 10.0.0.`source`."""
    ip = struct.pack("!BBHHHBBH4B4B", 0x45, 0, 46, 0, 0, 64, 17, 0, 10, 0, 0, source, 10, 0, 1, 1)
    udp = struct.pack("!HHHH", 1000, 2000, 26, 0)
    return bytes(12) + b"\x08\x00" + ip + udp + bytes(18)


def capture():
    """100 ms, a packet every 0.1 ms; 10.0.0.7 sends half of them in two of the intervals of 10 ms."""
    text = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number in range(1000):
        is_burst = number // 100 in (3, 8) and number % 2 == 0
        packet = frame(7 if is_burst else 10 + number % 20)
        text += struct.pack("<IIII", 1000, number * 100, len(packet), len(packet)) + packet
    return text


class DevTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        # Of packages, or of this build.
        cls.root = os.environ.get("TRUMPET_DEV_ROOT") or f"{cls.folder}/root"
        cls.replay = f"{cls.root}/usr/bin/trumpet-replay"
        if "TRUMPET_DEV_ROOT" not in os.environ:
            run(os.environ.get("MAKE", "make"), "-C", BUILD, "install-dev", f"DESTDIR={cls.root}", "MAKEFLAGS=")
            cls.replay = f"{BUILD}/utilities/trumpet-replay"
        found = [f"{folder}/trumpet.pc" for folder, _, names in os.walk(cls.root) if "trumpet.pc" in names]
        prefix = run("pkg-config", "--variable=prefix", found[0]).strip()
        environment = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found[0]))
        moved = f"--define-variable=prefix={cls.root}{prefix}"
        # As the libraries were compiled: those of a sanitizer's build need its flags.
        cls.compiler = os.environ.get("library_compiler", "g++").split()
        cls.cflags = run("pkg-config", moved, "--cflags", "trumpet", env=environment).split()
        cls.libs = run("pkg-config", moved, "--libs", "trumpet", env=environment).split()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_every_header_finds_what_it_includes(self):
        top = f"{self.root}/{self.cflags[0].removeprefix('-I').removeprefix(self.root)}"
        headers = [os.path.relpath(os.path.join(folder, name), top)
                   for folder, _, names in os.walk(top) for name in names if name.endswith(".h")]
        self.assertGreater(len(headers), 100)
        self.assertEqual([name for name in headers if "_test" in name], [])
        path = f"{self.folder}/all.cc"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f'#include "{header}"\n' for header in sorted(headers))
        run(*self.compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", path, *self.cflags)

    def test_the_example_finds_what_trumpet_replay_finds(self):
        program = f"{self.folder}/events_in_capture"
        run(*self.compiler, "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"{SOURCE}/packaging/dev/events_in_capture.cc",
            "-o", program, *self.cflags, *self.libs)
        trace, events = f"{self.folder}/trace.pcap", f"{self.folder}/events.yaml"
        with open(trace, "wb") as file:
            file.write(capture())
        with open(events, "w", encoding="utf-8") as file:
            file.write(f"- {{name: event, event: '{EVENT}'}}\n")
        reports = run(program, EVENT, trace).splitlines()
        self.assertEqual(len(reports), 2)
        self.assertIn("10.0.0.7", reports[0])
        self.assertEqual(reports, run(self.replay, "--events", events, trace).splitlines())
        said = subprocess.run([program, "*, cuont > 1, srcIP, 10ms", trace], capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn("event:1:4: ", said.stderr)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
