// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

TEST(FilterTable, ReadsFieldsAndValues) {
  CheckTable(R"table(
*, sum(bytes)>1, 1ms
    => *, sum(bytes) > 1, 1ms
srcIP=10.0.0.1, sum(bytes)>1, 1ms
    => srcIP=10.0.0.1, sum(bytes) > 1, 1ms
dstIP=2001:DB8::1, sum(bytes)>1, 1ms
    => dstIP=2001:db8::1, sum(bytes) > 1, 1ms
srcIP=::/0, sum(bytes)>1, 1ms
    => srcIP=::/0, sum(bytes) > 1, 1ms
srcIP=0.0.0.0/0, sum(bytes)>1, 1ms
    => srcIP=0.0.0.0/0, sum(bytes) > 1, 1ms
srcIP=10.1.2.3/8, sum(bytes)>1, 1ms
    => srcIP=10.0.0.0/8, sum(bytes) > 1, 1ms
srcIP=10.1.2.3/32, sum(bytes)>1, 1ms
    => srcIP=10.1.2.3, sum(bytes) > 1, 1ms
srcIP=2001:db8::ffff/64, sum(bytes)>1, 1ms
    => srcIP=2001:db8::/64, sum(bytes) > 1, 1ms
srcIP=::ffff:10.0.0.1, sum(bytes)>1, 1ms
    => srcIP=::ffff:10.0.0.1, sum(bytes) > 1, 1ms
srcIP=10.0.0.1-10.0.0.9, sum(bytes)>1, 1ms
    => srcIP=10.0.0.1-10.0.0.9, sum(bytes) > 1, 1ms
srcIP=10.0.0.0-10.0.0.255, sum(bytes)>1, 1ms
    => srcIP=10.0.0.0/24, sum(bytes) > 1, 1ms
srcIP=fe80::1-fe80::9, sum(bytes)>1, 1ms
    => srcIP=fe80::1-fe80::9, sum(bytes) > 1, 1ms
srcIP={10.0.0.1,2001:db8::/32,10.0.0.3-10.0.0.7}, sum(bytes)>1, 1ms
    => srcIP={10.0.0.1,2001:db8::/32,10.0.0.3-10.0.0.7}, sum(bytes) > 1, 1ms
srcIP={ 10.0.0.1 }, sum(bytes)>1, 1ms
    => srcIP=10.0.0.1, sum(bytes) > 1, 1ms
srcIP=*, sum(bytes)>1, 1ms
    => srcIP=*, sum(bytes) > 1, 1ms
srcIP = 10.0.0.1 / 24, sum(bytes)>1, 1ms
    => srcIP=10.0.0.0/24, sum(bytes) > 1, 1ms
srcPort=0, sum(bytes)>1, 1ms
    => srcPort=0, sum(bytes) > 1, 1ms
srcPort=65535, sum(bytes)>1, 1ms
    => srcPort=65535, sum(bytes) > 1, 1ms
dstPort=1024-65535, sum(bytes)>1, 1ms
    => dstPort=1024-65535, sum(bytes) > 1, 1ms
dstPort={80,443,8000-8099}, sum(bytes)>1, 1ms
    => dstPort={80,443,8000-8099}, sum(bytes) > 1, 1ms
dstPort=0x50, sum(bytes)>1, 1ms
    => dstPort=80, sum(bytes) > 1, 1ms
dstPort=1024/6, sum(bytes)>1, 1ms
    => dstPort=1024-2047, sum(bytes) > 1, 1ms
dstPort=80/16, sum(bytes)>1, 1ms
    => dstPort=80, sum(bytes) > 1, 1ms
port:80, sum(bytes)>1, 1ms
    => dstPort=80, sum(bytes) > 1, 1ms
port: 80, sum(bytes)>1, 1ms
    => dstPort=80, sum(bytes) > 1, 1ms
port:{80,443}, sum(bytes)>1, 1ms
    => dstPort={80,443}, sum(bytes) > 1, 1ms
port:80-90 and Protocol=TCP, sum(bytes)>1, 1ms
    => dstPort=80-90 and Protocol=TCP, sum(bytes) > 1, 1ms
port:*, sum(bytes)>1, 1ms
    => dstPort=*, sum(bytes) > 1, 1ms
Protocol=TCP, sum(bytes)>1, 1ms
    => Protocol=TCP, sum(bytes) > 1, 1ms
Protocol=17, sum(bytes)>1, 1ms
    => Protocol=UDP, sum(bytes) > 1, 1ms
Protocol={TCP,UDP,ICMP,ICMPv6,SCTP}, sum(bytes)>1, 1ms
    => Protocol={TCP,UDP,ICMP,ICMPv6,SCTP}, sum(bytes) > 1, 1ms
Protocol=255, sum(bytes)>1, 1ms
    => Protocol=255, sum(bytes) > 1, 1ms
Protocol=6-17, sum(bytes)>1, 1ms
    => Protocol=TCP-UDP, sum(bytes) > 1, 1ms
srcMAC=02:00:00:00:00:0A, sum(bytes)>1, 1ms
    => srcMAC=02:00:00:00:00:0a, sum(bytes) > 1, 1ms
dstMAC=01:00:5e:00:00:00/25, sum(bytes)>1, 1ms
    => dstMAC=01:00:5e:00:00:00/25, sum(bytes) > 1, 1ms
dstMAC=ff:ff:ff:ff:ff:ff, sum(bytes)>1, 1ms
    => dstMAC=ff:ff:ff:ff:ff:ff, sum(bytes) > 1, 1ms
srcMAC=02:00:00:00:00:01-02:00:00:00:00:09, sum(bytes)>1, 1ms
    => srcMAC=02:00:00:00:00:01-02:00:00:00:00:09, sum(bytes) > 1, 1ms
ethType=0x0800, sum(bytes)>1, 1ms
    => ethType=0x0800, sum(bytes) > 1, 1ms
ethType=2054, sum(bytes)>1, 1ms
    => ethType=0x0806, sum(bytes) > 1, 1ms
ethType={0x86dd,0x0800-0x0806}, sum(bytes)>1, 1ms
    => ethType={0x86dd,0x0800-0x0806}, sum(bytes) > 1, 1ms
vlan=0, sum(bytes)>1, 1ms
    => vlan=0, sum(bytes) > 1, 1ms
vlan=4095, sum(bytes)>1, 1ms
    => vlan=4095, sum(bytes) > 1, 1ms
not vlan=*, sum(bytes)>1, 1ms
    => not vlan=*, sum(bytes) > 1, 1ms
dscp=46, sum(bytes)>1, 1ms
    => dscp=46, sum(bytes) > 1, 1ms
dscp=32/3, sum(bytes)>1, 1ms
    => dscp=32-39, sum(bytes) > 1, 1ms
ecn=3, sum(bytes)>1, 1ms
    => ecn=3, sum(bytes) > 1, 1ms
ttl=0-5, sum(bytes)>1, 1ms
    => ttl=0-5, sum(bytes) > 1, 1ms
tcpFlags=0x12, sum(bytes)>1, 1ms
    => tcpFlags=18, sum(bytes) > 1, 1ms
tcpFlags=4095, sum(bytes)>1, 1ms
    => tcpFlags=4095, sum(bytes) > 1, 1ms
tcpFlags=+syn-ack, sum(bytes)>1, 1ms
    => tcpFlags=+syn-ack, sum(bytes) > 1, 1ms
tcpFlags=-ack +syn, sum(bytes)>1, 1ms
    => tcpFlags=+syn-ack, sum(bytes) > 1, 1ms
tcpFlags=+fin+syn+rst+psh+ack+urg+ece+cwr+ns, sum(bytes)>1, 1ms
    => tcpFlags=+fin+syn+rst+psh+ack+urg+ece+cwr+ns, sum(bytes) > 1, 1ms
inPort=4294967295, sum(bytes)>1, 1ms
    => inPort=4294967295, sum(bytes) > 1, 1ms
tunnelId=5000, sum(bytes)>1, 1ms
    => tunnelId=5000, sum(bytes) > 1, 1ms
outer.srcIP=10.0.0.1, sum(bytes)>1, 1ms
    => outer.srcIP=10.0.0.1, sum(bytes) > 1, 1ms
inner.vlan=5 and outer.vlan=6, sum(bytes)>1, 1ms
    => inner.vlan=5 and outer.vlan=6, sum(bytes) > 1, 1ms
inner.srcIP=*, sum(bytes)>1, 1ms
    => inner.srcIP=*, sum(bytes) > 1, 1ms
)table");
}

