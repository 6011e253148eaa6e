# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A controller, its database and hosts, as processes with keys of their own, for fault tests."""

import copy
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.request

PATIENCE_S = 60


def eventually(condition, what, seconds=PATIENCE_S):
    """Asks until `condition()` is true, and gives its answer."""
    end = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"did not happen within {seconds} s: {what}")
        time.sleep(0.01)


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                          **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


class Host:
    """A fault_host; `said` is what it has said, parsed."""

    def __init__(self, program, arguments):
        self.said = []
        self.process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.said.append(json.loads(line))

    def count(self, key):
        return sum(key in one for one in self.said)

    def last(self, key):
        return next((one[key] for one in reversed(self.said) if key in one), None)

    def is_up(self):
        """Established, and not closed since."""
        said = [one for one in list(self.said) if "established" in one or "closed" in one]
        return bool(said) and "established" in said[-1]

    def events(self):
        return self.last("events") or {}

    def kill(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)
        self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        self.process.stdout.close()


class Cluster:
    """close() leaves nothing behind."""

    def __init__(self, build, source):
        self.build, self.source = build, source
        self.folder = tempfile.mkdtemp(prefix="trumpet-faults-")
        self.reports = f"{self.folder}/reports.db"
        self.controller_flags = []
        self.hosts, self.closers = [], []
        self.database = self.controller = None
        self.agents_port = self.rest_port = 0
        self.ports, self.more_configuration = {}, ""
        self.name = "controller"
        self.token_file = self.path("tokens.yaml")
        self.environment = dict(os.environ, OVS_RUNDIR=self.folder, OVS_LOGDIR=self.folder,
                                OVS_DBDIR=self.folder, OVS_SYSCONFDIR=self.folder,
                                PATH=os.environ.get("PATH", "") + ":/usr/sbin")
        digest = hashlib.sha256(b"secret").hexdigest()
        with open(os.open(self.token_file, os.O_CREAT | os.O_WRONLY, 0o600), "w",
                  encoding="utf-8") as tokens:
            tokens.write(f"tokens:\n  - {{name: tester, sha256: {digest}, role: operate}}\n")
        for authority in ("switches", "controllers", "strangers"):
            self.make_authority(authority)
        self.make_keys("tem", "controllers")
        run("ovsdb-tool", "create", f"{self.folder}/trumpet.db",
            f"{source}/controller/store/trumpet.ovsschema", env=self.environment)

    # --- keys ---

    def path(self, name):
        return f"{self.folder}/{name}"

    def make_authority(self, name):
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.path(f"{name}-ca.key"),
            "-out", self.path(f"{name}-ca.pem"))

    def make_keys(self, name, authority, dates=()):
        """`dates`: notBefore and notAfter as `openssl ca` takes them; else two days from now."""
        run("openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", f"/CN={name}", "-keyout", self.path(f"{name}.key"), "-out",
            self.path(f"{name}.csr"))
        if not dates:
            run("openssl", "x509", "-req", "-in", self.path(f"{name}.csr"), "-days", "2", "-CA",
                self.path(f"{authority}-ca.pem"), "-CAkey", self.path(f"{authority}-ca.key"),
                "-CAcreateserial", "-out", self.path(f"{name}.pem"))
            return
        with open(self.path("ca.conf"), "w", encoding="utf-8") as conf:
            conf.write(f"[ca]\ndefault_ca=d\n[d]\ndatabase={self.path('index.txt')}\n"
                       f"new_certs_dir={self.folder}\nserial={self.path('serial')}\n"
                       "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
        open(self.path("index.txt"), "w", encoding="utf-8").close()
        with open(self.path("serial"), "w", encoding="utf-8") as serial:
            serial.write("77\n")
        run("openssl", "ca", "-batch", "-config", self.path("ca.conf"), "-startdate", dates[0],
            "-enddate", dates[1], "-in", self.path(f"{name}.csr"), "-cert",
            self.path(f"{authority}-ca.pem"), "-keyfile", self.path(f"{authority}-ca.key"), "-out",
            self.path(f"{name}.pem"), "-notext")

    # --- database ---

    @property
    def remote(self):
        return f"unix:{self.folder}/db.sock"

    def start_database(self):
        self.database = subprocess.Popen(
            ["ovsdb-server", f"--remote=p{self.remote}", f"--unixctl={self.folder}/db.ctl",
             "--no-chdir", "-vconsole:off", "-vsyslog:off", f"{self.folder}/trumpet.db"],
            env=self.environment, stdin=subprocess.DEVNULL)
        eventually(lambda: self._can_connect(f"{self.folder}/db.sock"), "the database listens")

    @staticmethod
    def _can_connect(path):
        with socket.socket(socket.AF_UNIX) as peer:
            try:
                peer.connect(path)
                return True
            except OSError:
                return False

    def transact(self, *operations):
        return json.loads(run("ovsdb-client", "--timeout=30", "transact", self.remote,
                              json.dumps(["Trumpet", *operations]), env=self.environment))

    def put_event(self, name, text="*, sum(volume) > 5, 10ms", scope="host"):
        """As an administrator with bare hands; the controller gives it its id."""
        definition = json.dumps({"name": name, "event": text, "scope": scope})
        self.transact({"op": "insert", "table": "Event",
                       "row": {"name": name, "definition": definition, "enabled": True}})

    def event_ids(self):
        rows = self.transact({"op": "select", "table": "Event", "where": [],
                              "columns": ["name", "event_id"]})[0]["rows"]
        return {row["name"]: row["event_id"] for row in rows}

    # --- controller ---

    def start_controller(self, port=0):
        with open(self.path(f"{self.name}.yaml"), "w", encoding="utf-8") as config:
            config.write(
                f"database: {self.remote}\n"
                f"agents:\n  listen: ['pssl:{port}:127.0.0.1']\n"
                f"  private_key: {self.path('tem.key')}\n  certificate: {self.path('tem.pem')}\n"
                f"  ca_certificate: {self.path('switches-ca.pem')}\n"
                f"reports:\n  database: {self.reports}\n"
                "rest:\n  listen: ['ptcp:0:127.0.0.1']\n  metrics_need_token: no\n"
                f"  tokens: {self.token_file}\n" + self.more_configuration)
        ports = self.path(f"{self.name}.ports.json")
        if os.path.exists(ports):
            os.remove(ports)
        with open(self.path(f"{self.name}.out"), "ab") as out:
            self.controller = subprocess.Popen(
                [f"{self.build}/controller/daemon/trumpet-controller",
                 f"--config={self.path(self.name + '.yaml')}", f"--ports-file={ports}",
                 f"--unixctl={self.path(self.name + '.ctl')}",
                 f"--log-file={self.path(self.name + '.log')}", "-vconsole:off",
                 *self.controller_flags],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        eventually(lambda: os.path.exists(ports) and os.path.getsize(ports) > 0,
                   "the controller listens")
        with open(ports, encoding="utf-8") as text:
            self.ports = json.load(text)
        self.agents_port, self.rest_port = self.ports["agents"][0], self.ports["rest"][0]

    def add_controller(self):
        """Another one of the same database, which is started; it shares all but what is its own."""
        other = copy.copy(self)
        other.name, other.reports = "second", self.path("second-reports.db")
        other.start_controller()
        self.closers += [lambda: other.controller.send_signal(signal.SIGCONT), other.kill_controller]
        return other

    def kill_controller(self):
        self.controller.kill()
        self.controller.wait(PATIENCE_S)

    def log(self):
        with open(self.path(f"{self.name}.log"), encoding="utf-8", errors="replace") as lines:
            return lines.read()

    def print_log(self):
        """The end of it, beside a case that has failed."""
        for line in self.log().splitlines()[-20:]:
            print(f"# controller: {line}")

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.rest_port}/metrics",
                                    timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def metric(self, name, **labels):
        """The sum of the series of that name and those labels in /metrics."""
        total = 0.0
        for line in self.metrics().splitlines():
            series = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line)
            if not series or series[1] not in (name, f"{name}_total"):
                continue
            if all(f'{key}="{value}"' in (series[2] or "") for key, value in labels.items()):
                total += float(series[3])
        return total

    def ask(self, method, path, body=None, token="secret"):
        """The status of the answer; None if there was none."""
        return self.answer(method, path, body, token)[0]

    def answer(self, method, path, body=None, token="secret"):
        """Status and text of the answer; None and nothing if there was none."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            peer = http.client.HTTPConnection("127.0.0.1", self.rest_port, timeout=PATIENCE_S)
            peer.request(method, path, body, headers)
            answer = peer.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None, ""
        finally:
            peer.close()

    def memory_mb(self):
        with open(f"/proc/{self.controller.pid}/status", encoding="utf-8") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024

    # --- hosts ---

    def add_host(self, name, port=None, keys=None, believes="controllers", ahead_ms=0, rate=0,
                 others=()):
        """`others`: ports of controllers besides the one at `port`."""
        if keys is None and not os.path.exists(self.path(f"{name}.pem")):
            self.make_keys(name, "switches")
        keys = keys or name
        ports = (port or self.agents_port, *others)
        host = Host(f"{self.build}/tests/controller/fault_host",
                    [name, ",".join(f"ssl:127.0.0.1:{one}" for one in ports), self.path(f"{keys}.key"),
                     self.path(f"{keys}.pem"), self.path(f"{believes}-ca.pem"), ahead_ms, rate])
        self.hosts.append(host)
        return host

    def trumpetctl(self, *arguments, output):
        """A command under way; what it prints goes to the file."""
        environment = dict(self.environment, TRUMPET_SERVER=f"http://127.0.0.1:{self.rest_port}",
                           TRUMPET_TOKEN_FILE=self.path("token"))
        with open(output, "wb") as out:
            command = subprocess.Popen([f"{self.build}/utilities/trumpetctl", *arguments],
                                       env=environment, stdin=subprocess.DEVNULL, stdout=out)
        self.closers += [command.kill, command.wait]
        return command

    def stored_numbers(self):
        with sqlite3.connect(f"file:{self.reports}?mode=ro", uri=True) as file:
            return {number for number, in file.execute("SELECT number FROM report")}

    def reports_of(self, event):
        """As they were told, in the order of their numbers."""
        with sqlite3.connect(f"file:{self.reports}?mode=ro", uri=True) as file:
            return [json.loads(text) for text, in file.execute(
                "SELECT json FROM report JOIN source ON source.id = report.source"
                " WHERE event = ? ORDER BY number", (event,))]

    def stored_reports(self):
        try:
            with sqlite3.connect(f"file:{self.reports}?mode=ro", uri=True) as file:
                return file.execute("SELECT count(*), max(number) FROM report").fetchone()
        except sqlite3.Error:
            return (0, None)

    def close(self):
        for host in self.hosts:
            host.kill()
        for close in self.closers:
            close()
        for process in (self.controller, self.database):
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(PATIENCE_S)
        shutil.rmtree(self.folder, ignore_errors=True)
