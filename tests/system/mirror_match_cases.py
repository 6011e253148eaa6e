# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What SONiC's tests of Everflow try of matches and of the outer header, with packets on wires: what
fits is copied byte for byte, and nothing else is.  Random rules are read by
trace_rules_do_what_a_slow_reading_of_them_says."""

import ipaddress
import json
import random
import struct
import time

import frames
from gateways import IPV6, checksum
from mirrors import (ANALYZER6, BRIDGES, BY_A, HOST_ROUTE, MOST_UNDER_WAY, WAYS, datagram, ip, mirrors,
                     routed)
from switch import eventually

UDP, TCP, ICMP, OSPF, EIGRP = 17, 6, 1, 89, 88
SYN, ACK, ECE = 2, 16, 64
A = WAYS["mir-a"][2]["10.20.1.2"]
DSCP, TTL, BUDGET, FLOOD_S, FLOOD_RATE = 24, 33, 100, 20, 1000


class Packets:
    """Whatever is not said is drawn; so are payloads, and how long they are."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def payload(self):
        return self.random.randbytes(self.random.choice((0, 1, 40, 500, 1300)))

    def segment(self, protocol, source_port=1000, target_port=2000, flags=ACK):
        if protocol == UDP:
            return frames.udp(source_port, target_port, self.payload())
        if protocol == TCP:
            return frames.tcp(source_port, target_port, self.random.getrandbits(32), 1, flags,
                              self.payload())
        return self.random.randbytes(8) + self.payload()

    def ip(self, is_ipv6, segment, source=None, target=None, protocol=UDP, tos=0, vlan=None):
        body = self.segment(protocol, **segment)
        usual = ("2001:db8::1", "2001:db8::2") if is_ipv6 else ("10.1.0.1", "10.2.0.1")
        ends = b"".join(ipaddress.ip_address(text or other).packed
                        for text, other in zip((source, target), usual))
        ttl = self.random.choice((2, 64, 255))
        if is_ipv6:
            head = struct.pack("!IHBB", 6 << 28 | tos << 20, len(body), protocol, ttl)
            return frames.ethernet(head + ends + body, IPV6, vlan)
        head = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(body), self.random.getrandbits(16), 0,
                           ttl, protocol, 0) + ends
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        return frames.ethernet(head + body, vlan=vlan)

    def other(self, kind):
        return frames.ethernet(self.random.randbytes(60), kind)


# Of each: the filter, what fits, and what misses it by a little and fits no other.
MATCHES = {
    "source": ("srcIP=10.50.0.0/24", [{"source": "10.50.0.0"}, {"source": "10.50.0.255"}],
               [{"source": "10.50.1.0"}, {"source": "10.49.255.255"}, {"target": "10.50.0.7"}]),
    "target": ("dstIP=10.51.0.7", [{"target": "10.51.0.7"}],
               [{"target": "10.51.0.6"}, {"source": "10.51.0.7"}]),
    "source6": ("srcIP=2001:db8:50::/48", [{"v6": True, "source": "2001:db8:50:7::1"}],
                [{"v6": True, "source": "2001:db8:51::1"}, {"v6": True, "target": "2001:db8:50::1"}]),
    "target6": ("dstIP=2001:db8:52::9", [{"v6": True, "target": "2001:db8:52::9"}],
                [{"v6": True, "target": "2001:db8:52::8"}]),
    "source-port": ("srcPort=5001", [{"source_port": 5001}, {"source_port": 5001, "protocol": TCP},
                                     {"v6": True, "source_port": 5001}],
                    [{"source_port": 5002}, {"target_port": 5001}]),
    "target-ports": ("dstPort=6000-6010",
                     [{"target_port": port, "protocol": protocol, "v6": v6}
                      for port in (6000, 6007, 6010) for protocol in (UDP, TCP)
                      for v6 in (False, True)],
                     [{"target_port": 5999}, {"target_port": 6011}, {"source_port": 6005},
                      {"target_port": 6011, "v6": True}]),
    "protocol": (f"Protocol={OSPF}", [{"protocol": OSPF}, {"protocol": OSPF, "v6": True}],
                 [{"protocol": EIGRP}, {"protocol": EIGRP, "v6": True}]),
    "flags": ("tcpFlags=+syn-ack", [{"protocol": TCP, "flags": SYN},
                                    {"protocol": TCP, "flags": SYN | ECE, "v6": True}],
              [{"protocol": TCP, "flags": SYN | ACK}, {"protocol": TCP, "flags": ACK}]),
    "dscp": ("dscp=46", [{"tos": 46 << 2}, {"tos": 46 << 2 | 1}, {"tos": 46 << 2, "v6": True}],
             [{"tos": 45 << 2}, {"tos": 47 << 2}, {"tos": 46}]),
    "type": ("ethType=0x88b5", [{"kind": 0x88B5}], [{"kind": 0x88B6}]),
    "icmp": ("Protocol=ICMP", [{"protocol": ICMP}], [{"protocol": EIGRP}]),
    "vlan": ("vlan=77", [{"vlan": 77}, {"vlan": 77, "v6": True}], [{"vlan": 78}, {"vlan": None}]),
    "port": ("inPort=3", [{"wire": "mir-in3"}, {"wire": "mir-in3", "v6": True}],
             [{"wire": "mir-in"}]),
}


