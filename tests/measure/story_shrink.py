# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes a story small that still fails: fewer packets, items, steps, parts of expressions."""
from mafia_stories import Story

MOST_TRIES = 1500


def shrink(story, fails):
    """The smallest story found for which fails(story) holds; it may throw whatever a senseless program causes."""
    tries = [MOST_TRIES]

    def still(candidate):
        tries[0] -= 1
        if tries[0] < 0:
            return False
        try:
            return fails(candidate)
        except Exception:  # pylint: disable=broad-except
            return False

    size = None
    while size != _size(story) and tries[0] > 0:
        size = _size(story)
        story = _fewer_frames(story, still)
        story = _simpler_items(story, still)
    return story


def _size(story):
    return len(story.frames), len(repr(story.items))


def _fewer_frames(story, still):
    size = max(len(story.frames) // 2, 1)
    while size:
        place = 0
        while place < len(story.frames):
            candidate = Story(story.items, story.frames[:place] + story.frames[place + size:])
            if candidate.frames and still(candidate):
                story = candidate
            else:
                place += size
        size //= 2
    return story


def _simpler_items(story, still):
    changed = True
    while changed:
        changed = False
        for items in _simpler_list(story.items, 0):
            candidate = Story(items, story.frames)
            if still(candidate):
                story, changed = candidate, True
                break
    return story


def _simpler_list(parts, least):
    """The list without one element, or with one of them simpler."""
    if len(parts) > least:
        for place in range(len(parts)):
            yield parts[:place] + parts[place + 1:]
    for place, part in enumerate(parts):
        for simpler in _simpler(part):
            yield parts[:place] + [simpler] + parts[place + 1:]


def _simpler(made):
    """What could stand in the place of an item, a step or an expression."""
    if not isinstance(made, tuple):
        return
    kind = made[0]
    if kind in ("seq", "par"):
        yield from made[1]
        for steps in _simpler_list(made[1], 3):
            yield (kind, steps)
    elif kind == "role":
        for items in _simpler_list(made[2], 1):
            yield ("role", made[1], items)
    elif kind == "task":
        if made[2]:
            yield made[:2] + (None,) + made[3:]
        for step in _simpler(made[3]):
            yield made[:3] + (step,)
    elif kind in ("match", "tag", "update", "unary", "binary", "min", "max", "random", "call"):
        for place, part in enumerate(made):
            if place and isinstance(part, tuple):
                if kind in ("unary", "binary", "min", "max", "random"):
                    yield part
                for simpler in _simpler(part):
                    yield made[:place] + (simpler,) + made[place + 1:]
    elif kind == "int" and made[1] > 1:
        yield ("int", 1)
    elif kind in ("field", "name"):
        yield ("int", 1)
