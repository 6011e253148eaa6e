#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

"""Shows that 0001-conntrack-ftp-sizes holds.

Sends FTP "PORT" commands of many lengths through ct(alg=ftp,nat) of a real
switch and compares what comes out byte by byte.  Without the patch the switch
crashes on the first length whose rest is a multiple of 256.

usage: unshare -n ftp_rewrite_test.py TREE [VSWITCHD]
TREE is what build-aux/ovs-build printed.  Root and a network namespace of its
own are needed: it makes interfaces, which vanish with the namespace.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile

COMMAND = b"PORT 10,0,0,1,4,1\r\n"
REWRITTEN = b"PORT 192,168,100,200,4,1\r\n"
# Around the two points where eight bits wrap, and the longest that still has
# room for the longer address in 1500 bytes.
LENGTHS = [19, 40, 255, 260, 261, 262, 263, 264, 268, 269, 270, 516, 517, 518, 600, 1400]
CLIENT, NAT, SERVER = "10.0.0.1", "192.168.100.200", "10.0.0.2"
MAC = {1: bytes.fromhex("020000000001"), 2: bytes.fromhex("020000000002")}
SYN, PSH, ACK = 0x02, 0x08, 0x10


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def segment(port, source, target, sport, dport, seq, ack, flags, payload=b""):
    """An Ethernet frame from `port` with one TCP segment."""
    ends = socket.inet_aton(source) + socket.inet_aton(target)
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 5 << 4, flags, 8192, 0, 0)
    pseudo = ends + struct.pack("!BBH", 0, 6, len(tcp) + len(payload))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp + payload)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(payload), 1, 0, 64, 6, 0) + ends
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return MAC[3 - port] + MAC[port] + b"\x08\x00" + ip + tcp + payload


def check_rewritten(frame, length):
    """Returns what is wrong with the frame that came out, or None."""
    ip, tcp = frame[14:34], frame[34:54]
    size = struct.unpack("!H", ip[2:4])[0]
    body = frame[14 + 20:14 + size]
    want = REWRITTEN + b"N" * (length - len(COMMAND))
    if body[20:] != want:
        return "payload is %r..., %d bytes" % (body[20:60], len(body) - 20)
    if checksum(ip):
        return "the IP checksum is wrong"
    if checksum(ip[12:20] + struct.pack("!BBH", 0, 6, len(body)) + body):
        return "the TCP checksum is wrong"
    if socket.inet_ntoa(ip[12:16]) != NAT or not tcp:
        return "the source address is not translated"
    return None


class Switch:
    """The switch with two veth ports, in a private run directory."""

    def __init__(self, tree, directory):
        self.build = os.path.join(tree, "build")
        self.schema = os.path.join(tree, "src/vswitchd/vswitch.ovsschema")
        self.directory = directory

    def start(self, vswitchd):
        directory = self.directory
        os.environ.update(OVS_RUNDIR=directory, OVS_LOGDIR=directory, OVS_DBDIR=directory)
        for name in "qa", "qb":
            run("ip", "link", "add", name, "type", "veth", "peer", "name", name + "1")
            run("ip", "link", "set", name, "up")
            run("ip", "link", "set", name + "1", "up")
        self.tool("ovsdb/ovsdb-tool", "create", directory + "/conf.db", self.schema)
        self.tool("ovsdb/ovsdb-server", directory + "/conf.db",
                  "--remote=punix:%s/db.sock" % directory, "--detach", "--pidfile", "--log-file")
        self.vsctl("--no-wait", "init")
        run(vswitchd or self.build + "/vswitchd/ovs-vswitchd", "unix:%s/db.sock" % directory,
            "--detach", "--pidfile=%s/ovs-vswitchd.pid" % directory, "--log-file",
            "-vconsole:off")
        self.vsctl("add-br", "br", "--", "set", "bridge", "br", "datapath_type=netdev",
                   "fail-mode=secure")
        for number, name in (1, "qa"), (2, "qb"):
            self.vsctl("add-port", "br", name, "--", "set", "interface", name,
                       "ofport_request=%d" % number)
        for flow in (
                "table=0,in_port=1,tcp,actions=ct(commit,alg=ftp,nat(src=%s),table=1)" % NAT,
                "table=0,in_port=2,tcp,actions=ct(nat,table=1)",
                "table=1,in_port=1,actions=2", "table=1,in_port=2,actions=1"):
            self.tool("utilities/ovs-ofctl", "add-flow", "unix:%s/br.mgmt" % directory, flow)

    def tool(self, name, *arguments):
        return run(os.path.join(self.build, name), *arguments)

    def vsctl(self, *arguments):
        return self.tool("utilities/ovs-vsctl", "--timeout=20",
                         "--db=unix:%s/db.sock" % self.directory, *arguments)

    def stop(self):
        for name in "ovs-vswitchd.pid", "ovsdb-server.pid":
            try:
                with open(os.path.join(self.directory, name), encoding="ascii") as file:
                    os.kill(int(file.read()), signal.SIGTERM)
            except (OSError, ValueError):
                pass  # It never started, or it crashed: that is what we report.


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)
    if result.returncode:
        raise RuntimeError("%s: %s" % (" ".join(command), result.stdout.strip()))
    return result.stdout


def open_port(name):
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    port.bind((name, 0))
    port.settimeout(5)
    return port


def receive(port, flags):
    """The next frame from the switch whose TCP flags are these."""
    while True:
        frame, address = port.recvfrom(4096)
        if address[2] != socket.PACKET_OUTGOING and frame[23] == 6 and frame[47] == flags:
            return frame


def session(ports, length, sport):
    """One handshake and one PORT command; returns what is wrong, or None."""
    def step(port, *fields):
        ports[port].send(segment(port, *fields))
        return receive(ports[3 - port], fields[6])

    step(1, CLIENT, SERVER, sport, 21, 100, 0, SYN)
    step(2, SERVER, NAT, 21, sport, 500, 101, SYN | ACK)
    step(1, CLIENT, SERVER, sport, 21, 101, 501, ACK)
    payload = COMMAND + b"N" * (length - len(COMMAND))
    frame = step(1, CLIENT, SERVER, sport, 21, 101, 501, PSH | ACK, payload)
    return check_rewritten(frame, length)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="ftp-rewrite.") as directory:
        switch = Switch(sys.argv[1], directory)
        try:
            switch.start(sys.argv[2] if len(sys.argv) > 2 else None)
            ports = {1: open_port("qa1"), 2: open_port("qb1")}
            for index, length in enumerate(LENGTHS):
                try:
                    wrong = session(ports, length, 3000 + index)
                except socket.timeout:
                    wrong = "nothing came out (has the switch crashed?)"
                if wrong:
                    print("FTP command of %d bytes: %s" % (length, wrong))
                    failures += 1
                    break
        except (RuntimeError, OSError) as error:
            print("ftp_rewrite_test: %s" % error)
            failures += 1
        finally:
            switch.stop()
    if not failures:
        print("ftp_rewrite_test: %d lengths, all rewritten correctly" % len(LENGTHS))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
