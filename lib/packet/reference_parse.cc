// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/reference_parse.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

namespace trumpet {

namespace {

using Bytes = std::vector<uint8_t>;

constexpr int kEthernet = 0x6558;

// The `count` bytes at `offset` as one number; nothing if one of them is missing.
std::optional<uint64_t> Number(const Bytes& bytes, size_t offset, size_t count) {
  uint64_t number = 0;
  for (size_t i = offset; i < offset + count; ++i) {
    if (i >= bytes.size()) return std::nullopt;
    number = number * 256 + bytes[i];
  }
  return number;
}

Bytes From(const Bytes& bytes, size_t offset) {
  Bytes rest;
  for (size_t i = offset; i < bytes.size(); ++i) rest.push_back(bytes[i]);
  return rest;
}

Bytes FirstOf(const Bytes& bytes, size_t count) {
  Bytes first;
  for (size_t i = 0; i < count && i < bytes.size(); ++i) first.push_back(bytes[i]);
  return first;
}

void Set(Headers* headers, Field field) { headers->present |= FieldBit(field); }

// A packet inside of a packet, or the outermost one.
struct Layer {
  int type = kEthernet;  // what the bytes begin with
  Bytes bytes;
  std::optional<uint32_t> tunnel_id;
};

struct Reading {
  Headers headers;
  uint32_t volume = 0;
  TcpSegment tcp;
  std::optional<Layer> inside;
};

struct Transport {
  Bytes bytes;
  std::optional<int64_t> stated;  // length of the IP payload after extensions
  bool is_later_fragment = false;
  bool is_fragment = false;
};

bool HasIpHeader(int type, const Bytes& bytes) {
  if (type == 0x0800) {
    return bytes.size() >= 20 && bytes[0] / 16 == 4 && bytes[0] % 16 >= 5;
  }
  return type == 0x86dd && bytes.size() >= 40 && bytes[0] / 16 == 6;
}

bool IsDecodable(const Layer& layer) {
  if (layer.type == kEthernet) return layer.bytes.size() >= 14;
  return HasIpHeader(layer.type, layer.bytes);
}

Transport ReadIpv4(const Bytes& bytes, Headers* headers) {
  headers->ip_family = 4;
  headers->protocol = bytes[9];
  headers->ttl = bytes[8];
  headers->dscp = bytes[1] / 4;
  headers->ecn = bytes[1] % 4;
  for (int i = 0; i < 4; ++i) headers->src_ip[i] = bytes[12 + i];
  for (int i = 0; i < 4; ++i) headers->dst_ip[i] = bytes[16 + i];
  const int64_t header = bytes[0] % 16 * 4;
  const int64_t total = static_cast<int64_t>(*Number(bytes, 2, 2));
  Transport transport;
  if (total < header) {
    transport.bytes = From(bytes, header);
  } else {
    transport.bytes = From(FirstOf(bytes, total), header);
    transport.stated = total - header;
  }
  const uint64_t fragment = *Number(bytes, 6, 2);
  transport.is_later_fragment = fragment % 8192 != 0;
  transport.is_fragment = transport.is_later_fragment || fragment / 8192 % 2 == 1;
  return transport;
}

Transport ReadIpv6(const Bytes& bytes, Headers* headers) {
  static const std::set<int> kExtensions{0, 43, 44, 51, 60, 135, 139, 140};
  headers->ip_family = 6;
  headers->ttl = bytes[7];
  const uint64_t traffic_class = *Number(bytes, 0, 4) / 0x100000 % 256;
  headers->dscp = static_cast<uint8_t>(traffic_class / 4);
  headers->ecn = static_cast<uint8_t>(traffic_class % 4);
  for (int i = 0; i < 16; ++i) headers->src_ip[i] = bytes[8 + i];
  for (int i = 0; i < 16; ++i) headers->dst_ip[i] = bytes[24 + i];
  const int64_t length = static_cast<int64_t>(*Number(bytes, 4, 2));
  Transport transport;
  if (length == 0) {
    transport.bytes = From(bytes, 40);
  } else {
    transport.bytes = From(FirstOf(bytes, 40 + length), 40);
    transport.stated = length;
  }
  int next = bytes[6];
  for (int i = 0; i < 16; ++i) {
    if (kExtensions.count(next) == 0 || transport.is_later_fragment) break;
    const Bytes header = transport.bytes;
    if (header.size() < 8) break;
    int64_t header_length = header[1] * 8 + 8;
    if (next == 51) header_length = header[1] * 4 + 8;
    if (next == 44) {
      header_length = 8;
      const uint64_t fragment = *Number(header, 2, 2);
      if (fragment / 8 != 0) transport.is_later_fragment = true;
      if (fragment / 8 != 0 || fragment % 2 == 1) transport.is_fragment = true;
    }
    next = header[0];
    transport.bytes = From(header, header_length);
    if (transport.stated)
      transport.stated = std::max<int64_t>(0, *transport.stated - header_length);
  }
  headers->protocol = static_cast<uint8_t>(next);
  return transport;
}

void ReadTcpOptions(const Bytes& options, TcpSegment* tcp) {
  size_t at = 0;
  while (at < options.size() && options[at] != 0) {
    if (options[at] == 1) {
      at += 1;
      continue;
    }
    const auto length = Number(options, at + 1, 1);
    if (!length || *length < 2 || at + *length > options.size()) return;
    if (options[at] == 2 && *length == 4) {
      tcp->has_mss = true;
      tcp->mss = static_cast<uint16_t>(*Number(options, at + 2, 2));
    }
    if (options[at] == 3 && *length == 3) {
      tcp->has_window_shift = true;
      tcp->window_shift = options[at + 2] > 14 ? 14 : options[at + 2];
    }
    at += *length;
  }
}

void ReadPortNumbers(const Bytes& bytes, Headers* headers) {
  Set(headers, Field::kSrcPort);
  Set(headers, Field::kDstPort);
  headers->src_port = static_cast<uint16_t>(*Number(bytes, 0, 2));
  headers->dst_port = static_cast<uint16_t>(*Number(bytes, 2, 2));
}

uint32_t PayloadAfter(const Transport& transport, int64_t header) {
  return static_cast<uint32_t>(std::max<int64_t>(0, transport.stated.value_or(0) - header));
}

void ReadTcp(const Transport& transport, Reading* reading) {
  const Bytes& bytes = transport.bytes;
  int64_t header = 20;
  if (bytes.size() > 12 && bytes[12] / 16 > 5) header = bytes[12] / 16 * 4;
  reading->volume = PayloadAfter(transport, header);
  if (bytes.size() < 20) return;
  ReadPortNumbers(bytes, &reading->headers);
  Set(&reading->headers, Field::kTcpFlags);
  TcpSegment& tcp = reading->tcp;
  tcp.is_present = true;
  tcp.seq = static_cast<uint32_t>(*Number(bytes, 4, 4));
  tcp.ack = static_cast<uint32_t>(*Number(bytes, 8, 4));
  tcp.flags = static_cast<uint16_t>(*Number(bytes, 12, 2) % 4096);
  tcp.window = static_cast<uint16_t>(*Number(bytes, 14, 2));
  tcp.payload_bytes = reading->volume;
  reading->headers.tcp_flags = tcp.flags;
  if (tcp.flags / 2 % 2 == 1) ReadTcpOptions(From(FirstOf(bytes, header), 20), &tcp);
}

// The length in bytes of the options that GRE's first byte announces.
std::optional<Layer> ReadGre(const Bytes& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const bool has_checksum = (bytes[0] & 0x80) != 0;
  const bool has_routing = (bytes[0] & 0x40) != 0;
  const bool has_key = (bytes[0] & 0x20) != 0;
  const bool has_sequence = (bytes[0] & 0x10) != 0;
  if (has_routing || bytes[1] % 8 != 0) return std::nullopt;
  Layer layer;
  layer.type = static_cast<int>(*Number(bytes, 2, 2));
  size_t at = has_checksum ? 8 : 4;
  if (has_key) {
    const auto key = Number(bytes, at, 4);
    if (!key) return std::nullopt;
    layer.tunnel_id = static_cast<uint32_t>(*key);
    at += 4;
  }
  layer.bytes = From(bytes, has_sequence ? at + 4 : at);
  return layer;
}

bool IsPort(uint16_t port, const std::array<uint16_t, kMaxTunnelPorts>& ports) {
  return port != 0 && std::count(ports.begin(), ports.end(), port) > 0;
}

std::optional<Layer> ReadUdpTunnel(const Bytes& bytes, uint16_t port, const ParseOptions& options) {
  Layer layer;
  if (bytes.size() < 8) return std::nullopt;
  layer.tunnel_id = static_cast<uint32_t>(*Number(bytes, 4, 3));
  if (IsPort(port, options.vxlan_ports)) {
    if (bytes[0] / 8 % 2 == 0) return std::nullopt;
    layer.bytes = From(bytes, 8);
    return layer;
  }
  if (IsPort(port, options.geneve_ports)) {
    if (bytes[0] / 64 != 0) return std::nullopt;
    layer.type = static_cast<int>(*Number(bytes, 2, 2));
    layer.bytes = From(bytes, 8 + bytes[0] % 64 * 4);
    return layer;
  }
  return std::nullopt;
}

void ReadTransport(const Transport& transport, const ParseOptions& options, Reading* reading) {
  Headers& headers = reading->headers;
  reading->volume = PayloadAfter(transport, 0);
  if (transport.is_later_fragment) return;
  if (headers.protocol == 6) ReadTcp(transport, reading);
  if (headers.protocol == 17) {
    reading->volume = PayloadAfter(transport, 8);
    if (transport.bytes.size() >= 8) {
      ReadPortNumbers(transport.bytes, &headers);
      reading->inside = ReadUdpTunnel(From(transport.bytes, 8), headers.dst_port, options);
    }
  }
  if (headers.protocol == 132) {
    reading->volume = PayloadAfter(transport, 12);
    if (transport.bytes.size() >= 12) ReadPortNumbers(transport.bytes, &headers);
  }
  if (headers.protocol == 47) reading->inside = ReadGre(transport.bytes);
  if (transport.is_fragment) reading->inside.reset();
  if (reading->inside && !IsDecodable(*reading->inside)) reading->inside.reset();
}

// The Ethernet header and its tags; returns what follows.
Bytes ReadEthernet(const Bytes& bytes, Headers* headers) {
  Set(headers, Field::kSrcMac);
  Set(headers, Field::kDstMac);
  for (int i = 0; i < 6; ++i) headers->dst_mac[i] = bytes[i];
  for (int i = 0; i < 6; ++i) headers->src_mac[i] = bytes[6 + i];
  uint64_t type = *Number(bytes, 12, 2);
  Bytes rest = From(bytes, 14);
  for (int tags = 0; tags < 8; ++tags) {
    const bool is_tag = type == 0x8100 || type == 0x88a8;
    if (!is_tag || rest.size() < 4) break;
    if (tags == 0) {
      Set(headers, Field::kVlan);
      headers->vlan = static_cast<uint16_t>(*Number(rest, 0, 2) % 4096);
    }
    type = *Number(rest, 2, 2);
    rest = From(rest, 4);
  }
  headers->eth_type = static_cast<uint16_t>(type);
  return rest;
}

Reading ReadLayer(const Layer& layer, const ParseOptions& options) {
  Reading reading;
  Headers& headers = reading.headers;
  Bytes bytes = layer.bytes;
  headers.eth_type = static_cast<uint16_t>(layer.type);
  if (layer.type == kEthernet) bytes = ReadEthernet(layer.bytes, &headers);
  Set(&headers, Field::kEthType);
  if (!HasIpHeader(headers.eth_type, bytes)) return reading;
  for (Field field :
       {Field::kSrcIp, Field::kDstIp, Field::kProtocol, Field::kDscp, Field::kEcn, Field::kTtl}) {
    Set(&headers, field);
  }
  const bool is_ipv4 = headers.eth_type == 0x0800;
  const Transport transport = is_ipv4 ? ReadIpv4(bytes, &headers) : ReadIpv6(bytes, &headers);
  ReadTransport(transport, options, &reading);
  return reading;
}

void GiveTunnelId(const Layer& layer, Headers* headers) {
  if (!layer.tunnel_id) return;
  Set(headers, Field::kTunnelId);
  headers->tunnel_id = *layer.tunnel_id;
}

}  // namespace

ParsedPacket ReferenceParse(const std::vector<uint8_t>& captured, uint32_t wire_length,
                            const ParseOptions& options) {
  ParsedPacket packet;
  packet.bytes = wire_length;
  Layer layer;
  layer.bytes = captured;
  if (!IsDecodable(layer)) return packet;
  std::vector<Layer> layers{layer};
  std::vector<Reading> readings{ReadLayer(layer, options)};
  while (readings.back().inside && readings.size() <= 8) {
    layers.push_back(*readings.back().inside);
    readings.push_back(ReadLayer(layers.back(), options));
  }
  packet.innermost = readings.back().headers;
  packet.volume = readings.back().volume;
  packet.tcp = readings.back().tcp;
  packet.depth_exceeded = readings.back().inside.has_value();
  if (layers.size() > 1) {
    packet.is_tunnelled = true;
    packet.outer = readings.front().headers;
    GiveTunnelId(layers[1], &packet.outer);
    GiveTunnelId(layers.back(), &packet.innermost);
  }
  return packet;
}

std::string Describe(const ParsedPacket& packet) {
  std::ostringstream text;
  for (Level level : {Level::kInnermost, Level::kOuter, Level::kInner}) {
    for (int i = 0; i < kFieldCount; ++i) {
      const FieldRef ref{static_cast<Field>(i), level};
      const FieldValue value = ReadField(packet, ref);
      if (value.is_present()) text << FieldRefName(ref) << "=" << FormatValue(value) << "\n";
    }
  }
  text << "family=" << int{packet.innermost.ip_family} << "/" << int{packet.outermost().ip_family}
       << " tunnelled=" << packet.is_tunnelled << " deeper=" << packet.depth_exceeded
       << " bytes=" << packet.bytes << " volume=" << packet.volume << "\n";
  const TcpSegment& tcp = packet.tcp;
  text << "tcp=" << tcp.is_present << " seq=" << tcp.seq << " ack=" << tcp.ack
       << " flags=" << tcp.flags << " window=" << tcp.window << " payload=" << tcp.payload_bytes
       << " mss=" << tcp.has_mss << ":" << tcp.mss << " shift=" << tcp.has_window_shift << ":"
       << int{tcp.window_shift} << "\n";
  return text.str();
}

}  // namespace trumpet
