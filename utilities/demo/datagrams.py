# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sends datagrams in bursts at given times, or takes them; a program of its own in a namespace.

usage: datagrams.py send ADDRESS PORT START_NS PERIOD_NS COUNT...
       datagrams.py take PORT
The burst number k has COUNT[k] datagrams and begins at START_NS + k * PERIOD_NS of Unix time.
"""
import socket
import sys
import time

PAYLOAD = 1400


def send(address, port, start_ns, period_ns, counts):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for burst, count in enumerate(counts):
            time.sleep(max(start_ns + burst * period_ns - time.time_ns(), 0) / 1e9)
            for number in range(count):         # no two are alike
                payload = b"%d.%d " % (burst, number)
                out.sendto(payload.ljust(PAYLOAD, b"."), (address, port))


def take(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inlet:
        inlet.bind(("", port))
        while True:
            inlet.recv(65536)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], *map(int, sys.argv[3:6]), list(map(int, sys.argv[6:])))
    else:
        take(int(sys.argv[2]))
