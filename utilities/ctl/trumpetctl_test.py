#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

"""trumpetctl as people use it, against a real server: every command, mistakes, a stream that is cut
off, and completion in a real bash.
"""

import contextlib
import http.server
import json
import os
import pty
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.parse

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
sys.path.insert(0, SOURCE + "/controller/rest")
sys.dont_write_bytecode = True

from rest_kit import PATIENCE, Server  # noqa: E402

EVENTS = """\
events:
  - name: heavy
    event: dstIP=10.0.0.0/8, sum(volume) > 100, dstIP, 10ms
  - name: mean
    event: "*, avg(bytes) > 100, 10ms"
"""
CTL = BUILD + "/utilities/trumpetctl"


class User:
    """Somebody with a folder, a token, and a server."""

    def __init__(self, port, token="admin"):
        self.folder = tempfile.mkdtemp(prefix="trumpet-ctl-")
        self.write("token", token + "\n")
        self.environment = dict(os.environ, HOME=self.folder, TRUMPET_SERVER=f"http://127.0.0.1:{port}",
                                TRUMPET_TOKEN_FILE=self.folder + "/token", TERM="dumb",
                                PATH=f"{BUILD}/utilities:{os.environ['PATH']}")
        self.write("events.yaml", EVENTS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, line, text=None, **environment):
        return subprocess.run([CTL, *line.split()], input=text, capture_output=True, text=True,
                              env=dict(self.environment, **environment), cwd=self.folder,
                              timeout=PATIENCE, check=False)

    def says(self, line, **more):
        done = self.run(line, **more)
        assert done.returncode == 0 and done.stderr == "", f"{line}: {done}"
        return done.stdout

    def fails(self, line, expected, status=1, **more):
        done = self.run(line, **more)
        assert done.returncode == status and done.stdout == "", f"{line}: {done}"
        assert done.stderr.startswith("trumpetctl: ") and expected in done.stderr, f"{line}: {done}"


def test_every_command(user):
    """Each command does what it says, in the three formats."""
    assert "warning: no host" in user.says("event check events.yaml")
    assert user.says("event add events.yaml --wait") == "heavy\nmean\n"
    assert user.says("event add - --replace", text=EVENTS) == "heavy\nmean\n"
    assert [event["name"] for event in json.loads(user.says("event list -o json"))] == ["heavy", "mean"]
    assert "- name: heavy\n" in user.says("event list --output=yaml")
    assert user.says("event show heavy").startswith("heavy: dstIP=10.0.0.0/8, sum(volume) > 100")
    assert user.says("event disable heavy mean") == ""
    assert json.loads(user.says("event show heavy -o json"))["enabled"] is False
    assert user.says("event enable heavy") == ""
    assert user.says("host list") == "no hosts\n" and user.says("topology show") == "no hosts\n"
    assert user.says("status").startswith(user.environment["TRUMPET_SERVER"] + ": ok\n")
    assert json.loads(user.says("report list --event=load --limit=3 -o json"))[2]["event"] == "load"
    numbers = [json.loads(line)["number"] for line in
               user.says("event watch load --after=0 --count=5 -o json").splitlines()]
    assert numbers == [1, 2, 3, 4, 5]
    with open(f"{user.folder}/empty.pcap", "wb") as capture:
        capture.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    user.fails("event watch load --count=abc", "--count is 'abc'; it takes 1 to", status=2)
    user.fails("event add events.yaml --wait=soon", "--wait is 'soon'; it takes 0 to", status=2)
    assert user.says("simulate events.yaml empty.pcap") == "no reports\n"
    assert user.says("event rm heavy mean") == "" and user.says("event list") == "no events\n"


