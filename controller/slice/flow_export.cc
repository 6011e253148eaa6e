// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/flow_export.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr uint64_t kEthernetBytes = 14;
constexpr uint64_t kMaxSampling = 1u << 24;
constexpr uint64_t kMaxTold = 1ull << 36;  // by one record; its products stay in 64 bits
constexpr uint16_t kVariable = 65535;
constexpr size_t kNetflow5Bytes = 48;  // of a record

// Information elements; the numbers are those of NetFlow 9 and of IANA's registry for IPFIX.
enum : uint16_t {
  kOctets = 1,
  kPackets = 2,
  kDestinationIpv4 = 12,
  kLastSwitched = 21,
  kFirstSwitched = 22,
  kDestinationIpv6 = 28,
  kSamplingInterval = 34,
  kSamplerInterval = 50,
  kStartSeconds = 150,
  kEndSeconds = 151,
  kStartMillis = 152,
  kEndMillis = 153,
  kStartDeltaMicros = 158,  // before the export
  kEndDeltaMicros = 159,
  kSamplingPackets = 305,
  kSamplingSpace = 306,
};

constexpr Nanos kMaxSpan = 86400 * kNanosPerSecond;

// A time that a record tells as its two ends.
struct Span {
  uint64_t from = 0;
  uint64_t to = 0;
  Nanos unit = 0;  // of both

  void Take(bool is_end, uint64_t value, Nanos its_unit) {
    (is_end ? to : from) = value;
    unit = its_unit;
  }
  Nanos length() const {
    if (to <= from || unit == 0) return 0;
    return static_cast<Nanos>(std::min<uint64_t>(to - from, kMaxSpan / unit)) * unit;
  }
};

void TakeTime(uint16_t type, uint64_t value, Span* span) {
  if (type == kFirstSwitched || type == kLastSwitched) {
    span->Take(type == kLastSwitched, value, kNanosPerMilli);
  } else if (type == kStartSeconds || type == kEndSeconds) {
    span->Take(type == kEndSeconds, value, kNanosPerSecond);
  } else if (type == kStartMillis || type == kEndMillis) {
    span->Take(type == kEndMillis, value, kNanosPerMilli);
  } else if (type == kStartDeltaMicros || type == kEndDeltaMicros) {
    span->Take(type == kStartDeltaMicros, value, 1000);
  }
}

Prefix AddressOf(ByteCursor bytes) {
  Prefix address;
  address.is_ipv6 = bytes.left() == 16;
  address.length = static_cast<uint8_t>(bytes.left() * 8);
  if (address.is_ipv6) address.address = Uint128{bytes.Number(8)} << 64;
  address.address |= bytes.Number(bytes.left());
  return address;
}

uint64_t OriginOf(uint16_t version, uint32_t domain) { return uint64_t{version} << 32 | domain; }

// What one record says.
struct Record {
  FlowSample sample;
  Span span;
  uint64_t sampling = 0;        // 0: it does not say
  uint64_t sampling_space = 0;  // packets left out between

  void Take(uint16_t type, ByteCursor bytes) {
    if (type == kDestinationIpv4 && bytes.left() == 4) sample.destination = AddressOf(bytes);
    if (type == kDestinationIpv6 && bytes.left() == 16 && sample.destination.length == 0) {
      sample.destination = AddressOf(bytes);
    }
    const uint64_t value = bytes.Number(bytes.left());
    if (type == kOctets) sample.bytes = std::min(value, kMaxTold);
    if (type == kPackets) sample.packets = std::min(value, kMaxTold);
    if (type == kSamplingInterval || type == kSamplerInterval || type == kSamplingPackets) {
      sampling = std::min(value, kMaxSampling);
    }
    if (type == kSamplingSpace) sampling_space = std::min(value, kMaxSampling);
    TakeTime(type, value, &span);
  }
  // One of so many packets; with 305 and 306, the first of as many as are taken and left out.
  uint64_t OneOf() const {
    if (sampling == 0 || sampling_space == 0) return sampling;
    return std::max<uint64_t>((sampling + sampling_space) / sampling, 1);
  }
};

void Add(FlowSample sample, uint64_t one_of, Nanos duration, std::vector<FlowSample>* samples) {
  if (sample.destination.length == 0 || sample.packets == 0) return;
  sample.sampled = sample.packets;
  sample.bytes = std::min(sample.bytes + sample.packets * kEthernetBytes, 4 * kMaxTold) * one_of;
  sample.bytes = std::min(sample.bytes, kMaxSampleBytes);
  sample.packets = std::min(sample.packets * one_of, kMaxSampleBytes);
  sample.duration = duration;
  samples->push_back(sample);
}

}  // namespace

FlowExportResult FlowExportDecoder::Decode(const uint8_t* data, size_t size,
                                           std::vector<FlowSample>* samples) {
  ByteCursor cursor(data, size);
  const uint16_t version = ByteCursor(cursor).Be16();
  bool is_read = false;
  if (ByteCursor(cursor).Be32() == 5) {
    is_read = DecodeSflow(cursor, samples);
  } else if (version == 5) {
    is_read = DecodeNetflow5(cursor, samples);
  } else if (version == 9 || version == 10) {
    Message message;
    message.is_ipfix = version == 10;
    message.samples = samples;
    cursor.Skip(message.is_ipfix ? 12 : 16);
    message.domain = cursor.Be32();
    message.origin = OriginOf(version, message.domain);
    is_read = cursor.ok() && DecodeSets(cursor, message);
  } else {
    return FlowExportResult::kUnknown;
  }
  return is_read ? FlowExportResult::kRead : FlowExportResult::kMalformed;
}

