# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A slow, obvious evaluator of events that read a measurement program, beside events of packets.

For the end of each interval a fresh switch runs all packets before it, by the interpreter of programs
(mafia_twin.py); predicates and events of packets are those of the other oracle (../differential/oracle).
Programs have no roles here: there is one switch.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "differential"))

import mafia_packets
import mafia_syntax
import mafia_twin
import reference_hash
from oracle import evaluate, language, pcapio


class Measured:
    """What a program holds when it has seen the first packets of a capture."""

    def __init__(self, text, packets):
        self.items, self.packets = mafia_syntax.parse(text), packets
        self.switches = {}

    def switch_after(self, count):
        if count not in self.switches:
            switch = mafia_twin.Switch(self.items, 1, ())
            for packet in self.packets[:count]:
                mafia_twin.cross([switch], packet)
            self.switches[count] = switch
        return self.switches[count]

    def before(self, end):
        return self.switch_after(sum(packet.time < end for packet in self.packets))


def number_of(switch, state, key=None):
    """A state, or what it holds of a key, as one number."""
    variable = switch.layout.variables[state]
    cells = switch.cells[state]
    if key is not None:
        fields = switch.layout.keys[variable.key]
        view = mafia_twin.View(switch.cells, switch.owners,
                               {field: value_of(text) for field, text in zip(fields, key)})
        return min(switch.load(view, state, cell) for cell in switch.selected(state, view))
    if variable.kind == "scalar":
        return cells[0]
    if variable.kind == "map":
        return sum(cell != 0 for cell in cells)
    if variable.kind == "bf":
        return bloom_estimate(sum(cell != 0 for cell in cells), variable.size, variable.rows)
    if variable.kind == "hll":
        return float(reference_hash.hyperloglog_estimate(cells))
    return float(reference_hash.pcsa_estimate(cells))


def value_of(text):
    """A number, or an address of IPv4 or Ethernet."""
    for mark, base in ((".", 10), (":", 16)):
        if mark in text:
            return int.from_bytes(bytes(int(part, base) for part in text.split(mark)), "big")
    return int(text, 0)


def bloom_estimate(used, size, functions):
    """Each key leaves a cell empty with (1 - 1/size)^functions; a full filter is taken for one that is not."""
    return -size / functions * math.log(max(size - used, 1) / size) if used else 0.0


def has_number(variable):
    return variable.kind != "cm"


def has_keys(variable):
    return variable.kind in ("map", "bf", "cm")


class MeasuredScope(evaluate.Scope):
    """A program at the end of an interval."""

    def __init__(self, interval_ms, switch):
        super().__init__(interval_ms)
        self.switch = switch

    def measured(self, tree):
        return number_of(self.switch, tree[2], tree[3])


def scopes_of(event, measured):
    """(interval, scope) of each interval, from that of the first packet to that of the last."""
    length = event.interval_ms * 10**6
    first, last = (packet.time // length for packet in (measured.packets[0], measured.packets[-1]))
    for interval in range(first, last + 1):
        yield interval, MeasuredScope(event.interval_ms, measured.before((interval + 1) * length))


def reports_of(event, measured):
    run = 0
    for interval, scope in scopes_of(event, measured):
        run = run + 1 if evaluate.truth(scope.value(event.predicate)) else 0
        if run >= event.runs:
            yield evaluate.report(event, interval, (), _WithEntries(scope))


class _WithEntries:
    """As evaluate.report() wants a scope: there are no packets in it."""

    entries = ()

    def __init__(self, scope):
        self.sides = scope.sides


def expected(events, text, frames, capture):
    """All reports in the order in which they are printed."""
    measured = Measured(text, [mafia_packets.Packet(*frame) for frame in frames])
    trace = evaluate.Trace(pcapio.merge([pcapio.read_capture(capture)]))
    found = []
    for place, event in enumerate(events):
        made = reports_of(event, measured) if language.states(event.predicate) else evaluate.reports_of(event, trace)
        found += [(each["end_ns"], place, each) for each in made]
    found.sort(key=lambda each: each[:2])
    return [each for _, _, each in found]
