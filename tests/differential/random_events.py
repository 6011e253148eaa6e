# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random events that have something to say about a given trace.

Values in filters come from the trace's own packets, thresholds from what the
left side was in some bucket, so that reports are the rule and equality is common.
"""
import ipaddress

from oracle import evaluate, language
from oracle.packets import FIELDS

CHANGING = ("ttl", "ecn", "dscp", "tcpFlags")
COMMON_FIELDS = ("srcIP", "dstIP", "srcPort", "dstPort", "Protocol")
UNIT_CHOICES = ("KB", "MB", "KiB", "us", "ms", "ns")
MOST_TESTS = 4000
MOST_DIGITS, MOST_NUMBER = 22, 10**15   # the language takes no longer ones
MOST_RATIO = 10**9                      # larger percentages are refused


class EventText:
    """The parts of an event as written."""

    def __init__(self, name, filter_text, predicate, granularity, interval, runs=1, spelling="map"):
        self.name, self.filter, self.predicate = name, filter_text, predicate
        self.granularity, self.interval, self.runs = granularity, interval, runs
        self.spelling = spelling        # "map", "line" (in a map) or "string"
        self.more = []                  # further lines, without effect on reports

    def parse(self, place):
        name = "event-%d" % (place + 1) if self.name is None else self.name
        if self.spelling == "map":
            return language.Event(name, self.filter, self.predicate, self.granularity, self.interval, self.runs)
        return language.Event.from_line(name, self.line(), self.runs)

    def line(self):
        parts = [self.filter, self.predicate, self.granularity, self.interval]
        return ", ".join(part for part in parts if part)

    def yaml(self):
        if self.spelling == "string":
            return "  - \"%s\"\n" % self.line()
        keys = []
        if self.name is not None:
            keys.append("name: %s" % self.name)
        if self.spelling == "line":
            keys.append("event: \"%s\"" % self.line())
        else:
            keys += ["filter: \"%s\"" % self.filter, "predicate: \"%s\"" % self.predicate]
            if self.granularity:
                keys.append("flow_granularity: \"%s\"" % self.granularity)
            keys.append("time_interval: %s" % self.interval)
        if self.runs != 1:
            keys.append("for: %d" % self.runs)
        keys += self.more
        return "".join(("  - " if i == 0 else "    ") + key + "\n" for i, key in enumerate(keys))


def yaml_file(events):
    return "events:\n" + "".join(event.yaml() for event in events)


# --- filters -----------------------------------------------------------------

def pick_field(rng, without=()):
    plain = rng.choice(COMMON_FIELDS) if rng.random() < 0.5 else rng.choice(FIELDS)
    if plain in without:
        return pick_field(rng, without)
    return rng.choice(("", "", "", "", "outer.", "inner.")) + plain


def pick_value(rng, trace, field):
    """A value that some packet has, else None."""
    for _ in range(8):
        value = rng.choice(trace.packets).field(field)
        if value is not None:
            return value
    return None


def show_value(rng, plain, value):
    if plain in ("srcIP", "dstIP"):
        return str(ipaddress.IPv4Address(value[1]) if value[0] == 4 else ipaddress.IPv6Address(value[1]))
    if plain in ("srcMAC", "dstMAC"):
        return ":".join("%02x" % byte for byte in value.to_bytes(6, "big"))
    if plain == "Protocol" and rng.random() < 0.7:
        return {number: name for name, number in language.PROTOCOLS.items()}.get(value, str(value))
    if plain == "ethType":
        return "0x%04x" % value if rng.random() < 0.7 else str(value)
    return str(value)


def show_range(rng, plain, value):
    """`value`, or a prefix or range around it."""
    kind = rng.random()
    text = show_value(rng, plain, value)
    if plain in ("srcIP", "dstIP") and kind < 0.5:
        length = rng.choice((8, 24, 25, 31, 32) if value[0] == 4 else (32, 48, 64, 127, 128, 0))
        return str(ipaddress.ip_network((text, length), strict=False))
    if kind < 0.7 or plain in ("srcMAC", "dstMAC", "tcpFlags"):
        return text
    if plain in ("srcIP", "dstIP"):
        last = 2**32 - 1 if value[0] == 4 else 2**128 - 1
        low, high = max(value[1] - rng.randrange(3), 0), min(value[1] + rng.randrange(2), last)
        return show_value(rng, plain, (value[0], low)) + "-" + show_value(rng, plain, (value[0], high))
    low = max(value - rng.choice((0, 1, 5)), 0)
    high = min(value + rng.choice((0, 1, 5)), language.HIGHEST[plain])
    return "%d-%d" % (low, high)


def test_text(rng, trace, without):
    if rng.random() < 0.04:
        return "port:%d" % rng.choice((80, 443, 5000))
    field = pick_field(rng, without)
    plain = language.plain_name(field)
    value = pick_value(rng, trace, field)
    if rng.random() < 0.08 or value is None:
        return field + "=*"
    if plain == "tcpFlags" and rng.random() < 0.6:
        return field + "=" + "".join(rng.choice("+-") + name
                                     for name in rng.sample(list(language.FLAGS), rng.choice((1, 2, 3))))
    if rng.random() < 0.2:
        values = [pick_value(rng, trace, field) or value for _ in range(rng.choice((1, 2, 3)))]
        return "%s={%s}" % (field, ",".join(show_range(rng, plain, each) for each in values))
    return field + "=" + show_range(rng, plain, value)


def filter_text(rng, trace, without=(), depth=0):
    kind = rng.random()
    if depth == 0 and kind < 0.25:
        return "*"
    if depth >= 2 or kind < 0.6:
        return test_text(rng, trace, without)
    parts = [filter_text(rng, trace, without, depth + 1) for _ in range(2)]
    if kind < 0.7:
        return "not " + ("(%s)" % parts[0] if " " in parts[0] else parts[0])
    joined = rng.choice((" and ", " or ", " or ")).join(parts)
    return "(%s)" % joined if depth or rng.random() < 0.3 else joined


# --- granularity -------------------------------------------------------------

def granularity_text(rng, trace, without=()):
    kind = rng.random()
    if kind < 0.20:
        return rng.choice(("none", ""))
    if kind < 0.55:
        return rng.choice(("5-tuple", "5-tuples"))
    fields = []
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        field = pick_field(rng, without)
        if rng.random() < 0.8 and pick_value(rng, trace, field) is None:
            field = rng.choice(COMMON_FIELDS)
        if field not in fields:
            fields.append(field)
    shown = []
    for field in fields:
        if language.plain_name(field) in ("srcIP", "dstIP") and rng.random() < 0.5:
            field += "/%d" % rng.choice((8, 16, 24, 24, 31, 32, 48, 64, 128, 0))
        shown.append(field)
    text = rng.choice((", ", " and ", ",")).join(shown)
    return "(%s)" % text if rng.random() < 0.4 else text


# --- predicates --------------------------------------------------------------

def operand_text(rng, depth=0):
    """An expression over packet variables."""
    kind = rng.random()
    if depth >= 3 or kind < 0.45:
        return rng.choice(("packets", "bytes", "volume", "volume", "ecn", "ttl", "rwnd", "rtt", "rtt", "is_lost",
                           "is_lost", "is_burst", "ack", "seq", "dup"))
    if kind < 0.53:
        return rng.choice(("is_lost & is_burst", "is_burst and is_lost", "(is_lost) & is_burst",
                           "is_lost and is_burst and volume > 10", "is_lost & not is_burst"))
    left = operand_text(rng, depth + 1)
    right = operand_text(rng, depth + 1)
    left, right = ("(%s)" % part if " " in part or part[0] == "-" else part for part in (left, right))
    number = rng.choice(("1", "2", "7", "100", "1460", "0.5", "1KB", "10us"))
    if kind < 0.65:
        return "%s %s %s" % (left, rng.choice("+-*"), rng.choice((right, number)) if depth < 2 else number)
    if kind < 0.72:
        return "%s %s %s" % (left, rng.choice("/%"), rng.choice((right, number)))
    if kind < 0.77:
        return "-" + left
    if kind < 0.92:
        return "%s %s %s" % (left, rng.choice((">", ">=", "<", "<=", "=", "==", "!=")), rng.choice((number, right)))
    return rng.choice(("%s and %s", "%s or %s", "not (%s or %s)", "%s | %s", "%s & %s")) % (left, right)


def aggregate_text(rng):
    if rng.random() < 0.45:
        return rng.choice(("sum(volume)", "sum(packets)", "sum(bytes)", "sum(is_lost)", "sum(is_burst)", "sum(ecn)",
                           "sum(is_lost & is_burst)", "max(rtt)", "min(rtt)", "avg(rtt)", "stddev(rtt)", "count(rtt)",
                           "max(rwnd)", "min(rwnd)", "avg(ttl)", "stddev(volume)", "max(seq)", "max(ack)", "max(dup)",
                           "max(seq - ack)", "count(ttl)", "avg(volume)"))
    return "%s(%s)" % (rng.choice(language.AGGREGATES), operand_text(rng))


def left_text(rng, flow_buckets, depth=0):
    """What is compared: aggregates, and bare variables where they are allowed."""
    kind = rng.random()
    if flow_buckets and kind < 0.40:
        if rng.random() < 0.3:
            return "1 - (ack - ack_lastepoch + dup) / (seq_lastepoch - ack_lastepoch)"
        names = [rng.choice(language.FLOW_VARIABLES + ("dup", "dup")) for _ in range(2)]
        return rng.choice(("%s", "%s - %s", "%s - %s", "%s + %s")).replace("%s", names[0], 1).replace("%s", names[1])
    if depth or kind < 0.75:
        return aggregate_text(rng)
    left, right = left_text(rng, flow_buckets, 1), left_text(rng, flow_buckets, 1)
    left, right = ("(%s)" % part if " " in part and "(" != part[0] else part for part in (left, right))
    right = rng.choice((right, right, "2", "3.5", "10"))
    return "%s %s %s" % (left, rng.choice("+-*/%"), right)


def values_of(trace, event):
    """The defined values of the left side in all tests, with the event's own scaling."""
    found = []
    for _, _, scope in evaluate.tested_buckets(event, trace):
        value = scope.sides(event.predicate)[0]
        if value is not None:
            found.append(value)
    return found


