# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The second part of the demonstration: what the monitor finds in one switch, and what it costs."""
import os
import time

import generated
from beside import Comparison, check_totals, delays_ms, judge, sentence
from cost import measure_cost
from hosts import ADDRESSES, CLIENT, LINK, PORTS, SERVER, Hosts, mac_bytes
from lab import let_run
from show import DemoError, clock, count
from switch import BRIDGE, Switch
from truth import Traffic

MS = 10**6
HEAVY = ("heavy-flow", "srcIP=198.51.100.0/24, sum(volume)>125KB, 5-tuple, 10ms", 125_000)
LOSS = ("loss", "Protocol=TCP, sum(is_lost)>5, 5-tuple, 10ms", 5)
TCP_LEDGER = ("tcp-ledger", "Protocol=TCP, sum(volume)>0, 5-tuple, 100ms")
NET_LEDGER = ("net-ledger", "dstIP=198.18.0.0/16, sum(packets)>0, dstIP/24, 100ms")
SPIKE_EVENT = "dstIP=198.18.0.0/16, sum(packets)>%d, dstIP/24, 10ms"
SPIKE_FACTOR = 4                        # times what a /24 usually gets
TCP_SECONDS = 2
METER_KBPS = 60_000
CROWD, SURGE, CROWD_SINK, SURGE_SINK = 11, 12, 21, 22      # OpenFlow ports


