# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stories for `exactness`: events that come, change and go in mid-traffic, on hosts that are late,
die, are switched off, get no time or lose their session, with a controller that may begin anew.

What is due of an event in an interval depends on how each of its hosts fared:

- all are there: exactly the reports of the evaluator over the union of all packets, complete;
- some are away until after the deadline: exactly the reports over the packets of the others, not
  complete, and these hosts named, as silent or as switched off;
- it changes for some host around that time, or the event ends: any report may be missing, but one that says that it is
  complete is true, and none does if a host did not count for a while.

Besides, no report stands outside of its event's life, and each bucket that was told is cleared
once, in the interval after the last that fired, be it because its event ended.
"""
import collections
import json
import os
import random

import network_cases
from network_cases import MS, US, Case, HostTrace, Places, key_of, random_event, retimed, shown, sightings
from oracle import evaluate, language
from oracle.packets import Packet

DEADLINE_MS = 5
GUARD = 1 * MS                       # between a deadline and what comes just in time
SETTLE = 30 * MS                     # until a host that is back has told all it had to
NEVER = 2**63 - 1
LENGTHS_MS = (3, 15, 60, 200)

Act = collections.namedtuple("Act", "at what whom")
Trouble = collections.namedtuple("Trouble", "kind start end")


class StoryCase(Case):
    def copy(self):
        made = super().copy()
        made.acts = list(self.acts)
        return made

    def write(self, directory):
        super().write(directory)
        for name, text in self.texts.items():
            with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
                out.write(text)
        with open(os.path.join(directory, "story.txt"), "w", encoding="utf-8") as out:
            out.writelines("%d %s %s\n" % act for act in self.acts)

    def events_yaml(self):
        return "events:\n" + "".join(version_yaml(self, label) for label in self.initial)

    def arguments(self, directory):
        late = [str(host) for host, trouble in self.troubles.items() if trouble.kind == "late"]
        return super().arguments(directory)[:-1] + (["--late", ",".join(late)] if late else []) + [directory]


def version_yaml(case, label):
    event = case.versions[label]
    event.more = ["observe: " + case.observe_of[label], "severity: " + label]
    return event.yaml()


def make_story(seed):
    rng = random.Random("story %d" % seed)
    while True:
        try:
            return _make_story(rng)
        except (evaluate.OutOfBounds, OverflowError):
            continue


def _make_story(rng):
    case = StoryCase()
    case.hosts = rng.choice((2, 3, 3, 4, 5, 6))
    case.threads = rng.choice((1, 1, 2))
    case.split = rng.choice(("yes", "no"))
    case.places = Places(rng, case.hosts)
    case.with_copies = rng.random() < 0.25
    case.trouble, case.deadline_ms = False, DEADLINE_MS
    case.offsets_us = [0] * case.hosts
    trace = retimed(rng, network_cases.traffic.make_trace(rng), paces=(300, 1000, 2000))
    case.captures = [[(packet, sightings(rng, case.places, case.hosts, Packet(*packet), case.with_copies))
                      for packet in trace]]
    case.events, case.observes, case.scopes = [], [], []
    case.versions, case.observe_of, case.texts, case.initial = {}, {}, {}, []
    case.acts = []
    add_lives(rng, case, evaluate.Trace(trace))
    add_troubles(rng, case)
    case.acts.sort()
    return case


def moment(rng, case):
    begin, end = case.packets[0][0], case.packets[-1][0]
    while True:                      # no two acts at once
        at = rng.randrange(begin - 5 * MS, end + 1) // US * US
        if all(act.at != at for act in case.acts):
            return at


def add_version(rng, case, union, name):
    label = "%sv%d" % (name, sum(each.startswith(name + "v") for each in case.versions) + 1)
    event = story_event(rng, case, union)
    event.name = name
    case.versions[label] = event
    return label


def story_event(rng, case, union):
    """Each interval is decided by its own packets."""
    case.observes.append(rng.choice(("source", "source", "destination", "all")))
    case.trouble = True              # neither history nor runs
    try:
        while True:
            event = random_event(rng, case, union, len(case.observes) - 1)
            parsed = event.parse(0)
            if any(language.mentions(parsed.predicate, name) for name in network_cases.HISTORY):
                continue
            if not evaluate.truth(evaluate.BucketScope(parsed.interval_ms, [], {}).value(parsed.predicate)):
                return event
    finally:
        case.trouble = False


def add_lives(rng, case, union):
    for number in range(rng.choice((1, 2, 3))):
        name = "e%d" % (number + 1)
        times = sorted({moment(rng, case) for _ in range(rng.choice((0, 1, 1, 2, 3)))})
        state = "none"
        if rng.random() < 0.7 or not times or number == 0:
            label = add_version(rng, case, union, name)
            case.observe_of[label] = case.observes[-1]
            case.initial.append(label)
            state = "runs"
        for at in times:
            if state == "runs":
                what = rng.choice(("put", "put", "remove", "disable"))
            else:
                what = "enable" if state == "disabled" else "put"
            if what == "put":
                label = add_version(rng, case, union, name)
                case.observe_of[label] = case.observes[-1]
                case.texts[label + ".yaml"] = "events:\n" + version_yaml(case, label)
            case.acts.append(Act(at, what, label + ".yaml" if what == "put" else name))
            state = {"remove": "none", "disable": "disabled"}.get(what, "runs")


def add_troubles(rng, case):
    case.troubles, case.restart = {}, None
    for host in range(case.hosts):
        if rng.random() > 0.4:
            continue
        kind = rng.choice(("late", "kill", "off", "stall", "renew"))
        start = moment(rng, case)
        end = start + rng.choice(LENGTHS_MS) * MS + rng.randrange(1000) * US
        case.troubles[host] = Trouble(kind, 0 if kind == "late" else start, end)
        if kind != "late":
            case.acts.append(Act(start, kind, str(host)))
        back = {"late": "start", "kill": "start", "off": "on", "stall": "resume"}.get(kind)
        if back:
            case.acts.append(Act(start if kind == "late" else end, back, str(host)))
        if kind == "late":
            case.troubles[host] = Trouble(kind, 0, start)
    if rng.random() < 0.1:
        case.restart = moment(rng, case)
        case.acts.append(Act(case.restart, "restart", "-"))


# --- how it went -----------------------------------------------------------------

class Life:
    """A version of an event, from when it began to run to when it ended; `starts`: by host, the
    instants from which it counted."""

    def __init__(self, label, begin, end):
        self.label, self.begin, self.end = label, begin, end
        self.starts = collections.defaultdict(list)


class Course:
    """What network_replay printed of a case."""

    def __init__(self, case, lines):
        self.case, self.reports, self.lives = case, [], []
        self.sessions = collections.defaultdict(set)
        self.notes = []
        found = {}
        for line in lines:
            told = json.loads(line)
            if "life" in told:
                self.notes.append(told)
                key = told["life"], told["begin"]
                if key not in found:
                    found[key] = Life(*key, self.end_of(told["name"], told["begin"]))
                for host, start in told["hosts"].items():
                    starts = found[key].starts[int(host[1:]) - 1]
                    if start and start not in starts:
                        starts.append(start)
            elif "session" in told:
                self.sessions[int(told["session"][1:]) - 1].add(told["since"])
            else:
                self.reports.append(told)
        self.lives = list(found.values())

    def end_of(self, name, begin):
        for act in self.case.acts:
            ends = act.what == "restart" or act.what in ("remove", "disable") and act.whom == name or \
                act.what == "put" and act.whom.startswith(name + "v")
            if ends and act.at > begin:
                return act.at
        return NEVER

    def fate(self, life, host, start, end):
        """(how, whether it did not count some of [start, end)); how: "there", "silent", "off" or
        "unclear"."""
        due = end + DEADLINE_MS * MS + GUARD
        starts = sorted(life.starts[host])
        trouble = self.case.troubles.get(host)

        def back(since):
            return min((each for each in self.sessions[host] if each >= since), default=NEVER)

        restart = self.case.restart
        if restart is not None and restart < due and back(restart) + SETTLE > start:
            return "unclear", False
        if life.end < due and self.case.split == "yes":
            return "unclear", False  # hosts that no longer run it cannot answer questions
        if trouble is not None and trouble.kind != "late":
            told = _fate_in(trouble, starts, back(trouble.end if trouble.kind == "kill" else trouble.start),
                            start, end, due)
            if told:
                return told
        first = starts[0] if starts else NEVER
        if first <= start:
            return "there", False
        if first >= end and life.begin <= start:
            return "silent", True
        return "unclear", True


def _fate_in(trouble, starts, back, start, end, due):
    """None: the trouble is far away."""
    kind, t0, t1 = trouble
    if kind == "renew":
        return ("unclear", False) if t0 < due and back + SETTLE > start else None
    if kind == "kill":
        if not any(each < t0 for each in starts):
            return None              # it has never counted before
        again = min((each for each in starts if each >= t1), default=NEVER)
        if t0 >= due or again + SETTLE <= start:
            return None
        lost = t0 < end and again > start
        return ("silent", True) if t0 < end and back >= due else ("unclear", lost)
    if t0 >= due or t1 + SETTLE <= start:
        return None
    if kind == "stall":
        return ("silent", False) if t0 < end and t1 >= due else ("unclear", False)
    lost = t0 < end and t1 > start
    return ("off", True) if start >= t0 + SETTLE and due <= t1 else ("unclear", lost)


# --- what is due -----------------------------------------------------------------

class Truth:
    """What hosts see that matches an event, by interval and bucket."""

    def __init__(self, case, hosts, label):
        self.event = case.versions[label].parse(0)
        self.event.name = case.versions[label].name
        self.cells = collections.defaultdict(dict)   # interval -> bucket -> host -> entries
        for number, host in enumerate(hosts):
            view = host.view(case, host.trace, case.observe_of[label])
            for entry in view.entries:
                bucket = evaluate.bucket_of(self.event, entry.packet)
                if bucket is not None and evaluate.matches(self.event.filter, entry.packet):
                    buckets = self.cells[evaluate.interval_of(entry.time, self.event)]
                    buckets.setdefault(bucket, {}).setdefault(number, []).append(entry)

    def reports(self, interval, hosts):
        """By bucket, over the packets of these hosts."""
        made = {}
        for bucket, by_host in self.cells.get(interval, {}).items():
            entries = [entry for host in hosts for entry in by_host.get(host, ())]
            if not entries:
                continue
            scope = evaluate.BucketScope(self.event.interval_ms, entries, {})
            if evaluate.truth(scope.value(self.event.predicate)):
                report = evaluate.report(self.event, interval, bucket, scope)
                made[key_of(report)] = report
        return made


def expected_story(case):
    """Anything out of bounds shows here."""
    hosts = [HostTrace(case, host) for host in range(case.hosts)]
    truths = {label: Truth(case, hosts, label) for label in case.versions}
    for truth in truths.values():
        for interval in truth.cells:
            truth.reports(interval, range(case.hosts))
    return truths


def story_difference(case, truths, lines, tally):
    """One sentence on the first difference; None if there is none."""
    course = Course(case, lines)
    for note in course.notes:
        tally["in mode " + note["mode"]] += 1
    by_life = collections.defaultdict(list)
    for report in course.reports:
        life = next((life for life in course.lives if life.label == report["severity"]
                     and report["end_ns"] > life.begin and
                     (report["end_ns"] <= life.end or report.get("cleared"))), None)
        if life is None:
            return "outside of its event's life: %s" % json.dumps(report)
        if not report.get("cleared"):
            by_life[life].append(report)
    for life in course.lives:
        problem = life_difference(course, life, truths[life.label], by_life[life], tally)
        if problem:
            return "%s (%s; observe %s) from %d on: %s" % (
                life.label, case.versions[life.label].line(), case.observe_of[life.label], life.begin, problem)
    return clear_difference(course, truths, tally)


def life_difference(course, life, truth, reports, tally):
    length = truth.event.interval_ms * MS
    case = course.case
    everybody = range(case.hosts)
    got = collections.defaultdict(dict)
    for report in reports:
        key = key_of(report)
        if key in got[report["start_ns"] // length]:
            return "told twice: %s" % json.dumps(report)
        got[report["start_ns"] // length][key] = report
    intervals = sorted(set(truth.cells) | set(got))
    for interval in intervals:
        start, end = interval * length, (interval + 1) * length
        if end <= life.begin or end > life.end:
            continue
        fates = {host: course.fate(life, host, start, end) for host in life.starts}
        hows = {how for how, _ in fates.values()}
        union = truth.reports(interval, everybody)
        if "unclear" in hows or life.begin > start:
            is_broken = life.begin > start or any(lost for _, lost in fates.values())
            for key, report in got[interval].items():
                tally["reports of unclear intervals"] += 1
                if report["complete"] and (is_broken or key not in union or shown(report) != shown(union[key])):
                    return "complete, and yet %s; expected %s; %s" % (
                        json.dumps(report), json.dumps(union.get(key)), fates)
            continue
        away = {host for host, (how, _) in fates.items() if how != "there"}
        wanted = truth.reports(interval, [host for host in everybody if host not in away]) if away else union
        names = [sorted("h%d" % (host + 1) for host, (how, _) in fates.items() if how == kind)
                 for kind in ("silent", "off")]
        for key in sorted(set(wanted) | set(got[interval])):
            one, other = got[interval].get(key), wanted.get(key)
            if other is not None:
                other["complete"] = not away
                if one and one.get("reasons") == ["sweep-skipped"] and is_near_a_change(case, start, end):
                    other["complete"] = False
                    tally["reports marked beside a change of events"] += 1
            if one is None or other is None or shown(one) != shown(other) or \
                    [one.get("silent", []), one.get("monitor_off", [])] != names:
                return "got %s, expected %s, silent and off %s; %s" % (
                    json.dumps(one), json.dumps(other), names, fates)
            tally["reports with hosts %s" % (" and ".join(sorted(hows - {"there"})) or "all there")] += 1
    return None


def is_near_a_change(case, start, end):
    """A thread that takes over other events may be late with its sweep: it says so."""
    return any(act.what in ("put", "remove", "enable", "disable") and start - SETTLE < act.at < end for act in case.acts)


def clear_difference(course, truths, tally):
    told = {}                        # (label, bucket) -> the interval after
    for report in course.reports:
        key = report["severity"], json.dumps(report["bucket"])
        length = truths[report["severity"]].event.interval_ms * MS
        if course.case.restart is not None and report["end_ns"] > course.case.restart:
            break                    # whom it told the process before knew alone
        due = told.pop(key, None)
        if report.get("cleared"):
            if report["start_ns"] != due:
                return "clear is not due: %s" % json.dumps(report)
            tally["clears at the end of an event" if "event-ended" in report.get("reasons", []) else "clears"] += 1
        elif due is not None and due != report["start_ns"]:
            return "clear is missing before %s" % json.dumps(report)
        else:
            told[key] = report["start_ns"] + length
    if told and course.case.restart is None:
        return "clear is missing at the end: %s" % sorted(told.items())[0].__repr__()
    return None
