# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes what mafia_syntax reads: the items of a program as text, with no more parentheses than it needs."""
from mafia_syntax import LEVELS

ATOM = len(LEVELS) + 1


def text_of(items):
    return "".join("%s;\n" % item(each) for each in items)


def item(made):
    return globals()["item_" + made[0]](*made[1:])


def item_const(name, value):
    return "const %s = %s" % (name, expr(value))


def item_param(name, value):
    return "param %s = %s" % (name, expr(value))


def item_endpoint(names):
    return "endpoint %s" % ", ".join(names)


def item_role(name, items):
    return "role %s {\n%s}" % (name, "".join("  %s;\n" % item(each) for each in items))


def item_window(duration, quantum, mode):
    return "window(%s%s%s)" % (expr(duration), ", quantum=%s" % expr(quantum) if quantum else "",
                               ", mode=flip" if mode == "flip" else "")


def item_key(name, fields):
    return "%s = Key(%s)" % (name, ", ".join(fields))


def item_var(name, kind, given):
    return "%s = %s" % (name, constructor(kind, given))


def constructor(kind, given):
    def value(name):
        if name == "type":
            return constructor(*given[name])
        if name == "key":
            return given[name]
        return '"%s"' % given[name] if name in ("alg", "collide") else expr(given[name])

    return "%s(%s)" % (kind, ", ".join("%s=%s" % (name, value(name)) for name in given))


def item_header(name, guard, offset, fields):
    return "header %s when %s at %d { %s }" % (name, expr(guard), offset,
                                               " ".join("%s: %d;" % each for each in fields))


def item_task(stream, window, step):
    head = stream + ("." + item_window(*window[1:]) if window else "")
    # The head scopes over the whole pipeline, so the outermost one needs no parentheses.
    return "%s >> %s" % (head, pipeline(step))


def pipeline(made):
    if made[0] in ("seq", "par"):
        inner = [pipeline(each) for each in made[1]]
        return {"seq": " >> ", "par": " ++ "}[made[0]].join(
            "(%s)" % text if each[0] in ("seq", "par") else text for text, each in zip(inner, made[1]))
    kind = made[0]
    if kind == "match":
        return "match(%s)" % expr(made[1])
    if kind == "tag":
        return "tag(%s, %s)" % (made[1], expr(made[2]))
    if kind == "update":
        return "%s.%s(%s)" % (made[1], made[2], "" if made[3] is None else expr(made[3]))
    return "%s(%s)" % (kind, made[1])


def expr(made, least=0):
    """Text of an expression that stands where only operators of at least this level may."""
    text, level = globals()["expr_" + made[0]](*made[1:])
    return text if level >= least else "(%s)" % text


def expr_int(value):
    return str(value), ATOM


def expr_decimal(value):
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    digits = max(digits, 1)
    whole = str(int(value * 10**digits)).rjust(digits + 1, "0")
    return "%s.%s" % (whole[:-digits], whole[-digits:]), ATOM


def expr_field(name):
    return name, ATOM


def expr_name(name):
    return name, ATOM


def expr_call(name, method, argument):
    return "%s.%s(%s)" % (name, method, "" if argument is None else expr(argument)), ATOM


def expr_unary(operator, value):
    return operator + expr(value, len(LEVELS)), len(LEVELS)


def expr_binary(operator, left, right):
    level = next(place for place, operators in enumerate(LEVELS) if operator in operators)
    chains = "==" not in LEVELS[level]
    return "%s %s %s" % (expr(left, level if chains else level + 1), operator, expr(right, level + 1)), level


def expr_min(left, right):
    return "min(%s, %s)" % (expr(left), expr(right)), ATOM


def expr_max(left, right):
    return "max(%s, %s)" % (expr(left), expr(right)), ATOM


def expr_random(low, high):
    return "random([%s:%s])" % (expr(low), expr(high)), ATOM
