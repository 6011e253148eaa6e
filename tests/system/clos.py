# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network of four leaves and two spines, bridges that route, with a host at each leaf, and its
controller; whatever is wrong with it is put in by those who use it.

The host of the last leaf is a load balancer, too: what comes to the prefix VIP it sends to the host
of the third in IP-in-IP.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys

import routers as router_network
from probe_cases import ProbeNetwork
from routers import Links, start_piped
from slice_cases import COPY_PORT
from switch import eventually

LEAVES, SPINES = ("cl-l1", "cl-l2", "cl-l3", "cl-l4"), ("cl-s1", "cl-s2")
HOST_PORT, VIP, DIP, BALANCER = 10, "10.9.0.1", "10.3.0.1", "10.4.0.1"
OUTSIDE, NAT_SOURCE = "10.9.0.2", "10.4.0.77"
SPREAD = "fields(ip_src,ip_dst,ip_proto,tcp_src,tcp_dst,udp_src,udp_dst)"
GATEWAY_MAC = "02:00:00:00:00:fe"
# Leaves whose copies have numbers, each in a row of its own: bridges of a datapath share one for each
# kind of tunnel.  A packet that is lost before them is told from lost copies.
NUMBERED = {"cl-l2": "gre", "cl-l3": "erspan"}

# Takes lines of JSON: [source port, destination, port, bytes of payload, how many, TTL, pause].
UDP_SENDER = """
import json, socket, struct, sys, time
number = 0
for line in sys.stdin:
    flows, ttl, pause = json.loads(line)
    sockets = []
    for source, to, port, size, count in flows:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.setsockopt(socket.SOL_IP, socket.IP_TTL, ttl)
        one.setsockopt(socket.SOL_IP, 10, 0)  # IP_MTU_DISCOVER: not, so no DF
        one.bind((sys.argv[1], source))
        sockets.append((one, (to, port), size, count))
    for round in range(max(count for *_, count in sockets)):
        for one, to, size, count in sockets:
            if round < count:
                number += 1
                one.sendto(struct.pack("!Q", number) + bytes(size - 8), to)
                time.sleep(pause)
    for one, *_ in sockets:
        one.close()
    print("sent", flush=True)
"""
# Takes whatever comes, so that nobody answers that there is nobody.
SINK = """
import select, socket, sys
sockets = []
for port in range(9000, 9016):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("", port))
    sockets.append(one)
listener = socket.create_server(("", 8000), backlog=128)
print("ready", flush=True)
while True:
    for one in select.select(sockets + [listener], [], [])[0]:
        if one is listener:
            peer = listener.accept()[0]
            while peer.recv(65536):
                pass
            peer.close()
        else:
            one.recv(65536)
"""
TCP_CLIENT = """
import socket, sys
for number in range(int(sys.argv[2])):
    with socket.create_connection((sys.argv[1], 8000), timeout=20) as peer:
        peer.sendall(b"hello")
        peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b""
"""
# Of a load balancer ("in"): what comes to the address goes on in a tunnel of some kind; of the host
# behind it ("out"): what comes in such a tunnel is taken out, and with "back" sent on as if it were for others.
TUNNEL_END = """
import socket, struct, sys
mode, device, gateway = sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3].replace(":", ""))
address, source, target = (socket.inet_aton(text) for text in sys.argv[4:7])
kind = sys.argv[7]
protocol = {"ipip": 4, "gre": 47, "vxlan": 17}[kind]
def headers(ip, ethernet):
    # Between the outer header and the packet.
    if kind == "ipip":
        return b""
    if kind == "gre":
        return struct.pack("!HH", 0, 0x0800)
    vxlan = struct.pack("!II", 0x08000000, 77 << 8) + ethernet
    port = 49152 + sum(ip[12:24]) % 16384
    return struct.pack("!HHHH", port, 4789, 8 + len(vxlan) + len(ip), 0) + vxlan
both = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
both.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
both.bind((device, 0x0800))
def header(payload, protocol):
    bare = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0) + source + target
    total = sum(struct.unpack("!10H", bare))
    total = (total & 0xffff) + (total >> 16)
    return bare[:10] + struct.pack("!H", ~((total & 0xffff) + (total >> 16)) & 0xffff) + bare[12:]
def with_hop_taken(ip):
    total = struct.unpack("!H", ip[10:12])[0] + 0x100
    return ip[:8] + bytes([ip[8] - 1]) + ip[9:10] + struct.pack("!H", (total & 0xffff) + (total >> 16)) + ip[12:]
print("ready", flush=True)
while True:
    frame, where = both.recvfrom(65536)
    if where[2] == 4:  # of our own
        continue
    ip = frame[14:14 + struct.unpack("!H", frame[16:18])[0]]
    ethernet = gateway + frame[:6] + b"\\x08\\x00"
    if mode == "in" and ip[16:20] == address:
        inside = headers(ip, ethernet) + ip
        both.send(ethernet + header(inside, protocol) + inside)
    elif mode != "in" and ip[9] == protocol and ip[16:20] == target:
        inner = ip[20 + len(headers(ip, ethernet)):]
        print("taken", flush=True) if mode == "out" else None
        if mode == "back" and inner[8] > 1:
            both.send(ethernet + with_hop_taken(inner))
"""

