# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a network of leaves and spines is found and named; and nothing where nothing is."""

import contextlib
import os
import select
import signal
import time

from clos import DIP, LEAVES, NAT_SOURCE, OUTSIDE, SPINES, SPREAD, VIP, ClosNetwork, clos_on
from switch import at_best, eventually

RULES = """{base: true, switch_rate: 1000000, rules: [
  {name: data, filter: 'Protocol=UDP and dstPort=9000-9015'},
  {name: tunnels, filter: 'Protocol=4 or Protocol=47 or Protocol=UDP and dstPort=4789'}]}"""
FLOWS = 40
LOOP_TOLD_S, BIAS_TOLD_S = 2, 10


class FaultyClos(ClosNetwork):
    """Its analyzer has a topology of its own: one that LLDP changes does not say any more where
    packets ought to have gone when a link went down."""

    def analyzer_configuration(self):
        traces = super().analyzer_configuration()["traces"]
        return {"traces": dict(traces, topology=self.path("topology.yaml"), switches=self.numbers)}


def mixed(size=lambda number: 60 + number * 29 % 1100, count=8, to="10."):
    """Flows of the first host to eight addresses of each of two prefixes at the second leaf, and of
    one at the third."""
    places = [f"10.2.{net}.{last}" for net in (0, 1) for last in range(1, 9)]
    places += [f"10.3.0.{last}" for last in range(1, 9)]
    flows = [[20000 + number, places[number % len(places)], 9000 + number % 16, size(number), count]
             for number in range(FLOWS)]
    return [flow for flow in flows if flow[1].startswith(to)]


# Each fault puts one thing wrong, has packets sent, and yields what is to be told: of drops, by the
# switch behind which they are, the verdict (None: whatever it is), the reason, and a part of the
# explanation; of loops, by "loops", their kind, and by "end" what ends a loop that does not end by
# itself.


@contextlib.contextmanager
def flows_of_others(links, *places):
    for bridge, match, actions in places:
        links.add_flow(bridge, f"{match},actions={actions}")
    links.switch.heed_flows()
    try:
        yield
    finally:
        for bridge, match, _ in places:
            links.del_flow(bridge, match)
        links.switch.heed_flows()


def await_taken(behind, count):
    """Until the host behind the load balancer has taken so many packets out of tunnels."""
    said = []

    def are_taken():
        while select.select([behind.stdout], [], [], 0)[0]:
            said.append(os.read(behind.stdout.fileno(), 65536))
            assert said[-1], "the end of the tunnel has ended"
        return b"".join(said).count(b"taken\n") >= count

    eventually(are_taken, f"{count} packets are taken out of tunnels")


@contextlib.contextmanager
def nothing(links):
    links.send(mixed())
    links.connect("10.2.0.1", 20)
    with links.balancer(sends_back=False) as behind:
        links.send([[30000 + number, VIP, 9000 + number, 100, 2] for number in range(5)])
        await_taken(behind, 10)
    yield {}


@contextlib.contextmanager
def blackhole_of_one_flow(links):
    flows = mixed()
    source, to, port, *_ = flows[7]
    match = f"priority=200,udp,nw_dst={to},tp_src={source},tp_dst={port}"
    with flows_of_others(links, (LEAVES[0], match, "drop")):
        links.send(flows)
        yield {LEAVES[0]: ("one_flow", "flow", "as a blackhole of it would")}


@contextlib.contextmanager
def blackhole_of_a_prefix(links):
    match = "priority=200,ip,nw_dst=10.2.1.0/24"
    with flows_of_others(links, *((spine, match, "drop") for spine in SPINES)):
        links.send(mixed())
        yield {spine: ("prefix", "flow", "all to 10.2.1.") for spine in SPINES}


@contextlib.contextmanager
def blackhole_of_one_member(links):
    # What comes by this wire is lost before the switch sees it.
    match = f"priority=65535,ip,in_port={links.port(SPINES[0], LEAVES[0])}"
    with flows_of_others(links, (SPINES[0], match, "drop")):
        links.send(mixed())
        yield {LEAVES[0]: ("member", "not_known", f"nothing came to {SPINES[0]}")}


@contextlib.contextmanager
def random_loss(links):
    with links.emulated(SPINES[1], LEAVES[1], 0.08) as emulator:
        links.send(mixed(count=30, to="10.2."))
        lost = sum(way["all"]["lost"] for way in emulator.counts().values())
        assert lost >= 5, f"the emulator has lost {lost} packets only"
        yield {SPINES[1]: ("random", "not_known", "as by chance")}


