# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Copies of trace rules that go through a reshuffler, a real bridge, to three analyzers."""

import contextlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import routers as router_network
from switch import Switch, at_best, eventually, is_listening, standstill
from trace_cases import CHAIN, Chain
from trace_controller_cases import (FIRST_PROBE_TAG, FIRST_TRACE_TAG, GRE_WITH_KEY, SYN_FIN,
                                    TEST_PORT, TraceNetwork, started)

ADDRESS, UNDERLAY, BRIDGE, TUNNEL_PORT = "10.20.0.2", "under", "shuf", 7
NAMES = ("an1", "an2", "an3")
FLOWS, RATE = 600, 500
# At its worst an analyzer is silent for 600 ms and the controller asks 20 times a second; other
# processes of a busy machine may hold all of that up.
PROMISED_S = 1.0
# SYNs of so many connections to a closed port, which answers each with a RST.
SYN_SENDER = """
import socket, struct, sys, time
mac, peer = (bytes.fromhex(text.replace(":", "")) for text in sys.argv[2:4])
flows, rate, forever = int(sys.argv[4]), float(sys.argv[5]), sys.argv[6] == "forever"
def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff
addresses = bytes((10, 77, 0, 1, 10, 77, 0, 2))
def frame(port):
    tcp = struct.pack("!HHIIBBHHH", port, 9, 1, 0, 5 << 4, 2, 1000, 0, 0)
    sum_ = checksum(addresses + struct.pack("!HH", 6, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", sum_) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0x4000, 64, 6, 0) + addresses
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return peer + mac + bytes((8, 0)) + ip + tcp
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
    out.bind((sys.argv[1], 0))
    frames = [frame(20000 + number) for number in range(flows)]
    due = time.monotonic()
    while True:
        for one in frames:
            out.send(one)
            due = max(due + 1 / rate, time.monotonic() - 0.1)
            time.sleep(max(0, due - time.monotonic()))
        if not forever:
            break
"""