bool FlowExportDecoder::DecodeNetflow5(ByteCursor cursor, std::vector<FlowSample>* samples) {
  cursor.Skip(2);
  const uint16_t count = cursor.Be16();
  cursor.Skip(16);
  const uint64_t origin = OriginOf(5, cursor.Be16());  // the engine
  const uint64_t one_of = std::max(cursor.Be16() & 0x3fff, 1);
  for (uint16_t i = 0; i < count && cursor.ok(); ++i) {
    ByteCursor fields = cursor.Take(kNetflow5Bytes);
    Record record;
    fields.Skip(4);
    const ByteCursor destination = fields.Take(4);
    fields.Skip(8);
    record.sample.packets = fields.Be32();
    record.sample.bytes = fields.Be32();
    record.span.Take(false, fields.Be32(), kNanosPerMilli);
    record.span.Take(true, fields.Be32(), kNanosPerMilli);
    if (!cursor.ok()) break;
    record.sample.destination = AddressOf(destination);
    record.sample.origin = origin;
    Add(record.sample, one_of, record.span.length(), samples);
  }
  return cursor.ok();
}

bool FlowExportDecoder::DecodeSets(ByteCursor cursor, const Message& message) {
  while (cursor.left() >= 4) {
    const uint16_t number = cursor.Be16();
    const uint16_t size = cursor.Be16();
    if (size < 4) return false;
    const ByteCursor set = cursor.Take(size - 4u);
    if (!cursor.ok() || !DecodeSet(number, set, message)) return false;
  }
  return true;
}

bool FlowExportDecoder::DecodeSet(uint16_t number, ByteCursor set, const Message& message) {
  if (number == (message.is_ipfix ? 2 : 0)) return DecodeTemplates(set, message);
  if (number == (message.is_ipfix ? 3 : 1)) return DecodeOptionTemplates(set, message);
  if (number < 256) return true;
  const auto fields = templates_.find({message.domain, number});
  if (fields == templates_.end()) {
    ++unknown_sets_;
    return true;
  }
  size_t least = 0;  // what is shorter is padding
  for (const Field& field : fields->second) least += field.size == kVariable ? 1 : field.size;
  while (set.left() >= std::max<size_t>(least, 4)) {
    if (!DecodeRecord(fields->second, &set, message)) return false;
  }
  return true;
}

bool FlowExportDecoder::DecodeTemplates(ByteCursor set, const Message& message) {
  while (set.left() >= 4) {
    const uint16_t number = set.Be16();
    const uint16_t count = set.Be16();
    if (number < 256) return number == 0;  // padding
    if (!DecodeTemplate(&set, number, count, message)) return false;
  }
  return true;
}

// Their records may tell the sampling of the domain; scopes are fields that we pass over.
bool FlowExportDecoder::DecodeOptionTemplates(ByteCursor set, const Message& message) {
  while (set.left() >= 6) {
    const uint16_t number = set.Be16();
    size_t count = set.Be16();
    if (message.is_ipfix) {
      set.Skip(2);  // how many of them are the scope
    } else {
      count = (count + set.Be16()) / 4;  // bytes of the scope's and the other fields
    }
    if (number < 256) return number == 0;
    if (!DecodeTemplate(&set, number, count, message)) return false;
  }
  return true;
}

bool FlowExportDecoder::DecodeTemplate(ByteCursor* set, uint16_t number, size_t count,
                                       const Message& message) {
  const TemplateKey key{message.domain, number};
  if (count == 0) return templates_.erase(key), true;  // withdrawn
  if (count > kMaxFields) return false;
  Template fields;  // that have bytes: then a record has as many as it has fields, or more
  for (size_t i = 0; i < count && set->ok(); ++i) {
    Field field;
    field.type = set->Be16();
    field.size = set->Be16();
    if (message.is_ipfix && (field.type & 0x8000) != 0) {
      set->Skip(4);
      field.type = 0;
    }
    if (field.size != 0) fields.push_back(field);
  }
  if (!set->ok() || fields.empty()) return false;
  if (templates_.size() < kMaxTemplates || templates_.count(key) != 0) {
    templates_[key] = std::move(fields);
  }
  return true;
}

bool FlowExportDecoder::DecodeRecord(const Template& fields, ByteCursor* set,
                                     const Message& message) {
  Record record;
  for (const Field& field : fields) {
    size_t size = field.size;
    if (message.is_ipfix && size == kVariable) {
      size = set->Number(1);
      if (size == 255) size = set->Be16();
    }
    const ByteCursor bytes = set->Take(size);
    if (!set->ok()) return false;
    record.Take(field.type, bytes);
  }
  const uint64_t told = record.OneOf();
  if (record.sample.destination.length == 0) {
    if (told != 0 && (sampling_.size() < kMaxTemplates || sampling_.count(message.domain) != 0)) {
      sampling_[message.domain] = told;
    }
    return true;
  }
  record.sample.origin = message.origin;
  const auto known = sampling_.find(message.domain);
  const uint64_t of_domain = known == sampling_.end() ? 1 : known->second;
  Add(record.sample, told != 0 ? told : of_domain, record.span.length(), message.samples);
  return true;
}

}  // namespace trumpet
