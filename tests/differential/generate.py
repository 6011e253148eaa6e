#!/usr/bin/env python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A case from a seed: capture files and events.  `generate.py SEED DIR` writes one."""
import copy
import os
import random
import sys

import compare
import random_events
import traffic
from oracle import evaluate, language, pcapio


class Case:
    """What one run is given.  `captures` are lists of packets, `formats` how each is written."""

    may_lose_events = True              # when it is made small

    def __init__(self, captures, formats, events):
        self.captures, self.formats, self.events = captures, formats, events

    def copy(self):
        made = copy.copy(self)
        made.captures = [list(each) for each in self.captures]
        made.formats, made.events = list(self.formats), list(self.events)
        return made

    def options(self, directory):
        """What the command line has besides; `directory` has what write() left there."""
        return []

    def difference(self, expected, outcome, events):
        return compare.difference(expected, outcome, events)

    def write(self, directory):
        """Returns the paths of the events and of the captures."""
        os.makedirs(directory, exist_ok=True)
        events = os.path.join(directory, "events.yaml")
        with open(events, "w", encoding="utf-8") as f:
            f.write(random_events.yaml_file(self.events))
        paths = []
        for place, (packets, (kind, options)) in enumerate(zip(self.captures, self.formats)):
            paths.append(os.path.join(directory, "%d.%s" % (place, kind)))
            writer = pcapio.write_pcap if kind == "pcap" else pcapio.write_pcapng
            writer(paths[-1], packets, **options)
        return events, paths

    def expected(self, paths):
        """The reports, or None if the events must be refused.  Reads the files as they are."""
        try:
            events = [event.parse(place) for place, event in enumerate(self.events)]
        except language.EventError:
            return None
        raw = pcapio.merge([pcapio.read_capture(path) for path in paths])
        return evaluate.evaluate(events, evaluate.Trace(raw))


def random_format(rng):
    kind = rng.choice(("pcap", "pcap", "pcapng"))
    return kind, {"order": rng.choice("<<>"), "fcs": rng.choice((0, 0, 0, 0, 0, 4))}


def make_case(seed):
    rng = random.Random(seed)
    while True:
        try:
            return _make_case(rng)
        except evaluate.OutOfBounds:
            continue


def _make_case(rng):
    trace = traffic.make_trace(rng)
    formats = [random_format(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    if rng.random() < 0.05:             # microseconds: what is written must be what was meant
        trace = [(time // 1000 * 1000, data, wire) for time, data, wire in trace]
        formats = [(kind, dict(options, micro=True)) for kind, options in formats]
    captures = [[] for _ in formats]
    for packet in trace:
        rng.choice(captures).append(packet)
    merged = evaluate.Trace(pcapio.merge(captures))
    events = [random_events.random_event(rng, merged, place) for place in range(rng.choice((1, 2, 3, 4, 6)))]
    if rng.random() < 0.04:
        place = rng.randrange(len(events) + 1)
        events.insert(place, random_events.refused_event(rng, place))
    return Case(captures, formats, events)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: generate.py SEED DIRECTORY")
    made = make_case(int(sys.argv[1]))
    print(made.expected(made.write(sys.argv[2])[1]))
