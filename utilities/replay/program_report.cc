// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_report.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/read_state.h"
#include "lib/measure/sketch_estimates.h"
#include "lib/model/report.h"

namespace trumpet {
namespace {

constexpr size_t kShownPackets = 5;

const char* KindName(MeasureKind kind) {
  switch (kind) {
    case MeasureKind::kCounter:
    case MeasureKind::kTimestamp:
      return "scalar";
    case MeasureKind::kCounterMap:
    case MeasureKind::kTimestampMap:
      return "map";
    case MeasureKind::kBloomMembership:
    case MeasureKind::kBloomCounting:
      return "bf";
    case MeasureKind::kCountMin:
    case MeasureKind::kStore:
      return "cm";
    case MeasureKind::kPcsa:
      return "pcsa";
    case MeasureKind::kHyperLogLog:
      return "hll";
  }
  return "";
}

const char* NoteName(MeasureNote note) {
  switch (note) {
    case MeasureNote::kExclusive:
      return "exclusive";
    case MeasureNote::kOrdered:
      return "ordered";
    case MeasureNote::kSnapshot:
      return "snapshot";
    default:
      return "";
  }
}

// At most six digits behind the point.
std::string Decimal(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", number);
  std::string decimal = text;
  decimal.erase(decimal.find_last_not_of('0') + 1);
  if (decimal.back() == '.') decimal += '0';
  return decimal;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ',';
    text += part;
  }
  return text;
}

}  // namespace

Sha256::Sha256()
    : context_(EVP_MD_CTX_new(), [](void* c) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(c)); }) {
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr);
}

void Sha256::Add(std::string_view text) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), text.data(), text.size());
}

std::string Sha256::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest, &length);
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += "0123456789abcdef"[digest[i] >> 4];
    text += "0123456789abcdef"[digest[i] & 15];
  }
  return text;
}

ProgramReport::ProgramReport(const CompiledProgram* program, std::string name, size_t switch_count)
    : program_(program), name_(std::move(name)), lines_(switch_count), first_(switch_count) {
  for (uint32_t field = 0; field < program->field_count; ++field) {
    by_name_.push_back({FieldName(field), field});
  }
  std::sort(by_name_.begin(), by_name_.end(),
            [](const NamedField& a, const NamedField& b) { return a.name < b.name; });
}

std::string ProgramReport::FieldName(uint32_t field) const {
  return field < kMeasureFieldCount
             ? kMeasureFields[field].name
             : program_->source.header_fields[field - kMeasureFieldCount].name;
}

// "name=value;name=value", sorted by name.
template <typename ValueOf>
void ProgramReport::AppendRecord(uint64_t present, ValueOf value_of, std::string* text) const {
  bool is_first = true;
  for (const NamedField& each : by_name_) {
    if ((present >> each.field & 1) == 0) continue;
    if (!is_first) *text += ';';
    is_first = false;
    *text += each.name;
    *text += '=';
    *text += std::to_string(value_of(each.field));
  }
}

void ProgramReport::AddForwarded(const PacketValues& packet) {
  std::string record;
  AppendRecord(
      packet.present, [&packet](uint32_t field) { return packet.value[field]; }, &record);
  forwarded_.Add(record);
}

void ProgramReport::AddCollected(size_t switch_index, const CollectedPacket& packet) {
  const std::string& endpoint = program_->source.endpoints[packet.endpoint];
  collected_++;
  by_endpoint_[endpoint]++;
  std::string* lines = &lines_[switch_index];
  if (!lines->empty()) *lines += '\n';
  *lines +=
      std::to_string(switch_index + 1) + "|" + std::to_string(packet.now) + "|" + endpoint + "|";
  uint64_t values[kMaxPacketFields];
  size_t at = 0;
  for (uint64_t left = packet.present; left != 0; left &= left - 1) {
    values[__builtin_ctzll(left)] = packet.values[at++];
  }
  AppendRecord(
      packet.present, [&values](uint32_t field) { return values[field]; }, lines);
  std::vector<std::string>* first = &first_[switch_index];
  if (first->size() < kShownPackets) first->push_back(CollectedJson(switch_index, packet));
}

std::string ProgramReport::CollectedJson(size_t switch_index, const CollectedPacket& packet) const {
  std::vector<std::string> fields;
  size_t at = 0;
  for (uint64_t left = packet.present; left != 0; left &= left - 1) {
    const auto field = static_cast<uint32_t>(__builtin_ctzll(left));
    fields.push_back(JsonQuote(FieldName(field)) + ":" + std::to_string(packet.values[at++]));
  }
  return "{\"switch\":" + std::to_string(switch_index + 1) +
         ",\"t_ns\":" + std::to_string(packet.now) +
         ",\"endpoint\":" + JsonQuote(program_->source.endpoints[packet.endpoint]) + ",\"pkt\":{" +
         Joined(fields) + "}}";
}

