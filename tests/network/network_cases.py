# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Random networks and their traffic, and what an event manager should say of them; for `exactness`."""
import collections
import copy
import ipaddress
import json
import os
import random

import random_events
import traffic
from oracle import evaluate, language
from oracle.packets import Packet

START_NS = 1_700_000_002 * 10**9     # of the traffic: network_replay has settled by then
MS, US = 10**6, 1000
INTERVALS_MS = (1, 2, 3, 5, 7, 10, 10, 20)
NOBODY = None
# What workloads of the traffic's addresses have; each is given to a host, or to nobody.
PREFIXES = ("10.0.0.0/25", "10.0.0.128/25", "10.0.0.0/16", "10.0.0.1/32", "10.0.0.2/31", "10.0.1.0/24",
            "10.0.2.0/23", "10.9.0.0/29", "10.9.0.4/30", "192.168.0.0/16", "2001:db8::/64", "2001:db8::1/128",
            "2001:db8::2/127", "2001:db8:1::/48")
# What depends on the packets seen before: a second passage of a packet changes it.
HISTORY = ("is_lost", "is_burst", "rwnd", "rtt", "ack", "seq", "dup", "ack_lastepoch", "seq_lastepoch",
           "dup_lastepoch")
BARE = ("ack", "seq", "dup", "ack_lastepoch", "seq_lastepoch", "dup_lastepoch")

Sighting = collections.namedtuple("Sighting", "host is_uplink")


# --- whose packets are whose ---------------------------------------------------

class Places:
    """Who has which addresses: the longest prefix says."""

    def __init__(self, rng, hosts):
        self.owned = []              # (network, host)
        for text in PREFIXES:
            owner = rng.choice(list(range(hosts)) * 3 + [NOBODY] * hosts)
            if owner is not NOBODY:
                self.owned.append((ipaddress.ip_network(text), owner))

    def owner(self, address):
        family, number = address
        best, host = -1, NOBODY
        for network, owner in self.owned:
            inside = network.version == family and (number >> (network.max_prefixlen - network.prefixlen)
                                                    == int(network.network_address)
                                                    >> (network.max_prefixlen - network.prefixlen))
            if inside and network.prefixlen > best:
                best, host = network.prefixlen, owner
        return host

    def yaml(self, hosts):
        lines = ["hosts:"]
        for host in range(hosts):
            prefixes = ", ".join('"%s"' % network for network, owner in self.owned if owner == host)
            lines.append('  - {id: h%d, prefixes: [%s]}' % (host + 1, prefixes))
        return "\n".join(lines) + "\n"


def sightings(rng, places, hosts, packet, with_copies):
    """The passages of a packet.  The first is where it enters the monitored network."""
    level = packet.levels[-1]
    if "srcIP" not in level:         # nobody knows the MACs here
        return [Sighting(rng.randrange(hosts), rng.random() < 0.5)]
    source, target = places.owner(level["srcIP"]), places.owner(level["dstIP"])
    seen = []
    if source is not NOBODY:
        seen.append(Sighting(source, False))
    if target is not NOBODY and target != source:
        seen.append(Sighting(target, True))
    if not seen:                     # both directions of a connection enter at the same place
        pair = sorted((level["srcIP"], level["dstIP"]))
        return [Sighting((pair[0][1] + 3 * pair[1][1]) % hosts, True)]
    if with_copies:
        if source is not NOBODY and source == target and rng.random() < 0.3:
            seen.append(Sighting(source, True))
        elif source != target and rng.random() < 0.3:
            seen += [Sighting(host, True) for host in range(hosts) if host not in (source, target)]
    return seen


def counted_at(places, packet, sighting, observe):
    """For events whose hosts decide alone: the contract's rule for one passage, in words."""
    if observe == "all":
        return True
    level = packet.levels[-1]
    source = places.owner(level["srcIP"]) if "srcIP" in level else NOBODY
    target = places.owner(level["dstIP"]) if "srcIP" in level else NOBODY
    here, arrives = sighting.host, sighting.is_uplink
    if observe == "source":
        return not arrives or source is NOBODY and target in (NOBODY, here)
    if not arrives:
        return target in (NOBODY, here)
    return target == here and source != here or source is NOBODY and target is NOBODY


