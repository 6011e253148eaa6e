# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The cases of tests/system/run.  Each gets a fresh switch; a text returned is shown as a note."""

import json
import re
import socket
import subprocess
import time

import attack_cases
import blackhole_cases
import bounce_cases
import captures
import carrier_cases
import clos_cases
import clos_loss_cases
import controller_cases
import datapath_cases
import debug_cases
import demo_cases
import live_trace_cases
import mark_cases
import measure_cases
import measure_copy_cases
import measured_event_cases
import measure_network_cases
import mirror_match_cases
import mirror_order_cases
import mirror_session_cases
import probe_cases
import reshuffler_cases
import roce_cases
import router_cases
import rule_change_cases
import session_cases
import slice_cases
import slice_fault_cases
import slice_truth_cases
import tag_cases
import trace_cases
import trace_controller_cases
import trace_number_cases
from switch import CommandError, add_report, eventually, sent_by, settled, stat_of

# Nothing in these depends on when a packet comes, so a pass at line rate and a replay agree.
EVENTS = {
    "packets": "*, sum(packets) >= 1, 1s",
    "bytes": "*, sum(bytes) >= 1, 5-tuple, 1s",
    "volume": "srcIP=10.0.0.0/8, sum(volume) >= 1, srcIP/24, 1s",
    "losses": "Protocol=TCP, sum(is_lost) >= 1, 5-tuple, 1s",
    "vlans": "vlan=*, sum(packets) >= 1, vlan, 1s",
    "tunnels": "tunnelId=*, sum(volume) >= 1, (tunnelId, dstIP), 1s",
    "outer": "outer.dstIP=172.16.0.2, count(packets) >= 1, outer.srcPort, 1s",
    "small": "not Protocol=TCP, min(bytes) >= 1 and sum(packets) >= 1, dstPort, 1s",
}
ROUNDS = 200


def replay(switch, path, events):
    """What trumpet-replay says about the same capture."""
    text = "events:\n" + "".join(
        f"  - {{name: {name}, event: {json.dumps(line)}}}\n" for name, line in events.items())
    with open(f"{switch.folder}/events.yaml", "w", encoding="utf-8") as out:
        out.write(text)
    done = subprocess.run([switch.paths["REPLAY"], "--events", f"{switch.folder}/events.yaml", path],
                          capture_output=True, text=True, check=True)
    sums = {}
    for line in done.stdout.splitlines():
        add_report(sums, json.loads(line))
    return sums


def pass_once(switch, frames, actions):
    """Lets `frames` through the switch once and waits until all of them were reported."""
    path = f"{switch.folder}/pass.pcap"
    captures.write_pcap(path, frames)
    for flow in actions:
        switch.ofctl("add-flow", "br0", flow)
    before = switch.packets_seen()
    switch.add_dpdk_port("src0", f"net_pcap0,rx_pcap={path}")
    eventually(lambda: switch.packets_seen() - before >= len(frames), "all packets were received")
    eventually(lambda: sum(switch.totals().get("packets", {}).values()) >= len(frames),
               "all packets were reported")
    seen = switch.packets_seen() - before
    assert seen == len(frames), f"{len(frames)} packets were sent, {seen} seen"
    return path


def check_same_totals(switch, frames, actions):
    switch.set_config(enable="true", memory_mb="16")
    switch.install(EVENTS)
    # The interval in which an event starts is incomplete; wait for a whole one.
    first_whole = max(e["active_from_ns"] for e in switch.ask("event-list")) // 10**9 + 1
    eventually(lambda: time.time() > first_whole, "the first whole interval begins")
    path = pass_once(switch, frames, actions)
    expected = replay(switch, path, EVENTS)

    def agrees():
        # Intervals of one event end together, but the last to be decided may still be under way.
        return switch.totals() == expected

    try:
        eventually(agrees, "the switch and the replay agree", 10)
    except AssertionError as error:
        actual = switch.totals()
        for name in EVENTS:
            assert actual.get(name) == expected.get(name), (
                f"{name}: switch {actual.get(name)}, replay {expected.get(name)}")
        raise error
    assert set(expected) == set(EVENTS), "every event has reports, or the test shows nothing"
    incomplete = [r for r in switch.ask("reports", "--last", "1000") if not r["complete"]]
    assert not incomplete, f"{len(incomplete)} incomplete reports, such as {incomplete[0]}"


def a_pass_through_a_dpdk_port_counts_what_a_replay_counts(switch):
    check_same_totals(switch, captures.mixed(1, ROUNDS), ["actions=output:sink0"])


