// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Takes apart what there may be many of, one at a time: flows, ports, tables, meters, groups.

#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byte-order.h"
#include "controller/openflow/of_library.h"
#include "openflow/openflow.h"
#include "openvswitch/dynamic-string.h"
#include "openvswitch/meta-flow.h"
#include "openvswitch/netdev.h"
#include "openvswitch/ofp-actions.h"
#include "openvswitch/ofp-errors.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-group.h"
#include "openvswitch/ofp-match.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-port.h"
#include "openvswitch/ofp-table.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"

typedef const struct trumpet_of_visitor Visitor;
typedef struct trumpet_of_message Message;

// A decoder's answer at the end of its entries: not an error.
static enum ofperr ended(int result) { return result == EOF ? 0 : (enum ofperr)result; }

// ---- Flows ----

static void put_actions(struct ds* text, const struct ofpact* acts, size_t size) {
  struct ofpact_format_params params = {.s = text};
  ofpacts_format(acts, size, &params);
}

static void put_timeouts(struct ds* text, uint16_t idle, uint16_t hard) {
  if (idle != OFP_FLOW_PERMANENT) {
    ds_put_format(text, "idle_timeout=%" PRIu16 ",", idle);
  }
  if (hard != OFP_FLOW_PERMANENT) {
    ds_put_format(text, "hard_timeout=%" PRIu16 ",", hard);
  }
}

static void visit_flow(Visitor* visitor, struct trumpet_of_flow* flow, const struct match* match,
                       uint16_t idle, uint16_t hard, const struct ofpact* acts, size_t acts_size) {
  struct ds match_text = DS_EMPTY_INITIALIZER;
  struct ds timeouts = DS_EMPTY_INITIALIZER;
  struct ds actions = DS_EMPTY_INITIALIZER;
  match_format(match, NULL, &match_text, flow->priority);
  put_timeouts(&timeouts, idle, hard);
  put_actions(&actions, acts, acts_size);
  flow->match = ds_cstr(&match_text);
  flow->timeouts = ds_cstr(&timeouts);
  flow->actions = ds_cstr(&actions);
  visitor->flow(visitor->aux, flow);
  ds_destroy(&match_text);
  ds_destroy(&timeouts);
  ds_destroy(&actions);
}

int trumpet_of_decode_flow_mod(const struct ofp_header* header, Visitor* visitor,
                               Message* message) {
  struct ofputil_flow_mod mod;
  struct ofpbuf acts;
  ofpbuf_init(&acts, 64);
  enum ofperr error =
      ofputil_decode_flow_mod(&mod, header, ofputil_protocol_from_ofp_version(header->version),
                              NULL, NULL, &acts, OFPP_MAX, 255);
  if (!error) {
    trumpet_of_tell(TRUMPET_OF_FLOW_MOD, visitor, message);
    struct match match;
    minimatch_expand(&mod.match, &match);
    ovs_be64 cookie = mod.cookie_mask ? mod.cookie : mod.new_cookie;
    struct trumpet_of_flow flow = {
        .cookie = ntohll(cookie), .priority = mod.priority, .table = mod.table_id};
    visit_flow(visitor, &flow, &match, mod.idle_timeout, mod.hard_timeout, mod.ofpacts,
               mod.ofpacts_len);
    minimatch_destroy(&mod.match);
  }
  ofpbuf_uninit(&acts);
  return error;
}

static enum ofperr decode_flows(struct ofpbuf* rest, Visitor* visitor) {
  struct ofpbuf acts;
  ofpbuf_init(&acts, 64);
  int result;
  struct ofputil_flow_stats stats;
  while (!(result = ofputil_decode_flow_stats_reply(&stats, rest, false, &acts))) {
    struct trumpet_of_flow flow = {
        .cookie = ntohll(stats.cookie),
        .packets = stats.packet_count,
        .bytes = stats.byte_count,
        .duration_ns = trumpet_of_nanoseconds(stats.duration_sec, stats.duration_nsec),
        .priority = stats.priority,
        .table = stats.table_id,
    };
    visit_flow(visitor, &flow, &stats.match, stats.idle_timeout, stats.hard_timeout, stats.ofpacts,
               stats.ofpacts_len);
  }
  ofpbuf_uninit(&acts);
  return ended(result);
}

// ---- Ports, tables, meters, groups ----

static void visit_port(Visitor* visitor, const struct ofputil_phy_port* from) {
  struct trumpet_of_port port = {
      .number = ntohl(ofputil_port_to_ofp11(from->port_no)),
      .is_up = !(from->config & OFPUTIL_PC_PORT_DOWN) && !(from->state & OFPUTIL_PS_LINK_DOWN),
  };
  ovs_strlcpy(port.name, from->name, sizeof port.name);
  memcpy(port.mac, from->hw_addr.ea, sizeof port.mac);
  visitor->port(visitor->aux, &port);
}

static enum ofperr decode_ports(struct ofpbuf* rest, uint8_t version, Visitor* visitor) {
  int result;
  struct ofputil_phy_port port;
  ofpraw_pull_assert(rest);
  while (!(result = ofputil_pull_phy_port(version, rest, &port))) {
    visit_port(visitor, &port);
  }
  return ended(result);
}

