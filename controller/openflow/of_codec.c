// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Makes what is sent.  It, of_compose.c, of_decode.c and of_things.c alone include headers of
// Open vSwitch.

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "byte-order.h"
#include "controller/openflow/of_library.h"
#include "openflow/openflow.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/netdev.h"
#include "openvswitch/ofp-actions.h"
#include "openvswitch/ofp-bundle.h"
#include "openvswitch/ofp-connection.h"
#include "openvswitch/ofp-errors.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-group.h"
#include "openvswitch/ofp-match.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-packet.h"
#include "openvswitch/ofp-port.h"
#include "openvswitch/ofp-print.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "ovs-rcu.h"
#include "util.h"

// Threads that are not of Open vSwitch hold back nobody's memory but while the library works for
// them: it may log, and reads the log's settings then.
bool trumpet_of_enter(void) {
  bool was_quiescent = ovsrcu_is_quiescent();
  if (was_quiescent) {
    ovsrcu_quiesce_end();
  }
  return was_quiescent;
}

void trumpet_of_leave(bool was_quiescent) {
  if (was_quiescent) {
    ovsrcu_quiesce_start();
  }
}

// ---- What the library has and a controller has not ----
//
// Ports and packets are parsed and printed in the same object files that know of devices, routes
// and DPDK's buffers, which would bring the whole datapath and 30 libraries into every program.
// Nobody here has a device, a route or a packet in such a buffer.  (The daemon has two of these,
// too.)

#define UNUSED_HERE __attribute__((weak))

struct dp_packet;
struct in6_addr;
void free_dpdk_buf(struct dp_packet* packet);
void free_afxdp_buf(struct dp_packet* packet);
struct netdev* netdev_from_name(const char* name);
bool ovs_router_lookup(uint32_t mark, const struct in6_addr* to, char device[],
                       struct in6_addr* source, struct in6_addr* gateway);

UNUSED_HERE void free_dpdk_buf(struct dp_packet* packet OVS_UNUSED) { OVS_NOT_REACHED(); }
UNUSED_HERE void free_afxdp_buf(struct dp_packet* packet OVS_UNUSED) { OVS_NOT_REACHED(); }
UNUSED_HERE struct netdev* netdev_from_name(const char* name OVS_UNUSED) { return NULL; }
UNUSED_HERE bool ovs_router_lookup(uint32_t mark OVS_UNUSED, const struct in6_addr* to OVS_UNUSED,
                                   char device[] OVS_UNUSED, struct in6_addr* source OVS_UNUSED,
                                   struct in6_addr* gateway OVS_UNUSED) {
  return false;
}
UNUSED_HERE void netdev_free_custom_stats_counters(struct netdev_custom_stats* stats) {
  free(stats->counters);
  stats->counters = NULL;
}
// Speeds are for people who read dumps.
UNUSED_HERE void netdev_features_format(struct ds* text, enum netdev_features features) {
  ds_put_format(text, "%#x\n", (unsigned)features);
}
UNUSED_HERE uint64_t netdev_features_to_bps(enum netdev_features features OVS_UNUSED,
                                            uint64_t usual) {
  return usual;
}

// Gives away an encoded message.
static void hand_over(struct ofpbuf* message, uint32_t xid, trumpet_of_sink* sink, void* aux) {
  ofpmsg_update_length(message);
  ((struct ofp_header*)message->data)->xid = htonl(xid);
  sink(aux, message->data, message->size);
  ofpbuf_delete(message);
}

static enum ofputil_protocol protocol_of(uint8_t version) {
  return ofputil_protocol_from_ofp_version(version);
}

// What is wrong with a text that was parsed; takes `error` over.
static char* check(char* error, uint8_t version, enum ofputil_protocol usable) {
  if (error == NULL && (usable & protocol_of(version)) == 0) {
    return xasprintf("OpenFlow 1.%d cannot say this", version - 1);
  }
  return error;
}

void trumpet_of_hello(uint32_t xid, trumpet_of_sink* sink, void* aux) {
  uint32_t versions = 1u << TRUMPET_OF_13 | 1u << TRUMPET_OF_14 | 1u << TRUMPET_OF_15;
  hand_over(ofputil_encode_hello(versions), xid, sink, aux);
}

void trumpet_of_hello_failed(uint8_t version, const char* text, trumpet_of_sink* sink, void* aux) {
  hand_over(ofperr_encode_hello(OFPERR_OFPHFC_INCOMPATIBLE, version, text), 0, sink, aux);
}

