#!/usr/bin/python3
# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The documentation becomes HTML whose links lead somewhere, and one that does not is told; pictures are those of the
figures beside them."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True

import cases

SOURCE = os.path.abspath(os.environ.get("top_srcdir", "."))


def make_pages(source, output):
    return subprocess.run([f"{SOURCE}/build-aux/docs-html", source, output], capture_output=True, text=True, check=False)


def pages_are_made(folder):
    done = make_pages(SOURCE, f"{folder}/html")
    if done.returncode != 0:
        yield done.stderr
        return
    for page in ("index.html", "docs/rest.html", "docs/adr/index.html", "docs/man/trumpetctl.1.html",
                 "docs/monitoring/alerts.yaml", "docs/figures/trace-store-growth.svg"):
        if not os.path.isfile(f"{folder}/html/{page}"):
            yield f"{page} is missing"
    made = len(glob.glob(f"{folder}/html/docs/*.html"))
    written = len(glob.glob(f"{SOURCE}/docs/*.md"))
    if made != written:
        yield f"{made} pages of {written}"
    with open(f"{folder}/html/docs/rest.html", encoding="utf-8") as page:
        if "<table>" not in page.read():
            yield "tables stay text"


def broken_links_are_told(folder):
    copy = f"{folder}/source"
    os.makedirs(f"{copy}/docs/man")
    os.makedirs(f"{copy}/ovs-patches")
    for name in ("SECURITY.md", "CONTRIBUTING.md", "ovs-patches/README.md", "docs/b.md"):
        with open(f"{copy}/{name}", "w", encoding="utf-8") as page:
            page.write("# One `x`, two\n\n## Same\n\n## Same\n")
    cases = (("[b](docs/b.md#one-x-two) [c](docs/b.md#same-1) [d](https://example.org/none) [e](docs/man)", None),
             ("[b](docs/none.md)", "docs-html: README.md: the link docs/none.md leads nowhere"),
             ("[b](docs/b.md#same-2)", "docs-html: README.md: nothing in docs/b.md is called #same-2"),
             ("![b](docs/none.svg)", "docs-html: README.md: the link docs/none.svg leads nowhere"),
             ("[b](#none)", "docs-html: README.md: nothing in README.md is called #none"))
    shutil.copy(glob.glob(f"{SOURCE}/docs/man/*.rst")[0], f"{copy}/docs/man")
    for text, error in cases:
        with open(f"{copy}/README.md", "w", encoding="utf-8") as page:
            page.write(f"# Top\n\n{text}\n")
        done = make_pages(copy, f"{folder}/of-copy")
        if (done.returncode != 0) != (error is not None) or (error or "") not in done.stderr.splitlines() + [""]:
            yield f"{text}: {done.returncode} {done.stderr!r}"


def pictures_are_of_their_figures(_folder):
    picture = f"{SOURCE}/docs/figures/trace-store-growth.svg"
    done = subprocess.run([f"{SOURCE}/build-aux/plot-growth", f"{SOURCE}/docs/figures/trace-store-growth.lines"],
                          capture_output=True, text=True, check=False)
    with open(picture, encoding="utf-8") as drawn:
        if done.stdout != drawn.read():
            yield f"build-aux/plot-growth draws another one: {done.returncode} {done.stderr}"
    root = xml.etree.ElementTree.parse(picture).getroot()
    lines = [line for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    if len(lines) < 10 or any(len(line.get("points").split()) < 2 for line in lines):
        yield f"{len(lines)} lines are drawn, some of them short"


if __name__ == "__main__":
    cases.run(pages_are_made, broken_links_are_told, pictures_are_of_their_figures, given=tempfile.TemporaryDirectory)
