// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

TEST(GranularityTable, ReadsFieldsAndPrefixes) {
  CheckTable(R"table(
*, sum(bytes)>1, 5-tuple, 1ms
    => *, sum(bytes) > 1, 5-tuple, 1ms
*, sum(bytes)>1, (5-tuples), 1ms
    => *, sum(bytes) > 1, 5-tuple, 1ms
*, sum(bytes)>1, none, 1ms
    => *, sum(bytes) > 1, 1ms
*, sum(bytes)>1, , 1ms
    => *, sum(bytes) > 1, 1ms
*, sum(bytes)>1, srcIP, 1ms
    => *, sum(bytes) > 1, srcIP, 1ms
*, sum(bytes)>1, srcIP, dstIP, 1ms
    => *, sum(bytes) > 1, srcIP,dstIP, 1ms
*, sum(bytes)>1, srcIP and dstIP and vlan, 1ms
    => *, sum(bytes) > 1, srcIP,dstIP,vlan, 1ms
*, sum(bytes)>1, (srcIP/24, dstIP/0) and dstPort, 1ms
    => *, sum(bytes) > 1, srcIP/24,dstIP/0,dstPort, 1ms
*, sum(bytes)>1, ((srcIP)), 1ms
    => *, sum(bytes) > 1, srcIP, 1ms
*, sum(bytes)>1, srcIP/128, 1ms
    => *, sum(bytes) > 1, srcIP/128, 1ms
*, sum(bytes)>1, srcIP / 64, 1ms
    => *, sum(bytes) > 1, srcIP/64, 1ms
*, sum(bytes)>1, srcMAC/24,dstMAC/48, 1ms
    => *, sum(bytes) > 1, srcMAC/24,dstMAC/48, 1ms
*, sum(bytes)>1, dscp/3,vlan/12,inPort/32, 1ms
    => *, sum(bytes) > 1, dscp/3,vlan/12,inPort/32, 1ms
*, sum(bytes)>1, outer.srcIP,inner.srcIP,srcIP, 1ms
    => *, sum(bytes) > 1, outer.srcIP,inner.srcIP,srcIP, 1ms
*, sum(bytes)>1, ethType,tunnelId,tcpFlags,ecn,ttl,Protocol, 1ms
    => *, sum(bytes) > 1, ethType,tunnelId,tcpFlags,ecn,ttl,Protocol, 1ms
*, sum(bytes)>1, 5-tupel, 1ms
    => event:1:18: '5-tupel' is not a granularity; did you mean '5-tuple'?
*, sum(bytes)>1, 5tuple, 1ms
    => event:1:18: '5tuple' is not a granularity; did you mean '5-tuple'?
*, sum(bytes)>1, 5-tuple, vlan, 1ms
    => event:1:18: '5-tuple' stands alone
*, sum(bytes)>1, vlan, none, 1ms
    => event:1:24: 'none' stands alone
*, sum(bytes)>1, srcip, 1ms
    => event:1:18: 'srcip' is not a packet field; did you mean 'srcIP'?
*, sum(bytes)>1, volume, 1ms
    => event:1:18: 'volume' is not a packet field
*, sum(bytes)>1, srcIP/129, 1ms
    => event:1:24: expected a prefix length from 0 to 128 for srcIP, not '129'
*, sum(bytes)>1, srcMAC/49, 1ms
    => event:1:25: expected a prefix length from 0 to 48 for srcMAC, not '49'
*, sum(bytes)>1, dstPort/17, 1ms
    => event:1:26: expected a prefix length from 0 to 16 for dstPort, not '17'
*, sum(bytes)>1, srcIP/, 1ms
    => event:1:24: expected a prefix length from 0 to 128 for srcIP, not the end of the granularity
*, sum(bytes)>1, srcIP/x, 1ms
    => event:1:24: expected a prefix length from 0 to 128 for srcIP, not 'x'
*, sum(bytes)>1, srcIP/-1, 1ms
    => event:1:24: expected a prefix length from 0 to 128 for srcIP, not '-'
*, sum(bytes)>1, srcIP,srcIP, 1ms
    => event:1:24: 'srcIP' is named twice in the granularity
*, sum(bytes)>1, srcIP/8,dstIP,srcIP/16, 1ms
    => event:1:32: 'srcIP' is named twice in the granularity
*, sum(bytes)>1, srcIP dstIP, 1ms
    => event:1:24: expected ',' or 'and', not 'dstIP'
*, sum(bytes)>1, srcIP or dstIP, 1ms
    => event:1:24: expected ',' or 'and', not 'or'
*, sum(bytes)>1, srcIP and, 1ms
    => event:1:27: expected a packet field, not the end of the granularity
*, sum(bytes)>1, (srcIP, 1ms
    => event:1:18: '(' is never closed
*, sum(bytes)>1, srcIP=10.0.0.1, 1ms
    => event:1:23: expected ',' or 'and', not '='
*, sum(bytes)>1, srcIP,,dstIP, 1ms
    => event:1:24: expected a packet field, not ','
*, sum(bytes)>1, (), 1ms
    => event:1:19: expected a packet field, not ')'
)table");
}

TEST(GranularityTable, ReadsIntervalsOfWholeMilliseconds) {
  CheckTable(R"table(
*, sum(bytes)>1, 10ms
    => *, sum(bytes) > 1, 10ms
*, sum(bytes)>1, 1000us
    => *, sum(bytes) > 1, 1ms
*, sum(bytes)>1, 2000000ns
    => *, sum(bytes) > 1, 2ms
*, sum(bytes)>1, 0.5s
    => *, sum(bytes) > 1, 500ms
*, sum(bytes)>1, 1.001s
    => *, sum(bytes) > 1, 1001ms
*, sum(bytes)>1, 60s
    => *, sum(bytes) > 1, 60s
*, sum(bytes)>1, 86400s
    => *, sum(bytes) > 1, 86400s
*, sum(bytes)>1,
    => event:1:17: the time interval is missing
*, sum(bytes)>1, 5-tuple,
    => event:1:26: the time interval is missing
*, sum(bytes)>1, 10ms,
    => event:1:22: an event ends with its time interval; this ',' is one too many
*, sum(bytes)>1, 5-tuple, 10ms,
    => event:1:31: an event ends with its time interval; this ',' is one too many
*, sum(bytes)>1, 0ms
    => event:1:18: the time interval is '0ms'; it takes whole milliseconds from 1ms to one day (86400s)
*, sum(bytes)>1, 500us
    => event:1:18: the time interval is '500us'; it takes whole milliseconds from 1ms to one day (86400s)
*, sum(bytes)>1, 1.5ms
    => event:1:18: the time interval is '1.5ms'; it takes whole milliseconds from 1ms to one day (86400s)
*, sum(bytes)>1, 86401s
    => event:1:18: the time interval is '86401s'; it takes whole milliseconds from 1ms to one day (86400s)
*, sum(bytes)>1, 10
    => event:1:18: '10' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, 10KB
    => event:1:18: '10KB' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, 10 ms
    => event:1:21: the unit 'ms' must follow its number without a space
*, sum(bytes)>1, 10m
    => event:1:20: 'm' is not a unit of time; there are ns, us, ms and s
*, sum(bytes)>1, 1h
    => event:1:19: 'h' is not a unit of time; there are ns, us, ms and s
*, sum(bytes)>1, 10MS
    => event:1:20: 'MS' is not a unit; did you mean 'ms'?
*, sum(bytes)>1, -10ms
    => event:1:18: '-10ms' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, ten
    => event:1:18: 'ten' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, 5-tuple
    => event:1:18: '5-tuple' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, 10ms 5ms
    => event:1:18: '10ms 5ms' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, 99999999999999999s
    => event:1:18: this number is too large; at most 9223372036854775807 is allowed
*, sum(bytes)>1, 5 tuple
    => event:1:18: '5 tuple' is not a time interval; write it with ns, us, ms or s, as in 10ms
*, sum(bytes)>1, srcIP
    => event:1:18: 'srcIP' is not a time interval; write it with ns, us, ms or s, as in 10ms
)table");
}

TEST(GranularityTable, KeepsRttApartFromFieldsThatChange) {
  CheckTable(R"table(
ttl=5, avg(rtt)>1ms, 1ms
    => event:1:1: 'ttl' cannot be used in an event about rtt, because data and its ACK may differ in it
not (vlan=1 or outer.ecn=0), avg(rtt)>1ms, 1ms
    => event:1:16: 'outer.ecn' cannot be used in an event about rtt, because data and its ACK may differ in it
dscp=*, sum(1 + rtt)>1ms, 1ms
    => event:1:1: 'dscp' cannot be used in an event about rtt, because data and its ACK may differ in it
tcpFlags=+syn, sum(bytes)>1 or count(rtt)>1, 1ms
    => event:1:1: 'tcpFlags' cannot be used in an event about rtt, because data and its ACK may differ in it
*, avg(rtt)>1ms, srcIP,inner.ttl, 1ms
    => event:1:24: 'inner.ttl' cannot be used in an event about rtt, because data and its ACK may differ in it
*, avg(rtt)>1ms, srcIP,vlan, 1ms
    => *, avg(rtt) > 1000000, srcIP,vlan, 1ms
ttl=5, sum(ttl)>1, tcpFlags, 1ms
    => ttl=5, sum(ttl) > 1, tcpFlags, 1ms
)table");
}

}  // namespace
}  // namespace trumpet::event_lang