static struct ofpbuf* encode_simple(uint8_t version, enum trumpet_of_ask what) {
  switch (what) {
    case TRUMPET_OF_FEATURES_REQUEST:
      return ofpraw_alloc(OFPRAW_OFPT_FEATURES_REQUEST, version, 0);
    case TRUMPET_OF_ECHO_REQUEST:
      return ofputil_encode_echo_request(version);
    case TRUMPET_OF_BARRIER_REQUEST:
      return ofputil_encode_barrier_request(version);
    case TRUMPET_OF_PORT_DESC_REQUEST:
      return ofputil_encode_port_desc_stats_request(version, OFPP_ANY);
    case TRUMPET_OF_PORT_STATS_REQUEST:
      return ofputil_encode_dump_ports_request(version, OFPP_ANY);
    case TRUMPET_OF_TABLE_STATS_REQUEST:
      return ofpraw_alloc(OFPRAW_OFPST_TABLE_REQUEST, version, 0);
    case TRUMPET_OF_METER_STATS_REQUEST:
      return ofputil_encode_meter_request(version, OFPUTIL_METER_STATS, OFPM13_ALL);
    case TRUMPET_OF_METER_CONFIG_REQUEST:
      return ofputil_encode_meter_request(version, OFPUTIL_METER_CONFIG, OFPM13_ALL);
    case TRUMPET_OF_GROUP_DESC_REQUEST:
      break;
  }
  return ofputil_encode_group_desc_request(version, OFPG_ALL);
}

void trumpet_of_simple(uint8_t version, enum trumpet_of_ask what, uint32_t xid,
                       trumpet_of_sink* sink, void* aux) {
  hand_over(encode_simple(version, what), xid, sink, aux);
}

void trumpet_of_echo_reply(const void* request, trumpet_of_sink* sink, void* aux) {
  const struct ofp_header* header = request;
  hand_over(ofputil_encode_echo_reply(header), ntohl(header->xid), sink, aux);
}

void trumpet_of_role_request(uint8_t version, uint32_t role, uint64_t generation, uint32_t xid,
                             trumpet_of_sink* sink, void* aux) {
  struct ofpbuf* message = ofpraw_alloc(OFPRAW_OFPT12_ROLE_REQUEST, version, 0);
  struct ofp12_role_request* request = ofpbuf_put_zeros(message, sizeof *request);
  request->role = htonl(role);
  request->generation_id = htonll(generation);
  hand_over(message, xid, sink, aux);
}

char* trumpet_of_flow_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                          uint64_t cookie, uint32_t xid, trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  struct ofputil_flow_mod mod;
  enum ofputil_protocol usable;
  // A deletion is parsed as what it deletes.
  int command = change == TRUMPET_OF_MODIFY ? OFPFC_MODIFY_STRICT : OFPFC_ADD;
  char* error = parse_ofp_flow_mod_str(&mod, text, NULL, NULL, command, &usable);
  if (error == NULL) {
    if (change == TRUMPET_OF_ADD) {
      mod.new_cookie = htonll(cookie);
    } else {
      mod.cookie = htonll(cookie);
      mod.cookie_mask = OVS_BE64_MAX;
    }
    if (change == TRUMPET_OF_DELETE) {
      mod.command = OFPFC_DELETE_STRICT;
      mod.new_cookie = OVS_BE64_MAX;
      mod.idle_timeout = mod.hard_timeout = 0;
      mod.ofpacts_len = 0;
    }
    error = check(NULL, version, usable);
    if (error == NULL) {
      hand_over(ofputil_encode_flow_mod(&mod, protocol_of(version)), xid, sink, aux);
    }
    free(mod.ofpacts);
    minimatch_destroy(&mod.match);
  }
  trumpet_of_leave(was_quiescent);
  return error;
}

void trumpet_of_flow_purge(uint8_t version, uint64_t cookie, uint64_t cookie_mask, uint32_t xid,
                           trumpet_of_sink* sink, void* aux) {
  struct match all;
  match_init_catchall(&all);
  struct ofputil_flow_mod mod = {
      .cookie = htonll(cookie),
      .cookie_mask = htonll(cookie_mask),
      .new_cookie = OVS_BE64_MAX,
      .table_id = OFPTT_ALL,
      .command = OFPFC_DELETE,
      .buffer_id = UINT32_MAX,
      .out_port = OFPP_ANY,
      .out_group = OFPG_ANY,
  };
  minimatch_init(&mod.match, &all);
  hand_over(ofputil_encode_flow_mod(&mod, protocol_of(version)), xid, sink, aux);
  minimatch_destroy(&mod.match);
}

char* trumpet_of_group_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                           uint32_t xid, trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  int command = change == TRUMPET_OF_ADD      ? OFPGC11_ADD
                : change == TRUMPET_OF_MODIFY ? OFPGC11_MODIFY
                                              : OFPGC11_DELETE;
  struct ofputil_group_mod mod;
  enum ofputil_protocol usable;
  char* error = parse_ofp_group_mod_str(&mod, command, text, NULL, NULL, &usable);
  if (error == NULL) {
    error = check(NULL, version, usable);
    if (error == NULL) {
      hand_over(ofputil_encode_group_mod(version, &mod, NULL, -1), xid, sink, aux);
    }
    ofputil_uninit_group_mod(&mod);
  }
  trumpet_of_leave(was_quiescent);
  return error;
}