class HostStory:
    TITLE = "Inside one switch: bursts caught, with the proof beside them, and the switch not hurt"
    STEPS = 7

    def __init__(self, lab, build, show):
        self.lab, self.show = lab, show
        self.switch = Switch(lab, build, "switch")
        self.hosts = Hosts(lab)
        self.delays = []                # rows of the last table
        self.losses = {}                # as the monitor told them last
        self.crowds = 0                 # generators made so far: DPDK devices need new names

    def tell(self):
        begin = time.monotonic()
        self.start_switch()
        self.link_hosts()
        self.install_events()
        self.heavy_flow()
        self.lose_packets()
        self.spike()
        cost = self.cost()
        self.summary(cost, time.monotonic() - begin)

    # --- 1 to 3: the scene ---------------------------------------------------

    def start_switch(self):
        show = self.show
        cpus = sorted(os.sched_getaffinity(0))
        show.step("Start a switch of our own")
        show.why("Its database, sockets and logs are in %s, its links in a network namespace: the "
                 "system's Open vSwitch, if there is one, notices nothing." % self.lab.directory)
        self.lab.add_namespace("switch")
        self.switch.start(self.switch.dpdk_settings(cpus) + ["other_config:trumpet-enable=true"],
                          has_own_cpu=len(cpus) > 1)
        status = self.switch.trumpet("status")
        show.why("Open vSwitch %s with Trumpet %s linked in, userspace datapath (DPDK, %s), polling "
                 "on CPU %d%s." % (
                     status["versions"]["ovs"], status["versions"]["trumpet"],
                     "huge pages" if self.switch.has_huge else "no huge pages", cpus[-1],
                     "" if len(cpus) > 1 else ", the only one, so everything else waits for its turn"))

    def link_hosts(self):
        show, switch = self.show, self.switch
        show.step("Link two hosts to it: client %s and server %s" % (
            ADDRESSES[CLIENT], ADDRESSES[SERVER]))
        show.why("Each is a network namespace with the kernel's own TCP, on a veth link that the "
                 "switch reads through DPDK (net_af_packet).")
        self.hosts.link()
        for host, number in PORTS.items():
            switch.add_port("to-" + host, number,
                            "net_af_packet%d,iface=to-%s,framecnt=4096" % (number, host))
        switch.ofctl("add-flow", "priority=10,in_port=1,actions=output:2")
        switch.ofctl("add-flow", "priority=10,in_port=2,actions=output:1")
        self.hosts.raise_links()
        self.lab.reach(CLIENT, ADDRESSES[SERVER])

    def install_events(self):
        show = self.show
        show.step("Install events: what an administrator wants to hear about")
        for name, event, _ in (HEAVY, LOSS):
            show.command("ovs-appctl trumpet/event-add name=%s '%s'" % (name, event))
            self.switch.add_event(name, event)
        show.why("A third, a load spike, follows in step 6. Besides, for the check only, an event "
                 "that is always true, so that its reports are a ledger of every byte:")
        show.command("ovs-appctl trumpet/event-add name=%s '%s'" % TCP_LEDGER)
        self.switch.add_event(*TCP_LEDGER)

    # --- 4 and 5: real TCP ---------------------------------------------------

    def tcp_phase(self, calls):
        """Runs iperf3 for each (port, rate) under captures; returns (Traffic, begin, end)."""
        hosts, switch = self.hosts, self.switch
        before = {host: switch.port_packets(number, "rx") for host, number in PORTS.items()}
        hosts.captures.start()
        begin = time.time_ns()
        for port, _ in calls:
            hosts.serve(port)
        running = [(hosts.call(port, rate, TCP_SECONDS), port) for port, rate in calls]
        for child, port in running:
            hosts.finish(child, port, TCP_SECONDS + 20)
        let_run(0.3)                    # the last acknowledgements
        end = time.time_ns()
        paths = hosts.captures.stop()
        traffic = Traffic(paths[CLIENT, LINK], paths[SERVER, LINK], mac_bytes(CLIENT),
                          mac_bytes(SERVER))
        for host, way in ((CLIENT, traffic.forth), (SERVER, traffic.back)):
            taken = switch.port_packets(PORTS[host], "rx") - before[host]
            self.show.check(taken == way.frames and way.strangers == 0,
                            "the %s's end captured %s frames on their way in, the switch's port "
                            "counted %s" % (host, count(way.frames), count(taken)))
        return traffic, begin, end

    def compare(self, event, value, unit, traffic, begin, end):
        """The reports of a phase against the captures: the event's, then the ledger's."""
        name, _, threshold = event
        reports = self.of_phase(name, begin, end)
        ledger = self.of_phase(TCP_LEDGER[0], begin, end + 100 * MS)
        losses = self.new_losses()
        counts = traffic.counts(value, 10 * MS)
        Comparison(reports, counts, threshold, ledger, losses).print(self.show, unit)
        self.delays.append((name, reports))
        check_totals(self.show, ledger, traffic.counts("volume", 100 * MS), losses, "bytes")

    def new_losses(self):
        """What the monitor lost since the last call."""
        before, self.losses = self.losses, self.switch.losses()
        return {key: number - before.get(key, 0) for key, number in self.losses.items()
                if number > before.get(key, 0)}

    def of_phase(self, event, begin, end):
        return [r for r in self.switch.reports_of_the_past(event, end)
                if r["end_ns"] > begin and r["start_ns"] < end]

    def heavy_flow(self):
        show = self.show
        show.step("Send real TCP: an elephant of 250 Mbit/s and a mouse of 10 Mbit/s, %d s"
                  % TCP_SECONDS)
        show.why("iperf3 runs in both hosts. Ground truth: captures at both hosts' ends of the wires "
                 "(nanoseconds), added up per flow and 10 ms by a program that shares nothing with "
                 "the monitor. Only the elephant exceeds 125 KB in 10 ms.")
        traffic, begin, end = self.tcp_phase([(5201, "250M"), (5202, "10M")])
        self.compare(HEAVY, "volume", "byte", traffic, begin, end)

    def lose_packets(self):
        show, switch = self.show, self.switch
        show.step("Provoke loss: an OpenFlow meter polices the client to %d Mbit/s"
                  % (METER_KBPS // 1000))
        show.why("The sender notices and sends again; the monitor recognises each segment sent "
                 "again. Ground truth: the sender's capture, before the meter.")
        switch.ofctl("add-meter", "meter=1,kbps,burst,band=type=drop,rate=%d,burst_size=%d"
                     % (METER_KBPS, METER_KBPS // 20))
        switch.ofctl("add-flow", "priority=20,tcp,in_port=1,actions=meter:1,output:2")
        sent_again = self.hosts.kernel_retransmissions()
        traffic, begin, end = self.tcp_phase([(5203, "400M")])
        sent_again = self.hosts.kernel_retransmissions() - sent_again
        dropped = switch.meter_drops()
        switch.ofctl("del-flows", "--strict", "priority=20,tcp,in_port=1")
        switch.ofctl("del-meters")
        show.check(dropped == traffic.forth.dropped > 0,
                   "the meter says it dropped %s packets, between the captures %s vanished"
                   % (count(dropped), count(traffic.forth.dropped)))
        again = sum(s.is_lost for s in traffic.segments)
        show.why("Segments sent again: %s in the capture, %s by the sending kernel's own counter."
                 % (count(again), count(sent_again)))
        self.compare(LOSS, "is_lost", "segment", traffic, begin, end)

    # --- 6: generated traffic ------------------------------------------------

    def start_crowd(self, circle):
        self.crowds += 1
        self.switch.add_port("crowd", CROWD, "net_pcap%d,rx_pcap=%s,infinite_rx=1" % (
            self.crowds, circle.path))

    def make_generators(self):
        switch = self.switch
        for source, sink in ((CROWD, CROWD_SINK), (SURGE, SURGE_SINK)):
            switch.add_port("sink-%d" % sink, sink, "net_null%d,no-rx=1" % sink)
            switch.ofctl("add-flow", "priority=10,in_port=%d,actions=output:%d" % (source, sink))
        return (generated.crowd(self.lab.path("crowd.pcap")),
                generated.surge(self.lab.path("surge.pcap")))

    def spike(self):
        show, switch = self.show, self.switch
        show.step("Generate traffic at speed, and let one network be flooded")
        self.crowd, surge = self.make_generators()
        show.why("A DPDK port replays a capture in a circle: %s flows, evenly over %d networks "
                 "198.18.0.0/24 to 198.18.%d.0/24." % (
                     count(generated.NETS * generated.FLOWS_PER_NET), generated.NETS,
                     generated.NETS - 1))
        usual = self.usual_packets()
        threshold = round(SPIKE_FACTOR * usual, -2)
        show.why("On this machine each network gets about %s packets in 10 ms. Tell us when one gets %d "
                 "times that, and keep a ledger:" % (count(round(usual, -2)), SPIKE_FACTOR))
        for name, event in (("load-spike", SPIKE_EVENT % threshold), NET_LEDGER):
            show.command("ovs-appctl trumpet/event-add name=%s '%s'" % (name, event))
            switch.add_event(name, event)
        self.new_losses()
        begin = time.time_ns()
        marks = [self.sent_by_generators()]
        self.start_crowd(self.crowd)
        let_run(0.3)
        marks.append(self.sent_by_generators())
        start, stop = self.surge(surge)
        let_run(0.2)
        switch.del_port("crowd")
        end = time.time_ns()
        marks.append(self.sent_by_generators())
        early = [mark["early"] for mark in marks]
        crowd = marks[-1][CROWD_SINK] - marks[0][CROWD_SINK] + early[1] - early[0]
        surged = marks[-1][SURGE_SINK] + early[2] - early[1]
        ledger = [r for r in switch.reports_of_the_past(NET_LEDGER[0], end + 100 * MS)
                  if r["end_ns"] > begin]
        losses = self.new_losses()
        if all(report["complete"] for report in ledger):
            losses = {}                 # whatever it was, it is no excuse
        self.compare_spike(start, stop, threshold, crowd, surged, losses)
        self.compare_arithmetic(ledger, crowd, surged, losses)
        switch.trumpet("event-del", NET_LEDGER[0])

    def sent_by_generators(self):
        """Counters of both sinks, and of packets that came before OpenFlow knew their port."""
        counters = {sink: self.switch.port_packets(sink, "tx") for sink in (CROWD_SINK, SURGE_SINK)}
        counters["early"] = self.switch.failed_upcalls()
        return counters

    def usual_packets(self):
        """What one network gets in 10 ms, by the sink's counter."""
        switch = self.switch
        self.start_crowd(self.crowd)
        let_run(0.2)
        first, before = time.monotonic(), switch.port_packets(CROWD_SINK, "tx")
        let_run(0.4)
        second, after = time.monotonic(), switch.port_packets(CROWD_SINK, "tx")
        switch.del_port("crowd")
        if after == before:
            raise DemoError("the generator sends nothing: " + switch.last_error())
        return int((after - before) / (second - first) / 100 / generated.NETS)

    def surge(self, circle):
        """Floods one network for a moment; returns when that began and ended, or a little more."""
        start = time.time_ns()
        self.switch.add_port("surge", SURGE, "net_pcap100,rx_pcap=%s,infinite_rx=1" % circle.path)
        let_run(0.2)
        self.switch.del_port("surge")
        stop = time.time_ns()
        self.show.why("From %s to %s a second port sent to %s only." % (
            clock(start), clock(stop), generated.net_name(generated.SURGE_NET)))
        return start, stop

    def compare_spike(self, start, stop, threshold, crowd, surged, losses):
        show = self.show
        reports = self.switch.reports_of_the_past("load-spike", stop)
        self.delays.append(("load-spike", reports))
        if reports:
            show.why(sentence(reports[0]))
        flooded = generated.net_name(generated.SURGE_NET)
        show.table(["interval", "network", ">monitor", "generator", ""],
                   [[clock(r["start_ns"]), r["bucket"]["dstIP"], count(r["value"]),
                     "surge to %s" % flooded if r["end_ns"] > start and r["start_ns"] < stop
                     else "no surge", show.mark(self._fits(r, flooded, start, stop))]
                    for r in reports[:4]])
        if len(reports) > 4:
            show.line("      ... and %d more" % (len(reports) - 4))
        wrong = [r for r in reports if not self._fits(r, flooded, start, stop)]
        if reports:
            show.check(not wrong, "%d of %d reports are of another network or time than the surge in %s" % (
                len(wrong), len(reports), flooded))
        else:                           # rightly, if the sums below agree
            show.admit("no report: this machine is so busy that no interval came to the threshold")
        # An interval without a report had at most `threshold` packets.
        reported = sum(r["value"] for r in reports)
        intervals = (stop - 1) // (10 * MS) - start // (10 * MS) + 1
        silent = max(intervals - len(reports), 0)
        most = surged + self.crowd.sent_to(generated.SURGE_NET, crowd)
        judge(show, surged <= reported + silent * threshold and reported <= most,
              losses if reported <= most else {},
              "the surge had %s packets; %d reports hold %s with the usual ones, and %d intervals at "
              "most %s each, as they stayed below the threshold" % (
                  count(surged), len(reports), count(reported), silent, count(threshold)))

    @staticmethod
    def _fits(report, flooded, start, stop):
        return (report["bucket"]["dstIP"] == flooded and report["end_ns"] > start
                and report["start_ns"] < stop)

    def compare_arithmetic(self, ledger, crowd, surge, losses):
        """The ledger of each network against the generators' arithmetic: equal, to the packet."""
        show = self.show
        told, rows, differing, too_high = {}, [], 0, 0
        for report in ledger:
            net = report["bucket"]["dstIP"]
            told[net] = told.get(net, 0) + report["value"]
        for net in range(generated.NETS):
            truth = self.crowd.sent_to(net, crowd) + (surge if net == generated.SURGE_NET else 0)
            mine = told.pop(generated.net_name(net), 0)
            differing += mine != truth
            too_high += mine > truth
            rows.append([generated.net_name(net), count(mine), count(truth),
                         show.mark(mine == truth)])
        show.why("The switch sent on %s packets of the crowd and %s of the surge; by their order in the "
                 "captures that makes for each network, over all intervals:" % (
                     count(crowd), count(surge)))
        show.table(["network", ">monitor", ">arithmetic", ""],
                   rows[generated.SURGE_NET - 1:generated.SURGE_NET + 2])
        agrees = not differing and not told
        judge(show, agrees, {} if told or too_high else losses,
              "all %d networks are equal to the last packet" % generated.NETS if agrees else
              "%d of %d networks differ" % (differing, generated.NETS))

    # --- 7: what it costs ----------------------------------------------------

    def cost(self):
        show = self.show
        show.step("Ask what it costs: the same traffic with the monitor on and off, in turns")
        self.switch.trumpet("event-del", TCP_LEDGER[0])
        self.start_crowd(self.crowd)
        let_run(0.2)
        cost = measure_cost(self.switch, CROWD_SINK)
        self.switch.del_port("crowd")
        show.table(["monitor", ">Mpps", ">cycles per packet, all", ">of these the monitor",
                    ">share of PMD cycles"], cost.rows())
        show.why("Medians of %d turns of %.1f s each. Shared CPUs make such figures vary; `make "
                 "bench` measures with care." % (cost.TURNS, cost.SECONDS))
        return cost

    def summary(self, cost, seconds):
        show = self.show
        show.line()
        show.line("Summary")
        rows = []
        for name, reports in self.delays:
            middle, longest = delays_ms(reports)
            rows.append([name, len(reports), "%.2f ms" % middle, "%.2f ms" % longest])
        show.table(["event", ">reports", ">delay, median", ">longest"], rows)
        show.line("      (delay: from the end of the 10 ms interval to the report)")
        show.line("      %s" % cost.sentence())
        show.conclude("monitor", seconds)

    def leave_running(self, program):
        show, here = self.show, self.lab.directory
        self.start_crowd(self.crowd)
        self.hosts.serve_on()
        show.line()
        show.line("The switch goes on, with generated traffic. Try:")
        show.line("  export OVS_RUNDIR=%s PATH=%s:$PATH" % (
            self.switch.directory, os.path.dirname(self.switch.programs["OVS_APPCTL"])))
        for text in ("ovs-appctl trumpet/status", "ovs-appctl trumpet/event-list",
                     "ovs-appctl trumpet/event-add name=mine 'Protocol=UDP, sum(packets)>1000, "
                     "dstIP/20, 50ms'",
                     "ovs-appctl trumpet/reports mine --last 5", "ovs-appctl trumpet/perf-show",
                     "ovs-appctl dpif-netdev/pmd-stats-show", "ovs-ofctl dump-flows " + BRIDGE,
                     " ".join(self.lab.inside(CLIENT, ["iperf3", "-t", "2", "-c",
                                                       ADDRESSES[SERVER]]))):
            show.line("  " + text)
        show.line("and in the end")
        show.line("  %s --stop %s" % (program, here))
