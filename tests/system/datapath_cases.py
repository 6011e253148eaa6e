# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of slices in the datapath of the routers, all of which are bridges of one host."""

import collections
import re

from routers import Sender
from slice_cases import PAPER_QUERIES, flows_that_copy, run_the_example, slices_on
from slice_fault_cases import begin, check_uninstall
from switch import eventually

LONG = PAPER_QUERIES.replace("450 ms", "60 s").replace("5 s", "120 s")
BRIEF = PAPER_QUERIES.replace("450 ms", "9 s").replace("5 s", "120 s")
LONG_SLICE_MS = 2000
SHOWN = 32  # ends of slices, one for each bridge


def on_at(switch):
    """The slices that are on."""
    return switch.ask("slice-show")["on"]


def have_copy_flows(switch, network):
    """At each bridge the two that copy what is marked, and nothing else of ours."""
    flows = flows_that_copy(switch, network)
    return set(flows) == set(network.numbers) and all(
        len(lines) == 2 and all("pkt_mark=0x72" in line for line in lines)
        for lines in flows.values())


def packets_copied(switch, network):
    """By the flows that copy, so far."""
    for _ in range(2):  # the first may have begun to count before
        switch.rpc("revalidator/wait")
    return sum(int(re.search(r"n_packets=(\d+)", line).group(1))
               for lines in flows_that_copy(switch, network).values() for line in lines)


def copies_nothing(switch, network, sender):
    copied, sent = packets_copied(switch, network), len(sender.sent)
    eventually(lambda: len(sender.sent) > sent + 300, "more packets go through")
    assert packets_copied(switch, network) == copied, "nothing is copied"


def check_bridges_of_slices(switch, queries):
    """What ended is what the campaign tells, each slice at all bridges of its query; what is not
    shown any more are the oldest ends."""
    told = collections.Counter()
    for query in queries:
        told[frozenset(query["locations"])] += query["slots"]
    bridges = collections.defaultdict(set)
    ends = switch.ask("slice-show")["ended"]
    for end in ends:
        bridges[end["tag"]].add(end["bridge"])
    seen = [frozenset(names) for _, names in sorted(bridges.items())]
    told_ends = sum(len(names) * slots for names, slots in told.items())
    assert len(ends) == min(told_ends, SHOWN), (told, ends)
    if len(ends) < told_ends:
        assert any(seen[0] <= names for names in told), (told, seen)
        del seen[0]  # it may have lost some
    left = told - collections.Counter(seen)
    assert sum(left.values()) + len(seen) == sum(told.values()), (told, seen)


def the_example_of_the_paper_runs_in_the_datapath(switch):
    with slices_on(switch, in_datapath=True) as network:
        assert have_copy_flows(switch, network), flows_that_copy(switch, network)
        queries, note = run_the_example(network)
        eventually(lambda: not on_at(switch), "no slice is left")
        check_bridges_of_slices(switch, queries)
        assert packets_copied(switch, network) > 0
        network.ctl("slice", "rm", "web", output="table")  # or it runs again, by OpenFlow
        eventually(lambda: not on_at(switch), "no slice is left")
        for name in network.numbers:
            network.tell("openflow/purge", name)
        left = flows_that_copy(switch, network)
        assert not left, left
        return note


def slices_in_the_datapath_end_when_their_controller_is_killed(switch):
    with slices_on(switch, shortest_slice_ms=LONG_SLICE_MS, in_datapath=True) as network:
        sender = Sender(2_000_000, flows=64)
        try:
            network.run("web", LONG)
            eventually(lambda: on_at(switch), "a slice is on")
            network.kill_controller()
            eventually(lambda: not on_at(switch), "all slices end", seconds=10)
            assert have_copy_flows(switch, network), flows_that_copy(switch, network)
            copies_nothing(switch, network, sender)
        finally:
            sender.close()
        switch.ofctl("-O", "OpenFlow14", "del-flows", "A")
        network.restart_controller()
        eventually(lambda: have_copy_flows(switch, network), "what was lost meanwhile is put back")


def check_restart(switch, in_datapath):
    """A switch that crashes in the middle of a slice forgets it, and is used again."""
    def is_on():
        return on_at(switch) if in_datapath else flows_that_copy(switch, network)

    with slices_on(switch, shortest_slice_ms=LONG_SLICE_MS, in_datapath=in_datapath) as network:
        sender = Sender(2_000_000, flows=64)
        try:
            network.run("web", LONG)
            eventually(is_on, "a slice is on")
            switch.crash_and_restart()
            network.stop_run("web")
            network.routers.reach_collector()
            network.wait_for_switches()
            network.routers.route()
            if in_datapath:
                eventually(lambda: have_copy_flows(switch, network), "what copies is put back")
            eventually(lambda: not is_on(), "no slice is left")
            told = network.run("web", BRIEF, "--wait")
            assert told["state"] == "done", told
            assert all(query["packets"] > 0 for query in told["queries"]
                       if query["action"] == "MIRROR"), told
        finally:
            sender.close()


def a_switch_that_crashes_in_a_slice_is_used_again(switch):
    check_restart(switch, in_datapath=False)


def a_switch_that_crashes_in_a_slice_of_its_datapath_is_used_again(switch):
    check_restart(switch, in_datapath=True)


def a_campaign_goes_on_by_openflow_while_the_monitor_is_off(switch):
    """The administrator of the host switches it off in the middle of a slice, and on again."""
    def in_tables():
        return any("reg15" in line for lines in flows_that_copy(switch, network).values()
                   for line in lines)

    with slices_on(switch, shortest_slice_ms=LONG_SLICE_MS, in_datapath=True) as network:
        sender = Sender(2_000_000, flows=64)
        try:
            begin(network, LONG)
            eventually(lambda: on_at(switch), "a slice is on")
            assert not in_tables()
            switch.rpc("trumpet/disable")
            assert not on_at(switch), "slices end at once"
            eventually(in_tables, "the next slots are slices by OpenFlow")
            assert not on_at(switch)
            switch.rpc("trumpet/enable")
            eventually(lambda: on_at(switch), "the next slots are in the datapath again")
            network.stop_run("web")
            eventually(lambda: not on_at(switch) and have_copy_flows(switch, network),
                       "no slice is left")
        finally:
            sender.close()


def uninstall_leaves_nothing_of_slices_in_the_datapath(switch):
    """With ports to the analyzer that the controller makes itself."""
    check_uninstall(switch, in_datapath=True, is_ready=lambda network: have_copy_flows(switch, network))


ALL = [
    a_campaign_goes_on_by_openflow_while_the_monitor_is_off,
    uninstall_leaves_nothing_of_slices_in_the_datapath,
    the_example_of_the_paper_runs_in_the_datapath,
    slices_in_the_datapath_end_when_their_controller_is_killed,
    a_switch_that_crashes_in_a_slice_is_used_again,
    a_switch_that_crashes_in_a_slice_of_its_datapath_is_used_again,
]