def recirculated_packets_count_once(switch):
    check_same_totals(switch, captures.mixed(2, ROUNDS),
                      ["priority=9,table=0,ip,actions=ct(table=1)",
                       "priority=0,table=0,actions=output:sink0",
                       "priority=0,table=1,actions=output:sink0"])


def packets_through_the_avx512_input_function_count_once(switch):
    try:
        switch.rpc("dpif-netdev/dpif-impl-set", "dpif_avx512")
    except CommandError as error:
        return f"not tried, this processor or build has none: {error}"
    check_same_totals(switch, captures.mixed(3, ROUNDS), ["actions=output:sink0"])
    return None


def a_port_of_the_main_thread_is_seen(switch):
    switch.set_config(enable="true", memory_mb="16")
    subprocess.run(["ip", "link", "add", "tap-in", "type", "veth", "peer", "name", "tap-out"],
                   check=True)
    try:
        for name in ("tap-in", "tap-out"):
            subprocess.run(["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"], check=True)
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        switch.vsctl("add-port", "br0", "tap-in")
        switch.ofctl("add-flow", "br0", "actions=drop")
        switch.install({"packets": "Protocol=UDP, sum(packets) >= 1, dstPort, 100ms"})
        frames = [captures.ethernet(captures.ipv4((10, 0, 0, 1), (10, 0, 0, 2), 17,
                                                  captures.udp(1000, 2000 + n % 5, bytes(50))))
                  for n in range(500)]
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind(("tap-out", 0))
            # In parts that the receiving socket has room for: what is lost before the switch is not our matter.
            seen = switch.packets_seen()
            for start in range(0, len(frames), 50):
                for frame in frames[start:start + 50]:
                    out.send(frame)
                eventually(lambda: switch.packets_seen() >= seen + start + 50,  # pylint: disable=W0640
                           "the main thread received the packets")
        expected = {f'{{"dstPort": {2000 + n}}}': 100 for n in range(5)}
        eventually(lambda: switch.totals().get("packets") == expected,
                   "500 packets of 5 ports were reported")
    finally:
        subprocess.run(["ip", "link", "del", "tap-in"], check=True)


def commands_answer_text_and_json(switch):
    switch.set_config(enable="true", memory_mb="16")
    switch.install({"heavy": "dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuple, 10ms"})
    for command in ("status", "event-list", "reports", "flow-table-show", "perf-show",
                    "slice-show", "program-list", "program-budget"):
        code, text, _ = switch.appctl(f"trumpet/{command}")
        assert code == 0 and text.endswith("\n"), command
        code, text, _ = switch.appctl(f"trumpet/{command}", "json")
        assert code == 0
        json.loads(text)
    code, text, _ = switch.appctl("trumpet/event-show", "heavy")
    assert "active since" in text and "applied on" in text, text
    code, text, _ = switch.appctl("list-commands")
    usages = dict(re.findall(r"^\s*(trumpet/\S+)\s+(\S.*)$", text, re.M))
    assert "trumpet/status" in usages and all("[json]" in usage for usage in usages.values()), usages
    with open(f"{switch.paths['SOURCE']}/docs/operations.md", encoding="utf-8") as page:
        described = page.read()
    assert not [name for name in usages if name.removeprefix("trumpet/") not in described], usages


def wrong_arguments_give_one_line_and_change_nothing(switch):
    switch.set_config(enable="true", memory_mb="16")
    switch.install({"heavy": "*, sum(volume)>125KB, 5-tuple, 10ms"})
    before = switch.ask("event-list")[0]["name"], len(switch.ask("event-list"))
    for arguments, part in (
            (["status", "xml"], "unexpected argument 'xml'"),
            (["event-add", "*, sum(bytez) > 1, 10ms"], "event:1:8: 'bytez'"),
            (["event-add", "*, sum(bytes) > 1, 10"], "event:1:"),
            (["event-add", "@/no/such.yaml"], "No such file or directory"),
            (["event-add", "name=heavy", "*, sum(bytes) > 1, 10ms"], "is installed already"),
            (["event-del", "heavi"], "did you mean 'heavy'?"),
            (["event-show", "0"], "no event '0' is installed"),
            (["reports", "--last", "-1"], "it takes 1 to 1000")):
        code, _, error = switch.appctl(f"trumpet/{arguments[0]}", *arguments[1:])
        lines = [line for line in error.splitlines() if not line.startswith("ovs-appctl: ")]
        assert code == 2 and len(lines) == 1 and part in lines[0], (arguments, code, error)
    after = switch.ask("event-list")[0]["name"], len(switch.ask("event-list"))
    assert after == before
    assert switch.status()["running"]


