# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around a controller, case by case.  A case gets a Cluster with a database and a
controller that run, and may say something about what it saw."""

import json
import os
import re
import signal
import socket
import ssl

from cluster import eventually
from proxy import Proxy

ALL = []


def case(function):
    ALL.append(function)
    return function


def add_proxy(cluster):
    proxy = Proxy(cluster.agents_port)
    cluster.closers.append(proxy.close)
    return proxy


def has(host, *names):
    return eventually(lambda: set(host.events()) == set(names) and host.events(),
                      f"the host runs {names}")


@case
def killed_controller_loses_no_event_and_comes_back_under_the_same_numbers(cluster):
    host = cluster.add_host("h1")
    for i in range(3):
        cluster.put_event(f"e{i}")
    before = has(host, "e0", "e1", "e2")
    identity = host.last("established")
    for _ in range(3):
        cluster.kill_controller()
        eventually(lambda: not host.is_up(), "the host notices")
        cluster.start_controller(port=cluster.agents_port)
        eventually(host.is_up, "the host comes back")
    cluster.put_event("e3")
    after = has(host, "e0", "e1", "e2", "e3")
    assert {name: after[name] for name in before} == before, (before, after)
    assert after["e3"] not in before.values()
    assert host.last("established") == identity


@case
def killed_controller_leaves_no_alarm_that_never_ends(cluster):
    host = cluster.add_host("h1", rate=100)
    cluster.put_event("e", "*, avg(volume) > 0, 100ms", scope="network")
    has(host, "e")

    def newest():
        rows = cluster.reports_of("e")
        return rows[-1] if rows else {}

    eventually(lambda: "value" in newest() and not newest().get("cleared"), "the event fires")
    cluster.kill_controller()
    while newest().get("cleared"):  # killed between two runs
        cluster.start_controller(port=cluster.agents_port)
        known = len(cluster.reports_of("e"))
        eventually(lambda known=known: len(cluster.reports_of("e")) > known, "it fires again")
        cluster.kill_controller()
    host.kill()
    told = len(cluster.reports_of("e"))
    cluster.start_controller(port=cluster.agents_port)
    eventually(lambda: newest().get("cleared"), "it is cleared")
    later = cluster.reports_of("e")[told:]
    assert [one.get("reasons") for one in later] == [["monitor-interrupted"]], later


@case
def killed_host_comes_back_and_gets_what_it_should_have(cluster):
    host = cluster.add_host("h1")
    cluster.put_event("e")
    before = has(host, "e")
    host.kill()
    eventually(lambda: cluster.metric("trumpet_host_connected", host="h1") == 0, "it is missed")
    cluster.put_event("f")
    again = cluster.add_host("h1")
    after = has(again, "e", "f")
    assert after["e"] == before["e"]
    assert cluster.metric("trumpet_host_sessions", host="h1") == 2
    assert cluster.metric("trumpet_agent_sessions_closed") >= 1


@case
def cut_connections_come_back(cluster):
    proxy = add_proxy(cluster)
    host = cluster.add_host("h1", port=proxy.port)
    cluster.put_event("e")
    has(host, "e")
    for _ in range(5):
        ends = host.count("closed")
        proxy.cut()
        eventually(lambda ends=ends: host.count("closed") > ends, "the host notices")
        eventually(host.is_up, "the host comes back")
    cluster.put_event("f")
    has(host, "e", "f")
    assert cluster.metric("trumpet_agent_sessions_closed") >= 5


def half_open(cluster, mode):
    proxy = add_proxy(cluster)
    host = cluster.add_host("h1", port=proxy.port)
    other = cluster.add_host("h2")
    cluster.put_event("e")
    has(host, "e")
    has(other, "e")
    proxy.set_mode(mode)
    cluster.put_event("f")
    has(other, "e", "f")  # nobody waits for the one that is stuck
    eventually(lambda: not host.is_up(), "the host notices")
    eventually(lambda: "host h1 has gone" in cluster.log(), "the controller notices")
    assert cluster.metric("trumpet_host_connected", host="h1") == 0
    assert cluster.metric("trumpet_host_connected", host="h2") == 1
    assert cluster.metric("trumpet_agent_sessions_closed") >= 1
    proxy.set_mode("pass")
    proxy.cut()
    has(host, "e", "f")


@case
def stalled_connections_end_and_hold_nobody_up(cluster):
    half_open(cluster, "stall")


@case
def half_open_connections_end_and_hold_nobody_up(cluster):
    half_open(cluster, "swallow")


@case
def host_that_stops_reading_does_not_hold_others_up(cluster):
    stuck = cluster.add_host("h1")
    other = cluster.add_host("h2")
    eventually(stuck.is_up, "the host comes")
    before = cluster.memory_mb()
    stuck.process.send_signal(signal.SIGSTOP)
    for i in range(20):
        cluster.put_event(f"e{i}")
    has(other, *(f"e{i}" for i in range(20)))
    assert cluster.metric("trumpet_host_events_wanted", host="h1") == 20
    assert cluster.metric("trumpet_host_events_applied", host="h1") < 20
    assert cluster.metric("trumpet_host_events_applied", host="h2") == 20
    assert cluster.memory_mb() < before + 50
    stuck.process.send_signal(signal.SIGCONT)
    has(stuck, *(f"e{i}" for i in range(20)))
    eventually(lambda: cluster.metric("trumpet_host_events_applied", host="h1") == 20, "it is seen")


@case
def clock_that_is_wrong_does_not_keep_a_host_out(cluster):
    ahead = cluster.add_host("h1", ahead_ms=50, rate=100)
    behind = cluster.add_host("h2", ahead_ms=-50, rate=100)
    cluster.put_event("e")
    has(ahead, "e")
    has(behind, "e")
    eventually(lambda: cluster.stored_reports()[0] > 50, "reports are kept")

    def offset(host):
        return cluster.metric("trumpet_host_clock_offset_seconds", host=host)
    eventually(lambda: abs(offset("h1") - 0.05) < 0.02 and abs(offset("h2") + 0.05) < 0.02,
               "both offsets are seen")


@case
def flooding_host_takes_no_memory_and_no_other_host_down(cluster):
    other = cluster.add_host("h2", rate=100)
    cluster.put_event("e")
    has(other, "e")
    before = cluster.memory_mb()
    flood = cluster.add_host("h1", rate=200000)
    has(flood, "e")
    known = cluster.stored_reports()[0]
    eventually(lambda: cluster.stored_reports()[0] > known + 1000, "reports are kept")
    cluster.put_event("f")
    eventually(lambda: "f" in other.events(), "changes arrive")
    most = max(cluster.memory_mb() for _ in range(100))
    assert most < before + 600, f"{before} MB became {most} MB"
    assert other.is_up()
    assert cluster.metric("trumpet_event_reports", event="e") > 1000
    return f"{before:.0f} MB before, {most:.0f} MB under it"


@case
def garbage_gets_nobody_in(cluster):
    host = cluster.add_host("h1")
    eventually(host.is_up, "the host comes")
    before = cluster.memory_mb()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cluster.path("controllers-ca.pem"))
    context.load_cert_chain(cluster.path("h1.pem"), cluster.path("h1.key"))
    for garbage in (b"\0" * 4096, b"\xff" * 4096, b"GET / HTTP/1.1\r\n\r\n",
                    b"\0\0\0\x04\x0a\xff\xff\xff", os.urandom(65536)):
        for encrypted in (True, False):
            try:
                with socket.create_connection(("127.0.0.1", cluster.agents_port), 10) as plain:
                    plain.settimeout(30)
                    peer = context.wrap_socket(plain) if encrypted else plain
                    peer.sendall(garbage)
                    while peer.recv(4096):
                        pass  # until the controller hangs up
            except OSError as error:
                assert not isinstance(error, TimeoutError), "nobody hung up"
    assert cluster.memory_mb() < before + 50
    assert cluster.metric("trumpet_agent_sessions_closed") >= 10
    cluster.put_event("e")
    has(host, "e")


@case
def strangers_and_expired_keys_stay_out(cluster):
    host = cluster.add_host("h1")
    cluster.make_keys("old", "switches", ("20200101000000Z", "20210101000000Z"))
    cluster.make_keys("early", "switches", ("20900101000000Z", "20910101000000Z"))
    cluster.make_keys("stranger", "strangers")
    cluster.make_keys("h9", "switches")
    outside = [cluster.add_host("old"), cluster.add_host("early"), cluster.add_host("stranger"),
               # The keys of a controller make no host, and those of a host only that one.
               cluster.add_host("tem"), cluster.add_host("h8", keys="h9"),
               # A controller of others.
               cluster.add_host("h9", believes="strangers")]
    cluster.put_event("e")
    has(host, "e")
    for one in outside:
        eventually(lambda one=one: one.count("closed") >= 2, "it is turned away, twice")
        assert one.count("established") == 0 and not one.events(), one.said
    closed = {cause: cluster.metric("trumpet_agent_sessions_closed", cause=cause)
              for cause in ("tls", "refused", "by-us")}
    assert closed["tls"] >= 6 and cluster.metric("trumpet_agent_refusals") >= 2, closed
    # Plain text, too.
    with socket.create_connection(("127.0.0.1", cluster.agents_port), 10) as plain:
        plain.settimeout(30)
        plain.sendall(b"\0\0\0\x02\x08\x01")
        try:
            assert plain.recv(100)[:1] in (b"", b"\x15"), "something but a TLS alert"
        except ConnectionError:
            pass


@case
def users_without_a_token_get_nothing(cluster):
    event = json.dumps({"name": "e", "event": "*, sum(volume) > 5, 10ms"})
    assert cluster.ask("PUT", "/v1/events/e", event, token="guessed") == 401
    assert cluster.ask("PUT", "/v1/events/e", event, token="") == 401
    assert cluster.event_ids() == {}
    assert cluster.metric("trumpet_http_access", result="wrong_token") >= 1
    assert cluster.ask("PUT", "/v1/events/e", event) == 201
    assert "e" in cluster.event_ids()


@case
def keys_that_expire_are_replaced_without_a_restart(cluster):
    host = cluster.add_host("h1")
    eventually(host.is_up, "the host comes")
    # The authority of the hosts is another one from now on.
    for part in ("pem", "key"):
        os.replace(cluster.path(f"strangers-ca.{part}"), cluster.path(f"switches-ca.{part}"))
    cluster.make_keys("new", "switches")
    new = cluster.add_host("new")
    eventually(new.is_up, "the new keys are good")
    host.kill()
    old = cluster.add_host("h1")
    eventually(lambda: old.count("closed") >= 2, "the old keys are not")
    assert old.count("established") == 0


@case
def watch_goes_on_where_it_was_after_the_controller_was_killed(cluster):
    """From the new controller's memory, and from the store what the old one had told nobody."""
    tokens, output = cluster.path("tokens.yaml"), cluster.path("watch.out")
    cluster.trumpetctl("token", "new", "watcher", f"--append={tokens}", output=cluster.path("token")).wait()
    cluster.kill_controller()
    cluster.controller_flags = [f"--rest=ptcp:{cluster.rest_port}:127.0.0.1", f"--tokens={tokens}"]
    cluster.start_controller(port=cluster.agents_port)
    host = cluster.add_host("h1", rate=100)
    cluster.put_event("e")
    has(host, "e")

    def seen():
        with open(output, encoding="utf-8") as lines:
            return [json.loads(line)["number"] for line in lines if line.endswith("\n")]

    watch = cluster.trumpetctl("event", "watch", "e", "--after=0", "-o", "json", output=output)
    eventually(lambda: len(seen()) > 20, "reports are told")
    watch.send_signal(signal.SIGSTOP)
    told = seen()[-1]
    eventually(lambda: cluster.stored_reports()[1] > told + 20, "there is more to tell")
    cluster.kill_controller()
    missed = cluster.stored_reports()[1]
    cluster.start_controller(port=cluster.agents_port)
    watch.send_signal(signal.SIGCONT)
    eventually(lambda: seen()[-1] > missed + 20, "the watch goes on")
    numbers = seen()
    assert numbers == sorted(set(numbers)), numbers
    left_out = {number for number in cluster.stored_numbers() if number <= numbers[-1]} - set(numbers)
    assert not left_out, left_out
    return f"{len(numbers)} reports, {missed - told} of them after the kill"


@case
def alerts_and_the_dashboard_ask_for_metrics_there_are(cluster):
    cluster.kill_controller()
    cluster.more_configuration = "openflow:\n  listen: ['ptcp:0:127.0.0.1']\n"
    cluster.start_controller(port=cluster.agents_port)
    served = set(re.findall(r"^# TYPE (\w+)", cluster.metrics(), re.M))
    asked = set()
    for name in ("alerts.yaml", "dashboard.json"):
        with open(f"{cluster.source}/docs/monitoring/{name}", encoding="utf-8") as text:
            asked |= set(re.findall(r"\b(trumpet_\w+?)(?:_bucket)?\b", text.read()))
    assert len(asked) > 30, asked
    assert asked <= served, f"nobody serves {sorted(asked - served)}"
    return f"{len(asked)} of {len(served)}"
