# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a profile of AppArmor allows, as its compiler has compiled it: the table that a kernel walks, walked here.

So a profile can be asked where no kernel has AppArmor.  The format is that of the kernel's security/apparmor/match.c
and policy_unpack.c; the permissions are those of file.c.
"""

import os
import socket
import struct
import tempfile

from chroot import run

FEATURES = "/etc/apparmor.d/abi/3.0"  # of the kernel that it is compiled for; the profiles name the same
MAGIC = 0x1B5E783D
ACCEPT, BASE, CHECK, DEFAULT, CLASSES, NEXT = 1, 2, 3, 4, 5, 8  # numbers of tables
SIZES = {1: "B", 2: "H", 4: "I"}
FIRST_STATE, GOES_ON_BY_DEFAULT, PLACE = 1, 1 << 31, (1 << 24) - 1
# Of the owner's bits; those for others stand 14 bits higher.
FILE_BITS = {"x": 1, "w": 2, "r": 4, "a": 8, "l": 0x10, "k": 0x20, "m": 0x40}
OTHERS = 14
NETWORK_CLASS = 14


class Table:
    """A deterministic automaton, and what its states accept."""

    def __init__(self, blob):
        # It begins at a multiple of eight bytes of the stream that it stands in.
        start = next(place for place in range(8) if struct.unpack_from(">I", blob, place)[0] == MAGIC)
        place = start + struct.unpack_from(">I", blob, start + 4)[0]
        end = start + struct.unpack_from(">I", blob, start + 8)[0]
        self.tables = {}
        while place < end:
            number, size, _, count = struct.unpack_from(">HHII", blob, place)
            self.tables[number] = struct.unpack_from(f">{count}{SIZES[size]}", blob, place + 12)
            place += (12 + count * size + 7) // 8 * 8

    def walk(self, text, state=FIRST_STATE):
        """The state after `text`, bytes; 0 has no way out."""
        classes = self.tables.get(CLASSES)
        for byte in text:
            state = self._step(state, classes[byte] if classes else byte)
        return state

    def _step(self, state, byte):
        while True:
            base = self.tables[BASE][state]
            place = (base & PLACE) + byte
            if place < len(self.tables[CHECK]) and self.tables[CHECK][place] == state:
                return self.tables[NEXT][place]
            state = self.tables[DEFAULT][state]
            if not base & GOES_ON_BY_DEFAULT:
                return state

    def accepts(self, state):
        return self.tables[ACCEPT][state]


def tables_of(stream):
    """The automata in what apparmor_parser writes, in its order."""
    place, found, name = 0, [], b""
    fixed = {0: 1, 1: 2, 2: 4, 3: 8, 7: 0, 8: 0, 9: 0, 10: 0, 11: 2, 12: 0}  # bytes after the kind of a thing
    while place < len(stream):
        kind, place = stream[place], place + 1
        if kind in fixed:
            place += fixed[kind]
            continue
        width = {4: "<H", 5: "<H", 6: "<I"}[kind]  # a name, a text, a blob
        length = struct.unpack_from(width, stream, place)[0]
        place += struct.calcsize(width)
        if kind == 4:
            name = stream[place:place + length]
        elif kind == 6 and name == b"aadfa\0":
            found.append(Table(stream[place:place + length]))
        place += length
    return found


class Profile:
    """A file with one profile, compiled."""

    def __init__(self, path):
        with tempfile.TemporaryDirectory() as folder:
            run("apparmor_parser", "--skip-kernel-load", "--skip-cache", "--kernel-features", FEATURES, "--ofile", f"{folder}/out", path)
            with open(f"{folder}/out", "rb") as file:
                tables = tables_of(file.read())
        # Which programs it is for, what is not a file, and files.
        assert len(tables) == 3, (path, len(tables))
        self.attachment, self.policy, self.files = tables

    def is_for(self, program):
        return self.attachment.accepts(self.attachment.walk(program.encode())) != 0

    def may(self, letters, path, is_owner):
        """Whether all of `letters` of FILE_BITS are allowed at `path`; folders end with a slash."""
        bits = self.files.accepts(self.files.walk(os.fsencode(path))) >> (0 if is_owner else OTHERS)
        if bits & FILE_BITS["w"]:
            bits |= FILE_BITS["a"]
        return all(bits & FILE_BITS[letter] for letter in letters)

    def may_open_socket(self, family, kind):
        """Names as in C, AF_INET and SOCK_STREAM."""
        text = struct.pack(">BHH", NETWORK_CLASS, getattr(socket, family), getattr(socket, kind))
        return self.policy.accepts(self.policy.walk(text)) & FILE_BITS["w"] != 0