// Whether the variables and diagnostics of a role are of this switch: the first, one between, or
// the last; of the only one, if it is alone.
bool ProgramReport::IsAt(MeasureIndex role, size_t switch_index) const {
  if (role == kNoIndex) return true;
  switch (program_->source.roles[role].kind) {
    case MeasureRoleKind::kFirstHop:
      return switch_index == 0;
    case MeasureRoleKind::kLastHop:
      return switch_index + 1 == lines_.size();
    case MeasureRoleKind::kIntermediate:
      return switch_index > 0 && switch_index + 1 < lines_.size();
    case MeasureRoleKind::kEvery:
      return true;
    case MeasureRoleKind::kSite:  // no switch of a replay is told to have it
      return false;
  }
  return false;
}

std::string ProgramReport::DiagnosticsJson(size_t switch_index) const {
  std::vector<std::string> found;
  for (const MeasureDiagnostic& each : program_->source.diagnostics) {
    if (each.finding == MeasureFinding::kTruncation || !IsAt(each.role, switch_index)) continue;
    const bool is_write = each.finding == MeasureFinding::kWriteWrite;
    found.push_back("[\"" + std::string(is_write ? "WW" : "RW") + "\"," + JsonQuote(each.name) +
                    "," + JsonQuote(NoteName(each.note)) + "]");
  }
  return "[" + Joined(found) + "]";
}

std::string ProgramReport::VariableJson(const ProgramState& state, MeasureIndex index) const {
  const MeasureVariable& variable = program_->source.variables[index];
  const std::vector<uint64_t> cells = ReadVariable({&state}, index);
  const std::string kind = std::string("{\"kind\":\"") + KindName(variable.kind) + "\",";
  if (variable.key == kNoIndex) return kind + "\"value\":" + std::to_string(cells[0]) + "}";
  std::vector<std::string> nonzero;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == 0) continue;
    nonzero.push_back("\"" + std::to_string(i) + "\":" + std::to_string(cells[i]));
  }
  std::string text =
      kind + "\"cells\":" + std::to_string(cells.size()) + ",\"nonzero\":{" + Joined(nonzero) + "}";
  if (variable.kind == MeasureKind::kPcsa) {
    text += ",\"estimate\":" + Decimal(EstimatePcsa(cells));
  } else if (variable.kind == MeasureKind::kHyperLogLog) {
    text += ",\"estimate\":" + Decimal(EstimateHyperLogLog(cells));
  }
  return text + "}";
}

// With its role only beside another one of the same name.
std::string ProgramReport::NameAt(MeasureIndex index, size_t switch_index) const {
  const MeasureProgram& source = program_->source;
  const MeasureVariable& variable = source.variables[index];
  const bool is_alone = std::none_of(
      source.variables.begin(), source.variables.end(), [&](const MeasureVariable& other) {
        return &other != &variable && other.name == variable.name && IsAt(other.role, switch_index);
      });
  return is_alone ? variable.name : MeasureVariableLabel(source, variable);
}

std::string ProgramReport::SwitchJson(const ProgramState& state, size_t switch_index) const {
  std::vector<std::string> variables;
  const MeasureProgram& source = program_->source;
  for (MeasureIndex i = 0; i < source.variables.size(); ++i) {
    if (!IsAt(source.variables[i].role, switch_index)) continue;
    variables.push_back(JsonQuote(NameAt(i, switch_index)) + ":" + VariableJson(state, i));
  }
  return "{" + Joined(variables) + "}";
}

std::string ProgramReport::CollectedJson() {
  std::vector<std::string> counts;
  for (const auto& [endpoint, count] : by_endpoint_) {
    counts.push_back(JsonQuote(endpoint) + ":" + std::to_string(count));
  }
  Sha256 sum;
  bool is_first = true;
  std::vector<std::string> shown;
  for (size_t i = 0; i < lines_.size(); ++i) {
    shown.insert(shown.end(), first_[i].begin(), first_[i].end());
    if (lines_[i].empty()) continue;
    if (!is_first) sum.Add("\n");
    is_first = false;
    sum.Add(lines_[i]);
  }
  shown.resize(std::min(shown.size(), kShownPackets));
  return "{\"count\":" + std::to_string(collected_) + ",\"by_endpoint\":{" + Joined(counts) +
         "},\"sha256\":\"" + sum.Finish() + "\",\"first\":[" + Joined(shown) + "]}";
}

std::string ProgramReport::StateJson(const std::vector<const ProgramState*>& states) {
  std::vector<std::string> diagnostics;
  std::vector<std::string> switches;
  for (size_t i = 0; i < states.size(); ++i) {
    diagnostics.push_back(DiagnosticsJson(i));
    switches.push_back(SwitchJson(*states[i], i));
  }
  return "{\"usecase\":" + JsonQuote(name_) + ",\"diagnostics\":[" + Joined(diagnostics) +
         "],\"switches\":[" + Joined(switches) + "],\"forwarded_sha256\":\"" + forwarded_.Finish() +
         "\",\"collected\":" + CollectedJson() + "}";
}

}  // namespace trumpet