class Relay(threading.Thread):
    """From a socket that every namespace sees to a port of this one's loopback."""

    def __init__(self, path, port):
        super().__init__(daemon=True)
        self.port, self.pairs = port, {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.ends = socket.socketpair()
        self.start()

    def run(self):
        while True:
            ready = select.select([self.listener, self.ends[0], *self.pairs], [], [])[0]
            if self.ends[0] in ready:
                return
            for one in ready:
                if one is self.listener:
                    self.connect(one.accept()[0])
                elif one in self.pairs:
                    self.pass_on(one)

    def connect(self, peer):
        try:
            other = socket.create_connection(("127.0.0.1", self.port))
        except OSError:  # nobody listens at the moment
            peer.close()
            return
        self.pairs.update({peer: other, other: peer})

    def pass_on(self, one):
        data = b""
        with contextlib.suppress(OSError):
            data = one.recv(65536)
            self.pairs[one].sendall(data)
        if not data:
            other = self.pairs.pop(one)
            self.pairs.pop(other)
            one.close()
            other.close()

    def close(self):
        self.ends[1].send(b"x")
        self.join()
        for one in (self.listener, *self.ends, *self.pairs):
            one.close()


class ShufflerHost(Switch):
    """A switch in a namespace of its own, without DPDK."""

    def __init__(self, paths):
        self.macs = []  # its own, and those of the analyzers
        self.host = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        own = os.readlink("/proc/self/ns/net")
        eventually(lambda: os.readlink(f"/proc/{self.host.pid}/ns/net") != own,
                   "the reshuffler's host has a namespace")
        self.inside = ["nsenter", "-t", str(self.host.pid), "-n"]
        subprocess.run([*self.inside, "ip", "link", "set", "lo", "up"], check=True)
        super().__init__(paths)

    def _start(self):
        self._start_database()
        self._start_vswitchd()

    def _spawn(self, name, command):
        super()._spawn(name, [*self.inside, *command])

    def crash(self):
        crashed = self.processes.pop()
        crashed.kill()
        crashed.wait()
        os.remove(self.control)

    def restart(self):
        """What is not in its database is gone: flows, neighbours, addresses."""
        self._start_vswitchd()
        for bridge in (UNDERLAY, BRIDGE):
            eventually(lambda: is_listening(f"{self.folder}/{bridge}.mgmt"),  # pylint: disable=W0640
                       "the bridges are there again")
        self.reach_all()

    def connect_wires(self, mac, macs):
        """The way to the network and those to the analyzers, in one bridge that floods nothing."""
        self.macs = [mac, *macs]
        self.vsctl("add-br", UNDERLAY, "--", "set", "bridge", UNDERLAY, "datapath_type=netdev",
                   "fail-mode=secure", f"other_config:hwaddr=\"{mac}\"", "--", "add-port", UNDERLAY,
                   router_network.COLLECTOR_DEVICE, "--", "set", "interface",
                   router_network.COLLECTOR_DEVICE, "ofport_request=9")
        for number in range(1, len(self.macs)):
            self.vsctl("add-port", UNDERLAY, f"rs-a{number}", "--", "set", "interface",
                       f"rs-a{number}", f"ofport_request={number}")
        self.reach_all()

    def reach_all(self):
        for command in (["addr", "replace", f"{ADDRESS}/24", "dev", UNDERLAY],
                        ["link", "set", "dev", UNDERLAY, "up"]):
            subprocess.run([*self.inside, "ip", *command], check=True)
        self.ofctl("add-flow", UNDERLAY, f"dl_dst={self.macs[0]},actions=LOCAL")
        for number, peer in enumerate(self.macs[1:], 1):
            self.ofctl("add-flow", UNDERLAY, f"dl_dst={peer},actions=output:{number}")
            self.rpc("tnl/neigh/set", UNDERLAY, f"10.20.0.1{number}", peer)

    def make_reshuffler(self):
        self.vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev",
                   "fail-mode=secure", "--", "add-port", BRIDGE, "rs-tun", "--", "set", "interface",
                   "rs-tun", "type=gre", "options:remote_ip=flow", "options:key=flow",
                   f"ofport_request={TUNNEL_PORT}")

    def counts(self):
        """[copies that came, those without a slot, those that went to each analyzer]"""
        text = self.ofctl_text("-O", "OpenFlow15", "dump-flows", BRIDGE)
        return [int(re.search(rf"{place}.*?n_packets=(\d+).*{match}", text).group(1))
                for place, match in (("", "actions=group:"), ("table=248", "priority=0"),
                                     *(("table=249,", f"reg12=0x{n}") for n in (1, 2, 3)))]

    def close(self):
        super().close()
        self.host.kill()
        self.host.wait()


