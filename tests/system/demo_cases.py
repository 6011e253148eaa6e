# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demonstration's slices part, to its end and broken off; run with the cases of cases.py."""

import glob
import os
import re
import signal
import subprocess
import tempfile

from switch import eventually


def start(switch, folder, out):
    """The files of the demonstration lie in the folder."""
    return subprocess.Popen(
        [f"{switch.paths['SOURCE']}/utilities/demo/run", "slices", "--build", switch.paths["BUILD"]],
        env=dict(os.environ, TMPDIR=folder), stdin=subprocess.DEVNULL, stdout=out,
        stderr=subprocess.STDOUT)


def nothing_is_left(folder, demo):
    spaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert f"trumpet-demo-{demo.pid}-" not in spaces, spaces
    assert not os.listdir(folder), os.listdir(folder)
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as command:
                text = command.read()
        except OSError:
            continue
        assert folder.encode() not in text, text


def the_demonstration_shows_the_example_of_the_paper(switch):
    with tempfile.TemporaryDirectory(prefix="trumpet-case-") as folder, \
            tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        demo = start(switch, folder, out)
        status = demo.wait(300)
        out.seek(0)
        text = out.read()
        assert status == 0, text
        for expected in ("copy at A B D", "copy at A L D", r"[\d.]+ % \([\d.]+-[\d.]+\)",
                         "Every answer agrees"):
            assert re.search(expected, text), f"{expected} is not in {text}"
        nothing_is_left(folder, demo)
        return re.search(r"\((\d+ s)\)", text).group(1)


def a_demonstration_that_is_broken_off_leaves_nothing(switch):
    with tempfile.TemporaryDirectory(prefix="trumpet-case-") as folder, \
            tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        demo = start(switch, folder, out)
        eventually(lambda: glob.glob(f"{folder}/*/*/trumpet-controller.log"), "the controller starts",
                   seconds=120)
        demo.send_signal(signal.SIGINT)
        status = demo.wait(120)
        out.seek(0)
        text = out.read()
        assert status == 1 and "stopped by SIGINT" in text, text
        nothing_is_left(folder, demo)


ALL = [
    the_demonstration_shows_the_example_of_the_paper,
    a_demonstration_that_is_broken_off_leaves_nothing,
]
