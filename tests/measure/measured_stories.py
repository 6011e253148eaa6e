# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random programs with packets and events, some of which read the program, one story for each seed."""
import os
import random

import mafia_packets
import mafia_stories
import measured_twin
import random_events
from oracle import evaluate, language

PROGRAM = "p"
STRETCHES = (1, 3, 20)  # of the time between packets
ALIGNED = 10**8  # an end of many intervals
INTERVALS_MS = (100, 100, 150, 200, 250, 300, 1000)
MOST_NUMBER = 10**15
MOST_TRIES = 50
# Estimates are sums of floating-point numbers, added in any order; no threshold is so near.
MARGIN = 1e-3


class MeasuredText(random_events.EventText):
    """An event whose predicate has quotes in it."""

    def __init__(self, name, predicate, interval, runs):
        super().__init__(name, "*", predicate, "", interval, runs)

    def yaml(self):
        return super().yaml().replace('predicate: "%s"' % self.predicate, "predicate: '%s'" % self.predicate)


class MeasuredStory:
    def __init__(self, story, events):
        self.story, self.events = story, events

    def with_story(self, story):
        return MeasuredStory(story, self.events)

    def write(self, directory):
        """Paths of events, program, capture and metadata."""
        events = os.path.join(directory, "events.yaml")
        with open(events, "w", encoding="utf-8") as f:
            f.write(random_events.yaml_file(self.events))
        return (events,) + self.story.write(directory)

    def expected(self, capture):
        events = [event.parse(place) for place, event in enumerate(self.events)]
        return measured_twin.expected(events, self.story.text(), self.story.frames, capture)


def make_story(seed, directory):
    """`directory` is for a capture in between."""
    rng = random.Random(seed)
    story = mafia_stories.make_story(rng.randrange(2**32))
    while any(item[0] == "role" for item in story.items):
        story = mafia_stories.make_story(rng.randrange(2**32))
    story.frames = stretched(rng, story.frames)
    capture = story.write(directory)[1]
    trace = evaluate.Trace(measured_twin.pcapio.merge([measured_twin.pcapio.read_capture(capture)]))
    measured = measured_twin.Measured(story.text(), [mafia_packets.Packet(*frame) for frame in story.frames])
    events = []
    for place in range(rng.choice((1, 2, 3, 4))):
        made = EventMaker(rng, measured, place).event() if rng.random() < 0.75 else None
        events.append(made or random_events.random_event(rng, trace, place))
    return MeasuredStory(story, events)


def stretched(rng, frames):
    """More time between packets, some of which come exactly as an interval ends; still in order."""
    factor = rng.choice(STRETCHES)
    made = []
    for time, *rest in frames:
        time = mafia_stories.START + (time - mafia_stories.START) * factor
        made.append((time // ALIGNED * ALIGNED if rng.random() < 0.1 else time, *rest))
    return sorted(made, key=lambda frame: frame[0])


class EventMaker:
    """Events whose thresholds are near what is measured."""

    def __init__(self, rng, measured, place):
        self.rng, self.measured, self.name = rng, measured, "m%d" % place
        self.variables = measured.switch_after(0).layout.variables

    def event(self):
        """None: nothing was found that the program tells."""
        rng = self.rng
        for _ in range(MOST_TRIES):
            interval, runs = "%dms" % rng.choice(INTERVALS_MS), rng.choice((1, 1, 1, 2, 3))
            try:
                made = MeasuredText(self.name, self.predicate(interval), interval, runs)
                event = made.parse(0)
                if language.states(event.predicate) and not self.is_narrow(event):
                    return made
            except (evaluate.OutOfBounds, OverflowError, language.EventError):
                continue
        return None

    def predicate(self, interval):
        rng = self.rng
        roll = rng.random()
        if roll < 0.7:
            return self.comparison(interval)
        if roll < 0.75:
            return self.left(1)
        parts = self.comparison(interval), self.comparison(interval)
        return rng.choice(("%s and %s", "%s or %s", "not (%s and %s)", "%s & not (%s)", "(%s) | %s")) % parts

    def comparison(self, interval):
        rng = self.rng
        left = self.left(1)
        event = language.Event(self.name, "*", left + " > 0", "", interval)
        values = [scope.value(event.predicate[2]) for _, scope in measured_twin.scopes_of(event, self.measured)]
        values = [value for value in values if value is not None] or [0]
        value = rng.choice(values)
        if isinstance(value, float):
            value = value + rng.choice((-0.5, 0.5, 0.01, -0.01))
            text = "%.6f" % min(abs(value), MOST_NUMBER)
        else:
            value = max(min(value + rng.choice((0, 0, 0, 1, -1)), MOST_NUMBER), -MOST_NUMBER)
            text = str(abs(value))
        return "%s %s %s" % (left, rng.choice((">", ">=", "<", "<=", "=", "!=")), ("-" if value < 0 else "") + text)

    def left(self, depth):
        rng = self.rng
        if depth and rng.random() < 0.3:
            right = self.left(0) if rng.random() < 0.7 else rng.choice(("2", "0.5", "7"))
            return "%s %s %s" % (self.left(0), rng.choice("+-*/%"), right)
        return self.state()

    def state(self):
        name = self.rng.choice(list(self.variables))
        variable = self.variables[name]
        has_number, has_keys = measured_twin.has_number(variable), measured_twin.has_keys(variable)
        if has_keys and (not has_number or self.rng.random() < 0.4):
            return 'measure("%s").%s("%s")' % (PROGRAM, name, self.key(variable))
        return 'measure("%s").%s' % (PROGRAM, name)

    def key(self, variable):
        """Values of its fields as some packet has them, or near."""
        rng, layout, values = self.rng, self.measured.switch_after(0).layout, []
        packet = rng.choice(self.measured.packets)
        for field in layout.keys[variable.key]:
            value = packet.fields.get(field, 0)
            if field == "pkt.input_port":
                value = packet.meta["in_port"]
            elif field == "switch.id":
                value = 1
            elif rng.random() < 0.1:
                value ^= 1
            values.append(self.shown(field, value % 2**layout.width(field)))
        return rng.choice((",", ",", ", ")).join(values)

    def shown(self, field, value):
        if field in ("ipv4.src", "ipv4.dst") and self.rng.random() < 0.7:
            return ".".join(str(part) for part in value.to_bytes(4, "big"))
        if field in ("eth.src", "eth.dst") and self.rng.random() < 0.7:
            return ":".join("%02x" % part for part in value.to_bytes(6, "big"))
        return "0x%x" % value if self.rng.random() < 0.2 else str(value)

    def is_narrow(self, event):
        """Whether rounding could decide somewhere."""
        def narrow(tree, scope):
            if tree[0] == "cmp":
                a, b = scope.sides(tree)
                if None not in (a, b) and (isinstance(a, float) or isinstance(b, float)):
                    return a != b and abs(a - b) <= MARGIN * max(1.0, abs(a)) or a == b and bool(_estimates(tree, self))
            return any(narrow(child, scope) for child in language.children(tree))

        def huge(tree, scope):
            value = scope.value(tree)
            whole = tree[0] == "bin" and tree[1] == "%" and bool(_estimates(tree, self))
            return whole or isinstance(value, float) and abs(value) > 1e9 or any(
                huge(child, scope) for child in language.children(tree))

        return any(narrow(event.predicate, scope) or huge(event.predicate, scope)
                   for _, scope in measured_twin.scopes_of(event, self.measured))


def _estimates(tree, maker):
    """States of the tree that are no whole numbers."""
    return [state for state in language.states(tree)
            if state[3] is None and maker.variables[state[2]].kind in ("bf", "hll", "pcsa")]
