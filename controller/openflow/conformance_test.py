#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What we send, read by programs that were not written here: os-ken and tshark; and what others
wrote down, read by us: a folder of OpenFlow messages.

usage: conformance_test.py (environment: top_builddir; OPENFLOW_GOLDEN names the folder, with of13
and of14 in it; by default the one beside the source tree)

Skipped (77) in a build without Open vSwitch.
"""

import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/support"))
import frames  # noqa: E402

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SAMPLES = os.path.join(BUILD, "controller/openflow/openflow_samples")
GOLDEN = os.environ.get("OPENFLOW_GOLDEN") or os.path.join(
    os.environ.get("top_srcdir", "."), "../shared/data/openflow")
# Experimenters that nobody knows, and values that Open vSwitch is stricter about.
NOT_FOR_US = {
    "of13": "4-2 4-12 4-15 4-16 4-21 4-36 4-41 4-45 4-59 4-60 4-61 4-62 4-63".split(),
    "of14": "5-2 5-12 5-15 5-16 5-21 5-23 5-39 5-42 5-43 5-57 5-58 5-59 5-60 5-70 5-71".split(),
}

# tshark 4.0 ends at the first field of any match of 1.5 (the same bytes are fine in 1.4), and reads
# buckets of 1.5 as if they were those of 1.3.
TSHARK_CANNOT = {(6, name) for name in ("flow_add", "flow_plain", "flow_delete", "group_add",
                                        "packet_out", "bundle_add")}

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAIL: {what}")


def read_samples():
    lines = subprocess.run([SAMPLES], check=True, capture_output=True, text=True).stdout.split("\n")
    samples = []
    for line in filter(None, lines):
        version, name, text = line.split()
        samples.append((int(version), name, bytes.fromhex(text)))
    return samples


def check_os_ken(samples):
    from os_ken.ofproto import ofproto_parser, ofproto_protocol  # pylint: disable=import-outside-toplevel
    decoded = 0
    for version, name, data in samples:
        datapath = ofproto_protocol.ProtocolDesc(version=version)
        _, kind, length, xid = ofproto_parser.header(data)
        check(length == len(data) and xid == 7, f"os-ken: header of {name} in {version}")
        if name not in ("flow_add", "flow_plain", "flow_delete", "flow_purge", "echo"):
            continue  # os-ken has no parser for what only controllers send
        message = ofproto_parser.msg(datapath, version, kind, length, xid, data)
        decoded += 1
        if name == "flow_plain":
            match = dict(message.match.items())
            check(match == {"in_port": 1}, f"os-ken: match {match} in {version}")
            check(message.cookie == 0x7472000000000006 and message.table_id == 2
                  and message.priority == 5, f"os-ken: place in {version}")
            actions = message.instructions[0].actions
            check([action.port for action in actions] == [2], f"os-ken: actions in {version}")
        if name == "flow_add":
            match = dict(message.match.items())
            check(match == {"eth_type": 0x800, "ip_proto": 6, "ipv4_dst": ("10.1.0.0", "255.255.0.0"),
                            "tcp_dst": 80}, f"os-ken: match {match} in {version}")
            check(message.hard_timeout == 2, f"os-ken: timeout in {version}")
        if name == "flow_purge":
            check(message.cookie_mask == 0xffff << 48, f"os-ken: cookie mask in {version}")
    check(decoded == 15, f"os-ken has decoded {decoded} messages of 15")
    return decoded


def write_capture(path, samples):
    """As if each had been sent to a switch, on a connection for each version."""
    packets, sequence = [], {}
    for version, _, data in samples:
        at = sequence.get(version, 1)
        sequence[version] = at + len(data)
        segment = frames.tcp(40000 + version, 6653, at, 1, 0x18, data)
        packets.append(frames.ethernet(frames.ipv4((10, 0, 0, 1), (10, 0, 0, 2), 6, segment)))
    frames.write_pcap(path, packets)


def check_tshark(samples):
    with tempfile.TemporaryDirectory(prefix="trumpet-") as folder:
        path = os.path.join(folder, "sent.pcap")
        write_capture(path, samples)
        fields = ["-e", "frame.number", "-e", "_ws.malformed", "-e", "_ws.col.Protocol"]
        done = subprocess.run(["tshark", "-n", "-r", path, "-d", "tcp.port==6653,openflow", "-T",
                               "fields", *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    check(len(rows) == len(samples), f"tshark: {len(rows)} frames of {len(samples)}")
    for (version, name, _), row in zip(samples, rows):
        check(row[1] == "" or (version, name) in TSHARK_CANNOT, f"tshark: {name} in {version} is malformed")
        check(row[2] == "OpenFlow", f"tshark: {name} in {version} is {row[2]}")
    return len(rows)


def check_golden():
    count = 0
    for folder, exceptions in NOT_FOR_US.items():
        paths = sorted(glob.glob(os.path.join(GOLDEN, folder, "*.packet")))
        done = subprocess.run([SAMPLES, *paths], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines() if paths else []:
            path, outcome = line.split("\t", 1)
            name = os.path.basename(path)
            is_exception = (name.rsplit("-", 1)[0] in exceptions or "error_msg" in name
                            or "match_conj" in name or "action_ct" in name)
            check(is_exception or outcome == "ok", f"{folder}/{name}: {outcome}")
            count += 1
    return count


def main():
    if not os.path.exists(SAMPLES):
        print("a build without Open vSwitch has no codec")
        return 77
    samples = read_samples()
    print(f"os-ken has read {check_os_ken(samples)} messages of ours")
    print(f"tshark has read {check_tshark(samples)} messages of ours")
    if os.path.isdir(GOLDEN):
        count = check_golden()
        check(count > 150, f"{count} messages in {GOLDEN}")
        print(f"we have read {count} messages of others")
    else:
        print(f"NOT CHECKED: messages of others, as there is no {GOLDEN}")
    print(f"{'0 passed, ' + str(len(failures)) if failures else '1 passed, 0'} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
