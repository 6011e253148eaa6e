// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ProgramReport: what a run of a measurement program prints.
//
// Takes collected and forwarded packets as they come; ends with one JSON object, whose fields
// docs/measurement-language.md describes.

#ifndef TRUMPET_UTILITIES_REPLAY_PROGRAM_REPORT_H
#define TRUMPET_UTILITIES_REPLAY_PROGRAM_REPORT_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/measure/program_state.h"

namespace trumpet {

// SHA-256 of what is added, in lower-case hexadecimal.
class Sha256 {
 public:
  Sha256();
  void Add(std::string_view text);
  std::string Finish();

 private:
  std::shared_ptr<void> context_;
};

class ProgramReport {
 public:
  ProgramReport(const CompiledProgram* program, std::string name, size_t switch_count);

  void AddCollected(size_t switch_index, const CollectedPacket& packet);
  void AddForwarded(const PacketValues& packet);

  // {"switch":1,"t_ns":...,"endpoint":"C","pkt":{...}}
  std::string CollectedJson(size_t switch_index, const CollectedPacket& packet) const;
  // The whole run; `states`: one per switch.
  std::string StateJson(const std::vector<const ProgramState*>& states);

 private:
  struct NamedField {
    std::string name;
    uint32_t field;
  };

  std::string FieldName(uint32_t field) const;
  bool IsAt(MeasureIndex role, size_t switch_index) const;
  std::string NameAt(MeasureIndex index, size_t switch_index) const;
  std::string DiagnosticsJson(size_t switch_index) const;
  std::string SwitchJson(const ProgramState& state, size_t switch_index) const;
  std::string VariableJson(const ProgramState& state, MeasureIndex variable) const;
  std::string CollectedJson();
  template <typename ValueOf>
  void AppendRecord(uint64_t present, ValueOf value_of, std::string* text) const;

  const CompiledProgram* program_;
  std::string name_;
  std::vector<NamedField> by_name_;              // sorted
  std::vector<std::string> lines_;               // of collected packets, per switch
  std::vector<std::vector<std::string>> first_;  // the first ones, per switch
  std::map<std::string, uint64_t> by_endpoint_;
  uint64_t collected_ = 0;
  Sha256 forwarded_;
};

}  // namespace trumpet

#endif  // TRUMPET_UTILITIES_REPLAY_PROGRAM_REPORT_H