TEST(FilterTable, BindsNotThenAndThenOr) {
  CheckTable(R"table(
vlan=1 and vlan=2 or vlan=3, sum(bytes)>1, 1ms
    => vlan=1 and vlan=2 or vlan=3, sum(bytes) > 1, 1ms
vlan=1 or vlan=2 and vlan=3, sum(bytes)>1, 1ms
    => vlan=1 or vlan=2 and vlan=3, sum(bytes) > 1, 1ms
(vlan=1 or vlan=2) and vlan=3, sum(bytes)>1, 1ms
    => (vlan=1 or vlan=2) and vlan=3, sum(bytes) > 1, 1ms
not vlan=1 and vlan=2, sum(bytes)>1, 1ms
    => not vlan=1 and vlan=2, sum(bytes) > 1, 1ms
not (vlan=1 and vlan=2), sum(bytes)>1, 1ms
    => not (vlan=1 and vlan=2), sum(bytes) > 1, 1ms
not not vlan=1, sum(bytes)>1, 1ms
    => not not vlan=1, sum(bytes) > 1, 1ms
not (not vlan=1), sum(bytes)>1, 1ms
    => not not vlan=1, sum(bytes) > 1, 1ms
not *, sum(bytes)>1, 1ms
    => not *, sum(bytes) > 1, 1ms
* and vlan=1, sum(bytes)>1, 1ms
    => * and vlan=1, sum(bytes) > 1, 1ms
((vlan=1)), sum(bytes)>1, 1ms
    => vlan=1, sum(bytes) > 1, 1ms
vlan=1 and (vlan=2 and vlan=3), sum(bytes)>1, 1ms
    => vlan=1 and vlan=2 and vlan=3, sum(bytes) > 1, 1ms
vlan=1 or (vlan=2 or (vlan=3 or vlan=4)), sum(bytes)>1, 1ms
    => vlan=1 or vlan=2 or vlan=3 or vlan=4, sum(bytes) > 1, 1ms
vlan={1,2} or port:3, sum(bytes)>1, 1ms
    => vlan={1,2} or dstPort=3, sum(bytes) > 1, 1ms
)table");
}

