// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/topology/lldp.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace trumpet {
namespace {

// IEEE 802.1AB: a TLV is 7 bits of type, 9 of length, and so many bytes.
enum : uint8_t { kEnd = 0, kChassisId = 1, kPortId = 2, kTimeToLive = 3, kOrganisation = 127 };
constexpr uint8_t kLocallyAssigned = 7;  // subtype of both ids
constexpr size_t kEthernetBytes = 14;
constexpr size_t kLeastFrameBytes = 60;
constexpr uint16_t kTimeToLiveSeconds = 5;

// An identifier with the bit of local administration is nobody's; then a subtype, which is our
// version.
constexpr std::array<uint8_t, 4> kOurTlv = {0x06, 0x54, 0x52, 1};
// Behind it: speaker, datapath id, port, nonce, and what authenticates them.
constexpr size_t kClaimBytes = 8 + 8 + 4 + 8;
constexpr size_t kTagBytes = 32;

using Bytes = std::vector<uint8_t>;
using Tag = std::array<uint8_t, kTagBytes>;

void Put(uint64_t value, size_t bytes, Bytes* to) {
  for (size_t i = bytes; i-- > 0;) to->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint64_t Get(const uint8_t* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

void PutHead(uint8_t type, size_t size, Bytes* to) { Put(uint64_t{type} << 9 | size, 2, to); }

void PutText(uint8_t type, const std::string& text, Bytes* to) {
  PutHead(type, text.size() + 1, to);
  to->push_back(kLocallyAssigned);
  to->insert(to->end(), text.begin(), text.end());
}

Tag Authenticate(const uint8_t* claim, const LldpIdentity& identity) {
  Tag tag{};
  unsigned size = 0;
  const bool is_done = HMAC(EVP_sha256(), identity.key.data(), int{sizeof identity.key}, claim,
                            kClaimBytes, tag.data(), &size) != nullptr;
  // Without memory nothing can be authenticated, and a tag of zeros would be anybody's.
  if (!is_done || size != kTagBytes) std::abort();
  return tag;
}

struct Tlv {
  uint8_t type = kEnd;
  const uint8_t* value = nullptr;
  size_t size = 0;
};

// Nothing if there is no whole one.
std::optional<Tlv> NextTlv(const uint8_t** at, const uint8_t* end) {
  if (end - *at < 2) return std::nullopt;
  const uint64_t head = Get(*at, 2);
  Tlv tlv{static_cast<uint8_t>(head >> 9), *at + 2, static_cast<size_t>(head & 0x1ff)};
  if (static_cast<size_t>(end - tlv.value) < tlv.size) return std::nullopt;
  *at = tlv.value + tlv.size;
  return tlv;
}

bool IsOurs(const Tlv& tlv) {
  return tlv.type == kOrganisation && tlv.size >= kOurTlv.size() &&
         std::equal(kOurTlv.begin(), kOurTlv.end(), tlv.value);
}

LldpVerdict Check(const uint8_t* claim, const LldpIdentity& identity, LldpProbe* probe) {
  if (Get(claim, 8) != identity.speaker) return LldpVerdict::kForeign;
  const Tag tag = Authenticate(claim, identity);
  if (CRYPTO_memcmp(tag.data(), claim + kClaimBytes, kTagBytes) != 0) return LldpVerdict::kForged;
  probe->from.datapath_id = Get(claim + 8, 8);
  probe->from.port = static_cast<uint32_t>(Get(claim + 16, 4));
  probe->nonce = Get(claim + 20, 8);
  return LldpVerdict::kOurs;
}

}  // namespace

LldpIdentity LldpIdentity::New() {
  LldpIdentity identity;
  unsigned char speaker[8];
  if (RAND_bytes(identity.key.data(), int{sizeof identity.key}) != 1 ||
      RAND_bytes(speaker, int{sizeof speaker}) != 1) {
    std::abort();  // a key that can be guessed is worse
  }
  identity.speaker = Get(speaker, sizeof speaker);
  return identity;
}

Bytes EncodeLldp(const LldpProbe& probe, const LldpIdentity& identity) {
  Bytes frame;
  frame.reserve(128);
  frame.insert(frame.end(), kLldpDestination.begin(), kLldpDestination.end());
  frame.insert(frame.end(), kLldpSource.begin(), kLldpSource.end());
  Put(kLldpEtherType, 2, &frame);
  char id[17];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(probe.from.datapath_id));
  PutText(kChassisId, id, &frame);
  PutText(kPortId, std::to_string(probe.from.port), &frame);
  PutHead(kTimeToLive, 2, &frame);
  Put(kTimeToLiveSeconds, 2, &frame);
  PutHead(kOrganisation, kOurTlv.size() + kClaimBytes + kTagBytes, &frame);
  frame.insert(frame.end(), kOurTlv.begin(), kOurTlv.end());
  const size_t claim = frame.size();
  Put(identity.speaker, 8, &frame);
  Put(probe.from.datapath_id, 8, &frame);
  Put(probe.from.port, 4, &frame);
  Put(probe.nonce, 8, &frame);
  const Tag tag = Authenticate(frame.data() + claim, identity);
  frame.insert(frame.end(), tag.begin(), tag.end());
  PutHead(kEnd, 0, &frame);
  frame.resize(std::max(frame.size(), kLeastFrameBytes));
  return frame;
}

LldpVerdict DecodeLldp(const uint8_t* frame, size_t size, const LldpIdentity& identity,
                       LldpProbe* probe) {
  if (size < kEthernetBytes || Get(frame + 12, 2) != kLldpEtherType) return LldpVerdict::kForeign;
  const uint8_t* at = frame + kEthernetBytes;
  const uint8_t* const end = frame + size;
  for (const uint8_t type : {kChassisId, kPortId, kTimeToLive}) {
    const auto tlv = NextTlv(&at, end);
    if (!tlv || tlv->type != type || tlv->size < 2) return LldpVerdict::kMalformed;
  }
  const uint8_t* claim = nullptr;
  for (;;) {
    const auto tlv = NextTlv(&at, end);
    if (!tlv) return LldpVerdict::kMalformed;
    if (tlv->type == kEnd) break;
    if (!IsOurs(*tlv)) continue;
    const bool is_whole = tlv->size == kOurTlv.size() + kClaimBytes + kTagBytes;
    if (!is_whole || claim != nullptr) return LldpVerdict::kMalformed;
    claim = tlv->value + kOurTlv.size();
  }
  return claim == nullptr ? LldpVerdict::kForeign : Check(claim, identity, probe);
}

}  // namespace trumpet
