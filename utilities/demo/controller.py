# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trumpet-controller of our own, with its database, certificates and users, as docs/controller.md says."""
import json
import os
import subprocess
import threading
import time

from hypervisors import CONTROL, HOSTS, prefix
from lab import run, wait_until
from show import DemoError

TRUMPET_DB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "trumpet-db")
SERVER = "http://127.0.0.1:8650"
PATIENCE = 30

CONFIG = """\
database: unix:{here}/trumpet-db.sock
topology: {here}/topology.yaml
agents:
  listen: ["pssl:6650:0.0.0.0"]
  private_key: {here}/controller-privkey.pem
  certificate: {here}/controller-cert.pem
  ca_certificate: {here}/pki/switchca/cacert.pem
reports:
  database: {here}/reports.db
rest:
  listen: ["ptcp:8650:127.0.0.1"]
  tokens: {here}/tokens.yaml
"""


class Controller:
    """Its files are in a folder of its own."""

    def __init__(self, lab, build, ovs_programs, namespace=CONTROL):
        self.lab, self.namespace = lab, namespace
        self.here = here = lab.path(CONTROL)
        os.mkdir(here)
        self.daemon = os.path.join(build, "controller", "daemon", "trumpet-controller")
        self.trumpetctl = os.path.join(build, "utilities", "trumpetctl")
        for program in (self.daemon, self.trumpetctl):
            if not os.path.exists(program):
                raise DemoError("%s is not there; build first (make)" % program)
        folders = {os.path.dirname(path) for path in ovs_programs.values()}
        self.env = dict(os.environ, OVS_RUNDIR=here, OVS_LOGDIR=here, OVS_DBDIR=here, LC_ALL="C",
                        TRUMPET_SYSCONFDIR=here, TRUMPET_STATEDIR=here, TRUMPET_SERVER=SERVER,
                        TRUMPET_TOKEN_FILE=os.path.join(here, "token"), HOME=here,
                        PATH=":".join(sorted(folders) + [os.environ["PATH"]]))

    def path(self, name):
        return os.path.join(self.here, name)

    def write(self, name, text):
        with open(self.path(name), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(text)

    # --- start ---------------------------------------------------------------

    def make_keys(self):
        """A key and a certificate for the controller and for each host, as ovs-pki makes them."""
        pki = ["ovs-pki", "--dir=" + self.path("pki"), "--log=" + self.path("pki.log"), "--batch"]

        def ask(*arguments):
            run(["sh", "-c", 'cd "$0" && exec "$@"', self.here] + pki + list(arguments),
                env=self.env, what="ovs-pki " + arguments[0])

        ask("init")
        ask("req+sign", "controller", "controller")
        for host in HOSTS:
            ask("req+sign", host, "switch")

    def keys(self, host):
        """Paths of a host's key, its certificate, and the authority of the controller's."""
        return (self.path(host + "-privkey.pem"), self.path(host + "-cert.pem"),
                self.path("pki/controllerca/cacert.pem"))

    def start_for_hosts(self):
        self.start("hosts:\n" + "".join(
            "  - {id: %s, prefixes: [%s]}\n" % (host, prefix(host)) for host in HOSTS), CONFIG)

    def start(self, topology, config):
        self.write("topology.yaml", topology)
        self._make_token()
        self.write("controller.yaml", config.replace("{here}", self.here))
        self._start([TRUMPET_DB, "serve", "--file=" + self.path("trumpet.db")], "trumpet-db",
                    "trumpet-db.sock")
        self._start([self.daemon, "--ports-file=" + self.path("ports"), "--pidfile",
                     "--log-file=" + self.path("trumpet-controller.log"), "-vconsole:off",
                     "-vsyslog:off"], "trumpet-controller", "ports")

    def _start(self, argv, name, sign):
        child = self.lab.start(argv, self.path(name + ".out"), self.env, self.namespace)

        def is_ready():
            if child.poll() is not None:
                with open(self.path(name + ".out"), errors="replace") as f:
                    raise DemoError("%s ended: %s" % (name, (f.read().splitlines() or ["?"])[-1]))
            return os.path.exists(self.path(sign))

        wait_until(is_ready, name + " to start", PATIENCE)

    def _make_token(self):
        done = run([self.trumpetctl, "token", "new", "demo", "--role=admin"], env=self.env)
        token, _, entry = done.partition("\n")
        self.write("token", token + "\n")
        self.write("tokens.yaml", "tokens:\n" + entry)

    # --- commands ------------------------------------------------------------

    def ctl(self, *arguments):
        """What trumpetctl prints."""
        return run(self.lab.inside(self.namespace, [self.trumpetctl] + list(arguments)), env=self.env,
                   timeout=PATIENCE + 60, what="trumpetctl " + " ".join(arguments[:2]))

    def ask(self, *arguments):
        """What trumpetctl says as JSON."""
        return json.loads(self.ctl(*arguments, "-o", "json"))

    def wait_for_hosts(self):
        wait_until(lambda: sum(host["connected"] for host in self.ask("host", "list")) == len(HOSTS),
                   "all hosts to connect", PATIENCE, 0.1)

    def add_events(self, name, text):
        """The events of a YAML text; returns once all hosts count them."""
        self.write(name, text)
        self.ctl("event", "add", self.path(name), "--wait=%d" % PATIENCE)

    def wait_until_decided(self, until_ns):
        """All hosts have delivered what they counted before, and the controller has decided."""
        wait_until(lambda: all(host["ended_until_ns"] >= until_ns
                               for host in self.ask("host", "list")), "the last verdict", PATIENCE, 0.1)

    def watch(self, *events):
        return Watch(self, events)

    def reports(self, event, since_ns):
        return [report for report in self.ask("report", "list", "--event=" + event, "--limit=1000")
                if report["end_ns"] > since_ns]


class Watch:
    """`trumpetctl event watch`, and the time at which each of its lines came."""

    def __init__(self, controller, events):
        self.lab = controller.lab
        self.reports = []               # (nanoseconds of Unix time, report)
        self._child = self.lab.start(
            [controller.trumpetctl, "event", "watch", *events, "--after=0", "-o", "json"],
            controller.path("watch.err"), controller.env, CONTROL, piped=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._child.stdout:
            self.reports.append((time.time_ns(), json.loads(line)))

    def stop(self):
        self.lab.stop(self._child)
        self._reader.join(PATIENCE)
        return self.reports
