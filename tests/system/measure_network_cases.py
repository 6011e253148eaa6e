# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measurement programs of a controller at two switches: where copies go, and who answers requests."""

import collections
import contextlib
import json
import os
import signal

from controller_cases import HOST, give_keys, network_of
from mark_cases import frame_to, pass_all, wires
from measure_copy_cases import Collector, SENDER
from switch import Switch, eventually

SECOND = "hv-2"
PROGRAM = f"""
endpoint CARDS, KEPT;
bytes = Counter(width=64);
pkts >> match(ipv4.src == {SENDER}) >> bytes.add(pkt.size) >> duplicate(cards) >> duplicate(kept);
cards >> collect(CARDS);
kept >> collect(KEPT);
ctrl >> match(pkt.request == 7) >> duplicate(asked);
asked >> tag(pkt.hh_volume, bytes) >> collect(CARDS);
"""
COUNTS = {HOST: 300, SECOND: 120}  # packets through each switch
ALL_PACKETS = sum(COUNTS.values())
RATE = 100000  # no burst is too much, however late the agent comes


class DummySwitch(Switch):
    """One whose ports are dummies, so that it stands beside another one; it has no PMD thread."""

    def _start(self):
        self._start_database()
        self._start_vswitchd("--enable-dummy=override", "--disable-system")
        self.vsctl("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy",
                   "fail-mode=secure",
                   *(word for port in "12" for word in (
                       "--", "add-port", "br0", f"p{port}", "--", "set", "interface", f"p{port}",
                       "type=dummy", f"ofport_request={port}")))
        self.ofctl("add-flow", "br0", "in_port=1,actions=output:2")

    def receive(self, frames):
        """In parts that the port has room for."""
        for start in range(0, len(frames), 20):
            part = frames[start:start + 20]
            self.rpc("netdev-dummy/receive", "p1", *(frame.hex() for frame in part))
            eventually(lambda: self.ask("program-show", "cards")["collected"] >=
                       2 * min(start + 20, len(frames)),  # pylint: disable=W0640
                       "all are collected")

    def pid(self):
        return self.processes[-1].pid


@contextlib.contextmanager
def second_of(switch, network):
    second = DummySwitch(switch.paths)
    try:
        network.make_keys(SECOND, "switches")
        give_keys(second, network, SECOND)
        second.vsctl("set", "Open_vSwitch", ".", f"external_ids:system-id={SECOND}")
        second.set_config(enable="true", memory_mb="16",
                          controller=f"ssl:127.0.0.1:{network.agents_port}")
        yield second
    finally:
        second.close()


def connected(network):
    return sorted(host["id"] for host in network.ctl("host", "list") if host["connected"])


def running(network):
    """None yet: the controller may not have read what is installed."""
    return sorted(host["id"] for measurement in network.ctl("measure", "list")
                  for host in measurement["hosts"] if host["state"] == "running")


def figures(copies):
    return {name: copies[name] for name in ("collected", "sent", "over_rate", "failed", "lost",
                                            "unbound")}


def all_went_well(packets, answers=0):
    """What became of these, each of which was collected for both endpoints."""
    return {"collected": 2 * packets + answers, "sent": packets + answers, "over_rate": 0,
            "failed": 0, "lost": 0, "unbound": packets}


def told(network):
    """By host, and of all of them."""
    shown = network.ctl("measure", "show", "cards")
    by_host = {host["id"]: figures(host["copies"]) for host in shown["hosts"] if "copies" in host}
    return by_host, figures(shown["copies"])


def ask(network, request):
    answer = network.ctl("measure", "ask", "cards", f"pkt.request={request}", "ipv4.dst=10.0.0.3")
    values = {each["host"]: [copy["packet"]["pkt.hh_volume"] for copy in each["copies"]]
              for each in answer["answers"]}
    return values, [host["id"] for host in answer["silent"]]


def install(network, *options):
    path = network.path("cards.mafia")
    with open(path, "w", encoding="ascii") as text:
        text.write(PROGRAM)
    return network.ctl("measure", "install", "--copy-rate", str(RATE), *options, "cards", path)


