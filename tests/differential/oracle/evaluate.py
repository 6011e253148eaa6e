# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Events over a trace -> reports, the way the contract tells it.

Integers are exact, and become doubles only at `/`, fractions and averages.
None is the undefined value.
"""
import ipaddress
import math
from fractions import Fraction

from . import language
from .packets import Packet
from .tcp import Flows

IDLE_INTERVALS = 16
CONGESTION_EXPERIENCED = 3
INT_LIMIT = 2**126


class OutOfBounds(Exception):
    """The contract does not say what happens here; no test may rest on it."""


# --- the trace ---------------------------------------------------------------

class Entry:
    """What aggregates see: a packet, or an RTT sample."""

    def __init__(self, time, packet, variables, unscaled=False, loss_forgotten=False):
        self.time, self.packet, self.variables = time, packet, variables
        self.unscaled, self.loss_forgotten = unscaled, loss_forgotten
        self.is_sample = "rtt" in variables


class Trace:
    def __init__(self, raw, flow_timeout=10 * 10**9, burst_gap=10 * 10**3):
        """`raw` holds (time, captured bytes, wire length), merged by time."""
        self.flows = Flows(flow_timeout, burst_gap)
        self.packets = [Packet(*each) for each in raw]
        self.entries = [self._entry(*each) for each in enumerate(self.packets)]
        self.samples = [Entry(s.time, self.packets[s.index], {"rtt": s.rtt}) for s in self.flows.samples]

    def _entry(self, index, packet):
        values = self.flows.see(index, packet)
        level = packet.levels[-1]
        return Entry(packet.time, packet, {
            "packets": 1,
            "bytes": packet.bytes,
            "volume": packet.volume,
            "ecn": int(level.get("ecn") == CONGESTION_EXPERIENCED),
            "ttl": level.get("ttl"),
            "rwnd": values.rwnd,
            "is_lost": values.is_lost,
            "is_burst": values.is_burst,
            "is_lost & is_burst": values.lost_in_burst,
            "ack": values.ack,
            "seq": values.seq,
            "dup": values.dup,
        }, values.unscaled, values.loss_forgotten)


# --- filters -----------------------------------------------------------------

def matches(tree, packet):
    kind = tree[0]
    if kind == "any":
        return True
    if kind == "not":
        return not matches(tree[1], packet)
    if kind == "and":
        return all(matches(part, packet) for part in tree[1])
    if kind == "or":
        return any(matches(part, packet) for part in tree[1])
    value = packet.field(tree[1])
    if value is None:
        return False
    matcher = tree[2]
    if matcher[0] == "present":
        return True
    if matcher[0] == "flags":
        return value & matcher[1] == matcher[1] and value & matcher[2] == 0
    if matcher[0] == "ip":
        return any(low[0] == value[0] and low <= value <= high for low, high in matcher[1])
    return any(low <= value <= high for low, high in matcher[1])


# --- buckets -----------------------------------------------------------------

def bucket_of(event, packet):
    """A tuple in the order of reports, or None: the packet is in no bucket."""
    if event.granularity is None:
        return ()
    if event.granularity == "5-tuple":
        return packet.five_tuple()
    bucket = []
    for field, length in event.granularity:
        value = packet.field(field)
        if value is None:
            return None
        if length is not None:
            width = 32 if value[0] == 4 else 128
            host_bits = width - min(length, width)
            value = value[0], value[1] >> host_bits << host_bits
        bucket.append(value)
    return tuple(bucket)


def render_bucket(event, bucket):
    if event.granularity is None:
        return {}
    fields = event.granularity
    if fields == "5-tuple":
        fields = [(name, None) for name in ("srcIP", "dstIP", "srcPort", "dstPort", "Protocol")]
    return {field: _render(language.plain_name(field), length, value)
            for (field, length), value in zip(fields, bucket)}


def _render(field, length, value):
    if field in ("srcIP", "dstIP"):
        family, address = value
        text = str(ipaddress.IPv4Address(address) if family == 4 else ipaddress.IPv6Address(address))
        return text if length is None else "%s/%d" % (text, min(length, 32 if family == 4 else 128))
    if field in ("srcMAC", "dstMAC"):
        return ":".join("%02x" % byte for byte in value.to_bytes(6, "big"))
    if field == "ethType":
        return "0x%04x" % value
    if field == "Protocol":
        names = {number: name for name, number in language.PROTOCOLS.items()}
        return names.get(value, value)
    return value


# --- numbers -----------------------------------------------------------------

def truth(value):
    return None if value is None else value != 0


def _bounded(value):
    if isinstance(value, int) and abs(value) > INT_LIMIT:
        raise OutOfBounds("an integer beyond 128 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise OutOfBounds("a number that is not finite")
    return value


def calculate(op, a, b):
    if a is None or b is None:
        return None
    if op in "/%" and b == 0:
        return None
    if op == "/":
        return _bounded(float(a) / float(b))
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
        if op == "%":
            return math.fmod(a, b)
    elif op == "%":
        return int(math.copysign(1, a)) * (abs(a) % abs(b))
    return _bounded({"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b}[op]())


def compare(op, a, b):
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)
    return int({">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b, "==": a == b, "!=": a != b}[op])


def conjunction(values):
    values = [truth(value) for value in values]
    return 0 if False in values else None if None in values else 1


def disjunction(values):
    values = [truth(value) for value in values]
    return 1 if True in values else None if None in values else 0


# --- expressions -------------------------------------------------------------

class Scope:
    """Where an expression is computed; a subclass gives its variables and aggregates."""

    def __init__(self, interval_ms):
        self.interval_ms = interval_ms

    def value(self, tree):
        kind = tree[0]
        if kind == "num":
            return tree[1]
        if kind == "var":
            return self.variable(tree[1])
        if kind == "agg":
            return self.aggregate(tree[1], tree[2])
        if kind == "measured":
            return self.measured(tree)
        if kind == "neg":
            value = self.value(tree[1])
            return None if value is None else -value
        if kind == "not":
            value = truth(self.value(tree[1]))
            return None if value is None else int(not value)
        if kind == "bin":
            return calculate(tree[1], self.value(tree[2]), self.value(tree[3]))
        if kind == "cmp":
            return compare(tree[1], *self.sides(tree))
        if kind == "and":
            return conjunction(self.and_operands(tree[1]))
        return disjunction([self.value(part) for part in tree[1]])

    def and_operands(self, parts):
        return [self.value(part) for part in parts]

    def sides(self, tree):
        """Both sides of a comparison as they are compared."""
        _, _, left, right = tree
        return self._side(left, right), self._side(right, left)

    def _side(self, tree, other):
        value = self.value(tree)
        if value is None:
            return None
        if other[0] == "num" and other[2] == "%" and tree[:2] == ("agg", "sum"):
            return calculate("/", value, self.packet_count())
        if language.is_rate(other):
            scale = 8000 if other[2] == "bps" else 1000
            return calculate("/", calculate("*", value, scale), self.interval_ms)
        return value


class PacketScope(Scope):
    """Inside an aggregate: one packet or sample."""

    def __init__(self, interval_ms, entry):
        super().__init__(interval_ms)
        self.entry = entry

    def variable(self, name):
        return self.entry.variables.get(name)

    def and_operands(self, parts):
        values, at = [], 0
        while at < len(parts):
            pair = parts[at:at + 2]
            if sorted(pair) == [("var", "is_burst"), ("var", "is_lost")]:
                if self.entry.loss_forgotten:
                    raise OutOfBounds("a first sending that may be forgotten")
                values.append(self.variable("is_lost & is_burst"))
                at += 2
            else:
                values.append(self.value(parts[at]))
                at += 1
        return values


class BucketScope(Scope):
    """One bucket in one interval.  `flow` has the bare variables."""

    def __init__(self, interval_ms, entries, flow):
        super().__init__(interval_ms)
        self.entries, self.flow = entries, flow

    def variable(self, name):
        return self.flow.get(name)

    def packet_count(self):
        return sum(1 for entry in self.entries if not entry.is_sample)

    def aggregate(self, function, operand):
        values = []
        for entry in self.entries:
            if entry.is_sample and not language.mentions(operand, "rtt"):
                continue
            value = PacketScope(self.interval_ms, entry).value(operand)
            if value is not None:
                values.append(value)
        return _bounded(AGGREGATES[function](values))


def exact_sum(values):
    """Rounds once, at the end."""
    if all(isinstance(value, int) for value in values):
        return sum(values)
    return float(sum(Fraction(value) for value in values))


def average(values):
    return float(exact_sum(values)) / len(values) if values else None


def deviation(values):
    """Of the population: sqrt(n * sum of squares - square of the sum) / n."""
    if not values:
        return None
    exact = [Fraction(value) for value in values]
    under_root = len(exact) * sum(value * value for value in exact) - sum(exact) ** 2
    return math.sqrt(float(under_root)) / len(exact)


AGGREGATES = {
    "sum": exact_sum,
    "count": len,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "avg": average,
    "stddev": deviation,
}


# --- verdicts ----------------------------------------------------------------

def interval_of(time, event):
    return time // (event.interval_ms * 10**6)


class Life:
    """From when to when an event is installed."""

    def __init__(self, start=None, end=None):
        self.start, self.end = start, end

    def within(self, trace):
        """What of it the trace sees; None: nothing."""
        first, last = trace.packets[0].time, trace.packets[-1].time
        start = self.start if self.start is not None and self.start > first else None
        end = self.end if self.end is not None and self.end <= last else None
        if start is not None and (start > last or end is not None and start >= end):
            return None
        return None if end is not None and end <= first else Life(start, end)

    def holds(self, time):
        return (self.start is None or time >= self.start) and (self.end is None or time < self.end)


ALWAYS = Life()


def tested_buckets(event, trace, life=ALWAYS):
    """Yields (interval, bucket, BucketScope) of every test, interval by interval."""
    uses_rtt = language.mentions(event.predicate, "rtt")
    counted = {}                        # (interval, bucket) -> entries
    for entry in trace.entries + (trace.samples if uses_rtt else []):
        if life.holds(entry.time) and matches(event.filter, entry.packet):
            bucket = bucket_of(event, entry.packet)
            if bucket is not None:
                counted.setdefault((interval_of(entry.time, event), bucket), []).append(entry)
    last = interval_of(trace.packets[-1].time, event)
    if life.end is not None:
        last = interval_of(life.end, event) - 1     # the last that was over by then
    if event.granularity is None:
        first = interval_of(trace.packets[0].time if life.start is None else life.start, event)
        tests = [(interval, ()) for interval in range(first, last + 1)]
    else:
        tests = sorted({(interval, bucket) for start, bucket in counted
                        for interval in range(start, min(start + IDLE_INTERVALS, last) + 1)})
    for interval, bucket in tests:
        flow = flow_values(event, trace, bucket, interval) if event.granularity == "5-tuple" else {}
        yield interval, bucket, BucketScope(event.interval_ms, counted.get((interval, bucket), []), flow)


def flow_values(event, trace, bucket, interval):
    """The bare variables of a 5-tuple at the end and the start of an interval."""
    length = event.interval_ms * 10**6
    start, end = interval * length, (interval + 1) * length
    values = {}
    now, before = trace.flows.at(bucket, end), trace.flows.at(bucket, start)
    if now:
        values["ack"], values["seq"], values["dup"] = now[1]
    if before and trace.flows.generation_before(bucket, end) == before[0]:
        values["ack_lastepoch"], values["seq_lastepoch"], values["dup_lastepoch"] = before[1]
    return values


def reports_of(event, trace, life=ALWAYS):
    runs = {}                           # bucket -> (last true interval, length of its run)
    for interval, bucket, scope in tested_buckets(event, trace, life):
        if not truth(scope.value(event.predicate)):
            continue
        last, length = runs.get(bucket, (None, 0))
        length = length + 1 if last == interval - 1 else 1
        runs[bucket] = interval, length
        if length >= event.runs:
            made = report(event, interval, bucket, scope)
            made["complete"] = life.start is None or life.start <= made["start_ns"]
            yield made


def report(event, interval, bucket, scope):
    value, threshold = 1, 1
    if event.predicate[0] == "cmp":
        value, threshold = scope.sides(event.predicate)
    length = event.interval_ms * 10**6
    made = {"event": event.name, "bucket": render_bucket(event, bucket), "start_ns": interval * length,
            "end_ns": (interval + 1) * length, "value": value, "threshold": threshold, "complete": True}
    if language.mentions(event.predicate, "rwnd") and any(entry.unscaled for entry in scope.entries):
        made["unscaled"] = True
    return made


def evaluate(events, trace, lives=None):
    """All reports of all events in the order of the contract.  lives: a list of Life per event."""
    if not trace.packets:
        return []
    found = [(made["end_ns"], place, made) for place, event in enumerate(events)
             for life in (lives[place] if lives else [ALWAYS]) if life.within(trace)
             for made in reports_of(event, trace, life.within(trace))]
    found.sort(key=lambda each: each[:2])       # stable: buckets are in order already
    return [made for _, _, made in found]
