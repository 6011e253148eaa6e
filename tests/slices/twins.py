# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random planning cases with judges that try everything."""
import collections
import fractions
import itertools
import os


class Case:
    """A question, and what is right about an answer to it."""

    def __init__(self, question, judge):
        self.question = question
        self.judge = judge  # answer -> problem or None


def random_map(rng, path, heaviest):
    """Writes a connected map; {router: {neighbour: weight}}."""
    names = [rng.choice(["r", "node ", "Zürich,+"]).replace(" ", "_") + str(i)
             for i in range(rng.randint(2, 9))]
    links = {name: {} for name in names}
    pairs = [(names[i], rng.choice(names[:i])) for i in range(1, len(names))]
    pairs += [tuple(rng.sample(names, 2)) for _ in range(rng.randint(0, 8))]
    with open(path, "w", encoding="utf-8") as text:
        for a, b in pairs:
            if b in links[a]:
                continue
            links[a][b] = links[b][a] = rng.randint(1, heaviest)
            text.write(f"{a} {b} {links[a][b]}\n")
    return links


def simple_paths(links, start):
    def walk(path):
        yield path
        for after in links[path[-1]]:
            if after not in path:
                yield from walk(path + [after])
    return walk([start])


def key_points(rng, links):
    path = rng.choice([p for p in simple_paths(links, rng.choice(sorted(links))) if len(p) > 1])

    def is_ambiguous(i, j):
        own = path[i:j + 1]
        return any(len(p) == len(own) and p[-1] == own[-1] and p != own
                   for p in simple_paths(links, own[0]))

    ambiguous = {(i, j) for i in range(len(path)) for j in range(i + 2, len(path))
                 if is_ambiguous(i, j)}

    def proves(points):
        return (points[0] == 0 and points[-1] == len(path) - 1
                and all(a < b for a, b in zip(points, points[1:]))
                and not any(pair in ambiguous for pair in zip(points, points[1:])))

    def judge(answer):
        inner = range(1, len(path) - 1)
        fewest = next(size + 2 for size in range(len(path))
                      if any(proves([0, *some, len(path) - 1])
                             for some in itertools.combinations(inner, size)))
        if not proves(answer["kp"]):
            return "these key points prove nothing"
        return None if len(answer["kp"]) == fewest else f"{fewest} key points are enough"
    return {"k": "kps", "p": path}, judge


def surrounding(rng, links):
    region = [rng.choice(sorted(links))]
    for _ in range(rng.randint(1, 4)):
        more = rng.choice(sorted(links[rng.choice(region)]))
        if more not in region:
            region.append(more)
    egresses = [name for name in sorted(links) if rng.random() < 0.3]
    paths = {frozenset(path) - frozenset(region) for start in region
             for path in simple_paths(links, start) if path[-1] in egresses}
    paths.discard(frozenset())
    outside = [name for name in sorted(links) if name not in region]

    def judge(answer):
        fewest = next(size for size in range(len(outside) + 1)
                      if any(all(path & set(some) for path in paths)
                             for some in itertools.combinations(outside, size)))
        chosen = set(answer["set"])
        edges = {(r, x) for r in region for x in links[r] if x not in region}
        if not chosen <= set(outside) or not all(path & chosen for path in paths):
            return "this surrounding is open"
        if {tuple(edge) for edge in answer["edge"]} != edges:
            return "the edge surrounding is another"
        if set(answer["node"]) != {x for _, x in edges}:
            return "the node surrounding is another"
        return None if len(answer["set"]) == fewest else f"{fewest} routers are enough"
    return {"k": "sur", "R": region, "E": egresses}, judge


def arrow(rng, links):
    names = sorted(links)
    egresses = rng.sample(names, min(2, len(names)))
    region = rng.choice([[rng.choice(names), "->", rng.choice(names)],
                         [rng.choice(names), "->", rng.choice(names), "->", rng.choice(names)],
                         ["->", rng.choice(names)], [rng.choice(names), "->"]])

    def shortest(a, b):
        found = [p for p in simple_paths(links, a) if p[-1] == b]
        weight = [sum(links[x][y] for x, y in zip(p, p[1:])) for p in found]
        return [p for p, w in zip(found, weight) if w == min(weight)]

    def judge(answer):
        stops = [[step] if step != "->" else None for step in region]
        stops = ([egresses] if region[0] == "->" else []) + [s for s in stops if s]
        stops += [egresses] if region[-1] == "->" else []
        paths = [[name] for name in stops[0]]
        for ends in stops[1:]:
            paths = [head + tail[1:] for head in paths for end in ends
                     for tail in shortest(head[-1], end)]
        return None if sorted(paths) == sorted(answer["paths"]) else f"the paths are {paths}"
    return {"k": "arrow", "reg": region, "E": egresses}, judge


def fewest_slots(costs, budget):
    best = len(costs)

    def place(at, rooms):
        nonlocal best
        if len(rooms) >= best:
            return
        if at == len(costs):
            best = len(rooms)
            return
        for i, room in enumerate(rooms):
            if room >= costs[at]:
                place(at + 1, rooms[:i] + [room - costs[at]] + rooms[i + 1:])
        place(at + 1, rooms + [budget - costs[at]])
    place(0, [])
    return best


def schedule(rng, _links):
    budget = rng.choice([10, 17, 100])
    costs = [rng.randint(1, rng.choice([budget, budget // 2])) for _ in range(rng.randint(1, 8))]
    confine = rng.randint(0, 2)
    slots = rng.randint(1, 12)

    def judge(answer):
        fewest = fewest_slots(costs, budget)
        if sorted(q for slot in answer["pack"] for q in slot) != list(range(len(costs))):
            return "not every query is packed once"
        if any(sum(costs[q] for q in slot) > budget for slot in answer["pack"]):
            return "a slot is above the budget"
        if len(answer["pack"]) != fewest or answer["least"] > fewest:
            return f"{fewest} slots are enough"
        if fewest > slots:
            return None if "error" in answer else "there are not so many slots"
        counts = collections.Counter(q for slot in answer["sched"] for q in set(slot))
        queries = range(len(costs))
        confined = range(len(costs), len(costs) + confine)
        if len(answer["sched"]) > slots:
            return "too many slots"
        if any(sum(costs[q] for q in set(slot) if q in queries) > budget
               for slot in answer["sched"]):
            return "a scheduled slot is above the budget"
        if any(counts[q] < slots // fewest for q in queries):
            return "a query is not there as often as the repeated packing has it"
        if any(counts[q] != len(answer["sched"]) for q in confined):
            return "a CONFINE query is not in every slot"
        return None
    return {"k": "sched", "m": costs, "z": confine, "B": budget, "T": slots}, judge


def slot_times(rng, _links):
    question = {"k": "slots", "during_s": rng.randint(1, 60), "spacing_ms": rng.randint(0, 40),
                "max_path_delay_ms": rng.randint(0, 120), "min_slot_ms": rng.randint(1, 50)}

    def judge(answer):
        slot = max(question["max_path_delay_ms"], question["min_slot_ms"])
        slots = fractions.Fraction(question["during_s"] * 1000, slot + question["spacing_ms"]) // 1
        right = answer["slot_ms"] == slot and answer["slots"] == slots
        return None if right else f"{slots} slots of {slot} ms"
    return question, judge


KINDS = (key_points, surrounding, arrow, schedule, slot_times)


def draw(rng, number, directory):
    name = f"map-{number}"
    links = random_map(rng, os.path.join(directory, name + ".edges"), rng.choice([1, 3]))
    question, judge = rng.choice(KINDS)(rng, links)
    return Case({"id": f"case-{number}", "g": name, **question}, judge)
