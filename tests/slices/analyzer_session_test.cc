// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Analyzers and the controller's collector, over TLS on loopback.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/campaign_run.h"
#include "lib/model/slice_spec.h"
#include "lib/packet/test_frames.h"
#include "lib/wire/limits.h"
#include "lib/wire/session_kit_test.h"
#include "lib/wire/slice_codec.h"

namespace trumpet {
namespace {

using test_frames::Be32;
using test_frames::Bytes;
using test_frames::Ethernet;
using test_frames::Gre;
using test_frames::Ipv4;
using test_frames::Ipv4Header;
using test_frames::Udp;

void NoLog(const char*, const std::string&) {}

ExpectedSlice Slice(uint32_t tag) {
  ExpectedSlice slice;
  slice.tag = tag;
  slice.run = 7;
  slice.path = {"A", "D"};
  slice.locations = {"A", "D"};
  slice.numbers = {1, 2};
  return slice;
}

Bytes CopyOf(uint16_t number, uint32_t tag, uint8_t ttl, uint16_t packet) {
  Ipv4Header header{kProtocolUdp};
  header.ttl = ttl;
  const Bytes payload = {static_cast<uint8_t>(packet >> 8), static_cast<uint8_t>(packet)};
  const Bytes inner = Ethernet(0x0800, Ipv4(header, Udp(1, 2, payload)));
  const Bytes gre = Gre(0x2000, 0x6558, Be32(SliceGreKey(number, tag)), inner);
  return Ethernet(0x0800, Ipv4({kProtocolGre}, gre));
}

class AnalyzerSession : public testing::Test {
 protected:
  AnalyzerSession() : analyzers_ca_(&folder_, "switch"), controllers_ca_(&folder_, "controller") {
    collector_options_.listener.tick = 0;
  }

  // Their clocks stand still; connections are made by the real one.
  void Start() {
    auto tls = TlsContext::Load(controllers_ca_.Issue("controller", "tem", analyzers_ca_));
    ASSERT_TRUE(tls.ok()) << tls.message();
    controller_tls_ = std::move(*tls);
    collector_ =
        std::make_unique<AnalyzerCollector>(loop_.base(), collector_options_, clock_, NoLog);
    const auto port =
        collector_->Listen(*ParsePassiveAddress("pssl:0:127.0.0.1"), controller_tls_.get());
    ASSERT_TRUE(port.ok()) << port.message();
    port_ = *port;
  }

  Analyzer* Add(const std::string& name, const std::string& common_name) {
    auto tls = TlsContext::Load(analyzers_ca_.Issue(name, common_name, controllers_ca_));
    EXPECT_TRUE(tls.ok());
    analyzer_tls_.push_back(std::move(*tls));
    AnalyzerOptions options;
    options.name = name;
    options.settle = settle_;
    options.archive.directory = folder_.File("packets-" + name);
    options.connector.tick = 0;
    analyzers_.push_back(std::make_unique<Analyzer>(loop_.base(), options, analyzer_clock_, NoLog));
    const Status connected =
        analyzers_.back()->Connect({true, "127.0.0.1", port_}, analyzer_tls_.back().get());
    EXPECT_TRUE(connected.ok());
    return analyzers_.back().get();
  }
  Analyzer* Add(const std::string& name) {
    Analyzer* const analyzer = Add(name, name);
    const size_t wanted = collector_->Analyzers().size() + 1;
    EXPECT_TRUE(loop_.RunUntil([&] { return collector_->Analyzers().size() == wanted; }));
    return analyzer;
  }

  // "an1", which answers as `owner` likes; null: it has not come.
  std::unique_ptr<Connector> AddScripted(RecordingOwner* owner) {
    auto tls = TlsContext::Load(analyzers_ca_.Issue("an1", "an1", controllers_ca_));
    EXPECT_TRUE(tls.ok());
    analyzer_tls_.push_back(std::move(*tls));
    owner->hello.host_id = "an1";
    owner->hello.capabilities = kCapabilityAnalyzer;
    auto connector = Connector::Connect(loop_.base(), {true, "127.0.0.1", port_},
                                        analyzer_tls_.back().get(), {}, analyzer_clock_, owner);
    const bool is_there = connector.ok() && loop_.RunUntil([&] { return collector_->is_ready(); });
    return is_there ? std::move(*connector) : nullptr;
  }