# --- what should come out ------------------------------------------------------

class View:
    """A trace as the evaluator wants it, made from those of hosts."""

    def __init__(self, packets, entries, samples, flows):
        self.packets, self.entries, self.samples, self.flows = packets, entries, samples, flows


class HostTrace:
    """What one host sees, by its clock, and which passages they are."""

    def __init__(self, case, host):
        shift = case.offsets_us[host] * US
        self.passages = [((time + shift, data, wire), each)
                         for (time, data, wire), seen in zip(case.packets, case.seen) for each in seen
                         if each.host == host]
        self.trace = evaluate.Trace([packet for packet, _ in self.passages])

    def view(self, case, union, observe):
        kept = [counted_at(case.places, packet, passage, observe)
                for packet, (_, passage) in zip(self.trace.packets, self.passages)]
        entries = [entry for entry, keep in zip(self.trace.entries, kept) if keep]
        samples = [entry for entry, sample in zip(self.trace.samples, self.trace.flows.samples)
                   if kept[sample.index]]
        return View(union.packets, entries, samples, self.trace.flows)


def expected_reports(case):
    """(reports, index of the event) over the union of all packets."""
    alone = case.trouble or "host" in case.scopes or "all" in case.observes
    hosts = [HostTrace(case, host) for host in range(case.hosts)] if alone else []
    union = evaluate.Trace(case.packets)
    if case.trouble:
        packets = sorted((packet for host in hosts for packet in host.trace.packets), key=lambda p: p.time)
        union = View(packets, [], [], union.flows)
    made = []
    for place, event in enumerate(case.events):
        parsed = event.parse(place)
        if case.scopes[place] == "host":
            views = [host.view(case, union, case.observes[place]) for host in hosts]
        elif case.observes[place] == "all" or case.trouble:
            parts = [host.view(case, union, case.observes[place]) for host in hosts]
            views = [View(union.packets, [e for part in parts for e in part.entries],
                          [s for part in parts for s in part.samples], union.flows)]
        else:
            views = [union]
        first = evaluate.interval_of(union.packets[0].time, parsed) + parsed.runs - 1
        for view in views:
            for report in evaluate.evaluate([parsed], view):
                # Runs that began before the traffic did are not in the trace.
                if report["start_ns"] >= first * parsed.interval_ms * MS:
                    made.append((place, report))
    return made


def window(case, place):
    """The intervals whose reports are compared."""
    parsed = case.events[place].parse(place)
    length = parsed.interval_ms * MS
    times = [packet[0] + case.offsets_us[each.host] * US for packet, seen in case.captures[0] for each in seen]
    first, last = min(times) // length, max(times) // length
    return (first + parsed.runs - 1) * length, last * length


def key_of(report):
    return report["start_ns"], json.dumps(report["bucket"])


VALUES = ("end_ns", "value", "threshold", "complete")


def difference(case, expected, lines):
    """One sentence on the first difference; None if there is none."""
    places = {("event-%d" % (i + 1)) if event.name is None else event.name: i
              for i, event in enumerate(case.events)}
    got, clears = collections.defaultdict(list), collections.defaultdict(list)
    for line in lines:
        report = json.loads(line)
        if "event" not in report:
            continue
        place = places[report["event"]]
        first, last = window(case, place)
        if not first <= report["start_ns"] <= last:
            continue
        (clears if report.get("cleared") else got)[place].append(report)
    wanted = collections.defaultdict(list)
    for place, report in expected:
        wanted[place].append(report)
    for place, event in enumerate(case.events):
        if case.trouble:
            problem = _wrong_report(case, got[place], wanted[place])
        else:
            problem = _event_difference(got[place], wanted[place]) or \
                _clear_difference(case, place, got[place], clears[place])
        if problem:
            return "event %d (%s; observe %s, scope %s): %s" % (
                place, event.line(), case.observes[place], case.scopes[place], problem)
    return None


def shown(report):
    return [report[key] for key in VALUES] + [report.get("unscaled", False)]


