# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trace rules that change under traffic: what is copied meanwhile, and what is said of it."""

import contextlib
import json
import random
import subprocess
import time

from debug_cases import FLOWS, change, numbered_traffic, numbers_of
from probe_cases import ProbeNetwork, mac_of
from switch import eventually
from trace_cases import CHAIN
from trace_controller_cases import WiredChain, traces_on

CHANGES = 1000
MARKED = {"name": "marked", "marked": True}


@contextlib.contextmanager
def wired_network(switch):
    with traces_on(switch, ProbeNetwork, WiredChain) as (links, network):
        links.connect([100])  # so that all bridges learn where the hosts are
        network.use(json.dumps({"debug_bit": 5, "rules": [MARKED]}))
        network.wait_until_routes_are_known("udp", "srcIP=10.77.0.1", "dstIP=10.77.0.2",
                                            f"dstMAC={mac_of(links, 2)}", "dstPort=9000")
        yield links, network


def random_rules(chance, **more):
    rules = []
    for name in "abcd"[:chance.randrange(1, 5)]:
        low = 20000 + chance.randrange(FLOWS)
        rules.append({"name": name, **more,
                      "filter": f"Protocol=UDP and srcPort={low}-{low + chance.randrange(40)}"})
    return rules


def put(network, rules):
    change(network, "PUT", "/v1/trace-rules", {"debug_bit": 5, "base": True, "rules": rules})


def packets_have_copies_at_all_hops_or_at_none_while_rules_of_edges_change(switch):
    """A thousand random sets of rules, one after the other, under traffic."""
    with wired_network(switch) as (links, network):
        links.take_traces()
        chance = random.Random(2)
        with numbered_traffic(links):
            for _ in range(CHANGES):
                put(network, random_rules(chance, edge=True))
        numbers = numbers_of(links.take_traces())
        assert numbers[1] == numbers[2] == numbers[3], {
            which: sorted(numbers[1] ^ found)[:9] for which, found in numbers.items()}
        sent = max(numbers[1])
        assert sent // 20 < len(numbers[1]) < sent, (len(numbers[1]), sent)
        eventually(network.are_active, "copies of test packets come", seconds=120)
        return f"{CHANGES} changes, {len(numbers[1])} of {sent} packets"


def status_of(network):
    done = subprocess.run([network.switch.paths["OVS_APPCTL"], "-t", network.path("analyzer.ctl"),
                           "trace/status", "json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def nothing_is_called_lost_while_rules_change_and_what_is_lost_behind_that_is(switch):
    """Of rules that each switch looks through some packets have copies at some hops only."""
    with wired_network(switch) as (links, network):
        links.take_traces()
        chance = random.Random(3)
        with numbered_traffic(links):
            for _ in range(CHANGES // 10):
                put(network, random_rules(chance))
                time.sleep(chance.random() / 20)
        numbers = numbers_of(links.take_traces())
        partly = (numbers[1] | numbers[2] | numbers[3]) - (numbers[1] & numbers[2] & numbers[3])
        assert partly, "no change was seen under traffic"

        def told():
            status = status_of(network)
            return status["copies"]["waiting"] == 0 and status

        verdicts = eventually(told, "all have been told of")["packets"]["verdicts"]
        assert verdicts["dropped"] == verdicts["copies_lost"] == 0, verdicts
        assert verdicts["not_known"] > 0, verdicts
        put(network, [{"name": "all", "filter": "Protocol=UDP"}])
        time.sleep(3)  # the last change is over
        switch.ofctl("-O", "OpenFlow13", "add-flow", CHAIN[0],
                     "table=0,priority=64000,udp,actions=drop")
        with numbered_traffic(links):
            eventually(lambda: status_of(network)["packets"]["verdicts"]["dropped"] > 50,
                       "packets are dropped")
        return f"{len(partly)} packets with some of their copies, none of which is called lost"


ALL = [packets_have_copies_at_all_hops_or_at_none_while_rules_of_edges_change,
       nothing_is_called_lost_while_rules_change_and_what_is_lost_behind_that_is]
