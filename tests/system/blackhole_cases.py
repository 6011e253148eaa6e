# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Blackholes of four kinds, drawn by chance, one after another in one network: each is told as what it is.

TRUMPET_BLACKHOLES in the environment says how many (4: one of each kind; `make check-blackholes`: 100),
TRUMPET_SEED which ones.
"""

import collections
import os
import random
import time

from clos import LEAVES, SPINES, clos_on
from clos_cases import FLOWS, RULES, FaultyClos, differences, flows_of_others, mixed

DEFAULT_COUNT, DEFAULT_SEED = 4, 20261125


class Draw:
    """What one fault is made of."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def flows(self, count, to="10."):
        """Those of `mixed`, from other ports and of other lengths, so that they are spread otherwise."""
        base, size = self.random.randrange(20000, 60000), self.random.randrange(60, 1000)
        return [[base + number, destination, port, size + number % 40, count]
                for number, (_, destination, port, _, _) in enumerate(mixed(count=count, to=to))]


# Each puts one thing wrong, sends, and yields what is to be told, as clos_cases has it; whoever has
# drawn it looks at what is told before it is mended.


def one_flow(links, draw):
    flows = draw.flows(8)
    source, to, port, *_ = draw.random.choice(flows)
    match = f"priority=200,udp,nw_dst={to},tp_src={source},tp_dst={port}"
    at_leaf = draw.random.random() < 0.5
    with flows_of_others(links, *((bridge, match, "drop") for bridge in ([LEAVES[0]] if at_leaf else SPINES))):
        links.send(flows)
        # Of the spines it passes one, and nobody says which.
        yield [{bridge: ("one_flow", "flow", "as a blackhole of it would")}
               for bridge in ([LEAVES[0]] if at_leaf else SPINES)]


def a_prefix(links, draw):
    prefix = draw.random.choice(("10.2.0", "10.2.1"))
    places = draw.random.choice((SPINES, LEAVES[:1]))
    match = f"priority=200,ip,nw_dst={prefix}.0/24"
    with flows_of_others(links, *((bridge, match, "drop") for bridge in places)):
        links.send(draw.flows(8))
        yield [{bridge: ("prefix", "flow", f"all to {prefix}.") for bridge in places}]


def one_member(links, draw):
    spine = draw.random.choice(SPINES)
    match = f"priority=65535,ip,in_port={links.port(spine, LEAVES[0])}"
    with flows_of_others(links, (spine, match, "drop")):
        links.send(draw.flows(8))
        yield [{LEAVES[0]: ("member", "not_known", f"nothing came to {spine}")}]


def loss_by_chance(links, draw):
    spine, leaf = draw.random.choice(SPINES), draw.random.choice(LEAVES[1:3])
    share = draw.random.uniform(0.04, 0.12)
    to = f"10.{LEAVES.index(leaf) + 1}."
    with links.emulated(spine, leaf, round(share, 3), seed=draw.random.randrange(1, 1 << 30)) as emulator:
        links.send(draw.flows(FLOWS, to=to))
        lost = sum(way["all"]["lost"] for way in emulator.counts().values())
        assert lost >= 3, f"the emulator has lost {lost} packets only"
        yield [{spine: ("random", "not_known", "as by chance")}]


KINDS = [one_flow, a_prefix, one_member, loss_by_chance]


def blackholes_drawn_by_chance_are_told_as_what_they_are(switch):
    count = int(os.environ.get("TRUMPET_BLACKHOLES", DEFAULT_COUNT))
    seed = int(os.environ.get("TRUMPET_SEED", DEFAULT_SEED))
    order = random.Random(seed)
    failures, right = [], collections.Counter()
    with clos_on(switch, FaultyClos) as (links, network):
        network.use(RULES)
        links.send(mixed(count=1))  # what the switches have to learn is learned
        network.settled()
        kinds = []
        for number in range(count):
            if not kinds:
                kinds = order.sample(KINDS, len(KINDS))
            kind, begun = kinds.pop(), time.time_ns()
            for wanted in kind(links, Draw(seed * 1000 + number)):
                sums = network.settled()
                drops, loops = network.drops(begun), network.loops(begun)
                wrong = [differences(each, drops, loops) for each in wanted]
                if all(wrong):
                    failures.append(f"{number} {kind.__name__}: {wrong}: {drops}, {sums}")
                else:
                    right[kind.__name__] += 1
        rules = [one["rule"] for one in network.sums()["rules"]]
        assert rules[-2:] == ["data", "tunnels"], rules
    told = ", ".join(f"{name} {right[name]}" for name in sorted(right))
    assert not failures, f"seed {seed}, {len(failures)} of {count} wrong:\n" + "\n".join(failures)
    return f"{sum(right.values())} of {count} right with seed {seed}: {told}"


ALL = [
    blackholes_drawn_by_chance_are_told_as_what_they_are,
]
