#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

"""The HTTP API from outside: every operation of openapi.json is called, every answer is held
against its schema, figures against promtool (if it is there), and the examples of docs/rest.md
are run as they stand.

usage: rest_api_test.py [--load STREAMS REPORTS_PER_SECOND SECONDS]
"""

import json
import os
import re
import selectors
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, f"{HERE}/../../tests/support"]

import frames  # noqa: E402
from rest_kit import PATIENCE, Server  # noqa: E402

SOURCE = os.environ.get("top_srcdir", ".")
BUILD = os.environ.get("top_builddir", ".")
EVENT = {"name": "heavy", "event": "dstIP=10.0.0.0/8, sum(volume) > 100, dstIP, 10ms"}


def to_json_schema(value):
    """OpenAPI 3.0 says `nullable` where JSON Schema says type null."""
    if isinstance(value, list):
        return [to_json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    schema = {key: to_json_schema(item) for key, item in value.items() if key != "nullable"}
    if value.get("nullable") and "type" in schema:
        schema["type"] = [schema["type"], "null"]
    return schema


class Description:
    def __init__(self, text):
        self.root = to_json_schema(json.loads(text))
        self.seen = set()

    def resolve(self, value):
        while "$ref" in value:
            node = self.root
            for key in value["$ref"].lstrip("#/").split("/"):
                node = node[key]
            value = node
        return value

    def operations(self):
        return {(method, path) for path, item in self.root["paths"].items()
                for method in item if method != "parameters"}

    def check(self, method, path, answer, data):
        """Is this an answer that the operation may give?"""
        self.seen.add((method, path))
        operation = self.root["paths"][path][method]
        status = str(answer.status)
        assert status in operation["responses"], f"{method} {path}: {status} is not described"
        content = self.resolve(operation["responses"][status]).get("content")
        if content is None:
            assert data == b"", f"{method} {path}: a body that is not described"
            return
        kind = answer.getheader("Content-Type").split(";")[0]
        assert kind in content, f"{method} {path}: {kind} is not described"
        if kind in ("application/json", "application/problem+json"):
            schema = dict(content[kind]["schema"], components=self.root["components"])
            jsonschema.validate(json.loads(data), schema)


def capture():
    """A pcap of ten UDP packets of 1,000 bytes to 10.0.0.1, a millisecond apart."""
    packet = frames.ethernet(frames.ipv4((192, 168, 0, 1), (10, 0, 0, 1), 17,
                                         frames.udp(1000, 2000, bytes(1000))))
    return frames.pcap_file([packet] * 10, gap=1000)


def multipart(**parts):
    body = b""
    for name, value in parts.items():
        body += (f'--BOUND\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n').encode()
        body += value + b"\r\n"
    return body + b"--BOUND--\r\n", {"Content-Type": "multipart/form-data; boundary=BOUND"}


def news_after(call, number):
    """The first piece of news of campaigns after this number, or what says that it is lost."""
    stream = call(200, "GET", f"/v1/stream?kind=slice&slice=web&after={number}").decode()
    return json.loads(next(line[6:] for line in stream.splitlines() if line.startswith("data: ")))


def slices(call, json_type):
    """Campaigns, in a network of two routers without drivers or an analyzer."""
    text_type = {"Content-Type": "text/plain"}
    text = "MIRROR 10.0.0.0/8 ON [A B] USING 1 Mb/s DURING 100 ms EVERY 1 h"
    one = "/v1/slices/{name}"
    call(200, "GET", "/v1/slices")
    plan = json.loads(call(200, "POST", "/v1/slices/plan", body=text, headers=text_type))
    assert plan["queries"][0]["locations"] == ["A", "B"], plan
    wrong = json.loads(call(422, "POST", "/v1/slices/plan", body="MIROR 10.0.0.0/8", headers=text_type))
    assert wrong["errors"][0]["line"] == 1, wrong
    call(415, "POST", "/v1/slices/plan", body=text, headers={"Content-Type": "text/html"})
    call(404, "GET", "/v1/slices/web", one)
    definition = json.dumps({"campaign": text, "priority": 3})
    call(201, "PUT", "/v1/slices/web", one, body=definition, headers=json_type)
    call(200, "PUT", "/v1/slices/web", one, body=text, headers=text_type)
    call(412, "PUT", "/v1/slices/web", one, body=text,
         headers=dict(text_type, **{"If-Match": '"e0"'}))
    call(422, "PUT", "/v1/slices/web", one, body='{"campaign": 1}', headers=json_type)
    call(403, "PUT", "/v1/slices/web", one, body=text, headers=text_type, role="read")
    deadline = time.monotonic() + 60
    while json.loads(call(200, "GET", "/v1/slices/web", one))["last"] is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    run = json.loads(call(200, "GET", "/v1/slices/web/results", one + "/results"))
    assert (run["state"], run["problem"]) == \
        ("failed", "no analyzer is there to take the copies"), run
    packets = "/v1/slices/web/packets"
    call(503, "GET", packets, one + "/packets")  # no analyzer
    call(404, "GET", packets + "?run=1", one + "/packets")
    call(400, "GET", packets + "?run=x", one + "/packets")
    call(401, "GET", packets, one + "/packets", role=None)
    call(403, "GET", packets, one + "/packets", role="read")
    # The campaign that was replaced may have begun a run, too.
    news = [news_after(call, news_after(call, 0)["before"] - 1)]
    while (news[-1]["what"], news[-1]["run"]["run"]) != ("run-ended", run["run"]):
        news.append(news_after(call, news[-1]["number"]))
    told = [(piece["slice"], piece["what"], piece["run"]["state"]) for piece in news
            if piece["run"]["run"] == run["run"]]
    assert told == [("web", "run-begun", "planning"), ("web", "run-ended", "failed")], news
    for wrong in ("kind=x", "kind=slice&event=a", "slice=web"):
        call(400, "GET", "/v1/stream?" + wrong)
    call(200, "PATCH", "/v1/slices/web", one, body='{"enabled": false}', headers=json_type)
    call(422, "PATCH", "/v1/slices/web", one, body='{"enabled": 1}', headers=json_type)
    call(202, "POST", "/v1/slices/web/run", one + "/run")
    call(404, "POST", "/v1/slices/other/stop", "/v1/slices/{name}/stop")
    call(204, "DELETE", "/v1/slices/web", one)
    call(404, "GET", "/v1/slices/web/results", one + "/results")


def measurements(call, json_type):
    """Measurements, in a network without hosts."""
    text_type = {"Content-Type": "text/plain"}
    text = "total = Counter(width=32); pkts >> total.set(total + 1);"
    one = "/v1/measurements/{name}"
    path = "/v1/measurements/hh"
    assert json.loads(call(200, "GET", "/v1/measurements")) == {"measurements": []}
    problem = json.loads(call(409, "PUT", path, one, body=text, headers=text_type))
    assert problem["detail"] == "no host that takes measurement programs is connected", problem
    body = json.dumps({"program": text, "hosts": ["h1"]})
    problem = json.loads(call(409, "PUT", path, one, body=body, headers=json_type))
    assert "host h1 is not connected" in problem["detail"], problem
    problem = json.loads(call(422, "PUT", path, one, body="pkts >> x.set(1);", headers=text_type))
    assert "E1: " in problem["detail"], problem
    call(422, "PUT", path, one, body='{"program": 1}', headers=json_type)
    call(415, "PUT", path, one, body=text, headers={"Content-Type": "text/html"})
    call(403, "PUT", path, one, body=text, headers=text_type, role="read")
    call(404, "GET", path, one)
    call(404, "DELETE", path, one)
    event = json.dumps([{"event": '*, measure("hh").total > 1, 1s'}])
    problem = json.loads(call(422, "POST", "/v1/check", body=event, headers=json_type))
    assert "there is no measurement 'hh'" in json.dumps(problem), problem
    call(404, "GET", path + "/read?top=3", one + "/read")
    call(400, "GET", path + "/read?colour=3", one + "/read")
    for endpoints, error in (({"C": "udp:collector:9"}, "copies go to 'udp:ADDRESS:PORT'"),
                             ({"C": "udp:10.0.0.9:9"}, "the program has no endpoint 'C'")):
        body = json.dumps({"program": text, "endpoints": endpoints})
        problem = json.loads(call(422, "PUT", path, one, body=body, headers=json_type))
        assert error in problem["detail"], problem
    body = json.dumps({"program": text, "copy_rate": 100001})
    problem = json.loads(call(422, "PUT", path, one, body=body, headers=json_type))
    assert problem["detail"] == "copy_rate takes 1 to 100000 copies a second", problem
    body = json.dumps({"fields": {"pkt.request": 7}})
    call(404, "POST", path + "/ask?host=h1", one + "/ask", body=body, headers=json_type, role="read")
    call(400, "POST", path + "/ask?colour=3", one + "/ask", body=body, headers=json_type)


def traces(call):
    """Traces, in a network without analyzers."""
    for path, operation in (("/v1/traces?limit=3", "/v1/traces"), ("/v1/traces/stream", None),
                            ("/v1/counters/links?step=5", "/v1/counters/links"),
                            ("/v1/apps/latency?timeout=1", "/v1/apps/{name}"),
                            ("/v1/counters/traces?verdict=dropped", "/v1/counters/traces"),
                            ("/v1/traces/0123456789abcdef", "/v1/traces/{name}")):
        problem = json.loads(call(503, "GET", path, operation))
        assert problem["detail"] == "no analyzer that makes traces is connected", problem
    call(400, "GET", "/v1/traces?colour=red", "/v1/traces")
    json_type = {"Content-Type": "application/json"}
    assert json.loads(call(200, "GET", "/v1/counters")) == {"counters": []}
    call(503, "POST", "/v1/counters", body='{"name": "all"}', headers=json_type)
    call(422, "POST", "/v1/counters", body='{"name": "a b"}', headers=json_type)
    twice = call(422, "POST", "/v1/counters", body='{"name": "a", "name": "b"}', headers=json_type)
    assert json.loads(twice)["detail"] == "request:1:15: 'name' stands twice here", twice
    call(415, "POST", "/v1/counters", body="name: all", headers={"Content-Type": "text/plain"})
    for method in ("GET", "DELETE"):
        call(404, method, "/v1/counters/all", "/v1/counters/{name}")


def trace_rules(call, json_type, yaml_type):
    """Trace rules, in a network without switches."""
    path, one = "/v1/trace-rules", "/v1/trace-rules/{name}"
    text = "rules: [{name: web, filter: dstPort=80 and Protocol=TCP, sample: 1/4, rate: 9}]"
    assert json.loads(call(200, "GET", path)) == {"rules": []}
    call(404, "DELETE", path)
    told = json.loads(call(201, "PUT", path, body=text, headers=yaml_type))
    assert told["changed_by"] == "admin", told
    web = json.loads(call(200, "GET", path + "/web", one))
    assert web["switches"] == [] and web["state"] == "pending" and web["sample"] == "1/4", web
    call(200, "PUT", path, body='{"base": true}', headers=json_type)
    assert [rule["name"] for rule in json.loads(call(200, "GET", path))["rules"]] == [
        "handshakes", "bgp", "pfc", "roce-cnp"]
    problem = json.loads(call(422, "PUT", path, body="rules: [{filter: x}]", headers=yaml_type))
    assert problem["detail"].startswith("request:1:"), problem
    call(422, "PUT", path, body="rules: []", headers=yaml_type)
    call(415, "PUT", path, body=text, headers={"Content-Type": "text/html"})
    call(403, "PUT", path, body=text, headers=yaml_type, role="operate")
    call(404, "GET", path + "/web", one)
    debug_marks(call, json_type, yaml_type)
    call(204, "DELETE", path)
    call(404, "DELETE", path)


def debug_marks(call, json_type, yaml_type):
    """Marks of packets, beside rules that do not copy them, and then do."""
    path, one = "/v1/debug-marks", "/v1/debug-marks/{name}"
    body = '{"filter": "dstPort=443", "hosts": ["h1", "h2"]}'

    def put(status, name="slow", text=body, headers=json_type, **more):
        return json.loads(call(status, "PUT", f"{path}/{name}", one, body=text, headers=headers, **more))

    assert "need a 'debug_bit'" in put(409)["detail"]
    rules = "{debug_bit: 5, rules: [{name: web, filter: dstPort=80}]}"
    call(200, "PUT", "/v1/trace-rules", body=rules, headers=yaml_type)
    assert "no rule copies what is marked" in put(409)["detail"]
    call(200, "PUT", "/v1/trace-rules", body="{debug_bit: 5, base: true}", headers=yaml_type)
    mark = {"name": "slow", "filter": "dstPort=443", "hosts": ["h1", "h2"]}
    assert put(201, role="operate") == mark
    assert json.loads(call(200, "GET", path)) == {"marks": [mark]}
    assert json.loads(call(200, "GET", "/v1/trace-rules"))["marks"] == [mark]
    assert put(200, text="filter: dstPort=80", headers=yaml_type) == {
        "name": "slow", "filter": "dstPort=80"}
    assert "'hosts' must be a list" in put(422, text='{"hosts": "h1"}')["detail"]
    assert "'dstPrt' is not" in put(422, text='{"filter": "dstPrt=80"}')["detail"]
    put(415, headers={"Content-Type": "text/html"})
    put(403, role="read")
    call(403, "DELETE", path + "/slow", one, role="read")
    call(204, "DELETE", path + "/slow", one, role="operate")
    call(404, "DELETE", path + "/slow", one)
    assert json.loads(call(200, "GET", path)) == {"marks": []}


def reshufflers(call):
    """Reshufflers: one that small_rest makes up."""
    path, one = "/v1/reshufflers", "/v1/reshufflers/{name}"
    told, = json.loads(call(200, "GET", path))["reshufflers"]
    assert told["state"] == "in order" and "slots" not in told, told
    assert [(analyzer["state"], analyzer["slots"], analyzer["copies"])
            for analyzer in told["analyzers"]] == [("alive", 256, 9), ("away", 0, 3)], told
    assert told["last_move"] == {"at_ns": 1, "slots": 128, "gone": ["an2"], "come": [],
                                 "failover_ms": 240}, told
    assert json.loads(call(200, "GET", path + "/shuf1", one))["slots"] == ["an1"] * 256
    call(404, "GET", path + "/other", one)


def probes(call, json_type, yaml_type):
    """Probes, in a network that small_rest makes up."""
    packet = {"Protocol": "UDP", "srcIP": "10.0.1.1", "dstIP": "10.0.2.2", "dstPort": 53,
              "dstMAC": "02:00:00:00:02:02"}
    path, one = "/v1/probes", "/v1/probes/{name}"
    body = json.dumps({"switch": "leaf1", "port": 3, "packet": packet, "count": 2})
    assert json.loads(call(200, "GET", path)) == {"probes": []}
    begun = json.loads(call(202, "POST", path, body=body, headers=json_type))
    assert begun["state"] == "sending" and begun["begun_by"] == "admin", begun
    assert "verdict" not in begun and begun["packets"] == [], begun
    assert begun["packet"]["dstPort"] == "53" and begun["packet"]["ttl"] == "64", begun
    done = json.loads(call(200, "GET", f"{path}/{begun['id']}", one))
    assert done["state"] == "done" and done["verdict"] == "delivered", done
    assert [hop["switch"] for hop in done["packets"][0]["path"]] == ["leaf1"], done
    assert "trace" not in done["packets"][1], done
    line = ("{switch: leaf1, port: '3', packet: udp srcIP=fd00::1 dstIP=fd00::2 "
            "dstMAC=02:00:00:00:02:02}")
    call(202, "POST", path, body=line, headers=yaml_type, role="operate")
    assert len(json.loads(call(200, "GET", path))["probes"]) == 2
    forced = json.loads(call(202, "POST", path, headers=json_type,
                             body=body.replace('"count"', '"via": ["spine2", "leaf4"], "count"')))
    assert forced["via"] == ["spine2", "leaf4"], forced
    problem = json.loads(call(422, "POST", path, body=body.replace("02:00:", "ff:00:"),
                              headers=json_type))
    assert problem["detail"].endswith("dstMAC is that of a group"), problem
    problem = json.loads(call(422, "POST", path, body=body.replace("leaf1", "leaf2"),
                              headers=json_type))
    assert problem["detail"] == "there is no switch 'leaf2'", problem
    call(503, "POST", path, body=line.replace("'3'", "4"), headers=yaml_type)
    call(403, "POST", path, body=body, headers=json_type, role="read")
    call(415, "POST", path, body=body, headers={"Content-Type": "text/html"})
    call(404, "GET", path + "/00000000000000ff", one)
    for change, error in (({}, "srcIP and dstIP must lie within this tenant's prefixes"),
                          ({"srcIP": "10.0.2.1", "dstIP": "10.0.1.2"}, "srcIP and dstIP must"),
                          ({"dstIP": "10.0.1.2", "srcMAC": "02:00:00:00:01:01"},
                           "srcMAC is not for tenants to choose"),
                          ({"dstIP": "10.0.1.2", "vlan": 7}, "vlan is not for tenants to choose")):
        body = json.dumps({"switch": "leaf1", "port": 3, "packet": {**packet, **change}})
        problem = json.loads(call(403, "POST", path, body=body, headers=json_type, role="tenant"))
        assert problem["detail"].startswith(error), problem
    assert json.loads(call(200, "GET", path, role="tenant")) == {"probes": []}
    call(404, "GET", f"{path}/{begun['id']}", one, role="tenant")
    body = json.dumps({"switch": "leaf1", "port": 3, "packet": {**packet, "dstIP": "10.0.1.2"}})
    own = json.loads(call(202, "POST", path, body=body, headers=json_type, role="tenant"))
    assert own["begun_by"] == "tenant", own
    problem = json.loads(call(403, "POST", path, headers=json_type, role="tenant",
                              body=body.replace('"port"', '"via": "spine2", "port"')))
    assert problem["detail"] == "via is not for tenants to choose", problem
    assert len(json.loads(call(200, "GET", path, role="tenant"))["probes"]) == 1


def bounces(call, json_type, yaml_type):
    """Round trips of links, in the network of the probes."""
    path, one = "/v1/bounces", "/v1/bounces/{name}"
    body = json.dumps({"switch": "leaf1", "port": 3, "count": 3})
    assert json.loads(call(200, "GET", path)) == {"bounces": []}
    begun = json.loads(call(202, "POST", path, body=body, headers=json_type, role="operate"))
    assert begun["state"] == "sending" and begun["to"] == "spine1", begun
    assert "round_trip" not in begun, begun
    done = json.loads(call(200, "GET", f"{path}/{begun['id']}", one))
    assert (done["returned"], done["lost"], done["not_copied"]) == (2, 0, 1), done
    assert done["round_trip"]["min_ns"] == 21400 and done["round_trip"]["max_ns"] == 30000, done
    assert done["round_trip"]["histogram"] == [{"below_ns": 32768, "packets": 2}], done
    assert len(json.loads(call(200, "GET", path))["bounces"]) == 1
    for wrong, why in (({"switch": "leaf2", "to": "spine1"}, "there is no switch 'leaf2'"),
                       ({"switch": "leaf1"}, "this bounce has neither 'port' nor 'to'"),
                       ({"port": 3}, "this bounce has no 'switch'"),
                       ({"switch": "leaf1", "port": 3, "count": 0},
                        "'count' takes a whole number from 1 to 1000"),
                       ({"switch": "leaf1", "via": 3},
                        "'via' is no key of a bounce, or of another type"),
                       ([], "a bounce is an object with switch, and port or to")):
        problem = json.loads(call(422, "POST", path, body=json.dumps(wrong), headers=json_type))
        assert problem["detail"] == why, problem
    call(503, "POST", path, body=json.dumps({"switch": "leaf1", "to": "spine2"}), headers=json_type)
    call(403, "POST", path, body=body, headers=json_type, role="read")
    call(403, "GET", path, role="tenant")
    call(415, "POST", path, body="{switch: leaf1, port: 3}", headers=yaml_type)
    call(404, "GET", path + "/00000000000000ff", one)


def drop_searches(call, json_type, yaml_type):
    """Searches for the cause of drops, in the network of the probes."""
    path, one = "/v1/apps/drops/probes", "/v1/apps/drops/probes/{name}"
    packet = "udp srcIP=10.0.1.1 dstIP=10.0.2.2 dstPort=53 dstMAC=02:00:00:00:02:02"
    asked = {"switch": "leaf1", "port": 3, "packet": packet, "count": 40, "dst_within": "10.0.2.0/24"}
    body = json.dumps(asked)
    assert json.loads(call(200, "GET", path)) == {"searches": []}
    begun = json.loads(call(202, "POST", path, body=body, headers=json_type, role="operate"))
    assert begun["state"] == "running" and "verdict" not in begun, begun
    search = f"{path}/{begun['id']}"
    assert json.loads(call(200, "GET", search, one))["state"] == "running"
    done = json.loads(call(200, "GET", search, one))
    assert (done["state"], done["verdict"], done["persistence"]) == ("done", "pattern", "persistent")
    assert done["explanation"].startswith("packets with dstPort 53 vanish between leaf1 and"), done
    assert done["places"] == [{"behind": "leaf1", "towards": ["spine1"], "passed_over": ["spine1"],
                               "lost": 40}], done
    roles = {field["field"]: field for field in done["fields"]}
    assert roles["dstPort"]["role"] == "decides" and roles["dstPort"]["lost"] == "53", roles
    assert roles["srcPort"]["role"] == "not_tried", roles
    assert done["kinds"][1] == {"field": "dstPort", "value": "54", "sent": 3, "known": 3, "lost": 0,
                                "traces": {"lost": [], "passed": ["00000000000000ab"]}}, done
    listed = json.loads(call(200, "GET", path))["searches"]
    assert [search["id"] for search in listed] == [begun["id"]] and "kinds" not in listed[0], listed
    fields = {"Protocol": "UDP", "srcIP": "10.0.1.1", "dstIP": "10.0.1.2", "dstPort": 53,
              "dstMAC": "02:00:00:00:02:02"}
    own = json.loads(call(202, "POST", path, body=json.dumps({**asked, "packet": fields}),
                          headers=json_type, role="tenant"))
    stopped = json.loads(call(200, "DELETE", f"{path}/{own['id']}", one, role="tenant"))
    assert stopped["state"] == "stopped" and stopped["verdict"] == "pattern", stopped
    assert json.loads(call(200, "DELETE", search, one))["state"] == "done"
    call(404, "DELETE", search, one, role="tenant")
    call(404, "GET", search, one, role="tenant")
    call(403, "DELETE", search, one, role="read")
    assert len(json.loads(call(200, "GET", path, role="tenant"))["searches"]) == 1
    problem = json.loads(call(403, "POST", path, body=body, headers=json_type, role="tenant"))
    assert problem["detail"] == "srcIP and dstIP must lie within this tenant's prefixes", problem
    for change, why in (({"switch": "leaf2"}, "there is no switch 'leaf2'"),
                        ({"count": 5}, "'count' takes a whole number from 10 to 500"),
                        ({"src_within": "10.0.1.1/99"}, "src_within: "),
                        ({"packet": packet + " ttl=0"}, "packet:1:75: 'ttl' takes a whole number"),
                        ({"port": None}, "'port' is no key of a search, or of another type"),
                        ({"via": 3}, "'via' is no key of a search, or of another type")):
        problem = json.loads(call(422, "POST", path, body=json.dumps({**asked, **change}),
                                  headers=json_type))
        assert problem["detail"].startswith(why), problem
    for wrong in ({}, {"switch": "leaf1"}, {"trace": "ab", "packet": packet}):
        problem = json.loads(call(422, "POST", path, body=json.dumps(wrong), headers=json_type))
        assert problem["detail"].startswith("a search has switch, port and packet, or"), problem
    call(422, "POST", path, body="[]", headers=json_type)
    call(503, "POST", path, body=json.dumps({**asked, "port": 4}), headers=json_type)
    call(503, "POST", path, body=json.dumps({"trace": "00000000000000ab"}), headers=json_type)
    call(403, "POST", path, body=body, headers=json_type, role="read")
    call(415, "POST", path, body="{switch: leaf1}", headers=yaml_type)
    call(404, "GET", path + "/00000000000000ff", one)


def test_every_operation(server):
    description = Description(server.ask("GET", "/openapi.json", role=None)[1])
    json_type = {"Content-Type": "application/json"}
    yaml_type = {"Content-Type": "application/yaml"}
    heavy = json.dumps(EVENT)

    def call(status, method, path, template=None, **more):
        answer, data = server.ask(method, path, **more)
        assert answer.status == status, f"{method} {path}: {answer.status} {data[:500]}"
        description.check(method.lower(), template or path.split("?")[0], answer, data)
        return data

    call(200, "GET", "/v1/events")
    call(201, "POST", "/v1/events", body="[" + heavy + "]", headers=json_type)
    call(409, "POST", "/v1/events", body="[" + heavy + "]", headers=json_type)
    call(200, "POST", "/v1/events?replace=true", body="[" + heavy + "]", headers=json_type)
    call(415, "POST", "/v1/events", body="x", headers={"Content-Type": "text/html"})
    call(422, "POST", "/v1/events", body="- {event: wrong}", headers=yaml_type)
    one = "/v1/events/{name}"
    call(200, "GET", "/v1/events/heavy", one)
    call(404, "GET", "/v1/events/other", one)
    call(200, "PUT", "/v1/events/heavy", one, body=heavy, headers=json_type)
    call(412, "PUT", "/v1/events/heavy", one, body=heavy,
         headers=dict(json_type, **{"If-Match": '"e0"'}))
    call(200, "PATCH", "/v1/events/heavy", one, body='{"enabled": false}', headers=json_type)
    call(422, "PATCH", "/v1/events/heavy", one, body='{"enabled": 1}', headers=json_type)
    twice = call(422, "PATCH", "/v1/events/heavy", one, body='{"enabled": false, "enabled": true}',
                 headers=json_type)
    assert json.loads(twice)["detail"] == "request:1:20: 'enabled' stands twice here", twice
    call(200, "GET", "/v1/events/heavy/hosts", one + "/hosts")
    call(200, "POST", "/v1/check", body="- " + heavy, headers=yaml_type)
    call(200, "GET", "/v1/reports?limit=3")
    call(400, "GET", "/v1/reports?limit=x")
    call(200, "GET", "/v1/stream?after=0")
    call(200, "GET", "/v1/hosts")
    call(404, "GET", "/v1/hosts/h1", "/v1/hosts/{name}")
    call(200, "GET", "/v1/topology")
    call(422, "PUT", "/v1/topology", body="hosts: 1", headers=yaml_type)
    slices(call, json_type)
    measurements(call, json_type)
    traces(call)
    trace_rules(call, json_type, yaml_type)
    probes(call, json_type, yaml_type)
    bounces(call, json_type, yaml_type)
    drop_searches(call, json_type, yaml_type)
    reshufflers(call)
    call(200, "GET", "/healthz", role=None)
    call(200, "GET", "/readyz", role=None)
    call(200, "GET", "/metrics")
    call(200, "GET", "/openapi.json", role=None)
    call(401, "GET", "/v1/events", role=None)
    call(403, "DELETE", "/v1/events/heavy", one, role="read")

    reports = json.loads(call(200, "POST", "/v1/simulate?name=heavy", body=capture()))["reports"]
    assert len(reports) == 1 and reports[0]["value"] == 10000, reports
    body, headers = multipart(events=b"- " + heavy.encode(), capture=capture())
    again = json.loads(call(200, "POST", "/v1/simulate", body=body, headers=headers))["reports"]
    assert again == reports, again
    # Events in few words, which printed anew would be longer than a file of events may be.
    many = b'- {event: "dstPort=9, sum(volume) > 100, dstIP, 10ms"}\n' * 7000
    body, headers = multipart(events=many + b"- " + heavy.encode(), capture=capture())
    again = json.loads(call(200, "POST", "/v1/simulate", body=body, headers=headers))["reports"]
    assert [report["value"] for report in again] == [10000], again
    lines = call(200, "POST", "/v1/simulate?name=heavy", body=capture(),
                 headers={"Accept": "application/x-ndjson"})
    assert [json.loads(line) for line in lines.splitlines()] == reports
    problem = json.loads(call(422, "POST", "/v1/simulate?name=heavy", body=b"no capture"))
    assert "capture" in problem["detail"], problem
    call(422, "POST", "/v1/simulate?events=wrong", body=capture())
    call(204, "DELETE", "/v1/events/heavy", one)
    unseen = description.operations() - description.seen
    assert not unseen, f"never called: {unseen}"


def test_long_upload(server):
    """A capture beyond the usual limit of bodies, sent in one go and sent after a question."""
    pcap = capture()
    packets = pcap[24:]
    big = pcap[:24] + packets * (6 * 1024 * 1024 // len(packets))
    path = "/v1/simulate?name=heavy"
    server.ask("PUT", "/v1/events/heavy", json.dumps(EVENT), {"Content-Type": "application/json"})
    for headers in ({}, {"Expect": "100-continue"}):
        answer, data = server.ask("POST", path, big, headers)
        assert answer.status == 200, data[:300]
    try:
        answer, _ = server.ask("POST", path, big, role="read")
        status = answer.status
    except OSError:
        status = 0  # cut off while it was still sending
    assert status != 200, "a reader's long body was taken"


def test_metrics(server):
    promtool = shutil.which("promtool")
    if promtool is None:
        print("metrics are not checked: promtool is not installed")
        return
    text = server.ask("GET", "/metrics")[1]
    check = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                           check=False)
    assert check.returncode == 0, check.stdout + check.stderr


def test_without_replay():
    with Server(replay="/nowhere/trumpet-replay") as server:
        answer, data = server.ask("POST", "/v1/simulate?name=heavy", capture())
        assert answer.status == 500, data
        why = "cannot run /nowhere/trumpet-replay: No such file or directory"
        assert json.loads(data)["detail"] == why, data


def test_tls():
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = folder + "/key.pem", folder + "/cert.pem"

        def issue():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key + ".new", "-out",
                 certificate + ".new", "-days", "1", "-subj", "/CN=localhost", "-addext",
                 "subjectAltName=DNS:localhost"], check=True, capture_output=True)
            os.rename(key + ".new", key)
            os.rename(certificate + ".new", certificate)
            return ssl.PEM_cert_to_DER_cert(open(certificate).read())

        first = issue()
        with Server(keys=(key, certificate)) as server:
            def shown(version=None):
                context = ssl.create_default_context(cafile=certificate)
                if version:
                    context.minimum_version = context.maximum_version = version
                raw = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
                with context.wrap_socket(raw, server_hostname="localhost") as client:
                    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    assert client.recv(100).startswith(b"HTTP/1.1 200")
                    return client.getpeercert(True)

            assert shown() == first
            assert shown(ssl.TLSVersion.TLSv1_2) == first
            plain = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
            plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"HTTP/1.1" not in plain.recv(1000), "an answer without TLS"
            second = issue()
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:  # the files are looked at once a second
                try:
                    if shown() == second:
                        return
                except ssl.SSLError:
                    pass  # the old certificate, which the client no longer believes
            raise AssertionError("the new certificate was not taken")


