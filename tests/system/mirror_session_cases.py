# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What SONiC's tests of Everflow try of sessions and next hops, with trace rules: the way to the
analyzer comes, gets better, goes and changes its neighbour, copies follow, and what is said of the
rules holds."""

import re
import time

from mirrors import (BY_A, BY_A3, BY_B, HOST_ROUTE, SOON_S, WAYS, WIDE_ROUTE, Stream, datagram, ip,
                     mirrors)
from switch import eventually

NO_COPY = "no copy of its test packet has come to an analyzer"
A, A3, B = WAYS["mir-a"][2]["10.20.1.2"], WAYS["mir-a"][2]["10.20.1.3"], WAYS["mir-b"][2]["10.20.2.2"]
MOVED, STREAM_RATE = "02:00:00:00:a1:99", 300


def no_copies(links):
    """Packets are forwarded all the same."""
    copies = links.pass_all([datagram(number) for number in range(30)])
    assert copies == [], {(copy.switch, copy.gateway) for copy in copies}


def wait_for_copies(links, gateway):
    """Of both bridges; how long it took, under traffic."""
    begin = time.monotonic()
    way = next(way for way in links.ways.values() if gateway in way.addresses.values())
    seen = len(way.copies)

    def come():
        return {copy.switch for copy in way.copies[seen:]
                if copy.gateway == gateway and not copy.is_test} == {1, 2}

    eventually(come, f"copies go to {gateway}", SOON_S)
    return time.monotonic() - begin


def check_stream(times, changes):
    """No packet is copied twice at a bridge, and at each change of the way at most a second's are
    not: the switch has to ask for its new neighbour first."""
    missing = sum(count == 0 for count in times.values())
    assert max(times.values()) == 1, [key for key, count in times.items() if count > 1][:9]
    assert missing <= changes * 2 * STREAM_RATE, f"{missing} of {len(times)} copies"
    return f"{missing} of {len(times)} copies missing at {changes} changes"


def rules_are_active_only_while_the_way_to_the_analyzer_resolves(switch):
    with mirrors(switch) as (links, network):
        network.wait_for("failed", NO_COPY)
        no_copies(links)
        way = links.ways["mir-a"]
        way.is_silent = True
        ip("route", "add", HOST_ROUTE, *BY_A)
        eventually(lambda: way.asked > 0, "the switch asks who the gateway is")
        network.stays("failed", 5)
        no_copies(links)
        way.is_silent = False
        came = network.wait_for("active")
        links.check(A)
        ip("route", "del", HOST_ROUTE)
        went = network.wait_for("failed", NO_COPY)
        no_copies(links)
        ip("route", "add", HOST_ROUTE, *BY_B)
        network.wait_for("active")
        links.check(B)
        for line in ("copies of switch mir-s1 do not come", "copies of switch mir-s1 come again"):
            assert network.log().count(line) == 1, line
        return f"active {came:.1f} s after the way was there, failed {went:.1f} s after it was not"


def copies_follow_the_longest_prefix_and_come_back(switch):
    with mirrors(switch) as (links, network):
        ip("route", "add", WIDE_ROUTE, *BY_A)
        network.wait_for("active")
        links.check(A)
        stream = Stream(links, STREAM_RATE)
        wait_for_copies(links, A)
        ip("route", "add", HOST_ROUTE, *BY_B)
        there = wait_for_copies(links, B)
        network.stays("active", 4)
        ip("route", "del", HOST_ROUTE)
        back = wait_for_copies(links, A)
        network.stays("active", 4)
        note = check_stream(stream.end(), 2)
        links.check(A)
        return f"{there * 1000:.0f} ms there, {back * 1000:.0f} ms back; {note}"


def next_hop(switch):
    """Of the analyzer's own route, as the switch knows it; None if it knows none."""
    found = re.search(rf"{re.escape(HOST_ROUTE)} dev \S+ GW (\S+)", switch.rpc("ovs/route/show"))
    return {"10.20.1.2": A, "10.20.1.3": A3, "10.20.2.2": B}[found.group(1)] if found else None


def routes_of_several_metrics_are_one_way_and_the_other_when_it_goes(switch):
    """Open vSwitch reads no metrics: which one it takes is its own business, that it is one is ours."""
    ways = {A: ("10", BY_A), B: ("50", BY_B)}
    with mirrors(switch) as (links, network):
        for metric, way in ways.values():
            ip("route", "add", HOST_ROUTE, *way, "metric", metric)
        network.wait_for("active")
        used = eventually(lambda: next_hop(switch), "the switch has read the routes")
        links.check(used)
        metric, way = ways.pop(used)
        ip("route", "del", HOST_ROUTE, *way, "metric", metric)
        (other, _), = ways.items()
        eventually(lambda: next_hop(switch) == other, "the switch has read the routes")
        network.wait_for("active")
        links.check(other)
        return f"the route of metric {metric} was used first"


def copies_carry_the_address_of_their_neighbour_as_it_changes(switch):
    with mirrors(switch) as (links, network):
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        links.check(A)
        way = links.ways["mir-a"]
        stream = Stream(links, STREAM_RATE)
        wait_for_copies(links, A)
        way.move("10.20.1.2", MOVED)
        took = wait_for_copies(links, MOVED)
        assert took < 2, f"{took:.1f} s"
        network.stays("active", 4)
        note = check_stream(stream.end(), 1)
        links.check(MOVED)
        # One that says nothing is not found out: a neighbour that is used is not asked for again.
        way.move("10.20.1.2", A, is_announced=False)
        told = network.wait_for("failed", NO_COPY)
        links.check(MOVED)  # as far as the wire
        switch.rpc("tnl/neigh/flush")
        network.wait_for("active")
        links.check(A)
        return f"{took * 1000:.0f} ms; {note}; {told:.1f} s to be told of one that said nothing"


def multipath(*ways):
    ip("route", "replace", HOST_ROUTE, *(word for way in ways for word in ("nexthop", *way)))


def next_hops_that_go_move_the_copies_that_used_them_and_no_others(switch):
    """Of a route with several next hops Open vSwitch takes the first, or, up to 3.5, leaves it out:
    then a wider route is used, or none, which has to be told."""
    with mirrors(switch) as (links, network):
        ip("route", "add", WIDE_ROUTE, *BY_A)
        multipath(BY_A, BY_A3, BY_B)
        network.wait_for("active")
        links.check(A)
        multipath(BY_A, BY_B)
        network.stays("active", 4)
        links.check(A)
        ip("route", "del", WIDE_ROUTE)
        multipath(BY_A3, BY_B)
        time.sleep(1)
        reads_them = next_hop(switch) is not None
        if reads_them:
            network.stays("active", 15)
            links.check(A3)
        else:
            network.wait_for("failed", NO_COPY)
            no_copies(links)
        ip("route", "replace", HOST_ROUTE, *BY_B)
        network.wait_for("active")
        links.check(B)
        return "the first of several is used" if reads_them else "routes of several are left out"


ALL = [
    rules_are_active_only_while_the_way_to_the_analyzer_resolves,
    copies_follow_the_longest_prefix_and_come_back,
    routes_of_several_metrics_are_one_way_and_the_other_when_it_goes,
    copies_carry_the_address_of_their_neighbour_as_it_changes,
    next_hops_that_go_move_the_copies_that_used_them_and_no_others,
]
