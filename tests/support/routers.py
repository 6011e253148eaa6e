# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network of routers: a bridge each, that routes one prefix and decrements TTLs, and emulated
links between them.  All of it lives in the caller's network namespace.

A collector of mirrored packets sits behind its own link: see COLLECTOR and COLLECTOR_DEVICE.
"""

import collections
import json
import select
import signal
import socket
import struct
import subprocess
import threading
import time

# The network of Fig. 2 of the Stroboscope paper; A-F is dear, so that A has two ways to D.
PAPER_LINKS = {name: 10 if name == "AF" else 1 for name in (
    "AB AF AL BC BH BJ BK BL CD CF CH CL CU 1P 2I 2P 3F FL FU HI HJ JP KP").split()}
PREFIX = "1.2.3.0/24"
COLLECTOR, COLLECTOR_DEVICE = "10.20.0.2", "col-in"
SWITCHES_ADDRESS = "10.20.0.1"
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_ALL = 3  # ETH_P_ALL: what is sent, too
GATEWAY, HOST = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
PATIENCE_S = 30


def shortest_next_hops(links, target):
    """{router: [next routers on a shortest path to target]}"""
    neighbours = collections.defaultdict(dict)
    for name, weight in links.items():
        neighbours[name[0]][name[1]] = neighbours[name[1]][name[0]] = weight
    distance = {target: 0}
    while True:  # Bellman and Ford's, until nothing changes
        changed = False
        for router, others in neighbours.items():
            least = min((distance[o] + w for o, w in others.items() if o in distance), default=None)
            if router != target and least is not None and distance.get(router) != least:
                distance[router], changed = least, True
        if not changed:
            break
    return {router: sorted(o for o, w in others.items() if distance[o] + w == distance[router])
            for router, others in neighbours.items() if router != target}


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def start_piped(argv):
    return subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)


class Links:
    """The emulator and what it counts."""

    def __init__(self, argv, start):
        self.process = start(argv)
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("the link emulator does not start")

    def counts(self):
        """{device where the way begins: its counts}"""
        self.process.send_signal(signal.SIGUSR1)
        return {way["from"]: way for way in json.loads(self.process.stdout.readline())["ways"]}

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE_S)


class Routers:
    """`switch` is a Switch of tests/system; its bridges are named after the routers.  `start` starts the
    emulator, whose standard output is read."""

    def __init__(self, switch, emulator, links=None, source="A", target="D", delay_ms=5, loss=0.01,
                 collector_delay_ms=1, seed=1, start=start_piped):
        self.switch = switch
        self.weights = links or PAPER_LINKS
        self.source, self.target = source, target
        self.names = sorted(set("".join(self.weights)))
        arguments = [f"{name},{name[::-1]},{delay_ms},{loss}" for name in self.weights]
        arguments += [f"col-sw,{COLLECTOR_DEVICE},{collector_delay_ms},0", "src-sw,src,0,0",
                      "dst-sw,dst,0,0"]
        self.links = Links([emulator, f"--seed={seed}", f"--watch={PREFIX}", *arguments], start)
        try:
            self._connect()
            self.route()
        except BaseException:
            self.links.close()
            raise

    def _connect(self):
        commands = []
        for name in self.names:
            commands += ["--", "add-br", name, "--", "set", "bridge", name, "datapath_type=netdev",
                         "fail-mode=secure", "protocols=OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15"]
        for name in self.weights:
            for device in (name, name[::-1]):
                commands += ["--", "add-port", device[0], device]
        commands += ["--", "add-port", self.source, "src-sw", "--", "add-port", self.target, "dst-sw"]
        commands += ["--", "add-br", "phy", "--", "set", "bridge", "phy", "datapath_type=netdev",
                     "--", "add-port", "phy", "col-sw"]
        self.switch.vsctl(*commands[1:])
        self.reach_collector()

    def reach_collector(self):
        """Again, after the switch has forgotten its neighbours."""
        ip("address", "replace", f"{SWITCHES_ADDRESS}/24", "dev", "phy")
        ip("link", "set", "phy", "up")
        mac = json.loads(subprocess.run(["ip", "-json", "link", "show", COLLECTOR_DEVICE], check=True,
                                        capture_output=True).stdout)[0]["address"]
        self.switch.rpc("tnl/neigh/set", "phy", COLLECTOR, mac)

    def port(self, router, device):
        del router  # devices have names of their own
        return int(self.switch.vsctl("get", "interface", device, "ofport"))

    def route(self):
        """Again, after somebody has taken the flows of the bridges away."""
        next_hops = shortest_next_hops(self.weights, self.target)
        for router in self.names:
            if router == self.target:
                out = f"output:{self.port(router, 'dst-sw')}"
            else:
                ports = [self.port(router, router + other) for other in next_hops[router]]
                out = f"output:{ports[0]}" if len(ports) == 1 else self._spread(router, ports)
            self.switch.ofctl("-O", "OpenFlow13", "add-flow", router,
                              f"priority=100,ip,nw_dst={PREFIX},actions=dec_ttl,{out}")

    def _spread(self, router, ports):
        buckets = ",".join(f"bucket=output:{port}" for port in ports)
        self.switch.ofctl("-O", "OpenFlow15", "mod-group", "--may-create", router,
                          "group_id=1,type=select,selection_method=hash,fields(ip_dst,udp_src),"
                          + buckets)
        return "group:1"

    def close(self):
        self.links.close()


def datagram(number, flow, payload_bytes):
    """UDP to the prefix; the payload begins with its number, the source port tells the flow."""
    payload = struct.pack("!Q", number) + bytes(payload_bytes - 8)
    udp = struct.pack("!HHHH", 1024 + flow, 5001, 8 + len(payload), 0)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp) + len(payload), number & 0xffff, 0, 64,
                       17, 0, socket.inet_aton("10.9.0.1"), socket.inet_aton("1.2.3.4"))
    total = sum(struct.unpack("!10H", head))
    checksum = ~(total % 0xffff) & 0xffff
    head = head[:10] + struct.pack("!H", checksum) + head[12:]
    return GATEWAY + HOST + struct.pack("!H", ETHERTYPE_IPV4) + head + udp + payload


SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35


def stamp(one):
    """Has the kernel note for `stamped` when frames come to a socket."""
    one.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def stamped(one, size=65536):
    """(the next frame, its address, when it came in seconds of the system's clock): however busy the
    machine is, that is not when somebody gets to read it."""
    frame, notes, _, address = one.recvmsg(size, 64)
    seconds, nanos = struct.unpack("qq", notes[0][2][:16])
    return frame, address, seconds + nanos / 1e9


class Listener(threading.Thread):
    """Calls `take` with each IPv4 frame that a device receives, and when it came, until close()."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_IPV4))
        stamp(self._socket)
        self._socket.bind((device, ETHERTYPE_IPV4))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self._socket.settimeout(0.2)
        self._ends = threading.Event()
        self.start()

    def run(self):
        while not self._ends.is_set():
            try:
                data, address, at = stamped(self._socket)
            except TimeoutError:
                continue
            if address[2] != socket.PACKET_OUTGOING:
                self.take(data, at)

    def take(self, frame, at):
        raise NotImplementedError

    def close(self):
        self._ends.set()
        self.join()
        self._socket.close()


class Arrivals(Listener):
    """What comes to the prefix: {number: (TTL, seconds on the monotonic clock)}."""

    def __init__(self):
        self.seen = {}
        super().__init__("dst")

    def take(self, frame, at):
        del at  # what is sent is noted by the other clock
        if frame[:6] == GATEWAY:
            self.seen[struct.unpack("!Q", frame[42:50])[0]] = (frame[22], time.monotonic())


class Passages(threading.Thread):
    """When datagrams pass devices, in either direction, as the kernel notes it: {number: seconds} of
    each group of devices.  However busy the machine is, it is when a switch sent or was given them."""

    def __init__(self, **groups):
        super().__init__(daemon=True)
        self.seen = {group: {} for group in groups}
        self._groups = {}  # by socket
        for group, devices in groups.items():
            for device in devices:
                one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_ALL))
                stamp(one)
                one.bind((device, ETHERTYPE_ALL))
                one.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
                self._groups[one] = group
        self._ends = threading.Event()
        self.start()

    def run(self):
        while not self._ends.is_set():
            for one in select.select(list(self._groups), [], [], 0.2)[0]:
                frame, _, at = stamped(one, 128)
                if frame[:6] != GATEWAY or frame[12:14] != struct.pack("!H", ETHERTYPE_IPV4):
                    continue
                number = struct.unpack("!Q", frame[42:50])[0]
                self.seen[self._groups[one]].setdefault(number, at)

    def close(self):
        self._ends.set()
        self.join()
        for one in self._groups:
            one.close()


class Sender(threading.Thread):
    """Datagrams at a steady rate, over flows in turn, until close() or `count`."""

    def __init__(self, bits_per_second, payload_bytes=1000, flows=1, count=None):
        super().__init__(daemon=True)
        self.bits_per_second = bits_per_second  # may be changed at any time
        self.payload_bytes, self.flows, self.count = payload_bytes, flows, count
        self.sent = {}  # {number: seconds on the monotonic clock}
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_IPV4))
        self._socket.bind(("src", ETHERTYPE_IPV4))
        self._ends = threading.Event()
        self.start()

    def run(self):
        due = time.monotonic()
        number = 0
        while not self._ends.is_set() and number != self.count:
            frame = datagram(number, number % self.flows, self.payload_bytes)
            self.sent[number] = time.monotonic()
            self._socket.send(frame)
            number += 1
            # A machine that stood still does not make up for it by a burst.
            due = max(due + len(frame) * 8 / self.bits_per_second, time.monotonic() - 0.01)
            self._ends.wait(max(due - time.monotonic(), 0))

    def close(self):
        self._ends.set()
        self.join()
        self._socket.close()
