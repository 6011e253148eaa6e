#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""SECURITY.md and the table of tokens in docs/rest.md: they name each route, role, socket and capability there is."""

import glob
import os
import re
import sys

sys.dont_write_bytecode = True

import cases

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
ROLES = ["Nobody", "Read", "Operate", "Admin"]  # columns of the table
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
# Calls by which a program hears from outside, and where that is told: words of a row of SECURITY.md's table.
HEARS = re.compile(r"\b(?:evconnlistener_new_bind|evhttp_bind_socket\w*|(?<![:.>])bind|(?<![:.>])listen|unixctl_server_create|pstream_open)\((?!\))")
HEARERS = {
    "lib/wire/listener.cc": ["port 6650 (agents)", "port 6651 (analyzers)"],
    "controller/rest/http_server.cc": ["port 8650 (HTTP)"],
    "controller/openflow/openflow_net.cc": ["port 6653 (OpenFlow)"],
    "controller/slice/sample_receiver.cc": ["UDP at `slices: samples: listen`"],
    "controller/analyzer/copy_receiver.cc": ["packet sockets on `capture: interfaces`"],
    "controller/daemon/ovs_daemon.c": ["`/run/openvswitch/PROGRAM.PID.ctl`"],
}
PORTS = {"kDefaultPort": "agents", "kDefaultAnalyzerPort": "analyzers", "kOpenflowPort": "OpenFlow", "kDefaultRestPort": "HTTP",
         "kDefaultOvsdbPort": None}  # which others listen at


def read(path):
    with open(f"{SOURCE}/{path}", encoding="utf-8") as file:
        return file.read()


def routes():
    """(method, path, role, whether tenants may) of each."""
    text = read("controller/rest/rest_server.cc").replace("kSimulatePath,", '"/v1/simulate",')
    return {(method, path, role, tenants == "true")
            for method, path, role, tenants in re.findall(r'\{"([A-Z]+)", "(/[^"]*)", Role::k(\w+), (true|false),', text)}


def rows(text, heading):
    """Cells of the table that follows `heading`."""
    table = text[text.index(heading):].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]


def requests(cell):
    """(methods, a pattern of paths) of what the first cell of a row names."""
    found, methods = [], set()
    for words in re.findall(r"`([^`]+)`", cell):
        *verbs, path = words.split()
        if path in METHODS:
            methods.add(path)
            continue
        pattern = re.escape(path.removesuffix("...")).replace("NAME", r"\{name\}") + (r"(/.*)?" if path.endswith("...") else "")
        found.append((set(verbs) or methods or METHODS, pattern))
    return found


def routes_are_those_of_the_table():
    known = routes()
    if len(known) < 50:
        yield f"only {len(known)} routes are found in the source"
    told = {}
    for cells in rows(read("docs/rest.md"), "| | no token | read |"):
        may = [bool(cell) for cell in cells[1:1 + len(ROLES)]]
        if True not in may or False in may[may.index(True):]:
            yield f"docs/rest.md: {cells[0]}: a role may less than the one before it"
            continue
        for methods, pattern in requests(cells[0]):
            fitting = {route for route in known if route[0] in methods and re.fullmatch(pattern, route[1])}
            if not fitting:
                yield f"docs/rest.md: no route is {sorted(methods)} {pattern}"
            for route in fitting:
                # "Other methods" are those that no row above has.
                told.setdefault(route, (ROLES[may.index(True)], cells[-1] != "no"))
    for route in sorted(known):
        if told.get(route) != route[2:]:
            yield f"docs/rest.md says of {route[0]} {route[1]} {told.get(route)}, and it is {route[2:]}"


def resources_are_told():
    """Of each role, in short, in SECURITY.md: all that it may see, or change."""
    table = {cells[0]: cells[1] for cells in rows(read("SECURITY.md"), "| role | may |")}
    for method, path, role, _ in sorted(routes()):
        if role == "Nobody":
            continue
        resource = "/".join(path.split("/")[:3])
        if f"`{resource}`" not in table[f"`{role.lower()}`"]:
            yield f"SECURITY.md does not name {resource} among what {role} may: {method} {path}"


def listening_is_told():
    hearing = set()
    for folder in ("lib", "controller", "vswitchd-plugin", "utilities"):
        for path in glob.glob(f"{SOURCE}/{folder}/**/*.c*", recursive=True):
            if not re.search(r"_(test|bench|fuzz)\.|/bench_\w+\.|\.py$", path) and HEARS.search(re.sub(r"//.*", "", read(os.path.relpath(path, SOURCE)))):
                hearing.add(os.path.relpath(path, SOURCE))
    for path in sorted(hearing ^ set(HEARERS)):
        yield f"{path} {'listens, which is not told' if path in hearing else 'no longer listens'}"
    places = "\n".join(cells[0] for cells in rows(read("SECURITY.md"), "| where | by default |"))
    for path, words in sorted(HEARERS.items()):
        yield from (f"SECURITY.md does not tell of {word}, {path}" for word in words if word not in places)


def ports_are_the_defaults():
    sources = "".join(read(os.path.relpath(path, SOURCE)) for path in glob.glob(f"{SOURCE}/[lc]*/**/*.h", recursive=True))
    found = dict(re.findall(r"\b(k(?:Default|Openflow)\w*Port) = (\d+);", sources))
    if set(found) != set(PORTS):
        yield f"known are {sorted(PORTS)}, in the source are {sorted(found)}"
    for name, purpose in PORTS.items():
        if purpose and f"port {found.get(name)} ({purpose})" not in read("SECURITY.md"):
            yield f"SECURITY.md does not say that {found.get(name)} is the port of {purpose}"


def privileges_are_those_of_the_units():
    needs = {}
    for cells in rows(read("SECURITY.md"), "| program | needs |"):
        needs.update({name: set(re.findall(r"CAP_\w+", cells[1])) for name in re.findall(r"`([^`]+)`", cells[0])})
    for path in sorted(glob.glob(f"{SOURCE}/packaging/systemd/*.service")):
        name = os.path.basename(path).removesuffix(".service")
        allowed = set(re.findall(r"CAP_\w+", "".join(re.findall(r"^CapabilityBoundingSet=.*", read(os.path.relpath(path, SOURCE)), re.M))))
        if needs.get(name) != allowed:
            yield f"SECURITY.md says that {name} needs {needs.get(name)}, and its unit allows {allowed}"


if __name__ == "__main__":
    cases.run(routes_are_those_of_the_table, resources_are_told, listening_is_told, ports_are_the_defaults, privileges_are_those_of_the_units)
