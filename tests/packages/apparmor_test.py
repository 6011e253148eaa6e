#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compiled profiles of AppArmor, asked: against regular expressions that are made of the same rules."""

import os
import random
import re
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from apparmor import FEATURES, FILE_BITS, Profile  # noqa: E402

SEED = 20261125
LETTERS = "rwkml"
PIECES = ["a", "b", "ab", "*", "**", "?", "{a,b}", "a*", "*b", "[ab]", "**b"]


def expression(glob):
    """What a glob of apparmor.d(5) stands for."""
    text = re.escape(glob)
    for old, new in ((r"\*\*", "\0"), (r"\*", "[^/]*"), (r"\?", "[^/]"), (r"\{a,b\}", "(a|b)"), (r"\[ab\]", "[ab]")):
        text = text.replace(old, new)
    # A star that is all of a name, or all that follows, stands for one letter at least.
    text = re.sub(r"(?<=/)\[\^/\]\*(?=/|$)", "[^/]+", text)
    text = re.sub(r"(?<=/)\0(?=/|$)", "[^/].*", text)
    return re.compile(text.replace("\0", ".*"))


class Rules:
    """Some, and the profile of them."""

    def __init__(self, draw):
        self.rules = []
        for _ in range(draw.randint(1, 6)):
            glob = "/" + "/".join(draw.choice(PIECES) for _ in range(draw.randint(1, 3))) + draw.choice(["", "/"])
            letters = "".join(sorted(draw.sample(LETTERS, draw.randint(1, 3)), key=LETTERS.index))
            self.rules.append((glob, letters, draw.random() < 0.4))

    def text(self):
        lines = [f"  {'owner ' * owner}{glob} {letters}," for glob, letters, owner in self.rules]
        return "abi <abi/3.0>,\nprofile small /usr/bin/small {\n" + "\n".join(lines) + "\n}\n"

    def may(self, letter, path, is_owner):
        return any(letter in letters and (is_owner or not owner) and expression(glob).fullmatch(path)
                   for glob, letters, owner in self.rules)


def compiled(text):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return Profile(file.name)


@unittest.skipUnless(shutil.which("apparmor_parser") and os.path.exists(FEATURES), "there is no apparmor_parser")
class AppArmorTest(unittest.TestCase):
    def test_random_profiles_allow_what_their_rules_say(self):
        draw = random.Random(SEED)
        allowed = 0
        for _ in range(30):
            rules = Rules(draw)
            profile = compiled(rules.text())
            for _ in range(300):
                path = "/" + "/".join("".join(draw.choice("abc") for _ in range(draw.randint(1, 3))) for _ in range(draw.randint(1, 4)))
                path += draw.choice(["", "/"])
                for letter in LETTERS:
                    for is_owner in (False, True):
                        may = profile.may(letter, path, is_owner)
                        allowed += may
                        self.assertEqual(may, rules.may(letter, path, is_owner), (SEED, rules.text(), letter, path, is_owner))
        self.assertGreater(allowed, 1000)

    def test_a_profile_is_for_its_program_and_allows_what_it_names(self):
        profile = compiled("abi <abi/3.0>,\nprofile small /usr/bin/small {\n  network inet stream,\n  network packet,\n"
                           "  /usr/bin/other ix,\n  /log a,\n  /data w,\n  deny /etc/** w,\n  /etc/** rw,\n}\n")
        self.assertTrue(profile.is_for("/usr/bin/small"))
        self.assertFalse(profile.is_for("/usr/bin/other"))
        for letters, path, may in (("x", "/usr/bin/other", True), ("x", "/usr/bin/small", False), ("a", "/log", True), ("w", "/log", False),
                                   ("a", "/data", True), ("r", "/etc/a", True), ("w", "/etc/a", False), ("rw", "/etc/a", False)):
            self.assertEqual(profile.may(letters, path, False), may, (letters, path))
        for family, kind, may in (("AF_INET", "SOCK_STREAM", True), ("AF_INET", "SOCK_DGRAM", False), ("AF_INET6", "SOCK_STREAM", False),
                                  ("AF_PACKET", "SOCK_RAW", True), ("AF_PACKET", "SOCK_DGRAM", True)):
            self.assertEqual(profile.may_open_socket(family, kind), may, (family, kind))
        self.assertEqual(set(FILE_BITS), set("xwralkm"))


if __name__ == "__main__":
    sys.exit(unittest.main())
