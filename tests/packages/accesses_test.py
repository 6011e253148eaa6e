#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is made of strace's lines, and of a program that does what it is known to do."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from accesses import DONE, File, Socket, Trace, asked_for  # noqa: E402

# A line of strace => what must be allowed.
LINES = [
    ('openat(AT_FDCWD</>, "/etc/a", O_RDONLY|O_CLOEXEC) = 3</etc/a>', [File("r", "/etc/a")]),
    ('openat(AT_FDCWD</>, "/link", O_RDONLY) = 3</etc/a>', [File("r", "/etc/a")]),
    ('openat(AT_FDCWD</>, "/etc/a", O_WRONLY|O_CREAT|O_APPEND, 0640) = 3</etc/a>', [File("w", "/etc/a")]),
    ('openat(AT_FDCWD</>, "/etc/a", O_WRONLY|O_APPEND) = 3</etc/a>', [File("a", "/etc/a")]),
    ('openat(AT_FDCWD</>, "/etc/a", O_RDWR) = 3</etc/a>', [File("rw", "/etc/a")]),
    ('openat(AT_FDCWD</>, "/etc", O_RDONLY|O_DIRECTORY) = 3</etc>', [File("r", "/etc/")]),
    ('openat(AT_FDCWD</>, "/etc", O_RDONLY|O_PATH) = 3</etc>', []),
    ('openat(AT_FDCWD</>, "/etc/b", O_RDONLY) = -1 ENOENT (No such file or directory)', None),
    ('memfd_create("x", 0) = 3</memfd:x (deleted)>', []),
    ('mmap(NULL, 4096, PROT_READ|PROT_EXEC, MAP_PRIVATE, 3</lib/a.so>, 0x1000) = 0x7f0000000000', [File("m", "/lib/a.so")]),
    ('mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</lib/a.so>, 0x1000) = 0x7f0000000000', []),
    ('flock(3</a>, LOCK_EX) = 0', [File("k", "/a")]),
    ('fcntl(3</a>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0', [File("k", "/a")]),
    ('fcntl(3</a>, F_GETFL) = 0x8002 (flags O_RDWR)', None),
    ('rename("/a", "/b") = 0', [File("rw", "/a"), File("w", "/b")]),
    ('unlinkat(4</var>, "x", 0) = 0', [File("w", "/var/x")]),
    ('mkdir("/var/d", 0777) = 0', [File("w", "/var/d/")]),
    ('fchmod(3</a>, 0640) = 0', [File("w", "/a")]),
    ('socket(AF_PACKET, SOCK_RAW|SOCK_NONBLOCK, htons(0x3 /* ETH_P_ALL */)) = 5<socket:[1]>', [Socket("AF_PACKET", "SOCK_RAW")]),
    ('connect(5<UNIX-STREAM:[1->2]>, {sa_family=AF_UNIX, sun_path="/var/run/x"}, 110) = 0', [File("rw", "/run/x")]),
    ('connect(5<UNIX-DGRAM:[1]>, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110) = 0', [File("w", "/dev/log")]),
    ('openat(AT_FDCWD</>, "/dev/null", O_RDWR) = 3</dev/null<char 1:3>>', [File("rw", "/dev/null")]),
    ('bind(5<socket:[1]>, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0', [File("w", "/run/x")]),
    ('bind(5<socket:[1]>, {sa_family=AF_UNIX, sun_path=@"x"}, 110) = 0', []),
    ('sendto(5<socket:[1]>, "READY=1", 7, MSG_NOSIGNAL, {sa_family=AF_UNIX, sun_path="/run/n"}, 8) = 7', [File("w", "/run/n")]),
    ('execve("/usr/bin/a", ["a", "/b"], 0x7ffd /* 3 vars */) = 0', [File("x", "/usr/bin/a"), File("m", "/usr/bin/a")]),
]
PROGRAM = """import os, subprocess, threading
input()
def work():
    with open("{folder}/file", "w") as file: os.fchmod(file.fileno(), 0o600)
    os.rename("{folder}/file", "{folder}/other")
thread = threading.Thread(target=work); thread.start(); thread.join()
subprocess.run(["/bin/cat", "{folder}/other"])
"""


class AccessesTest(unittest.TestCase):
    def test_lines_of_strace_become_what_must_be_allowed(self):
        for line, wanted in LINES:
            call = DONE.match(line)
            found = asked_for(*call.groups()[:2], call.group(4)) if call else None
            self.assertEqual(found, wanted, line)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace")
    def test_threads_and_processes_of_a_program_are_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            script = f"{folder}/script"
            with open(script, "w", encoding="utf-8") as file:
                file.write(PROGRAM.replace("{folder}", folder))
            # A shell that makes the program, as systemd does.
            shell = subprocess.Popen(["sh", "-c", f'read line; echo | "$0" {script}; true', sys.executable], stdin=subprocess.PIPE, text=True)
            with Trace(shell.pid) as trace:
                shell.communicate("\n", timeout=60)
            found = trace.accesses([sys.executable])[sys.executable]
        for access in (File("w", f"{folder}/file"), File("rw", f"{folder}/file"), File("w", f"{folder}/other"), File("x", "/bin/cat"), File("r", f"{folder}/other")):
            self.assertIn(access, found)


if __name__ == "__main__":
    sys.exit(unittest.main())
