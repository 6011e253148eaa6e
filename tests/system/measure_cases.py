# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measurement programs in the switch: what they hold of real packets, and that these stay as they are."""

import re

from controller_cases import HOST, network_of
from mark_cases import frame_to, pass_all, wires
from switch import CommandError, eventually

# The machine sends packets of its own through the bridge's ports; they are not counted.
PROGRAM = """
endpoint C;
param SENDER = 10.0.9.1;
param HOST = 10.0.0.1;
host = Key(ipv4.dst);
packets = Counter(width=32);
bytes = HashMap(key=host, size=4096, type=Counter(width=64));
sketch = Sketch(alg="count-min", key=host, nhash=4, size=256, width=32);
hosts = Sketch(alg="hyperloglog", key=host, nhash=1, size=1024);
pkts
  >> match(ipv4.src == SENDER)
  >> packets.set(packets + 1)
  >> bytes.set(bytes + pkt.size)
  >> sketch.set(sketch + 1)
  >> hosts.update()
  >> match(ipv4.dst == HOST)
  >> duplicate(found);
found >> tag(ipv4.tos, 5) >> collect(C);
""".replace("10.0.0.1", str(10 << 24 | 1)).replace("10.0.9.1", str(10 << 24 | 9 << 8 | 1))
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


def programs_of_the_controller_are_read_by_trumpetctl(switch):
    with wires(switch) as wire, network_of(switch) as network:
        def state():
            return [host["state"] for host in network.ctl("measure", "show", "all")["hosts"]]

        def value(*question):
            variable, = network.ctl("measure", "read", "all", *question)["variables"]
            return variable["value"]

        def truth(host):
            return sum(len(frame) for frame in frames if frame[33] == host)

        program = network.path("all.mafia")
        with open(program, "w", encoding="ascii") as text:
            text.write(PROGRAM)
        network.ctl("measure", "install", "all", program)
        assert state() == ["running"]
        assert switch.ask("program-list")["programs"][0]["origin"] == "controller"
        frames = [frame_to(n % HOSTS, n, n % 900) for n in range(COUNT)]
        forwarded, _, _ = pass_all(wire, frames)
        assert sorted(forwarded) == sorted(frames), "each packet is forwarded once, unchanged"
        assert value("packets") == COUNT
        of_keys = {host: value("bytes", "--key", f"10.0.0.{host}") for host in range(HOSTS)}
        assert all(held >= truth(host) for host, held in of_keys.items()), of_keys
        assert sum(held == truth(host) for host, held in of_keys.items()) >= HOSTS - 12, of_keys
        variable, = network.ctl("measure", "read", "all", "sketch")["variables"]
        count = sum(frame[33] == 1 for frame in frames)
        top, = variable["top_keys"]  # of what is collected
        assert top["key"] == "10.0.0.1" and top["value"] >= count >= top["estimate"]["low"], top
        text = network.ctl("measure", "read", "all", "sketch", output="table")
        assert re.search(rf"10\.0\.0\.1 +{top['value']} +\d+ +98\.2%", text), text
        assert network.ctl("measure", "read", "all", "--host", HOST)["hosts"] == [HOST]
        network.kill_controller()
        network.start_controller(port=network.agents_port)
        eventually(network.host, "the switch has come back")
        eventually(lambda: state() == ["running"], "it is known to run")
        assert value("packets") == COUNT, "nothing was lost or began anew"
        network.ctl("measure", "rm", "all", output="table")
        assert not switch.ask("program-list")["programs"], "it is gone when rm has ended"


ALL = [programs_measure_real_packets_and_change_none,
       programs_stop_with_the_monitor_and_go_on_with_it,
       programs_of_the_controller_are_read_by_trumpetctl]
