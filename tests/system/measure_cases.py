# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measurement programs in the switch: what they hold of real packets, and that these stay as they are."""

from mark_cases import frame_to, pass_all, wires
from switch import CommandError, eventually

PROGRAM = """
endpoint C;
param HOST = 10.0.0.1;
host = Key(ipv4.dst);
packets = Counter(width=32);
bytes = HashMap(key=host, size=4096, type=Counter(width=64));
sketch = Sketch(alg="count-min", key=host, nhash=4, size=256, width=32);
hosts = Sketch(alg="hyperloglog", key=host, nhash=1, size=1024);
pkts
  >> packets.set(packets + 1)
  >> bytes.set(bytes + pkt.size)
  >> sketch.set(sketch + 1)
  >> hosts.update()
  >> match(ipv4.dst == HOST)
  >> duplicate(found);
found >> tag(ipv4.tos, 5) >> collect(C);
""".replace("10.0.0.1", str(10 << 24 | 1))
HOSTS = 60
COUNT = 600


def value_of(switch, variable, host):
    return switch.ask("program-read", "all", variable, f"key=10.0.0.{host}")["value"]


def programs_measure_real_packets_and_change_none(switch):
    with wires(switch) as wire:
        switch.rpc("trumpet/program-add", "all", PROGRAM)
        wanted = [frame_to(n % HOSTS, n, n % 900) for n in range(COUNT)]
        forwarded, _, _ = pass_all(wire, wanted)
        assert sorted(forwarded) == sorted(wanted), "each packet is forwarded once, unchanged"
        exact = 0
        for host in range(HOSTS):
            frames = [frame for frame in wanted if frame[33] == host]
            held, truth = value_of(switch, "bytes", host), sum(len(frame) for frame in frames)
            assert held >= truth and value_of(switch, "sketch", host) >= len(frames), host
            exact += held == truth
        assert exact >= HOSTS - 12, "only hosts that share a slot of the map have too much"
        largest = switch.ask("program-read", "all", "bytes", "top=100")["largest"]
        assert sum(cell["value"] for cell in largest) == sum(len(frame) for frame in wanted)
        hosts = switch.ask("program-read", "all", "hosts")["keys"]
        assert abs(hosts["value"] - HOSTS) <= HOSTS / 5, hosts  # far beyond the interval
        shown = switch.ask("program-show", "all")
        of_one = [frame for frame in wanted if frame[33] == 1]
        assert shown["collected"] == len(of_one) and shown["lost"] == 0, shown
        assert {copy["packet"]["ipv4.tos"] for copy in shown["copies"]} == {5}, shown


def programs_stop_with_the_monitor_and_go_on_with_it(switch):
    def packets():
        return switch.ask("program-read", "all")["variables"][0]["value"]

    with wires(switch) as wire:
        switch.rpc("trumpet/program-add", "all", PROGRAM)
        frames = [frame_to(n % HOSTS, n) for n in range(50)]
        pass_all(wire, frames)
        assert packets() == 50
        switch.rpc("trumpet/disable")
        pass_all(wire, frames)
        assert packets() == 50
        switch.rpc("trumpet/enable")
        pass_all(wire, frames)
        assert packets() == 100
        switch.rpc("trumpet/program-del", "all")
        pass_all(wire, frames)
        try:
            packets()
        except CommandError as error:
            assert "no program 'all' is installed" in str(error)
        else:
            raise AssertionError("a program was read that is gone")
        eventually(lambda: switch.ask("program-list")["used"]["bytes"] == 0, "nothing is used")


ALL = [programs_measure_real_packets_and_change_none,
       programs_stop_with_the_monitor_and_go_on_with_it]
