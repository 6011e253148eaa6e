# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random measurement programs and random packets for them, one story for each seed."""
import os
import random
import struct
from fractions import Fraction

import mafia_packets
import mafia_text
import mafia_twin

START = 1700000000 * 10**9
FORWARDED = ("ipv4.tos", "ipv4.id", "ipv4.checksum", "segway_header.msg", "segway_header.ts", "segway_header.time",
             "pkt.request", "pkt.hh_volume")
WIDTHS = (1, 3, 7, 8, 12, 16, 24, 31, 32, 33, 48, 63, 64)
NUMBERS = (0, 1, 2, 3, 5, 8, 16, 63, 64, 100, 255, 256, 1500, 65535, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
DECIMALS = ("0.5", "0.05", "1.0", "1.5", "0.333333", "2.25", "100.125", "0.0")
MOST_COPIES = 30  # as Maker counts them
LIMIT_OF_COPIES = 64  # of the language
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Story:
    """A program and what crosses it; `frames` has (time, bytes, original length, line of meta)."""

    def __init__(self, items, frames):
        self.items, self.frames = items, frames

    def text(self):
        return mafia_text.text_of(self.items)

    def write(self, directory):
        program, capture, meta = (os.path.join(directory, name) for name in ("story.mafia", "trace.pcap", "meta.csv"))
        with open(program, "w", encoding="utf-8") as f:
            f.write(self.text())
        mafia_packets.write_capture(capture, [frame[:3] for frame in self.frames])
        mafia_packets.write_meta(meta, [frame[3] for frame in self.frames])
        return program, capture, meta

    def expected(self, mutant=None):
        packets = [mafia_packets.Packet(*frame) for frame in self.frames]
        return mafia_twin.run(self.text(), "story.mafia", packets, mutant)


def make_story(seed):
    rng = random.Random(seed)
    items = Maker(rng).program()
    # Roles of a program may share the names of streams; the limit is for all of them together.
    while copies_of_a_packet(items) > LIMIT_OF_COPIES:
        items = Maker(rng).program()
    return Story(items, make_frames(rng))


def make_packet_story(seed, packets):
    """The program of the seed, and packets of others: (time, bytes, original length) in the order of time."""
    rng = random.Random(seed)
    return Story(make_story(seed).items, [(*packet, make_meta(rng)) for packet in packets])


def copies_of_a_packet(items):
    """How many copies one packet on pkts could make, if a switch had every role."""
    edges = {}

    def collect(head, step):
        if step[0] in ("seq", "par"):
            for each in step[1]:
                collect(head, each)
        elif step[0] == "duplicate":
            edges.setdefault(head, []).append(step[1])

    for item in items:
        for task in item[2] if item[0] == "role" else [item]:
            if task[0] == "task":
                collect(task[1], task[3])

    def copies(stream):
        return sum(1 + copies(target) for target in edges.get(stream, ()))

    return copies("pkts")


# --- packets
def make_frames(rng):
    flows = [(rng.randrange(2**32), rng.randrange(2**32), rng.randrange(2**16), rng.choice((53, 80, 30000)),
              rng.choice((6, 6, 17, 17, 1))) for _ in range(rng.randint(1, 5))]
    time, frames = START + rng.randrange(10**9), []
    for _ in range(rng.choice((1, 5, 20, 40))):
        time += rng.choice((0, 1, 1000, 10**5, 10**6, rng.randrange(10**7)))
        data = make_frame(rng, *rng.choice(flows))
        frames.append((time, data, len(data) + rng.choice((0, 0, 10, 1000)), make_meta(rng)))
    return frames


def make_meta(rng):
    meta = {"path": rng.randrange(2), "in_port": rng.choice((1, 2)), "is_ctrl": int(rng.random() < 0.2)}
    meta.update({"qlen%d" % hop: rng.choice((0, 1, 39, 65535, rng.randrange(65536))) for hop in (1, 2, 3)})
    return meta


def make_frame(rng, source, destination, sport, dport, protocol):
    payload = rng.randbytes(rng.choice((0, 4, 9, 10, 30)))
    if protocol == 6:
        options = rng.choice((0, 0, 1, 3))
        l4 = struct.pack(">HHIIBBHHH", sport, dport, 0, 0, (5 + options) << 4, rng.randrange(64), 0, 0, 0)
        l4 += bytes(4 * options)
    elif protocol == 17:
        l4 = struct.pack(">HHHH", sport, dport, 8 + len(payload), 0)
    else:
        l4 = rng.randbytes(8)
    words = rng.choice((5, 5, 5, 6, 15))
    fragment = rng.choice((0x4000, 0x4000, 0x4000, 0x4000, 0x2000, 3))
    ip = struct.pack(">BBHHHBBHII", 0x40 | words, rng.choice((0, 0, 1, 0xFF)), 4 * words + len(l4) + len(payload),
                     rng.randrange(65536), fragment, 64, protocol, rng.randrange(65536), source, destination)
    ip += bytes(4 * words - 20)
    vlan = rng.choice((b"",) * 6 + (struct.pack(">HH", 0x8100, 7), struct.pack(">HHHH", 0x88A8, 7, 0x8100, 9)))
    if rng.random() < 0.03:
        return rng.randbytes(12) + b"\x08\x06" + rng.randbytes(28)
    data = rng.randbytes(12) + vlan + b"\x08\x00" + ip + l4 + payload
    return data[:rng.randint(14, len(data))] if rng.random() < 0.05 else data


# --- programs
class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.numbers, self.decimals, self.keys, self.variables = [], [], [], {}
        self.declared_fields = []
        self.copies, self.made_names = 0, 0

    def name(self, prefix):
        self.made_names += 1
        return "%s%d" % (prefix, self.made_names)

    def program(self):
        rng = self.rng
        items = [("endpoint", ["E1", "E2"])]
        for word in rng.sample(("const", "param", "param"), rng.randint(0, 3)):
            if rng.random() < 0.4:
                self.decimals.append(self.name("ratio"))
                items.append((word, self.decimals[-1], ("decimal", Fraction(rng.choice(DECIMALS)))))
            else:
                self.numbers.append(self.name("number"))
                items.append((word, self.numbers[-1], ("int", rng.choice(NUMBERS))))
        if rng.random() < 0.2:
            items.append(self.header())
        if rng.random() < 0.3:
            return items + self.with_roles()
        return items + self.scope(self.streams(), rng.random() < 0.3)

    def header(self):
        rng, name = self.rng, self.name("header")
        fields = [("part%d" % place, rng.choice((8, 16, 24, 32, 48, 64))) for place in range(rng.randint(1, 3))]
        self.declared_fields += [("%s.%s" % (name, part), bits) for part, bits in fields]
        # Not where segway_header is, whose bytes it would share.
        port = ("field", rng.choice(("udp.dst", "tcp.dst")))
        return ("header", name, ("binary", "==", port, ("int", rng.choice((53, 80)))), rng.choice((0, 1, 4)),
                fields)

    def with_roles(self):
        rng, items = self.rng, []
        if rng.random() < 0.3:
            items += self.scope(["pkts"], False)
        shared, made_names = (dict(self.variables), list(self.keys)), self.made_names
        for role in rng.sample(("first_hop", "intermediate", "last_hop", "every"), rng.randint(1, 4)):
            self.variables, self.keys = dict(shared[0]), list(shared[1])
            # Names may come again, for no switch has two of these roles; every is beside all of them, and
            # those behind it see what it declares.
            self.made_names = made_names + 1000 * (role == "every")
            items.append(("role", role, self.scope(["pkts"] + [self.name("stream") for _ in range(rng.randrange(3))],
                                                   False)))
            if role == "every":
                shared = dict(self.variables), list(self.keys)
        return items

    def streams(self):
        first = "ctrl" if self.rng.random() < 0.1 else "pkts"
        return [first] + [self.name("stream") for _ in range(self.rng.choice((0, 1, 2, 3)))]

    def scope(self, streams, has_ctrl):
        """Declarations, perhaps a window, and tasks that feed `streams`, each from earlier ones."""
        rng, items, own = self.rng, [], []
        for _ in range(rng.randint(0 if self.keys else 1, 2)):
            self.keys.append(self.name("key"))
            items.append(("key", self.keys[-1], self.key_fields()))
        for _ in range(rng.randint(1, 5)):
            item = self.declaration()
            own.append(item[1])
            items.append(item)
        scope_window = rng.random() < 0.2
        if scope_window:
            items.append(self.window())
        if len(streams) > 1 and not has_ctrl and rng.random() < 0.2:
            return items + self.copying_tasks(streams)
        return items + self.tasks(streams, has_ctrl, [] if scope_window else own)

    def key_fields(self):
        rng = self.rng
        pool = ["ipv4.src", "ipv4.dst", "tcp.src", "udp.dst", "ipv4.proto", "pkt.input_port", "switch.id",
                "ipv4.tos", "ipv4.id", "segway_header.time", "eth.src", "pkt.request", "ipv4.checksum"]
        pool += [name for name, _ in self.declared_fields]
        return rng.sample(pool, rng.choice((1, 1, 2, 3, 5)))

    def declaration(self):
        rng, name = self.rng, self.name("state")
        given, kind = {}, rng.choice(("Counter", "Timestamp", "HashMap", "HashMap", "Sketch", "Sketch", "Sketch",
                                      "BloomFilter", "BloomFilter"))
        if kind == "Counter" and rng.random() < 0.7:
            given["width"] = ("int", rng.choice(WIDTHS))
        alg = kind
        if kind == "HashMap":
            alg = rng.choice(("Counter", "Counter", "Timestamp"))
            inner = {"width": ("int", rng.choice(WIDTHS))} if alg == "Counter" and rng.random() < 0.7 else {}
            given = {"key": rng.choice(self.keys), "size": ("int", rng.choice((1, 2, 3, 8, 64))), "type": (alg, inner)}
            if rng.random() < 0.2:
                given["collide"] = "evict"
        elif kind in ("Sketch", "BloomFilter"):
            alg = rng.choice(("count-min", "store", "pcsa", "hyperloglog") if kind == "Sketch"
                             else ("membership", "counting"))
            given = {"alg": alg, "key": rng.choice(self.keys),
                     "nhash": ("int", 1 if alg in ("pcsa", "hyperloglog") else rng.randint(1, 4)),
                     "size": ("int", rng.choice((2, 4, 16, 64) if alg in ("pcsa", "hyperloglog")
                                                else (1, 2, 3, 8, 16, 64)))}
            if alg not in ("membership", "hyperloglog") and rng.random() < 0.6:
                given["width"] = ("int", rng.randint(8, 32) if alg == "pcsa" else rng.choice(WIDTHS))
        self.variables[name] = (kind, alg, given["size"][1] if "size" in given else 1)
        return ("var", name, kind, given)

    def window(self):
        rng = self.rng
        mode = rng.choice(("reset", "reset", "flip"))
        quantum = ("int", rng.choice((1, 2, 3, 7))) if mode == "reset" and rng.random() < 0.7 else None
        return ("window", ("int", rng.choice((1, 1000, 10**6, 5 * 10**6, 10**8))), quantum, mode)

    def tasks(self, streams, has_ctrl, windowless):
        rng = self.rng
        # How many copies of one packet reach a stream at most.
        reach = dict.fromkeys(streams, 0)
        reach["pkts"] = reach["ctrl"] = 1
        items, free = [], list(windowless)
        for place, stream in enumerate(streams):
            heads = [stream] * rng.randint(1, 3 if place == 0 else 2) + ["ctrl"] * (has_ctrl and place == 0)
            later = streams[place + 1:]
            for head in heads:
                step = self.pipeline(head, 3, [each for each in later if rng.random() < 0.7], reach)
                if place and rng.random() < 0.5:
                    step = ("seq", [step, ("collect", rng.choice(("E1", "E2")))])
                # All that is fed must be fed by something.
                if head == heads[0] and later and not reach[later[0]]:
                    reach[later[0]] += reach[head]
                    self.copies += reach[head]
                    step = ("seq", [step, ("duplicate", later[0])])
                items.append(("task", head, self.task_window(step, free), step))
        return items

    def copying_tasks(self, streams):
        """Little but copies, which wait for the end of a burst then."""
        rng = self.rng
        first = [("match", self.condition(1))] * rng.randint(0, 1)
        items = [("task", "pkts", None, sequence(first + [("duplicate", each) for each in streams[1:]]))]
        for stream in streams[1:]:
            tags = [("tag", rng.choice(FORWARDED), ("field", rng.choice(list(mafia_packets.WIDTHS))))
                    for _ in range(rng.randint(0, 2))]
            collect = ("collect", rng.choice(("E1", "E2")))
            branches = [collect, rng.choice((self.update(), ("collect", "E1"), ("match", self.condition(1))))]
            rng.shuffle(branches)
            steps = [sequence(tags + [rng.choice((collect, ("par", branches)))])]
            steps += [self.update()] * rng.randint(0, 1)
            items += [("task", stream, None, step) for step in steps]
        return items

    def task_window(self, step, free):
        """Perhaps a window, if no other covers what the task writes."""
        written = written_names(step)
        if not written or not written <= set(free) or self.rng.random() < 0.7:
            for name in written & set(free):
                free.remove(name)
            return None
        for name in written:
            free.remove(name)
        return self.window()

    def pipeline(self, stream, depth, feeds, reach):
        rng = self.rng
        if depth and rng.random() < 0.7:
            kind = rng.choice(("seq", "seq", "par"))
            steps = [self.pipeline(stream, depth - 1, feeds, reach) for _ in range(rng.randint(2, 3))]
            if kind == "par" and rng.random() < 0.4:
                steps[:2] = self.guarded(stream, steps[:2])
            return (kind, steps)
        return self.primitive(stream, feeds, reach)

    def guarded(self, stream, steps):
        """Two branches of which a packet takes one, as far as their guards tell."""
        operator = self.rng.choice(COMPARISONS)
        # Of what is no constant, for nobody guards by one.
        left = ("binary", "+", ("field", self.rng.choice(list(mafia_packets.WIDTHS))), self.expr(1))
        right = self.expr(1)
        if self.rng.random() < 0.3:
            left, right = ("binary", "/", left, self.expr(1)), ("decimal", Fraction(self.rng.choice(DECIMALS)))
        guards = ("binary", operator, left, right), ("binary", OPPOSITE[operator], left, right)
        if self.rng.random() < 0.3:
            guards = guards[0], ("unary", "!", guards[0])
        elif self.rng.random() < 0.3:
            guards = tuple(("unary", "!", guard) for guard in guards)
        return [("seq", [("match", guard), step]) for guard, step in zip(guards, steps)]

    def primitive(self, stream, feeds, reach):
        rng = self.rng
        choices = ["match", "tag", "update", "update", "update", "update", "timestamp", "duplicate", "collect"]
        kind = rng.choice(choices)
        if kind == "match":
            return ("match", self.condition(2))
        if kind == "tag":
            fields = list(FORWARDED) + [name for name, _ in self.declared_fields]
            if stream not in ("pkts", "ctrl"):
                fields += ["ipv4.src", "ipv4.ttl", "tcp.src", "eth.dst"]
            field = rng.choice(fields)
            # A serialised filter must fit the field that carries it.
            filters = [name for name, (_, alg, size) in self.variables.items()
                       if alg == "membership" and size <= self.field_width(field)]
            if filters and rng.random() < 0.4:
                return ("tag", field, self.serialised(rng.choice(filters)))
            return ("tag", field, self.expr(2, in_tag=True))
        if kind == "timestamp":
            stamps = [name for name, (_, alg, _) in self.variables.items() if alg == "Timestamp"]
            if stamps:
                return ("timestamp", rng.choice(stamps))
        if kind == "duplicate" and feeds:
            target = rng.choice(feeds)
            if self.copies + reach[stream] <= MOST_COPIES:
                self.copies += reach[stream]
                reach[target] += reach[stream]
                return ("duplicate", target)
        if kind == "collect" and stream not in ("pkts", "ctrl") and rng.random() < 0.5:
            return ("collect", rng.choice(("E1", "E2")))
        return self.update()

    def update(self):
        rng = self.rng
        name = rng.choice(list(self.variables))
        alg = self.variables[name][1]
        operation = rng.choice({
            "Counter": ("set", "set", "add", "reset"), "Timestamp": ("reset",),
            "membership": ("insert", "insert", "set", "init", "reset"), "counting": ("set", "add", "init", "reset"),
            "count-min": ("set", "set", "add", "reset"), "store": ("set", "set", "reset"),
            "pcsa": ("update", "update", "reset"), "hyperloglog": ("update", "update", "reset")}[alg])
        argument = None
        if operation in ("add", "init") or operation == "set" and alg != "membership":
            argument = self.expr(2, own=None if alg == "membership" else name)
        return ("update", name, operation, argument)

    def field_width(self, field):
        return dict(self.declared_fields).get(field) or mafia_packets.WIDTHS[field]

    # --- expressions
    def serialised(self, name):
        return self.rng.choice((("name", name), ("call", name, "read", None)))

    def condition(self, depth):
        rng = self.rng
        roll = rng.random()
        if depth and roll < 0.2:
            return ("binary", rng.choice(("&&", "||")), self.condition(depth - 1), self.condition(depth - 1))
        if roll < 0.3:
            return ("unary", "!", self.expr(1))
        if roll < 0.5:
            ratio = ("binary", "/", self.expr(1), self.expr(1))
            if rng.random() < 0.6:  # one that is near the bound
                small = ("binary", "%", self.expr(1), ("int", rng.randint(2, 20)))
                ratio = ("binary", "/", small, ("int", rng.randint(1, 8)))
            bound = ("name", rng.choice(self.decimals)) if self.decimals and rng.random() < 0.5 else \
                ("decimal", Fraction(rng.choice(DECIMALS)))
            sides = (ratio, bound) if rng.random() < 0.8 else (bound, ratio)
            return ("binary", rng.choice(COMPARISONS)) + sides
        return ("binary", rng.choice(COMPARISONS), self.expr(1), self.expr(1))

    def expr(self, depth, own=None, in_tag=False):
        rng = self.rng
        if depth and rng.random() < 0.6:
            a = self.expr(depth - 1, own, in_tag)
            if rng.random() < 0.15:
                return ("unary", rng.choice("!-~"), a)
            b = self.expr(depth - 1, own, in_tag)
            roll = rng.random()
            if roll < 0.15:
                return (rng.choice(("min", "max")), a, b)
            if roll < 0.25:
                return ("random", a, b)
            return ("binary", rng.choice(("+", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>") + COMPARISONS),
                    a, b)
        return self.atom(own, in_tag)

    def atom(self, own, in_tag):
        rng = self.rng
        roll = rng.random()
        if roll < 0.2:
            return ("int", rng.choice(NUMBERS))
        if roll < 0.3 and self.numbers:
            return ("name", rng.choice(self.numbers))
        if roll < 0.5:
            return ("field", rng.choice(list(mafia_packets.WIDTHS) + [name for name, _ in self.declared_fields] * 3))
        if own and roll < 0.75:
            return ("name", own)
        name = rng.choice(list(self.variables))
        kind, alg, _ = self.variables[name]
        if kind in ("Counter", "Timestamp", "HashMap"):
            return ("name", name)
        if alg == "membership":
            return self.serialised(name) if not in_tag and rng.random() < 0.5 else ("call", name, "test", None)
        if alg in ("pcsa", "hyperloglog"):
            return ("call", name, "test", None)
        methods = ("sum", "avg", "min", "max") + (() if alg == "count-min" else ("any", "all"))
        method = rng.choice(methods)
        has_argument = method in ("any", "all") and rng.random() < 0.7
        return ("call", name, method, self.atom(own, in_tag) if has_argument else None)


def sequence(steps):
    """The steps one after the other, as the parser has them: one alone is no sequence."""
    return steps[0] if len(steps) == 1 else ("seq", steps)


def written_names(step):
    if step[0] in ("seq", "par"):
        return set().union(*(written_names(each) for each in step[1]))
    return {step[1]} if step[0] in ("update", "timestamp") else set()