char* trumpet_of_meter_mod(uint8_t version, enum trumpet_of_change change, const char* text,
                           uint32_t xid, trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  int command = change == TRUMPET_OF_ADD      ? OFPMC13_ADD
                : change == TRUMPET_OF_MODIFY ? OFPMC13_MODIFY
                                              : OFPMC13_DELETE;
  struct ofputil_meter_mod mod;
  enum ofputil_protocol usable;
  char* error = parse_ofp_meter_mod_str(&mod, text, command, &usable);
  if (error == NULL) {
    error = check(NULL, version, usable);
    if (error == NULL) {
      hand_over(ofputil_encode_meter_mod(version, &mod), xid, sink, aux);
    }
    free(mod.meter.bands);
  }
  trumpet_of_leave(was_quiescent);
  return error;
}

char* trumpet_of_packet_out(uint8_t version, uint32_t in_port, const void* packet,
                            size_t packet_size, const char* actions, uint32_t xid,
                            trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  struct ofpbuf acts;
  ofpbuf_init(&acts, 64);
  enum ofputil_protocol usable = OFPUTIL_P_ANY;
  struct ofpact_parse_params params = {.ofpacts = &acts, .usable_protocols = &usable};
  char* error = check(ofpacts_parse_actions(actions, &params), version, usable);
  if (error == NULL) {
    struct ofputil_packet_out out = {
        .packet = packet,
        .packet_len = packet_size,
        .buffer_id = UINT32_MAX,
        .ofpacts = acts.data,
        .ofpacts_len = acts.size,
    };
    match_init_catchall(&out.flow_metadata);
    ofp_port_t from;
    if (in_port == 0 || !ofputil_port_from_ofp11(htonl(in_port), &from)) {
      match_set_in_port(&out.flow_metadata, in_port == 0 ? OFPP_CONTROLLER : from);
      hand_over(ofputil_encode_packet_out(&out, protocol_of(version)), xid, sink, aux);
    } else {
      error = xasprintf("%" PRIu32 " is no port", in_port);
    }
  }
  ofpbuf_uninit(&acts);
  trumpet_of_leave(was_quiescent);
  return error;
}

void trumpet_of_flow_stats_request(uint8_t version, bool is_sum, uint8_t table, uint64_t cookie,
                                   uint64_t cookie_mask, uint32_t xid, trumpet_of_sink* sink,
                                   void* aux) {
  struct ofputil_flow_stats_request request = {
      .aggregate = is_sum,
      .cookie = htonll(cookie),
      .cookie_mask = htonll(cookie_mask),
      .out_port = OFPP_ANY,
      .out_group = OFPG_ANY,
      .table_id = table,
  };
  match_init_catchall(&request.match);
  hand_over(ofputil_encode_flow_stats_request(&request, protocol_of(version)), xid, sink, aux);
}

char* trumpet_of_flow_look(uint8_t version, bool is_sum, const char* text, uint32_t xid,
                           trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  struct ofputil_flow_mod mod;
  enum ofputil_protocol usable;
  char* error = parse_ofp_flow_mod_str(&mod, text, NULL, NULL, OFPFC_ADD, &usable);
  if (error == NULL) {
    struct ofputil_flow_stats_request request = {
        .aggregate = is_sum, .out_port = OFPP_ANY, .out_group = OFPG_ANY, .table_id = mod.table_id};
    minimatch_expand(&mod.match, &request.match);
    hand_over(ofputil_encode_flow_stats_request(&request, protocol_of(version)), xid, sink, aux);
    free(mod.ofpacts);
    minimatch_destroy(&mod.match);
  }
  trumpet_of_leave(was_quiescent);
  return error;
}

void trumpet_of_bundle_control(uint8_t version, uint32_t id, enum trumpet_of_bundle what,
                               uint32_t xid, trumpet_of_sink* sink, void* aux) {
  struct ofputil_bundle_ctrl_msg control = {
      .bundle_id = id, .type = what, .flags = OFPBF_ATOMIC | OFPBF_ORDERED};
  hand_over(ofputil_encode_bundle_ctrl_request(version, &control), xid, sink, aux);
}

void trumpet_of_bundle_add(uint8_t version, uint32_t id, const void* message, trumpet_of_sink* sink,
                           void* aux) {
  const struct ofp_header* header = message;
  struct ofputil_bundle_add_msg add = {
      .bundle_id = id, .flags = OFPBF_ATOMIC | OFPBF_ORDERED, .msg = header};
  hand_over(ofputil_encode_bundle_add(version, &add), ntohl(header->xid), sink, aux);
}

void trumpet_of_print(const void* bytes, size_t size, trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  char* text = ofp_to_string(bytes, size, NULL, NULL, 1);
  sink(aux, text, strlen(text));
  free(text);
  trumpet_of_leave(was_quiescent);
}