static enum ofperr decode_port_counts(struct ofpbuf* rest, Visitor* visitor) {
  int result;
  struct ofputil_port_stats stats;
  while (!(result = ofputil_decode_port_stats(&stats, rest))) {
    struct trumpet_of_port port = {
        .number = ntohl(ofputil_port_to_ofp11(stats.port_no)),
        .rx_packets = stats.stats.rx_packets,
        .tx_packets = stats.stats.tx_packets,
        .rx_bytes = stats.stats.rx_bytes,
        .tx_bytes = stats.stats.tx_bytes,
        .rx_dropped = stats.stats.rx_dropped,
        .tx_dropped = stats.stats.tx_dropped,
    };
    visitor->port(visitor->aux, &port);
    netdev_free_custom_stats_counters(&stats.custom_stats);
  }
  return ended(result);
}

static void visit_numbered(Visitor* visitor, uint32_t number, uint64_t packets, uint64_t bytes,
                           const char* text) {
  struct trumpet_of_numbered entry = {
      .number = number, .packets = packets, .bytes = bytes, .text = text};
  visitor->numbered(visitor->aux, &entry);
}

static enum ofperr decode_tables(struct ofpbuf* rest, Visitor* visitor) {
  int result;
  struct ofputil_table_stats stats;
  struct ofputil_table_features features;
  ofpraw_pull_assert(rest);
  while (!(result = ofputil_decode_table_stats_reply(rest, &stats, &features))) {
    visit_numbered(visitor, stats.table_id, stats.matched_count, UINT64_MAX, "");
  }
  return ended(result);
}

static void visit_meter(Visitor* visitor, const struct ofputil_meter_config* config) {
  struct ds text = DS_EMPTY_INITIALIZER;
  ofputil_format_meter_config(&text, config);
  visit_numbered(visitor, config->meter_id, UINT64_MAX, UINT64_MAX, ds_cstr(&text));
  ds_destroy(&text);
}

int trumpet_of_decode_meter_mod(const struct ofp_header* header, Visitor* visitor,
                                Message* message) {
  struct ofputil_meter_mod mod;
  struct ofpbuf bands;
  ofpbuf_init(&bands, 64);
  enum ofperr error = ofputil_decode_meter_mod(header, &mod, &bands);
  if (!error) {
    trumpet_of_tell(TRUMPET_OF_METER_MOD, visitor, message);
    visit_meter(visitor, &mod.meter);
  }
  ofpbuf_uninit(&bands);
  return error;
}

static enum ofperr decode_meters(struct ofpbuf* rest, Visitor* visitor) {
  struct ofpbuf bands;
  ofpbuf_init(&bands, 64);
  int result;
  struct ofputil_meter_config config;
  while (!(result = ofputil_decode_meter_config(rest, &config, &bands))) {
    visit_meter(visitor, &config);
  }
  ofpbuf_uninit(&bands);
  return ended(result);
}

static enum ofperr decode_meter_counts(struct ofpbuf* rest, Visitor* visitor) {
  struct ofpbuf bands;
  ofpbuf_init(&bands, 64);
  int result;
  struct ofputil_meter_stats stats;
  while (!(result = ofputil_decode_meter_stats(rest, &stats, &bands))) {
    struct trumpet_of_numbered meter = {.number = stats.meter_id,
                                        .packets = stats.packet_in_count,
                                        .bytes = stats.byte_in_count,
                                        .text = ""};
    for (int i = 0; i < stats.n_bands; i++) {
      meter.dropped += stats.bands[i].packet_count;
    }
    visitor->numbered(visitor->aux, &meter);
  }
  ofpbuf_uninit(&bands);
  return ended(result);
}

static enum ofperr decode_groups(struct ofpbuf* rest, uint8_t version, Visitor* visitor) {
  int result;
  struct ofputil_group_desc group;
  while (!(result = ofputil_decode_group_desc_reply(&group, rest, version))) {
    visit_numbered(visitor, group.group_id, UINT64_MAX, UINT64_MAX, "");
    ofputil_uninit_group_desc(&group);
  }
  return ended(result);
}

int trumpet_of_decode_port_status(const struct ofp_header* header, Visitor* visitor,
                                  Message* message) {
  struct ofputil_port_status status;
  enum ofperr error = ofputil_decode_port_status(header, &status);
  if (!error) {
    message->reason = status.reason;
    trumpet_of_tell(TRUMPET_OF_PORT_STATUS, visitor, message);
    visit_port(visitor, &status.desc);
  }
  return error;
}

int trumpet_of_decode_list(int type, struct ofpbuf* rest, Visitor* visitor, Message* message) {
  switch (type) {
    case OFPTYPE_FLOW_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_FLOWS, visitor, message);
      return decode_flows(rest, visitor);
    case OFPTYPE_PORT_DESC_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_PORTS, visitor, message);
      return decode_ports(rest, message->version, visitor);
    case OFPTYPE_PORT_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_PORT_COUNTS, visitor, message);
      return decode_port_counts(rest, visitor);
    case OFPTYPE_TABLE_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_TABLES, visitor, message);
      return decode_tables(rest, visitor);
    case OFPTYPE_METER_CONFIG_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_METERS, visitor, message);
      return decode_meters(rest, visitor);
    case OFPTYPE_METER_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_METER_COUNTS, visitor, message);
      return decode_meter_counts(rest, visitor);
    case OFPTYPE_GROUP_DESC_STATS_REPLY:
      trumpet_of_tell(TRUMPET_OF_GROUPS, visitor, message);
      return decode_groups(rest, message->version, visitor);
    default:
      trumpet_of_tell(TRUMPET_OF_OTHER, visitor, message);
      return 0;
  }
}
