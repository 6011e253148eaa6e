// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Takes messages apart.  Whatever a peer sends is first seen by ofptype_decode(), which knows every
// message's least and greatest length.

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
#include "openvswitch/ofp-bundle.h"
#include "openvswitch/ofp-connection.h"
#include "openvswitch/ofp-errors.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-group.h"
#include "openvswitch/ofp-match.h"
#include "openvswitch/ofp-meter.h"
#include "openvswitch/ofp-monitor.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-packet.h"
#include "openvswitch/ofp-port.h"
#include "openvswitch/ofp-switch.h"
#include "openvswitch/ofp-table.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"

typedef const struct trumpet_of_visitor Visitor;
typedef struct trumpet_of_message Message;

static void tell(Visitor* visitor, const Message* message) {
  visitor->message(visitor->aux, message);
}

static int64_t nanoseconds(uint32_t seconds, uint32_t rest) {
  return seconds == UINT32_MAX ? 0 : (int64_t)seconds * 1000000000 + rest;
}

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

static enum ofperr decode_flow_mod(const struct ofp_header* header, Visitor* visitor,
                                   Message* message) {
  struct ofputil_flow_mod mod;
  struct ofpbuf acts;
  ofpbuf_init(&acts, 64);
  enum ofperr error =
      ofputil_decode_flow_mod(&mod, header, ofputil_protocol_from_ofp_version(header->version),
                              NULL, NULL, &acts, OFPP_MAX, 255);
  if (!error) {
    message->kind = TRUMPET_OF_FLOW_MOD;
    tell(visitor, message);
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
        .duration_ns = nanoseconds(stats.duration_sec, stats.duration_nsec),
        .priority = stats.priority,
        .table = stats.table_id,
    };
    visit_flow(visitor, &flow, &stats.match, stats.idle_timeout, stats.hard_timeout, stats.ofpacts,
               stats.ofpacts_len);
  }
  ofpbuf_uninit(&acts);
  return ended(result);
}

