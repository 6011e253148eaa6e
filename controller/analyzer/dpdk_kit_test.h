// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// DPDK's environment without huge pages and without cards, and virtual devices; for tests.

#ifndef TRUMPET_CONTROLLER_ANALYZER_DPDK_KIT_TEST_H
#define TRUMPET_CONTROLLER_ANALYZER_DPDK_KIT_TEST_H

#include <event2/event.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/dpdk_eal.h"
#include "controller/analyzer/dpdk_receiver.h"
#include "lib/base/loop_event.h"
#include "lib/packet/test_frames.h"

struct rte_mempool;
struct rte_ring;

namespace trumpet {

// A process has one environment, ever.
class DpdkProcess : public testing::Environment {
 public:
  static DpdkProcess& Get() {
    static auto* const process =
        static_cast<DpdkProcess*>(testing::AddGlobalTestEnvironment(new DpdkProcess));
    return *process;
  }

  void SetUp() override {
    folder_ = testing::TempDir() + "trumpet-dpdk-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("RUNTIME_DIRECTORY", folder_.c_str(), 1);
    auto started = DpdkEal::Start("--no-huge --no-pci -m 256",
                                  [this](const char* level, const std::string& text) {
                                    log.push_back(std::string(level) + " " + text);
                                  });
    ASSERT_TRUE(started.ok()) << started.message();
    eal = std::move(*started);
  }
  void TearDown() override {
    eal.reset();
    std::filesystem::remove_all(folder_);
  }

  const std::string& folder() const { return folder_; }
  std::unique_ptr<DpdkEal> eal;
  std::vector<std::string> log;

 private:
  std::string folder_;
};

// Is there until it ends.
class VirtualDevice {
 public:
  VirtualDevice(std::string name, const std::string& arguments);
  ~VirtualDevice();
  VirtualDevice(const VirtualDevice&) = delete;
  VirtualDevice& operator=(const VirtualDevice&) = delete;
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
};

// Puts frames where net_ring takes them from, as a card would.
class RingFeeder {
 public:
  explicit RingFeeder(const std::string& device);
  ~RingFeeder();
  RingFeeder(const RingFeeder&) = delete;
  RingFeeder& operator=(const RingFeeder&) = delete;

  // Waits until there is room.
  void Put(const test_frames::Bytes& bytes);

 private:
  rte_ring* const ring_;
  rte_mempool* const pool_;
};

class DpdkTest : public testing::Test {
 protected:
  struct Taken {
    Nanos time;
    uint32_t wire_length;
    test_frames::Bytes bytes;
  };

  // Until the test ends.
  void Make(const std::string& device, const std::string& arguments = "") {
    devices_.push_back(std::make_unique<VirtualDevice>(device, arguments));
  }
  void Feed(const std::string& device) { feeder_ = std::make_unique<RingFeeder>(device); }
  void Put(const test_frames::Bytes& bytes) { feeder_->Put(bytes); }

  void Open(DpdkReceiverOptions options) {
    auto opened = DpdkReceiver::Open(base_.get(), *DpdkProcess::Get().eal, options,
                                     [this](const TimedFrame* frames, size_t count) {
                                       EXPECT_LE(count, kReceiveBurst);
                                       for (size_t i = 0; i < count; ++i) Keep(frames[i]);
                                     });
    ASSERT_TRUE(opened.ok()) << opened.message();
    receiver_ = std::move(*opened);
  }
  void Keep(const TimedFrame& timed) {
    const Frame& frame = timed.frame;
    taken_.push_back(
        {timed.time, frame.wire_length, {frame.data, frame.data + frame.captured_length}});
  }
  bool RunUntil(const std::function<bool()>& is_there) {
    bool is_late = false;
    LoopEvent alarm(base_.get(), [&] { is_late = true; });
    alarm.RunAfter(60 * kNanosPerSecond);
    LoopEvent look(base_.get(), [] {});
    look.RunEvery(kNanosPerMilli);
    while (!is_there() && !is_late) event_base_loop(base_.get(), EVLOOP_ONCE);
    return is_there();
  }
  bool RunUntil(size_t count) {
    return RunUntil([&] { return taken_.size() >= count; });
  }
  uint64_t Figure(size_t port, const std::string& name) {
    for (const auto& [other, value] : receiver_->Sources().at(port)->Figures()) {
      if (other == name) return value;
    }
    ADD_FAILURE() << name;
    return 0;
  }

  OwnedLoop base_{NewPreciseLoop()};
  std::vector<std::unique_ptr<VirtualDevice>> devices_;
  std::unique_ptr<RingFeeder> feeder_;
  std::vector<Taken> taken_;
  std::unique_ptr<DpdkReceiver> receiver_;
};

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_DPDK_KIT_TEST_H
