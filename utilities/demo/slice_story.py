# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The third part of the demonstration: the example of the Stroboscope paper on real bridges."""
import time

from lab import let_run, wait_until
from routers import Arrivals, Sender
from show import count, many
from slice_network import DELAY_MS, LOSS, SliceNetwork

# Fig. 2b of the paper.  What each must come to, by the theorems: the region's fewest exits, and the
# key points of the two ways that the IGP has from A to D.
QUERIES = """\
CONFINE { 1.2.3.0/24 } ON { [A -> D] }
MIRROR { 1.2.3.0/24 } ON { [A -> D] }
USING 15 Mb/s DURING 450 ms EVERY 5 s
"""
EXPECTED = {("CONFINE", "A B C D L", "F H P"), ("MIRROR", "A B C D", "A B D"),
            ("MIRROR", "A L C D", "A L D")}
# The same for longer, and with more to see.
LONGER = """\
MIRROR { 1.2.3.0/24 } ON { [A -> D] }
USING 60 Mb/s DURING 4 s EVERY 60 s
"""
RATE_BPS, PAYLOAD_BYTES, FLOWS = 2_400_000, 200, 16


class SliceStory:
    TITLE = "Across fifteen routers: milliseconds of traffic, copied where they prove its way"
    STEPS = 5

    def __init__(self, lab, build, show):
        self.lab, self.show = lab, show
        self.network = SliceNetwork(lab, build)
        self.controller = self.network.controller

    def tell(self):
        begin = time.monotonic()
        self.start()
        self.plan()
        self.run()
        self.compare()
        self.clean()
        self.show.line()
        self.show.conclude("controller", time.monotonic() - begin)

    # --- 1 and 2: the scene, and the plan ------------------------------------

    def start(self):
        show = self.show
        show.step("Start the network of Fig. 2 of the paper, a controller and an analyzer")
        show.why("Each router is a bridge of Open vSwitch that routes 1.2.3.0/24 and decrements TTLs; each "
                 "link delays for %d ms and loses %d %% of its packets. The controller drives the bridges "
                 "by OpenFlow; a GRE port of each takes copies to the analyzer, behind a link of its own." %
                 (DELAY_MS, LOSS * 100))
        self.network.start()
        show.why("%d routers, %d links. From A to D there are two shortest ways, over B and over L." % (
            len(self.network.numbers), len(self.network.routers.weights)))

    def plan(self):
        show, controller = self.show, self.controller
        show.step("Ask what the queries of Fig. 2b would cost, and where they copy")
        controller.write("web.slices", QUERIES)
        show.command("trumpetctl slice plan --controller web.slices")
        for line in QUERIES.splitlines():
            show.line("        " + line)
        plan = controller.ask("slice", "plan", "--controller", controller.path("web.slices"))
        for query in plan["queries"]:
            show.why("%s on %s: copy at %s. %s" % (
                query["action"], " ".join(query["path"]), " ".join(query["locations"]),
                _sentence(query["why"])))
        show.why("%d slots of %g ms; the copies never take more than %g Mb/s together." % (
            plan["slots"], plan["slot_ms"], plan["using_bps"] / 1e6))
        self._check_places("the plan has", plan["queries"])

    def _check_places(self, who, queries):
        found = {(query["action"], " ".join(sorted(query["path"])) if query["action"] == "CONFINE"
                  else " ".join(query["path"]), " ".join(sorted(query["locations"])))
                 for query in queries}
        expected = {(action, path, " ".join(sorted(places.split())))
                    for action, path, places in EXPECTED}
        self.show.check(found == expected, who + " the paper's places: key points A B D of A B C D, and "
                        "A L D of A L C D; F H P around the region")

    # --- 3: the runs ---------------------------------------------------------

    def run(self):
        show, controller = self.show, self.controller
        show.step("Send traffic from A to D, and run the campaign; then the same for 4 s")
        controller.write("longer.slices", LONGER)
        arrivals = Arrivals()
        sender = Sender(RATE_BPS, payload_bytes=PAYLOAD_BYTES, flows=FLOWS)
        try:
            self.before = self._links()
            web, self.longer = (self._run(name) for name in ("web", "longer"))
            self.after = self._links()
        finally:
            sender.close()
        let_run(0.1)                    # what is still under way
        arrivals.close()
        self._check_places("the run had", [q for q in web["queries"] if not q["bootstrap"]])
        confined = [query for query in web["queries"] if query["action"] == "CONFINE"]
        show.check(confined and not any(query["packets"] for query in confined),
                   "nothing has left the region A B C D L: not one copy from F, H or P")
        hops = {64 - ttl for ttl, _ in arrivals.seen.values()}
        show.check(hops == {4}, "%s came to D, each over four routers, as the paths have" % many(
            len(arrivals.seen), "packet"))

    def _run(self, name):
        show, controller = self.show, self.controller
        show.command("trumpetctl slice run %s %s.slices --wait" % (name, name))
        run = controller.ask("slice", "run", name, controller.path(name + ".slices"), "--wait")
        show.why("The run is %s: %s of %.0f ms%s, %s copied, %s over the budget." % (
            run["state"], many(run["slots"], "slot"), run["slot_ns"] / 1e6,
            " after %s at a prefix that nobody knew" % many(run["bootstrap_slots"], "first look")
            if run["bootstrap_slots"] else "", many(run["copied_bytes"], "byte"),
            many(run["over_budget"], "slot")))
        show.table(["query", "path", "copied at", ">slots", ">copies", ">bytes"],
                   [[query["action"], " ".join(query["path"]), " ".join(query["locations"]),
                     query["slots"], count(query["packets"]), count(query["bytes"])]
                    for query in run["queries"] if not query["bootstrap"]])
        show.check(run["state"] == "done" and not run["failed_slots"],
                   "it came to its end, and every slice was turned on")
        return run

    def _links(self):
        return {name: way["watched"] for name, way in self.network.routers.links.counts().items()}

    # --- 4: answers beside the emulator --------------------------------------

    def compare(self):
        show = self.show
        show.step("Compare the analyzer's answers with what the links really did")
        analyzers = (self.longer["answers"] or {}).get("analyzers", [])
        if not analyzers:
            show.check(False, "; ".join(["the analyzer gives answers", *self.longer["warnings"]]))
            return
        answer = analyzers[0]
        rows = [self._row(query) for query in answer["queries"]
                if not self.longer["queries"][query["query"]]["bootstrap"]]
        show.table(["path", ">loss told", ">true", "", ">share told", ">true", "", ">delay told", ">true",
                    ""], rows)
        show.why("True is what the link emulator has taken, lost and delayed all the while. The analyzer saw "
                 "some milliseconds of it: behind what it tells stands the interval in which it is sure at "
                 "%g %%, so that a truth beside it is no mistake once in a while (-)." %
                 (answer["confidence"] * 100))
        show.check(len(rows) == 2, "the analyzer has answered for both paths")

    def _way(self, name):
        return {key: self.after[name][key] - self.before[name][key] for key in ("taken", "lost")}

    def _loss(self, path):
        kept = 1.0
        for link in zip(path, path[1:]):
            way = self._way("".join(link))
            kept *= 1 - way["lost"] / max(way["taken"], 1)
        return 1 - kept

    def _share(self, path):
        """Of the packets that leave the first router, those that take this path."""
        taken = {second: self._way(path[0] + second)["taken"] for second in "BL"}
        return taken[path[1]] / max(sum(taken.values()), 1)

    def _row(self, query):
        path = query["path"]
        cells = [" ".join(path)]
        for key, truth in (("loss", self._loss(path)), ("share", self._share(path))):
            told = query[key]
            cells += [_interval(told), "%.1f %%" % (truth * 100), self._beside(
                told and told["low"] <= truth <= told["high"])]
        delay, truth = query["delay"], DELAY_MS * (len(path) - 1)
        cells += ["%.1f ms" % (delay["median_ns"] / 1e6) if delay else "not measured",
                  "%g ms" % truth,
                  self._beside(delay and abs(delay["median_ns"] / 1e6 - truth) <= 1)]
        return cells

    def _beside(self, fits):
        return "" if fits is None else self.show.yes if fits else "-"

    # --- 5: nothing is left --------------------------------------------------

    def clean(self):
        show = self.show
        show.step("Look what is left at the routers")
        self.controller.ctl("slice", "rm", "web", "longer")
        wait_until(lambda: not self.network.flows_of_ours(), "the last flow of a slice to go", 10)
        show.check(not self.network.flows_of_ours(), "no flow of a slice is left at any of %d routers" %
                   len(self.network.numbers))

    def leave_running(self, program):
        """The network and the daemons go on; there is no traffic."""
        show, controller = self.show, self.controller
        show.line()
        show.line("Routers, controller and analyzer go on. Try:")
        show.line("  export %s PATH=%s:$PATH" % (
            " ".join("%s=%s" % (key, controller.env[key]) for key in (
                "TRUMPET_SERVER", "TRUMPET_TOKEN_FILE", "OVS_RUNDIR")),
            controller.trumpetctl.rpartition("/")[0]))
        for text in ("trumpetctl slice list", "trumpetctl slice plan --controller "
                     + controller.path("web.slices"), "trumpetctl topology show"):
            show.line("  " + " ".join(self.lab.inside(controller.namespace, [text])))
        show.line("and in the end")
        show.line("  %s --stop %s" % (program, self.lab.directory))


def _interval(told):
    if not told:
        return "not measured"
    return "%.1f %% (%.1f-%.1f)" % tuple(100 * told[key] for key in ("value", "low", "high"))


def _sentence(text):
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