  void Expect(const std::vector<ExpectedSlice>& slices) {
    collector_->Expect(slices);
    EXPECT_TRUE(loop_.RunUntil([&] {
      for (const auto& analyzer : analyzers_) {
        if (analyzer->book().slice_count() < slices.size()) return false;
      }
      return true;
    }));
  }

  void Take(const Bytes& frame, Nanos time, Analyzer* analyzer) {
    const auto length = static_cast<uint32_t>(frame.size());
    analyzer->TakeFrame({frame.data(), length, length}, time);
  }

  std::vector<SliceTally> Tallies(const std::vector<uint32_t>& tags) {
    Result<std::vector<SliceTally>> got = Status::Error("no answer");
    bool is_there = false;
    collector_->AskTallies(tags, [&](const Result<std::vector<SliceTally>>& tallies) {
      got = tallies;
      is_there = true;
    });
    EXPECT_FALSE(is_there);  // never from within
    EXPECT_TRUE(loop_.RunUntil([&] { return is_there; }));
    EXPECT_TRUE(got.ok()) << got.message();
    return got.ok() ? *got : std::vector<SliceTally>();
  }

  Result<std::string> Finish(uint64_t run) {
    Result<std::string> got = Status::Error("no answer");
    bool is_there = false;
    collector_->Finish(run, [&](const Result<std::string>& answer) {
      got = answer;
      is_there = true;
    });
    EXPECT_TRUE(loop_.RunUntil([&] { return is_there; }));
    return got;
  }

  static ExpectedSlice InSlot(uint32_t slot, ExpectedSlice slice) {
    slice.slot = slot;
    return slice;
  }

  Result<PacketFilePiece> AskFile(const std::string& analyzer, const PacketFilePlace& from) {
    Result<PacketFilePiece> got = Status::Error("no answer");
    bool is_there = false;
    collector_->AskPacketFile(analyzer, 7, from, [&](const Result<PacketFilePiece>& piece) {
      got = piece;
      is_there = true;
    });
    EXPECT_FALSE(is_there);  // never from within
    EXPECT_TRUE(loop_.RunUntil([&] { return is_there; }));
    return got;
  }

  std::string ReadFiles(const std::string& analyzer) {
    std::string bytes;
    PacketFilePlace next;
    for (bool is_last = false; !is_last;) {
      const Result<PacketFilePiece> piece = AskFile(analyzer, next);
      EXPECT_TRUE(piece.ok()) << piece.message();
      if (!piece.ok()) break;
      bytes += piece->bytes;
      next = piece->next;
      is_last = piece->is_last;
    }
    return bytes;
  }

