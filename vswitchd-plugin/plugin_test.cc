// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/plugin.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "lib/base/memory_shortage_test.h"
#include "vswitchd-plugin/fake_switch_test.h"

namespace trumpet {
namespace {

using testing::FakeSwitch;
using testing::StillSwitch;

TEST(Plugin, ComplainsOnceAboutEachBadValue) {
  StillSwitch bench(0);
  const ConfigPairs bad{{"trumpet-memory-mb", "1"}};
  bench.plugin.SetConfig(bad);
  EXPECT_EQ(bench.fake.TakeLogText(),
            "warning: trumpet-memory-mb is \"1\"; it takes 4 to 65536; using 256\n");
  bench.plugin.SetConfig(bad);
  EXPECT_EQ(bench.fake.TakeLogText(), "");
  bench.plugin.SetConfig({{"trumpet-memory-mb", "2"}});
  EXPECT_EQ(bench.fake.TakeLogText(),
            "warning: trumpet-memory-mb is \"2\"; it takes 4 to 65536; using 256\n");
  bench.plugin.SetConfig({});
  bench.plugin.SetConfig(bad);
  EXPECT_NE(bench.fake.TakeLogText(), "") << "it was right in between";
}

TEST(Plugin, StartsSilently) {
  StillSwitch bench(1);
  bench.plugin.RegisterCommands();
  bench.plugin.SetConfig({});
  bench.RunMs(5);
  EXPECT_EQ(bench.fake.TakeLogText(), "");
}

TEST(Plugin, LetsOnlyAChangeOfTheSettingOverrideTheCommands) {
  StillSwitch bench(0);
  const auto is_enabled = [&] { return bench.plugin.agent().Snapshot().is_enabled; };
  bench.plugin.SetConfig({{"trumpet-enable", "true"}});
  bench.Command("trumpet/disable");
  bench.plugin.SetConfig({{"trumpet-enable", "true"}, {"trumpet-max-buckets", "7"}});
  EXPECT_FALSE(is_enabled());
  bench.plugin.SetConfig({{"trumpet-enable", "false"}});
  bench.plugin.SetConfig({{"trumpet-enable", "true"}});
  EXPECT_TRUE(is_enabled());
}

TEST(Plugin, DoesWithTheNextConfigurationWhatFoundNoMemory) {
  for (const bool is_on : {true, false}) {
    bool is_done = false;
    for (uint64_t calls = 0; !is_done; ++calls) {
      StillSwitch bench(1);
      const auto configure = [&bench](bool enable) {
        bench.plugin.SetConfig({{"trumpet-enable", enable ? "true" : "false"}});
      };
      configure(!is_on);
      is_done = testing::DoesWith(calls, [&] { configure(is_on); });
      configure(is_on);
      ASSERT_EQ(bench.plugin.agent().Snapshot().is_enabled, is_on) << calls;
    }
  }
}

// The functions of glue.h, in the order in which the switch calls them.
TEST(Plugin, StandsAtTheLineToTheSwitch) {
  static FakeSwitch fake;  // the plug-in of the process lives on
  ASSERT_TRUE(trumpet_plugin_init(fake.ops()));
  const trumpet_thread_info info{-1, -1, false, &fake};
  void* state = trumpet_thread_init(&info);
  ASSERT_NE(state, nullptr);
  trumpet_port_update(1, "br0", "tap", true);
  trumpet_idle(state, 1);
  EXPECT_EQ(trumpet_next_wakeup_us(state), TRUMPET_WAKEUP_NEVER);
  const char* keys[] = {"trumpet-memory-mb"};
  const char* values[] = {"0"};
  trumpet_set_config(keys, values, 1);
  EXPECT_NE(fake.TakeLogText().find("trumpet-memory-mb"), std::string::npos);

  char* reply = nullptr;
  const char* good[] = {"trumpet/status", "json"};
  EXPECT_TRUE(trumpet_command(2, good, &reply));
  EXPECT_NE(std::string(reply).find("\"enabled\": false"), std::string::npos);
  free(reply);
  const char* bad[] = {"trumpet/event-del", "x"};
  EXPECT_FALSE(trumpet_command(2, bad, &reply));
  EXPECT_STREQ(reply, "no event 'x' is installed");
  free(reply);

  trumpet_port_update(1, "br0", "tap", false);
  trumpet_thread_uninit(state);
  trumpet_plugin_exit();
}

}  // namespace
}  // namespace trumpet
