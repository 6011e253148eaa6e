# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds places in C++ sources, formatted as ours are, where one small change makes a mutant.

A mutant is a list of insertions and replacements that keep the original beside the change, see
mutant.h; lines stay where they are.
"""
import re
from collections import namedtuple

# path, line from 1, what is changed, the line as it is, [(begin, end, text with %d for its number)]
Mutant = namedtuple("Mutant", "path line change text edits")

OPERATORS = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "==": "Equal", "!=": "Unequal",
             "+": "Plus", "-": "Minus"}
OTHERS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+"}
OPENING, CLOSING = "([{", ")]}"
QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
# An assignment, a step or a call that begins a statement: one name, no type before it.
NAME = r"[*(]*[A-Za-z_][\w.:]*(?:->[\w.]+|\[[^\[\];]*\]|\(\)[.\w]*)*\)?"
STATEMENT = re.compile(r"(?<=[;{}])\s*(?:(?:%s) (?:[-+*/|&^]|<<|>>)?= [^;{}]+;|(?:%s)(?:\+\+|--);|%s\([^;{}]*\);)" % (NAME, NAME, NAME))
KEYWORD = re.compile(r"(return|delete|new|assert|TRUMPET_CHECK|using|else|if|for|while|switch|do|break)\b")
CONSTANT = re.compile(r"\b(constexpr|static_assert|template|case|operator|using|assert|TRUMPET_CHECK)\b")
JUMP = re.compile(r"(?<=[;{})])\s*(continue|return);(?!\s*else)")


def blank(text):
    """Comments, strings and directives as spaces."""
    return QUIET.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def code_of(code):
    """For each character, whether it is within the body of a function that is no constant expression."""
    within, stack = bytearray(len(code)), []
    begin = 0  # of the declaration or statement
    for i, char in enumerate(code):
        if char == "{":
            head = code[begin:i]
            is_body = bool(stack and stack[-1]) or bool(re.search(r"\)\s*(const|noexcept|override|\s)*(->[^;{}]*)?$", head)) or \
                bool(re.search(r"\)\s*:\s[^;]*[)}]\s*$", head))
            stack.append(is_body and "constexpr" not in head and "static constexpr" not in head)
            begin = i + 1
        elif char == "}" and stack:
            stack.pop()
            begin = i + 1
        elif char == ";":
            begin = i + 1
        within[i] = bool(stack and stack[-1])
    return within


def end_of_operand(code, begin):
    """Where the operand of && or || that begins there ends."""
    depth = 0
    for i in range(begin, len(code)):
        if code[i] in OPENING:
            depth += 1
        elif code[i] in CLOSING:
            depth -= 1
            if depth < 0:
                return i
        elif depth == 0 and (code[i] in ";,?" or code.startswith(("&&", "||", " :"), i)):
            return i
    return len(code)


def statement_before(code, place):
    """What of its statement comes before the place."""
    return code[max(code.rfind(mark, 0, place) for mark in ";{}") + 1:place + 15]


def is_balanced(text):
    depth = 0
    for char in text:
        depth += (char in OPENING) - (char in CLOSING)
        if depth < 0:
            return False
    return depth == 0


def operators(code):
    for found in re.finditer(r"(?<=\s)(<|<=|>|>=|==|!=|\+|-)(?=\s)", code):
        token = found[1]
        yield found.start(), "%s becomes %s" % (token, OTHERS[token]), \
            [(found.start(), found.end(), "%s ::mutants::%s(%%d) %s" % (token, OPERATORS[token], token))]


def clauses(code):
    for found in re.finditer(r"(&&|\|\|)\s", code):
        end = end_of_operand(code, found.end())
        keep = "::mutants::Is(%d) ||" if found[1] == "&&" else "!::mutants::Is(%d) &&"
        yield found.start(), "without what follows %s" % found[1], \
            [(found.end(), found.end(), "(%s (" % keep), (end, end, "))")]


def conditions(code):
    for found in re.finditer(r"\bif \(", code):
        end = end_of_operand(code, found.end())
        while end < len(code) and code[end] != ")":
            end = end_of_operand(code, end + 2)
        condition = code[found.end():end]
        if re.search(r" (=|<|<=|>|>=|==|!=) ", condition) or "&&" in condition or "||" in condition or not condition.strip():
            continue
        yield found.start(), "the condition is turned round", \
            [(found.end(), found.end(), "::mutants::Is(%d) != static_cast<bool>("), (end, end, ")")]


def statements(code):
    for found in STATEMENT.finditer(code):
        begin = found.start() + len(found[0]) - len(found[0].lstrip())
        if KEYWORD.match(found[0].strip()) or "refetch" in found[0] or not is_balanced(found[0]):
            continue
        yield begin, "left out", [(begin, begin, "if (!::mutants::Is(%d)) ")]
    for found in JUMP.finditer(code):
        yield found.start(1), "%s left out" % found[1], [(found.start(1), found.start(1), "if (!::mutants::Is(%d)) ")]


def mutants_of(path, text):
    code = blank(text)
    within = code_of(code)
    lines = text.split("\n")
    for rule in (operators, clauses, conditions, statements):
        for place, change, edits in rule(code):
            if within[place] and not CONSTANT.search(statement_before(code, place)):
                line = text.count("\n", 0, place)
                yield Mutant(path, line + 1, change, lines[line].strip(), edits)


def seeded(text, chosen):
    """The text with {number: mutant}."""
    edits = [(begin, end, number, new) for number, mutant in chosen.items() for begin, end, new in mutant.edits]
    # Where several begin at one place, an operand's end comes before what begins after it.
    for begin, end, number, new in sorted(edits, key=lambda each: (each[0], each[1], each[3].startswith(")")), reverse=True):
        text = text[:begin] + (new % number if "%d" in new else new) + text[end:]
    return text
