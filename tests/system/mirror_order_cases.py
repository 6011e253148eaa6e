# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trace rules, and what they need: switches, ports, an analyzer, a controller, coming and going in
any order, as SONiC's sessions and ACLs do in its tests."""

import time

from mirrors import (ALL_UDP, BRIDGES, BY_A, HOST_ROUTE, WAYS, LateNetwork, Stream, check_whole,
                     datagram, ip, mirrors, routed)
from switch import eventually

A = WAYS["mir-a"][2]["10.20.1.2"]
NO_PORT, NO_ANALYZER = "it has no port 100, to analyzers", "no analyzer is connected"
NOWHERE = "tcp:127.0.0.1:9"


def flows_of(switch, bridge):
    """Of trace rules, in all tables."""
    lines = switch.ofctl_text("-O", "OpenFlow14", "--no-stats", "dump-flows", bridge,
                              "cookie=0x7472040000000000/0xffffff0000000000").splitlines()
    return sorted(line for line in lines if "actions=" in line)


def rules_may_be_applied_before_all_that_they_need(switch):
    with mirrors(switch, rules=None, kind=LateNetwork) as (links, network):
        network.apply(ALL_UDP)
        assert {state for state, _ in network.states().values()} == {"away"}, network.states()
        network.introduce_switches()
        links.route()
        network.wait_for("failed", NO_PORT)
        for name, number in network.numbers.items():
            network.add_copy_port(name, number)
        network.wait_for("testing", NO_ANALYZER)
        network.start_analyzer()
        network.wait_for("failed", "no copy of its test packet")
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        links.check(A)


def what_rules_need_may_go_before_them(switch):
    with mirrors(switch) as (links, network):
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        first, second = BRIDGES
        before = flows_of(switch, second)
        switch.vsctl("del-port", first, f"gre-{first}")
        network.wait_for("failed", NO_PORT, at=[first])
        assert network.states()[second][0] == "active", network.states()
        assert [rule["state"] for rule in network.rules()] == ["failed"], "it is where it is worst"
        sent = [datagram(number) for number in range(60)]
        copies = links.pass_all(sent)
        assert sorted(copy.frame for copy in copies) == sorted(map(routed, sent)), len(copies)
        network.analyzer.kill()
        network.analyzer.wait()
        network.wait_for("testing", NO_ANALYZER, at=[second])
        assert len(links.pass_all(sent)) == len(sent), "the switch need not know"
        switch.vsctl("set-controller", first, NOWHERE)
        network.wait_for("away", at=[first])
        network.ctl("trace", "rules", "rm", output="table")
        assert network.rules() == []
        eventually(lambda: flows_of(switch, second) == [] and before, "flows are taken away")
        assert flows_of(switch, first), "of a switch that is away they are not"
        switch.vsctl("set-controller", first, f"tcp:127.0.0.1:{network.ports['openflow'][0]}")
        eventually(lambda: flows_of(switch, first) == [], "they are when it comes")
        try:
            network.ctl("trace", "rules", "rm", output="table")
            raise AssertionError("there is nothing that could be removed")
        except AssertionError as error:
            assert "there are no trace rules" in str(error), error
        assert links.pass_all(sent) == []


def no_copy_is_missed_while_the_controller_is_away(switch):
    with mirrors(switch) as (links, network):
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        before = [flows_of(switch, bridge) for bridge in BRIDGES]
        stream = Stream(links, 300)
        time.sleep(1)
        network.kill_controller()
        time.sleep(3)
        network.start_controller()
        eventually(lambda: network.metric("trumpet_openflow_switches") == len(BRIDGES),
                   "switches come again")
        network.wait_for("active", seconds=60)
        times = stream.end()
        missed = [key for key, count in times.items() if count != 1]
        assert not missed, f"{len(missed)} of {len(times)}: {missed[:9]}"
        assert [flows_of(switch, bridge) for bridge in BRIDGES] == before and all(before)
        sent = [datagram(number) for number in range(60)]
        check_whole(links.pass_all(sent), sent)
        return f"{len(times)} copies"


ALL = [
    rules_may_be_applied_before_all_that_they_need,
    what_rules_need_may_go_before_them,
    no_copy_is_missed_while_the_controller_is_away,
]