def test_traces(user):
    """Where no analyzer is, and what the command line says by itself."""
    for command in ("query --verdict=dropped --from=2026-11-23", "show 0123456789abcdef",
                    "export --format=json", "query --estimate"):
        user.fails("trace " + command, "no analyzer that makes traces is connected")
    for command in ("links --through=leaf1", "traces --verdict=dropped --step=1"):
        user.fails("counter " + command, "no analyzer that makes traces is connected")
    for command in ("drops", "loops --from=2026-11-23", "ecmp --at=leaf1 --members=spine1,spine2",
                    "latency --earlier=2026-11-22", "roce", "sessions"):
        user.fails("app " + command, "no analyzer that makes traces is connected")
    user.fails("app latency --earlier=noon", "--earlier: 'noon' is no time")
    assert user.says("counter list") == "no named counters\n"
    user.fails("counter add lost --verdict=dropped --mark=debug,probe --step=5",
               "no analyzer that makes traces is connected")
    user.fails("counter add links", "name takes 1 to 64 letters")
    user.fails("counter add lost --step=0", "step_s takes 1 to 3600")
    for command in ("show", "rm"):
        user.fails(f"counter {command} lost", "there is no counter named 'lost'")
    user.fails("trace query --limit=0", "--limit is '0'; it takes 1 to 1000", status=2)
    user.fails("trace query --from=noon", "--from: 'noon' is no time")
    user.fails("trace export", "packets go to a file: -w FILE")
    user.fails("trace export --format=xml", "--format is 'xml'; it takes pcapng or json")


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that is no controller: a list at every path."""

    def do_GET(self):                   # pylint: disable=invalid-name
        """Whatever is asked."""
        body = json.dumps(self.answer()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self):
        """What is said."""
        return []

    def log_message(self, *_):          # pylint: disable=arguments-differ
        """Nobody reads it."""


class Traces(Answers):
    """A controller with five traces, two a page; an analyzer was away at the first page only."""

    def answer(self):
        """Anything is asked by a cursor that says how many went before."""
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        begin = int(query.get("cursor", ["0"])[0])
        end = min(begin + min(int(query["limit"][0]), 2), 5)
        return {
            "traces": [{"id": f"{number:016x}", "start_ns": number, "last_switch": "leaf1",
                        "frame": {"link": "ip", "hex": "4500"}} for number in range(begin, end)],
            "next_cursor": str(end) if end < 5 else None, "complete": begin > 0,
            "silent": [] if begin else [{"analyzer": "an2", "why": "has gone"}]}


@contextlib.contextmanager
def serving(answers):
    """A server of these; its URL."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_exports(user):
    """What is not all says so, whatever it is written to."""
    with serving(Traces) as server:
        silent = "trumpetctl: without the traces of analyzer an2, which has gone\n"
        more = "trumpetctl: there are more than --limit=4\n"
        for options in ("--format=json", "-w out.pcapng"):
            for limit, expected in ((4, silent + more), (5, silent), (9, silent)):
                done = user.run(f"trace export {options} --limit={limit}", TRUMPET_SERVER=server)
                assert (done.returncode, done.stderr) == (0, expected), done
                if "json" in options:
                    ids = [json.loads(line)["start_ns"] for line in done.stdout.splitlines()]
                    assert ids == list(range(min(limit, 5))), done


def test_trace_rules(user):
    """In a network without switches."""
    user.write("rules.yaml", "rules: [{name: web, filter: dstPort=80, truncate: 64}]")
    assert user.says("trace rules list") == "no trace rules\n"
    assert "web   pending  dstPort=80  truncate 64" in user.says("trace rules apply rules.yaml")
    assert json.loads(user.says("trace rules show web -o json"))["switches"] == []
    assert "no switch copies" in user.says("trace rules show web")
    user.fails("trace rules show other", "there is no trace rule named 'other'")
    assert "1:8: 'rules' must be a list" in user.run("trace rules apply -", text="rules: 1").stderr
    user.fails("debug enable slow", "marks need a 'debug_bit'")
    user.write("marked.yaml", "{debug_bit: 5, base: true}")
    user.says("trace rules apply marked.yaml")
    assert user.says("debug enable slow --hosts=h1,h2 --filter=dstPort=443") == ""
    assert "slow  h1, h2  dstPort=443" in user.says("debug list")
    assert "slow  h1, h2  dstPort=443" in user.says("trace rules list")
    user.fails("debug enable slow --filter=dstPrt=1", "did you mean 'dstPort'?")
    assert user.says("debug disable slow") == ""
    user.fails("debug disable slow", "there is no mark named 'slow'")
    assert user.says("debug list") == "no packets are marked\n"
    assert user.says("trace rules rm") == ""
    user.fails("trace rules rm", "there are no trace rules")


