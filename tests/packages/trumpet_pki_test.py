#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""trumpet-pki: certificates that fit each other, by ovs-pki and openssl themselves."""

import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
PROGRAM = os.path.join(SOURCE, "utilities/trumpet-pki")
MACHINES = ["--controller=localhost", "--host=hv1", "--analyzer=an1"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class TrumpetPkiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="trumpet-pki-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = os.path.join(cls.folder.name, "pki of us")
        cls.made = run(PROGRAM, f"--dir={cls.dir}", *MACHINES)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def trusts(self, authority, certificate):
        return run("openssl", "verify", "-CAfile", authority, certificate).returncode == 0

    def test_makes_a_folder_for_each_machine(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), ["an1", "hv1", "localhost", "pki", "users"])
        for machine, word in (("localhost", "controller"), ("hv1", "host"), ("an1", "analyzer")):
            self.assertEqual(sorted(os.listdir(self.path(machine))),
                             sorted(["ca.pem", f"{word}-cert.pem", f"{word}-privkey.pem"]))

    def test_lets_each_side_trust_the_other_and_nobody_else(self):
        controller, host, analyzer = (self.path("localhost", "controller-cert.pem"),
                                      self.path("hv1", "host-cert.pem"), self.path("an1", "analyzer-cert.pem"))
        for other in (host, analyzer):
            self.assertTrue(self.trusts(self.path("localhost", "ca.pem"), other))
        for folder in ("hv1", "an1", "users"):
            self.assertTrue(self.trusts(self.path(folder, "ca.pem"), controller))
            self.assertFalse(self.trusts(self.path(folder, "ca.pem"), host))
        self.assertFalse(self.trusts(self.path("localhost", "ca.pem"), controller))

    def test_writes_the_names_into_the_certificates(self):
        for path, name in ((("localhost", "controller-cert.pem"), "localhost"), (("hv1", "host-cert.pem"), "hv1")):
            text = run("openssl", "x509", "-noout", "-subject", "-in", self.path(*path)).stdout
            self.assertRegex(text, rf"CN ?= ?{name}$")

    def test_lets_only_the_owner_read_keys(self):
        for path in ("localhost/controller-privkey.pem", "hv1/host-privkey.pem", "pki"):
            self.assertEqual(os.stat(self.path(path)).st_mode & 0o077, 0, path)

    def test_adds_machines_and_leaves_the_others(self):
        with open(self.path("hv1", "host-privkey.pem"), encoding="utf-8") as file:
            key = file.read()
        done = run(PROGRAM, f"--dir={self.dir}", "--host=hv1", "--host=hv2")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "hv1: was there"), done.stderr)
        with open(self.path("hv1", "host-privkey.pem"), encoding="utf-8") as file:
            self.assertEqual(file.read(), key)
        self.assertTrue(self.trusts(self.path("localhost", "ca.pem"), self.path("hv2", "host-cert.pem")))
        subprocess.run(["rm", "-r", self.path("hv2")], check=True)

    def test_makes_nothing_of_wrong_names(self):
        for word in ("--host=../etc", "--host=a b", "--controller=.hidden", "--analyzer=pki", "--host=users"):
            with tempfile.TemporaryDirectory() as folder:
                done = run(PROGRAM, f"--dir={folder}/new", word)
                self.assertEqual(done.returncode, 1, word)
                self.assertIn(f"'{word.split('=')[1]}'", done.stderr)
                self.assertEqual(os.listdir(folder), [])

    def test_does_not_give_one_name_to_two_kinds_of_machines(self):
        done = run(PROGRAM, f"--dir={self.dir}", "--controller=hv1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("belongs to another machine", done.stderr)

    def test_says_how_to_use_it(self):
        self.assertEqual(run(PROGRAM, "--help").returncode, 0)
        for wrong in ([], ["--dir="], ["--dir=/x", "--host="], ["--dir=/x", "more"]):
            done = run(PROGRAM, *wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("usage: trumpet-pki", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
