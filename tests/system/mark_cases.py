# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Slices in the datapath: real packets through the patched switch, real copies out of a tunnel."""

import contextlib
import os
import socket
import struct
import subprocess
import time

import captures
from switch import CommandError, at_best, eventually

MARK = "0x72100000/0xfff00000"
SWITCH_NUMBER = 7
GRE, ERSPAN = "gre", "erspan"
ETHERNET_IN_GRE, ERSPAN_IN_GRE = 0x6558, 0x88be


def run(*command):
    subprocess.run(command, check=True)


def static_flow(port, kind):
    """What makes copies of marked packets: installed once for each bridge (docs/slices.md).

    The way to the analyzer is looked up by the mark, too: a copy must not have one.
    """
    fields = {GRE: f"move:NXM_NX_PKT_MARK[0..19]->NXM_NX_TUN_ID[0..19],"
                   f"load:{SWITCH_NUMBER}->NXM_NX_TUN_ID[20..31]",
              ERSPAN: f"load:{SWITCH_NUMBER}->NXM_NX_TUN_ID[],"
                      "move:NXM_NX_PKT_MARK[0..19]->tun_erspan_idx[0..19]"}[kind]
    return (f"table=0,priority=65535,pkt_mark={MARK},actions="
            f"clone({fields},load:0->NXM_NX_PKT_MARK[],output:{port}),"
            "load:0->NXM_NX_PKT_MARK[],resubmit(,0)")


class Wires:
    """br0 between two veths, and br-phy, through which copies leave for an analyzer."""

    def __init__(self, kind):
        self.kind = kind
        self.names = ["sl-in", "sl-out", "sl-phy"]
        self.taps = {}

    def open(self, switch):
        kind = self.kind
        for name in self.names:
            run("ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}1")
            for end in (name, f"{name}1"):
                run("sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1")
                run("ip", "link", "set", end, "up")
        switch.set_config(enable="true", memory_mb="16")
        switch.vsctl("add-br", "br-phy", "--", "set", "bridge", "br-phy", "datapath_type=netdev",
                     "--", "add-port", "br-phy", "sl-phy")
        run("ip", "addr", "add", "10.20.0.1/24", "dev", "br-phy")
        run("ip", "link", "set", "br-phy", "up")
        options = {GRE: ["options:key=flow"],
                   ERSPAN: ["options:key=flow", "options:erspan_ver=1", "options:erspan_idx=flow"]}
        switch.vsctl("add-port", "br0", "sl-in", "--", "set", "interface", "sl-in",
                     "ofport_request=11", "--", "add-port", "br0", "sl-out", "--", "set",
                     "interface", "sl-out", "ofport_request=12", "--", "add-port", "br0", "copies",
                     "--", "set", "interface", "copies", f"type={kind}", "ofport_request=13",
                     "options:remote_ip=10.20.0.2", *options[kind])
        switch.rpc("tnl/neigh/set", "br-phy", "10.20.0.2", "02:00:00:00:20:02")
        switch.ofctl("add-flow", "br0", "priority=1,in_port=11,actions=output:12")
        switch.ofctl("add-flow", "br0", static_flow(13, kind))
        for name in self.names:
            tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            tap.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
            tap.bind((f"{name}1", 0))
            tap.setblocking(False)
            self.taps[name] = tap

    def close(self, switch):
        switch.vsctl("--if-exists", "del-br", "br-phy")  # its interface would outlive the switch
        for tap in self.taps.values():
            tap.close()
        for name in self.names:
            subprocess.run(["ip", "link", "del", name], check=False, stderr=subprocess.DEVNULL)

    def send(self, frame):
        self.taps["sl-in"].send(frame)

    def _frames(self, name):
        while True:
            try:
                frame, address = self.taps[name].recvfrom(65536)
            except BlockingIOError:
                return
            if address[2] != socket.PACKET_OUTGOING:
                yield frame

    def take_forwarded(self):
        return list(self._frames("sl-out"))

    def take_copies(self):
        """[(number of the switch, tag, frame)]"""
        return [self.read_copy(frame) for frame in self._frames("sl-phy")
                if frame[12:14] == b"\x08\x00" and frame[23] == 47]

    def read_copy(self, frame):
        flags, protocol = struct.unpack("!HH", frame[34:38])
        at = 38
        if self.kind == GRE:
            assert protocol == ETHERNET_IN_GRE and flags & 0x2000, f"GRE {flags:#x} {protocol:#x}"
            key = struct.unpack("!I", frame[at:at + 4])[0]
            return key >> 20, key & 0xfffff, frame[at + 4:]
        assert protocol == ERSPAN_IN_GRE, f"GRE {protocol:#x}"
        at += 4 if flags & 0x1000 else 0
        head, index = struct.unpack("!II", frame[at:at + 8])
        return head & 0x3ff, index & 0xfffff, frame[at + 8:]


@contextlib.contextmanager
def wires(switch, kind=GRE):
    made = Wires(kind)
    try:
        made.open(switch)
        yield made
    finally:
        made.close(switch)


def frame_to(host, number, length=60):
    return captures.ethernet(captures.ipv4((10, 0, 9, 1), (10, 0, 0, host), 17, captures.udp(
        1000, 2000, struct.pack("!I", number) + bytes(length))))


def ended(switch, tag):
    """What the switch says of the slice once it has ended."""
    return eventually(lambda: next((e for e in switch.ask("slice-show")["ended"]
                                    if e["tag"] == tag), None), f"slice {tag} ends")