class Tap(threading.Thread):
    """Takes down what comes to an analyzer by trace rules, (seconds of the system's clock, switch,
    frame), test packets left out, and counts whatever comes."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self.copies, self.count, self.is_over = [], 0, False
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        router_network.stamp(self.tap)
        self.tap.bind((device, 0x0800))
        self.tap.settimeout(0.2)
        self.start()

    def run(self):
        while not self.is_over:
            with contextlib.suppress(TimeoutError):
                frame, _, at = router_network.stamped(self.tap)
                if frame[23] != 47 or frame[34:38] != GRE_WITH_KEY:
                    continue
                key = struct.unpack("!I", frame[38:42])[0]
                self.count += 1
                tag = key & 0xfffff
                if FIRST_TRACE_TAG <= tag < FIRST_PROBE_TAG and tag & 0xfff != TEST_PORT:
                    self.copies.append((at, key >> 20, frame[42:]))

    def traced(self):
        """{switch: frames}"""
        found = {}
        for _, number, inner in list(self.copies):
            found.setdefault(number, []).append(inner)
        return found

    def close(self):
        self.is_over = True
        self.join()
        self.tap.close()


class ShuffledChain(Chain):
    """The three bridges, whose tunnels lead to the reshuffler."""

    names, weights = CHAIN, {}

    def __init__(self, switch):
        super().__init__(switch)
        self.shuffler, self.watched = None, []

    def open(self):
        super().open()
        device = router_network.COLLECTOR_DEVICE
        wires = [("col-sw", device), *((f"rs-a{n}", f"rs-a{n}p") for n in (1, 2, 3))]
        for one, other in wires:
            self.devices.append(other if one.startswith("rs-") else one)
            self.ip("link", "add", one, "type", "veth", "peer", "name", other)
            for name in (one, other):
                self.ip("link", "set", name, "up")
        self.switch.vsctl("add-br", "phy", "--", "set", "bridge", "phy", "datapath_type=netdev",
                          "--", "add-port", "phy", "col-sw")
        router_network.Routers.reach_collector(self)
        macs = [self.mac_of(f"rs-a{n}p") for n in (1, 2, 3)]
        mac = self.mac_of(device)
        self.shuffler = ShufflerHost(self.switch.paths)
        for name in (device, "rs-a1", "rs-a2", "rs-a3"):
            self.ip("link", "set", name, "netns", str(self.shuffler.host.pid))
            subprocess.run([*self.shuffler.inside, "ip", "link", "set", "dev", name, "up"],
                           check=True)
        self.shuffler.connect_wires(mac, macs)
        self.shuffler.make_reshuffler()
        self.watched = [Tap(f"rs-a{n}p") for n in (1, 2, 3)]

    def close(self):
        for tap in self.watched:
            tap.close()
        super().close()
        self.switch.vsctl("--if-exists", "del-br", "phy")
        if self.shuffler:
            self.shuffler.close()

    @staticmethod
    def mac_of(device, inside=()):
        text = subprocess.run([*inside, "ip", "-json", "link", "show", device], check=True,
                              capture_output=True).stdout
        return json.loads(text)[0]["address"]

    def route(self):
        for bridge in CHAIN:
            self.switch.ofctl("-O", "OpenFlow13", "add-flow", bridge, "priority=0,actions=NORMAL")

    def forget(self):
        """What has come until now."""
        self.quiet()
        for tap in self.watched:
            tap.copies.clear()

    def quiet(self):
        def is_quiet():
            before = [len(tap.copies) for tap in self.watched]
            time.sleep(0.5)
            return before == [len(tap.copies) for tap in self.watched]

        eventually(is_quiet, "no more copies come", seconds=60)

    def syn_sender(self, forever):
        return subprocess.Popen(
            [*self.at(1), sys.executable, "-c", SYN_SENDER, "trc-h1p",
             self.mac_of("trc-h1p", self.at(1)), self.mac_of("trc-h2p", self.at(2)), str(FLOWS),
             str(RATE), "forever" if forever else "once"])

    def send_syns(self):
        assert self.syn_sender(forever=False).wait(60) == 0

    def places_of(self, send):
        """Of what `send` sends: {port of the connection: the one analyzer that has its copies}"""
        self.forget()
        send()
        self.quiet()
        return self.one_place_of_each()

    def one_place_of_each(self):
        places = {}
        for name, tap in zip(NAMES, self.watched):
            by_switch = tap.traced()
            assert set(by_switch) <= {1, 2, 3}, by_switch.keys()
            for inner in by_switch.values():
                assert sorted(inner) == sorted(by_switch[1]), f"{name} has not got all hops"
                for frame in inner:
                    if frame[23] == 6:
                        client = max(struct.unpack("!HH", frame[34:38]))
                        places.setdefault(client, set()).add(name)
        split = {port: names for port, names in places.items() if len(names) != 1}
        assert not split, f"flows at several analyzers: {split}"
        return {port: names.pop() for port, names in places.items()}


class ShuffledNetwork(TraceNetwork):
    """A controller of the bridges and of the reshuffler, with three analyzers."""

    def __init__(self, switch, links):
        super().__init__(switch, links)
        self.links, self.relay, self.analyzers = links, None, {}

    def slice_configuration(self):
        own = self.links.shuffler.vsctl("get", "bridge", BRIDGE, "datapath_id")
        text = super().slice_configuration().replace(
            "  switches:\n", f"  switches:\n    - {{name: {BRIDGE}, datapath_id: {own}}}\n", 1)
        analyzers = ", ".join(f"{{name: {name}, address: 10.20.0.1{number}}}"
                              for number, name in enumerate(NAMES, 1))
        return (f"{text}reshufflers:\n  analyzers: [{analyzers}]\n"
                f"  bridges: [{{switch: {BRIDGE}, port: {TUNNEL_PORT}, address: {ADDRESS}}}]\n")

    def introduce_switches(self):
        path = f"{self.links.shuffler.folder}/relay"
        if self.relay is None:
            self.relay = Relay(path, self.ports["openflow"][0])
            self.closers.append(self.relay.close)
        self.relay.port = self.ports["openflow"][0]
        self.links.shuffler.vsctl("set-controller", BRIDGE, f"unix:{path}")
        super().introduce_switches()

    def wait_for_switches(self):
        eventually(lambda: self.metric("trumpet_openflow_switches") == len(CHAIN) + 1,
                   "all switches have come")

    def start_analyzer(self):
        for name in NAMES:
            self.start_one(name)
        eventually(lambda: self.metric("trumpet_analyzers_connected") == 3, "analyzers have come")

    def start_one(self, name):
        number = NAMES.index(name) + 1
        with open(self.path(f"{name}.yaml"), "w", encoding="utf-8") as out:
            json.dump({"capture": {"interfaces": [f"rs-a{number}p"]},
                       "traces": {"directory": self.path(f"traces-{name}")}}, out)
        with open(self.path(f"{name}.out"), "ab") as out:
            self.analyzers[name] = subprocess.Popen(
                [f"{self.build}/controller/daemon/trumpet-analyzer", f"--name={name}",
                 f"--config={self.path(f'{name}.yaml')}",
                 f"--controller=tcp:127.0.0.1:{self.ports['analyzers'][0]}",
                 f"--unixctl={self.path(f'{name}.ctl')}", "-vconsole:off"],
                env=dict(self.environment, TRUMPET_SYSCONFDIR=self.folder,
                         TRUMPET_STATEDIR=self.folder),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.closers += [self.analyzers[name].kill, self.analyzers[name].wait]

    def start_again(self):
        """The analyzers: another controller listens at another port."""
        for one in self.analyzers.values():
            one.kill()
            one.wait()
        self.start_analyzer()

    def reshuffler(self):
        return self.ctl("trace", "reshuffler", "show", BRIDGE)

    def wait_for_alive(self, *names):
        """Until these are alive, and no others, and the bridge has their slots."""
        def are_alive():
            told = self.reshuffler()
            states = {one["name"]: one["state"] for one in told["analyzers"]}
            alive = {name for name, state in states.items() if state == "alive"}
            have = {one["name"] for one in told["analyzers"] if one["slots"]}
            return told if alive == have == set(names) and told["state"] == "in order" else None

        return eventually(are_alive, f"alive are {names}", seconds=60)

    def places_of(self, send, *names):
        """Likewise, while these are alive: on a busy machine some may seem to be dead for a while."""
        def at_rest():
            before = self.wait_for_alive(*names)["changes"]
            error = None
            try:
                places = self.links.places_of(send)
            except AssertionError as wrong:
                error = wrong
            if self.wait_for_alive(*names)["changes"] != before:
                return None
            if error:
                raise error
            return places

        return eventually(at_rest, "slots stay for a while", seconds=120)

    def flows_at(self, *names):
        return self.places_of(self.links.send_syns, *names)

    def all_is_counted(self, has_moved):
        """What came to the reshuffler went to an analyzer, and we saw it there.  The controller, whose
        probes are copies, too, is killed for this.  When slots move, Open vSwitch counts what came in
        the half second before for whoever has them now, and one or the other copy too much."""
        assert all(one["copies"] for one in self.reshuffler()["analyzers"])
        self.kill_controller()
        told = []

        def agreed():
            seen = [tap.count for tap in self.links.watched]
            received, unassigned, *given = self.links.shuffler.counts()
            told[:] = [received, unassigned, given, seen]
            off = abs(sum(given) - sum(seen))
            is_known = off <= sum(seen) // 1000 if has_moved else given == seen
            return received if is_known and received == sum(given) + unassigned else None

        try:
            return eventually(agreed, "the counts of the reshuffler are what came")
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}: {told}") from wrong


@contextlib.contextmanager
def reshuffling(switch):
    links = ShuffledChain(switch)
    with started(links, lambda: ShuffledNetwork(switch, links)) as network:
        network.wait_for_alive(*NAMES)
        network.apply("{base: true, switch_rate: 1000000}")
        yield links, network


def failover(links, network, name, blow, revive):
    """How long copies went to an analyzer after the blow, in seconds, and how many; under traffic.
    It is tried again where that was too long: not all that holds processes up is known here."""
    def attempt():
        revive()
        network.wait_for_alive(*NAMES)
        with standstill() as stood:
            took, copies = time_of_failover(links, network, name, blow)
        return took, PROMISED_S + sum(stood), copies

    took, allowed, copies = at_best(attempt, lambda told: told[0] < told[1])
    assert took < allowed, f"copies went to {name} for {took:.3f} s, {allowed:.3f} s allowed"
    return took, copies


def time_of_failover(links, network, name, blow):
    tap = links.watched[NAMES.index(name)]
    links.forget()
    sender = links.syn_sender(forever=True)
    try:
        eventually(lambda: len(tap.copies) > 100, "copies come")
        struck_at = time.time()
        blow()
        told = network.wait_for_alive(*(other for other in NAMES if other != name))
    finally:
        sender.kill()
        sender.wait()
    links.quiet()
    slots = [one["slots"] for one in told["analyzers"]]
    assert slots[NAMES.index(name)] == 0 and sum(slots) == 256, slots
    late = [when - struck_at for when, *_ in tap.copies if when > struck_at]
    return max(late, default=0), len(late)


def copies_of_a_connection_meet_at_one_analyzer(switch):
    with reshuffling(switch) as (links, network):
        eventually(network.are_active, "copies of test packets have come", seconds=120)
        places = network.places_of(lambda: links.connect([20000] * 40), *NAMES)
        assert len(places) == 40 and len(set(places.values())) == 3, places
        ends = {(number, frame[34:38], frame[47] & SYN_FIN) for tap in links.watched
                for number, inner in tap.traced().items() for frame in inner
                if frame[47] & SYN_FIN}
        # 12 copies of each; on a busy machine some are sent again.
        assert len(ends) == 480, len(ends)
        received = network.all_is_counted(has_moved=network.reshuffler()["changes"] > 0)
        return f"{received} copies, {list(places.values()).count('an1')} of 40 at an1"


def a_third_of_the_flows_moves_when_one_of_three_analyzers_dies(switch):
    with reshuffling(switch) as (links, network):
        before = network.flows_at(*NAMES)
        assert len(before) == FLOWS, len(before)
        shares = [list(before.values()).count(name) for name in NAMES]
        # Shares of slots are equal; the same flows fall into them each time.
        assert all(abs(share - FLOWS / 3) < 70 for share in shares), shares

        def kill():
            network.analyzers["an2"].kill()
            network.analyzers["an2"].wait()

        def start():
            if network.analyzers["an2"].poll() is not None:
                network.start_one("an2")

        killed, lost = failover(links, network, "an2", kill, start)
        after = network.flows_at("an1", "an3")
        moved = {port for port in before if after[port] != before[port]}
        assert moved == {port for port, name in before.items() if name == "an2"}
        network.start_one("an2")
        assert network.flows_at(*NAMES) == before, "it has the flows that it had"

        stopped = network.analyzers["an3"]
        hung, lost_too = failover(links, network, "an3",
                                  lambda: stopped.send_signal(signal.SIGSTOP),
                                  lambda: stopped.send_signal(signal.SIGCONT))
        stopped.send_signal(signal.SIGCONT)
        assert network.flows_at(*NAMES) == before
        return (f"{len(moved)} of {FLOWS} flows moved; killed: {killed * 1000:.0f} ms, {lost} copies; "
                f"hung: {hung * 1000:.0f} ms, {lost_too} copies")


def slots_stay_without_a_controller(switch):
    def flows_of_bridge(links):
        return links.shuffler.ofctl_text("-O", "OpenFlow15", "--no-stats", "dump-flows", BRIDGE)

    with reshuffling(switch) as (links, network):
        before = network.flows_at(*NAMES)
        flows = eventually(lambda: network.wait_for_alive(*NAMES) and flows_of_bridge(links), "rest")
        network.kill_controller()
        assert links.places_of(links.send_syns) == before, "as they were"
        network.restart_controller()
        links.route()
        network.start_again()
        assert network.flows_at(*NAMES) == before
        eventually(lambda: flows_of_bridge(links) == flows, "the same flows are there", seconds=60)


def counts_of(links):
    """Those of the reshuffler, and what the analyzers' devices have seen, once both stand still."""
    last = [None]

    def still():
        before, last[0] = last[0], [*links.shuffler.counts(), *(tap.count for tap in links.watched)]
        return last[0] if last[0] == before else None

    return eventually(still, "nothing comes", pause=1.2)