def test_reshufflers(user):
    assert "in order  1 of 2        12" in user.says("trace reshuffler list")
    text = user.says("trace reshuffler show shuf1")
    assert "128 slots at 1970-01-01T00:00:00" in text, text
    assert ", 240 ms after the last sign of an2" in text, text
    assert json.loads(user.says("trace reshuffler show shuf1 -o json"))["analyzers"][1]["copies"] == 3
    user.fails("trace reshuffler show other", "there is no reshuffler named 'other'")


def test_probes(user):
    """In a network that small_rest makes up."""
    packet = "udp srcIP=10.0.1.1 dstIP=10.0.2.2 dstMAC=02:00:00:00:02:02"
    assert user.says("probe list") == "no probes\n"
    said = user.says(f"probe send leaf1 3 {packet} dstPort=53 --count=2")
    assert "dstPort=53" in said and "     1  delivered  00000000000000ab  leaf1 +0.0 us\n" in said, said
    assert said.endswith("delivered: 1 of 2 packets left the network at leaf1; 1 without a trace\n")
    begun = json.loads(user.says(f"probe send leaf1 3 {packet} --background -o json"))
    assert begun["state"] == "sending" and begun["count"] == 3 and "via" not in begun, begun
    said = user.says(f"probe send leaf1 3 {packet} --via=spine2,leaf4")
    assert "at switch leaf1, port 3, via spine2, leaf4\n" in said, said
    user.fails(f"probe send leaf1 3 {packet} --via=spine2,", "'via' takes names of switches")
    assert json.loads(user.says(f"probe show {begun['id']} -o json"))["state"] == "done"
    assert user.says("probe list").count("leaf1:3  UDP 10.0.1.1 > 10.0.2.2") == 3
    user.fails(f"probe send leaf2 3 {packet}", "there is no switch 'leaf2'")
    user.fails(f"probe send leaf1 3 {packet} --count=0", "'count' takes a whole number")
    done = user.run(f"probe send leaf1 3 {packet} ttl=0")
    assert done.returncode == 1 and done.stderr.startswith("packet:1:64: 'ttl' takes"), done
    user.fails("probe replay 00000000000000ab", "no analyzer that makes traces is connected")
    user.fails("probe show 7", "there is no probe 7")
    assert user.run("probe send leaf1 3").returncode == 2


def test_drop_searches(user):
    """Likewise: each finds that packets to the port vanish."""
    packet = "udp srcIP=10.0.1.1 dstIP=10.0.2.2 dstMAC=02:00:00:00:02:02 dstPort=53"
    assert user.says("probe searches") == "no searches\n"
    done = user.run(f"probe drops leaf1 3 {packet} --count=40 --dst-within=10.0.2.0/24")
    assert done.returncode == 1, done
    assert "dstPort  decides  0 of 3  53           54\n" in done.stdout, done.stdout
    assert "traces of lost packets: 00000000000000ab\n" in done.stdout, done.stdout
    assert "pattern, persistent: packets with dstPort 53 vanish between leaf1" in done.stdout, done
    begun = json.loads(user.says(f"probe drops leaf1 3 {packet} --background -o json"))
    assert begun["state"] == "running", begun
    assert user.says(f"probe stop {begun['id']}") == ""
    assert json.loads(user.says(f"probe search {begun['id']} -o json"))["state"] == "stopped"
    assert user.says("probe searches").count("leaf1:3  UDP 10.0.1.1 > 10.0.2.2") == 2
    user.fails("probe drops leaf1 3", "which packets? SWITCH PORT FIELD=VALUE..., or --trace=ID")
    user.fails("probe drops --trace=00000000000000ab", "no analyzer that makes traces is connected")
    user.fails(f"probe drops leaf1 3 {packet} --count=5", "'count' takes a whole number from 10")
    user.fails(f"probe drops leaf1 3 {packet} --dst-within=here", "dst_within: ")
    done = user.run(f"probe drops leaf1 3 {packet} ttl=0")
    assert done.returncode == 1 and done.stderr.startswith("packet:1:"), done
    user.fails("probe search 7", "there is no search 7")
    user.fails("probe stop 7", "there is no search 7")