def blocks_of(path):
    """(tag, text) of the fenced blocks of a document."""
    with open(path) as file:
        return re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), re.M | re.S)


def test_examples():
    """`sh` blocks of docs/rest.md succeed; a `text` block after one is in what it says, where
    `...` stands for anything."""
    if shutil.which("curl") is None:
        print("examples are not run: curl is not installed")
        return
    blocks = blocks_of(SOURCE + "/docs/rest.md")
    assert blocks, "there is no example in docs/rest.md"
    with Server(rate=20) as server, tempfile.TemporaryDirectory() as folder:
        with open(folder + "/capture.pcap", "wb") as file:
            file.write(capture())
        environment = dict(os.environ, TOKEN="admin", SERVER=f"http://127.0.0.1:{server.port}")
        said = ""
        for tag, text in blocks:
            if tag == "sh":
                run = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder,
                                     env=environment, capture_output=True, text=True,
                                     timeout=PATIENCE, check=False)
                said = run.stdout
                assert run.returncode == 0, f"{text}ended with {run.returncode}: {run.stderr}{said}"
            elif tag == "text":
                pattern = ".*".join(re.escape(piece) for piece in text.strip().split("..."))
                assert re.search(pattern, said, re.S), f"{text}is not in\n{said}"


def read_streams(server, count, seconds, report):
    """Opens streams, reads them for a while and returns how many reports each was given."""
    selector = selectors.DefaultSelector()
    streams = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        client.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read\r\n\r\n")
        client.setblocking(False)
        state = {"reports": 0, "rest": b""}
        streams.append((client, state))
        selector.register(client, selectors.EVENT_READ, state)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for key, _ in selector.select(1):
            data = key.fileobj.recv(1 << 20)
            assert data, "a stream was cut off"
            data = key.data["rest"] + data
            key.data["reports"] += data.count(b"\ndata: ")
            key.data["rest"] = data[-6:]
    report()
    for client, _ in streams:
        client.close()
    return [state["reports"] for _, state in streams]


