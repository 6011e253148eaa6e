// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_message.h"

#include <cstdlib>
#include <utility>

namespace trumpet {
namespace {

void AppendTo(void* text, const void* bytes, size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
}

// Takes over the text of an error.
Status ToStatus(char* error) {
  if (error == nullptr) return Status::Ok();
  Status status = Status::Error(error);
  std::free(error);
  return status;
}

OpenflowMessage* Message(void* aux) { return static_cast<OpenflowMessage*>(aux); }

void TakeMessage(void* aux, const trumpet_of_message* head) {
  OpenflowMessage* const message = Message(aux);
  message->head = *head;
  if (head->packet != nullptr) {
    message->packet.assign(static_cast<const char*>(head->packet), head->packet_size);
  }
  message->head.packet = nullptr;
}

void TakeFlow(void* aux, const trumpet_of_flow* from) {
  OpenflowFlow flow;
  flow.cookie = from->cookie;
  flow.table = from->table;
  flow.priority = from->priority;
  flow.packets = from->packets;
  flow.bytes = from->bytes;
  flow.duration = from->duration_ns;
  flow.match = from->match;
  flow.timeouts = from->timeouts;
  flow.actions = from->actions;
  Message(aux)->flows.push_back(std::move(flow));
}

void TakePort(void* aux, const trumpet_of_port* from) {
  OpenflowPort port;
  port.number = from->number;
  port.name = from->name;
  for (size_t i = 0; i < port.mac.size(); ++i) port.mac[i] = from->mac[i];
  port.is_up = from->is_up;
  port.rx_packets = from->rx_packets;
  port.tx_packets = from->tx_packets;
  port.rx_bytes = from->rx_bytes;
  port.tx_bytes = from->tx_bytes;
  port.rx_dropped = from->rx_dropped;
  port.tx_dropped = from->tx_dropped;
  Message(aux)->ports.push_back(std::move(port));
}

void TakeNumbered(void* aux, const trumpet_of_numbered* from) {
  Message(aux)->numbered.push_back(
      {from->number, from->packets, from->bytes, from->dropped, from->text});
}

// Of "meter=5,pktps,band=..." what a deletion takes.
std::string NumberOf(const std::string& text, const char* key) {
  const size_t at = text.find(key);
  return at == text.npos ? text : text.substr(at, text.find(',', at) - at);
}

}  // namespace

Result<OpenflowMessage> DecodeOpenflow(std::string_view bytes) {
  OpenflowMessage message;
  const trumpet_of_visitor visitor = {&message, TakeMessage, TakeFlow, TakePort, TakeNumbered};
  const Status status = ToStatus(trumpet_of_decode(bytes.data(), bytes.size(), &visitor));
  if (!status.ok()) return status;
  return message;
}

std::string PrintOpenflow(std::string_view bytes) {
  std::string text;
  trumpet_of_print(bytes.data(), bytes.size(), AppendTo, &text);
  return text;
}

std::string EncodeHello() {
  std::string bytes;
  trumpet_of_hello(0, AppendTo, &bytes);
  return bytes;
}

std::string EncodeHelloFailed(uint8_t version, const std::string& text) {
  std::string bytes;
  trumpet_of_hello_failed(version, text.c_str(), AppendTo, &bytes);
  return bytes;
}

std::string EncodeSimple(uint8_t version, trumpet_of_ask what, uint32_t xid) {
  std::string bytes;
  trumpet_of_simple(version, what, xid, AppendTo, &bytes);
  return bytes;
}

std::string EncodeEchoReply(std::string_view request) {
  std::string bytes;
  trumpet_of_echo_reply(request.data(), AppendTo, &bytes);
  return bytes;
}

std::string EncodeRoleRequest(uint8_t version, uint32_t role, uint64_t generation, uint32_t xid) {
  std::string bytes;
  trumpet_of_role_request(version, role, generation, xid, AppendTo, &bytes);
  return bytes;
}

Result<std::string> EncodeRule(uint8_t version, trumpet_of_change change, const OpenflowRule& rule,
                               uint32_t xid) {
  std::string bytes;
  char* error = nullptr;
  const bool deletes = change == TRUMPET_OF_DELETE;
  switch (rule.kind) {
    case OpenflowRule::Kind::kFlow:
      error = trumpet_of_flow_mod(version, change, rule.text.c_str(), rule.cookie, xid, AppendTo,
                                  &bytes);
      break;
    case OpenflowRule::Kind::kGroup: {
      const std::string text = deletes ? NumberOf(rule.text, "group_id=") : rule.text;
      error = trumpet_of_group_mod(version, change, text.c_str(), xid, AppendTo, &bytes);
      break;
    }
    case OpenflowRule::Kind::kMeter: {
      const std::string text = deletes ? NumberOf(rule.text, "meter=") : rule.text;
      error = trumpet_of_meter_mod(version, change, text.c_str(), xid, AppendTo, &bytes);
      break;
    }
  }
  const Status status = ToStatus(error);
  if (!status.ok()) return Status::Error("'" + rule.text + "': " + status.message());
  return bytes;
}

Result<std::string> EncodePacketOut(uint8_t version, uint32_t in_port, std::string_view packet,
                                    const std::string& actions, uint32_t xid) {
  std::string bytes;
  const Status status = ToStatus(trumpet_of_packet_out(
      version, in_port, packet.data(), packet.size(), actions.c_str(), xid, AppendTo, &bytes));
  if (!status.ok()) return status;
  return bytes;
}

Result<std::string> ComposeFrame(const std::string& match, uint8_t tos, const FrameMark& mark) {
  std::string frame;
  const Status status =
      ToStatus(trumpet_of_compose(match.c_str(), tos, mark.data(), AppendTo, &frame));
  if (!status.ok()) return status;
  return frame;
}

std::string EncodeFlowPurge(uint8_t version, uint64_t cookie, uint64_t cookie_mask, uint32_t xid) {
  std::string bytes;
  trumpet_of_flow_purge(version, cookie, cookie_mask, xid, AppendTo, &bytes);
  return bytes;
}

std::string EncodeFlowStatsRequest(uint8_t version, bool is_sum, uint8_t table, uint64_t cookie,
                                   uint64_t cookie_mask, uint32_t xid) {
  std::string bytes;
  trumpet_of_flow_stats_request(version, is_sum, table, cookie, cookie_mask, xid, AppendTo, &bytes);
  return bytes;
}

Result<std::string> EncodeFlowLook(uint8_t version, bool is_sum, const OpenflowRule& rule,
                                   uint32_t xid) {
  std::string bytes;
  const Status status =
      ToStatus(trumpet_of_flow_look(version, is_sum, rule.text.c_str(), xid, AppendTo, &bytes));
  if (!status.ok()) return Status::Error("'" + rule.text + "': " + status.message());
  return bytes;
}

std::string EncodeBundleControl(uint8_t version, uint32_t id, trumpet_of_bundle what,
                                uint32_t xid) {
  std::string bytes;
  trumpet_of_bundle_control(version, id, what, xid, AppendTo, &bytes);
  return bytes;
}

std::string EncodeBundleAdd(uint8_t version, uint32_t id, std::string_view message) {
  std::string bytes;
  trumpet_of_bundle_add(version, id, message.data(), AppendTo, &bytes);
  return bytes;
}

}  // namespace trumpet
