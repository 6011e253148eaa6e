// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Makes packets that a match takes, as `ovs-ofctl compose-packet` does, and says whether a match
// takes a packet.

#include <config.h>

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "controller/openflow/of_library.h"
#include "controller/openflow/of_match.h"
#include "dp-packet.h"
#include "flow.h"
#include "openvswitch/match.h"
#include "openvswitch/ofp-flow.h"
#include "packets.h"
#include "util.h"

enum { LEAST_FRAME = 60, USUAL_TTL = 64, DISCARD_PORT = 9 };

static const char payload[] = "trumpet test packet";

// What the match leaves open is as in any packet.
static void fill_addresses(struct flow* flow, const struct flow* mask) {
  if (flow->dl_type == htons(ETH_TYPE_IP)) {
    if (mask->nw_src == 0) {
      flow->nw_src = htonl(0xc0000201);  // 192.0.2.1, of documents
    }
    if (mask->nw_dst == 0) {
      flow->nw_dst = htonl(0xc0000202);
    }
    return;
  }
  if (ipv6_addr_is_set(&mask->ipv6_src) == 0) {
    flow->ipv6_src.s6_addr[0] = 0x20;
    flow->ipv6_src.s6_addr[1] = 0x01;
    flow->ipv6_src.s6_addr[2] = 0x0d;
    flow->ipv6_src.s6_addr[3] = 0xb8;
    flow->ipv6_src.s6_addr[15] = 1;
  }
  if (ipv6_addr_is_set(&mask->ipv6_dst) == 0) {
    flow->ipv6_dst = flow->ipv6_src;
    flow->ipv6_dst.s6_addr[15] = 2;
  }
}

static void fill_ip(struct flow* flow, const struct flow* mask, uint8_t tos) {
  fill_addresses(flow, mask);
  flow->nw_tos |= tos;
  if (mask->nw_ttl == 0) {
    flow->nw_ttl = USUAL_TTL;
  }
  if (mask->nw_proto == 0) {
    flow->nw_proto = IPPROTO_UDP;
  }
  bool has_ports = flow->nw_proto == IPPROTO_TCP || flow->nw_proto == IPPROTO_UDP ||
                   flow->nw_proto == IPPROTO_SCTP;
  if (has_ports && mask->tp_src == 0) {
    flow->tp_src = htons(DISCARD_PORT);
  }
  if (has_ports && mask->tp_dst == 0) {
    flow->tp_dst = htons(DISCARD_PORT);
  }
}

static bool fill(struct flow* flow, const struct flow* mask, uint8_t tos, const uint8_t mark[]) {
  struct eth_addr name;
  memcpy(name.ea, mark, sizeof name.ea);
  bool is_from_open = eth_addr_is_zero(mask->dl_src);
  if (!is_from_open && !eth_addr_is_zero(mask->dl_dst)) {
    return false;
  }
  *(is_from_open ? &flow->dl_src : &flow->dl_dst) = name;
  if (is_from_open && eth_addr_is_zero(mask->dl_dst)) {
    flow->dl_dst = (struct eth_addr)ETH_ADDR_C(02, 00, 00, 00, 00, 02);
  }
  if (mask->dl_type == 0) {
    flow->dl_type = htons(ETH_TYPE_IP);
  }
  if ((flow->vlans[0].tci & htons(VLAN_CFI)) != 0 && flow->vlans[0].tpid == 0) {
    flow->vlans[0].tpid = htons(ETH_TYPE_VLAN_8021Q);
  }
  if (is_ip_any(flow)) {
    fill_ip(flow, mask, tos);
  }
  return true;
}

static char* parse(const char* match, struct ofputil_flow_mod* mod) {
  char* text = xasprintf("%s%sactions=drop", match, match[0] == '\0' ? "" : ",");
  enum ofputil_protocol usable;
  char* error = parse_ofp_flow_mod_str(mod, text, NULL, NULL, OFPFC_ADD, &usable);
  free(text);
  if (error == NULL) {
    free(mod->ofpacts);
  }
  return error;
}

char* trumpet_of_compose(const char* match, uint8_t tos, const uint8_t mark[6],
                         trumpet_of_sink* sink, void* aux) {
  bool was_quiescent = trumpet_of_enter();
  struct ofputil_flow_mod mod;
  char* error = parse(match, &mod);
  if (error == NULL) {
    struct match wide;
    minimatch_expand(&mod.match, &wide);
    minimatch_destroy(&mod.match);
    if (fill(&wide.flow, &wide.wc.masks, tos, mark)) {
      struct dp_packet packet;
      dp_packet_init(&packet, 0);
      flow_compose(&packet, &wide.flow, payload, sizeof payload);
      if (dp_packet_size(&packet) < LEAST_FRAME) {
        dp_packet_put_zeros(&packet, LEAST_FRAME - dp_packet_size(&packet));
      }
      sink(aux, dp_packet_data(&packet), dp_packet_size(&packet));
      dp_packet_uninit(&packet);
    } else {
      error = xstrdup("both MAC addresses are said already, and one must bear a mark");
    }
  }
  trumpet_of_leave(was_quiescent);
  return error;
}

char* trumpet_of_takes(const char* match, uint32_t in_port, const void* frame, size_t size,
                       bool* takes) {
  bool was_quiescent = trumpet_of_enter();
  struct ofputil_flow_mod mod;
  char* error = parse(match, &mod);
  if (error == NULL) {
    struct dp_packet packet;
    dp_packet_use_const(&packet, frame, size);
    pkt_metadata_init(&packet.md, ODP_PORT_C(UINT32_MAX));
    struct flow flow;
    flow_extract(&packet, &flow);
    flow.in_port.ofp_port = u16_to_ofp((uint16_t)in_port);
    *takes = minimatch_matches_flow(&mod.match, &flow);
    minimatch_destroy(&mod.match);
  }
  trumpet_of_leave(was_quiescent);
  return error;
}
