# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measurement programs of several switches: tags on packets of real TCP, over chains and diamonds
of bridges with links between them.  What is true comes from the topology and from captures."""

import collections
import contextlib
import ctypes
import hashlib
import os
import re
import socket
import struct
import subprocess
import threading

from controller_cases import HOST, network_of
from switch import eventually

LIBC = ctypes.CDLL(None, use_errno=True)
ALL_ETHERNET = socket.htons(3)
LEFT, RIGHT = "10.9.0.1", "10.9.0.2"
EDGE = "edge=left,right"
FLOW = "flow = Key(ipv4.src, ipv4.dst, tcp.src, tcp.dst, ipv4.proto);\n"


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


class Host:
    """A network namespace with one interface; `port` is the end for the switch."""

    def __init__(self, port, address, other):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE)
        self.address = address
        self.pid = self.process.pid
        ours = os.readlink("/proc/self/ns/net")
        eventually(lambda: os.readlink(f"/proc/{self.pid}/ns/net") != ours, "a namespace is made")
        ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(self.pid))
        ip("link", "set", port, "up")
        inside = ["nsenter", "-t", str(self.pid), "-n"]
        for command in (["sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"],
                        ["ethtool", "-K", "eth0", "tx", "off"],
                        ["ip", "address", "add", f"{address}/24", "dev", "eth0"],
                        ["ip", "link", "set", "eth0", "up"]):
            subprocess.run([*inside, *command], check=True, stdout=subprocess.DEVNULL)
        self.tap = self.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_ETHERNET)
        self.tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.tap.bind(("eth0", 0))
        self.tap.setblocking(False)
        self.other = other
        self.sent, self.received = [], []

    def socket(self, *kind):
        with open("/proc/self/ns/net", "rb") as ours, \
                open(f"/proc/{self.pid}/ns/net", "rb") as theirs:
            self._enter(theirs)
            try:
                return socket.socket(*kind)
            finally:
                self._enter(ours)

    @staticmethod
    def _enter(namespace):
        if LIBC.setns(namespace.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def take(self):
        """IPv4 packets, as they left and as they came."""
        while True:
            try:
                frame, place = self.tap.recvfrom(65536)
            except BlockingIOError:
                return
            if frame[12:14] == b"\x08\x00":
                (self.sent if place[2] == socket.PACKET_OUTGOING else self.received).append(frame)

    def close(self):
        self.tap.close()
        self.process.stdin.close()
        self.process.wait()


class Network:
    """Bridges named by letters; links like "AB" between ports "AB" and "BA"; hosts at both ends."""

    def __init__(self, switch, links):
        self.switch, self.links = switch, links
        self.names = sorted(set("".join(links)))
        self.hosts = []

    def open(self):
        switch = self.switch
        switch.set_config(enable="true", memory_mb="16")
        for link in self.links:
            ip("link", "add", link, "type", "veth", "peer", "name", link[::-1])
            for end in (link, link[::-1]):
                subprocess.run(["ethtool", "-K", end, "tx", "off"], check=True,
                               stdout=subprocess.DEVNULL)
                subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1"], check=True)
                ip("link", "set", end, "up")
        self.hosts = [Host("left", LEFT, RIGHT), Host("right", RIGHT, LEFT)]
        ports = {name: [] for name in self.names}
        for link in self.links:
            ports[link[0]].append(link)
            ports[link[1]].append(link[::-1])
        ports[self.names[0]].append("left")
        ports[self.names[-1]].append("right")
        for name in self.names:
            add = [word for port in ports[name] for word in ("--", "add-port", name, port)]
            switch.vsctl("add-br", name, "--", "set", "bridge", name, "datapath_type=netdev",
                         "fail-mode=secure", *add)

    def close(self):
        for host in self.hosts:
            host.close()
        for link in self.links:
            subprocess.run(["ip", "link", "del", link], check=False, stderr=subprocess.DEVNULL)

    def route(self, path):
        """Both ways; what went another way before goes this one now.  `path`: "ABD"."""
        ends = ["left", *(a + b for a, b in zip(path, path[1:])), "right"]
        for at, name in enumerate(path):
            back = ends[at][::-1] if at > 0 else "left"
            for come, leave in ((back, ends[at + 1]), (ends[at + 1], back)):
                self.switch.ofctl("add-flow", name, f"in_port={come},actions=output:{leave}")
        self.switch.heed_flows()

    def ports(self):
        """{name: number in the datapath}"""
        shown = self.switch.rpc("dpctl/show")
        return {name: int(number) for number, name in re.findall(r"port (\d+): (\S+)", shown)}

    def in_ports(self, path):
        """Of packets from left to right."""
        return ["left", *(b + a for a, b in zip(path, path[1:]))]


@contextlib.contextmanager
def network(switch, links):
    made = Network(switch, links)
    try:
        made.open()
        yield made
    finally:
        made.close()


class Connection:
    """TCP from left to right."""

    def __init__(self, net):
        self.left, self.right = net.hosts
        listener = self.right.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((RIGHT, 0))
        listener.listen()
        self.client = self.left.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.client.settimeout(60)
        listener.settimeout(60)
        self.client.connect(listener.getsockname())
        self.server, _ = listener.accept()
        self.server.settimeout(60)
        listener.close()
        self.ports = self.client.getsockname()[1], self.server.getsockname()[1]
        self.key = f"key={LEFT},{RIGHT},{self.ports[0]},{self.ports[1]},6"

    def send(self, count):
        """Random bytes, which arrive."""
        data, got = os.urandom(count), hashlib.sha256()

        def receive():
            left = count
            while left > 0:
                part = self.server.recv(min(left, 1 << 16))
                if not part:
                    return
                got.update(part)
                left -= len(part)

        receiver = threading.Thread(target=receive)
        receiver.start()
        self.client.sendall(data)
        receiver.join(60)
        assert got.digest() == hashlib.sha256(data).digest(), "what was sent arrives"

    def arrived(self, net):
        """How many of its packets came to the right so far."""
        ports = struct.pack("!HH", *self.ports)
        return sum(frame[34:38] == ports for frame in check_bytes(net))

    def close(self):
        self.client.close()
        self.server.close()


def check_bytes(net):
    """Each packet that arrived is one that was sent, to the last byte; returns those at the right.

    Some may be lost on the way: the sockets by which the switch receives have little room.
    """
    left, right = net.hosts
    for sender, receiver in ((left, right), (right, left)):
        receiver.take()
        sender.take()
        others = collections.Counter(receiver.received) - collections.Counter(sender.sent)
        assert receiver.received and not others, f"{len(others)} packets are not what was sent"
    return right.received


def value(switch, variable, key):
    return switch.ask("program-read", "p", variable, key)["value"]



TRAJECTORY = FLOW + """
role first_hop { pkts >> tag(ipv4.id, 0); }
role every { pkts >> tag(ipv4.id, (ipv4.id << 5) | pkt.input_port); }
role last_hop {
  path = HashMap(key=flow, size=4096, type=Counter(width=32));
  hops = HashMap(key=flow, size=4096, type=Counter(width=32));
  pkts >> path.set(ipv4.id) >> hops.set(hops + 1);
}
"""


def trajectories_of_tcp_are_those_of_the_topology(switch):
    with network(switch, ["AB", "BD", "AC", "CD"]) as net:
        switch.rpc("trumpet/program-add", "p", TRAJECTORY, EDGE, "lab=yes")
        ports = net.ports()
        for path in ("ABD", "ACD"):
            net.route(path)
            connection = Connection(net)
            connection.send(300_000)
            connection.close()
            truth = 0
            for port in net.in_ports(path):
                assert ports[port] < 32, ports
                truth = truth << 5 | ports[port]
            assert value(switch, "path", connection.key) == truth & 0xffff, path
        received = check_bytes(net)
        shown = switch.ask("program-show", "p")
        assert shown["untagged"] == 0, shown
        assert any(struct.unpack("!H", frame[18:20])[0] != 0 for frame in received), "real ids"
        return f"{len(received)} packets from the left"


MARKED = FLOW + """
role first_hop { pkts >> tag(ipv4.tos, 1); }
role intermediate { pkts >> tag(ipv4.tos, ipv4.tos + 1); }
role last_hop {
  packets = Sketch(alg="count-min", key=flow, nhash=4, size=1024, width=32);
  switches = Sketch(alg="count-min", key=flow, nhash=4, size=1024, width=32);
  pkts >> packets.set(packets + 1) >> switches.set(switches + ipv4.tos);
}
"""


def checksums_stay_right_between_switches_and_bytes_are_given_back(switch):
    with network(switch, ["AB", "BC", "CD"]) as net:
        net.route("ABCD")
        switch.rpc("trumpet/program-add", "p", MARKED, EDGE)
        between = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_ETHERNET)
        between.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
        between.bind(("CB", 0))
        connection = Connection(net)
        connection.send(500_000)
        connection.close()

        def are_counted():
            """Packets of the end of the connection may come between two of these lines."""
            switches = value(switch, "switches", connection.key)
            packets = value(switch, "packets", connection.key)
            return packets == len(check_bytes(net)) and switches == 3 * packets

        eventually(are_counted, "the last hop counts what arrives, and A, B and C each")
        received = check_bytes(net)
        between.setblocking(False)
        tagged = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, place = between.recvfrom(65536)
                if place[2] != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00":
                    words = struct.unpack("!10H", frame[14:34])
                    assert sum(words) % 0xffff == 0, "the header checksum is right"
                    tagged += frame[15] == 2
        between.close()
        assert tagged >= len(received), (tagged, len(received))
        return f"{len(received)} packets from the left"


PATH_CHANGES = FLOW + """
location = Key(pkt.input_port, switch.id, pkt.output_port);
role first_hop { pkts >> tag(ipv4.checksum, 0); }
role every {
  passed = BloomFilter(alg="membership", key=location, nhash=4, size=16);
  pkts >> passed.init(ipv4.checksum) >> passed.insert() >> tag(ipv4.checksum, passed)
       >> passed.reset();
}
role last_hop {
  paths = Sketch(alg="store", key=flow, nhash=4, size=256, width=16);
  changes = Sketch(alg="count-min", key=flow, nhash=4, size=256, width=32);
  pkts >> match(!paths.any(ipv4.checksum)) >> paths.set(ipv4.checksum)
       >> changes.set(changes + 1);
}
"""


def changes_of_path_are_counted(switch):
    with network(switch, ["AB", "BD", "AC", "CD"]) as net:
        net.route("ABD")
        switch.rpc("trumpet/program-add", "p", PATH_CHANGES, EDGE, "switch=1", "lab=yes")
        connection = Connection(net)
        for number, path in enumerate(("ABD", "ACD", "ABD", "ACD"), 1):
            net.route(path)
            connection.send(50_000)
            check_bytes(net)
            assert value(switch, "changes", connection.key) == number, path
        connection.close()
        check_bytes(net)


def sums_along_the_path_single_out_congested_flows(switch):
    """Program 11 with numbers of ports for lengths of queues, which veth ports do not tell."""
    with network(switch, ["AB", "BD", "AC", "CD"]) as net:
        example = f"{switch.paths['SOURCE']}/docs/measurements/uc11_topk_congested.mafia"
        with open(example, encoding="utf-8") as text:
            program = text.read().replace("pkt.in_queue_length", "pkt.input_port")
        switch.rpc("trumpet/program-add", "p", program.replace(".window(5s)", ""), EDGE, "lab=yes")
        ports = net.ports()
        means = {}
        for path in ("ABD", "ACD"):
            net.route(path)
            connection = Connection(net)
            connection.send(100_000)
            connection.close()
            truth = sum(ports[port] for port in net.in_ports(path)[:-1])  # not the last hop's

            def are_summed(connection=connection, truth=truth):
                """Packets of the end of the connection may come between two of these lines."""
                total = value(switch, "path_q_len", connection.key)
                packets = value(switch, "total_pkts", connection.key)
                arrived = connection.arrived(net)
                return packets == arrived > 10 and total == arrived * truth

            eventually(are_summed, f"the last hop sums what arrives by {path}")
            means[path] = truth
        assert len(set(means.values())) == 2, means


def messages_of_path_changes_are_written_by_each_switch(switch):
    """Program 13: the switches here are one process, so they share a clock."""
    with network(switch, ["AB", "BC"]) as net:
        net.route("ABC")
        example = f"{switch.paths['SOURCE']}/docs/measurements/uc13_path_change_latency.mafia"
        switch.rpc("trumpet/program-add", "p", f"@{os.path.abspath(example)}")
        left, right = net.hosts
        with right.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
                left.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            receiver.bind((RIGHT, 30000))
            receiver.settimeout(60)
            for sent, wanted in (((2, 5, 0), (2, 7, 0)), ((1, 5, 0), (1, 5, 0)),
                                 ((2, 5, 9), (2, 10, 9)), ((2, 100, 9), (2, 102, 9))):
                sender.sendto(struct.pack("!BBQ", *sent) + b"odd", (RIGHT, 30000))
                got = receiver.recv(100)  # the kernel drops it if the checksum is wrong
                assert got == struct.pack("!BBQ", *wanted) + b"odd", (sent, got)
        eventually(lambda: switch.ask("program-show", "p")["collected"] == 9, "all were collected")
        copies = [copy["packet"] for copy in switch.ask("program-show", "p")["copies"]]
        assert [copy["segway_header.ts"] for copy in copies] == [5, 6, 7, 8, 9, 10, 100, 101, 102]
        times = [copy["segway_header.time"] for copy in copies]
        assert times == sorted(times) and 0 < times[-1] - times[0] < 60 * 10**9, times


def programs_with_places_are_installed_and_read_by_trumpetctl(switch):
    with network(switch, ["AB", "BD", "AC", "CD"]) as net, network_of(switch) as control:
        def changes():
            variable, = control.ctl("measure", "read", "p", "changes", "--key",
                                    connection.key.removeprefix("key="))["variables"]
            return variable["value"]

        program = control.path("p.mafia")
        with open(program, "w", encoding="ascii") as text:
            text.write(PATH_CHANGES)
        net.route("ABD")
        shown = control.ctl("measure", "install", "--edge", f"{HOST}=left,{HOST}=right",
                            "--switch", f"{HOST}=7", "--lab", "p", program)
        host, = shown["hosts"]
        host.pop("copies", None)    # which it may have told already
        assert host == {"id": HOST, "state": "running", "switch": 7}, shown
        connection = Connection(net)
        for number, path in enumerate(("ABD", "ACD"), 1):
            net.route(path)
            connection.send(50_000)
            check_bytes(net)
            assert changes() == number, path
        connection.close()
        control.ctl("measure", "rm", "p", output="table")
        switch.set_config(uplinks=",".join(end for link in net.links for end in (link, link[::-1])))
        install_all_examples(switch, control, net)


def install_all_examples(switch, control, net):
    """One after the other, with the ports that the switch itself knows as edges."""
    folder = f"{switch.paths['SOURCE']}/docs/measurements"
    examples = sorted(name for name in os.listdir(folder) if name.endswith(".mafia"))
    assert len(examples) == 13, examples
    for example in examples:
        control.ctl("measure", "install", "--lab", "p", f"{folder}/{example}")
        edges = switch.ask("program-show", "p")["edge_numbers"]
        ports = net.ports()
        assert {ports["left"], ports["right"]} <= set(edges), (example, edges)
        assert not {ports[link] for link in net.links} & set(edges), (example, edges)
        control.ctl("measure", "rm", "p", output="table")


ALL = [trajectories_of_tcp_are_those_of_the_topology,
       checksums_stay_right_between_switches_and_bytes_are_given_back,
       changes_of_path_are_counted,
       sums_along_the_path_single_out_congested_flows,
       messages_of_path_changes_are_written_by_each_switch,
       programs_with_places_are_installed_and_read_by_trumpetctl]