def test_readers_that_do_not_read():
    """Streams that nobody reads cost little, and hold up no other."""
    with Server(rate=5000) as server:
        idle = []
        for _ in range(50):
            client = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
            client.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer read"
                           b"\r\n\r\n")
            idle.append(client)
        counts = read_streams(server, 2, 3, lambda: None)
        assert min(counts) > 1000, counts
        # 50 times the 4 MiB that may wait, what is remembered of reports, and the program.
        print(f"{server.rss_kib()} KiB for readers that do not read")
        assert server.rss_kib() < 300 * 1024, server.rss_kib()
        for client in idle:
            client.close()


def measure_load(streams, rate, seconds):
    with Server(rate=rate) as server:
        before = server.rss_kib()

        def ticks():
            with open(f"/proc/{server.process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        start = ticks()
        counts = read_streams(server, streams, seconds, lambda: print(
            f"memory {before} KiB at first, {server.rss_kib()} KiB with {streams} streams; "
            f"processor {(ticks() - start) / seconds * 100:.0f} %"))
        print(f"reports per stream and second: least {min(counts) / seconds:.0f}, "
              f"most {max(counts) / seconds:.0f}, of {rate}")


def main():
    if sys.argv[1:2] == ["--load"]:
        measure_load(*map(int, sys.argv[2:5]))
        return
    with Server(rate=50) as server:
        test_every_operation(server)
        test_long_upload(server)
        test_metrics(server)
    test_without_replay()
    test_tls()
    test_examples()
    test_readers_that_do_not_read()
    print("ok")


if __name__ == "__main__":
    main()