# Full NAT: what comes to the first address goes on to the second, from the third; answers go back.
NAT_END = """
import socket, struct, sys
device, gateway = sys.argv[1], bytes.fromhex(sys.argv[2].replace(":", ""))
outside, inside, own, client = (socket.inet_aton(text) for text in sys.argv[3:7])
both = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
both.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
both.bind((device, 0x0800))
def corrected(sum_, before, behind):
    total = ~sum_ & 0xffff
    for old, new in zip(struct.unpack(f"!{len(before) // 2}H", before),
                        struct.unpack(f"!{len(behind) // 2}H", behind)):
        total += (~old & 0xffff) + new
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff
def translated(ip, addresses):
    header, segment = bytearray(ip[:20]), bytearray(ip[20:])
    at = {6: 16, 17: 6}[ip[9]]
    sum_ = struct.unpack("!H", segment[at:at + 2])[0]
    segment[at:at + 2] = struct.pack("!H", corrected(sum_, ip[12:20], addresses))
    header[8] -= 1
    header[12:20] = addresses
    sum_ = struct.unpack("!H", ip[10:12])[0]
    sum_ = corrected(sum_, ip[8:10] + ip[12:20], bytes(header[8:10]) + addresses)
    header[10:12] = struct.pack("!H", sum_)
    return bytes(header + segment)
print("ready", flush=True)
while True:
    frame, where = both.recvfrom(65536)
    ip = frame[14:14 + struct.unpack("!H", frame[16:18])[0]]
    if where[2] == 4 or ip[9] not in (6, 17):  # of our own, or of another kind
        continue
    ethernet = gateway + frame[:6] + b"\\x08\\x00"
    if ip[16:20] == outside and ip[12:16] == client:
        both.send(ethernet + translated(ip, own + inside))
    elif ip[16:20] == own and ip[12:16] == inside:
        both.send(ethernet + translated(ip, outside + client))
"""


def host_mac(leaf):
    return f"02:00:00:00:0{leaf}:01"


