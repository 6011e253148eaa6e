# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""One small case with a typed answer for each mistake that implementations are known to make, or ours made.

Packets are TCP from 10.0.0.1, one for each (milliseconds, ipv4.id); the answer says `nonzero` cells (or
the value) of variables, and ipv4.id of what was collected.
"""
import struct

from mafia_stories import START, Story
import mafia_syntax


class Case:
    def __init__(self, mutant, text, packets, state, collected=(), is_ctrl=0):
        self.mutant, self.text, self.state, self.collected = mutant, text, state, list(collected)
        meta = {"path": 0, "qlen1": 0, "qlen2": 0, "qlen3": 0, "in_port": 1, "is_ctrl": is_ctrl}
        self.story = Story(mafia_syntax.parse(text),
                           [(START + ms * 10**6, frame(ident), 64, meta) for ms, ident in packets])

    def difference(self, got):
        """What is wrong with the output of a run, or None."""
        for name, wanted in self.state.items():
            found = got["switches"][0][name]
            found = found.get("value", found.get("nonzero"))
            if found != wanted:
                return "%s is %s, not %s" % (name, found, wanted)
        idents = [each["pkt"]["ipv4.id"] for each in got["collected"]["first"]]
        if idents != self.collected:
            return "collected %s, not %s" % (idents, self.collected)
        return None


def frame(ident):
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 50, ident, 0x4000, 64, 6, 0, 0x0A000001, 0x0A000002)
    return bytes(12) + b"\x08\x00" + ip + struct.pack(">HHIIBBHHH", 1000, 80, 0, 0, 0x50, 16, 0, 0, 0)


ID = "k = Key(ipv4.id) "
CASES = [
    # The second branch sees `a` as it was at the fork.
    Case("sequential-parallel", "a = Counter() b = Counter() pkts >> (a.set(a + 1) ++ b.set(a))",
         [(0, 1), (1, 2), (2, 3)], {"a": 3, "b": 2}),
    # Ids 11 and 3 share a register and have 5 and 0 leading zeros, so it keeps the rank of the first.
    Case("hyperloglog-without-max", ID + 's = Sketch(alg="hyperloglog", key=k, nhash=1, size=2) pkts >> s.update()',
         [(0, 11), (1, 3)], {"s": {"0": 6}}),
    Case("zeros-without-one", ID + 's = Sketch(alg="hyperloglog", key=k, nhash=1, size=2) pkts >> s.update()',
         [(0, 3)], {"s": {"0": 1}}),
    # Two keys that share their cell of row 0 and no other: CRCs that differ in their start would share all.
    Case("crc-rows", ID + 's = Sketch(alg="count-min", key=k, nhash=4, size=64) pkts >> s.add(1)', [(0, 4), (1, 14)],
         {"s": {"1": 2, "65": 1, "86": 1, "152": 1, "191": 1, "209": 1, "226": 1}}),
    Case("reset-clears-all", ID + "m = HashMap(key=k, size=1024, type=Counter()) "
         "pkts >> m.add(1) >> match(ipv4.id == 7) >> m.reset()", [(0, 1), (1, 7)], {"m": {"704": 1}}),
    # 300 ms from the first packet on, not at whole multiples of 300 ms, of which one is between the two.
    Case("window-from-the-wall", "c = Counter() window(300ms) pkts >> c.add(1)", [(250, 1), (400, 2)], {"c": 2}),
    Case("duplicate-shares-headers", "endpoint E pkts >> duplicate(copies) >> tag(ipv4.id, 9) copies >> collect(E)",
         [(0, 5)], {}, [5]),
    Case("integer-ratio", "a = Counter() hit = Counter() pkts >> a.add(3) >> match(a / 4 > 0.5) >> hit.add(1)",
         [(0, 1)], {"hit": 1}),
    # 258 cells take five packets to clear; the sixth is measured again.
    Case("quantum-off-by-one", ID + "m = HashMap(key=k, size=257, type=Counter()) n = Counter() window(5ms) "
         "pkts >> n.add(1)", [(0, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 1), (9, 1)], {"n": 1}),
    # The slot of 5, not of 1.
    Case("key-before-tags", ID + "m = HashMap(key=k, size=1024, type=Counter()) pkts >> tag(ipv4.id, 5) >> m.add(1)",
         [(0, 1)], {"m": {"561": 1}}),
    # Ours: keys of programs that read no packets were never hashed.
    Case("ctrl-without-pkts", ID + "m = HashMap(key=k, size=1024, type=Counter()) ctrl >> m.add(1)", [(0, 5), (1, 1)],
         {"m": {"561": 1, "704": 1}}, is_ctrl=1),
    # Ours: of two packets at once, copies of a later branch had the tag of the one before it.
    Case("copy-sees-other-branch", "endpoint E pkts >> (tag(ipv4.id, 9) ++ duplicate(copies)) copies >> collect(E)",
         [(0, 5), (0, 6)], {}, [5, 6]),
]
