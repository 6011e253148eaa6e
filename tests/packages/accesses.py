# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What processes ask the kernel for, as strace tells it: files, and sockets by their kind."""

import collections
import os
import re
import signal
import subprocess
import tempfile

from chroot import wait_until

CALLS = ("execve,execveat,clone,clone3,fork,vfork,open,openat,openat2,creat,mmap,mkdir,mkdirat,mknod,mknodat,rmdir,unlink,unlinkat,"
         "rename,renameat,renameat2,link,linkat,symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,fchownat,"
         "utimensat,flock,fcntl,socket,connect,bind,sendto,sendmsg")
# A call that did what it was asked for; the number of a process as strace sees it, and the path of a descriptor.
DONE = re.compile(r'^(\w+)\((.*)\)\s+= (\d+|0x[0-9a-f]+)(?:<(.*)>)?(?: /\* (\d+) in strace\'s PID NS \*/)?$')
FORKS = {"clone", "clone3", "fork", "vfork"}
# Calls that change what a path or a descriptor names.
CHANGES = {"mkdir", "mkdirat", "mknod", "mknodat", "rmdir", "unlink", "unlinkat", "symlink", "symlinkat", "truncate", "ftruncate",
           "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "utimensat"}
TEXT = r'"((?:[^"\\]|\\.)*)"'

File = collections.namedtuple("File", "letters path")  # letters as in AppArmor's profiles; a folder's path ends with a slash
Socket = collections.namedtuple("Socket", "family kind")


class Trace:
    """Of a process, those that it makes, and theirs, while a block of code runs."""

    def __init__(self, pid):
        self.pid = pid
        self.folder = tempfile.TemporaryDirectory(prefix="trumpet-trace-")
        self.strace = None

    def __enter__(self):
        with open(f"{self.folder.name}/log", "w", encoding="utf-8") as file:
            self.strace = subprocess.Popen(["strace", "-ff", "-yy", "--decode-pids=pidns", "-e", "signal=none", "-e", f"trace={CALLS}",
                                            "-o", f"{self.folder.name}/of", "-p", str(self.pid)], stdout=file, stderr=file)
        wait_until(lambda: self.strace.poll() is not None or "attached" in self._read("log"), "strace is attached")
        assert self.strace.poll() is None, self._read("log")
        return self

    def __exit__(self, *_):
        self.strace.send_signal(signal.SIGINT)  # it lets them go
        self.strace.wait(60)

    def _read(self, name):
        path = f"{self.folder.name}/{name}"
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()

    def accesses(self, programs):
        """{program: what it and those that it calls do}, of `programs`, paths.  To be asked once: what strace has written goes."""
        found = {program: set() for program in programs}
        waiting = [(str(self.pid), None)]
        while waiting:
            pid, program = waiting.pop()
            for line in self._read(f"of.{pid}").splitlines():
                call = DONE.match(line)
                if not call:
                    continue
                name, arguments, result, path, other_name = call.groups()
                if name in FORKS:
                    waiting.append((other_name or result, program))
                    continue
                if name in ("execve", "execveat") and program is None:
                    called = re.match(TEXT, arguments)
                    program = called.group(1) if called and called.group(1) in found else None
                    if program:
                        found[program].add(File("m", program))  # whoever calls it may
                elif program is not None:
                    found[program].update(asked_for(name, arguments, path))
        self.folder.cleanup()
        return found


def asked_for(name, arguments, returned):
    """What a call that succeeded needs to be allowed; `returned`: the path of the descriptor that it gave."""
    if name == "socket":
        family, kind = re.match(r"(\w+), (\w+)", arguments).groups()
        return [Socket(family, kind)]
    if name in ("connect", "bind", "sendto", "sendmsg"):
        address = re.search(r'sun_path=' + TEXT, arguments)  # not those without a file
        is_stream = name == "connect" and "<UNIX-STREAM:" in arguments
        return [File("rw" if is_stream else "w", path_of(address.group(1)))] if address else []
    if name in ("execve", "execveat"):
        return [File("x", named(arguments, "execve")[0]), File("m", named(arguments, "execve")[0])]
    if name in ("open", "openat", "openat2", "creat"):
        return files(opened(name, arguments), returned, "O_DIRECTORY" in arguments)
    if name == "mmap":
        return files("m", descriptor(arguments), False) if "PROT_EXEC" in arguments else []
    if name == "flock" or (name == "fcntl" and re.search(r"\bF_(OFD_)?SETLKW?\b", arguments)):
        return files("k", descriptor(arguments), False)
    if name in ("rename", "renameat", "renameat2"):
        old, new = named(arguments, name)
        return [File("rw", old), File("w", new)]
    if name in ("link", "linkat"):
        return [File("l", named(arguments, name)[1])]
    if name in CHANGES:
        is_folder = name in ("mkdir", "mkdirat", "rmdir") or "AT_REMOVEDIR" in arguments
        if name.startswith("f") and not name.endswith("at"):
            return files("w", descriptor(arguments), False)
        return [File("w", path + "/" * is_folder) for path in named(arguments, name)[-1:]]
    return []


def opened(name, arguments):
    flags = set(re.findall(r"\bO_\w+", arguments))
    if "O_PATH" in flags:
        return ""
    if name == "creat" or "O_WRONLY" in flags:
        letters = "w"
    else:
        letters = "rw" if "O_RDWR" in flags else "r"
    letters += "w" if flags & {"O_CREAT", "O_TRUNC"} and "w" not in letters else ""
    return letters.replace("w", "a") if "O_APPEND" in flags and not flags & {"O_CREAT", "O_TRUNC"} else letters


def descriptor(arguments):
    """The path that the first descriptor among the arguments stands for."""
    found = re.search(r"(?:^|, )\d+<([^<>]*)[<>]", arguments)
    return found and found.group(1)


def named(arguments, name):
    """Paths among the arguments, as they are written, from the folders that they start at."""
    found = []
    for folder, text in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?' + TEXT, arguments)[:1 if name.startswith("exec") else None]:
        found.append(path_of(os.path.join("/", folder, text)))  # daemons stay in the root
    return found


def path_of(text):
    return re.sub(r"^/var/run/", "/run/", os.path.normpath(text))


def files(letters, path, is_folder):
    """None for pipes, sockets, memory, and what is only in memory."""
    if not letters or not path or not path.startswith("/") or path.startswith("/memfd:"):
        return []
    path = re.sub(r"<char .*>$| \(deleted\)$", "", path)
    return [File(letters, path + "/" * (is_folder and path != "/"))]
