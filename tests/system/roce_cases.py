# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""RDMA over Converged Ethernet (RoCEv2) over three real bridges: the debugger names what was done to it."""

import contextlib
import glob
import json
import socket
import struct
import subprocess
import sys
import zlib

from frames import write_pcap
from live_trace_cases import COPY_PORT, TUNNELS, WIRE, LiveNetwork
from switch import eventually
from trace_cases import CHAIN, compiled, install

ROCE = 4791
RULES = {"rules": [{"name": "roce", "filter": f"Protocol=UDP and dstPort={ROCE}"}]}
PORT = 50000
SEND_ONLY, ACKNOWLEDGE = 0x04, 0x11
ACK, NOT_READY, OUT_OF_SEQUENCE = 0x1f, 0x2e, 0x60  # syndromes
PACKETS = 200
PREFIX = bytes([2, 0, 0, 0, 0x77])  # of the hosts' addresses in RoCE
SENDER = """
import socket, sys, time
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
    out.bind((sys.argv[1], 0))
    for line in sys.stdin:
        out.send(bytes.fromhex(line))
        time.sleep(0.0005)
"""


def icrc(ip, transport):
    """The checksum over all that no router changes (annex A17 of the InfiniBand specification)."""
    ip, transport = bytearray(ip), bytearray(transport)
    ip[1] = ip[8] = ip[10] = ip[11] = 0xff  # type of service, time to live, checksum
    transport[6] = transport[7] = transport[12] = 0xff  # checksum of UDP; reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(ip) + bytes(transport)))


def addresses(host):
    """Of a frame from host 1 or 2 to the other."""
    return PREFIX + bytes([3 - host]) + PREFIX + bytes([host])


def packet(host, opcode, psn, payload):
    """Of host 1 or 2 to the other, from queue pair to queue pair; the mark for ECN may be set."""
    other = 3 - host
    base = struct.pack("!BBHII", opcode, 0, 0xffff, 0x100 + other, psn)
    size = len(base) + len(payload) + 4
    transport = struct.pack("!HHHH", PORT, ROCE, 8 + size, 0) + base + payload
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 2, 28 + size, psn, 0x4000, 64, 17, 0,
                     socket.inet_aton(f"10.77.0.{host}"), socket.inet_aton(f"10.77.0.{other}"))
    words = struct.unpack("!10H", ip)
    total = sum(words)
    total = (total & 0xffff) + (total >> 16)
    header = ip[:10] + struct.pack("!H", ~total & 0xffff) + ip[12:]
    return addresses(host) + b"\x08\x00" + header + transport + icrc(ip, transport)


def data(psn):
    return packet(1, SEND_ONLY, psn, struct.pack("!I", psn) * 16)


def answer(psn, syndrome):
    return packet(2, ACKNOWLEDGE, psn, struct.pack("!I", syndrome << 24 | psn))


def is_copy(frame):
    """Of a packet of IPv4 between the two."""
    at = frame.find(PREFIX, 34)
    return at >= 0 and frame[at + 12:at + 14] == b"\x08\x00"


