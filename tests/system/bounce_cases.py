# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Round trips of links with known delays, measured by packets that bounce."""

import contextlib
import re
import select
import socket
import statistics
import struct
import threading
import time

import routers as router_network
from routers import Links
from slice_cases import SliceNetwork
from switch import eventually

HERE, THERE = "bnc1", "bnc2"
# One way, in milliseconds; a link for each.
DELAYS_MS = (0, 0.1, 1, 10)
ETH_P_ALL, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 3, 35, 33
PROBE_MAGIC = b"Trmp\xf0\x9f\x8e\xba"
PAYLOAD_AT, TTL_AT = 42, 22
BOUNCES = "cookie=0x7472070000000000/0xffffff0000000000"
PROBES, RATE = 40, 50


def device(side, number):
    return f"bnc{side}-{number}"


class Passages(threading.Thread):
    """When the kernel saw packets that bounce leave and come back at devices of the first switch:
    {device: {packet: [nanoseconds out, nanoseconds back]}}."""

    def __init__(self, devices):
        super().__init__(daemon=True)
        self.seen = {name: {} for name in devices}
        self.sockets = {}
        for name in devices:
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            one.bind((name, ETH_P_ALL))
            one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
            one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            self.sockets[one] = name
        self.ends = threading.Event()
        self.start()

    def run(self):
        while not self.ends.is_set():
            for one in select.select(list(self.sockets), [], [], 0.2)[0]:
                frame, notes, _, address = one.recvmsg(256, 64)
                if frame[PAYLOAD_AT:PAYLOAD_AT + 8] != PROBE_MAGIC or not notes:
                    continue
                seconds, nanos = struct.unpack("qq", notes[0][2][:16])
                packet = frame[PAYLOAD_AT + 8:PAYLOAD_AT + 20]
                is_back = address[2] != socket.PACKET_OUTGOING
                assert frame[TTL_AT] == (63 if is_back else 64), frame.hex()
                times = self.seen[self.sockets[one]].setdefault(packet, [None, None])
                times[is_back] = seconds * 10**9 + nanos

    def forget(self, name):
        self.seen[name].clear()

    def median(self, name):
        return statistics.median(back - out for out, back in list(self.seen[name].values())
                                 if out is not None and back is not None)

    def close(self):
        self.ends.set()
        self.join()
        for one in self.sockets:
            one.close()


class DelayedLinks:
    """Two bridges and a link for each delay; what SliceNetwork asks of routers."""

    names, weights = (HERE, THERE), {}

    def __init__(self, switch):
        self.switch = switch
        collector = router_network.COLLECTOR_DEVICE
        pairs = [f"{device(1, number)},{device(2, number)},{delay},0"
                 for number, delay in enumerate(DELAYS_MS)]
        self.links = Links([f"{switch.paths['BUILD']}/tests/support/link_emulator", *pairs,
                            f"col-sw,{collector},0,0"], router_network.start_piped)
        try:
            self.connect()
        except BaseException:
            self.close()
            raise

    def connect(self):
        for side, bridge in enumerate(self.names, 1):
            self.switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge,
                              "datapath_type=netdev", "fail-mode=secure")
            for number in range(len(DELAYS_MS)):
                self.switch.vsctl("add-port", bridge, device(side, number), "--", "set",
                                  "interface", device(side, number), f"ofport_request={number + 1}")
        self.switch.vsctl("add-br", "phy", "--", "set", "bridge", "phy", "datapath_type=netdev",
                          "--", "add-port", "phy", "col-sw")
        router_network.Routers.reach_collector(self)

    def route(self):
        """Links side by side are a loop: nothing but what the controller sends may pass."""

    def close(self):
        for bridge in (*self.names, "phy"):
            self.switch.vsctl("--if-exists", "del-br", bridge)
        self.links.close()


class BounceNetwork(SliceNetwork):
    def write_topology(self):
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write(f"switches: [{{name: {HERE}}}, {{name: {THERE}}}]\n")

    def wait_for_links(self):
        def are_there():
            links = self.ctl("topology", "show")["links"]
            return len([link for link in links if link.get("to_port")]) == len(DELAYS_MS)
        eventually(are_there, "LLDP finds all links", seconds=60)

    def bounce(self, number, count=PROBES):
        begun = self.ctl("probe", "bounce", HERE, device(1, number), f"--count={count}",
                         f"--rate={RATE}", "--timeout=10", "--background")

        def ended():
            told = {one["id"]: one for one in self.ctl("probe", "bounces")}[begun["id"]]
            return told if told["state"] == "done" else None
        return eventually(ended, "the bounce ends", seconds=120)


@contextlib.contextmanager
def bounces_on(switch):
    links = DelayedLinks(switch)
    network = BounceNetwork(switch, links)
    try:
        network.start()
        network.wait_for_links()
        yield network
    except BaseException:
        network.print_log()
        raise
    finally:
        network.close()
        links.close()