def pass_all(wire, frames):
    """Sends them in parts that sockets have room for; returns what was forwarded and copied."""
    forwarded, copies = [], []

    def take():
        forwarded.extend(wire.take_forwarded())
        copies.extend(wire.take_copies())
        return len(forwarded)

    for start in range(0, len(frames), 50):
        for frame in frames[start:start + 50]:
            wire.send(frame)
        eventually(lambda: take() >= min(start + 50, len(frames)),  # pylint: disable=W0640
                   "everything is forwarded")
    return forwarded, copies, take


def check_copies(switch, kind):
    with wires(switch, kind) as wire:
        wanted = [frame_to(n % 3, n, n % 900) for n in range(600)]
        switch.rpc("trumpet/slice-on", "77777", "600000", "dstIP=10.0.0.1")
        switch.rpc("trumpet/slice-on", "5", "600000", "dstIP=10.0.0.2", "packets=20")
        forwarded, copies, take = pass_all(wire, wanted)
        eventually(lambda: take() and len(copies) >= 220, "all copies come")
        for tag in ("77777", "5"):
            switch.rpc("trumpet/slice-off", tag)
        pass_later, copies_later, _ = pass_all(wire, wanted[:50])
        take()
        # Packets may pass each other: in batches those of different flows, and within the devices
        # those of one when the thread that sends them moves to another processor.
        assert sorted(forwarded) == sorted(wanted), "each packet is forwarded once, unchanged"
        first = sorted(frame for frame in wanted if frame[33] == 1)
        second = [frame for frame in wanted if frame[33] == 2]
        assert {number for number, _, _ in copies} == {SWITCH_NUMBER}
        assert sorted(f for _, tag, f in copies if tag == 77777) == first, "what was marked is copied"
        capped = [frame for _, tag, frame in copies if tag == 5]
        assert len(set(capped)) == 20 and set(capped) <= set(second), "up to the cap"
        assert len(copies) == 220 and sorted(pass_later) == sorted(wanted[:50]) and not copies_later
        one, two = ended(switch, 77777), ended(switch, 5)
        assert (one["packets"], one["withheld"]) == (200, 0), one
        assert one["bytes"] == sum(len(frame) for frame in first), one
        assert (two["packets"], two["withheld"]) == (20, 180), two


def marked_packets_and_no_others_are_copied_in_gre(switch):
    check_copies(switch, GRE)


def marked_packets_and_no_others_are_copied_in_erspan(switch):
    check_copies(switch, ERSPAN)


def slice_with_caps(switch, wire, tag):
    """How it ended by itself, with packets all the while."""
    copies = []
    switch.rpc("trumpet/slice-on", str(tag), "200", "dstIP=10.0.0.1", "pps=500", "bytes=6000")
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        wire.send(frame_to(1, 0, 40))
        copies += wire.take_copies()
        wire.take_forwarded()
    slice_ = ended(switch, tag)
    eventually(lambda: copies.extend(wire.take_copies()) or len(copies) >= slice_["packets"],
               "the copies come")
    assert len(copies) == slice_["packets"] <= 105 and slice_["bytes"] <= 6000, slice_
    assert slice_["lasted_ns"] == 200_000_000 and slice_["span_ns"] < 200_000_000, slice_
    return slice_


def a_slice_ends_by_itself_with_its_caps_kept(switch):
    with wires(switch) as wire:
        # Another one, if the machine stood still and too few packets came to it.
        tags = iter(range(9, 12))
        slice_ = at_best(lambda: slice_with_caps(switch, wire, next(tags)), lambda told: told["withheld"])
        assert slice_["withheld"] > 0, slice_
        return f"first packet {slice_['first_after_ns'] / 1e6:.3f} ms after the command"


def disabling_the_monitor_ends_slices_at_once(switch):
    with wires(switch) as wire:
        switch.rpc("trumpet/slice-on", "9", "600000", "*")
        _, copies, take = pass_all(wire, [frame_to(1, n) for n in range(50)])
        eventually(lambda: take() and len(copies) == 50, "packets are copied")
        switch.rpc("trumpet/disable")
        _, copies, _ = pass_all(wire, [frame_to(1, n) for n in range(50)])
        assert not copies and not switch.ask("slice-show")["on"]
        try:
            switch.rpc("trumpet/slice-on", "10", "1000", "*")
        except CommandError as error:
            assert "is off" in str(error)
        else:
            raise AssertionError("a slice was turned on while the monitor is off")


def slice_lengths(switch):
    """For bench-slice-length: [(asked ms, ms of packets, ms to the first packet)]"""
    rows = []
    path = f"{switch.folder}/stream.pcap"
    captures.write_pcap(path, [frame_to(1, n) for n in range(64)])
    switch.set_config(enable="true", memory_mb="16")
    switch.ofctl("add-flow", "br0", "actions=output:sink0")
    switch.add_dpdk_port("stream0", f"net_pcap7,rx_pcap={path},infinite_rx=1")
    tag = 0
    for asked in (1, 2, 3, 5, 10, 23, 50, 100):
        for _ in range(int(os.environ.get("SLICE_ROUNDS", "10"))):
            tag += 1
            switch.rpc("trumpet/slice-on", str(tag), str(asked), "dstIP=10.0.0.0/24")
            slice_ = ended(switch, tag)
            rows.append((asked, slice_["span_ns"] / 1e6, slice_["first_after_ns"] / 1e6))
    return rows


ALL = [
    marked_packets_and_no_others_are_copied_in_gre,
    marked_packets_and_no_others_are_copied_in_erspan,
    a_slice_ends_by_itself_with_its_caps_kept,
    disabling_the_monitor_ends_slices_at_once,
]