def packet_of(packets, words):
    """(the wire it is sent into, the frame)"""
    words = dict(words)
    wire, is_ipv6 = words.pop("wire", "mir-in"), words.pop("v6", False)
    if "kind" in words:
        return wire, packets.other(words["kind"])
    segment = {name: words.pop(name) for name in ("source_port", "target_port", "flags")
               if name in words}
    return wire, packets.ip(is_ipv6, segment, **words)


def each_match_copies_what_fits_and_nothing_else(switch):
    packets, names, sent = Packets(1), list(MATCHES), []
    rules = {"rules": [{"name": name, "filter": text} for name, (text, _, _) in MATCHES.items()]}
    for number, (_, fits, misses) in enumerate(MATCHES.values()):
        for words in fits * 4:
            sent.append((number, *packet_of(packets, words)))
        for words in misses * 4:
            sent.append((None, *packet_of(packets, words)))
    packets.random.shuffle(sent)
    with mirrors(switch, json.dumps(rules)) as (links, network):
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        links.forget()
        for wire in ("mir-in", "mir-in3"):
            links.send([frame for _, where, frame in sent if where == wire], wire)
        wanted = {1: sorted((number, 3 if wire == "mir-in3" else 1, frame)
                            for number, wire, frame in sent if number is not None),
                  2: sorted((number, 1, routed(frame)) for number, _, frame in sent
                            if number is not None and names[number] != "port")}
        links.quiet()
        for at in (1, 2):
            got = sorted((copy.rule, copy.in_port, copy.frame) for copy in links.copies()
                         if copy.switch == at)
            for name in names:
                number = names.index(name)
                assert [one for one in got if one[0] == number] == [
                    one for one in wanted[at] if one[0] == number], (BRIDGES[at - 1], name)
        assert sorted(links.forwarded()) == sorted(routed(frame) for _, _, frame in sent)
        return f"{len(sent)} packets, {sum(map(len, wanted.values()))} copies"


def outer_headers_are_as_configured_and_copies_within_their_budget(switch):
    rules = json.dumps({"rules": [{"name": "all", "filter": "Protocol=UDP", "rate": BUDGET}]})
    options = (f"options:tos={DSCP << 2}", f"options:ttl={TTL}")
    with mirrors(switch, rules, options=options) as (links, network):
        ip("route", "add", HOST_ROUTE, *BY_A)
        network.wait_for("active")
        time.sleep(2)  # until the meter is full again
        links.forget()
        begin, count, out = time.monotonic(), FLOOD_S * FLOOD_RATE, []

        def are_forwarded(wanted):
            out.extend(links.forwarded())
            return len(out) >= wanted

        for number in range(count):
            links.taps["mir-in"].send(datagram(number))
            if number % 50 == 49:
                eventually(lambda: are_forwarded(number - MOST_UNDER_WAY), "bridges keep up")  # pylint: disable=W0640
            time.sleep(max(0, begin + number / FLOOD_RATE - time.monotonic()))
        took = time.monotonic() - begin
        states = network.states()
        assert {state for state, _ in states.values()} == {"active"}, f"the budget is used up, and copies come: {states}"
        eventually(lambda: are_forwarded(count), "packets have no budget")
        links.quiet()
        copies = [copy for way in links.ways.values() for copy in way.copies]
        assert {(copy.dscp, copy.ttl) for copy in copies} == {(DSCP, TTL)}
        assert not links.forwarded() and len(out) == count, "each once"
        counts = [sum(copy.switch == at for copy in copies) for at in (1, 2)]
        for got in counts:  # with the burst, a second's
            assert 0.9 * BUDGET * took <= got <= 1.1 * BUDGET * (took + 1), (counts, took)
        return f"{counts} copies of {count} packets in {took:.1f} s"


def copies_go_to_an_analyzer_of_ipv6(switch):
    with mirrors(switch, target=ANALYZER6, options=(f"options:tos={DSCP << 2}",
                                                    f"options:ttl={TTL}")) as (links, network):
        network.wait_for("failed")
        ip("-6", "route", "add", f"{ANALYZER6}/128", "via", "2001:db8:1::2", "dev", "mir-a")
        network.wait_for("active")
        copies = links.check(A)
        assert {(copy.dscp, copy.ttl, copy.source) for copy in copies} == {
            (DSCP, TTL, "2001:db8:1::1")}
        ip("-6", "route", "del", f"{ANALYZER6}/128")
        network.wait_for("failed")


ALL = [
    each_match_copies_what_fits_and_nothing_else,
    outer_headers_are_as_configured_and_copies_within_their_budget,
    copies_go_to_an_analyzer_of_ipv6,
]
