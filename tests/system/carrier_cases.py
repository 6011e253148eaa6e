# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tags that travel beside the bytes of packets: in a VLAN tag over a chain of bridges, and in an
option of Geneve through a tunnel, both with real TCP.  What is true comes from captures."""

import contextlib
import socket
import struct
import subprocess

from switch import eventually
from tag_cases import ALL_ETHERNET, EDGE, FLOW, Connection, check_bytes, ip, network, value

SOL_PACKET, PACKET_AUXDATA = 263, 8
TP_STATUS_VLAN_VALID = 0x10


def hops(field):
    """Counts packets, and the switches that they have passed."""
    return FLOW + f"""
role first_hop {{ pkts >> tag({field}, 1); }}
role intermediate {{ pkts >> tag({field}, {field} + 1); }}
role last_hop {{
  packets = Sketch(alg="count-min", key=flow, nhash=4, size=1024, width=32);
  switches = Sketch(alg="count-min", key=flow, nhash=4, size=1024, width=32);
  pkts >> packets.set(packets + 1) >> switches.set(switches + {field});
}}
"""


def raise_mtu(net, links, mtu):
    """The switch looks at MTUs once a second; ports are told apart by whether all fits."""
    for link in links:
        for end in (link, link[::-1]):
            ip("link", "set", end, "mtu", str(mtu))
    net.switch.set_config(carriers=",".join(["key:of the test"] + [
        end for link in links for end in (link, link[::-1])]))


class Tap:
    """Frames of an interface with the VLAN tag that the kernel takes off them."""

    def __init__(self, made, interface):
        self.socket = made
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.socket.bind((interface, 0))
        self.socket.setblocking(False)

    def take(self):
        """Those that came in."""
        frames = []
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, notes, _, place = self.socket.recvmsg(65536, 256)
                if place[2] == socket.PACKET_OUTGOING:
                    continue
                for _, kind, data in notes:
                    status, tci, tpid = struct.unpack("I12xHH", data[:20])
                    if kind == PACKET_AUXDATA and status & TP_STATUS_VLAN_VALID:
                        frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
                frames.append(frame)
        return frames


def tap(interface):
    return Tap(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_ETHERNET), interface)


def are_counted(switch, net, connection, passed):
    """Packets of the end of the connection may come between two of these lines."""
    switches = value(switch, "switches", connection.key)
    packets = value(switch, "packets", connection.key)
    return packets == connection.arrived(net) > 10 and switches == passed * packets


def vlan_tags_carry_over_a_chain_and_leave_no_trace(switch):
    with network(switch, ["AB", "BC"]) as net:
        net.route("ABC")
        raise_mtu(net, net.links, 1508)
        switch.rpc("trumpet/program-add", "p", hops("vlan.vid"), EDGE)
        between = tap("CB")
        connection = Connection(net)
        connection.send(500_000)
        connection.close()
        eventually(lambda: are_counted(switch, net, connection, 2), "A and B have tagged all")
        received = check_bytes(net)
        shown = switch.ask("program-show", "p")
        assert shown["carriers"] == {"lost": 0, "escaped": 0, "exposed": 0}, shown
        tagged = [frame for frame in between.take() if frame[12:14] == b"\x88\xa8"]
        assert len(tagged) >= len(received), (len(tagged), len(received))
        assert {struct.unpack("!H", frame[14:16])[0] & 0xfff for frame in tagged} == {2}
        assert all(frame[:12] + frame[20:] in set(received) for frame in tagged
                   if frame[20:22] == b"\x08\x00"), "as they were, but for the tag"
        forged_tags_arrive(switch, net, max(tagged, key=len)[:1000])
        between.socket.close()
        return f"{len(received)} packets from the left"


def forged_tags_arrive(switch, net, seen):
    """A host sends what it can know only from between the switches, and what it makes up."""
    left, right = net.hosts
    made_up = seen[:18] + bytes([seen[18] ^ 0x20]) + seen[19:]
    arriving = Tap(right.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_ETHERNET), "eth0")
    with left.socket(socket.AF_PACKET, socket.SOCK_RAW, ALL_ETHERNET) as sender:
        sender.bind(("eth0", 0))
        for state in ("with the program", "without", "disabled"):
            if state == "without":
                switch.rpc("trumpet/program-del", "p")
            if state == "disabled":
                switch.rpc("trumpet/disable")
            for forged in (seen, made_up):
                got = []

                def has_arrived(forged=forged, got=got):
                    got.extend(frame for frame in arriving.take() if len(frame) > 900)
                    return got

                sender.send(forged)
                eventually(has_arrived, f"a forged frame arrives, {state}")
                assert got == [forged], (state, got[0][:32].hex(), forged[:32].hex())
    arriving.socket.close()
    left.take()
    right.take()


def full_packets_of_links_without_room_carry_nothing(switch):
    with network(switch, ["AB", "BC"]) as net:
        net.route("ABC")
        raise_mtu(net, net.links, 1500)
        switch.rpc("trumpet/program-add", "p", hops("vlan.vid"), EDGE)
        connection = Connection(net)
        connection.send(300_000)
        connection.close()

        def is_all_told():
            """Edges are on both sides, so what was not tagged has gone either way."""
            packets = value(switch, "packets", connection.key)
            arrived = connection.arrived(net)
            full = sum(len(frame) > 1506 for frame in net.hosts[1].received)
            return 0 < packets == arrived - full and full > 100

        eventually(is_all_told, "only full packets are not counted")
        assert switch.ask("program-show", "p")["untagged"] > 100
        check_bytes(net)


def tunnel(switch, net):
    """A and B become ends of a tunnel over the link between UA and UB, bridges of their own.

    Routes say which address it comes from: the switch would look for one that it is told among
    those of the system, which are left out.
    """
    ip("link", "add", "XY", "type", "veth", "peer", "name", "YX")
    net.links.append("XY")  # taken away with the others
    macs = {}
    for bridge, end, address in (("UA", "XY", "172.16.0.1"), ("UB", "YX", "172.16.0.2")):
        subprocess.run(["ethtool", "-K", end, "tx", "off"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1"], check=True)
        ip("link", "set", end, "mtu", "1600")
        ip("link", "set", end, "up")
        switch.vsctl("add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev",
                     "--", "add-port", bridge, end)
        ip("address", "replace", f"{address}/24", "dev", bridge)
        ip("link", "set", bridge, "mtu", "1600")
        ip("link", "set", bridge, "up")
        macs[bridge] = switch.vsctl("get", "interface", bridge, "mac_in_use").strip('"')
    for bridge, far, other in (("A", "172.16.0.2", "UB"), ("B", "172.16.0.1", "UA")):
        under = f"U{bridge}"
        switch.rpc("ovs/route/add", f"{far}/32", under)
        switch.rpc("tnl/neigh/set", under, far, macs[other])
        switch.vsctl("add-port", bridge, f"t{bridge}", "--", "set", "interface", f"t{bridge}",
                     "type=geneve", f"options:remote_ip={far}",
                     "options:key=7", "options:csum=true")
    for bridge, host in (("A", "left"), ("B", "right")):
        switch.ofctl("add-flow", bridge, f"in_port={host},actions=output:t{bridge}")
        switch.ofctl("add-flow", bridge, f"in_port=t{bridge},actions=output:{host}")


def options_carry_through_a_tunnel_and_leave_no_trace(switch):
    # Both ends are addresses of this machine, and are not to be reached within it.
    switch.crash_and_restart("--disable-system-route")
    with network(switch, ["AB"]) as net:
        tunnel(switch, net)
        switch.set_config(carriers="XY,YX,key:of the test")
        switch.rpc("trumpet/program-add", "p", hops("geneve.option"), EDGE)
        between = tap("YX")
        connection = Connection(net)
        connection.send(500_000)
        connection.close()
        eventually(lambda: are_counted(switch, net, connection, 1), "A has tagged all")
        received = check_bytes(net)
        shown = switch.ask("program-show", "p")
        assert shown["carriers"] == {"lost": 0, "escaped": 0, "exposed": 0}, shown
        assert shown["untagged"] == 0, shown
        packets = [frame for frame in between.take() if frame[36:38] == struct.pack("!H", 6081)]
        assert len(packets) >= len(received), (len(packets), len(received))
        whole = set(received)
        for frame in packets:
            check_outer(frame)
            assert frame[62:] in whole or frame[62 + 12:62 + 14] != b"\x08\x00"
        between.socket.close()
        return f"{len(received)} packets from the left"


def outer_headers_of_tunnels_carry_no_tags(switch):
    """What is put into a tunnel comes by the port of the bridge below, an edge port if nobody says
    otherwise.  A type of service of 3 is a mark of congestion: the other end would drop it."""
    switch.crash_and_restart("--disable-system-route")
    with network(switch, ["AB"]) as net:
        tunnel(switch, net)
        switch.set_config(uplinks="XY,YX")
        switch.rpc("trumpet/program-add", "p", "role first_hop { pkts >> tag(ipv4.tos, 3); }")
        assert {"left", "UA"} <= edge_names(switch, net), "edges without a word"
        connection = Connection(net)
        connection.send(200_000)
        connection.close()
        received = check_bytes(net)
        assert switch.ask("program-show", "p")["untagged"] >= len(received)


def edge_names(switch, net):
    numbers = switch.ask("program-show", "p")["edge_numbers"]
    return {name for name, number in net.ports().items() if number in numbers}


def check_outer(frame):
    """With one option, ours, and all lengths and checksums right."""
    words = struct.unpack("!10H", frame[14:34])
    assert sum(words) % 0xffff == 0 and words[1] == len(frame) - 14, frame[:62].hex()
    segment = frame[34:]
    assert struct.unpack("!H", segment[4:6])[0] == len(segment)
    assert segment[8] & 0x3f == 3 and segment[16:24] == bytes.fromhex("ff54540200000001")
    pseudo = frame[26:34] + struct.pack("!HH", 17, len(segment))
    total = pseudo + segment + bytes(len(segment) % 2)
    assert segment[6:8] != bytes(2), "the tunnel has checksums"
    assert sum(struct.unpack(f"!{len(total) // 2}H", total)) % 0xffff == 0, frame[:62].hex()


ALL = [vlan_tags_carry_over_a_chain_and_leave_no_trace,
       full_packets_of_links_without_room_carry_nothing,
       options_carry_through_a_tunnel_and_leave_no_trace,
       outer_headers_of_tunnels_carry_no_tags]