  std::string FileOf(const std::string& analyzer, uint32_t slot) {
    std::ifstream file(folder_.File("packets-" + analyzer) + "/run-7/slot-" + std::to_string(slot) +
                           "-query-0.pcapng",
                       std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TempFolder folder_;
  TestAuthority analyzers_ca_;
  TestAuthority controllers_ca_;
  FakeWireClock clock_;
  FakeWireClock analyzer_clock_;
  Loop loop_;
  AnalyzerCollectorOptions collector_options_;
  Nanos settle_ = 0;  // of analyzers
  std::unique_ptr<TlsContext> controller_tls_;
  std::vector<std::unique_ptr<TlsContext>> analyzer_tls_;
  std::unique_ptr<AnalyzerCollector> collector_;
  std::vector<std::unique_ptr<Analyzer>> analyzers_;
  uint16_t port_ = 0;
};

TEST_F(AnalyzerSession, IsReadyOnceAnAnalyzerHasCome) {
  Start();
  EXPECT_FALSE(collector_->is_ready());
  Add("an1");
  EXPECT_TRUE(collector_->is_ready());
  EXPECT_EQ(collector_->Analyzers()[0].name, "an1");
}

TEST_F(AnalyzerSession, AddsUpWhatAnalyzersCount) {
  Start();
  Analyzer* const first = Add("an1");
  Analyzer* const second = Add("an2");
  Expect({Slice(5), Slice(6)});
  Take(CopyOf(1, 5, 64, 1), 100, first);
  Take(CopyOf(1, 5, 64, 2), 300, second);
  Take(CopyOf(2, 5, 63, 2), 400, second);
  Take(CopyOf(2, 6, 63, 2), 500, second);
  const std::vector<SliceTally> tallies = Tallies({5});
  ASSERT_EQ(tallies.size(), 2u);
  EXPECT_EQ(tallies[0].switch_name, "A");
  EXPECT_EQ(tallies[0].packets, 2u);
  EXPECT_EQ(tallies[0].first, 100);
  EXPECT_EQ(tallies[0].last, 300);
  EXPECT_EQ(tallies[1].switch_name, "D");
  EXPECT_EQ(tallies[1].packets, 1u);
  EXPECT_EQ(tallies[1].copy_bytes, CopyOf(2, 5, 63, 2).size());
}

TEST_F(AnalyzerSession, TellsInstantsByTheControllersClock) {
  analyzer_clock_.unix_base += 3 * kNanosPerSecond;  // ahead
  Start();
  Analyzer* const analyzer = Add("an1");
  Expect({Slice(5)});
  ASSERT_TRUE(loop_.RunUntil([&] { return collector_->Analyzers()[0].clock_ahead != 0; }));
  EXPECT_EQ(collector_->Analyzers()[0].clock_ahead, 3 * kNanosPerSecond);
  Take(CopyOf(1, 5, 64, 1), analyzer_clock_.UnixNow(), analyzer);
  EXPECT_EQ(Tallies({5})[0].first, clock_.UnixNow());
}

TEST_F(AnalyzerSession, AnswersForARun) {
  Start();
  Analyzer* const analyzer = Add("an1");
  Expect({Slice(5)});
  for (uint16_t i = 0; i < 10; ++i) {
    Take(CopyOf(1, 5, 64, i), 1000 + i * 10, analyzer);
    if (i != 4) Take(CopyOf(2, 5, 63, i), 2000 + i * 10, analyzer);
  }
  collector_->SetLatencies(7, {{"A", 100, 1}, {"D", 50, 2}});
  const Result<std::string> answer = Finish(7);
  ASSERT_TRUE(answer.ok()) << answer.message();
  const nlohmann::json told = nlohmann::json::parse(*answer);
  EXPECT_EQ(told["run"], 7);
  ASSERT_EQ(told["analyzers"].size(), 1u);
  const nlohmann::json& query = told["analyzers"][0]["queries"][0];
  EXPECT_EQ(query["packets"]["at_ingress"], 8);  // between the first and the last
  EXPECT_EQ(query["packets"]["unjudged"], 2);
  EXPECT_EQ(query["packets"]["at_both_ends"], 7);
  EXPECT_EQ(query["delay"]["median_ns"], 1050);
  EXPECT_EQ(query.count("no_delay"), 0u);
}

TEST_F(AnalyzerSession, SaysWhyItTellsNoDelay) {
  Start();
  Analyzer* const analyzer = Add("an1");
  Expect({Slice(5)});
  Take(CopyOf(1, 5, 64, 0), 1000, analyzer);
  Take(CopyOf(2, 5, 63, 0), 2000, analyzer);
  collector_->SetLatencies(7, {{"A", 100, 1}});
  const Result<std::string> answer = Finish(7);
  ASSERT_TRUE(answer.ok()) << answer.message();
  const nlohmann::json query = nlohmann::json::parse(*answer)["analyzers"][0]["queries"][0];
  EXPECT_TRUE(query["delay"].is_null());
  EXPECT_NE(query.value("no_delay", "").find("'D'"), std::string::npos) << query;
}

TEST_F(AnalyzerSession, HandsOutPackets) {
  Start();
  Analyzer* const analyzer = Add("an1");
  Expect({Slice(5)});
  for (uint16_t i = 0; i < 5000; ++i) Take(CopyOf(1, 5, 64, i), 1000 + i, analyzer);
  std::vector<PacketRecord> got;
  bool is_there = false;
  collector_->AskPackets(5, 1000, 3000, [&](const Result<std::vector<PacketRecord>>& packets) {
    ASSERT_TRUE(packets.ok());
    got = *packets;
    is_there = true;
  });
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
  ASSERT_EQ(got.size(), 3000u);
  EXPECT_EQ(got[0].switch_name, "A");
  EXPECT_EQ(got[0].time, 2000);
  EXPECT_EQ(got[2999].time, 4999);
  EXPECT_EQ(got[0].bytes.size(), 44u);
}

// Frames become a section with an interface and a block each.
TEST_F(AnalyzerSession, HandsOutFilesOfARunThatHasEnded) {
  Start();
  Analyzer* const first = Add("an1");
  Analyzer* const second = Add("an2");
  Expect({Slice(5), InSlot(1, Slice(6))});
  for (uint16_t i = 0; i < 5000; ++i) Take(CopyOf(1, 5, 64, i), 1000 + i, first);
  Take(CopyOf(1, 6, 64, 1), 9000, first);
  Take(CopyOf(1, 5, 64, 1), 1000, second);
  EXPECT_TRUE(AskFile("an1", {}).ok());  // nothing yet
  ASSERT_TRUE(Finish(7).ok());
  EXPECT_EQ(collector_->Keepers(), (std::vector<std::string>{"an1", "an2"}));
  const std::string packets = ReadFiles("an1");
  EXPECT_EQ(packets, FileOf("an1", 0) + FileOf("an1", 1));
  EXPECT_GT(packets.size(), 2 * kMaxPacketFileBytes);
  EXPECT_EQ(ReadFiles("an2"), FileOf("an2", 0));
}

TEST_F(AnalyzerSession, SaysWhyThereAreNoFiles) {
  Start();
  Analyzer* const analyzer = Add("an1");
  EXPECT_EQ(AskFile("an2", {}).message(), "analyzer 'an2' is not connected");
  EXPECT_EQ(AskFile("an1", {0, 0, 1}).message(),
            "analyzer 'an1': its packets were removed meanwhile");
  Expect({Slice(5)});
  Take(CopyOf(1, 5, 64, 1), 1000, analyzer);
  ASSERT_TRUE(Finish(7).ok());
  Result<PacketFilePiece> got = PacketFilePiece();
  bool is_there = false;
  collector_->AskPacketFile("an1", 7, {}, [&](const Result<PacketFilePiece>& piece) {
    got = piece;
    is_there = true;
  });
  analyzers_.pop_back();
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
  EXPECT_EQ(got.message(), "analyzer 'an1' has gone, or does not answer");
}

TEST_F(AnalyzerSession, TellsWhoComesLaterWhatToExpect) {
  Start();
  collector_->Expect({Slice(5), Slice(6)});
  const Result<std::string> nobody = Finish(8);
  EXPECT_EQ(nobody.message(), "no analyzer is connected");
  Analyzer* const analyzer = Add("an1");
  ASSERT_TRUE(loop_.RunUntil([&] { return analyzer->book().slice_count() == 2; }));
  ASSERT_TRUE(Finish(7).ok());
  Analyzer* const late = Add("an2");
  EXPECT_TRUE(Tallies({5}).empty());  // asked and answered after what it would have been told
  EXPECT_EQ(late->book().slice_count(), 0u);
}

TEST_F(AnalyzerSession, GoesOnWithoutAnAnalyzerThatHasGone) {
  Start();
  Analyzer* const first = Add("an1");
  Add("an2");
  Expect({Slice(5)});
  Take(CopyOf(1, 5, 64, 1), 100, first);
  bool is_there = false;
  size_t count = 0;
  collector_->AskTallies({5}, [&](const Result<std::vector<SliceTally>>& tallies) {
    is_there = true;
    ASSERT_TRUE(tallies.ok());
    count = tallies->size();
  });
  analyzers_.pop_back();
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
  EXPECT_EQ(count, 1u);
}

TEST_F(AnalyzerSession, DoesNotWaitForEverForAnAnswer) {
  Start();
  Add("an1");
  bool is_there = false;
  collector_->AskTallies({5}, [&](const Result<std::vector<SliceTally>>&) { is_there = true; });
  clock_.Advance(collector_options_.patience);
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
}

TEST_F(AnalyzerSession, WaitsLongerForTheAnswersOfARunButLessThanTheRunDoes) {
  EXPECT_GT(collector_options_.finish_patience, collector_options_.patience);
  EXPECT_LT(collector_options_.finish_patience, SliceRunOptions().finish_patience);
  settle_ = 3600 * kNanosPerSecond;
  Start();
  Add("an1");
  Result<std::string> got = std::string("nothing yet");
  bool is_there = false;
  collector_->Finish(7, [&](const Result<std::string>& answer) {
    got = answer;
    is_there = true;
  });
  clock_.Advance(collector_options_.finish_patience - 1);
  Tallies({5});  // all that is late has been concluded, too
  EXPECT_FALSE(is_there);
  clock_.Advance(1);
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
  EXPECT_EQ(got.message(), "no analyzer has answered for run 7");
}

TEST_F(AnalyzerSession, IsOnlyForAnalyzersUnderTheirOwnNames) {
  Start();
  Analyzer* const stranger = Add("an1", "somebody");
  ASSERT_TRUE(loop_.RunUntil([&] { return !stranger->connector()->last_error().empty(); }));
  EXPECT_NE(stranger->connector()->last_error().find(
                "the certificate of 'somebody' is not that of 'an1'"),
            std::string::npos);
  Add("an2");
  Analyzer* const twin = Add("an2", "an2");
  ASSERT_TRUE(loop_.RunUntil([&] { return !twin->connector()->last_error().empty(); }));
  EXPECT_NE(twin->connector()->last_error().find("'an2' is connected"), std::string::npos);
  RecordingOwner agent;
  agent.hello.capabilities = kCapabilityPartials;
  auto connector = Connector::Connect(loop_.base(), {true, "127.0.0.1", port_},
                                      analyzer_tls_[0].get(), {}, analyzer_clock_, &agent);
  ASSERT_TRUE(connector.ok());
  ASSERT_TRUE(loop_.RunUntil([&] { return !agent.closed.empty(); }));
  EXPECT_NE(agent.closed[0].text.find("this port is for analyzers"), std::string::npos);
}

TEST_F(AnalyzerSession, TakesNoMoreThanItAskedFor) {
  Start();
  RecordingOwner wordy;
  wordy.on_message = [](Session* session, const Message& message) {
    if (const auto* asked = std::get_if<TallyRequest>(&message)) {
      SliceTallies tallies{asked->number, true, std::vector<SliceTally>(3)};
      for (SliceTally& tally : tallies.tallies) tally = {5, "A", 1, 100, 150, 10, 20};
      tallies.tallies[1].tag = 6;
      tallies.tallies[2].switch_name = "Z";
      for (int i = 0; i < 2; ++i) EXPECT_TRUE(session->Send(tallies).ok());
    } else if (const auto* packets = std::get_if<PacketsRequest>(&message)) {
      const PacketRecord record = {"A", 10, 60, true, "bytes"};
      const PacketRecords records = {packets->number, 0, true, {3, record}};
      EXPECT_TRUE(session->Send(records).ok());
    }
  };
  const auto connector = AddScripted(&wordy);
  ASSERT_NE(connector, nullptr);
  collector_->Expect({Slice(5), Slice(6)});
  const std::vector<SliceTally> tallies = Tallies({5});
  ASSERT_EQ(tallies.size(), 1u);
  EXPECT_EQ(tallies[0].packets, 1u);
  size_t count = 0;
  collector_->AskPackets(5, 0, 2, [&](const auto& packets) { count = packets->size(); });
  ASSERT_TRUE(loop_.RunUntil([&] { return count != 0; }));
  EXPECT_EQ(count, 2u);
}

TEST_F(AnalyzerSession, TellsNoAnswerThatNamesNoAnalyzerOrIsNestedDeeply) {
  Start();
  RecordingOwner odd;
  std::string text;
  odd.on_message = [&](Session* session, const Message& message) {
    const auto* const asked = std::get_if<FinishRun>(&message);
    if (asked == nullptr) return;
    SplitRunAnswer(asked->run, text,
                   [&](Message&& part) { EXPECT_TRUE(session->Send(part).ok()); });
  };
  const auto connector = AddScripted(&odd);
  ASSERT_NE(connector, nullptr);
  const auto nested = [](size_t depth) {
    return R"({"analyzer":"an1","queries":)" + std::string(depth, '[') + std::string(depth, ']') +
           "}";
  };
  for (const std::string& refused :
       {std::string("[1]"), std::string("\"an1\""), std::string(R"({"run":7})"),
        std::string(R"({"analyzer":7})"), std::string(R"({"analyzer":{}})"), nested(17),
        nested(1000000)}) {
    text = refused;
    const Result<std::string> answer = Finish(7);
    ASSERT_FALSE(answer.ok()) << refused.substr(0, 99);
    EXPECT_EQ(answer.message(), "no analyzer has answered for run 7");
  }
  text = nested(16);
  const Result<std::string> told = Finish(7);
  ASSERT_TRUE(told.ok()) << told.message();
  EXPECT_EQ(*told, R"({"run":7,"analyzers":[)" + text + "]}");
}

TEST_F(AnalyzerSession, EndsWithAnAnswerToWhatWasAsked) {
  Start();
  Add("an1");
  Result<std::string> got = std::string("nothing");
  bool is_there = false;
  collector_->Finish(7, [&](const Result<std::string>& answer) {
    got = answer;
    is_there = true;
  });
  collector_->Stop();
  ASSERT_TRUE(loop_.RunUntil([&] { return is_there; }));
  EXPECT_FALSE(got.ok());
}

}  // namespace
}  // namespace trumpet
