# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A slow, obvious interpreter of measurement programs, straight from the rules of the language.

At each `++` every branch gets a copy of the whole state and of the headers, and keeps a list of what
it wrote; the lists are applied in textual order.  `mutant` plants one of MUTANTS.
"""
import hashlib
import zlib

import mafia_packets
import mafia_program
import mafia_syntax
import reference_hash
from mafia_program import MASK64

MUTANTS = ("sequential-parallel", "hyperloglog-without-max", "zeros-without-one", "crc-rows", "reset-clears-all",
           "window-from-the-wall", "duplicate-shares-headers", "integer-ratio", "quantum-off-by-one",
           "key-before-tags", "ctrl-without-pkts", "copy-sees-other-branch")


class View:
    """State and headers as a branch sees them, and what it wrote: (name, cell or None, is_delta, value, key)."""

    def __init__(self, cells, owners, headers):
        self.cells, self.owners, self.headers, self.log = cells, owners, headers, []

    def forked(self):
        return View({name: list(cells) for name, cells in self.cells.items()},
                    {name: list(keys) for name, keys in self.owners.items()}, dict(self.headers))

    def write(self, layout, entry):
        name, cell, is_delta, value, key = entry
        self.log.append(entry)
        if cell is None:
            self.headers[name] = value
            return
        if name in self.owners and self.owners[name][cell] != key:
            self.owners[name][cell], self.cells[name][cell] = key, 0
        if is_delta:
            value += self.cells[name][cell]
        self.cells[name][cell] = value % 2**layout.variables[name].width


class Switch:
    def __init__(self, items, number, roles, mutant=None):
        self.number, self.mutant = number, mutant
        self.layout = mafia_program.Layout(items, roles)
        variables = self.layout.variables
        self.cells = {name: [0] * variable.cells for name, variable in variables.items()}
        # Whose a cell of an evicting map is.
        self.owners = {name: [None] * variable.cells for name, variable in variables.items() if variable.evicts}
        self.random = reference_hash.Xorshift()
        streams = {task.stream for task in self.layout.tasks}
        self.has_ctrl, self.has_pkts = "ctrl" in streams, "pkts" in streams
        self.collected = []
        # Of the packet in hand: its time, copies that wait, whether it is gone, its headers at arrival.
        self.now, self.queue, self.ended, self.arrival = 0, [], False, {}

    def packet(self, now, stream, headers):
        """Runs all that this packet causes; its headers may be changed."""
        self.now, self.queue = now, [(stream, headers)]
        skipped = [window.scope for window in self.layout.windows if self.resets(window)]
        while self.queue:
            stream, headers = self.queue.pop(0)
            self.arrival, self.ended = dict(headers), False
            for task in self.layout.tasks:
                if task.stream != stream or self.ended or "" in skipped or task.scope in skipped:
                    continue
                if not task.window or not self.resets(task.window):
                    self.run(task.step, View(self.cells, self.owners, headers))

    def declared_headers(self, packet):
        """Fields of the headers that the program declares, where the packet has them."""
        found = {}
        for name, guard, offset, parts in self.layout.headers:
            size = sum(bits for _, bits in parts) // 8
            if packet.payload is None or len(packet.payload) < offset + size:
                continue
            if not self.value(guard, View({}, {}, packet.fields)):
                continue
            for part, bits in parts:
                found["%s.%s" % (name, part)] = int.from_bytes(packet.payload[offset:offset + bits // 8], "big")
                offset += bits // 8
        return found

    # --- windows
    def resets(self, window):
        """Whether the window clears at this packet, which its tasks then do not see."""
        if window.start is None:
            window.start = self.now - self.now % window.duration if self.mutant == "window-from-the-wall" else self.now
        if window.cleared is None:
            if self.now - window.start < window.duration:
                return False
            window.cleared = 0
        places = [(name, cell) for name in window.variables for cell in range(self.layout.variables[name].cells)]
        if window.mode == "flip":
            self.clear(places)
            window.start, window.cleared = self.now, None
            return False
        quantum = window.quantum + (self.mutant == "quantum-off-by-one")
        self.clear(places[window.cleared:window.cleared + quantum])
        window.cleared += quantum
        if window.cleared >= len(places):
            window.start, window.cleared = self.now, None
        return True

    def clear(self, places):
        for name, cell in places:
            self.cells[name][cell] = 0

    # --- steps: each says whether it yields the packet
    def run(self, step, view):
        return getattr(self, "run_" + step[0])(view, *step[1:])

    def run_seq(self, view, steps):
        return all(self.run(each, view) for each in steps)

    def run_par(self, view, branches):
        if self.mutant == "sequential-parallel":
            return any([self.run(each, view) for each in branches])
        forks = [view.forked() for _ in branches]
        if self.mutant == "copy-sees-other-branch":
            for fork in forks:
                fork.headers = forks[0].headers
        yields = any([self.run(each, fork) for each, fork in zip(branches, forks)])
        for fork in forks:
            for entry in fork.log:
                view.write(self.layout, entry)
        return yields

    def run_match(self, view, condition):
        return self.value(condition, view) != 0

    def run_tag(self, view, field, expr):
        value = self.value(expr, view)
        if field in view.headers or field in mafia_packets.MADE_BY_TAG:
            view.write(self.layout, (field, None, False, value % 2**self.layout.width(field), None))
        return True

    def run_timestamp(self, view, name):
        self.store(view, name, self.selected(name, view)[0], self.now)
        return True

    def run_duplicate(self, view, stream):
        shared = self.mutant == "duplicate-shares-headers"
        self.queue.append((stream, view.headers if shared else dict(view.headers)))
        return True

    def run_collect(self, view, endpoint):
        fields = {name: value for name, value in view.headers.items() if name != "switch.id"}
        self.collected.append((self.number, self.now, endpoint, fields))
        self.ended = True
        return False

    def run_update(self, view, name, operation, argument):
        variable = self.layout.variables[name]
        if operation == "init" and variable.serialises:
            bits = self.value(argument, view)
            for cell in range(variable.cells):
                self.store(view, name, cell, bits >> cell & 1)
        elif operation == "reset" and self.mutant == "reset-clears-all":
            for cell in range(variable.cells):
                self.store(view, name, cell, 0)
        elif operation == "update":
            cell, value = self.updated(name, view)
            self.store(view, name, cell, value)
        else:
            for cell in self.selected(name, view):
                if operation == "add":
                    self.store(view, name, cell, self.value(argument, view, (name, cell)), is_delta=True)
                elif operation == "reset":
                    self.store(view, name, cell, 0)
                elif variable.serialises:
                    self.store(view, name, cell, 1)
                else:
                    self.store(view, name, cell, self.value(argument, view, (name, cell)))
        return True

    def store(self, view, name, cell, value, is_delta=False):
        key = self.key(self.layout.variables[name], view) if name in self.owners else None
        view.write(self.layout, (name, cell, is_delta, value, key))

    def load(self, view, name, cell):
        if name in self.owners and view.owners[name][cell] != self.key(self.layout.variables[name], view):
            return 0
        return view.cells[name][cell]

    # --- keys and cells
    def key(self, variable, view):
        headers = self.arrival if self.mutant == "key-before-tags" else view.headers
        return b"".join(self.field(headers, field).to_bytes((self.layout.width(field) + 7) // 8, "big")
                        for field in self.layout.keys[variable.key])

    def hashed(self, variable, view, seed):
        key = self.key(variable, view)
        if self.mutant == "ctrl-without-pkts" and not self.has_pkts:
            return 0
        if self.mutant == "crc-rows" and seed:
            return zlib.crc32(key, seed)
        return reference_hash.murmur3(key, seed)

    def field(self, headers, name):
        return self.number if name == "switch.id" else headers.get(name, 0)

    def selected(self, name, view):
        """The cells of the current packet's key, in row order."""
        variable = self.layout.variables[name]
        if variable.kind == "scalar":
            return [0]
        if variable.kind == "map":
            return [self.hashed(variable, view, 0) % variable.size]
        if variable.kind == "bf":
            return [self.hashed(variable, view, i + 1) % variable.size for i in range(variable.rows)]
        if variable.kind == "cm":
            return [i * variable.size + self.hashed(variable, view, i + 1) % variable.size
                    for i in range(variable.rows)]
        return [reference_hash.bucket_and_zeros(self.hashed(variable, view, 1), variable.size)[0]]

    def updated(self, name, view):
        """The cell that update() of a cardinality sketch writes, and its new value."""
        variable = self.layout.variables[name]
        cell, zeros = reference_hash.bucket_and_zeros(self.hashed(variable, view, 1), variable.size)
        old = view.cells[name][cell]
        if variable.kind == "pcsa":
            return cell, old | 1 << min(zeros, variable.width - 1)
        rank = zeros + (self.mutant != "zeros-without-one")
        return cell, rank if self.mutant == "hyperloglog-without-max" else max(old, rank)

    # --- expressions; `own` is the cell that its statement is writing
    def value(self, expr, view, own=None):
        kind = expr[0]
        if kind == "int":
            return expr[1] & MASK64
        if kind == "field":
            return self.field(view.headers, expr[1])
        if kind == "name":
            return self.named(expr[1], view, own)
        if kind == "call":
            return self.called(expr[1], expr[2], expr[3], view, own)
        if kind == "unary":
            return mafia_program.unary(expr[1], self.value(expr[2], view, own))
        if kind == "binary":
            return self.binary(expr, view, own)
        a, b = self.value(expr[1], view, own), self.value(expr[2], view, own)
        return self.random.draw(a, b) & MASK64 if kind == "random" else {"min": min, "max": max}[kind](a, b)

    def binary(self, expr, view, own):
        _, operator, left, right = expr
        if operator == "&&":
            return int(self.value(left, view, own) != 0 and self.value(right, view, own) != 0)
        if operator == "||":
            return int(self.value(left, view, own) != 0 or self.value(right, view, own) != 0)
        if operator in mafia_program.OPPOSITE:
            for ratio, bound, turned in ((left, self.layout.decimal(right), False),
                                         (right, self.layout.decimal(left), True)):
                if bound is not None:
                    return self.compared(operator, ratio, bound, turned, view, own)
        return mafia_program.binary(operator, self.value(left, view, own), self.value(right, view, own))

    def compared(self, operator, ratio, bound, turned, view, own):
        """a/b against a decimal, exactly."""
        if ratio[:2] != ("binary", "/"):
            raise mafia_program.ProgramFault("a decimal is compared with no ratio")
        a, b = self.value(ratio[2], view, own), self.value(ratio[3], view, own)
        if b == 0:
            return 0
        scale = 1 if self.mutant == "integer-ratio" else b
        exact = a // b if self.mutant == "integer-ratio" else a
        sides = (exact * bound.denominator, bound.numerator * scale)
        a, b = reversed(sides) if turned else sides
        return int({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator])

    def named(self, name, view, own):
        if own and own[0] == name:
            return self.load(view, name, own[1])
        if name in self.layout.values:
            return self.layout.values[name]
        variable = self.layout.variables[name]
        if variable.serialises:
            return sum(bit << place for place, bit in enumerate(view.cells[name])) & MASK64
        if not variable.single:
            raise mafia_program.ProgramFault("%s has many cells" % name)
        return self.load(view, name, self.selected(name, view)[0])

    def called(self, name, method, argument, view, own):
        variable = self.layout.variables[name]
        if method not in mafia_program.OPERATIONS[variable.alg]:
            raise mafia_program.ProgramFault("%s.%s" % (name, method))
        if method == "read":
            return self.named(name, view, None)
        if method == "test" and variable.alg in ("pcsa", "hyperloglog"):
            cell, value = self.updated(name, view)
            return int(view.cells[name][cell] == value % 2**variable.width)
        cells = [view.cells[name][cell] for cell in self.selected(name, view)]
        if method in ("any", "all", "test"):
            wanted = None if argument is None else self.value(argument, view, own)
            fits = [cell != 0 if wanted is None else cell == wanted for cell in cells]
            return int(any(fits) if method == "any" else all(fits))
        total = sum(cells)
        return {"sum": total & MASK64, "avg": (total & MASK64) // len(cells), "min": min(cells),
                "max": max(cells)}[method]

    # --- what is printed
    def state(self):
        return {name: self.printed(variable, self.cells[name]) for name, variable in self.layout.variables.items()}

    @staticmethod
    def printed(variable, cells):
        if variable.kind == "scalar":
            return {"kind": "scalar", "value": cells[0]}
        made = {"kind": variable.kind, "cells": len(cells),
                "nonzero": {str(place): value for place, value in enumerate(cells) if value}}
        if variable.kind == "hll":
            made["estimate"] = reference_hash.hyperloglog_estimate(cells)
        if variable.kind == "pcsa":
            made["estimate"] = reference_hash.pcsa_estimate(cells)
        return made


