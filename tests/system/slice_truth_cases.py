# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""What campaigns tell of a network of routers, against what is true there; run with cases.py."""

import json
import random

from routers import Sender
from slice_cases import slices_on

LOSS_OF_A_LINK = 0.02
FLOWS = 16
QUERIES = """MIRROR { 1.2.3.0/24 } ON { [A -> D] }
USING 60 Mb/s DURING 4 s EVERY 60 s
"""


def told_of_paths(told):
    """{"ABCD": the answer}"""
    assert told["state"] == "done" and told["failed_slots"] == 0, told
    analyzer, = told["answers"]["analyzers"]
    bootstraps = {n for n, query in enumerate(told["queries"]) if query["bootstrap"]}
    return {"".join(query["path"]): query for query in analyzer["queries"]
            if query["query"] not in bootstraps}


def losses_and_shares_are_told_truly(switch):
    seed = random.randrange(1 << 30)
    with slices_on(switch, shortest_slice_ms=200, loss=LOSS_OF_A_LINK, seed=seed) as network:
        sender = Sender(2_400_000, payload_bytes=200, flows=FLOWS)
        try:
            told = network.run("truth", QUERIES, "--wait")
        finally:
            sender.close()
        counts = network.routers.links.counts()
        by_b, by_l = (counts[way]["watched"]["taken"] for way in ("AB", "AL"))
        loss = 1 - (1 - LOSS_OF_A_LINK) ** 3
        paths = told_of_paths(told)
        assert set(paths) == {"ABCD", "ALCD"}, paths
        lost = sum(way["watched"]["lost"] for way in counts.values()) / (by_b + by_l)
        notes = [f"seed {seed}, {lost:.3f} lost"]
        for path, truth in (("ABCD", by_b / (by_b + by_l)), ("ALCD", by_l / (by_b + by_l))):
            query = paths[path]
            told_loss, share, copies = query["loss"], query["share"], query["copy_loss"]
            notes.append(f"{path}: {query['packets']['at_ingress']} judged, loss "
                         f"{told_loss['value']:.3f} ({told_loss['low']:.3f}-{told_loss['high']:.3f}), "
                         f"share {share['value']:.3f} of {truth:.3f}, copies {copies['value']:.4f}")
            assert query["packets"]["at_ingress"] > 1000, query
            # Twice as wide as the interval that holds the truth in 95 of 100 cases.
            low, high = (2 * told_loss[end] - told_loss["value"] for end in ("low", "high"))
            assert low <= loss <= high and high - low < 0.1, (told_loss, loss)
            assert copies["value"] < 0.01, query
            assert abs(share["value"] - truth) <= 0.05, (share, truth)
        return "; ".join(notes)


ALL = [losses_and_shares_are_told_truly]
