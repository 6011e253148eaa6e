// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenFlow 1.3, 1.4 and 1.5 in bytes, by Open vSwitch's own library: nothing is put together or
// taken apart by hand.  In C, because the library's private headers are; openflow_message.h is what
// the rest uses.
//
// Errors: a text that the caller frees, or NULL.
// Threads: any one at a time; the library keeps its memory to itself, and no state is kept here.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OF_CODEC_H
#define TRUMPET_CONTROLLER_OPENFLOW_OF_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TRUMPET_OF_HEADER_BYTES = 8, TRUMPET_OF_NAME_BYTES = 64 };

// Versions as they are on the wire.
enum { TRUMPET_OF_13 = 4, TRUMPET_OF_14 = 5, TRUMPET_OF_15 = 6 };

// Takes the bytes of an encoded message, or a text, for as long as the call lasts.
typedef void trumpet_of_sink(void* aux, const void* bytes, size_t size);

// ---- Encoding ----

enum trumpet_of_ask {  // messages without a body of ours
  TRUMPET_OF_FEATURES_REQUEST,
  TRUMPET_OF_ECHO_REQUEST,
  TRUMPET_OF_BARRIER_REQUEST,
  TRUMPET_OF_PORT_DESC_REQUEST,
  TRUMPET_OF_PORT_STATS_REQUEST,
  TRUMPET_OF_TABLE_STATS_REQUEST,
  TRUMPET_OF_METER_STATS_REQUEST,
  TRUMPET_OF_METER_CONFIG_REQUEST,
  TRUMPET_OF_GROUP_DESC_REQUEST,
};

enum trumpet_of_change { TRUMPET_OF_ADD, TRUMPET_OF_MODIFY, TRUMPET_OF_DELETE };

void trumpet_of_hello(uint32_t xid, trumpet_of_sink* sink, void* aux);  // offers 1.3 to 1.5
// The answer to a hello with which we have no version in common.
void trumpet_of_hello_failed(uint8_t version, const char* text, trumpet_of_sink* sink, void* aux);
void trumpet_of_simple(uint8_t version, enum trumpet_of_ask what, uint32_t xid,
                       trumpet_of_sink* sink, void* aux);
// `request` is a whole echo request.
void trumpet_of_echo_reply(const void* request, trumpet_of_sink* sink, void* aux);
// Roles: 0 as it is, 1 equal, 2 primary, 3 secondary.
void trumpet_of_role_request(uint8_t version, uint32_t role, uint64_t generation, uint32_t xid,
                             trumpet_of_sink* sink, void* aux);

// `text` as ovs-ofctl takes it: "table=1,priority=5,ip,actions=output:2", of a deletion, too.  The
// cookie is the new flow's; of changes and deletions, which are strict, the one it must have.
char* trumpet_of_flow_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                          uint64_t cookie, uint32_t xid, trumpet_of_sink* sink, void* aux);
// Deletes all flows of all tables whose cookie has these bits.
void trumpet_of_flow_purge(uint8_t version, uint64_t cookie, uint64_t cookie_mask, uint32_t xid,
                           trumpet_of_sink* sink, void* aux);
// "group_id=1,type=all,bucket=output:2", "meter=1,pktps,burst,band=type=drop,rate=100".
char* trumpet_of_group_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                           uint32_t xid, trumpet_of_sink* sink, void* aux);
char* trumpet_of_meter_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                           uint32_t xid, trumpet_of_sink* sink, void* aux);
// `actions` as ovs-ofctl takes them; `in_port` 0 is the controller's.
char* trumpet_of_packet_out(uint8_t version, uint32_t in_port, const void* packet,
                            size_t packet_size, const char* actions, uint32_t xid,
                            trumpet_of_sink* sink, void* aux);

// A frame of at least 60 bytes that the match takes ("tcp,tp_dst=80"; where it leaves something
// open, what is usual), with these bits of the second byte of the IP header set.  One of its two
// MAC addresses, the source if the match leaves it open, is `mark`.
char* trumpet_of_compose(const char* match, uint8_t tos, const uint8_t mark[6],
                         trumpet_of_sink* sink, void* aux);

// With `is_sum`, of all together.
void trumpet_of_flow_stats_request(uint8_t version, bool is_sum, uint8_t table, uint64_t cookie,
                                   uint64_t cookie_mask, uint32_t xid, trumpet_of_sink* sink,
                                   void* aux);

// Of the flows that lie within the match of `text`, a flow as above, in its table; in all if it
// names none.  With `is_sum`, of all together.
char* trumpet_of_flow_look(uint8_t version, bool is_sum, const char* text, uint32_t xid,
                           trumpet_of_sink* sink, void* aux);