def _wrong_report(case, got, wanted):
    """A report that says that it is complete, and is not true, or too little of clocks."""
    truth = {key_of(report): report for report in wanted}
    for report in got:
        most = max(abs(offset) for offset in case.offsets_us) * US
        here = max((abs(case.offsets_us[int(share["host"][1:]) - 1]) * US for share in report["hosts"]), default=0)
        if not here <= report["skew_ns"] <= most + 5 * MS:
            return "skew of %d ns, and clocks are up to %d ns off: %s" % (report["skew_ns"], most, json.dumps(report))
        if not report["complete"]:
            continue
        true = truth.get(key_of(report))
        if true is None or shown(true) != shown(report):
            return "complete, and yet got %s, expected %s" % (json.dumps(report), json.dumps(true))
    return None


def _event_difference(got, wanted):
    def order(report):
        return key_of(report), float(report["value"]), report["complete"]

    got, wanted = sorted(got, key=order), sorted(wanted, key=order)
    for one, other in zip(got, wanted):
        if key_of(one) != key_of(other) or shown(one) != shown(other) or list(one["bucket"]) != list(other["bucket"]):
            return "got %s, expected %s" % (json.dumps(one), json.dumps(other))
    if len(got) != len(wanted):
        rest = (got if len(got) > len(wanted) else wanted)[min(len(got), len(wanted))]
        return "%d reports, expected %d; first of the rest: %s" % (len(got), len(wanted), json.dumps(rest))
    return None


def _clear_difference(case, place, got, clears):
    """A clear in the interval after the last report of a run, and nowhere else."""
    if case.scopes[place] == "host":
        return None                  # hosts tell no clears
    length = case.events[place].parse(place).interval_ms * MS
    first, last = window(case, place)
    fired = {key_of(report) for report in got}
    wanted = {(start + length, bucket) for start, bucket in fired} - fired
    wanted = {each for each in wanted if first < each[0] <= last}
    told = {key_of(report) for report in clears if report["start_ns"] > first}
    for what, each in (("missing", wanted - told), ("not due", told - wanted)):
        if each:
            return "clear is %s: %s" % (what, sorted(each)[0])
    return None


# --- cases ---------------------------------------------------------------------

class Case:
    may_lose_events = True           # when it is made small

    def copy(self):
        made = copy.copy(self)
        made.events, made.observes, made.scopes = list(self.events), list(self.observes), list(self.scopes)
        made.captures = [list(each) for each in self.captures]
        return made

    # One list of (packet, passages), for what makes cases small.
    @property
    def packets(self):
        return [packet for packet, _ in self.captures[0]]

    @property
    def seen(self):
        return [seen for _, seen in self.captures[0]]

    def events_yaml(self):
        """What may have been left out by shrink.py has taken its place in the lists along."""
        text = ["events:\n"]
        for event, observe, scope in zip(self.events, self.observes, self.scopes):
            made = copy.copy(event)
            made.more = ["observe: " + observe, "scope: " + scope]
            text.append(made.yaml())
        return "".join(text)

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "topology.yaml"), "w", encoding="utf-8") as out:
            out.write(self.places.yaml(self.hosts))
        with open(os.path.join(directory, "events.yaml"), "w", encoding="utf-8") as out:
            out.write(self.events_yaml())
        with open(os.path.join(directory, "packets.txt"), "w", encoding="utf-8") as out:
            out.write("%d\n" % START_NS)
            for (time, data, wire), seen in self.captures[0]:
                thread = thread_of(data) % self.threads
                for each in seen:
                    out.write("%d %d %s %d %d %s\n" % (time, each.host, "u" if each.is_uplink else "e", thread,
                                                       wire, data.hex() or "-"))

    def arguments(self, directory):
        made = ["--hosts", str(self.hosts), "--threads", str(self.threads), "--split", self.split]
        if any(self.offsets_us):
            made += ["--offsets", ",".join(str(each) for each in self.offsets_us)]
        if self.deadline_ms:
            made += ["--deadline", str(self.deadline_ms)]
        return made + [directory]


def thread_of(data):
    """Both directions of a connection meet on a thread."""
    level = Packet(0, data, len(data)).levels[-1]
    return sum(level[name][1] for name in ("srcIP", "dstIP")) if "srcIP" in level else 0


