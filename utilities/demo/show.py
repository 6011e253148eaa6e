# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the person at the terminal sees: numbered steps, remarks, checks, tables.

Plain text; colours only on a terminal.
"""
import os
import sys
import textwrap
import time

WIDTH = 98


class DemoError(Exception):
    """Ends the demonstration with one sentence."""


class Show:
    def __init__(self, title, steps, out=sys.stdout):
        self.steps, self.step_count = steps, 0
        self.out = out
        self.failures = []
        self.admissions = 0             # counts too low, as the monitor said itself, and the like
        self.colours = out.isatty() and "NO_COLOR" not in os.environ
        marks = "\u2713\u2717"
        try:
            marks.encode(out.encoding or "ascii")
        except UnicodeEncodeError:
            marks = None
        self.yes, self.no = marks or ("ok", "NO")

        self.line()
        self.line(self._paint("1", title))

    def line(self, text=""):
        print(text, file=self.out, flush=True)

    def step(self, text):
        self.step_count += 1
        self.line()
        self.line(self._paint("1", "[%d/%d] %s" % (self.step_count, self.steps, text)))

    def conclude(self, who, seconds):
        """The last lines: do all answers of `who` agree?"""
        if self.failures:
            self.line("  %s The %s DISAGREES with the ground truth:" % (self.no, who))
            for text in self.failures:
                self.line("      - " + text)
        else:
            but = " but for %d for which this machine was too busy (the lines with -)" % self.admissions
            self.line("  %s Every answer agrees with the ground truth%s. (%.0f s)" % (
                self.yes, but if self.admissions else "", seconds))

    def why(self, text):
        for line in textwrap.wrap(text, WIDTH - 6):
            self.line("      " + line)

    def command(self, text):
        self.line("      " + self._paint("36", "$ " + text))

    def check(self, agrees, text):
        """One comparison with the ground truth; what fails is remembered."""
        mark = self._paint("32", self.yes) if agrees else self._paint("31", self.no)
        self._item(mark, text)
        if not agrees:
            self.failures.append(text)

    def admit(self, text):
        """A count that is too low where the monitor says itself that it missed something."""
        self.admissions += 1
        self._item("-", text)

    def _item(self, mark, text):
        lines = textwrap.wrap(text, WIDTH - 8)
        self.line("    %s %s" % (mark, lines[0]))
        for line in lines[1:]:
            self.line("      " + line)

    def mark(self, agrees):
        return self.yes if agrees else self.no

    def table(self, heads, rows, indent=6):
        """Columns of numbers (heads that begin with '>') stand to the right."""
        right = [head.startswith(">") for head in heads]
        rows = [[head.lstrip(">") for head in heads]] + [[str(cell) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
        for number, row in enumerate(rows):
            cells = [cell.rjust(w) if to_right else cell.ljust(w)
                     for cell, w, to_right in zip(row, widths, right)]
            text = "  ".join(cells).rstrip()
            self.line(" " * indent + (self._paint("4", text) if number == 0 else text))

    def _paint(self, code, text):
        return "\033[%sm%s\033[0m" % (code, text) if self.colours else text


def count(number):
    return "{:,}".format(number)


def many(number, thing):
    return "%s %s%s" % (count(number), thing, "" if number == 1 else "s")


def clock(time_ns):
    """Time of day to the millisecond, as intervals begin at whole ones."""
    seconds, rest = divmod(time_ns, 10**9)
    return time.strftime("%H:%M:%S", time.localtime(seconds)) + ".%03d" % (rest // 10**6)


def flow_text(bucket):
    return "%s:%d > %s:%d" % (bucket["srcIP"], bucket["srcPort"], bucket["dstIP"], bucket["dstPort"])


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
