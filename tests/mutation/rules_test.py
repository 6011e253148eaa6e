#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every seeded bug of mutations.py still fits the code, and names a test that there is; nothing is
compiled."""
import glob
import os
import re
import sys

HOME = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HOME))
sys.dont_write_bytecode = True
sys.path[:0] = [HOME, os.path.join(TOP, "tests/build")]

import cases
from mutations import MUTATIONS


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as source:
        return source.read()


def tests():
    """The names of all unit tests of the modules in which bugs are seeded, as GoogleTest has them."""
    names = set()
    for path in glob.glob(os.path.join(TOP, "lib/*/*_test.cc")) + glob.glob(
            os.path.join(TOP, "controller/tem/*_test.cc")):
        names.update(".".join(found) for found in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", read(path), re.MULTILINE))
    return names


def texts_occur_once():
    for name, path, text, _, _ in MUTATIONS:
        count = read(path).count(text)
        if count != 1:
            yield f"{name}: {path} has its text {count} times"


def tests_exist():
    known = tests()
    for name, _, _, _, test in MUTATIONS:
        if re.sub(r"^[^.]*/|/[^.]*$", "", test) not in known:
            yield f"{name}: there is no test {test}"


def tests_are_those_of_the_table():
    rows = re.findall(r"^\| (.+?) \| `\S+` \| `([\w.]+)`", read("docs/testing.md"), re.MULTILINE)
    for name, _, _, _, test in MUTATIONS:
        if (name, test) not in rows:
            yield f"docs/testing.md does not say that {test} catches: {name}"


if __name__ == "__main__":
    cases.run(texts_occur_once, tests_exist, tests_are_those_of_the_table)
