// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

TEST(PredicateTable, ReadsVariablesAndAggregates) {
  CheckTable(R"table(
*, sum(packets)>1 and sum(bytes)>1 and sum(volume)>1 and sum(ecn)>1 and sum(ttl)>1, 1ms
    => *, sum(packets) > 1 and sum(bytes) > 1 and sum(volume) > 1 and sum(ecn) > 1 and sum(ttl) > 1, 1ms
*, sum(is_burst)>1 or sum(is_lost)>1 or sum(rwnd)>1 or sum(ack)>1 or sum(seq)>1 or sum(dup)>1, 1ms
    => *, sum(is_burst) > 1 or sum(is_lost) > 1 or sum(rwnd) > 1 or sum(ack) > 1 or sum(seq) > 1 or sum(dup) > 1, 1ms
*, count(rtt)>1 and min(rtt)>1us and max(rtt)<1s and avg(rtt)>1.5ms and stddev(rtt)>1ns, 1ms
    => *, count(rtt) > 1 and min(rtt) > 1000 and max(rtt) < 1000000000 and avg(rtt) > 1500000 and stddev(rtt) > 1, 1ms
*, ack + seq + dup > ack_lastepoch + seq_lastepoch + dup_lastepoch, 5-tuple, 1ms
    => *, ack + seq + dup > ack_lastepoch + seq_lastepoch + dup_lastepoch, 5-tuple, 1ms
*, sum(volume > 1000), 1ms
    => *, sum(volume > 1000), 1ms
*, count(1), 1ms
    => *, count(1), 1ms
*, 1, 1ms
    => *, 1, 1ms
*, sum(3 * volume + 1) > 2, 1ms
    => *, sum(3 * volume + 1) > 2, 1ms
*, sum(not ecn) > 2, 1ms
    => *, sum(not ecn) > 2, 1ms
*, sum(ecn = 1 and ttl < 5) > 2, 1ms
    => *, sum(ecn = 1 and ttl < 5) > 2, 1ms
*, sum((volume)) > 2, 1ms
    => *, sum(volume) > 2, 1ms
)table");
}

TEST(PredicateTable, BindsAsTheContractSays) {
  CheckTable(R"table(
*, 1 + 2 * 3 - 4 / 5 > 6, 1ms
    => *, 1 + 2 * 3 - 4 / 5 > 6, 1ms
*, (1 + 2) * (3 - 4) / 5 > 6, 1ms
    => *, (1 + 2) * (3 - 4) / 5 > 6, 1ms
*, 1 - (2 - 3) > 6, 1ms
    => *, 1 - (2 - 3) > 6, 1ms
*, (1 - 2) - 3 > 6, 1ms
    => *, 1 - 2 - 3 > 6, 1ms
*, 1 / (2 * 3) > 6, 1ms
    => *, 1 / (2 * 3) > 6, 1ms
*, 8 % 5 * 2 > 6, 1ms
    => *, 8 % 5 * 2 > 6, 1ms
*, 8 % (5 * 2) > 6, 1ms
    => *, 8 % (5 * 2) > 6, 1ms
*, - 1 - - 1 > 0, 1ms
    => *, -1 - -1 > 0, 1ms
*, -(1 + 2) > 0, 1ms
    => *, -(1 + 2) > 0, 1ms
*, -sum(bytes) * 2 < 0, 1ms
    => *, -sum(bytes) * 2 < 0, 1ms
*, not 1 > 2, 1ms
    => *, not 1 > 2, 1ms
*, not (1 > 2) and 3 > 4, 1ms
    => *, not 1 > 2 and 3 > 4, 1ms
*, not (1 > 2 and 3 > 4), 1ms
    => *, not (1 > 2 and 3 > 4), 1ms
*, (not 1) > 2, 1ms
    => *, (not 1) > 2, 1ms
*, not not 1, 1ms
    => *, not not 1, 1ms
*, 1 > 2 or 3 > 4 and 5 > 6, 1ms
    => *, 1 > 2 or 3 > 4 and 5 > 6, 1ms
*, (1 > 2 or 3 > 4) and 5 > 6, 1ms
    => *, (1 > 2 or 3 > 4) and 5 > 6, 1ms
*, 1 > 2 | 3 > 4 & 5 > 6, 1ms
    => *, 1 > 2 or 3 > 4 and 5 > 6, 1ms
*, 1 or (2 or 3), 1ms
    => *, 1 or (2 or 3), 1ms
*, (1 or 2) or 3, 1ms
    => *, 1 or 2 or 3, 1ms
*, 1 and (2 and 3), 1ms
    => *, 1 and (2 and 3), 1ms
*, (1 > 2) > 3, 1ms
    => *, (1 > 2) > 3, 1ms
*, 1 == 2, 1ms
    => *, 1 = 2, 1ms
*, 1 = 2, 1ms
    => *, 1 = 2, 1ms
*, 1 != 2, 1ms
    => *, 1 != 2, 1ms
*, 1 >= 2 or 1 <= 2 or 1 < 2, 1ms
    => *, 1 >= 2 or 1 <= 2 or 1 < 2, 1ms
)table");
}

