# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong with what a controller keeps: its database and its file of reports."""

import json
import os
import signal
import subprocess
import threading

from cluster import eventually, run
from faults import case, has


class Writer:
    """Adds events over HTTP, one after the other, and knows which were acknowledged."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.acknowledged, self.refused = [], 0
        self.is_over = False
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        cluster.closers.append(self.stop)

    def _run(self):
        number = 0
        while not self.is_over:
            name = f"w{number}"
            event = {"name": name, "event": "*, sum(volume) > 5, 10ms", "scope": "host"}
            status = self.cluster.ask("PUT", f"/v1/events/{name}", json.dumps(event))
            if status == 201:
                self.acknowledged.append(name)
            else:
                self.refused += 1
            number += 1

    def wait_for(self, more):
        known = len(self.acknowledged)
        eventually(lambda: len(self.acknowledged) >= known + more, "events are acknowledged")

    def stop(self):
        self.is_over = True
        self.thread.join()


def check_acknowledged(cluster, writer):
    """All that was acknowledged is there, and runs; no number is given twice."""
    writer.stop()
    ids = cluster.event_ids()
    lost = set(writer.acknowledged) - set(ids)
    assert not lost, f"acknowledged, and lost: {sorted(lost)[:5]}"
    assert len(set(ids.values())) == len(ids) and all(ids.values()), ids
    host = cluster.add_host("h1")
    eventually(lambda: set(writer.acknowledged) <= set(host.events()), "all of them run")
    assert {name: host.events()[name] for name in writer.acknowledged} == \
        {name: ids[name] for name in writer.acknowledged}
    return f"{len(writer.acknowledged)} acknowledged, {writer.refused} not"


@case
def killed_database_stops_changes_but_not_events(cluster):
    host = cluster.add_host("h1", rate=100)
    cluster.put_event("e")
    has(host, "e")
    for round_number in range(3):
        cluster.database.kill()
        cluster.database.wait()
        eventually(lambda: cluster.metric("trumpet_event_store_ready") == 0, "the controller says it")
        known = cluster.stored_reports()[0]
        eventually(lambda known=known: cluster.stored_reports()[0] > known, "reports come on")
        assert host.is_up()
        cluster.start_database()
        cluster.put_event(f"after-{round_number}")
        eventually(lambda name=f"after-{round_number}": name in host.events(), "changes arrive")
        assert cluster.metric("trumpet_event_store_ready") == 1
    assert all(cluster.event_ids().values())


def readiness(cluster):
    status, text = cluster.answer("GET", "/readyz")
    return status, json.loads(text or "{}").get("status")


@case
def controller_that_was_frozen_stands_by_for_the_one_that_took_over(cluster):
    other = cluster.add_controller()
    eventually(lambda: readiness(other) == (503, "standby"), "the second stands by")
    host = cluster.add_host("h1", rate=100, others=[other.agents_port])
    cluster.put_event("e")
    before = has(host, "e")
    acting, waiting = cluster, other
    for round_number in range(2):
        acting.controller.send_signal(signal.SIGSTOP)
        run("ovs-appctl", "-t", cluster.path("db.ctl"), "ovsdb-server/reconnect",
            env=cluster.environment)
        eventually(lambda one=waiting: readiness(one) == (200, "ok"), "the other takes over")
        acting.controller.send_signal(signal.SIGCONT)
        acting, waiting = waiting, acting
        eventually(lambda one=waiting: readiness(one) == (503, "standby"), "it stands by")
        assert waiting.metric("trumpet_standby") == 1 and acting.metric("trumpet_standby") == 0
        body = json.dumps({"name": "x", "event": "*, 1, 1ms"})
        status, text = waiting.answer("PUT", "/v1/events/x", body)
        assert status == 503 and "another controller has the lock" in text, (status, text)
        eventually(lambda one=acting: one.metric("trumpet_host_connected", host="h1") == 1,
                   "the host goes to the one that acts")
        assert waiting.metric("trumpet_host_connected", host="h1") == 0
        known = acting.stored_reports()[0]
        eventually(lambda one=acting, known=known: one.stored_reports()[0] > known, "reports come on")
        cluster.put_event(f"after-{round_number}")
        eventually(lambda name=f"after-{round_number}": name in host.events(), "changes arrive")
    assert host.events()["e"] == before["e"]


@case
def database_killed_in_the_middle_of_transactions_loses_nothing_acknowledged(cluster):
    writer = Writer(cluster)
    for _ in range(5):
        writer.wait_for(20)
        cluster.database.kill()
        cluster.database.wait()
        eventually(lambda: cluster.metric("trumpet_event_store_ready") == 0, "the controller says it")
        cluster.start_database()
    writer.wait_for(20)
    assert cluster.metric("trumpet_event_store_ready") == 1
    assert cluster.metric("trumpet_http_requests", status="503") >= 1
    return check_acknowledged(cluster, writer)


@case
def controller_killed_in_the_middle_of_transactions_loses_nothing_acknowledged(cluster):
    writer = Writer(cluster)
    started = cluster.metric("trumpet_start_time_seconds")
    for _ in range(5):
        writer.wait_for(20)
        cluster.kill_controller()
        cluster.start_controller(port=cluster.agents_port)
    writer.wait_for(20)
    assert cluster.metric("trumpet_start_time_seconds") > started
    return check_acknowledged(cluster, writer)


@case
def stalled_database_is_given_up(cluster):
    host = cluster.add_host("h1")
    cluster.database.send_signal(signal.SIGSTOP)
    eventually(lambda: "silent for too long" in cluster.log(), "the controller notices")
    assert cluster.metric("trumpet_event_store_ready") == 0
    cluster.database.send_signal(signal.SIGCONT)
    cluster.put_event("e")
    has(host, "e")


@case
def full_disk_loses_no_event_and_writes_reports_when_there_is_room(cluster):
    if os.geteuid() != 0:
        return  # a file system of its own needs root
    disk = cluster.path("disk")
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "trumpet-test", disk], check=True)
    cluster.closers.append(lambda: subprocess.run(["umount", "-l", disk], check=True))
    cluster.kill_controller()
    cluster.reports = f"{disk}/reports.db"
    cluster.start_controller(port=cluster.agents_port)
    host = cluster.add_host("h1", rate=1000)
    cluster.put_event("e")
    has(host, "e")
    eventually(lambda: cluster.stored_reports()[0] > 0, "reports are kept")
    with open(f"{disk}/filler", "wb") as filler:
        try:
            while True:
                filler.write(b"x" * 65536)
                filler.flush()
        except OSError:
            pass
    eventually(lambda: "reports cannot be written" in cluster.log(), "the disk is full")
    assert cluster.metric("trumpet_report_store_failing") == 1
    assert cluster.metric("trumpet_report_store_write_failures") >= 1
    cluster.put_event("f")
    has(host, "e", "f")
    known = cluster.stored_reports()[0]
    os.remove(f"{disk}/filler")
    eventually(lambda: "reports are written again" in cluster.log(), "there is room again")
    eventually(lambda: cluster.stored_reports()[0] > known, "reports are kept")
    assert cluster.metric("trumpet_report_store_failing") == 0
