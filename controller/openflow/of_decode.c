// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Takes messages apart.  Whatever a peer sends is first seen by ofptype_decode(), which knows every
// message's least and greatest length.

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "byte-order.h"
#include "controller/openflow/of_library.h"
#include "openflow/openflow.h"
#include "openvswitch/ofp-bundle.h"
#include "openvswitch/ofp-connection.h"
#include "openvswitch/ofp-errors.h"
#include "openvswitch/ofp-flow.h"
#include "openvswitch/ofp-monitor.h"
#include "openvswitch/ofp-msgs.h"
#include "openvswitch/ofp-packet.h"
#include "openvswitch/ofp-port.h"
#include "openvswitch/ofp-switch.h"
#include "openvswitch/ofp-util.h"
#include "openvswitch/ofpbuf.h"
#include "util.h"

typedef const struct trumpet_of_visitor Visitor;
typedef struct trumpet_of_message Message;

void trumpet_of_tell(enum trumpet_of_kind kind, Visitor* visitor, Message* message) {
  message->kind = kind;
  visitor->message(visitor->aux, message);
}

int64_t trumpet_of_nanoseconds(uint32_t seconds, uint32_t rest) {
  return seconds == UINT32_MAX ? 0 : (int64_t)seconds * 1000000000 + rest;
}

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
  trumpet_of_tell(TRUMPET_OF_PACKET_IN, visitor, message);
  return 0;
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
  message->duration_ns = trumpet_of_nanoseconds(removed.duration_sec, removed.duration_nsec);
  return 0;
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
    trumpet_of_tell(kind, visitor, message);
  }
  return error;
}

static int decode(const struct ofp_header* header, size_t size, Visitor* visitor,
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
      return trumpet_of_decode_port_status(header, visitor, message);
    case OFPTYPE_FLOW_MOD:
      return trumpet_of_decode_flow_mod(header, visitor, message);
    case OFPTYPE_METER_MOD:
      return trumpet_of_decode_meter_mod(header, visitor, message);
    default:
      message->has_more = ofpmsg_is_stat_reply(header) && ofpmp_more(header);
      return trumpet_of_decode_list(type, &rest, visitor, message);
  }
}

char* trumpet_of_decode(const void* bytes, size_t size, const struct trumpet_of_visitor* visitor) {
  const struct ofp_header* header = bytes;
  if (size < sizeof *header || ntohs(header->length) != size) {
    return xasprintf("%zu bytes are not what the header says", size);
  }
  bool was_quiescent = trumpet_of_enter();
  Message message = {.version = header->version, .xid = ntohl(header->xid)};
  int error = decode(header, size, visitor, &message);
  trumpet_of_leave(was_quiescent);
  return error ? xasprintf("type %d, %zu bytes: %s", header->type, size,
                           ofperr_to_string((enum ofperr)error))
               : NULL;
}