class Clos:
    """What SliceNetwork asks of routers; leaves and hosts are numbered from 1."""

    names, weights = LEAVES + SPINES, {}

    def __init__(self, switch):
        self.switch = switch
        self.devices, self.hosts, self.processes, self.emulators = [], [], [], []
        self.sender = None

    # ---- Wires ----

    @staticmethod
    def wire(one, other):
        """The device of a bridge towards another: "cl-l1" and "cl-s2" -> "l1-s2"."""
        return f"{one[3:]}-{other[3:]}"

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def veth(self, one, other):
        self.devices.append(one)
        self.ip("link", "add", one, "type", "veth", "peer", "name", other)
        for name in (one, other):
            self.ip("link", "set", name, "up")
            with contextlib.suppress(OSError), open(
                    f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6", "w", encoding="ascii") as out:
                out.write("1")

    def add_port(self, bridge, device, number):
        self.switch.vsctl("--may-exist", "add-port", bridge, device, "--", "set", "interface", device,
                          f"ofport_request={number}")

    def port(self, bridge, to):
        """Numbers of ports: of leaves 1 and 2 are the spines, of spines 1 to 4 the leaves."""
        del bridge
        return (SPINES if to in SPINES else LEAVES).index(to) + 1

    def open(self):
        for bridge in self.names:
            self.switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge,
                              "datapath_type=netdev", "fail-mode=secure",
                              "protocols=OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15")
        for leaf in LEAVES:
            for spine in SPINES:
                self.veth(self.wire(leaf, spine), self.wire(spine, leaf))
                self.add_port(leaf, self.wire(leaf, spine), self.port(leaf, spine))
                self.add_port(spine, self.wire(spine, leaf), self.port(spine, leaf))
        for number, leaf in enumerate(LEAVES, 1):
            self.add_host(number, leaf)
        device = router_network.COLLECTOR_DEVICE
        self.add_wire_of_copies("col-sw", device)
        self.switch.vsctl("add-br", "phy", "--", "set", "bridge", "phy", "datapath_type=netdev",
                          "--", "add-port", "phy", "col-sw")
        router_network.Routers.reach_collector(self)
        for number in (2, 3):
            self.run_at(number, SINK)
        self.sender = self.run_at(1, UDP_SENDER, "10.1.0.1", says=None, stdin=subprocess.PIPE)

    def add_wire_of_copies(self, one, other):
        self.veth(one, other)

    def add_host(self, number, leaf):
        device = f"clh{number}"
        self.veth(device, f"{device}p")
        self.add_port(leaf, device, HOST_PORT)
        host = subprocess.Popen(["unshare", "--net", "sleep", "1000"])
        self.hosts.append(host)
        own = os.readlink("/proc/self/ns/net")
        eventually(lambda: os.readlink(f"/proc/{host.pid}/ns/net") != own, "the host has a namespace")
        self.ip("link", "set", f"{device}p", "netns", str(host.pid))
        addresses = [f"10.{number}.{net}.{last}" for net in (0, 1) for last in range(1, 9)]
        for command in (f"ip link set {device}p address {host_mac(number)}",
                        f"ip link set {device}p up", "ip link set lo up",
                        f"ethtool -K {device}p tx off", "sysctl -qw net.ipv4.conf.all.rp_filter=0",
                        *(f"ip addr add {address}/32 dev {device}p" for address in addresses),
                        f"ip neigh add 169.254.0.1 lladdr {GATEWAY_MAC} dev {device}p",
                        f"ip route add default via 169.254.0.1 dev {device}p onlink"):
            subprocess.run(self.at(number) + command.split(), check=True, capture_output=True)

    def at(self, number):
        return ["nsenter", "-t", str(self.hosts[number - 1].pid), "-n"]

    def run_at(self, number, script, *arguments, says="ready", **options):
        process = subprocess.Popen(self.at(number) + [sys.executable, "-c", script, *arguments],
                                   stdout=subprocess.PIPE, text=True, **options)
        self.processes.append(process)
        if says:
            assert process.stdout.readline() == f"{says}\n"
        return process

    def end(self, process):
        self.processes.remove(process)
        process.kill()
        process.communicate()

    def close(self):
        for process in list(self.processes):
            self.end(process)
        for host in self.hosts:
            host.kill()
            host.wait()
        for bridge in (*self.names, "phy"):
            self.switch.vsctl("--if-exists", "del-br", bridge)
        for emulator in self.emulators:
            emulator.close()
        for name in self.devices:
            subprocess.run(["ip", "link", "del", name], check=False, stderr=subprocess.DEVNULL)

    # ---- Ways ----

    def add_flow(self, bridge, flow):
        self.switch.ofctl("-O", "OpenFlow15", "add-flow", bridge, flow)

    def del_flow(self, bridge, flow):
        self.switch.ofctl("-O", "OpenFlow15", "--strict", "del-flows", bridge, flow)

    def await_interface(self, name, column, value):
        eventually(lambda: self.switch.vsctl("get", "interface", name, column) == value,
                   f"the switch knows that {column} of {name} is {value}")

    def route(self):
        for number, leaf in enumerate(LEAVES, 1):
            self.switch.ofctl(
                "-O", "OpenFlow15", "mod-group", "--may-create", leaf,
                f"group_id=1,type=select,selection_method=hash,{SPREAD},"
                "bucket=output:1,bucket=output:2")
            self.add_flow(leaf, "priority=50,ip,actions=dec_ttl,group:1")
            own = [f"10.{number}.0.0/16"] + (["10.9.0.0/16"] if leaf == LEAVES[-1] else [])
            for prefix in own:
                self.add_flow(leaf, f"priority=100,ip,nw_dst={prefix},actions=dec_ttl,"
                                    f"mod_dl_dst:{host_mac(number)},output:{HOST_PORT}")
            for spine in SPINES:
                for prefix in own:
                    self.add_flow(spine, f"priority=100,ip,nw_dst={prefix},actions=dec_ttl,"
                                         f"output:{self.port(spine, leaf)}")

    def emulator_of(self, one, other, loss, seed=5):
        emulator = Links([f"{self.switch.paths['BUILD']}/tests/support/link_emulator", f"--seed={seed}",
                          f"{one},{other},0,{loss}"], start_piped)
        self.emulators.append(emulator)
        return emulator

    @contextlib.contextmanager
    def emulated(self, one, other, loss, seed=5):
        """The wire between two bridges, by an emulator that loses so much."""
        names = {(one, other): f"e{self.wire(one, other)}", (other, one): f"e{self.wire(other, one)}"}
        emulator = self.emulator_of(*names.values(), loss, seed)

        def plug(devices):
            for (bridge, peer), device in devices.items():
                number = self.port(bridge, peer)
                for plugged in (self.wire(bridge, peer), names[(bridge, peer)]):
                    self.switch.vsctl("--if-exists", "del-port", bridge, plugged)
                self.add_port(bridge, device, number)
                self.await_interface(device, "ofport", str(number))

        plug(names)
        try:
            yield emulator
        finally:
            plug({(bridge, peer): self.wire(bridge, peer) for bridge, peer in names})
            emulator.close()
            self.emulators.remove(emulator)

    # ---- Traffic ----

    def send(self, flows, ttl=64, pause=0.0005):
        """Datagrams of the first host: [source port, destination, port, bytes, how many]."""
        self.sender.stdin.write(json.dumps([flows, ttl, pause]) + "\n")
        self.sender.stdin.flush()
        assert self.sender.stdout.readline() == "sent\n"

    def connect(self, to, count):
        subprocess.run(self.at(1) + [sys.executable, "-c", TCP_CLIENT, to, str(count)], check=True,
                       timeout=120)

    @contextlib.contextmanager
    def balancer(self, sends_back, kind="ipip"):
        """A load balancer; the host behind it may send what it gets on to the balancer."""
        ends = [self.run_at(4, TUNNEL_END, "in", "clh4p", GATEWAY_MAC, VIP, BALANCER, DIP,
                            kind),
                self.run_at(3, TUNNEL_END, "back" if sends_back else "out", "clh3p", GATEWAY_MAC,
                            VIP, BALANCER, DIP, kind)]
        try:
            yield ends[1]
        finally:
            for end in ends:
                self.end(end)

    @contextlib.contextmanager
    def nat(self):
        """The host of the last leaf translates what is between the first host and an address of its own."""
        end = self.run_at(4, NAT_END, "clh4p", GATEWAY_MAC, OUTSIDE, DIP, NAT_SOURCE, "10.1.0.1")
        try:
            yield
        finally:
            self.end(end)


