# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Events about what measurement programs hold, decided by the controller."""

from controller_cases import network_of
from mark_cases import frame_to, pass_all, wires
from measure_cases import COUNT, HOSTS, PROGRAM
from switch import CommandError, eventually

EVENT = f'*, measure("all").packets >= {COUNT}, 200ms'


def refusal(action, *arguments):
    """What the action says in refusing; fails if it does not."""
    try:
        action(*arguments)
    except (AssertionError, CommandError) as error:
        return str(error)
    raise AssertionError(f"{arguments} was not refused")


def events_fire_on_what_programs_have_measured(switch):
    with wires(switch) as wire, network_of(switch) as network:
        def write(name, text):
            with open(network.path(name), "w", encoding="ascii") as file:
                file.write(text)
            return network.path(name)

        def shown():
            return network.ctl("event", "show", "many")

        program = write("all.mafia", PROGRAM)
        many = write("many.yaml", f"- name: many\n  event: '{EVENT}'\n")
        assert "many.yaml:2:14: there is no measurement 'all'" in refusal(
            network.ctl, "event", "add", many)
        network.ctl("measure", "install", "all", program)
        wrong = write("wrong.yaml", "- '*, measure(\"all\").packet > 1, 1s'\n")
        assert "wrong.yaml:1:7: measurement 'all' has no state 'packet'; it has 'packets'" in refusal(
            network.ctl, "event", "check", wrong)
        check, = network.ctl("event", "check", many)
        assert (check["mode"], check["hosts"]) == ("controller", []), check
        network.ctl("event", "add", "--wait", many)
        assert shown()["reads"] == ['measure("all").packets'] and not shown()["problem"], shown()
        assert "reads: measure(\"all\").packets" in network.ctl("event", "show", "many", output="table")
        eventually(lambda: shown()["counters"]["intervals_decided"] >= 2, "it is decided")
        assert not network.firings("many"), "before there were packets"
        pass_all(wire, [frame_to(n % HOSTS, n) for n in range(COUNT)])
        report = eventually(lambda: network.firings("many"), "it fires")[-1]
        assert (report["value"], report["threshold"], report["bucket"]) == (COUNT, COUNT, {}), report
        assert report["complete"] and report["host_count"] == 1, report
        assert report["end_ns"] % 200_000_000 == 0, report
        assert "event 'many' reads measurement 'all'" in refusal(network.ctl, "measure", "rm", "all")
        assert "read by the controller" in refusal(switch.rpc, "trumpet/event-add", EVENT)
        network.ctl("event", "rm", "many", output="table")
        eventually(lambda: ["event-ended"] in [report.get("reasons") for report in network.ctl(
            "report", "list", "--event", "many", "--limit", "1000")], "its end is told")
        network.ctl("measure", "rm", "all", output="table")


ALL = [events_fire_on_what_programs_have_measured]
