#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files for other software: each unit, profile and rule names what is there, and Debian's and the spec's lists agree."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def lists():
    return "".join(read(path) for path in sorted(glob.glob(f"{SOURCE}/debian/*.install")))


def installed_programs():
    """What `make install` puts into /usr/bin and /usr/sbin, as far as this tree is configured to build it."""
    return [os.path.basename(path) for path in os.environ["installed_programs"].split()]


def units():
    return sorted(glob.glob(f"{SOURCE}/packaging/systemd/*.service"))


class PackagingTest(unittest.TestCase):
    def test_units_run_closed_in_and_as_a_user_of_their_own(self):
        self.assertEqual(len(units()), 3)
        for path in units():
            text = read(path)
            for line in ("User=trumpet", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes",
                         "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM", "ReadWritePaths=/run/trumpet"):
                self.assertIn(f"\n{line}\n", text, path)

    def test_only_the_analyzer_has_a_capability_and_says_why(self):
        for path in units():
            found = re.findall(r"^CapabilityBoundingSet=(.*)$", read(path), re.M)
            self.assertEqual(found, ["CAP_NET_RAW" if "analyzer" in path else ""], path)
        self.assertIn("# CAP_NET_RAW: ", read("packaging/systemd/trumpet-analyzer.service"))

    def test_logs_that_units_write_are_rotated(self):
        rules = read("packaging/logrotate/trumpet-controller") + read("packaging/logrotate/trumpet-analyzer")
        for path in units():
            name = os.path.basename(path).removesuffix(".service")
            self.assertIn(f"/var/log/trumpet/{name}.log", rules)
            self.assertIn(f"/run/trumpet/{name}.ctl", rules)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_systemd_understands_the_units(self):
        with tempfile.TemporaryDirectory() as root:
            # It looks for the programs, and for what a unit waits for.
            for path in units():
                for program in re.findall(r"^Exec\w+=(\S+)", read(path), re.M):
                    os.makedirs(os.path.dirname(root + program), exist_ok=True)
                    shutil.copy("/bin/true", root + program)
            folder = f"{root}/lib/systemd/system"
            os.makedirs(folder)
            for path in units():
                shutil.copyfile(path, f"{folder}/{os.path.basename(path)}")
            for target in ("basic", "multi-user", "network", "network-online", "shutdown", "sysinit"):
                with open(f"{folder}/{target}.target", "w", encoding="utf-8") as file:
                    file.write("[Unit]\n")
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--root", root,
                                   *(os.path.basename(path) for path in units())],
                                  capture_output=True, text=True, check=False)
            about_ours = [line for line in done.stderr.splitlines() if "trumpet-" in line]
            self.assertEqual((done.returncode, about_ours), (0, []), done.stderr)

    def test_every_manual_is_in_a_package(self):
        for path in glob.glob(f"{SOURCE}/docs/man/*.rst"):
            name = os.path.basename(path).removesuffix(".rst")
            self.assertTrue(f"/{name}\n" in lists() or (name.endswith(".1") and "usr/share/man/man1\n" in lists()), name)

    def test_every_program_has_a_manual_and_is_in_a_package(self):
        self.assertGreaterEqual(len(installed_programs()), 4)
        for name in installed_programs():
            self.assertTrue(glob.glob(f"{SOURCE}/docs/man/{name}.[18].rst"), name)
            self.assertTrue(f"usr/sbin/{name}\n" in lists() or (name.startswith("trumpet") and "usr/bin\n" in lists()), name)
            self.assertRegex(read("rhel/trumpet.spec"), rf"\n%{{_(sbindir}}/{name}|bindir}}/trumpet\*)\n")

    def test_what_the_lists_name_of_ours_is_there(self):
        for path in re.findall(r"^(?:etc|lib)/\S+$", lists(), re.M):
            name = os.path.basename(path)
            self.assertTrue(glob.glob(f"{SOURCE}/packaging/*/{name}") or glob.glob(f"{SOURCE}/controller/daemon/{name}"), path)

    def test_debian_and_rhel_have_the_same_packages(self):
        debian = set(re.findall(r"^Package: (.*)$", read("debian/control"), re.M))
        rhel = set(re.findall(r"^%package -n (.*)$", read("rhel/trumpet.spec"), re.M))
        self.assertEqual({re.sub("-devel$", "-dev", name) for name in rhel - {"trumpet-selinux"}}, debian)

    def test_versions_agree(self):
        version = re.search(r"AC_INIT\(\[trumpet\], \[(.*?)\]", read("configure.ac")).group(1)
        self.assertRegex(read("debian/changelog").splitlines()[0], rf"^trumpet \({re.escape(version)}-\d+\) ")
        self.assertIn(f"\nVersion:        {version}\n", read("rhel/trumpet.spec"))


if __name__ == "__main__":
    sys.exit(unittest.main())
