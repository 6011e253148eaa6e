// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/event_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace trumpet {
namespace {

// A file below the system's temporary folder, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& suffix, const std::string& content) {
    path_ = ::testing::TempDir() + "/event-input-XXXXXX" + suffix;
    const int fd = mkstemps(path_.data(), static_cast<int>(suffix.size()));
    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    close(fd);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(EventInput, ReadsOneLineWithOptions) {
  const auto events = ReadEventArguments({"name=n", "for=3", "scope=host", "observe=all",
                                          "severity=warning", "*, sum(packets) > 1, 10ms"});
  ASSERT_TRUE(events.ok()) << events.message();
  const EventSpec& event = events->at(0);
  EXPECT_EQ(event.name, "n");
  EXPECT_EQ(event.for_count, 3u);
  EXPECT_EQ(event.scope, Scope::kHost);
  EXPECT_EQ(event.observe, Observe::kAll);
  EXPECT_EQ(event.severity, "warning");
  EXPECT_EQ(event.interval_ms, 10u);
}

TEST(EventInput, TellsYamlAndJsonByHowTheyBegin) {
  for (const char* text : {"events:\n  - {name: a, event: '*, sum(packets) > 1, 10ms'}\n",
                           "- {name: a, event: '*, sum(packets) > 1, 10ms'}\n",
                           R"({"events":[{"name":"a","event":"*, sum(packets) > 1, 10ms"}]})",
                           R"([{"name":"a","event":"*, sum(packets) > 1, 10ms"}])"}) {
    const auto events = ReadEventArguments({text});
    ASSERT_TRUE(events.ok()) << text << ": " << events.message();
    ASSERT_EQ(events->size(), 1u);
    EXPECT_EQ(events->at(0).name, "a");
  }
}

TEST(EventInput, ReadsFilesOfBothKinds) {
  const TemporaryFile yaml(".yaml", "events:\n  - '*, sum(packets) > 1, 10ms'\n");
  const TemporaryFile json(".json", R"(["*, sum(packets) > 1, 10ms"])");
  EXPECT_TRUE(ReadEventArguments({"@" + yaml.path()}).ok());
  EXPECT_TRUE(ReadEventArguments({"@" + json.path()}).ok());
}

TEST(EventInput, NamesTheFileInErrors) {
  const TemporaryFile file(".yaml", "events:\n  - '*, sum(bytez) > 1, 10ms'\n");
  const auto events = ReadEventArguments({"@" + file.path()});
  ASSERT_FALSE(events.ok());
  EXPECT_EQ(events.message().rfind(file.path() + ":2:", 0), 0u) << events.message();
}

TEST(EventInput, RefusesLabelsThatNoScreenCouldShow) {
  const std::string line = "*, sum(packets) > 1, 10ms";
  const std::pair<std::string, std::string> wrong[] = {
      {"name=a\nb", "'name' holds a control character"},
      {"name=\x1b[31m", "'name' holds a control character"},
      {"name=\xff\xfe", "'name' is not UTF-8"},
      {"severity=\x7f", "'severity' holds a control character"},
      {"severity=" + std::string(256, 's'), "'severity' is longer than 255 bytes"},
  };
  for (const auto& [option, complaint] : wrong) {
    EXPECT_EQ(ReadEventArguments({option, line}).message(), complaint);
  }
}

TEST(EventInput, RefusesNamesThatCommandsTakeForAnotherWord) {
  for (const std::string name : {"--all", "-", "json", "7", "007"}) {
    const std::string complaint =
        "'name' is '" + name +
        "', which commands take for something else; it may not begin with '-', nor be 'json' or a "
        "number";
    EXPECT_EQ(ReadEventArguments({"name=" + name, "*, sum(packets) > 1, 10ms"}).message(),
              complaint);
    const auto document =
        ReadEventArguments({"- {name: '" + name + "', event: '*, sum(packets) > 1, 10ms'}"});
    EXPECT_EQ(document.message(), "event:1:10: " + complaint);
  }
  for (const std::string name : {"all", "json7", "7a", "a-", "JSON"}) {
    EXPECT_TRUE(ReadEventArguments({"name=" + name, "*, sum(packets) > 1, 10ms"}).ok()) << name;
  }
}

TEST(EventInput, RefusesAnOptionGivenTwice) {
  EXPECT_EQ(ReadEventArguments({"name=a", "name=b", "*, 1, 1ms"}).message(),
            "name= is given twice");
}

TEST(EventInput, RefusesLargeFiles) {
  const TemporaryFile file(".yaml", std::string((1 << 20) + 1, '#'));
  const auto events = ReadEventArguments({"@" + file.path()});
  ASSERT_FALSE(events.ok());
  EXPECT_NE(events.message().find("larger than 1 MiB"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