def make_case(seed):
    rng = random.Random("network %d" % seed)
    while True:
        try:
            return _make_case(rng)
        except (evaluate.OutOfBounds, OverflowError):
            continue


def _make_case(rng):
    case = Case()
    case.hosts = rng.choice((2, 2, 3, 3, 4, 5, 6, 8))
    case.threads = rng.choice((1, 1, 2))
    case.split = rng.choice(("yes", "no"))
    case.places = Places(rng, case.hosts)
    case.with_copies = rng.random() < 0.25
    trace = retimed(rng, traffic.make_trace(rng))
    if rng.random() < 0.1:           # as short as can be
        trace = trace[:rng.randrange(1, 6)]
    case.captures = [[(packet, sightings(rng, case.places, case.hosts, Packet(*packet), case.with_copies))
                      for packet in trace]]
    union = evaluate.Trace(trace)
    add_trouble(rng, case)
    case.events, case.observes, case.scopes = [], [], []
    for place in range(rng.choice((1, 2, 3, 4, 6))):
        case.observes.append(rng.choice(("source", "source", "destination", "all")))
        case.scopes.append("network" if case.trouble else rng.choice(("network",) * 9 + ("host",)))
        case.events.append(random_event(rng, case, union, place))
    expected_reports(case)           # may be out of bounds
    return case


def add_trouble(rng, case):
    """Clocks that are off.  The others have longer deadlines: steps of the simulated time are long for
    intervals of 1 ms."""
    case.trouble = rng.random() < 0.08
    case.deadline_ms = 0 if case.trouble else 20
    case.offsets_us = [0] * case.hosts
    if case.trouble:
        for host in range(case.hosts):
            case.offsets_us[host] = rng.choice((0, 0, rng.randrange(-50000, 50001), rng.randrange(-3000, 3001)))


def retimed(rng, trace, paces=(5, 50, 300, 1000)):
    """The frames in whole microseconds, without long silences: hosts live through all of it."""
    now, pace = START_NS + rng.choice((0, 1, 999, 5000)) * US, rng.choice(paces)
    made = []
    for _, data, wire in trace[:400]:
        kind = rng.random()
        if kind < 0.1:
            gap = 0
        elif kind < 0.3:
            gap = 10 + rng.choice((-1, 0, 1))
        elif kind < 0.36:
            unit = rng.choice((1, 1, 1, 2, 5)) * 1000
            gap = unit - now // US % unit + rng.choice((-1, 0, 0, 1))
        elif kind < 0.37:
            gap = rng.choice((3000, 20000))
        else:
            gap = rng.randrange(pace)
        now += max(gap, 0) * US
        made.append((now, data, wire))
    return made


def pick_interval(rng, _):
    return "%dms" % rng.choice(INTERVALS_MS)


random_events.pick_interval = pick_interval


def random_event(rng, case, union, place):
    simple = rng.random() < 0.3      # sums and counts, that thresholds can be split for
    while True:
        made = random_events.random_event(rng, union, place)
        if simple:
            made = split_event(rng, union, place, made)
        if "inPort" in made.line():  # ports differ, and traces have none
            continue
        parsed = made.parse(place)

        def mentions(names):
            return any(language.mentions(parsed.predicate, name) for name in names)

        if case.with_copies and mentions(HISTORY):
            continue
        if (case.observes[place] == "all" or case.trouble) and mentions(BARE):
            continue                 # whose state?  hosts see different packets, or at different times
        if case.trouble and made.runs != 1:
            continue                 # a run may begin in an interval that is not complete
        made.more = []
        if made.spelling == "string":
            made.spelling = "line"   # with `observe` beside it
        return made


def split_event(rng, union, place, made):
    made.predicate = "sum(%s) > 0" % rng.choice(("bytes", "volume", "packets"))
    found = random_events.values_of(union, made.parse(place))
    value = rng.choice(found) if found else 1
    left = made.predicate.split(" ")[0]
    made.predicate = "%s %s %d" % (left, rng.choice((">", ">=")), max(value + rng.choice((-1, 0, 0)), 0))
    return made