class RoceNetwork(LiveNetwork):
    """All of RoCE is copied, to an analyzer and to a capture."""

    def __init__(self, switch):
        super().__init__(switch)
        self.tap = None
        self.copies = []

    def open(self):
        super().open()
        self.use_wires()
        for number, (bridge, (kind, _)) in enumerate(zip(CHAIN, TUNNELS), 1):
            flows = compiled(self.switch, RULES, f"--number={number}", f"--port={COPY_PORT}",
                             f"--tunnel={kind}", "--analyzers=10.20.0.2")
            install(self.switch, bridge, flows, ["table=0,priority=0,actions=NORMAL"])
        self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.tap.bind((f"{WIRE}p", 0))
        self.tap.setblocking(False)
        self.taps.append(self.tap)
        # What kernels say of IPv6 is flooded into tunnels, too, which number it as they do copies.
        for path in glob.glob("/proc/sys/net/ipv6/conf/tr*-*/disable_ipv6"):
            with open(path, "w", encoding="ascii") as out:
                out.write("1")
        for host in (1, 2):
            subprocess.run(self.at(host) + ["sh", "-c", "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6"],
                           check=True)
        # From now on the bridges know where both hosts are, and flood nothing of theirs.
        for host in (1, 2):
            self.send(host, [addresses(host) + b"\x88\xb5" + bytes(46)])
        eventually(lambda: not self.waiting(), "nothing is flooded", pause=0.5)

    def waiting(self):
        """Copies that have come to the analyzer's device since the last time."""
        frames = []
        with contextlib.suppress(BlockingIOError):
            while True:  # until there is none
                frame, address = self.tap.recvfrom(65536)
                if address[2] != socket.PACKET_OUTGOING and is_copy(frame):
                    frames.append(frame)
        return frames

    def send(self, host, frames):
        subprocess.run(self.at(host) + [sys.executable, "-c", SENDER, f"trc-h{host}p"], check=True,
                       input="\n".join(frame.hex() for frame in frames), text=True, timeout=120)

    def wait_for(self, copies):
        """So many, since the last capture or wait."""
        wanted = len(self.copies) + copies

        def are_there():
            self.copies.extend(self.waiting())
            assert len(self.copies) <= wanted, f"{len(self.copies)} copies, not {wanted}"
            return len(self.copies) == wanted

        eventually(are_there, f"{copies} copies are there")

    def capture(self, copies):
        """A file of all copies since the last one, of which there are so many."""
        self.wait_for(copies - len(self.copies))
        path = self.path("roce.pcap")
        write_pcap(path, self.copies)
        self.copies = []
        return path

    def run(self, *words):
        program = f"{self.switch.paths['BUILD']}/controller/daemon/trumpet-analyzer"
        done = subprocess.run([program, *words], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def findings(self, copies):
        said = self.run("roce", f"--topology={self.path('network.yaml')}", self.capture(copies))
        assert said[-1]["sums"]["frames"]["copies"] == copies, said[-1]
        return said[:-1]

    @contextlib.contextmanager
    def meanwhile(self, bridge, actions):
        """Of data, before the flows that copy: of what is done to it there is no copy of that bridge."""
        flow = f"table=0,priority=65535,udp,nw_src=10.77.0.1,tp_dst={ROCE}"
        self.switch.ofctl("-O", "OpenFlow13", "add-flow", bridge, f"{flow},actions={actions}")
        self.switch.heed_flows()
        yield
        self.switch.ofctl("-O", "OpenFlow13", "--strict", "del-flows", bridge, flow)
        self.switch.heed_flows()


@contextlib.contextmanager
def roce_network(switch):
    made = RoceNetwork(switch)
    try:
        made.open()
        made.start_analyzer()
        yield made
    finally:
        made.close()


def rdma_is_debugged_by_copies_of_real_bridges(switch):
    with roce_network(switch) as network:
        # A sound connection: nothing is found.
        network.send(1, [data(psn) for psn in range(PACKETS)])
        network.send(2, [answer(PACKETS - 1, ACK)])
        found = network.findings(3 * (PACKETS + 1))
        assert [one["verdict"] for one in found] == ["nothing"], found

        # Some are lost behind the second bridge; the receiver says which it misses, and the sender
        # goes back to it.
        lost = range(300, 310)
        network.send(1, [data(psn) for psn in range(200, lost[0])])
        network.wait_for(3 * 100)
        with network.meanwhile(CHAIN[2], "drop"):
            network.send(1, [data(psn) for psn in lost])
            network.wait_for(2 * len(lost))
        network.send(1, [data(psn) for psn in range(lost[-1] + 1, 400)])
        network.send(2, [answer(lost[0], OUT_OF_SEQUENCE)])
        network.send(1, [data(psn) for psn in range(lost[0], 400)])
        network.send(2, [answer(399, ACK)])
        found = network.findings(3 * (200 + 1 + 100 + 1) - len(lost))
        losses = [one for one in found if one["verdict"] == "loss" and "behind" in one]
        assert len(losses) == 1 and losses[0]["packets"] == len(lost), found
        assert (losses[0]["behind"], losses[0]["before"]) == (CHAIN[1], CHAIN[2]), found
        assert not {one["verdict"] for one in found} - {"loss"}, found

        # A receiver without buffers.
        network.send(1, [data(400)])
        network.send(2, [answer(400, NOT_READY)])
        found = network.findings(3 * 2)
        assert [(one["verdict"], one["host"]) for one in found] == [("not_ready", "10.77.0.2")], found

        # What the analyzer has stored meanwhile says who missed packets, and who was not ready.
        def told():
            said = network.run("app", "roce", f"--store={network.path('traces')}")
            hosts = {(one["verdict"], one.get("host")) for one in said}
            places = {(one["verdict"], one.get("behind")) for one in said}
            wanted = {("not_ready", "10.77.0.2")} <= hosts and {("loss", CHAIN[1])} <= places
            return said if wanted else None

        try:
            said = eventually(told, "NAKs and what was lost are stored")
        except AssertionError as error:
            raise AssertionError(f"{network.stored()} {network.status()}") from error
        behind = [one for one in said if one.get("behind") == CHAIN[1]]
        assert len(behind) == 1 and behind[0]["queue_pairs"] == 1, said
        return f"{len(lost)} of 300 packets lost, {len(network.stored())} traces"


def marks_of_rdma_are_found_where_they_were_set(switch):
    with roce_network(switch) as network:
        # The second bridge marks what passes its queue.
        network.switch.ofctl("-O", "OpenFlow13", "add-flow", CHAIN[1], "table=1,priority=0,actions=NORMAL")
        marked = range(50, 80)
        network.send(1, [data(psn) for psn in range(marked[0])])
        network.wait_for(3 * marked[0])
        with network.meanwhile(CHAIN[1], "mod_nw_ecn:3,resubmit(,1)"):
            network.send(1, [data(psn) for psn in marked])
            network.wait_for(2 * len(marked))
        network.send(1, [data(psn) for psn in range(marked[-1] + 1, PACKETS)])
        network.send(2, [answer(PACKETS - 1, ACK)])
        # Its own copies of them are not made: its flow stands before those that copy.
        found = network.findings(3 * (PACKETS + 1) - len(marked))
        assert [one["verdict"] for one in found] == ["congestion"], found
        assert found[0]["before"] == CHAIN[2] and found[0]["packets"] == len(marked), found
        return f"{len(marked)} of {PACKETS} packets marked"


ALL = [
    rdma_is_debugged_by_copies_of_real_bridges,
    marks_of_rdma_are_found_where_they_were_set,
]
