// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

TEST(EventLineTable, AcceptsTheSixLinesOfThePaperAsPrinted) {
  CheckTable(R"table(
dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuples, 10ms
    => dstIP=10.0.128.0/24, sum(volume) > 125000, 5-tuple, 10ms
srcIP=10.0.128.0/24, sum(is_lost & is_burst)>10%, 5-tuples, 10ms
    => srcIP=10.0.128.0/24, sum(is_lost & is_burst) / sum(packets) > 0.1, 5-tuple, 10ms
Protocol=TCP, 1 - (ack - ack_lastepoch + dup) / (seq_lastepoch - ack_lastepoch) >0.5, 5-tuples, 10ms
    => Protocol=TCP, 1 - (ack - ack_lastepoch + dup) / (seq_lastepoch - ack_lastepoch) > 0.5, 5-tuple, 10ms
(dstIP=10.0.128.0/24 and dstPort=80), sum(volume)>100MB, dstIP/24, 10ms
    => dstIP=10.0.128.0/24 and dstPort=80, sum(volume) > 100000000, dstIP/24, 10ms
(srcIP=10.0.128.0/24 and dstIP=10.20.93.0/24), sum(is_lost)>100, (srcIP and dstIP), 10ms
    => srcIP=10.0.128.0/24 and dstIP=10.20.93.0/24, sum(is_lost) > 100, srcIP,dstIP, 10ms
srcIP=10.0.128.0/20, sum(volume)>10GB, (dstIP/24 and srcIP/24), 1s
    => srcIP=10.0.128.0/20, sum(volume) > 10000000000, dstIP/24,srcIP/24, 1s
)table");
}

TEST(EventLineTable, WantsThreePartsAtLeast) {
  CheckTable(R"table(
*
    => event:1:2: an event is 'filter, predicate, granularity, interval'; this one has only one part
*, sum(bytes)>1
    => event:1:16: an event is 'filter, predicate, granularity, interval'; this one has only two parts
dstIP=10.0.128.0/24 sum(volume)>125KB 5-tuple 10ms
    => event:1:51: an event is 'filter, predicate, granularity, interval'; this one has only one part
dstIP=10.0.128.0/24, sum(volume)>125KB, 5-tuple, 10ms, for 3
    => event:1:50: '10ms' is not a packet field
)table");
}

}  // namespace
}  // namespace trumpet::event_lang
