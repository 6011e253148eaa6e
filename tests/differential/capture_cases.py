# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases of captures that others made: random events over the packets of a file."""
import os
import random
import struct
import sys

import generate
import random_events
from oracle import evaluate, pcapio

MOST_PACKETS = 2000     # of a file: the evaluator is slow,
LONGEST = 600 * 10**9   # and looks at every interval


def captures_in(directory):
    """The paths of the captures that the evaluator reads, pcap and pcapng of Ethernet; at least one."""
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        sys.exit("--captures %s: %s" % (directory, error.strerror))
    found = []
    for path in (os.path.join(directory, name) for name in names):
        try:
            if os.path.isfile(path) and pcapio.read_capture(path):
                found.append(path)
        except (pcapio.CaptureError, struct.error, IndexError):
            print("%s: is not read by the evaluator" % path)
    return found or sys.exit("--captures %s: no capture of Ethernet" % directory)


def some_packets(rng, path, most):
    """At most so many of a capture, one behind the other in time."""
    packets = pcapio.merge([pcapio.read_capture(path)])
    begin = rng.randrange(max(len(packets) - most, 0) + 1)
    return [packet for packet in packets[begin:begin + most] if packet[0] - packets[begin][0] < LONGEST]


def make_case(path, seed):
    rng = random.Random("%s %d" % (os.path.basename(path), seed))
    packets = some_packets(rng, path, MOST_PACKETS)
    trace = evaluate.Trace(packets)
    events = [random_events.random_event(rng, trace, place) for place in range(rng.choice((1, 2, 3, 4)))]
    return generate.Case([packets], [("pcap", {})], events)