def test_bounces(user):
    """Likewise; no link of that network is known."""
    assert user.says("probe bounces") == "no bounces\n"
    said = user.says("probe bounce leaf1 3 --count=3")
    assert "bounce 0000000000000001, leaf1:3 > spine1:4: done" in said, said
    assert said.endswith("2 of 3 packets came back, 0 lost, 1 not copied; round trip: min 21.4 us, "
                         "median 21.4 us, 99% 30.0 us, max 30.0 us\n"), said
    begun = json.loads(user.says("probe bounce leaf1 --to=spine1 --background -o json"))
    assert begun["state"] == "sending" and begun["count"] == 20, begun
    listed = user.says("probe bounces").splitlines()
    assert len(listed) == 3 and "21.4 us" in listed[1], listed
    user.fails("probe bounce leaf2 3", "there is no switch 'leaf2'")
    user.fails("probe bounce leaf1", "this bounce has neither 'port' nor 'to'")
    user.fails("probe bounce leaf1 3 --count=0", "'count' takes a whole number")
    user.fails("probe links", "no link between switches has been found by LLDP")


def test_stores(user):
    """By trumpet-analyzer, whichever comes first in $PATH."""
    os.mkdir(f"{user.folder}/bin")
    user.write("bin/trumpet-analyzer", "#!/bin/sh\necho \"$@\"\n")
    os.chmod(f"{user.folder}/bin/trumpet-analyzer", 0o755)
    said = user.says("store migrate --from files:/a --to=clickhouse:http://b:8123,user=c",
                     PATH=f"{user.folder}/bin:{user.environment['PATH']}")
    assert said == "migrate --from=files:/a --to=clickhouse:http://b:8123,user=c\n", said


def test_measurements(user):
    """In a network without hosts."""
    user.write("cards.mafia", "endpoint C; pkts >> duplicate(all); all >> collect(C);")
    install = "measure install cards cards.mafia "
    for options, expected in (
            ("--endpoint=C", "--endpoint: 'C' is no NAME=ADDRESS"),
            ("--endpoint=C=udp:collector:9", "endpoints: 'C' is 'udp:collector:9'; copies go to"),
            ("--endpoint=D=erspan:10.0.0.9", "the program has no endpoint 'D'; it has C"),
            ("--copy-rate=0", "copy_rate takes 1 to 100000 copies a second"),
            ("--endpoint=C=erspan:10.0.0.9 --copy-rate=9", "no host that takes measurement programs")):
        user.fails(install + options, expected)
    user.fails(install + "--copy-rate=many", "--copy-rate is 'many'; it takes 0 to", status=2)
    user.fails("measure ask cards pkt.request=7", "there is no measurement named 'cards'")
    user.fails("measure ask cards 7", "'7' is no FIELD=VALUE")


def test_campaigns(user):
    """A run is followed to its end, however it goes; here nobody can take copies."""
    user.write("web.slices", "MIRROR 10.0.0.0/8 ON [A B] USING 1 Mb/s DURING 100 ms EVERY 1 h")
    assert "mirror at: A B" in user.says("slice plan --controller web.slices")
    user.fails("slice plan --controller --rate=5 web.slices", "--rate is for plans without", status=2)
    for line in ("slice run web web.slices --wait", "slice run web --wait=50"):
        done = user.run(line)
        assert done.returncode == 1 and done.stderr == "", done
        assert "failed: no analyzer is there" in done.stdout, done
    done = user.run("slice run web --wait -o json")
    results = json.loads(done.stdout)
    assert (done.returncode, results["state"], results["queries"][0]["slots"]) == (1, "failed", 0), done
    assert json.loads(user.says("slice run web -o json"))["name"] == "web"
    assert user.says("slice run web web.slices") == ""
    user.fails("slice run other --wait", "no campaign named 'other'")
    user.fails("slice run other --wait=1 nowhere.slices", "cannot read nowhere.slices")
    user.says("event add events.yaml --replace")
    user.write("web.json", json.dumps({
        "campaign": "MIRROR 10.0.0.0/8 ON [A B]", "trigger_on": ["heavy"]}))
    user.fails("slice run later web.json --wait=1", "the run has not ended yet")
    assert [one["name"] for one in json.loads(user.says("slice list -o json"))] == ["later", "web"]
    assert user.says("slice show web").startswith("campaign web: ")
    for target in ("", " -w kept.pcapng", " --write=- --run=5"):
        user.fails("slice packets other" + target, "no campaign named 'other'")
    user.fails("slice packets later -w kept.pcapng", "campaign 'later' has not run yet")
    assert not [name for name in os.listdir(user.folder) if name.startswith("kept")]
    user.fails("slice stop other", "no campaign named 'other'")
    assert user.says("slice rm web later") == "" and user.says("event rm heavy mean") == ""