TEST(PredicateTable, LowersUnitsPercentagesAndRates) {
  CheckTable(R"table(
*, sum(bytes) > 1KB, 1ms
    => *, sum(bytes) > 1000, 1ms
*, sum(bytes) > 1MB, 1ms
    => *, sum(bytes) > 1000000, 1ms
*, sum(bytes) > 1GB, 1ms
    => *, sum(bytes) > 1000000000, 1ms
*, sum(bytes) > 1KiB, 1ms
    => *, sum(bytes) > 1024, 1ms
*, sum(bytes) > 1MiB, 1ms
    => *, sum(bytes) > 1048576, 1ms
*, sum(bytes) > 1GiB, 1ms
    => *, sum(bytes) > 1073741824, 1ms
*, sum(bytes) > 1.5KB, 1ms
    => *, sum(bytes) > 1500, 1ms
*, sum(bytes) > 0.0005KB, 1ms
    => *, sum(bytes) > 0.5, 1ms
*, sum(bytes) > 1.1KiB, 1ms
    => *, sum(bytes) > 1126.4, 1ms
*, sum(bytes) > 007, 1ms
    => *, sum(bytes) > 7, 1ms
*, sum(bytes) > 1.0, 1ms
    => *, sum(bytes) > 1, 1ms
*, sum(bytes) > 0.10, 1ms
    => *, sum(bytes) > 0.1, 1ms
*, sum(bytes) > 0.1000000000000000055511151231, 1ms
    => event:1:17: this number has too many digits; 24 are allowed
*, sum(bytes) > 0.00000000001, 1ms
    => *, sum(bytes) > 0.00000000001, 1ms
*, sum(bytes) > 9223372036854775807, 1ms
    => *, sum(bytes) > 9223372036854775807, 1ms
*, sum(bytes) > 12345678901234567.5, 1ms
    => *, sum(bytes) > 12345678901234568, 1ms
*, sum(rtt) > 1ns + 1us + 1ms + 1s, 1ms
    => *, sum(rtt) > 1 + 1000 + 1000000 + 1000000000, 1ms
*, sum(is_lost) > 10%, 1ms
    => *, sum(is_lost) / sum(packets) > 0.1, 1ms
*, 10% < sum(is_lost), 1ms
    => *, 0.1 < sum(is_lost) / sum(packets), 1ms
*, sum(is_lost) >= (2.5 %), 1ms
    => *, sum(is_lost) / sum(packets) >= 0.025, 1ms
*, (sum(is_lost)) > 100%, 1ms
    => *, sum(is_lost) / sum(packets) > 100%, 1ms
*, sum(is_lost) > 0%, 1ms
    => *, sum(is_lost) / sum(packets) > 0%, 1ms
*, sum(is_lost) > 10% and sum(bytes) > 3, 1ms
    => *, sum(is_lost) / sum(packets) > 0.1 and sum(bytes) > 3, 1ms
*, sum(is_lost) > 10% or 1, 1ms
    => *, sum(is_lost) / sum(packets) > 0.1 or 1, 1ms
*, sum(is_lost) > 10% + 0, 1ms
    => *, sum(is_lost) > 0.1 + 0, 1ms
*, sum(is_lost) > -10%, 1ms
    => *, sum(is_lost) > -0.1, 1ms
*, sum(is_lost) + 0 > 10%, 1ms
    => *, sum(is_lost) + 0 > 0.1, 1ms
*, count(is_lost) > 10%, 1ms
    => *, count(is_lost) > 0.1, 1ms
*, avg(is_lost) > 10%, 1ms
    => *, avg(is_lost) > 0.1, 1ms
*, sum(is_lost) > sum(packets) * 10%, 1ms
    => *, sum(is_lost) > sum(packets) * 0.1, 1ms
*, 10 % 3 > 0, 1ms
    => *, 10 % 3 > 0, 1ms
*, 10%3 > 0, 1ms
    => *, 10 % 3 > 0, 1ms
*, sum(bytes) % 10 > 10%, 1ms
    => *, sum(bytes) % 10 > 0.1, 1ms
*, 10%(3) > 0, 1ms
    => *, 10 % 3 > 0, 1ms
*, 10%sum(bytes) > 0, 1ms
    => *, 10 % sum(bytes) > 0, 1ms
*, 10%-3 > 0, 1ms
    => *, 0.1 - 3 > 0, 1ms
*, 10 % (-3) > 0, 1ms
    => *, 10 % (-3) > 0, 1ms
*, 100% % 3 > 0, 1ms
    => *, 100% % 3 > 0, 1ms
*, 10 % 3% > 0, 1ms
    => *, 10 % 0.03 > 0, 1ms
*, sum(volume) > 1Gbps, 5-tuple, 10ms
    => *, sum(volume) * 8000 / 10 > 1000000000, 5-tuple, 10ms
*, sum(packets) > 100pps, 10ms
    => *, sum(packets) * 1000 / 10 > 100, 10ms
*, 5Mbps <= sum(bytes), 1s
    => *, 5000000 <= sum(bytes) * 8000 / 1000, 1s
*, sum(bytes) > 1bps or sum(bytes) > 1kbps or sum(bytes) > 1Kbps or sum(bytes) > 1Mbps, 1ms
    => *, sum(bytes) * 8000 / 1 > 1 or sum(bytes) * 8000 / 1 > 1000 or sum(bytes) * 8000 / 1 > 1000 or sum(bytes) * 8000 / 1 > 1000000, 1ms
*, sum(packets) > 1.5kpps or sum(packets) > 1Kpps or sum(packets) > 1Mpps or sum(packets) > 1Gpps, 1ms
    => *, sum(packets) * 1000 / 1 > 1500 or sum(packets) * 1000 / 1 > 1000 or sum(packets) * 1000 / 1 > 1000000 or sum(packets) * 1000 / 1 > 1000000000, 1ms
*, sum(bytes) + 1 > (0.5bps), 3ms
    => *, (sum(bytes) + 1) * 8000 / 3 > 0.5, 3ms
*, sum(bytes) - sum(volume) > 10bps, 1500ms
    => *, (sum(bytes) - sum(volume)) * 8000 / 1500 > 10, 1500ms
*, sum(volume > 1kpps) > 3, 10ms
    => *, sum(volume * 1000 / 10 > 1000) > 3, 10ms
*, 10% > 5pps, 10ms
    => *, 0.1 * 1000 / 10 > 5, 10ms
)table");
}