TEST(FilterTable, PointsAtMistakes) {
  CheckTable(R"table(
, sum(bytes)>1, 1ms
    => event:1:1: the filter is missing; '*' stands for every packet
srcIp=10.0.0.1, sum(bytes)>1, 1ms
    => event:1:1: 'srcIp' is not a packet field; did you mean 'srcIP'?
src=10.0.0.1, sum(bytes)>1, 1ms
    => event:1:1: 'src' is not a packet field
outer.scrIP=10.0.0.1, sum(bytes)>1, 1ms
    => event:1:1: 'outer.scrIP' is not a packet field; did you mean 'outer.srcIP'?
middle.srcIP=10.0.0.1, sum(bytes)>1, 1ms
    => event:1:1: 'middle.srcIP' is not a packet field
srcIP, sum(bytes)>1, 1ms
    => event:1:6: expected '=' after 'srcIP', not the end of the filter
srcIP=, sum(bytes)>1, 1ms
    => event:1:7: expected a value of srcIP, not the end of the filter
srcIP=10.0.0, sum(bytes)>1, 1ms
    => event:1:7: '10.0.0' is not an IP address
srcIP=10.0.0.256, sum(bytes)>1, 1ms
    => event:1:7: '10.0.0.256' is not an IP address
srcIP=10.0.0.1/33, sum(bytes)>1, 1ms
    => event:1:16: '33' is not a prefix length of srcIP here; 0 to 32 are allowed
srcIP=::1/129, sum(bytes)>1, 1ms
    => event:1:11: '129' is not a prefix length of srcIP here; 0 to 128 are allowed
srcIP=10.0.0.0/255.0.0.0, sum(bytes)>1, 1ms
    => event:1:16: '255.0.0.0' is not a prefix length of srcIP here; 0 to 32 are allowed
srcIP=10.0.0.0/, sum(bytes)>1, 1ms
    => event:1:16: expected a prefix length, not the end of the filter
srcIP=1:2:3, sum(bytes)>1, 1ms
    => event:1:7: '1:2:3' is not an IP address
srcIP=10.0.0.9-10.0.0.1, sum(bytes)>1, 1ms
    => event:1:16: the upper end of this range lies below its lower end
srcIP=10.0.0.9-::1, sum(bytes)>1, 1ms
    => event:1:16: a range cannot go from IPv4 to IPv6 or back
srcIP=10.0.0.1-, sum(bytes)>1, 1ms
    => event:1:16: expected a value of srcIP, not the end of the filter
srcIP=10.0.0.0/24-10.0.1.0, sum(bytes)>1, 1ms
    => event:1:18: expected 'and' or 'or', not '-'
srcIP={}, sum(bytes)>1, 1ms
    => event:1:8: expected a value of srcIP, not '}'
srcIP={10.0.0.1, sum(bytes)>1, 1ms
    => event:1:7: '{' is never closed
srcIP={10.0.0.1,}, sum(bytes)>1, 1ms
    => event:1:17: expected a value of srcIP, not '}'
srcIP={*}, sum(bytes)>1, 1ms
    => event:1:8: expected a value of srcIP, not '*'
srcIP={10.0.0.1 10.0.0.2}, sum(bytes)>1, 1ms
    => event:1:17: expected ',' or '}', not '10.0.0.2'
srcIP!=10.0.0.1, sum(bytes)>1, 1ms
    => event:1:6: a filter compares with '=' only; write 'not srcIP=...'
srcPort>1024, sum(bytes)>1, 1ms
    => event:1:8: a filter compares with '=' only; a range is written srcPort=low-high
srcPort==1024, sum(bytes)>1, 1ms
    => event:1:8: a filter compares with a single '='
srcPort=65536, sum(bytes)>1, 1ms
    => event:1:9: srcPort cannot be '65536'; it takes 0 to 65535
srcPort=99999999999999999999999, sum(bytes)>1, 1ms
    => event:1:9: srcPort cannot be '99999999999999999999999'; it takes 0 to 65535
srcPort=http, sum(bytes)>1, 1ms
    => event:1:9: 'http' is not a number; srcPort takes 0 to 65535
srcPort=-1, sum(bytes)>1, 1ms
    => event:1:9: expected a value of srcPort, not '-'
srcPort=0x, sum(bytes)>1, 1ms
    => event:1:9: '0x' is not a number; srcPort takes 0 to 65535
srcPort=90-80, sum(bytes)>1, 1ms
    => event:1:12: the upper end of this range lies below its lower end
srcPort=80/17, sum(bytes)>1, 1ms
    => event:1:12: '17' is not a prefix length of srcPort here; 0 to 16 are allowed
srcPort:80, sum(bytes)>1, 1ms
    => event:1:1: 'srcPort:80' is not a packet field; did you mean 'srcPort'?
port=80, sum(bytes)>1, 1ms
    => event:1:1: 'port' is not a packet field; write dstPort=80 or port:80
port:, sum(bytes)>1, 1ms
    => event:1:6: expected a value of dstPort, not the end of the filter
port:70000, sum(bytes)>1, 1ms
    => event:1:6: dstPort cannot be '70000'; it takes 0 to 65535
Protocol=tcp, sum(bytes)>1, 1ms
    => event:1:10: 'tcp' is not a protocol; TCP, UDP, ICMP, ICMPv6, SCTP and 0 to 255 are allowed; did you mean 'TCP'?
Protocol=256, sum(bytes)>1, 1ms
    => event:1:10: Protocol cannot be '256'; it takes 0 to 255
Protocol=GRE, sum(bytes)>1, 1ms
    => event:1:10: 'GRE' is not a protocol; TCP, UDP, ICMP, ICMPv6, SCTP and 0 to 255 are allowed
srcMAC=02:00:00:00:00, sum(bytes)>1, 1ms
    => event:1:8: '02:00:00:00:00' is not a MAC address; write six bytes as in 02:00:00:00:00:01
srcMAC=02-00-00-00-00-01, sum(bytes)>1, 1ms
    => event:1:8: '02' is not a MAC address; write six bytes as in 02:00:00:00:00:01
srcMAC=02:00:00:00:00:01/49, sum(bytes)>1, 1ms
    => event:1:26: '49' is not a prefix length of srcMAC here; 0 to 48 are allowed
ethType=IPv4, sum(bytes)>1, 1ms
    => event:1:9: 'IPv4' is not a number; ethType takes 0 to 65535
ethType=0x10000, sum(bytes)>1, 1ms
    => event:1:9: ethType cannot be '0x10000'; it takes 0 to 65535
vlan=4096, sum(bytes)>1, 1ms
    => event:1:6: vlan cannot be '4096'; it takes 0 to 4095
dscp=64, sum(bytes)>1, 1ms
    => event:1:6: dscp cannot be '64'; it takes 0 to 63
ecn=4, sum(bytes)>1, 1ms
    => event:1:5: ecn cannot be '4'; it takes 0 to 3
ttl=256, sum(bytes)>1, 1ms
    => event:1:5: ttl cannot be '256'; it takes 0 to 255
tcpFlags=4096, sum(bytes)>1, 1ms
    => event:1:10: tcpFlags cannot be '4096'; it takes 0 to 4095
tcpFlags=+sin, sum(bytes)>1, 1ms
    => event:1:11: 'sin' is not a TCP flag; did you mean 'fin'?
tcpFlags=+syn-syn, sum(bytes)>1, 1ms
    => event:1:15: TCP flag 'syn' is named twice
tcpFlags=+, sum(bytes)>1, 1ms
    => event:1:11: expected a TCP flag, not the end of the filter
tcpFlags=syn, sum(bytes)>1, 1ms
    => event:1:10: 'syn' is not a number; tcpFlags takes 0 to 4095
tcpFlags={+syn}, sum(bytes)>1, 1ms
    => event:1:11: expected a value of tcpFlags, not '+'
inPort=4294967296, sum(bytes)>1, 1ms
    => event:1:8: inPort cannot be '4294967296'; it takes 0 to 4294967295
vlan=1 vlan=2, sum(bytes)>1, 1ms
    => event:1:8: expected 'and' or 'or', not 'vlan'
vlan=1 and, sum(bytes)>1, 1ms
    => event:1:11: expected a test such as dstPort=80, not the end of the filter
vlan=1 & vlan=2, sum(bytes)>1, 1ms
    => event:1:8: tests are joined by 'and' in a filter, not by '&'
vlan=1 | vlan=2, sum(bytes)>1, 1ms
    => event:1:8: tests are joined by 'or' in a filter, not by '|'
vlan=1 AND vlan=2, sum(bytes)>1, 1ms
    => event:1:8: expected 'and' or 'or', not 'AND'
and vlan=1, sum(bytes)>1, 1ms
    => event:1:1: expected a test such as dstPort=80, not 'and'
not, sum(bytes)>1, 1ms
    => event:1:4: expected a test such as dstPort=80, not the end of the filter
!vlan=1, sum(bytes)>1, 1ms
    => event:1:1: '!' is not an operator here; write 'not'
(vlan=1, sum(bytes)>1, 1ms
    => event:1:1: '(' is never closed
vlan=1), sum(bytes)>1, 1ms
    => event:1:7: ')' closes nothing
(vlan={1)}, sum(bytes)>1, 1ms
    => event:1:9: ')' cannot close '{'
(), sum(bytes)>1, 1ms
    => event:1:2: expected a test such as dstPort=80, not ')'
vlan=1;, sum(bytes)>1, 1ms
    => event:1:7: unexpected character ';'
volume=1, sum(bytes)>1, 1ms
    => event:1:1: 'volume' is not a packet field
vlan=é, sum(bytes)>1, 1ms
    => event:1:6: unexpected byte 0xc3
)table");
}

}  // namespace
}  // namespace trumpet::event_lang