enum trumpet_of_bundle {
  TRUMPET_OF_BUNDLE_OPEN = 0,
  TRUMPET_OF_BUNDLE_CLOSE = 2,
  TRUMPET_OF_BUNDLE_COMMIT = 4,
  TRUMPET_OF_BUNDLE_DISCARD = 6,
};
// Atomic and in order.  With 1.3 it is the ONF's extension.
void trumpet_of_bundle_control(uint8_t version, uint32_t id, enum trumpet_of_bundle what,
                               uint32_t xid, trumpet_of_sink* sink, void* aux);
// `message` is a whole message, and its xid becomes the addition's.
void trumpet_of_bundle_add(uint8_t version, uint32_t id, const void* message, trumpet_of_sink* sink,
                           void* aux);

// ---- Decoding ----

enum trumpet_of_kind {
  TRUMPET_OF_HELLO,
  TRUMPET_OF_ERROR,
  TRUMPET_OF_ECHO_ASKED,
  TRUMPET_OF_ECHO_ANSWERED,
  TRUMPET_OF_FEATURES,
  TRUMPET_OF_ROLE,
  TRUMPET_OF_BARRIER,
  TRUMPET_OF_BUNDLE,
  TRUMPET_OF_PACKET_IN,
  TRUMPET_OF_PORT_STATUS,
  TRUMPET_OF_FLOW_REMOVED,
  TRUMPET_OF_FLOW_MOD,
  TRUMPET_OF_METER_MOD,
  TRUMPET_OF_FLOWS,
  TRUMPET_OF_FLOW_SUM,
  TRUMPET_OF_PORTS,
  TRUMPET_OF_PORT_COUNTS,
  TRUMPET_OF_TABLES,
  TRUMPET_OF_METERS,
  TRUMPET_OF_METER_COUNTS,
  TRUMPET_OF_GROUPS,
  TRUMPET_OF_OTHER,
};

struct trumpet_of_message {
  enum trumpet_of_kind kind;
  uint8_t version;
  uint32_t xid;
  bool has_more;                      // parts of the same answer are to come
  uint32_t versions;                  // HELLO: bit 4 is 1.3
  char error[TRUMPET_OF_NAME_BYTES];  // ERROR: "OFPBRC_BAD_TYPE"
  uint64_t datapath_id;               // FEATURES
  uint8_t table_count;
  uint8_t auxiliary_id;
  uint32_t role;  // ROLE
  uint64_t generation;
  uint32_t bundle_id;  // BUNDLE
  uint16_t bundle_type;
  uint32_t in_port;  // PACKET_IN
  const void* packet;
  size_t packet_size;       // may be less than the packet had
  uint8_t table;            // PACKET_IN, FLOW_REMOVED
  uint64_t cookie;          // PACKET_IN, FLOW_REMOVED
  uint8_t reason;           // PACKET_IN, FLOW_REMOVED, PORT_STATUS (1: the port is gone)
  uint64_t packets, bytes;  // FLOW_REMOVED, FLOW_SUM; UINT64_MAX: unknown
  int64_t duration_ns;      // FLOW_REMOVED
  uint32_t flow_count;      // FLOW_SUM
};

struct trumpet_of_flow {
  uint64_t cookie;
  uint64_t packets, bytes;  // UINT64_MAX: unknown
  int64_t duration_ns;
  uint16_t priority;
  uint8_t table;
  const char* match;     // with priority, always spelled alike
  const char* timeouts;  // "", "idle_timeout=5,hard_timeout=1,"
  const char* actions;
};

struct trumpet_of_port {
  uint32_t number;
  char name[TRUMPET_OF_NAME_BYTES];
  uint8_t mac[6];
  bool is_up;
  uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, rx_dropped, tx_dropped;  // UINT64_MAX
};

struct trumpet_of_numbered {  // a table, meter or group
  uint32_t number;
  uint64_t packets, bytes;  // that came in
  uint64_t dropped;         // of them, by a meter
  const char* text;         // of meters: what they do, always spelled alike
};

struct trumpet_of_visitor {
  void* aux;
  void (*message)(void* aux, const struct trumpet_of_message*);  // first, once
  void (*flow)(void* aux, const struct trumpet_of_flow*);
  void (*port)(void* aux, const struct trumpet_of_port*);
  void (*numbered)(void* aux, const struct trumpet_of_numbered*);
};

// `bytes` is one message, `size` bytes of it, as its header says.  What is known but not of
// interest is OTHER; what is malformed is an error, maybe after some of its entries have been
// visited.
char* trumpet_of_decode(const void* bytes, size_t size, const struct trumpet_of_visitor* visitor);

// As `ovs-ofctl ofp-print` shows it.
void trumpet_of_print(const void* bytes, size_t size, trumpet_of_sink* sink, void* aux);

#ifdef __cplusplus
}
#endif

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OF_CODEC_H