static enum ofperr decode_flow_removed(const struct ofp_header* header, Message* message) {
  struct ofputil_flow_removed removed;
  enum ofperr error = ofputil_decode_flow_removed(&removed, header);
  if (error) {
    return error;
  }
  message->cookie = ntohll(removed.cookie);
  message->table = removed.table_id;
  message->reason = removed.reason;
  message->packets = removed.packet_count;
  message->bytes = removed.byte_count;
  message->duration_ns = nanoseconds(removed.duration_sec, removed.duration_nsec);
  return 0;
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

static enum ofperr decode_meters(struct ofpbuf* rest, Visitor* visitor) {
  struct ofpbuf bands;
  ofpbuf_init(&bands, 64);
  int result;
  struct ofputil_meter_config config;
  while (!(result = ofputil_decode_meter_config(rest, &config, &bands))) {
    struct ds text = DS_EMPTY_INITIALIZER;
    ofputil_format_meter_config(&text, &config);
    visit_numbered(visitor, config.meter_id, UINT64_MAX, UINT64_MAX, ds_cstr(&text));
    ds_destroy(&text);
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

// ---- One thing ----

static enum ofperr decode_error(const struct ofp_header* header, Message* message) {
  enum ofperr code = ofperr_decode_msg(header, NULL);
  // A code that the library does not know is no malformed message.
  const char* name = ofperr_is_valid(code) ? ofperr_get_name(code) : "unknown error";
  ovs_strlcpy(message->error, name, sizeof message->error);
  return 0;
}

static enum ofperr decode_features(struct ofpbuf* rest, Message* message) {
  struct ofputil_switch_features features;
  enum ofperr error = ofputil_pull_switch_features(rest, &features);
  if (!error) {
    message->datapath_id = features.datapath_id;
    message->table_count = features.n_tables;
    message->auxiliary_id = features.auxiliary_id;
  }
  return error;
}

static enum ofperr decode_role(const struct ofp_header* header, Message* message) {
  struct ofputil_role_request role;
  enum ofperr error = ofputil_decode_role_message(header, &role);
  if (!error) {
    message->role = role.role;
    message->generation = role.generation_id;
  }
  return error;
}

static enum ofperr decode_bundle(const struct ofp_header* header, Message* message) {
  struct ofputil_bundle_ctrl_msg control;
  enum ofperr error = ofputil_decode_bundle_ctrl(header, &control);
  if (!error) {
    message->bundle_id = control.bundle_id;
    message->bundle_type = control.type;
  }
  return error;
}

static enum ofperr decode_packet_in(const struct ofp_header* header, Visitor* visitor,
                                    Message* message) {
  struct ofputil_packet_in in;
  size_t total;
  uint32_t buffer;
  enum ofperr error =
      ofputil_decode_packet_in(header, true, NULL, NULL, &in, &total, &buffer, NULL);
  if (error) {
    return error;
  }
  message->in_port = ntohl(ofputil_port_to_ofp11(in.flow_metadata.flow.in_port.ofp_port));
  message->packet = in.packet;
  message->packet_size = in.packet_len;
  message->table = in.table_id;
  message->cookie = ntohll(in.cookie);
  message->reason = in.reason;
  message->kind = TRUMPET_OF_PACKET_IN;
  tell(visitor, message);
  return 0;
}

static enum ofperr decode_port_status(const struct ofp_header* header, Visitor* visitor,
                                      Message* message) {
  struct ofputil_port_status status;
  enum ofperr error = ofputil_decode_port_status(header, &status);
  if (!error) {
    message->kind = TRUMPET_OF_PORT_STATUS;
    message->reason = status.reason;
    tell(visitor, message);
    visit_port(visitor, &status.desc);
  }
  return error;
}

static enum ofperr decode_sum(const struct ofp_header* header, Message* message) {
  struct ofputil_aggregate_stats sum;
  enum ofperr error = ofputil_decode_aggregate_stats_reply(&sum, header);
  if (!error) {
    message->packets = sum.packet_count;
    message->bytes = sum.byte_count;
    message->flow_count = sum.flow_count;
  }
  return error;
}

// Tells the message once its own part has been decoded.
static enum ofperr tell_if(enum ofperr error, enum trumpet_of_kind kind, Visitor* visitor,
                           Message* message) {
  if (!error) {
    message->kind = kind;
    tell(visitor, message);
  }
  return error;
}

static enum ofperr decode_list(enum ofptype type, struct ofpbuf* rest, Visitor* visitor,
                               Message* message) {
  switch ((int)type) {
    case OFPTYPE_FLOW_STATS_REPLY:
      tell_if(0, TRUMPET_OF_FLOWS, visitor, message);
      return decode_flows(rest, visitor);
    case OFPTYPE_PORT_DESC_STATS_REPLY:
      tell_if(0, TRUMPET_OF_PORTS, visitor, message);
      return decode_ports(rest, message->version, visitor);
    case OFPTYPE_PORT_STATS_REPLY:
      tell_if(0, TRUMPET_OF_PORT_COUNTS, visitor, message);
      return decode_port_counts(rest, visitor);
    case OFPTYPE_TABLE_STATS_REPLY:
      tell_if(0, TRUMPET_OF_TABLES, visitor, message);
      return decode_tables(rest, visitor);
    case OFPTYPE_METER_CONFIG_STATS_REPLY:
      tell_if(0, TRUMPET_OF_METERS, visitor, message);
      return decode_meters(rest, visitor);
    case OFPTYPE_METER_STATS_REPLY:
      tell_if(0, TRUMPET_OF_METER_COUNTS, visitor, message);
      return decode_meter_counts(rest, visitor);
    case OFPTYPE_GROUP_DESC_STATS_REPLY:
      tell_if(0, TRUMPET_OF_GROUPS, visitor, message);
      return decode_groups(rest, message->version, visitor);
    default:
      return tell_if(0, TRUMPET_OF_OTHER, visitor, message);
  }
}

static enum ofperr decode(const struct ofp_header* header, size_t size, Visitor* visitor,
                          Message* message) {
  enum ofptype type;
  enum ofperr error = ofptype_decode(&type, header);
  if (error) {
    return error;
  }
  struct ofpbuf rest = ofpbuf_const_initializer(header, size);
  switch ((int)type) {
    case OFPTYPE_HELLO:
      // Whether or not it had a bitmap; unknown elements are no fault.
      ofputil_decode_hello(header, &message->versions);
      return tell_if(0, TRUMPET_OF_HELLO, visitor, message);
    case OFPTYPE_ERROR:
      return tell_if(decode_error(header, message), TRUMPET_OF_ERROR, visitor, message);
    case OFPTYPE_ECHO_REQUEST:
      return tell_if(0, TRUMPET_OF_ECHO_ASKED, visitor, message);
    case OFPTYPE_ECHO_REPLY:
      return tell_if(0, TRUMPET_OF_ECHO_ANSWERED, visitor, message);
    case OFPTYPE_FEATURES_REPLY:
      return tell_if(decode_features(&rest, message), TRUMPET_OF_FEATURES, visitor, message);
    case OFPTYPE_ROLE_REPLY:
      return tell_if(decode_role(header, message), TRUMPET_OF_ROLE, visitor, message);
    case OFPTYPE_BARRIER_REPLY:
      return tell_if(0, TRUMPET_OF_BARRIER, visitor, message);
    case OFPTYPE_BUNDLE_CONTROL:
      return tell_if(decode_bundle(header, message), TRUMPET_OF_BUNDLE, visitor, message);
    case OFPTYPE_FLOW_REMOVED:
      return tell_if(decode_flow_removed(header, message), TRUMPET_OF_FLOW_REMOVED, visitor,
                     message);
    case OFPTYPE_AGGREGATE_STATS_REPLY:
      return tell_if(decode_sum(header, message), TRUMPET_OF_FLOW_SUM, visitor, message);
    case OFPTYPE_PACKET_IN:
      return decode_packet_in(header, visitor, message);
    case OFPTYPE_PORT_STATUS:
      return decode_port_status(header, visitor, message);
    case OFPTYPE_FLOW_MOD:
      return decode_flow_mod(header, visitor, message);
    default:
      message->has_more = ofpmsg_is_stat_reply(header) && ofpmp_more(header);
      return decode_list(type, &rest, visitor, message);
  }
}

char* trumpet_of_decode(const void* bytes, size_t size, const struct trumpet_of_visitor* visitor) {
  const struct ofp_header* header = bytes;
  if (size < sizeof *header || ntohs(header->length) != size) {
    return xasprintf("%zu bytes are not what the header says", size);
  }
  bool was_quiescent = trumpet_of_enter();
  Message message = {.version = header->version, .xid = ntohl(header->xid)};
  enum ofperr error = decode(header, size, visitor, &message);
  trumpet_of_leave(was_quiescent);
  return error ? xasprintf("type %d, %zu bytes: %s", header->type, size, ofperr_to_string(error))
               : NULL;
}
