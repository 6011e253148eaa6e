# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Event text -> trees of tuples, and the checks that an event must pass.

Filters:     ("any",) ("test", field, matcher) ("not", f) ("and", [f...]) ("or", [f...])
Predicates:  ("num", value, kind)   kind is "", "%", "bps" or "pps"
             ("var", name) ("agg", function, e) ("neg", e) ("not", e)
             ("bin", op, a, b) ("cmp", op, a, b) ("and", [e...]) ("or", [e...])
             ("measured", program, state, values of a key or None)
Matchers:    ("present",) ("ip", [(low, high)...]) ("range", [(low, high)...]) ("flags", set, clear)
"""
import ipaddress
import re
from fractions import Fraction

from .packets import FIELDS


class EventError(Exception):
    pass


class Event:
    """A checked event.  granularity: None, "5-tuple", or a list of (field, prefix length or None)."""

    def __init__(self, name, filter_text, predicate, granularity, interval, runs=1):
        self.name = name
        self.filter = parse_filter(filter_text)
        self.predicate = parse_predicate(predicate)
        self.granularity = parse_granularity(granularity)
        self.interval_ms = parse_interval(interval)
        self.runs = runs
        if type(runs) is not int or runs < 1:
            raise EventError("for takes a whole number from 1")
        _check(self)

    @classmethod
    def from_line(cls, name, line, runs=1):
        filter_text, predicate, granularity, interval = split_line(line)
        return cls(name, filter_text, predicate, granularity, interval, runs)


def split_line(line):
    parts, depth = [""], 0
    for letter in line:
        depth += (letter in "({") - (letter in ")}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    if len(parts) < 3:
        raise EventError("filter, predicate and interval are needed")
    return parts[0], parts[1], ",".join(parts[2:-1]), parts[-1]


# --- words -------------------------------------------------------------------

class Words:
    """A list of words with a place in it."""

    def __init__(self, text, pattern):
        self.words, at = [], 0
        text = text.strip()
        while at < len(text):
            found = pattern.match(text, at)
            if not found:
                raise EventError("cannot read %r" % text[at:])
            if found.group().strip():
                self.words.append(found.group().strip())
            at = found.end()
        self.at = 0

    def peek(self, ahead=0):
        place = self.at + ahead
        return self.words[place] if place < len(self.words) else ""

    def next(self):
        word = self.peek()
        if not word:
            raise EventError("unexpected end")
        self.at += 1
        return word

    def take(self, *wanted):
        if self.peek() in wanted:
            return self.next()
        return None

    def expect(self, wanted):
        if not self.take(wanted):
            raise EventError("expected %r, found %r" % (wanted, self.peek()))

    def end(self):
        if self.peek():
            raise EventError("unexpected %r" % self.peek())


# --- filters -----------------------------------------------------------------

FILTER_WORD = re.compile(r"\s+|[(){},=*]|[^\s(){},=*]+")
PROTOCOLS = {"ICMP": 1, "TCP": 6, "UDP": 17, "ICMPv6": 58, "SCTP": 132}
FLAGS = {"fin": 1, "syn": 2, "rst": 4, "psh": 8, "ack": 16, "urg": 32, "ece": 64, "cwr": 128}
HIGHEST = {"srcPort": 65535, "dstPort": 65535, "Protocol": 255, "ethType": 65535, "vlan": 4095, "dscp": 63,
           "ecn": 3, "ttl": 255, "tcpFlags": 4095, "inPort": 2**32 - 1, "tunnelId": 2**32 - 1}


def plain_name(field):
    return field.rpartition(".")[2]


def check_field(field):
    prefix, _, plain = field.rpartition(".")
    if plain not in FIELDS or prefix not in ("", "outer", "inner"):
        raise EventError("%r is not a field" % field)
    return field


def parse_filter(text):
    port = re.sub(r"\bport:(\d+)", r"dstPort=\1", text)
    words = Words(port, FILTER_WORD)
    tree = _filter_or(words)
    words.end()
    return tree


def _filter_or(words):
    parts = [_filter_and(words)]
    while words.take("or"):
        parts.append(_filter_and(words))
    return parts[0] if len(parts) == 1 else ("or", parts)


def _filter_and(words):
    parts = [_filter_not(words)]
    while words.take("and"):
        parts.append(_filter_not(words))
    return parts[0] if len(parts) == 1 else ("and", parts)


def _filter_not(words):
    if words.take("not"):
        return ("not", _filter_not(words))
    if words.take("("):
        tree = _filter_or(words)
        words.expect(")")
        return tree
    if words.take("*"):
        return ("any",)
    field = check_field(words.next())
    words.expect("=")
    return ("test", field, _matcher(words, plain_name(field)))


def _matcher(words, field):
    if words.take("*"):
        return ("present",)
    if field == "tcpFlags" and words.peek()[:1] in ("+", "-"):
        return _flags(words.next())
    if words.take("{"):
        values = [words.next()]
        while words.take(","):
            values.append(words.next())
        words.expect("}")
    else:
        values = [words.next()]
    kind = "ip" if field in ("srcIP", "dstIP") else "range"
    return (kind, [_range(field, value) for value in values])


def _flags(word):
    wanted = {"+": 0, "-": 0}
    found = re.findall(r"([+-])([a-z]+)", word)
    if "".join(sign + name for sign, name in found) != word:
        raise EventError("cannot read flags %r" % word)
    for sign, name in found:
        if name not in FLAGS:
            raise EventError("%r is not a flag" % name)
        wanted[sign] |= FLAGS[name]
    return ("flags", wanted["+"], wanted["-"])


def _range(field, text):
    if "/" in text:
        if field not in ("srcIP", "dstIP"):
            raise EventError("%s takes no prefix" % field)
        try:
            network = ipaddress.ip_network(text)
        except ValueError as error:
            raise EventError(str(error))
        family = network.version
        return (family, int(network[0])), (family, int(network[-1]))
    low, dash, high = text.partition("-")
    low = _value(field, low)
    return low, _value(field, high) if dash else low


def _value(field, text):
    if field in ("srcIP", "dstIP"):
        try:
            address = ipaddress.ip_address(text)
        except ValueError as error:
            raise EventError(str(error))
        return address.version, int(address)
    if field in ("srcMAC", "dstMAC"):
        if not re.fullmatch(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}", text):
            raise EventError("%r is not a MAC address" % text)
        return int(text.replace(":", ""), 16)
    if field == "Protocol" and text in PROTOCOLS:
        return PROTOCOLS[text]
    if not re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
        raise EventError("%r is not a number" % text)
    value = int(text, 0)
    if value > HIGHEST[field]:
        raise EventError("%s is at most %d" % (field, HIGHEST[field]))
    return value


# --- predicates --------------------------------------------------------------

PREDICATE_WORD = re.compile(
    r"\s+|\d+(?:\.\d+)?(?:[A-Za-z]+)?|[A-Za-z_][A-Za-z_0-9]*|>=|<=|==|!=|[()&|<>=+*/%-]|\"[^\"]*\"|\.(?=[A-Za-z_])")
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
         "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
RATE_SCALES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
AGGREGATES = ("sum", "count", "min", "max", "avg", "stddev")
PACKET_VARIABLES = ("packets", "bytes", "volume", "ecn", "ttl", "rwnd", "rtt", "is_lost", "is_burst",
                    "ack", "seq", "dup")
FLOW_VARIABLES = ("ack", "seq", "dup", "ack_lastepoch", "seq_lastepoch", "dup_lastepoch")
KEYWORDS = ("and", "or", "not")
LEAST_MEASURED_MS = 100


def parse_predicate(text):
    words = Words(text, PREDICATE_WORD)
    tree = _or(words)
    words.end()
    return tree


def _or(words):
    parts = [_and(words)]
    while words.take("or", "|"):
        parts.append(_and(words))
    return parts[0] if len(parts) == 1 else ("or", parts)


def _and(words):
    parts = [_not(words)]
    while words.take("and", "&"):
        parts.append(_not(words))
    return parts[0] if len(parts) == 1 else ("and", parts)


def _not(words):
    if words.take("not"):
        return ("not", _not(words))
    return _comparison(words)


def _comparison(words):
    left = _additive(words)
    op = words.take(">", ">=", "<", "<=", "=", "==", "!=")
    if not op:
        return left
    return ("cmp", "==" if op == "=" else op, left, _additive(words))


def _additive(words):
    left = _multiplicative(words)
    while words.peek() in ("+", "-"):
        left = ("bin", words.next(), left, _multiplicative(words))
    return left


def _multiplicative(words):
    left = _unary(words)
    while words.peek() in ("*", "/", "%"):
        op = words.next()
        if op == "%" and not _starts_operand(words.peek()):
            raise EventError("only a number can be a percentage")
        left = ("bin", op, left, _unary(words))
    return left


def _unary(words):
    if words.take("-"):
        return ("neg", _unary(words))
    return _primary(words)


def _primary(words):
    word = words.next()
    if word == "(":
        tree = _or(words)
        words.expect(")")
        return tree
    if word[0].isdigit():
        return _number(word, words)
    if not word[0].isalpha() or word in KEYWORDS:
        raise EventError("unexpected %r" % word)
    if words.take("("):
        if word == "measure":
            return _measured(words)
        if word not in AGGREGATES:
            raise EventError("%r is not an aggregate" % word)
        operand = _or(words)
        words.expect(")")
        return ("agg", word, operand)
    return ("var", word)


def _measured(words):
    program = words.next()
    if not re.fullmatch(r'"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"', program):
        raise EventError("%r is no name of a measurement" % program)
    words.expect(")")
    words.expect(".")
    state = [words.next()]
    while words.take("."):
        state.append(words.next())
    key = None
    if words.take("("):
        key = tuple(part.strip(" ") for part in words.next().strip('"').split(","))
        if not all(re.fullmatch(r"[0-9A-Fa-f.:x]{1,64}", part) for part in key):
            raise EventError("%r is no key" % (key,))
        words.expect(")")
    return ("measured", program[1:-1], ".".join(state), key)


def _number(word, words):
    digits, unit = re.fullmatch(r"([\d.]+)([A-Za-z]*)", word).groups()
    exact = Fraction(digits)
    if words.peek() == "%" and not _starts_operand(words.peek(1)):
        words.next()
        if unit:
            raise EventError("a percentage has no unit")
        return ("num", float(exact / 100), "%")
    kind, scale = "", UNITS.get(unit)
    if scale is None:
        found = re.fullmatch(r"([kKMG]?)(bps|pps)", unit)
        if not found:
            raise EventError("%r is not a unit" % unit)
        kind, scale = found.group(2), RATE_SCALES[found.group(1)]
    value = exact * scale
    return ("num", float(value) if "." in digits else int(value), kind)


def _starts_operand(word):
    """Whether a `%` before `word` is modulo."""
    return bool(word) and word not in KEYWORDS and (word[0].isalnum() or word[0] in "_(")


# --- granularity, interval ---------------------------------------------------

def parse_granularity(text):
    text = text.strip()
    if text in ("", "none"):
        return None
    if text in ("5-tuple", "5-tuples"):
        return "5-tuple"
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    fields = []
    for part in re.split(r",|\band\b", text):
        field, slash, length = part.strip().partition("/")
        check_field(field)
        if slash:
            if plain_name(field) not in ("srcIP", "dstIP") or not length.isdigit() or int(length) > 128:
                raise EventError("bad prefix length in %r" % part)
        fields.append((field, int(length) if slash else None))
    return fields


def parse_interval(text):
    found = re.fullmatch(r"(\d+)(ns|us|ms|s)", text.strip())
    if not found:
        raise EventError("%r is not a time" % text)
    ns = int(found.group(1)) * UNITS[found.group(2)]
    if ns == 0 or ns % 10**6:
        raise EventError("an interval is a whole number of milliseconds")
    return ns // 10**6


# --- checks ------------------------------------------------------------------

def children(tree):
    """The sub-expressions of a predicate."""
    kind = tree[0]
    if kind in ("and", "or"):
        return tree[1]
    if kind in ("bin", "cmp"):
        return [tree[2], tree[3]]
    return {"neg": [tree[-1]], "not": [tree[-1]], "agg": [tree[-1]]}.get(kind, [])


def mentions(tree, name):
    return tree == ("var", name) or any(mentions(child, name) for child in children(tree))


def states(tree):
    """What a predicate reads of measurement programs."""
    found = [tree] if tree[0] == "measured" else []
    return found + [state for child in children(tree) for state in states(child)]


def filter_fields(tree):
    if tree[0] == "test":
        return [tree[1]]
    if tree[0] == "not":
        return filter_fields(tree[1])
    if tree[0] in ("and", "or"):
        return [field for part in tree[1] for field in filter_fields(part)]
    return []


def _check(event):
    if states(event.predicate):
        _check_measured(event)
    _check_names(event.predicate, False, event.granularity == "5-tuple")
    _check_rates(event.predicate, False)
    if mentions(event.predicate, "rtt"):
        used = filter_fields(event.filter)
        if isinstance(event.granularity, list):
            used += [field for field, _ in event.granularity]
        for field in used:
            if plain_name(field) in ("ttl", "ecn", "dscp", "tcpFlags"):
                raise EventError("an event on rtt cannot use %s" % field)


def _check_measured(event):
    def of_packets(tree):
        return tree[0] in ("agg", "var") or is_rate(tree) or any(map(of_packets, children(tree)))

    if event.filter != ("any",) or event.granularity is not None or of_packets(event.predicate):
        raise EventError("measured values are about no packets")
    if event.interval_ms < LEAST_MEASURED_MS:
        raise EventError("measured values take longer intervals")


def _check_names(tree, inside, flow_buckets):
    if tree[0] == "agg":
        if inside:
            raise EventError("aggregates do not nest")
        _check_names(tree[2], True, flow_buckets)
        return
    if tree[0] == "var":
        name = tree[1]
        if inside and name not in PACKET_VARIABLES:
            raise EventError("%r is not a packet variable" % name)
        if not inside and name not in FLOW_VARIABLES:
            raise EventError("%r needs an aggregate" % name)
        if not inside and not flow_buckets:
            raise EventError("%r needs granularity 5-tuple" % name)
    for child in children(tree):
        _check_names(child, inside, flow_buckets)


def is_rate(tree):
    return tree[0] == "num" and tree[2] in ("bps", "pps")


def _check_rates(tree, is_side):
    if is_rate(tree) and not is_side:
        raise EventError("a rate stands only as a whole side of a comparison")
    if tree[0] == "cmp" and is_rate(tree[2]) and is_rate(tree[3]):
        raise EventError("both sides are rates")
    for child in children(tree):
        _check_rates(child, tree[0] == "cmp")
