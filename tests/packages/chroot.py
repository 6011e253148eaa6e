# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fresh Debian in a folder, for packages to be installed in; processes in it end with the test."""

import glob
import hashlib
import os
import re
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 300
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What the tests themselves need in there.
TOOLS = {"iproute2", "iputils-ping", "procps", "python3-minimal"}


def run(*command, check=True, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} exits with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}")
        time.sleep(0.05)  # between looks at the condition


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


def foreign_packages(packages):
    """What `packages` depend on or recommend, and are not: the first of alternatives."""
    ours = {field(package, "Package") for package in packages}
    names = set(TOOLS)
    for package in packages:
        for kind in ("Depends", "Recommends"):
            for wish in field(package, kind).split(","):
                name = re.match(r"\s*([a-z0-9.+-]+)?", wish).group(1)
                if name and name not in ours:
                    names.add(name)
    return sorted(names)


def base_tarball(packages):
    """Debian with what `packages` need, made by mmdebstrap once and kept."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trumpet")
    os.makedirs(cache, exist_ok=True)
    names = ",".join(foreign_packages(packages))
    path = os.path.join(cache, f"packages-{hashlib.sha256(names.encode()).hexdigest()[:16]}.tar")
    if not os.path.exists(path):
        print(f"# making {path} with mmdebstrap (once)", flush=True)
        sources = glob.glob("/etc/apt/sources.list.d/debian.sources") or ["/etc/apt/sources.list"]
        part = path + f".{os.getpid()}.tar"
        command = ["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", f"--include={names}",
                   "--aptopt=Acquire::Retries 5", "bookworm", part, *sources]
        for tries_left in (2, 1, 0):  # a mirror may fail for a moment, lists of packages even with retries
            if subprocess.run(command, check=tries_left == 0).returncode == 0:
                break
            time.sleep(20)  # for the mirror to come back
        os.rename(part, path)
    return path


class Chroot:
    """Needs root, and namespaces of its own for mounts, processes and the network."""

    def __init__(self, packages, folder):
        self.root = folder
        run("mount", "--bind", folder, folder)  # `ip netns` wants / to be a mount
        run("tar", "xf", base_tarball(packages), "-C", folder)
        for kind, name in (("proc", "proc"), ("sysfs", "sys"), ("tmpfs", "run"), ("tmpfs", "dev/shm")):
            os.makedirs(f"{folder}/{name}", exist_ok=True)
            run("mount", "-t", kind, kind, f"{folder}/{name}")
        os.makedirs(f"{folder}/dev/net", exist_ok=True)
        for name in ("null", "zero", "random", "urandom", "full", "net/tun"):
            open(f"{folder}/dev/{name}", "a", encoding="utf-8").close()
            run("mount", "--bind", f"/dev/{name}", f"{folder}/dev/{name}")
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(f"{folder}/run/notify")
        os.chmod(f"{folder}/run/notify", 0o777)
        self.notify.settimeout(PATIENCE_S)

    def command(self, *command):
        return ["chroot", self.root, "env", "-i", f"PATH={PATH}", "LC_ALL=C.UTF-8", "HOME=/root",
                "DEBIAN_FRONTEND=noninteractive", *command]

    def run(self, *command, check=True):
        return run(*self.command(*command), check=check)

    def start(self, *command):
        return subprocess.Popen(self.command(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def path(self, name):
        return self.root + name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def install(self, packages):
        """As `dpkg -i` does: what they depend on is there."""
        names = []
        for package in packages:
            names.append(f"/root/{os.path.basename(package)}")
            run("cp", package, self.path(names[-1]))
        self.run("dpkg", "--force-confold", "-i", *names)
        self.run("rm", *names)

    def files(self):
        """All there are but those that dpkg keeps its own books in."""
        found = run("find", self.root, "-xdev", "-not", "-type", "d", "-printf", "%P\n").splitlines()
        private = re.compile(r"(var/(lib/dpkg|lib/systemd|cache|log/(dpkg|alternatives|apt))|root|tmp|etc/(passwd|group|shadow|gshadow))\b")
        return {name for name in found if not private.match(name)}

    def unit(self, name):
        """Settings of a unit that is installed: lists of values by key."""
        text = self.read(f"/lib/systemd/system/{name}.service").replace("\\\n", " ")
        settings = {}
        for key, value in re.findall(r"^([A-Za-z]+)=(.*)$", text, re.M):
            settings.setdefault(key, []).append(value)
        return settings

    def start_unit(self, name):
        """What systemd would do: the unit's command as its user, with its capabilities, until it is ready."""
        unit = self.unit(name)
        user = unit["User"][-1]
        for parent, key in (("/var/lib", "StateDirectory"), ("/var/log", "LogsDirectory")):
            self.run("install", "-d", "-m", "750", "-o", user, "-g", user, f"{parent}/{unit[key][-1]}")
        capabilities = unit["CapabilityBoundingSet"][-1].lower().replace("cap_", "").split()
        kept = "".join(f",+{one}" for one in capabilities)
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--no-new-privs",
                   f"--inh-caps=-all{kept}", f"--ambient-caps=-all{kept}", f"--bounding-set=-all{kept}",
                   "env", "NOTIFY_SOCKET=/run/notify", *unit["Environment"][-1].split()]
        for before in unit.get("ExecStartPre", []):
            self.run(*command, *before.split())
        words = unit["ExecStart"][-1].split()
        if unit["Type"][-1] == "forking":
            self.run(*command, *words)
            return None
        process = self.start(*command, *words)
        self.wait_ready(process)
        return process

    def wait_ready(self, process):
        self.notify.settimeout(0.2)
        def is_ready():
            if process.poll() is not None:
                raise AssertionError(f"it ended with {process.returncode}: {process.stdout.read()}")
            try:
                return self.notify.recv(4096) == b"READY=1"
            except TimeoutError:
                return False
        wait_until(is_ready, "READY=1")


def new_chroot(packages):
    folder = tempfile.mkdtemp(prefix="trumpet-packages-")
    os.chmod(folder, 0o755)
    return Chroot(packages, folder)


def other_version(package, folder, version):
    """The same package under another version number, as an upgrade would bring it."""
    tree = tempfile.mkdtemp(dir=folder)
    run("dpkg-deb", "-R", package, tree)
    old = field(package, "Version")
    with open(f"{tree}/DEBIAN/control", encoding="utf-8") as file:
        text = file.read()
    with open(f"{tree}/DEBIAN/control", "w", encoding="utf-8") as file:
        file.write(text.replace(f"(= {old})", f"(= {version})").replace(f"Version: {old}\n", f"Version: {version}\n"))
    os.chmod(tree, 0o755)
    run("dpkg-deb", "--root-owner-group", "-b", tree, folder)
    return f"{folder}/{field(package, 'Package')}_{version}_{field(package, 'Architecture')}.deb"