def copies_come_again_when_the_reshuffler_was_killed(switch):
    with reshuffling(switch) as (links, network):
        before = network.flows_at(*NAMES)
        links.forget()
        sender = links.syn_sender(forever=True)
        try:
            eventually(lambda: all(tap.copies for tap in links.watched), "copies come")
            links.shuffler.crash()
            eventually(lambda: network.reshuffler()["state"] == "away", "the controller notices")
            links.quiet()
            for tap in links.watched:
                tap.copies.clear()
            links.shuffler.restart()
            network.wait_for_alive(*NAMES)
            eventually(lambda: all(tap.copies for tap in links.watched), "copies come again")
        finally:
            sender.kill()
            sender.wait()
        assert network.flows_at(*NAMES) == before, "each flow goes where it went"
        # Of what came while it was put together again some was counted, and went nowhere.
        network.kill_controller()
        links.quiet()
        begin = counts_of(links)
        links.send_syns()
        told = []

        def all_is_counted():
            told[:] = [now - then for now, then in zip(counts_of(links), begin)]
            received, unassigned, *others = told
            given, seen = others[:3], others[3:]
            return received if received == sum(seen) > FLOWS and given == seen and not unassigned else None

        try:
            received = eventually(all_is_counted, "each copy is counted, and comes")
        except AssertionError as wrong:
            raise AssertionError(f"{wrong}: {told}") from wrong
        return f"{received} copies of {FLOWS} connections"