def round_trip(to, before):
    """Flows that send what is for that address from the first leaf over a spine to the second leaf,
    and back over the other spine."""
    match = f"priority=200,ip,nw_dst={to}"
    return [(LEAVES[0], match, f"{before}output:1"), (SPINES[0], match, f"{before}output:2"),
            (LEAVES[1], match, f"{before}output:2"), (SPINES[1], match, f"{before}output:1")]


@contextlib.contextmanager
def loop(links):
    with flows_of_others(links, *round_trip("10.3.0.4", "dec_ttl,")):
        links.send(mixed(count=2))
        yield {"loops": "routed"}


@contextlib.contextmanager
def bridged_loop(links):
    """No hop is taken from their TTL: they go round until somebody ends it."""
    *others, last = round_trip("10.3.0.5", "")
    with flows_of_others(links, *others), contextlib.ExitStack() as there:
        # From its switch the packet goes on to its host when this is gone.  Without another of them it
        # would go round elsewhere, where hops are taken from it, until it is dropped.
        there.enter_context(flows_of_others(links, last))
        links.send([[20000, "10.3.0.5", 9000, 100, 1]])
        yield {"loops": "bridged", "end": there.close}


@contextlib.contextmanager
def overlay_loop(links):
    with links.balancer(sends_back=True):
        links.send([[30000 + number, VIP, 9000 + number, 100, 2] for number in range(5)])
        yield {"loops": "overlay"}


@contextlib.contextmanager
def meter(links):
    links.switch.ofctl("-O", "OpenFlow15", "add-meter", SPINES[0],
                       "meter=5,pktps,burst,band=type=drop,rate=20,burst_size=1")
    way = f"dec_ttl,output:{links.port(SPINES[0], LEAVES[2])}"
    with flows_of_others(links, (SPINES[0], "priority=200,ip,nw_dst=10.3.0.0/16", f"meter:5,{way}")):
        links.send(mixed(count=20))
        # Open vSwitch 3.1 drops the copy with the packet.
        yield {LEAVES[0]: (None, "meter", f"at {SPINES[0]} meter 5 ")}


@contextlib.contextmanager
def small_mtu(links):
    wires = [wire for spine in SPINES
             for wire in (links.wire(spine, LEAVES[2]), links.wire(LEAVES[2], spine))]

    def set_it(mtu):
        for wire in wires:
            links.ip("link", "set", wire, "mtu", mtu)
        for wire in wires:  # the switch sets up such ports anew
            links.await_interface(wire, "mtu", mtu)
        links.switch.heed_flows()

    set_it("700")
    try:
        for size in (100, 1200):
            links.send(mixed(size=lambda _, bytes_=size: bytes_, to="10.3."))
        yield {spine: ("long", "mtu", "only shorter packets pass out of port 3") for spine in SPINES}
    finally:
        set_it("1500")


@contextlib.contextmanager
def no_flow(links):
    spine, match = SPINES[0], "priority=100,ip,nw_dst=10.2.0.0/16"
    links.del_flow(spine, match)
    links.switch.heed_flows()
    try:
        links.send(mixed())
        yield {spine: ("all", "no_flow", "no flow that takes it")}
    finally:
        links.add_flow(spine, f"{match},actions=dec_ttl,output:{links.port(spine, LEAVES[1])}")
        links.switch.heed_flows()


@contextlib.contextmanager
def port_down(links):
    wire = links.wire(SPINES[0], LEAVES[2])

    def set_it(state):
        links.ip("link", "set", wire, state)
        links.await_interface(wire, "link_state", state)
        links.switch.heed_flows()

    set_it("down")
    try:
        links.send(mixed())
        yield {SPINES[0]: ("all", "port_down", f"({wire}) is down")}
    finally:
        set_it("up")


@contextlib.contextmanager
def hops_used_up(links):
    links.send(mixed(to="10.2."), ttl=2)
    yield {spine: ("all", "ttl", "used up") for spine in SPINES}


@contextlib.contextmanager
def full_queue(links):
    """For a while nobody takes what the port sends; its queue holds a few packets."""
    with links.emulated(SPINES[0], LEAVES[1], 0) as emulator:
        device = f"e{links.wire(SPINES[0], LEAVES[1])}"
        links.ip("link", "set", device, "txqueuelen", "8")
        emulator.process.send_signal(signal.SIGSTOP)
        try:
            links.send(mixed(count=12))
        finally:
            emulator.process.send_signal(signal.SIGCONT)
        yield {SPINES[0]: (None, "queue", f"({device}) has dropped")}