def test_mistakes(user):
    """What is wrong is said in one line, with the place and what may help."""
    for line, expected in (("", "--help"), ("evnt list", "'evnt' is no command"),
                           ("event ad x", "event add, event check"), ("event add", "too few"),
                           ("event add --wiat x", "no option --wiat"), ("host list -o xml", "'xml'")):
        user.fails(line, expected, status=2)
    user.fails("event add nowhere.yaml", "cannot read nowhere.yaml: No such file")
    user.fails("event show hevy", "no event named 'hevy'")
    user.fails("host show h9", "no host 'h9'")
    user.fails("report list --from=yesterday", "'yesterday' is no time")
    user.fails("report list --from=2026-02-31", "'2026-02-31' is no time")
    user.write("typo.yaml", "- name: a\n  event: '*, sum(bytez) > 1, 10ms'\n")
    user.fails("event add typo.yaml", "typo.yaml:2:18: 'bytez' is not a packet variable; did you mean "
               "'bytes'?\n     2 |   event: '*, sum(bytez) > 1, 10ms'\n       |                  ^\n")
    user.write("bad.yaml", "- name: a\n event: b\n")
    user.fails("event check bad.yaml", "bad.yaml:2:2: not valid YAML")
    user.says("event add events.yaml")
    user.fails("event add events.yaml", "--replace")
    user.fails("event list", "needs a token", TRUMPET_TOKEN_FILE="")
    user.fails("event list", "the token: cannot read /nowhere: No such file", TRUMPET_TOKEN_FILE="/nowhere")
    user.write("wrong", "wrong\n")
    user.fails("event list", "not known", TRUMPET_TOKEN_FILE=user.folder + "/wrong")
    server = user.environment["TRUMPET_SERVER"]
    user.fails("status", "http://...", TRUMPET_SERVER=server.replace("http", "https"))
    user.fails("status", "begins with http://", status=2, TRUMPET_SERVER=server[7:])
    with serving(Answers) as other:
        user.fails("event list", "does not answer with a JSON object; is it the controller?", TRUMPET_SERVER=other)
    for line in ("event list", "event watch load --after=0"):  # which would go on for ever
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([CTL, *line.split()], stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=user.environment, timeout=PATIENCE, check=False)
        assert (done.returncode, done.stderr) == (1, "trumpetctl: standard output cannot be written\n"), done


class Cutter:
    """A way to the server that is cut each time so many bytes have come back."""

    def __init__(self, port, bytes_each_time):
        self.port, self.bytes_each_time, self.cuts = port, bytes_each_time, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            client, _ = self.socket.accept()
            with client, socket.create_connection(("127.0.0.1", self.port)) as server:
                self._pass_on(client, server)
            self.cuts += 1

    def _pass_on(self, client, server):
        left = self.bytes_each_time
        while left > 0:
            for end in select.select([client, server], [], [])[0]:
                data = end.recv(min(left, 4096))
                if not data:
                    return
                (server if end is client else client).sendall(data)
                left -= len(data) if end is server else 0


def test_a_watch_that_is_cut_off(user, port):
    """`event watch` goes on where it was: each report once, none left out."""
    cutter = Cutter(port, 3000)
    done = user.run("event watch load --after=0 --count=100 -o json",
                    TRUMPET_SERVER=f"http://127.0.0.1:{cutter.socket.getsockname()[1]}")
    numbers = [json.loads(line)["number"] for line in done.stdout.splitlines()]
    assert done.returncode == 0 and numbers == list(range(1, 101)), done
    assert cutter.cuts >= 3 and "trying again" in done.stderr, done.stderr