def bad_settings_fall_back_and_are_logged_once(switch):
    bad = {"memory_mb": "none", "max_flows": "3", "sweep_budget_us": "0", "burst_gap_ns": "-1",
           "zones": "vlan:9999=1", "tunnel_ports": "gre:5", "enabled": "true"}
    switch.set_config(enable="true", **bad)
    eventually(lambda: "trumpet-enabled" in switch.log(), "the complaints are logged")
    switch.vsctl("set", "Open_vSwitch", ".", "other_config:max-idle=9999")
    log = switch.log()
    for part in ("trumpet-memory-mb is \"none\"; it takes 4 to 65536; using 256",
                 "trumpet-max-flows is \"3\"; it takes 1024 to 67108864; using 262144",
                 "trumpet-sweep-budget-us is \"0\"; it takes 1 to 1000; using 5",
                 "trumpet-burst-gap-ns is \"-1\"; it takes 0 to 1000000000; using 10000",
                 "trumpet-zones has \"vlan:9999=1\"", "trumpet-tunnel-ports has \"gre:5\"",
                 "did you mean 'trumpet-enable'?"):
        assert log.count(part) == 1, f"{part}: {log.count(part)} times"
    status = switch.status()
    assert status["enabled"] and status["memory_mb_per_thread"] == 256
    switch.set_config(zones="vlan:9=1", memory_mb="16")
    assert switch.status()["enabled"]


def a_thousand_interruptions_lose_no_packet(switch):
    switch.set_config(enable="true", memory_mb="16")
    switch.install({"packets": "*, sum(packets) >= 1, 5-tuple, 10ms"})
    path = f"{switch.folder}/endless.pcap"
    captures.write_pcap(path, captures.mixed(4, ROUNDS))
    switch.ofctl("add-flow", "br0", "actions=output:sink0")
    switch.rpc("dpif-netdev/pmd-stats-clear")
    sent_before = sent_by(switch, "sink0")
    switch.add_dpdk_port("src0", f"net_pcap0,rx_pcap={path},infinite_rx=1")
    eventually(lambda: sent_by(switch, "sink0") > sent_before, "packets flow")
    # The thread of a port polls it before the switch knows its flows, and after it forgot them.
    lost_with_port = stat_of(switch, "miss with failed upcall")
    for _ in range(1000):
        switch.rpc("trumpet/disable")
        switch.rpc("trumpet/enable")
    counted = switch.packets_seen()
    eventually(lambda: switch.packets_seen() > counted, "the monitor counts again")
    assert stat_of(switch, "miss with failed upcall") == lost_with_port
    switch.vsctl("del-port", "br0", "src0")
    lost_with_port = stat_of(switch, "miss with failed upcall")
    received = stat_of(switch, "packets received") - lost_with_port
    sent = eventually(lambda: settled(lambda: sent_by(switch, "sink0")), "the sink is quiet")
    sent -= sent_before
    assert received > 0 and sent == received, f"received {received}, sent {sent}"
    return f"{received} packets"


ALL = [
    a_pass_through_a_dpdk_port_counts_what_a_replay_counts,
    recirculated_packets_count_once,
    packets_through_the_avx512_input_function_count_once,
    a_port_of_the_main_thread_is_seen,
    commands_answer_text_and_json,
    wrong_arguments_give_one_line_and_change_nothing,
    bad_settings_fall_back_and_are_logged_once,
    a_thousand_interruptions_lose_no_packet,
    *attack_cases.ALL,
    *controller_cases.ALL,
    *datapath_cases.ALL,
    *demo_cases.ALL,
    *mark_cases.ALL,
    *measure_cases.ALL,
    *measure_copy_cases.ALL,
    *measured_event_cases.ALL,
    *measure_network_cases.ALL,
    *router_cases.ALL,
    *slice_cases.ALL,
    *slice_fault_cases.ALL,
    *slice_truth_cases.ALL,
    *tag_cases.ALL,
    *carrier_cases.ALL,
    *trace_cases.ALL,
    *live_trace_cases.ALL,
    *trace_controller_cases.ALL,
    *debug_cases.ALL,
    *rule_change_cases.ALL,
    *trace_number_cases.ALL,
    *mirror_session_cases.ALL,
    *mirror_order_cases.ALL,
    *mirror_match_cases.ALL,
    *roce_cases.ALL,
    *session_cases.ALL,
    *bounce_cases.ALL,
    *probe_cases.ALL,
    *clos_cases.ALL,
    *clos_loss_cases.ALL,
    *blackhole_cases.ALL,
    *reshuffler_cases.ALL,
]
