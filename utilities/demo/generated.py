# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Generated traffic whose every count is known by arithmetic.

A capture is replayed in a circle by a net_pcap port.  The packets that went
out come from the counter of the port's own sink; since the order is known, so
is the number of packets of each /24 after any number of packets.
"""
import random

import frames
from oracle import pcapio

NETS = 16                               # 198.18.0.0/24 ... 198.18.15.0/24
FLOWS_PER_NET = 256
ROUNDS = 4                              # packets of each flow in one circle
SURGE_NET = 7
SURGE_FLOWS = 1024
UDP = 17
SHORTEST = 60                           # bytes of a frame without its check sequence


def net_name(net):
    return "198.18.%d.0/24" % net


def _frame(source, net, host, port):
    datagram = frames.udp(port, 9, b"\0" * (SHORTEST - 14 - 20 - 8))
    return frames.packet(datagram, UDP, source, "198.18.%d.%d" % (net, host))


class Circle:
    """A capture played again and again; `nets` holds the /24 of each packet in order."""

    def __init__(self, path, packets):
        self.nets = [net for net, _ in packets]
        pcapio.write_pcap(path, [(i * 100, data, len(data)) for i, (_, data) in enumerate(packets)],
                          micro=True)
        self.path = path

    def sent_to(self, net, total):
        """Of the first `total` packets, how many went to 198.18.`net`.0/24."""
        rounds, rest = divmod(total, len(self.nets))
        return rounds * self.nets.count(net) + self.nets[:rest].count(net)


def crowd(path):
    """Many flows, evenly over all nets, well mixed."""
    mixer = random.Random(1)
    flows = [(net, _frame("10.1.%d.%d" % (i // 250, i % 250 + 1), net, i % 200 + 1, 1024 + i))
             for net in range(NETS) for i in range(FLOWS_PER_NET)]
    packets = []
    for _ in range(ROUNDS):
        mixer.shuffle(flows)
        packets += flows
    return Circle(path, packets)


def surge(path):
    """Everybody calls one net."""
    return Circle(path, [(SURGE_NET, _frame("10.2.%d.%d" % (i // 250, i % 250 + 1), SURGE_NET, 80,
                                            2000 + i)) for i in range(SURGE_FLOWS)])