class Bash:
    """An interactive bash that knows the completion of trumpetctl."""

    def __init__(self, user):
        self.answers, answer_end = os.pipe()
        os.set_inheritable(answer_end, True)
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.dup2(answer_end, 9)
            os.chdir(user.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], user.environment)
        os.close(answer_end)
        self.pid = pid
        self.type(f". {SOURCE}/utilities/trumpetctl-completion.bash\n"
                  "bind 'set completion-query-items 0'; bind 'set page-completions off'\n"
                  "bind -x '\"\\C-t\": printf \"%s\\n\" \"$READLINE_LINE\" >&9'\n"
                  "echo ready >&9\n")
        threading.Thread(target=self._drain, daemon=True).start()
        assert self._answer() == "ready"

    def _drain(self):
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass                        # it has ended

    def type(self, text):
        os.write(self.terminal, text.encode())

    def _answer(self):
        answer = b""
        while not answer.endswith(b"\n"):
            assert select.select([self.answers], [], [], PATIENCE)[0], "bash does not answer"
            answer += os.read(self.answers, 4096)
        return answer.decode()[:-1]

    def complete(self, line):
        """What the line becomes by TAB."""
        self.type(line + "\t\x14")
        answer = self._answer()
        self.type("\x15")                # kills the line; not before, or the terminal might do it
        return answer

    def end(self):
        self.type("exit\n")
        os.waitpid(self.pid, 0)


def test_completion(user):
    """Commands, options, and the names of events, in a real bash."""
    user.says("event add events.yaml --replace")
    bash = Bash(user)
    for line, expected in (("trumpetctl ev", "trumpetctl event "),
                           ("trumpetctl event sh", "trumpetctl event show "),
                           ("trumpetctl topo", "trumpetctl topology "),
                           ("trumpetctl topology s", "trumpetctl topology show "),
                           ("trumpetctl simulate ev", "trumpetctl simulate events.yaml "),
                           ("trumpetctl event show h", "trumpetctl event show heavy "),
                           ("trumpetctl event rm heavy m", "trumpetctl event rm heavy mean "),
                           ("trumpetctl event add --wa", "trumpetctl event add --wait "),
                           ("trumpetctl event add ev", "trumpetctl event add events.yaml "),
                           ("trumpetctl -o json host l", "trumpetctl -o json host list "),
                           ("trumpetctl --output=json ho", "trumpetctl --output=json host "),
                           ("trumpetctl host list -o y", "trumpetctl host list -o yaml "),
                           ("trumpetctl host list --output=y", "trumpetctl host list --output=yaml "),
                           ("trumpetctl report list --event=m", "trumpetctl report list --event=mean "),
                           ("trumpetctl token new x --role a", "trumpetctl token new x --role admin "),
                           ("trumpetctl event ev", "trumpetctl event ev"),
                           ("trumpetctl event show x", "trumpetctl event show x")):
        # Completion waits two seconds for a server, then does without.
        completed = next((done for done in (bash.complete(line) for _ in range(10)) if done == expected),
                         "something else, ten times")
        assert completed == expected, f"{line!r} becomes {completed!r}"
    bash.end()


def main():
    with Server(rate=1000) as server, User(server.port) as user:
        for test, arguments in ((test_every_command, (user,)), (test_campaigns, (user,)),
                                (test_traces, (user,)),
                                (test_exports, (user,)),
                                (test_measurements, (user,)),
                                (test_trace_rules, (user,)),
                                (test_reshufflers, (user,)),
                                (test_probes, (user,)),
                                (test_drop_searches, (user,)),
                                (test_bounces, (user,)),
                                (test_stores, (user,)),
                                (test_mistakes, (user,)),
                                (test_a_watch_that_is_cut_off, (user, server.port)),
                                (test_completion, (user,))):
            test(*arguments)
            print(f"ok: {test.__name__}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
