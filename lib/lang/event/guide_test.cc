// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs every example of docs/event-language.md.
//
// Fenced blocks: `event` holds events, each perhaps followed by `=> canonical form`; `error` holds
// pairs of an event and its message; `yaml` and `json` hold files; `yaml error` a file and, after
// `=> `, its messages.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "lib/lang/event/event_language.h"
#include "lib/lang/event/table_test.h"

namespace trumpet::event_lang {
namespace {

using Lines = std::vector<std::string>;

struct Block {
  std::string tag;
  int line = 0;
  Lines lines;
};

std::vector<Block> ReadGuide() {
  const char* const top = std::getenv("top_srcdir");
  std::ifstream file(std::string(top != nullptr ? top : ".") + "/docs/event-language.md");
  EXPECT_TRUE(file.is_open()) << "set top_srcdir to the project's root";
  std::vector<Block> blocks;
  std::string line;
  bool is_open = false;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.substr(0, 3) == "```") {
      is_open = !is_open;
      if (is_open) blocks.push_back(Block{line.substr(3), number, {}});
    } else if (is_open) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

bool IsResult(const std::string& line) { return line.substr(0, 3) == "=> "; }

void CheckEvents(const Lines& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto event = ParseEventLine(lines[i], "event");
    ASSERT_TRUE(event.ok()) << event.message();
    if (i + 1 == lines.size() || !IsResult(lines[i + 1])) continue;
    const auto expected = ParseEventLine(lines[i + 1].substr(3), "event");
    ASSERT_TRUE(expected.ok()) << expected.message();
    EXPECT_EQ(PrintEventLine(*event), PrintEventLine(*expected));
    ++i;
  }
}

void CheckErrors(const Lines& lines) {
  ASSERT_EQ(lines.size() % 2, 0u);
  for (size_t i = 0; i < lines.size(); i += 2) EXPECT_EQ(Canonical(lines[i]), lines[i + 1]);
}

void CheckFile(const Block& block) {
  std::string text;
  std::string messages;
  for (const std::string& line : block.lines) {
    if (IsResult(line)) {
      messages += (messages.empty() ? "" : "\n") + line.substr(3);
    } else {
      text += line + "\n";
    }
  }
  const auto events = block.tag == "json" ? ParseEventsJson(text, "events.json")
                                          : ParseEventsYaml(text, "events.yaml");
  EXPECT_EQ(events.ok() ? "" : events.message(), messages);
}

TEST(Guide, HoldsOnlyExamplesThatWork) {
  std::map<std::string, int> counts;
  for (const Block& block : ReadGuide()) {
    SCOPED_TRACE("docs/event-language.md:" + std::to_string(block.line));
    ++counts[block.tag];
    if (block.tag == "event") {
      CheckEvents(block.lines);
    } else if (block.tag == "error") {
      CheckErrors(block.lines);
    } else if (block.tag == "yaml" || block.tag == "json" || block.tag == "yaml error") {
      CheckFile(block);
    } else {
      ADD_FAILURE() << "a block of unknown kind: " << block.tag;
    }
  }
  EXPECT_GE(counts["event"], 15);
  EXPECT_GE(counts["error"], 6);
  EXPECT_GE(counts["yaml"], 2);
  EXPECT_GE(counts["yaml error"], 2);
  EXPECT_GE(counts["json"], 1);
}

}  // namespace
}  // namespace trumpet::event_lang