FAULTS = [nothing, blackhole_of_one_flow, blackhole_of_a_prefix, blackhole_of_one_member, random_loss,
          loop, overlay_loop, bridged_loop, meter, small_mtu, nothing, no_flow, port_down,
          hops_used_up, full_queue]


def differences(told, drops, loops):
    """What is told otherwise than it should be."""
    wrong = []
    wanted = {place: what for place, what in told.items() if place not in ("loops", "end")}
    if sorted(one["behind"] for one in drops) != sorted(wanted):
        wrong.append(f"drops {[one['behind'] for one in drops]} instead of {sorted(wanted)}")
    for one in drops:
        verdict, reason, part = wanted.get(one["behind"], (None, one.get("reason"), ""))
        if verdict not in (None, one["verdict"]) or reason != one.get("reason"):
            wrong.append(f"{one['verdict']}, {one.get('reason')} instead of {verdict}, {reason}")
        if part not in f"{one['explanation']}; {one.get('reason_why')}":
            wrong.append(f"'{part}' is not said")
    if {one.get("kind") for one in loops} != ({told["loops"]} if "loops" in told else set()):
        wrong.append(f"loops {loops} instead of {told.get('loops')}")
    return wrong


def told_of(fault, links, network):
    """(what is wrong with what is told of it, the sums, after how many seconds a loop was told)"""
    begun, took = time.time_ns(), 0
    with fault(links) as wanted:
        sent = time.monotonic()
        if "loops" in wanted:
            eventually(lambda: network.loops(begun), "a loop is found")
            took = time.monotonic() - sent
            wanted.get("end", lambda: None)()
        sums = network.settled()
        drops, loops = network.drops(begun), network.loops(begun)
    parts = ("in_traces", "duplicates", "shed", "waiting", "lost")
    copies = sums["copies"]
    assert sum(copies[part] for part in parts) == copies["sent"], copies
    assert copies["lost_by_number"] == 0, copies
    wrong = differences(wanted, drops, loops)
    return [f"{fault.__name__}: {wrong}: {drops}, {sums}"] if wrong else [], sums, took


def what_is_wrong_with_a_network_is_named_and_nothing_else(switch):
    with clos_on(switch, FaultyClos) as (links, network):
        network.use(RULES)
        links.send(mixed(count=1))  # what the switches have to learn is learned
        network.settled()
        failures, slowest = [], 0
        for fault in FAULTS:
            def attempt():
                wrong, sums, took = told_of(fault, links, network)  # pylint: disable=W0640
                failures.extend(wrong)
                return took, sums

            # A loop that is told late is put in again: perhaps the machine stood still.
            took, sums = at_best(attempt, lambda told: told[0] < LOOP_TOLD_S)
            slowest = max(slowest, took)
        assert not failures, "\n".join(failures)
        assert slowest < LOOP_TOLD_S, f"a loop was told after {slowest:.1f} s"
        return (f"{len(FAULTS)} times, {sums['packets']['all']} packets; loops are told within "
                f"{slowest:.1f} s")


def ecmp_of_connections(links, network, is_biased):
    """(what is told of the spread of new ones over the spines, after how many seconds a bias was)"""
    begun, took = time.time_ns(), 0

    def finding():  # the second in which it begins is counted whole
        return network.ctl("app", "ecmp", f"--from={begun}", f"--at={LEAVES[0]}",
                           f"--members={','.join(SPINES)}")["findings"]

    links.connect("10.2.0.1", 300)
    if is_biased:
        connected = time.monotonic()
        eventually(lambda: [one["verdict"] for one in finding()] == ["biased"], "the bias is found")
        took = time.monotonic() - connected
    network.settled()
    told, = finding()
    return told, took