def bounces_are_measured_whichever_analyzer_has_their_copies(switch):
    """Packets of one bounce are one connection's, which has a slot; with the analyzer that has it
    gone, another one has the copies."""
    with reshuffling(switch) as (links, network):
        del links

        def bounce(*arguments):
            begun = network.ctl("probe", "bounce", CHAIN[0], f"--to={CHAIN[1]}", "--count=20",
                                "--rate=50", "--timeout=10", "--background", *arguments)

            def ended():
                told = {one["id"]: one for one in network.ctl("probe", "bounces")}[begun["id"]]
                return told if told["state"] == "done" else None
            return eventually(ended, "the bounce ends", seconds=60)

        def all_return():
            try:
                told = bounce()
            except AssertionError as wrong:
                if "has been found by LLDP" in str(wrong):
                    return None  # not yet
                raise
            return told if told["returned"] == told["sent"] == 20 else None

        eventually(all_return, "packets bounce, and are told", seconds=120)
        seen = []
        for ends, begins, alive in ((NAMES[:2], (), NAMES[2:]), (NAMES[2:], NAMES[:1], NAMES[:1])):
            for name in begins:
                network.start_one(name)
                network.wait_for_alive(*alive, *ends)
            for name in ends:
                network.analyzers[name].kill()
                network.analyzers[name].wait()
            network.wait_for_alive(*alive)
            told = eventually(all_return, f"to {alive}, too", seconds=120)
            assert told["apart"] == 0 and told["round_trip"]["max_ns"] > 0, told
            seen.append(told["round_trip"]["p50_ns"])
        return f"medians {[round(value / 1000) for value in seen]} us"


ALL = [
    copies_of_a_connection_meet_at_one_analyzer,
    a_third_of_the_flows_moves_when_one_of_three_analyzers_dies,
    slots_stay_without_a_controller,
    copies_come_again_when_the_reshuffler_was_killed,
    bounces_are_measured_whichever_analyzer_has_their_copies,
]