def flows_that_bounce(switch):
    return [line for bridge in (HERE, THERE) for line in switch.ofctl_text(
        "-O", "OpenFlow14", "dump-flows", bridge, BOUNCES).splitlines() if "dl_dst" in line]


class RoundTrips:
    """The median round trip of each link, as told and as the kernel saw the same packets.  A busy
    machine makes packets late, and copies of them: each round of measurements is judged alone."""

    def __init__(self, network, passages):
        self.network, self.passages = network, passages
        self.rounds = []  # of each, for each link: (seen, told)

    def measure(self, number):
        self.passages.forget(device(1, number))
        bounce = self.network.bounce(number)
        assert bounce["sent"] == PROBES and not bounce["notes"], bounce
        assert bounce["to"] == THERE and bounce["to_port"] == number + 1, bounce
        assert bounce["returned"] > 0, bounce
        trip = bounce["round_trip"]
        assert sum(one["packets"] for one in trip["histogram"]) == bounce["returned"], bounce
        return self.passages.median(device(1, number)), trip["p50_ns"]

    def differences(self):
        """How much longer each link of the last round takes than the one without delay: (seen,
        told)."""
        (seen_base, told_base), *others = self.rounds[-1]
        return [(seen - seen_base, told - told_base) for seen, told in others]

    def are_right(self):
        self.rounds.append([self.measure(number) for number in range(len(DELAYS_MS))])
        return all(seen > delay * 10**6 and abs(told - seen) <= max(50_000, seen / 10)
                   for (seen, told), delay in zip(self.differences(), DELAYS_MS[1:]))


def bounces_tell_how_long_links_take(switch):
    with bounces_on(switch) as network:
        passages = Passages([device(1, number) for number in range(len(DELAYS_MS))])
        trips = RoundTrips(network, passages)
        try:
            eventually(trips.are_right, "delays of links are told to 10 % or 50 us", seconds=240)
        except BaseException:
            print(f"# (seen, told) of each link in each round, in ns: {trips.rounds}")
            raise
        finally:
            passages.close()
        eventually(lambda: not flows_that_bounce(switch), "no flow of a bounce is left")
        shown = network.ctl("probe", "bounce", HERE, f"--to={THERE}", "--count=5", output="table")
        assert "packets came back" in shown and "round trip: min" in shown, shown
        lines = network.ctl("probe", "links", "--count=5", output="table").splitlines()
        assert len(lines) == 1 + len(DELAYS_MS) and all(THERE in line for line in lines[1:]), lines
        return f"round {len(trips.rounds)}: " + "; ".join(
            f"{seen / 1000:.0f} us told as {told / 1000:.0f}" for seen, told in trips.differences())


def a_bounce_ends_when_its_controller_is_killed(switch):
    with bounces_on(switch) as network:
        network.ctl("probe", "bounce", HERE, device(1, 0), "--count=1", "--timeout=2")
        begun = network.ctl("probe", "bounce", HERE, device(1, 1), "--count=1000", "--rate=100",
                            "--background")
        assert begun["state"] == "sending", begun
        eventually(lambda: len(flows_that_bounce(switch)) == 2, "both switches have a flow")
        assert all("hard_timeout=" in line for line in flows_that_bounce(switch))
        # Packets of others are none of its business: they match no flow of its.
        assert all("dl_dst=" in line and "in_port=" in line for line in flows_that_bounce(switch))
        network.kill_controller()
        network.restart_controller()
        eventually(lambda: not flows_that_bounce(switch), "the next controller removes them",
                   seconds=60)
        return None


def the_timeout_alone_ends_a_bounce(switch):
    """No controller comes again."""
    with bounces_on(switch) as network:
        begun = time.monotonic()
        # It sends for 5 s, in which its flows are found and the controller is killed: when packets
        # have returned, it removes them.
        network.ctl("probe", "bounce", HERE, device(1, 1), "--count=100", "--rate=20", "--timeout=1",
                    "--background")
        flows = eventually(lambda: len(flows_that_bounce(switch)) == 2 and flows_that_bounce(switch),
                           "both switches have a flow", pause=0)
        network.kill_controller()
        allowed = max(int(re.search(r"hard_timeout=(\d+)", line).group(1)) for line in flows)
        assert allowed <= 40, flows
        assert len(flows_that_bounce(switch)) == 2, "nobody has removed them"
        eventually(lambda: not flows_that_bounce(switch), "the switches remove them", pause=0.2,
                   seconds=allowed + 20)
        took = time.monotonic() - begun
        return f"{took:.0f} s, {allowed} allowed"


ALL = [bounces_tell_how_long_links_take, a_bounce_ends_when_its_controller_is_killed,
       the_timeout_alone_ends_a_bounce]