def uneven_ecmp_is_found_and_even_is_not(switch):
    with clos_on(switch) as (links, network):
        network.use("{base: true, switch_rate: 1000000}")
        told = {}
        for weights in ((1, 1), (3, 1)):
            buckets = ",".join(f"bucket=weight:{weight},output:{number}"
                               for number, weight in enumerate(weights, 1))
            switch.ofctl("-O", "OpenFlow15", "mod-group", LEAVES[0],
                         f"group_id=1,type=select,selection_method=hash,{SPREAD},{buckets}")
            switch.heed_flows()

            def attempt():
                return ecmp_of_connections(links, network, weights == (3, 1))  # pylint: disable=W0640

            # On a machine that stood still it takes longer.
            told[weights], took = at_best(attempt, lambda answer: answer[1] < BIAS_TOLD_S)
            assert took < BIAS_TOLD_S, f"the bias was told after {took:.1f} s"
        assert told[(1, 1)]["verdict"] == "even", told
        assert told[(3, 1)]["verdict"] == "biased" and SPINES[0] in told[(3, 1)]["explanation"], told
        return told[(3, 1)]["explanation"]


def one_trace_by(links, network, kind):
    """How many packets are one trace before and behind a load balancer with such tunnels."""
    begun, packets = time.time_ns(), 500
    with links.balancer(sends_back=False, kind=kind) as behind:
        for _ in range(packets // 100):
            links.send([[30000 + number, VIP, 9000 + number % 16, 100, 1] for number in range(100)])
            await_taken(behind, 100)
    network.settled()
    traces = network.all_traces(f"--from={begun}", f"--dst={VIP}", "--protocol=udp")
    ways = [[hop["switch"] for hop in trace["path"]] for trace in traces]
    whole = [way for way in ways if {LEAVES[0], LEAVES[2], LEAVES[3]} <= set(way) and (
        way.count(LEAVES[3]) == 2)]
    assert len(whole) >= 0.999 * packets, (kind, len(whole), len(ways), ways[:3])
    assert network.drops(begun) == network.loops(begun) == [], (kind, network.drops(begun),
                                                                network.loops(begun))
    return f"{kind}: {len(whole)} of {packets} packets"


def a_packet_is_one_trace_before_and_behind_a_load_balancer(switch):
    """By IP-in-IP, GRE and VXLAN."""
    with clos_on(switch, FaultyClos) as (links, network):
        network.use(RULES)
        return "; ".join(one_trace_by(links, network, kind) for kind in ("ipip", "gre", "vxlan"))


class TranslatingClos(FaultyClos):
    """Its analyzer knows which addresses take the place of others."""

    def analyzer_configuration(self):
        traces = super().analyzer_configuration()["traces"]
        return {"traces": dict(traces, nat=[f"{OUTSIDE}={DIP}", f"{NAT_SOURCE}=10.1.0.1"])}


def a_packet_is_one_trace_before_and_behind_a_nat(switch):
    """Real TCP and UDP, both of whose addresses are rewritten, in both directions."""
    with clos_on(switch, TranslatingClos) as (links, network):
        network.use(RULES)
        begun, datagrams, connections = time.time_ns(), 500, 125
        with links.nat():
            links.connect(OUTSIDE, connections)
            links.send([[30000 + number, OUTSIDE, 9000 + number % 16, 100, 5]
                        for number in range(datagrams // 5)])
            sums = network.settled()
        there = network.all_traces(f"--from={begun}", f"--dst={OUTSIDE}")
        back = network.all_traces(f"--from={begun}", f"--dst={NAT_SOURCE}")
        ways = [[hop["switch"] for hop in trace["path"]] for trace in there + back]
        whole = [way for way in ways if {LEAVES[0], LEAVES[2]} <= set(way) and (
            way.count(LEAVES[3]) == 2)]
        packets = datagrams + 4 * connections
        assert len(whole) >= 0.999 * packets, (len(whole), len(ways), ways[:3], sums)
        assert len(whole) >= 0.999 * len(ways), (len(whole), len(ways))
        # Nor is anything of it told a second time, under the addresses behind.
        behind = network.all_traces(f"--from={begun}", f"--src={NAT_SOURCE}")
        assert len(behind) <= 0.001 * packets, behind[:2]
        assert sums["packets"]["all"] <= 1.05 * packets, sums  # some are sent again
        assert network.drops(begun) == network.loops(begun) == [], (network.drops(begun),
                                                                    network.loops(begun))
        return f"{len(whole)} of {len(ways)} packets"


ALL = [
    what_is_wrong_with_a_network_is_named_and_nothing_else,
    uneven_ecmp_is_found_and_even_is_not,
    a_packet_is_one_trace_before_and_behind_a_load_balancer,
    a_packet_is_one_trace_before_and_behind_a_nat,
]