TEST(PredicateTable, JoinsAdjacentLostAndBurst) {
  CheckTable(R"table(
*, sum(is_lost and is_burst) > 1, 1ms
    => *, sum(is_lost & is_burst) > 1, 1ms
*, sum(is_burst & is_lost) > 1, 1ms
    => *, sum(is_lost & is_burst) > 1, 1ms
*, sum((is_lost) & (is_burst)) > 1, 1ms
    => *, sum(is_lost & is_burst) > 1, 1ms
*, sum(is_lost & is_burst & packets) > 1, 1ms
    => *, sum((is_lost & is_burst) and packets) > 1, 1ms
*, sum(packets & is_lost & is_burst) > 1, 1ms
    => *, sum(packets and (is_lost & is_burst)) > 1, 1ms
*, sum(is_lost & packets & is_burst) > 1, 1ms
    => *, sum(is_lost and packets and is_burst) > 1, 1ms
*, sum(is_lost & is_burst & is_lost) > 1, 1ms
    => *, sum((is_lost & is_burst) and is_lost) > 1, 1ms
*, sum(is_lost & is_burst & is_lost & is_burst) > 1, 1ms
    => *, sum((is_lost & is_burst) and (is_lost & is_burst)) > 1, 1ms
*, sum(is_lost & (is_burst & packets)) > 1, 1ms
    => *, sum(is_lost and (is_burst and packets)) > 1, 1ms
*, sum((packets & is_lost) & is_burst) > 1, 1ms
    => *, sum((packets and is_lost) and is_burst) > 1, 1ms
*, sum(is_lost & (is_lost & is_burst)) > 1, 1ms
    => *, sum(is_lost and (is_lost & is_burst)) > 1, 1ms
*, sum(not is_lost & is_burst) > 1, 1ms
    => *, sum(not is_lost and is_burst) > 1, 1ms
*, sum(not (is_lost & is_burst)) > 1, 1ms
    => *, sum(not (is_lost & is_burst)) > 1, 1ms
*, sum(is_lost | is_burst) > 1, 1ms
    => *, sum(is_lost or is_burst) > 1, 1ms
*, sum(is_lost & is_burst | is_lost) > 1, 1ms
    => *, sum(is_lost & is_burst or is_lost) > 1, 1ms
*, sum((is_lost & is_burst) = 1) > 1, 1ms
    => *, sum((is_lost & is_burst) = 1) > 1, 1ms
*, sum(-(is_lost & is_burst) * 2) > 1, 1ms
    => *, sum(-(is_lost & is_burst) * 2) > 1, 1ms
)table");
}