def run(text, name, packets, mutant=None):
    """What a run of the program over the packets has to print, as one object."""
    items = mafia_syntax.parse(text)
    if mafia_program.has_roles(items):
        switches = [Switch(items, hop, ("every", role), mutant) for hop, role in mafia_program.ROLES.items()]
    else:
        switches = [Switch(items, 1, (), mutant)]
    forwarded = hashlib.sha256()
    for packet in packets:
        forwarded.update(mafia_packets.record(cross(switches, packet)).encode())
    collected = [each for switch in switches for each in switch.collected]
    by_endpoint = {}
    for _, _, endpoint, _ in collected:
        by_endpoint[endpoint] = by_endpoint.get(endpoint, 0) + 1
    lines = "\n".join("%d|%d|%s|%s" % (number, time, endpoint, mafia_packets.record(fields))
                      for number, time, endpoint, fields in collected)
    return {
        "usecase": name,
        "diagnostics": [[list(each) for each in switch.layout.diagnostics()] for switch in switches],
        "switches": [switch.state() for switch in switches],
        "forwarded_sha256": forwarded.hexdigest(),
        "collected": {
            "count": len(collected), "by_endpoint": by_endpoint, "sha256": hashlib.sha256(lines.encode()).hexdigest(),
            "first": [{"switch": number, "t_ns": time, "endpoint": endpoint, "pkt": fields}
                      for number, time, endpoint, fields in collected[:5]],
        },
    }


def cross(switches, packet):
    """Takes a packet through all switches; its headers behind the last."""
    headers, meta = dict(packet.fields), packet.meta
    for switch in switches:
        headers.update(switch.declared_headers(packet))
    if len(switches) == 1:
        headers.update({"pkt.input_port": meta["in_port"], "pkt.output_port": 20 + meta["path"],
                        "pkt.in_queue_length": meta["qlen1"]})
        is_ctrl = meta["is_ctrl"] and switches[0].has_ctrl
        if is_ctrl:
            headers["pkt.request"] = 7
        switches[0].packet(packet.time, "ctrl" if is_ctrl else "pkts", headers)
        return headers
    for hop, switch in enumerate(switches, 1):
        headers.update({"pkt.input_port": 10 * hop + meta["path"], "pkt.output_port": 10 * (hop + 1) + meta["path"],
                        "pkt.in_queue_length": meta["qlen%d" % hop]})
        switch.packet(packet.time + (hop - 1) * 5000, "pkts", headers)
    return headers
