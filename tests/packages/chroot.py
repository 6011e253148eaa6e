# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A fresh Debian in a folder, for packages to be installed in, with a systemd of its own; processes in it end with the test."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 300
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What the tests themselves need in there.
TOOLS = {"dbus", "iproute2", "iputils-ping", "kmod", "procps", "python3-minimal", "sosreport", "systemd", "systemd-sysv"}
# What would wait for a terminal, look after disks of this machine, or ask the network for news.
MASKED = ["console-getty.service", "getty.target", "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer",
          "e2scrub_reap.service", "fstrim.timer", "systemd-pstore.service", "systemd-remount-fs.service",
          "dev-hugepages.mount", "sys-fs-fuse-connections.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount"]
# From namespaces to the first process: a root of its own, in which it may not change this machine's
# kernel, see its devices, or its other groups of processes.  $1: the folder.
BOOT = r"""set -e
cd "$1"
mount -t proc proc proc
for place in proc/sys proc/irq proc/bus proc/fs proc/sysrq-trigger; do
  [ ! -e $place ] || { mount --bind $place $place && mount -o remount,bind,ro $place; }
done
mount --bind proc/sys/net proc/sys/net
mount -o remount,bind,rw proc/sys/net
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/net dev/pts dev/shm dev/mqueue
for name in null zero full random urandom tty net/tun; do
  touch dev/$name
  mount --bind /dev/$name dev/$name
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
pivot_root . mnt
umount -l mnt
exec env -i container=trumpet PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  setpriv --bounding-set=-sys_time,-sys_module,-syslog,-wake_alarm /lib/systemd/systemd --log-target=journal --show-status=no
"""


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


class Group:
    """A group of processes of cgroup2, for systemd to make its own in; it is gone when they are."""

    def __init__(self):
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            mounts = [line.split() for line in file if " - cgroup2 " in line]
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            ours = [line[len("0::"):].strip() for line in file if line.startswith("0::")]
        assert mounts and ours, "there is no cgroup2, which systemd needs"
        self.path = tempfile.mkdtemp(prefix="trumpet-packages-", dir=mounts[0][4] + ours[0])

    def remove(self):
        for folder, _, _ in os.walk(self.path, topdown=False):
            wait_until(lambda folder=folder: self._is_gone(folder), f"{folder} is empty")

    @staticmethod
    def _is_gone(folder):
        try:
            os.rmdir(folder)
        except OSError:
            return False
        return True


class Chroot:
    """A machine in a folder.  Needs root, and namespaces of its own for mounts, processes and the network."""

    def __init__(self, packages, folder):
        self.root = folder
        self.group = None
        self.shell = self.first = None
        run("mount", "--bind", folder, folder)  # a root is a mount
        run("tar", "xf", base_tarball(packages), "-C", folder)
        for name in MASKED:
            os.symlink("/dev/null", f"{folder}/etc/systemd/system/{name}")
        with open(f"{folder}/etc/hostname", "w", encoding="utf-8") as file:
            file.write("hv1\n")
        # Kernels without Open vSwitch's module: forwarding is the userspace datapath's.
        with open(f"{folder}/etc/modprobe.d/openvswitch.conf", "w", encoding="utf-8") as file:
            file.write("install openvswitch /bin/true\n")

    def boot(self):
        """systemd as the first process of namespaces, until it says that all is started."""
        self.group = Group()
        script = f'echo 0 >"{self.group.path}/cgroup.procs" && exec unshare --cgroup --mount --pid --uts --ipc --fork --kill-child sh -c "$0" sh "$1"'
        with open(f"{self.root}/root/boot.log", "w", encoding="utf-8") as log:
            self.shell = subprocess.Popen(["sh", "-c", script, BOOT, self.root], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.first = wait_until(self._first, "systemd's process")
        wait_until(lambda: os.path.exists(self.path("/run/systemd/private")), "systemd listens")
        return self.run("systemctl", "is-system-running", "--wait", check=False).strip()

    def _first(self):
        if self.shell.poll() is not None:
            raise AssertionError(f"systemd does not start here: {open(f'{self.root}/root/boot.log', encoding='utf-8').read()}")
        children = run("ps", "-o", "pid=,args=", "--ppid", str(self.shell.pid), check=False)
        found = re.search(r"(\d+) /lib/systemd/systemd", children)
        return found and int(found.group(1))

    def end(self):
        """All its processes, with its first; then what they were in."""
        if self.shell:
            if self.shell.poll() is None:
                self.shell.kill()  # --kill-child: the first goes, too, and whatever else is in there
            self.shell.wait(60)
        if self.group:
            self.group.remove()
        self.shell = self.first = self.group = None

    def shut_down(self):
        self.run("systemctl", "poweroff", check=False)
        self.shell.wait(PATIENCE_S)
        self.end()

    def remove(self):
        self.end()
        run("umount", "-R", "-l", self.root)
        shutil.rmtree(self.root)

    def command(self, *command):
        enter = ["nsenter", f"--target={self.first}", "--mount", "--pid", "--uts", "--ipc", "--cgroup"] if self.first else ["chroot", self.root]
        return [*enter, "env", "-i", f"PATH={PATH}", "LC_ALL=C.UTF-8", "HOME=/root", "SYSTEMD_PAGER=", "DEBIAN_FRONTEND=noninteractive", *command]

    def run(self, *command, check=True):
        return run(*self.command(*command), check=check)

    def start(self, *command):
        return subprocess.Popen(self.command(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def systemctl(self, *words):
        """What it says; what went wrong comes with the journal's last lines."""
        try:
            return self.run("systemctl", *words)
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + self.run("journalctl", "--no-pager", "-n", "40", check=False)) from error

    def shows(self, unit, *names):
        """Properties of a unit, in the order asked."""
        said = dict(line.split("=", 1) for line in self.systemctl("show", unit, "-p", ",".join(names)).splitlines())
        return [said[name] for name in names]

    def main_pid(self, unit):
        return int(self.shows(unit, "MainPID")[0])

    def path(self, name):
        """Seen from outside; with the mounts of inside while it runs."""
        return (f"/proc/{self.first}/root" if self.first else self.root) + name

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
        private = re.compile(r"(var/(lib/dpkg|lib/systemd|cache|log/(dpkg|alternatives|apt|wtmp|journal))|root|tmp|etc/(passwd|group|shadow|gshadow))\b")
        return {name for name in found if not private.match(name)}


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
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, folder)
    return f"{folder}/{field(package, 'Package')}_{version}_{field(package, 'Architecture')}.deb"
