// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Tables of the event language's tests: `event` on one line, `=> canonical form` or `=> error`
// on the next.  Empty lines and lines with # are passed over.

#ifndef TRUMPET_LIB_LANG_EVENT_TABLE_TEST_H
#define TRUMPET_LIB_LANG_EVENT_TABLE_TEST_H

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "lib/lang/event/event_language.h"
#include "lib/lang/event/lower.h"

namespace trumpet::event_lang {

inline bool SameParts(const EventSpec& a, const EventSpec& b) {
  return a.filter == b.filter && a.predicate == b.predicate && a.granularity == b.granularity &&
         a.interval_ms == b.interval_ms;
}

// The canonical form of a line or its error; a form that does not read back as itself fails the
// test.
inline std::string Canonical(const std::string& line) {
  const Result<EventSpec> event = ParseEventLine(line, "event");
  if (!event.ok()) return event.message();
  EXPECT_TRUE(IsFlat(event->filter)) << line;
  EXPECT_TRUE(IsBinary(event->predicate)) << line;
  std::string printed = PrintEventLine(*event);
  const Result<EventSpec> again = ParseEventLine(printed, "printed");
  if (!again.ok()) return "printed as " + printed + ", which gives " + again.message();
  EXPECT_TRUE(SameParts(*event, *again)) << line << "\nis printed as\n" << printed;
  EXPECT_EQ(PrintEventLine(*again), printed);
  return printed;
}

inline void CheckTable(const char* table) {
  std::istringstream lines(table);
  std::string line;
  std::string event;
  int row_count = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line[0] == '#') continue;
    const size_t arrow = line.find("    => ");
    if (arrow != 0) {
      event = line;
      continue;
    }
    EXPECT_EQ(Canonical(event), line.substr(7)) << "for: " << event;
    ++row_count;
  }
  EXPECT_GT(row_count, 0);
}

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_TABLE_TEST_H