def number_text(rng, value):
    """`value` or a neighbour, written in one of the ways there are."""
    if isinstance(value, float):
        value = rng.choice((value, value, value * 0.9, value + 0.5))
        text = repr(abs(value)) if rng.random() < 0.5 else "%.3f" % abs(value)
        if "e" in text or len(text) > MOST_DIGITS:
            text = "%.6f" % min(abs(value), MOST_NUMBER)
        return ("-" if value < 0 else "") + text
    value = max(min(value + rng.choice((0, 0, 0, -1, 1)), MOST_NUMBER), -MOST_NUMBER)
    unit = rng.choice(UNIT_CHOICES)
    scale = language.UNITS[unit]
    if value >= scale and rng.random() < 0.3:
        return "%d%s" % (value // scale, unit)
    return str(value)


def comparison_text(rng, trace, make):
    """A comparison whose threshold is near what its left side is in the trace.

    make(predicate) gives the event to be asked.
    """
    flow_buckets = make("1").granularity == "5-tuple"
    left = left_text(rng, flow_buckets)
    scale, unit = None, ""
    kind = rng.random()
    if kind < 0.12:
        unit = rng.choice(("bps", "kbps", "Kbps", "Mbps", "pps", "Kpps"))
        asked = "%s > 1%s" % (left, unit)
        scale = language.RATE_SCALES[unit[:-3]]
    elif kind < 0.22:
        left, unit = "sum(%s)" % operand_text(rng), "%"
        asked = left + " > 1%"
    else:
        asked = left + " > 0"
    found = values_of(trace, make(asked))
    value = rng.choice(found) if found else rng.choice((0, 1, 100))
    if unit == "%":
        value = min(abs(value), MOST_RATIO)
    if unit == "%":
        right = "%.2f%%" % abs(value * 100) if rng.random() < 0.5 else "%d%%" % abs(value * 100)
    elif unit:
        right = "%d%s" % (min(abs(value), MOST_NUMBER) // scale, unit)
    else:
        right = number_text(rng, value)
    op = rng.choice((">", ">=", ">=", "<", "<=", "==", "=", "!="))
    if rng.random() < 0.15:
        flipped = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
        return "%s %s %s" % (right, flipped.get(op, op), left)
    return "%s %s %s" % (left, op, right)


def predicate_text(rng, trace, make):
    kind = rng.random()
    if kind < 0.75:
        return comparison_text(rng, trace, make)
    if kind < 0.80:
        return left_text(rng, make("1").granularity == "5-tuple")
    first, second = comparison_text(rng, trace, make), comparison_text(rng, trace, make)
    return rng.choice(("%s and %s", "%s or %s", "not (%s and %s)", "%s & %s", "not %s | %s",
                       "(%s) or (%s)", "not (%s) and %s")) % (first, second)


# --- events ------------------------------------------------------------------

def pick_interval(rng, trace):
    span = trace.packets[-1].time - trace.packets[0].time
    choices = [ms for ms in (1, 2, 3, 5, 7, 10, 10, 20, 25, 50, 100, 1000) if span // (ms * 10**6) < MOST_TESTS]
    ms = rng.choice(choices or [1000])
    if ms % 1000 == 0:
        return "%ds" % (ms // 1000)
    return "%dus" % (ms * 1000) if rng.random() < 0.05 else "%dms" % ms


def random_event(rng, trace, place):
    """An EventText that parses."""
    while True:
        runs = rng.choice((1, 1, 1, 1, 1, 2, 3, 4))
        spelling = rng.choice(("map", "map", "line", "string" if runs == 1 else "map"))
        name = None if spelling == "string" or rng.random() < 0.1 else "e%d" % place
        without = rng.choice(((), CHANGING))
        made = EventText(name, filter_text(rng, trace, without), "1", granularity_text(rng, trace, without),
                         pick_interval(rng, trace), runs, spelling)
        if rng.random() < 0.1:
            made.more = [rng.choice(("scope: host", "scope: network", "observe: all", "observe: destination",
                                     "severity: warning"))]

        def make(predicate):
            made.predicate = predicate
            return made.parse(place)

        try:
            made.predicate = predicate_text(rng, trace, make)
            evaluate.evaluate([made.parse(place)], trace)
            return made
        except (language.EventError, evaluate.OutOfBounds, OverflowError):
            continue


# Parts of events that must be refused: (filter, predicate, granularity, interval).
REFUSED = (
    ("*", "sum(bytez) > 1", "5-tuple", "10ms"),
    ("*", "bytes > 1", "5-tuple", "10ms"),
    ("*", "sum(max(bytes)) > 1", "5-tuple", "10ms"),
    ("*", "ack > 1", "srcIP", "10ms"),
    ("*", "seq_lastepoch > 1", "none", "10ms"),
    ("*", "sum(bytes) > 1Mbps + 1", "5-tuple", "10ms"),
    ("*", "1Mbps > 2Mbps", "5-tuple", "10ms"),
    ("*", "sum(bytes) > 1Mbps * 2", "5-tuple", "10ms"),
    ("*", "1 < sum(bytes) < 3", "5-tuple", "10ms"),
    ("*", "sum(bytes > 1", "5-tuple", "10ms"),
    ("*", "sum(bytes)) > 1", "5-tuple", "10ms"),
    ("*", "sum(bytes) >", "5-tuple", "10ms"),
    ("*", "sum(bytes) > 1parsec", "5-tuple", "10ms"),
    ("*", "median(bytes) > 1", "5-tuple", "10ms"),
    ("*", "sum(bytes % -packets) > 1", "5-tuple", "10ms"),
    ("*", "sum(bytes)% > 1", "5-tuple", "10ms"),
    ("*", "sum() > 1", "5-tuple", "10ms"),
    ("*", "sum(bytes) > 1", "5-tuple", "0ms"),
    ("*", "sum(bytes) > 1", "5-tuple", "1500us"),
    ("*", "sum(bytes) > 1", "5-tuple", "10"),
    ("*", "sum(bytes) > 1", "srcHost", "10ms"),
    ("*", "sum(bytes) > 1", "srcIP/129", "10ms"),
    ("*", "sum(bytes) > 1", "upper.srcIP", "10ms"),
    ("srcIp=10.0.0.1", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("srcIP=10.0.0.256", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("srcIP=10.0.0.0/33", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("dstPort=65536", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("vlan=4096", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("Protocol=TPC", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("tcpFlags=+sin", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("dstPort=80 and", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("(dstPort=80", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("dstPort={80", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("srcMAC=02:00:00:00:00", "sum(bytes) > 1", "5-tuple", "10ms"),
    ("ttl=64", "max(rtt) > 1", "5-tuple", "10ms"),
    ("*", "max(rtt) > 1", "srcIP, dscp", "10ms"),
    ("outer.ecn=3", "count(rtt) > 1", "5-tuple", "10ms"),
    ("tcpFlags=+syn", "sum(bytes) > 1 and avg(rtt) > 1ms", "none", "10ms"),
)


def refused_event(rng, place):
    filter_part, predicate, granularity, interval = rng.choice(REFUSED)
    return EventText("refused-%d" % place, filter_part, predicate, granularity, interval, spelling="map")
