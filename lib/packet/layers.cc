// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/packet/layers.h"

#include <algorithm>

#include "lib/base/byte_order.h"
#include "lib/packet/parse_ip.h"
#include "lib/packet/parse_transport.h"
#include "lib/packet/parse_tunnel.h"

namespace trumpet {
namespace {

using parse_internal::Fragment;
using parse_internal::IpPayload;
using parse_internal::Span;

constexpr uint16_t kTypeMpls = 0x8847;
constexpr uint16_t kTypeMplsMulticast = 0x8848;
constexpr uint16_t kTypeNsh = 0x894f;
constexpr uint16_t kTypeCiscoMeta = 0x8909;
constexpr uint16_t kTypeErspan = 0x88be;
constexpr uint16_t kTypeErspan3 = 0x22eb;
constexpr uint16_t kTypeMellanox = 0x8949;
constexpr uint16_t kTypeWccp = 0x883e;
constexpr uint8_t kProtocolIpv4 = 4;
constexpr uint8_t kProtocolIpv6 = 41;
constexpr uint8_t kProtocolMpls = 137;
constexpr uint8_t kProtocolEthernet = 143;
constexpr uint16_t kPptpAcknowledgment = 0x0080;  // RFC 2637
constexpr uint32_t kWordBytes = 4;                // a tag, a label, a control word, WCCP's header
constexpr uint32_t kErspan2Bytes = 8;
constexpr uint32_t kErspan3Bytes = 12;
constexpr uint32_t kPlatformBytes = 8;
constexpr uint32_t kMellanoxBytes = 22;
constexpr uint32_t kCiscoMetaBytes = 8;
constexpr uint32_t kNshMinBytes = 8;
constexpr uint8_t kFrameTypeEthernet = 0;
constexpr uint8_t kFrameTypeIp = 2;

LayerKind KindOfType(uint16_t type) {
  switch (type) {
    case 0x8100:
    case 0x88a8:
    case 0x9100:
      return LayerKind::kVlan;
    case parse_internal::kEthTypeIpv4:
      return LayerKind::kIpv4;
    case parse_internal::kEthTypeIpv6:
      return LayerKind::kIpv6;
    case parse_internal::kProtocolTypeEthernet:
      return LayerKind::kEthernet;
    case kTypeMpls:
    case kTypeMplsMulticast:
      return LayerKind::kMpls;
    case kTypeNsh:
      return LayerKind::kNsh;
    case kTypeCiscoMeta:
      return LayerKind::kCiscoMeta;
    default:
      return LayerKind::kPayload;
  }
}

LayerKind KindOfProtocol(uint8_t protocol) {
  switch (protocol) {
    case kProtocolTcp:
      return LayerKind::kTcp;
    case kProtocolUdp:
      return LayerKind::kUdp;
    case kProtocolSctp:
      return LayerKind::kSctp;
    case kProtocolGre:
      return LayerKind::kGre;
    case kProtocolIpv4:
      return LayerKind::kIpv4;
    case kProtocolIpv6:
      return LayerKind::kIpv6;
    case kProtocolMpls:
      return LayerKind::kMpls;
    case kProtocolEthernet:
      return LayerKind::kEthernet;
    default:
      return LayerKind::kPayload;
  }
}

// Of NSH and of VXLAN GPE.
LayerKind KindOfNextProtocol(uint8_t next) {
  switch (next) {
    case 1:
      return LayerKind::kIpv4;
    case 2:
      return LayerKind::kIpv6;
    case 3:
      return LayerKind::kEthernet;
    case 4:
      return LayerKind::kNsh;
    case 5:
      return LayerKind::kMpls;
    default:
      return LayerKind::kPayload;
  }
}

LayerKind KindOfIpAt(const Span& span) {
  if (span.available() == 0) return LayerKind::kPayload;
  switch (span.here()[0] >> 4) {
    case 4:
      return LayerKind::kIpv4;
    case 6:
      return LayerKind::kIpv6;
    default:
      return LayerKind::kPayload;
  }
}

class Walk {
 public:
  Walk(Span span, const LayerOptions& options, Layers* layers)
      : span_(span), options_(options), layers_(layers) {}

  void From(LayerKind kind) {
    while (kind != LayerKind::kPayload) {
      if (layers_->count == kMaxLayers) {
        layers_->end = LayersEnd::kTooMany;
        break;
      }
      kind = Read(kind);
    }
    layers_->payload_at = span_.offset;
    layers_->payload_end = span_.end;
  }