TEST(PredicateTable, PointsAtMistakes) {
  CheckTable(R"table(
*, , 1ms
    => event:1:4: the predicate is missing
*, sum(bytez) > 125KB, 1ms
    => event:1:8: 'bytez' is not a packet variable; did you mean 'bytes'?
*, summ(bytes) > 1, 1ms
    => event:1:4: 'summ' is not an aggregate; did you mean 'sum'?
*, foo(bytes) > 1, 1ms
    => event:1:4: 'foo' is not an aggregate
*, sum > 1, 1ms
    => event:1:4: 'sum' needs an operand in parentheses, as in sum(volume)
*, sum() > 1, 1ms
    => event:1:8: 'sum' needs an operand; sum(packets) is about every packet
*, count(*) > 1, 1ms
    => event:1:10: 'count' needs an operand; count(packets) is about every packet
*, sum(bytes > 1, 1ms
    => event:1:7: '(' is never closed
*, sum(bytes)) > 1, 1ms
    => event:1:14: ')' closes nothing
*, sum(bytes, packets) > 1, 1ms
    => event:1:13: expected an operator, not ','
*, sum bytes > 1, 1ms
    => event:1:4: 'sum' needs an operand in parentheses, as in sum(volume)
*, sum(srcPort) > 1, 1ms
    => event:1:8: 'srcPort' is a packet field, which stands in filters and granularities; it is not a packet variable
*, volume > 1, 1ms
    => event:1:4: 'volume' is a value of one packet; outside an aggregate write, say, sum(volume)
*, is_lost > 1, 5-tuple, 1ms
    => event:1:4: 'is_lost' is a value of one packet; outside an aggregate write, say, sum(is_lost)
*, rtt > 1, 5-tuple, 1ms
    => event:1:4: 'rtt' is a value of one packet; outside an aggregate write, say, sum(rtt)
*, ack > 1, 1ms
    => event:1:4: 'ack' outside an aggregate needs the granularity 5-tuple
*, seq > 1, srcIP,dstIP,srcPort,dstPort,Protocol, 1ms
    => event:1:4: 'seq' outside an aggregate needs the granularity 5-tuple
*, dup_lastepoch > 1, dstIP, 1ms
    => event:1:4: 'dup_lastepoch' outside an aggregate needs the granularity 5-tuple
*, sum(ack_lastepoch) > 1, 5-tuple, 1ms
    => event:1:8: 'ack_lastepoch' stands only outside aggregates
*, sum(max(bytes)) > 1, 1ms
    => event:1:8: aggregates do not nest; 'max' stands inside another one
*, sum(1 + count(bytes)) > 1, 1ms
    => event:1:12: aggregates do not nest; 'count' stands inside another one
*, sum(bytes) > 1 > 2, 1ms
    => event:1:19: comparisons do not chain; join two of them by 'and'
*, sum(bytes) = 1 = 2, 1ms
    => event:1:19: comparisons do not chain; join two of them by 'and'
*, sum(bytes) >, 1ms
    => event:1:16: expected a number, a variable or an aggregate, not the end of the predicate
*, > 1, 1ms
    => event:1:4: expected a number, a variable or an aggregate, not '>'
*, sum(bytes) > not 1, 1ms
    => event:1:17: expected a number, a variable or an aggregate, not 'not'
*, 1 + not 2, 1ms
    => event:1:8: expected a number, a variable or an aggregate, not 'not'
*, sum(bytes) > 1 and, 1ms
    => event:1:22: expected a number, a variable or an aggregate, not the end of the predicate
*, sum(bytes) > 1 && 2, 1ms
    => event:1:20: '&&' is not an operator; write '&'
*, sum(bytes) > 1 || 2, 1ms
    => event:1:20: '||' is not an operator; write '|'
*, !sum(bytes), 1ms
    => event:1:4: '!' is not an operator here; write 'not'
*, sum(bytes) <> 1, 1ms
    => event:1:16: expected a number, a variable or an aggregate, not '>'
*, sum(bytes) > 1 2, 1ms
    => event:1:19: expected an operator, not '2'
*, sum(bytes) > 1XB, 1ms
    => event:1:18: 'XB' is not a unit; there are KB MB GB, KiB MiB GiB, ns us ms s, and bps and pps, alone or with k M G
*, sum(bytes) > 1kB, 1ms
    => event:1:18: 'kB' is not a unit; did you mean 'KB'?
*, sum(bytes) > 125 KB, 1ms
    => event:1:21: the unit 'KB' must follow its number without a space
*, sum(bytes) > 1e9, 1ms
    => event:1:18: 'e9' is not a unit; there are KB MB GB, KiB MiB GiB, ns us ms s, and bps and pps, alone or with k M G
*, sum(bytes) > 1TB, 1ms
    => event:1:18: 'TB' is not a unit; there are KB MB GB, KiB MiB GiB, ns us ms s, and bps and pps, alone or with k M G
*, sum(bytes) > 1mbps, 1ms
    => event:1:18: 'mbps' is not a unit; did you mean 'Mbps'?
*, sum(bytes) > .5, 1ms
    => event:1:17: a number begins with a digit; write 0.5, not .5
*, sum(bytes) > 1., 1ms
    => event:1:18: a digit must follow the decimal point
*, sum(bytes) > 9223372036854775808, 1ms
    => event:1:17: this number is too large; at most 9223372036854775807 is allowed
*, sum(bytes) > 1234567890123456789012345, 1ms
    => event:1:17: this number has too many digits; 24 are allowed
*, sum(bytes) > 0.0000000000000000000000000000000000001, 1ms
    => event:1:17: this number is too small; 0 or at least 1e-30 is allowed
*, sum(bytes)% > 1, 1ms
    => event:1:14: '%' is modulo before a number, a name or '('; a percentage is a plain number with '%' after it
*, (10)% > 1, 1ms
    => event:1:8: '%' is modulo before a number, a name or '('; a percentage is a plain number with '%' after it
*, 10KB% > 1, 1ms
    => event:1:8: a percentage has no other unit
*, sum(bytes) > 9000000000000000000%, 1ms
    => event:1:17: this percentage is too large; at most 1000000000000000% is allowed
*, sum(bytes) > 1Mbps + 1, 1ms
    => event:1:17: the rate '1Mbps' must be a whole side of a comparison
*, sum(bytes) > -1Mbps, 1ms
    => event:1:18: the rate '1Mbps' must be a whole side of a comparison
*, 1Mbps, 1ms
    => event:1:4: the rate '1Mbps' must be a whole side of a comparison
*, 1Mbps > 1pps, 1ms
    => event:1:12: this comparison has a rate on both sides
*, sum(1Mbps) > 1, 1ms
    => event:1:8: the rate '1Mbps' must be a whole side of a comparison
*, 1Mbps and 1, 1ms
    => event:1:4: the rate '1Mbps' must be a whole side of a comparison
*, not 1Mbps, 1ms
    => event:1:8: the rate '1Mbps' must be a whole side of a comparison
*, sum(bytes) > "1", 1ms
    => event:1:17: expected a number, a variable or an aggregate, not '"1"'
*, sum(bytes) > $x, 1ms
    => event:1:17: unexpected character '$'
)table");
}

}  // namespace
}  // namespace trumpet::event_lang
