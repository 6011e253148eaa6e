// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/model/network_report.h"

#include <gtest/gtest.h>

namespace trumpet {
namespace {

NetworkReport SomeReport() {
  NetworkReport network;
  network.report.event = "heavy";
  network.report.start_ns = 10;
  network.report.end_ns = 20;
  network.report.value = Number::Integer(12);
  network.report.threshold = Number::Integer(10);
  network.host_count = 2;
  network.skew_bound_ns = 300;
  return network;
}

constexpr char kHead[] = R"({"event":"heavy","bucket":{},"start_ns":10,"end_ns":20,)";

TEST(NetworkReport, AppendsHostsAndSkewToTheKeysOfTheContract) {
  NetworkReport network = SomeReport();
  network.hosts = {{"a", 3, Number::Integer(7), 0}, {"b", 2, Number::Integer(5), kRingFull}};
  network.stages.told_ns = 21;
  network.stages.answered_ns = 25;
  EXPECT_EQ(ToJsonLine(network),
            kHead + std::string(R"("value":12,"threshold":10,"complete":true,"host_count":2,)") +
                R"("hosts":[{"host":"a","packets":3,"value":7,"complete":true},)" +
                R"({"host":"b","packets":2,"value":5,"complete":false,"reasons":["ring-full"]}],)" +
                R"("skew_ns":300,"stages":{"told_ns":21,"answered_ns":25}})");
}

TEST(NetworkReport, NamesSilentHostsAndTellsWhatWasLeftOut) {
  NetworkReport network = SomeReport();
  network.report.incomplete_reasons = kHostSilent;
  network.hosts_omitted = 4;
  network.silent_hosts = {"c", "d\""};
  network.silent_omitted = 5;
  network.suppressed = 6;
  EXPECT_EQ(ToJsonLine(network),
            kHead + std::string(R"("value":12,"threshold":10,"complete":false,)") +
                R"("reasons":["host-silent"],"host_count":2,"hosts":[],"hosts_omitted":4,)" +
                R"("silent":["c","d\""],"silent_omitted":5,"skew_ns":300,"suppressed":6})");
}

TEST(NetworkReport, AClearHasNoValues) {
  NetworkReport network = SomeReport();
  network.report.value = network.report.threshold = Number();
  network.is_clear = true;
  EXPECT_EQ(ToJsonLine(network),
            kHead + std::string(R"("value":null,"threshold":null,"complete":true,)") +
                R"("cleared":true,"host_count":2,"skew_ns":300})");
}

}  // namespace
}  // namespace trumpet