class ClosNetwork(ProbeNetwork):
    """Its controller, and an analyzer that makes traces."""

    def write_topology(self):
        switches = ", ".join(f"{{name: {name}}}" for name in self.numbers)
        links = ", ".join(f"{{from: {leaf}, to: {spine}}}" for leaf in LEAVES for spine in SPINES)
        hosts = []
        for number, leaf in enumerate(LEAVES, 1):
            prefixes = f"10.{number}.0.0/16" + (", 10.9.0.0/16" if leaf == LEAVES[-1] else "")
            hosts.append(f"{{id: h{number}, prefixes: [{prefixes}], attached_to: {leaf}}}")
        with open(self.path("topology.yaml"), "w", encoding="utf-8") as text:
            text.write(f"switches: [{switches}]\nlinks: [{links}]\nhosts: [{', '.join(hosts)}]\n")

    def add_copy_port(self, name, number):
        kind = NUMBERED.get(name)
        if kind is None:
            return super().add_copy_port(name, number)
        options = {"gre": ["options:seq=true", "options:key=flow"],
                   "erspan": ["options:key=flow", "options:erspan_ver=1", "options:erspan_idx=flow"]}
        return self.switch.vsctl(
            "add-port", name, f"cpy-{name}", "--", "set", "interface", f"cpy-{name}", f"type={kind}",
            f"options:remote_ip={router_network.COLLECTOR}", f"ofport_request={COPY_PORT}",
            *options[kind])

    @staticmethod
    def tunnel_of(name):
        return NUMBERED.get(name, "gre")

    def sums(self):
        return json.loads(self.of_analyzer("trace/status"))

    def of_analyzer(self, command):
        done = subprocess.run([self.switch.paths["OVS_APPCTL"], "-t", self.path("analyzer.ctl"),
                               command, "json"], check=True, capture_output=True, text=True)
        return done.stdout

    def settled(self):
        """The sums, when nothing has been under way for longer than it takes until links are stored."""
        last = [None]

        def told():
            sums = self.sums()
            packets, store = sums["packets"], sums["store"]
            is_stored = store["written"] + store["not_stored"] >= packets["kept"]
            return sums if sums["copies"]["waiting"] == 0 and is_stored else None

        def is_still():
            sums = told()
            before, last[0] = last[0], sums and (sums["frames"], sums["packets"])
            return sums if sums and last[0] == before else None
        return eventually(is_still, "all packets are told of", seconds=120, pause=1.2)

    def all_traces(self, *conditions):
        """Page after page."""
        found, more = [], []
        while True:
            page = self.ctl("trace", "query", "--limit=1000", *conditions, *more)
            found += page["traces"]
            if not page["next_cursor"]:
                return found
            more = [f"--after={page['next_cursor']}"]

    def drops(self, since_ns):
        return self.ctl("app", "drops", f"--from={since_ns}")["findings"]

    def loops(self, since_ns):
        return self.ctl("app", "loops", f"--from={since_ns}")["findings"]


@contextlib.contextmanager
def clos_on(switch, kind=ClosNetwork, clos=Clos):
    links = clos(switch)
    network = kind(switch, links)
    try:
        links.open()
        network.start()
        yield links, network
    except BaseException:
        network.print_log()
        raise
    finally:
        network.close()
        links.close()
