// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// BucketKey: the value of an event's granularity for a packet, as bytes.
//
// Per field of the granularity one kind byte (ValueKind) and the value, most significant
// byte first: number 4 bytes, MAC 6, IPv4 4, IPv6 16.  5-tuple is srcIP, dstIP, srcPort, dstPort,
// Protocol.  Keys of one event therefore sort by memcmp as reports are sorted.

#ifndef TRUMPET_LIB_MODEL_BUCKET_KEY_H
#define TRUMPET_LIB_MODEL_BUCKET_KEY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/model/event_spec.h"
#include "lib/packet/flow_key.h"

namespace trumpet {

constexpr size_t kMaxBucketKeyBytes = 256;

// Fixed room for one key; no allocation, so the packet path may build it.
struct BucketKey {
  uint16_t size = 0;
  uint8_t bytes[kMaxBucketKeyBytes];

  std::string_view view() const { return {reinterpret_cast<const char*>(bytes), size}; }
  // False when the key would not fit (a granularity that long is refused by the front end).
  bool Append(const FieldValue& value);
};

// Builds the key from `read(FieldRef) -> FieldValue`; false if a field is absent: the packet is in
// no bucket.
template <typename Reader>
bool MakeBucketKey(const Granularity& granularity, const Reader& read, BucketKey* key) {
  key->size = 0;
  if (granularity.is_five_tuple) {
    const FieldValue src = read(FieldRef{Field::kSrcIp, Level::kInnermost});
    if (!src.is_present()) return false;
    FieldValue src_port = read(FieldRef{Field::kSrcPort, Level::kInnermost});
    FieldValue dst_port = read(FieldRef{Field::kDstPort, Level::kInnermost});
    src_port.kind = dst_port.kind = ValueKind::kNumber;  // absent ports are 0
    return key->Append(src) && key->Append(read(FieldRef{Field::kDstIp, Level::kInnermost})) &&
           key->Append(src_port) && key->Append(dst_port) &&
           key->Append(read(FieldRef{Field::kProtocol, Level::kInnermost}));
  }
  for (const GranularityField& field : granularity.fields) {
    const FieldValue value = read(field.ref);
    if (!value.is_present()) return false;
    if (!key->Append(MaskToPrefix(field.ref.field, value, field.prefix_length))) return false;
  }
  return true;
}

// The key of a 5-tuple event's bucket for `flow`, which must be IP.
BucketKey FiveTupleBucketKey(const FlowKey& flow);

// The flow of such a bucket, in zone 0; false when `key` is no 5-tuple.
bool FlowKeyOfBucket(std::string_view key, FlowKey* flow);

// The longest key that packets can have under `granularity`.
size_t MaxBucketKeyBytes(const Granularity& granularity);

// Can packets have the key under `granularity`?  For keys that come from outside.
bool IsBucketKey(const Granularity& granularity, std::string_view key);

// The report's bucket object: `{"srcIP":"10.0.0.0/24","dstPort":80}`.
std::string BucketToJson(const Granularity& granularity, std::string_view key);

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_BUCKET_KEY_H
