// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ConfigSection: one map of a YAML configuration, key by key.
//
//   ConfigSection section(source, node, "agents", &errors);
//   section.Texts("listen", &options.listen);
//   section.Section("limits", [&](ConfigSection* limits) { ... });
//   section.Finish();   // whatever was not asked for is an error
//
// Errors gather, one line each with its place, "controller.yaml:7:17: ...".  What was wrong leaves
// the value as it was.
//
// Threads: one; values and pure functions.

#ifndef TRUMPET_CONTROLLER_DAEMON_CONFIG_READER_H
#define TRUMPET_CONTROLLER_DAEMON_CONFIG_READER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"
#include "lib/lang/event/document.h"

namespace trumpet {

class ConfigSection {
 public:
  // `node` null: the section is missing, and nothing is read.
  ConfigSection(const event_lang::Source& source, const event_lang::DocumentNode* node,
                std::string name, std::vector<std::string>* errors);

  bool is_there() const { return node_ != nullptr; }

  void Text(const char* key, std::string* value);
  void Texts(const char* key, std::vector<std::string>* values);  // a list, or one text
  void Bool(const char* key, bool* value);                        // yes, no, true, false
  void Count(const char* key, uint64_t min, uint64_t max, size_t* value);
  void Bytes(const char* key, uint64_t min, uint64_t max, uint64_t* value);  // "512MB", "10GiB"
  void Duration(const char* key, Nanos min, Nanos max, Nanos* value);        // "10s", "7d"
  // One of `names`, by its position.
  void Choice(const char* key, const std::vector<std::string>& names, size_t* value);
  // A map of texts to texts, in their order.
  void Pairs(const char* key, std::vector<std::pair<std::string, std::string>>* pairs);

  using Reader = std::function<void(ConfigSection*)>;
  // Reads the map under `key`, or, for Sections, each map of the list; Finish() comes by itself.
  void Section(const char* key, const Reader& reader);
  void Sections(const char* key, const Reader& reader);

  // Complains of the section itself, or of one of its values.
  void Complain(const std::string& message);
  void ComplainOf(const char* key, const std::string& message);
  void Finish();

 private:
  const event_lang::DocumentNode* Take(const char* key);
  const event_lang::DocumentNode* TakeText(const char* key);
  void ComplainAt(size_t offset, const std::string& message);

  const event_lang::Source& source_;
  const event_lang::DocumentNode* node_;
  const std::string name_;
  std::vector<std::string>* errors_;
  std::vector<std::string> known_;
};

// The text of a configuration file; of one that nobody asked for and that is not there, none.
Result<std::string> ReadConfigText(const std::string& path, bool is_asked_for);

// What is wrong with a file, a line each, and no more lines than people read.
std::string JoinErrors(const std::vector<std::string>& errors);

// Durations are whole numbers with us, ms, s, m, h or d; sizes with B, KB, MB, GB, KiB, MiB, GiB.
bool ParseDuration(const std::string& text, Nanos* value);
bool ParseBytes(const std::string& text, uint64_t* value);
std::string PrintDuration(Nanos value);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_CONFIG_READER_H
