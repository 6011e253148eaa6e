# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Floods of new flows through the switch, judged by its counters; run with the cases of cases.py."""

import re
import statistics

import captures
from switch import eventually

FLOOD_FLOWS = 20000  # more than twice what a table of 4 MiB holds
EVENTS = {"heavy": "dstPort=80, sum(packets) >= 50, 5-tuple, 100ms",
          "all": "*, sum(packets) >= 1, 1s"}


def udp_frame(number, port):
    source = (128 + (number >> 24), number >> 16 & 255, number >> 8 & 255, number & 255)
    return captures.ethernet(captures.ipv4(source, (120, 0, 4, 1), 17,
                                           captures.udp(1000, port, bytes(18))))


def flood(switch):
    """A capture in which nine packets of ten have a flow of their own, and one is of a known one."""
    path = f"{switch.folder}/flood.pcap"
    captures.write_pcap(path, [udp_frame(0, 80) if number % 10 == 0 else udp_frame(number, 9)
                               for number in range(FLOOD_FLOWS)])
    return f"net_pcap1,rx_pcap={path},infinite_rx=1"


def counters(switch):
    """The counters of all threads, added up."""
    sums = {}
    for thread in switch.status()["threads"]:
        for name, value in thread["counters"].items():
            sums[name] = sums.get(name, 0) + value
    return sums


def resident_kilobytes(switch):
    with open(f"/proc/{switch.processes[-1].pid}/status", encoding="ascii") as lines:
        return int(re.search(r"VmRSS:\s+(\d+)", lines.read()).group(1))


def cycles_per_packet(switch):
    """By the switch's own count, over the next packets."""
    switch.rpc("dpif-netdev/pmd-stats-clear")

    def measured():
        text = switch.rpc("dpif-netdev/pmd-stats-show")
        packets = sum(int(n) for n in re.findall(r"(?:packets received|Rx packets): *(\d+)", text))
        cycles = re.search(r"avg cycles per packet: ([\d.]+)|([\d.]+) cycles/pkt", text)  # of 4.0 on
        return float(cycles.group(1) or cycles.group(2)) if cycles and packets >= 300000 else None

    return eventually(measured, "packets flow")


def intervals_from_one_to_the_next(reports):
    """The median."""
    starts = sorted({report["start_ns"] for report in reports})
    length = reports[0]["end_ns"] - reports[0]["start_ns"]
    return statistics.median((after - before) / length for before, after in zip(starts, starts[1:]))


def a_heavy_flow_goes_on_firing_through_a_flood(switch):
    switch.set_config(enable="true", memory_mb="4")
    switch.ofctl("add-flow", "br0", "actions=output:sink0")
    switch.install(EVENTS)
    switch.add_dpdk_port("src1", flood(switch))
    eventually(lambda: counters(switch)["withheld_packets"] > 10 * FLOOD_FLOWS,
               "the flood is noticed")
    size = resident_kilobytes(switch)
    withheld = counters(switch)["withheld_packets"]

    def heavy_reports():
        if not switch.status()["running"]:  # a machine this busy makes the watchdog step in
            switch.rpc("trumpet/enable")
        return [report for report in switch.ask("reports", "heavy", "--last", "1000")
                if "admission-withheld" in report.get("reasons", [])]

    eventually(lambda: len(heavy_reports()) >= 20, "the event fires during the flood")
    every = intervals_from_one_to_the_next(heavy_reports())
    assert every <= 2, f"the event fires every {every} intervals only"
    grown = resident_kilobytes(switch) - size
    assert grown < 8192, f"the switch grew by {grown} KiB"

    ratios = []
    for _ in range(5):
        eventually(lambda: heavy_reports() and switch.status()["running"], "the monitor runs")
        before = switch.packets_seen()
        on = cycles_per_packet(switch)
        seen = switch.packets_seen() - before
        switch.rpc("trumpet/disable")
        off = cycles_per_packet(switch)
        switch.rpc("trumpet/enable")
        if seen >= 300000:  # the watchdog did not step in meanwhile
            ratios.append(off / on)
    assert counters(switch)["withheld_packets"] > withheld
    if not ratios:
        return "the machine was too busy to compare rates"
    withheld = counters(switch)["epochs_withheld"]
    return (f"rate with the monitor: {statistics.median(ratios):.2f} of that without, "
            f"{withheld} epochs withheld")


def packets_of_a_flood_are_counted_or_withheld_or_uncounted(switch):
    switch.set_config(enable="true", memory_mb="4")
    switch.ofctl("add-flow", "br0", "actions=output:sink0")
    switch.install(EVENTS)
    switch.add_dpdk_port("src1", flood(switch))
    eventually(lambda: counters(switch)["withheld_packets"] > FLOOD_FLOWS, "the flood is noticed")
    switch.vsctl("del-port", "br0", "src1")

    def is_balanced():
        now = counters(switch)
        return now["packets"] == (now["matched_packets"] + now["withheld_packets"] +
                                  now["uncounted_packets"])

    eventually(is_balanced, "every packet is accounted for")
    return f"{counters(switch)['packets']} packets"


def events_beyond_the_budget_of_a_packet_are_left_out_and_it_is_told(switch):
    switch.set_config(enable="true", memory_mb="16", packet_budget_us="1")
    switch.ofctl("add-flow", "br0", "actions=output:sink0")
    sums = [f"sum(ttl * {factor})" for factor in range(1000, 1200)]
    dear = " + ".join(f"({' + '.join(sums[i:i + 20])})" for i in range(0, 200, 20))
    code, _, error = switch.appctl("trumpet/event-add", "name=dear", f"*, {dear} > 0, 100ms")
    assert code == 2 and "trumpet-packet-budget-us allows 1000" in error, (code, error)
    switch.install({f"scaled{factor}": f"*, sum(ttl * {factor}) > 0, 100ms"
                    for factor in range(2, 202)})
    path = f"{switch.folder}/few.pcap"
    captures.write_pcap(path, [udp_frame(number, 80) for number in range(10)])
    switch.add_dpdk_port("src1", f"net_pcap1,rx_pcap={path},infinite_rx=1")
    eventually(lambda: counters(switch)["partly_counted_packets"] > 1000, "packets are cut short")
    first = eventually(lambda: switch.ask("reports", "scaled2"), "the first event fires")
    assert all("flow-table-full" in report.get("reasons", []) for report in first), first
    assert not switch.ask("reports", "scaled201")
    losses = switch.status()["losses"]
    assert losses["partly_counted_packets"] > 1000 and losses["partly_counted_bytes"] > 60000
    assert losses["uncounted_packets"] == 0
    switch.set_config(packet_budget_us="100")
    eventually(lambda: [report for report in switch.ask("reports", "scaled201")
                        if report["complete"]], "with a larger budget the last one fires, too")


ALL = [
    a_heavy_flow_goes_on_firing_through_a_flood,
    packets_of_a_flood_are_counted_or_withheld_or_uncounted,
    events_beyond_the_budget_of_a_packet_are_left_out_and_it_is_told,
]