def check_refusals(network):
    for endpoint, words in (("CARD=udp:127.0.0.1:9", "it has CARDS, KEPT"),
                            ("CARDS=udp:collector:9", "copies go to 'udp:ADDRESS:PORT'")):
        try:
            install(network, "--endpoint", endpoint)
        except AssertionError as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"{endpoint} was taken")


def copies_of_two_switches_come_to_one_collector_and_add_up(switch):
    collector = Collector()
    try:
        with wires(switch) as wire, network_of(switch) as network, \
                second_of(switch, network) as second:
            eventually(lambda: connected(network) == sorted(COUNTS), "both switches have come")
            check_refusals(network)
            eventually(lambda: is_installed_on_both(network, collector), "both run it")
            assert running(network) == sorted(COUNTS)
            frames = {host: [frame_to(n % 7, n, n % 900) for n in range(count)]
                      for host, count in COUNTS.items()}
            forwarded, _, _ = pass_all(wire, frames[HOST])
            assert sorted(forwarded) == sorted(frames[HOST]), "each is forwarded once, unchanged"
            second.receive(frames[SECOND])

            def all_came():
                collector.take()
                return len(collector.cards) >= ALL_PACKETS

            eventually(all_came, "copies of both switches come")
            cards = [json.loads(card) for card in collector.cards]
            numbers = collections.Counter((card["switch"], card["endpoint"]) for card in cards)
            assert numbers == {(1, "CARDS"): COUNTS[HOST], (2, "CARDS"): COUNTS[SECOND]}, numbers
            wanted = ({host: all_went_well(count) for host, count in COUNTS.items()},
                      all_went_well(ALL_PACKETS))
            eventually(lambda: told(network) == wanted, "hosts have told what became of them")
            endpoints = network.ctl("measure", "show", "cards")["copies"]["endpoints"]
            assert endpoints == [{"endpoint": "CARDS", "address": collector.address,
                                  "sent": ALL_PACKETS, "over_rate": 0, "failed": 0},
                                 {"endpoint": "KEPT", "sent": 0, "over_rate": 0, "failed": 0}]
            check_answers(network, second, frames)
            check_restart(network, collector)
    finally:
        collector.close()


def is_installed_on_both(network, collector):
    """It is installed on hosts that have said which programs they have."""
    try:
        shown = install(network, "--endpoint", f"CARDS={collector.address}")
    except AssertionError as error:
        if "no host that takes measurement programs" not in str(error):
            raise
        return False
    if len(shown["hosts"]) == len(COUNTS):
        return True
    network.ctl("measure", "rm", "cards", output="table")
    return False


def check_answers(network, second, frames):
    truth = {host: [sum(len(frame) for frame in of_host)] for host, of_host in frames.items()}
    eventually(lambda: ask(network, 7) == (truth, []), "each answers for what it has seen")
    eventually(lambda: ask(network, 8) == ({host: [] for host in COUNTS}, []), "nothing to say")
    os.kill(second.pid(), signal.SIGSTOP)
    try:
        eventually(lambda: ask(network, 7) == ({HOST: truth[HOST]}, [SECOND]), "one is silent")
    finally:
        os.kill(second.pid(), signal.SIGCONT)
    eventually(lambda: ask(network, 7) == (truth, []), "it speaks again")


def check_restart(network, collector):
    """Figures come again from the hosts, which went on."""
    def whole():
        by_host, total = told(network)
        sent = {host: one["sent"] for host, one in by_host.items()}
        return len(sent) == 2 and sum(sent.values()) == total["sent"] and total

    network.kill_controller()
    network.start_controller(port=network.agents_port)
    eventually(lambda: running(network) == sorted(COUNTS), "both have come back")
    total = eventually(whole, "they have told how things are")
    assert total["sent"] >= ALL_PACKETS + 5 and total["unbound"] == ALL_PACKETS, total
    assert total["collected"] == total["sent"] + total["unbound"], total
    shown = network.ctl("measure", "show", "cards")
    assert shown["endpoints"] == {"CARDS": collector.address} and shown["copy_rate"] == RATE, shown
    assert network.metric("trumpet_measurement_copies_total", measurement="cards",
                          result="sent") == total["sent"]


ALL = [copies_of_two_switches_come_to_one_collector_and_add_up]
