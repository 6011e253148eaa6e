// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/measure/key_text.h"

#include <charconv>
#include <optional>

#include "lib/measure/cell.h"
#include "lib/measure/packet_values.h"
#include "lib/packet/fields.h"

namespace trumpet {
namespace {

constexpr size_t kMaxQuoted = 64;

std::string Quoted(const std::string& text) { return "'" + text.substr(0, kMaxQuoted) + "'"; }

std::optional<uint64_t> ReadFieldValue(MeasureFieldId field, const std::string& text) {
  std::optional<FieldValue> address;
  if (field == kIpv4Src || field == kIpv4Dst) address = ParseIpv4(text);
  if (field == kEthSrc || field == kEthDst) address = ParseMac(text);
  if (address) return static_cast<uint64_t>(address->value);
  const bool is_hex = text.size() > 2 && text[0] == '0' && text[1] == 'x';
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  uint64_t value = 0;
  const auto [last, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::string FormatFieldValue(MeasureFieldId field, uint64_t value) {
  ValueKind kind = ValueKind::kNumber;
  if (field == kIpv4Src || field == kIpv4Dst) kind = ValueKind::kIpv4;
  if (field == kEthSrc || field == kEthDst) kind = ValueKind::kMac;
  return FormatValue({kind, value});
}

}  // namespace

const char* MeasureKindName(MeasureKind kind) {
  switch (kind) {
    case MeasureKind::kCounter:
      return "counter";
    case MeasureKind::kTimestamp:
      return "timestamp";
    case MeasureKind::kCounterMap:
      return "map";
    case MeasureKind::kTimestampMap:
      return "timestamp map";
    case MeasureKind::kBloomMembership:
      return "membership filter";
    case MeasureKind::kBloomCounting:
      return "counting filter";
    case MeasureKind::kCountMin:
      return "count-min";
    case MeasureKind::kStore:
      return "store";
    case MeasureKind::kPcsa:
      return "pcsa";
    case MeasureKind::kHyperLogLog:
      return "hyperloglog";
  }
  return "";
}

Result<MeasureIndex> FindMeasureVariable(const MeasureProgram& program, const std::string& label) {
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    if (MeasureVariableLabel(program, program.variables[i]) == label) return i;
  }
  return Status::Error("the program " + Quoted(program.name) + " has no variable " + Quoted(label));
}

Result<MeasureFieldId> FindMeasureField(const MeasureProgram& program, const std::string& name) {
  if (const auto field = MeasureFieldByName(name)) return *field;
  for (size_t i = 0; i < program.header_fields.size(); ++i) {
    if (program.header_fields[i].name != name) continue;
    return static_cast<MeasureFieldId>(kMeasureFieldCount + i);
  }
  return Status::Error("the program " + Quoted(program.name) + " knows no field " + Quoted(name));
}

Result<uint64_t> ReadMeasureFieldValue(const MeasureProgram& program, MeasureFieldId field,
                                       const std::string& text) {
  const std::optional<uint64_t> value = ReadFieldValue(field, text);
  const uint8_t bits = FieldBits(program, field);
  if (value && *value <= BitMask(bits)) return *value;
  return Status::Error(std::string(MeasureFieldName(program, field)) + " is " + Quoted(text) +
                       "; it takes a number of " + std::to_string(bits) + " bits");
}

Result<std::vector<uint64_t>> ReadMeasureKey(const MeasureProgram& program, const MeasureKey& key,
                                             const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c != ',') {
      parts.back() += c;
    } else if (parts.size() <= key.fields.size()) {
      parts.emplace_back();
    }
  }
  if (parts.size() != key.fields.size()) {
    return Status::Error("the key is " + Quoted(text) + "; it takes values of " +
                         FormatMeasureKeyFields(program, key));
  }
  std::vector<uint64_t> values;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Result<uint64_t> value = ReadMeasureFieldValue(program, key.fields[i], parts[i]);
    if (!value.ok()) return value.status();
    values.push_back(*value);
  }
  return values;
}

std::string FormatMeasureKeyFields(const MeasureProgram& program, const MeasureKey& key) {
  std::string names;
  for (const MeasureFieldId field : key.fields) {
    names += names.empty() ? "" : ",";
    names += MeasureFieldName(program, field);
  }
  return names;
}

std::string FormatMeasureKey(const MeasureKey& key, const std::vector<uint64_t>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : ",") + FormatFieldValue(key.fields[i], values[i]);
  }
  return text;
}

}  // namespace trumpet
