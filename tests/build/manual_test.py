#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Manual pages: they can be read, and name every command, option, key and setting there is."""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import cases

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))
BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
DAEMONS = {"trumpet-controller": "controller/daemon/controller.yaml",
           "trumpet-analyzer": "controller/daemon/analyzer.yaml"}
# What stands between marks in pages of configurations and is no key: units, and values of keys.
NO_KEYS = {"ns", "us", "ms", "s", "h", "d", "gre", "erspan", "trumpet", "alertmanager"}


def page(name):
    with open(f"{SOURCE}/docs/man/{name}.rst", encoding="utf-8") as text:
        return text.read()


def help_of(*command):
    return subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def missing(names, name):
    """Those that the page does not have between marks, or as an option of a list."""
    text = page(name)
    return [f"{name} does not tell of {word}" for word in sorted(names)
            if not re.search(rf"(\*\*|^|^ +|, ){re.escape(word)}(?![\w-])", text, re.M)]


def pages_are_well_formed():
    for path in sorted(glob.glob(f"{SOURCE}/docs/man/*.rst")):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as manual:
            done = subprocess.run(["rst2man", "--strict", path], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield done.stderr
                continue
            manual.write(done.stdout)
            manual.flush()
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", manual.name],
                                  capture_output=True, text=True, check=False,
                                  env=dict(os.environ, LC_ALL="C.UTF-8"))
            if done.returncode != 0 or done.stderr:
                yield f"{path}: {done.stderr}"


def trumpetctl_is_told():
    program = f"{BUILD}/utilities/trumpetctl"
    commands = re.findall(r"^  ([a-z]+(?: [a-z]+){0,2})(?: \[?[A-Z]|  )", help_of(program), re.M)
    if len(commands) < 20:
        yield f"only {len(commands)} commands in the help text"
    yield from missing(commands, "trumpetctl.1")
    yield from missing(set().union(*(options(help_of(program, *command.split())) for command in commands)),
                       "trumpetctl.1")


def programs_are_told():
    yield from missing(options(help_of(f"{BUILD}/utilities/trumpet-replay")), "trumpet-replay.1")
    script = subprocess.run([f"{SOURCE}/utilities/trumpet-db", "help"], capture_output=True, text=True, check=True)
    yield from missing(options(script.stdout) - {"--detach", "--remote"}, "trumpet-db.8")
    yield from missing(re.findall(r"^  ([a-z]+) ", script.stdout, re.M), "trumpet-db.8")
    yield from missing(options(help_of(f"{SOURCE}/utilities/trumpet-pki")), "trumpet-pki.8")
    for program in DAEMONS:
        path = f"{BUILD}/controller/daemon/{program}"
        if os.path.exists(path):
            yield from missing(options(help_of(path)), f"{program}.8")
        else:
            print(f"# {program} is not built here: its options are not compared")


def read(path):
    with open(f"{SOURCE}/{path}", encoding="utf-8") as text:
        return text.read()


def keys_read(program):
    """Those that the daemon asks its configuration for."""
    is_analyzer = program == "trumpet-analyzer"
    texts = [read(os.path.relpath(path, SOURCE)) for path in glob.glob(f"{SOURCE}/controller/daemon/*config.cc")
             if ("analyzer_config" in path) == is_analyzer]
    return set(re.findall(r'->(?:Text|Texts|Bool|Count|Bytes|Duration|Choice|Pairs|Sections?)\(\s*"([a-z_]+)"', "".join(texts)))


def keys_told(name):
    """Those that the page has a heading for, or between marks."""
    return set(re.findall(r"^([a-z_]+)\n=+$", page(name), re.M)) | set(re.findall(r"\*\*([a-z_]+)\*\*(?!\\ \()", page(name)))


def keys_are_told():
    for program, path in DAEMONS.items():
        page_name = f"{program}.yaml.5"
        told, used = keys_told(page_name), keys_read(program)
        if len(used) < 20:
            yield f"only {len(used)} keys are found in the source of {program}"
        yield from (f"{page_name} does not tell of {key}" for key in sorted(used - told))
        yield from (f"{page_name} tells of {key}, which {program} does not read" for key in sorted(told - used - NO_KEYS))
        samples = set(re.findall(r"^[ #-]*([a-z_]+):(?: |$)", read(path), re.M))
        yield from (f"{path} shows {key}, which {program} does not read" for key in sorted(samples - used))


def settings_are_told():
    source = read("vswitchd-plugin/settings.cc")
    used = set(re.findall(r'"(trumpet-[a-z-]+)"', source))
    name = "ovs-vswitchd-trumpet.conf.db.5"
    definitions = "\n".join(re.findall(r"^(\*\*trumpet-.*?): ", page(name), re.M))
    told = set(re.findall(r"\*\*(trumpet-[a-z-]+)\*\*", definitions))
    if len(used) < 20:
        yield f"only {len(used)} settings are found in the source"
    # That docs/operations.md and vswitch.xml tell of them says build-aux/lint.
    yield from (f"{name} does not tell of {key}" for key in sorted(used - told))
    yield from (f"{name} tells of {key}, which the monitor does not read" for key in sorted(told - used))
    yield from limits_are_told(source, name)


def limits_are_told(source, name):
    """Of each number: the least, the most, and the default."""
    numbers = re.findall(r'\{"(trumpet-[a-z-]+)", (\d+), (\d+), &Settings::(\w+),', source)
    defaults = dict(re.findall(r"^\s*uint32_t (\w+) = (\w+);", read("vswitchd-plugin/settings.h"), re.M))
    defaults["max_buckets"] = re.search(r"kDefaultMaxBuckets = (\d+);", read("lib/model/event_spec.h")).group(1)
    if len(numbers) < 10:
        yield f"only {len(numbers)} numbers are found in the source"
    for key, least, most, member in numbers:
        if f"**{key}**: {least} to {most} ({defaults[member]})" not in page(name):
            yield f"{name} does not say that {key} is {least} to {most} ({defaults[member]})"
        if not re.search(rf"^\| `{key}` \| {least} to {most}\b.*\| {defaults[member]}\b", read("docs/operations.md"), re.M):
            yield f"docs/operations.md does not say that {key} is {least} to {most} ({defaults[member]})"


if __name__ == "__main__":
    cases.run(pages_are_well_formed, trumpetctl_is_told, programs_are_told, keys_are_told, settings_are_told)
