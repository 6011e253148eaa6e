# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A network of routers; run with the cases of cases.py."""

import contextlib

from routers import Arrivals, Routers, Sender
from switch import eventually


@contextlib.contextmanager
def routers_of(switch, **options):
    routers = Routers(switch, f"{switch.paths['BUILD']}/tests/support/link_emulator", **options)
    try:
        yield routers
    finally:
        routers.close()


def packets_cross_the_network_of_the_paper(switch):
    with routers_of(switch, delay_ms=5, loss=0.01) as routers:
        arrivals = Arrivals()
        sender = Sender(5_000_000, flows=64, count=2000)
        sender.join()

        def lost_on_links():
            return sum(way["watched"]["lost"] for way in routers.links.counts().values())

        eventually(lambda: len(arrivals.seen) + lost_on_links() == 2000,
                   "each packet arrives or is lost on a link")
        sender.close()
        arrivals.close()
        counts, lost = routers.links.counts(), lost_on_links()
        # A-B-C-D or A-L-C-D: four routers, three links.
        assert {ttl for ttl, _ in arrivals.seen.values()} == {60}
        by_b, by_l = (counts[way]["watched"]["taken"] for way in ("AB", "AL"))
        assert by_b + by_l == 2000 and min(by_b, by_l) > 500, (by_b, by_l)
        assert min(at - sender.sent[n] for n, (_, at) in arrivals.seen.items()) >= 0.015
        return f"{lost} of 2000 lost; {by_b} over B, {by_l} over L"


ALL = [packets_cross_the_network_of_the_paper]
