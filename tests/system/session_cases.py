# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Real BGP speakers (FRR) at both ends of three real bridges: what their sessions came to is told."""

import contextlib
import json
import os
import signal
import subprocess
import time

from live_trace_cases import live_network
from switch import eventually

BGPD = "/usr/lib/frr/bgpd"
HOLD_SECONDS = 3
ADDRESSES = ({1: "10.77.0.1", 2: "10.77.0.2"}, {1: "fd77::1", 2: "fd77::2"})


class Speaker:
    """bgpd at host 1 or 2, which peers with the other one over IPv4 and IPv6."""

    def __init__(self, network, number, own_as):
        self.network, self.number = network, number
        self.folder = network.path(f"bgp{number}")
        os.makedirs(self.folder, exist_ok=True)
        other = 3 - number
        lines = [f"router bgp {own_as}", f" bgp router-id 10.77.0.{number}",
                 " no bgp ebgp-requires-policy", " no bgp network import-check",
                 f" timers bgp 1 {HOLD_SECONDS}"]
        for addresses in ADDRESSES:
            lines += [f" neighbor {addresses[other]} remote-as {65000 + other}",
                      f" neighbor {addresses[other]} timers connect 1",
                      f" neighbor {addresses[other]} disable-connected-check"]
        neighbor = f"neighbor {ADDRESSES[1][other]} activate"
        lines += [" address-family ipv4 unicast", f"  no {neighbor}", " exit-address-family",
                  " address-family ipv6 unicast", f"  {neighbor}", " exit-address-family"]
        with open(f"{self.folder}/bgpd.conf", "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        with open(f"{self.folder}/bgpd.out", "wb") as out:
            self.process = subprocess.Popen(
                network.at(number) + [BGPD, "--no_zebra", "--skip_runas", "--vty_port", "0",
                                      "--config_file", f"{self.folder}/bgpd.conf",
                                      "--pid_file", f"{self.folder}/bgpd.pid",
                                      "--vty_socket", self.folder],
                stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def configure(self, *lines):
        """Below `router bgp`."""
        words = ["vtysh", "--vty_socket", self.folder, "-d", "bgpd", "-c", "configure terminal",
                 "-c", "router bgp"]
        for line in lines:
            words += ["-c", line]
        subprocess.run(words, check=True, capture_output=True, timeout=30)

    def kill(self):
        self.process.kill()
        self.process.wait()


def sessions(network, begin=None):
    """What is told of each session, by the address of its first peer."""
    program = f"{network.switch.paths['BUILD']}/controller/daemon/trumpet-analyzer"
    words = [program, "app", "sessions", f"--store={network.path('traces')}"]
    done = subprocess.run(words + ([f"--from={begin}"] if begin else []), check=True,
                          capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["peers"][0]: one for one in found}


def both_are(network, condition, what, begin=None):
    """The sessions over IPv4 and IPv6, once that holds of both."""
    told = {}

    def are_so():
        told.clear()
        told.update(sessions(network, begin))
        return len(told) == 2 and all(condition(one) for one in told.values())

    try:
        eventually(are_so, f"both sessions are {what}", seconds=60, pause=0.5)
    except AssertionError as error:
        raise AssertionError(f"{error}: {json.dumps(told, indent=1)}") from error
    return [told[addresses[1]] for addresses in ADDRESSES]


def both(network, verdict, begin=None, **wanted):
    return both_are(network, lambda one: one["verdict"] == verdict and all(
        one.get(key) == value for key, value in wanted.items()), verdict, begin)


def side_of(session, number):
    return next(side for side in session["sides"] if side["peer"] in
                [addresses[number] for addresses in ADDRESSES])


def words_of(session):
    return [one["what"] for one in session["timeline"]]


@contextlib.contextmanager
def speakers(network, own_as=65002):
    """Both, in a list in which tests may put others."""
    running = []
    try:
        running += [Speaker(network, 1, 65001), Speaker(network, 2, own_as)]
        yield running
    finally:
        for speaker in running:
            speaker.kill()


@contextlib.contextmanager
def bgp_network(switch):
    assert os.path.exists(BGPD), f"{BGPD} is not there: apt-get install frr"
    with live_network(switch) as network:
        for number in (1, 2):
            words = ["ip", "addr", "add", f"{ADDRESSES[1][number]}/64", "dev", f"trc-h{number}p", "nodad"]
            subprocess.run(network.at(number) + words, check=True)
        yield network


def sessions_of_bgp_are_told_with_their_timelines(switch):
    with bgp_network(switch) as network, speakers(network) as running:
        for session in both(network, "established", hold_seconds=HOLD_SECONDS):
            assert [side["as"] for side in session["sides"]] == [65001, 65002], session
            assert "established" in words_of(session), session
            for number in (1, 2):
                opened = f"OPEN: AS {65000 + number}, hold time {HOLD_SECONDS} s, id 10.77.0.{number}"
                assert opened in words_of(session), session

        # Three routes of each kind are told, and one is taken back.
        running[0].configure("address-family ipv4 unicast",
                             *(f"network 10.99.{number}.0/24" for number in (1, 2, 3)))
        running[0].configure("address-family ipv6 unicast",
                             *(f"network fd99:{number}::/48" for number in (1, 2, 3)))
        both_are(network, lambda one: side_of(one, 1)["announced"] == 3, "told three routes")
        running[0].configure("address-family ipv4 unicast", "no network 10.99.2.0/24")
        running[0].configure("address-family ipv6 unicast", "no network fd99:2::/48")
        for session in both_are(network, lambda one: side_of(one, 1)["withdrawn"] == 1, "told to take one back"):
            assert session["verdict"] == "established", session
            assert side_of(session, 1)["announced"] == 3, session
            for what in ("updates", "announced", "withdrawn"):
                seconds = sum(second[what] for second in session["busiest_seconds"])
                assert seconds == sum(side[what] for side in session["sides"]), session
            assert all(side["not_read"] == side["not_read_bytes"] == 0 for side in session["sides"]), session

        # One of them stands still: the hold timer of the other ends it.
        running[1].process.send_signal(signal.SIGSTOP)
        for session in both(network, "hold_timer"):
            assert session["notification"]["code"] == 4, session
            assert session["closed_by"] == side_of(session, 1)["peer"], session
            assert side_of(session, 2)["longest_gap_ms"] >= 1000 * (HOLD_SECONDS - 1), session
        running[1].process.send_signal(signal.SIGCONT)
        both(network, "established", ended=1)

        # One of them is killed: its kernel closes what it had open.
        begin = time.time_ns()
        time.sleep(2)  # of a time in which it is up there are KEEPALIVEs
        running[1].kill()
        for session in both(network, "closed", begin):
            assert session["closed_by"] == side_of(session, 2)["peer"], session
            assert "FIN" in session["explanation"] or "RST" in session["explanation"], session

        # It comes back with another AS.
        begin = time.time_ns()
        running[1] = Speaker(network, 2, 65099)
        for session in both(network, "refused", begin, notification={
                "code": 2, "subcode": 2, "text": "OPEN message error: bad peer AS"}):
            assert not session["is_up"], session
        connections = sum(one["connections"] for one in sessions(network).values())
        return f"{connections} connections, {len(network.stored())} packets"


ALL = [
    sessions_of_bgp_are_told_with_their_timelines,
]