 private:
  // Each reads the layer that stands here, steps over it, and says what follows.
  LayerKind Read(LayerKind kind);
  LayerKind ReadEthernet();
  LayerKind ReadVlan();
  LayerKind ReadMpls();
  LayerKind ReadIp(LayerKind kind);
  LayerKind ReadTcp();
  LayerKind ReadUdp();
  LayerKind ReadGre();
  LayerKind ReadErspan3();
  LayerKind ReadVxlan();
  LayerKind ReadVxlanGpe();
  LayerKind ReadGeneve();
  LayerKind ReadNsh();
  LayerKind ReadWccp();
  LayerKind ReadCiscoMeta();
  // A layer of `bytes` of which nothing has to be known.
  LayerKind ReadFixed(LayerKind kind, uint32_t bytes, LayerKind next);

  LayerKind End(LayersEnd end) {
    layers_->end = end;
    return LayerKind::kPayload;
  }
  bool Has(uint32_t bytes) {
    if (span_.available() >= bytes) return true;
    layers_->end = LayersEnd::kCut;
    return false;
  }
  void Add(LayerKind kind, uint32_t bytes) {
    layers_->list[static_cast<size_t>(layers_->count++)] = {kind, span_.offset, bytes};
    span_.offset += bytes;
  }

  Span span_;
  const LayerOptions& options_;
  Layers* const layers_;
};

LayerKind Walk::Read(LayerKind kind) {
  switch (kind) {
    case LayerKind::kEthernet:
      return ReadEthernet();
    case LayerKind::kVlan:
      return ReadVlan();
    case LayerKind::kMpls:
      return ReadMpls();
    case LayerKind::kIpv4:
    case LayerKind::kIpv6:
      return ReadIp(kind);
    case LayerKind::kTcp:
      return ReadTcp();
    case LayerKind::kUdp:
      return ReadUdp();
    case LayerKind::kSctp:
      return ReadFixed(kind, parse_internal::kSctpBytes, LayerKind::kPayload);
    case LayerKind::kGre:
      return ReadGre();
    case LayerKind::kErspan3:
      return ReadErspan3();
    case LayerKind::kVxlan:
      return ReadVxlan();
    case LayerKind::kVxlanGpe:
      return ReadVxlanGpe();
    case LayerKind::kGeneve:
      return ReadGeneve();
    case LayerKind::kNsh:
      return ReadNsh();
    case LayerKind::kWccp:
      return ReadWccp();
    case LayerKind::kCiscoMeta:
      return ReadCiscoMeta();
    case LayerKind::kControlWord:
      return ReadFixed(kind, kWordBytes, LayerKind::kEthernet);
    case LayerKind::kErspan1:
      return ReadFixed(kind, 0, LayerKind::kEthernet);
    case LayerKind::kErspan2:
      return ReadFixed(kind, kErspan2Bytes, LayerKind::kEthernet);
    case LayerKind::kMellanox:
      return ReadFixed(kind, kMellanoxBytes, LayerKind::kEthernet);
    case LayerKind::kPptp:            // read as GRE
    case LayerKind::kErspanPlatform:  // read with what it belongs to
    case LayerKind::kPayload:
      break;
  }
  return LayerKind::kPayload;
}

LayerKind Walk::ReadFixed(LayerKind kind, uint32_t bytes, LayerKind next) {
  if (!Has(bytes)) return LayerKind::kPayload;
  if (kind == LayerKind::kErspan2 && span_.here()[0] >> 4 != 1) return End(LayersEnd::kMalformed);
  Add(kind, bytes);
  return next;
}

LayerKind Walk::ReadEthernet() {
  if (!Has(parse_internal::kEthernetBytes)) return LayerKind::kPayload;
  const uint16_t type = LoadBe16(span_.here() + 12);
  Add(LayerKind::kEthernet, parse_internal::kEthernetBytes);
  return KindOfType(type);
}

LayerKind Walk::ReadVlan() {
  if (!Has(kWordBytes)) return LayerKind::kPayload;
  const uint16_t type = LoadBe16(span_.here() + 2);
  Add(LayerKind::kVlan, kWordBytes);
  return KindOfType(type);
}

LayerKind Walk::ReadMpls() {
  if (!Has(kWordBytes)) return LayerKind::kPayload;
  const bool is_last = (span_.here()[2] & 1) != 0;
  Add(LayerKind::kMpls, kWordBytes);
  if (!is_last) return LayerKind::kMpls;
  // Labels do not say what they carry; its first half byte does, mostly (RFC 4385).
  const LayerKind ip = KindOfIpAt(span_);
  if (ip != LayerKind::kPayload) return ip;
  const bool is_control_word = span_.available() > 0 && span_.here()[0] >> 4 == 0;
  return is_control_word ? LayerKind::kControlWord : LayerKind::kPayload;
}

LayerKind Walk::ReadIp(LayerKind kind) {
  const bool is_ipv4 = kind == LayerKind::kIpv4;
  if (!Has(is_ipv4 ? parse_internal::kIpv4MinBytes : parse_internal::kIpv6Bytes)) {
    return LayerKind::kPayload;
  }
  const uint16_t type = is_ipv4 ? parse_internal::kEthTypeIpv4 : parse_internal::kEthTypeIpv6;
  if (parse_internal::RecognisedIpVersion(span_, type) == 0) return End(LayersEnd::kMalformed);
  if (is_ipv4) {
    const uint32_t bytes = (span_.here()[0] & 15u) * 4;
    const uint16_t total = LoadBe16(span_.here() + 2);  // 0 where a card has yet to segment it
    if (total != 0 && total < bytes) return End(LayersEnd::kMalformed);
    if (!Has(bytes)) return LayerKind::kPayload;
  }
  Headers headers;
  const IpPayload ip = is_ipv4 ? parse_internal::ParseIpv4(span_, &headers)
                               : parse_internal::ParseIpv6(span_, &headers);
  Add(kind, ip.span.offset - span_.offset);
  span_ = ip.span;
  if (ip.fragment == Fragment::kLater) return End(LayersEnd::kFragment);
  return KindOfProtocol(headers.protocol);
}

LayerKind Walk::ReadTcp() {
  if (!Has(parse_internal::kTcpMinBytes)) return LayerKind::kPayload;
  const uint32_t bytes = (span_.here()[parse_internal::kTcpOffsetByte] >> 4) * 4u;
  if (bytes < parse_internal::kTcpMinBytes) return End(LayersEnd::kMalformed);
  // Options may be cut off; the fixed part is all that is read.
  Add(LayerKind::kTcp, std::min(bytes, span_.available()));
  return LayerKind::kPayload;
}

LayerKind Walk::ReadUdp() {
  if (!Has(parse_internal::kUdpBytes)) return LayerKind::kPayload;
  const uint16_t port = LoadBe16(span_.here() + 2);
  Add(LayerKind::kUdp, parse_internal::kUdpBytes);
  if (port == 0) return LayerKind::kPayload;
  if (parse_internal::IsAmong(port, options_.ports.vxlan_ports)) return LayerKind::kVxlan;
  if (parse_internal::IsAmong(port, options_.ports.geneve_ports)) return LayerKind::kGeneve;
  if (port == options_.vxlan_gpe_port) return LayerKind::kVxlanGpe;
  return port == options_.mpls_port ? LayerKind::kMpls : LayerKind::kPayload;
}

LayerKind Walk::ReadGre() {
  if (!Has(parse_internal::kGreMinBytes)) return LayerKind::kPayload;
  const uint16_t flags = LoadBe16(span_.here());
  const uint16_t type = LoadBe16(span_.here() + 2);
  const int version = flags & parse_internal::kGreVersion;
  const bool is_pptp = version == 1;
  const LayerKind kind = is_pptp ? LayerKind::kPptp : LayerKind::kGre;
  // Routing was never used.
  if (version > 1 || (flags & parse_internal::kGreRouting) != 0) {
    Add(kind, parse_internal::kGreMinBytes);
    return End(LayersEnd::kMalformed);
  }
  uint32_t bytes = parse_internal::kGreMinBytes;
  const int first = is_pptp ? kPptpAcknowledgment : parse_internal::kGreChecksum;
  const int optional = flags & (first | parse_internal::kGreKey | parse_internal::kGreSequence);
  bytes += 4 * static_cast<uint32_t>(__builtin_popcount(static_cast<unsigned>(optional)));
  const bool is_whole = Has(bytes);
  Add(kind, is_whole ? bytes : parse_internal::kGreMinBytes);
  if (!is_whole || is_pptp) return LayerKind::kPayload;
  switch (type) {
    case kTypeErspan:
      return (flags & parse_internal::kGreSequence) != 0 ? LayerKind::kErspan2
                                                         : LayerKind::kErspan1;
    case kTypeErspan3:
      return LayerKind::kErspan3;
    case kTypeMellanox:
      return LayerKind::kMellanox;
    case kTypeWccp:
      return LayerKind::kWccp;
    default:
      return KindOfType(type);
  }
}

LayerKind Walk::ReadErspan3() {
  if (!Has(kErspan3Bytes)) return LayerKind::kPayload;
  if (span_.here()[0] >> 4 != 2) return End(LayersEnd::kMalformed);
  const uint16_t word = LoadBe16(span_.here() + 10);
  Add(LayerKind::kErspan3, kErspan3Bytes);
  if ((word & 1) != 0) {
    if (!Has(kPlatformBytes)) return LayerKind::kPayload;
    if (layers_->count == kMaxLayers) return End(LayersEnd::kTooMany);
    Add(LayerKind::kErspanPlatform, kPlatformBytes);
  }
  const auto frame_type = static_cast<uint8_t>(word >> 10 & 31);
  if (frame_type == kFrameTypeIp) return KindOfIpAt(span_);
  return frame_type == kFrameTypeEthernet ? LayerKind::kEthernet : LayerKind::kPayload;
}

LayerKind Walk::ReadVxlan() {
  if (!Has(parse_internal::kVxlanBytes)) return LayerKind::kPayload;
  if ((span_.here()[0] & 0x08) == 0) return End(LayersEnd::kMalformed);
  Add(LayerKind::kVxlan, parse_internal::kVxlanBytes);
  return LayerKind::kEthernet;
}

LayerKind Walk::ReadVxlanGpe() {
  if (!Has(parse_internal::kVxlanBytes)) return LayerKind::kPayload;
  const uint8_t flags = span_.here()[0];
  const uint8_t next = span_.here()[3];
  if ((flags & 0x08) == 0 || flags >> 4 != 0) return End(LayersEnd::kMalformed);
  Add(LayerKind::kVxlanGpe, parse_internal::kVxlanBytes);
  return (flags & 0x04) != 0 ? KindOfNextProtocol(next) : LayerKind::kEthernet;
}

LayerKind Walk::ReadGeneve() {
  if (!Has(parse_internal::kGeneveMinBytes)) return LayerKind::kPayload;
  if (span_.here()[0] >> 6 != 0) return End(LayersEnd::kMalformed);
  const uint16_t type = LoadBe16(span_.here() + 2);
  const uint32_t bytes = parse_internal::kGeneveMinBytes + (span_.here()[0] & 0x3fu) * 4;
  if (!Has(bytes)) return LayerKind::kPayload;
  Add(LayerKind::kGeneve, bytes);
  return KindOfType(type);
}

LayerKind Walk::ReadNsh() {
  if (!Has(kNshMinBytes)) return LayerKind::kPayload;
  const uint32_t bytes = (span_.here()[1] & 0x3fu) * 4;
  const uint8_t next = span_.here()[3];
  if (span_.here()[0] >> 6 != 0 || bytes < kNshMinBytes) return End(LayersEnd::kMalformed);
  if (!Has(bytes)) return LayerKind::kPayload;
  Add(LayerKind::kNsh, bytes);
  return KindOfNextProtocol(next);
}

// The first version had no header of its own.
LayerKind Walk::ReadWccp() {
  if (KindOfIpAt(span_) == LayerKind::kIpv4) return LayerKind::kIpv4;
  return ReadFixed(LayerKind::kWccp, kWordBytes, LayerKind::kIpv4);
}

LayerKind Walk::ReadCiscoMeta() {
  if (!Has(kCiscoMetaBytes)) return LayerKind::kPayload;
  const uint16_t type = LoadBe16(span_.here());
  Add(LayerKind::kCiscoMeta, kCiscoMetaBytes);
  return KindOfType(type);
}

}  // namespace

void ReadLayers(const uint8_t* data, uint32_t captured, LayerKind first,
                const LayerOptions& options, Layers* layers) {
  layers->count = 0;
  layers->end = LayersEnd::kPayload;
  const Span span{data, 0, captured};
  const bool is_ip = first == LayerKind::kIpv4 || first == LayerKind::kIpv6;
  Walk(span, options, layers).From(is_ip ? KindOfIpAt(span) : first);
}

}  // namespace trumpet
