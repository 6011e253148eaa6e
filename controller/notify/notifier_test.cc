// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/notifier.h"

#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <random>
#include <sstream>

#include <nlohmann/json.hpp>

#include "controller/notify/notify_kit_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

class NotifierTest : public testing::Test {
 protected:
  NotifierTest()
      : owner_(event_base_new(), event_base_free),
        base_(owner_.get()),
        store_(base_),
        hub_(std::in_place, &store_),
        receiver_(base_) {
    std::string folder = testing::TempDir() + "/trumpet-notify-XXXXXX";
    folder_ = mkdtemp(folder.data());
    one_.name = "ops";
    one_.url = receiver_.url();
    one_.batch_window = kNanosPerMilli;
    one_.first_retry = kNanosPerMilli;
    one_.longest_retry = 4 * kNanosPerMilli;
  }
  ~NotifierTest() override {
    for (const char* name : {"/notify/ops.place", "/notify/ops.dead"})
      unlink((folder_ + name).c_str());
    rmdir((folder_ + "/notify").c_str());
    rmdir(folder_.c_str());
  }

  std::unique_ptr<Notifier> Start() {
    NotifyOptions options;
    options.receivers = {one_};
    options.directory = folder_ + "/notify";
    options.max_alerts = max_alerts_;
    auto notifier = std::make_unique<Notifier>(base_, &*hub_, options,
                                               [this](const char* level, const std::string& text) {
                                                 log_ += std::string(level) + " " + text + "\n";
                                               });
    const Status started = notifier->Start();
    EXPECT_TRUE(started) << started.message();
    return notifier;
  }

  void Publish(const std::string& event, int count = 1, const std::string& tenant = "") {
    for (int i = 0; i < count; ++i) {
      hub_->Publish({ReportOf(event, "{\"dstPort\":" + std::to_string(i) + "}")}, tenant);
    }
  }

  // As another process does, which gives numbers above this one.
  void BeginAnewAfter(uint64_t number) {
    store_.Reserve(number);
    hub_.emplace(&store_);
  }

  std::vector<uint64_t> NumbersTaken() const {
    std::vector<uint64_t> numbers;
    for (size_t i = 0; i < receiver_.requests().size(); ++i) {
      if (!is_taken_.empty() && !is_taken_[i]) continue;
      const Json body = Json::parse(receiver_.requests()[i].body);
      for (const Json& report : body.at("reports")) {
        numbers.push_back(report.at("number").get<uint64_t>());
      }
    }
    return numbers;
  }
  // Until the receiver has taken so many reports, and the notifier has heard of it.
  bool WaitForNumbers(const Notifier& notifier, size_t count) {
    return LoopUntil(base_, [&] {
      return notifier.Receivers()[0].waiting == 0 && NumbersTaken().size() >= count;
    });
  }
  std::vector<Json> AlertsSent() const {
    std::vector<Json> alerts;
    for (const auto& request : receiver_.requests()) {
      for (const Json& alert : Json::parse(request.body)) alerts.push_back(alert);
    }
    return alerts;
  }
  bool WaitForAlerts(size_t count) {
    return LoopUntil(base_, [&] { return AlertsSent().size() >= count; });
  }
  std::string Content(const std::string& name) const {
    std::ifstream file(folder_ + "/notify/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::unique_ptr<event_base, void (*)(event_base*)> owner_;
  event_base* base_;
  KeptReports store_;
  std::optional<ReportHub> hub_;
  TestReceiver receiver_;
  std::vector<bool> is_taken_;  // by number of the request; empty: all were
  NotifyReceiver one_;
  size_t max_alerts_ = 100;
  std::string folder_;
  std::string log_;
};

TEST_F(NotifierTest, TellsEveryReportInOrderAndInBatches) {
  one_.max_batch = 10;
  const auto notifier = Start();
  Publish("heavy", 95);
  ASSERT_TRUE(WaitForNumbers(*notifier, 95));
  const std::vector<uint64_t> numbers = NumbersTaken();
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], i + 1);
  EXPECT_EQ(receiver_.requests().size(), 10u);
  const Json body = Json::parse(receiver_.requests()[0].body);
  EXPECT_EQ(body["receiver"], "ops");
  EXPECT_EQ(body["reports"][0]["event"], "heavy");
  EXPECT_EQ(notifier->Receivers()[0].delivered, 95u);
}

TEST_F(NotifierTest, TellsOnlyWhatTheReceiverWants) {
  one_.events = {"heavy-*", "exact"};
  one_.tenant = "blue";
  const auto notifier = Start();
  Publish("heavy-flows", 1, "blue");
  Publish("heavy-flows", 1, "red");
  Publish("other", 1, "blue");
  Publish("exact", 1, "blue");
  ASSERT_TRUE(WaitForNumbers(*notifier, 2));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{1, 4}));
}

TEST_F(NotifierTest, GoesOnWhereItWasAfterARestart) {
  auto notifier = Start();
  Publish("heavy", 3);
  ASSERT_TRUE(WaitForNumbers(*notifier, 3));
  notifier.reset();
  Publish("heavy", 4);
  notifier = Start();
  ASSERT_TRUE(WaitForNumbers(*notifier, 7));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(NotifierTest, TellsAfterARestartWhatItNeverGotAround) {
  auto notifier = Start();
  Publish("heavy", 3);
  notifier.reset();
  notifier = Start();
  ASSERT_TRUE(WaitForNumbers(*notifier, 3));
}

TEST_F(NotifierTest, TellsNothingOfThePastToANewReceiver) {
  Publish("heavy", 5);
  const auto notifier = Start();
  Publish("heavy", 1);
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{6}));
}

TEST_F(NotifierTest, FetchesFromTheStoreWhatIsNoLongerInMemory) {
  auto notifier = Start();
  Publish("heavy", 1);
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  notifier.reset();
  one_.max_batch = 10000;
  const int count = static_cast<int>(ReportHub::kKept) + 500;
  Publish("heavy", count);
  notifier = Start();
  ASSERT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].waiting == 0; }));
  const std::vector<uint64_t> numbers = NumbersTaken();
  ASSERT_EQ(numbers.size(), static_cast<size_t>(count) + 1);
  for (size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i + 1);
  EXPECT_GT(store_.queries(), 0u);
}

TEST_F(NotifierTest, CountsWhatTheStoreForgotBeforeItWasTold) {
  auto notifier = Start();
  Publish("heavy", 1);
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  notifier.reset();
  Publish("heavy", static_cast<int>(ReportHub::kKept) + 500);
  store_.ForgetUntil(301);
  notifier = Start();
  ASSERT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].waiting == 0; }));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 300u);
  EXPECT_EQ(NumbersTaken().size(), ReportHub::kKept + 500 - 300 + 1);
}

TEST_F(NotifierTest, CountsWhatTheStoreLostInTheMiddle) {
  auto notifier = Start();
  Publish("heavy", 1);
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  notifier.reset();
  const int count = static_cast<int>(ReportHub::kKept) + 500;
  one_.max_batch = 10000;
  Publish("heavy", count);
  store_.Forget(301, 600);  // the hub has those from 502 on
  notifier = Start();
  ASSERT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].waiting == 0; }));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 201u);
  EXPECT_EQ(NumbersTaken().size(), static_cast<size_t>(count) + 1 - 201);
}

TEST_F(NotifierTest, TakesNumbersThatWereNeverGivenForNoReports) {
  auto notifier = Start();
  Publish("heavy", 3);
  ASSERT_TRUE(WaitForNumbers(*notifier, 3));
  notifier.reset();
  Publish("heavy", 2);
  BeginAnewAfter(1000000);
  notifier = Start();
  ASSERT_TRUE(WaitForNumbers(*notifier, 5));
  const size_t queries = store_.queries();
  EXPECT_LE(queries, 2u);
  Publish("heavy", 2);
  ASSERT_TRUE(WaitForNumbers(*notifier, 7));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{1, 2, 3, 4, 5, 1000001, 1000002}));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 0u);
  EXPECT_EQ(store_.queries(), queries);
}

TEST_F(NotifierTest, AsksTheStoreOnceForATenantWithoutReports) {
  one_.tenant = "blue";
  auto notifier = Start();
  Publish("heavy", 1, "red");
  notifier.reset();
  BeginAnewAfter(1000000);
  notifier = Start();
  ASSERT_TRUE(WaitForNumbers(*notifier, 0));
  Publish("heavy", 3, "red");
  Publish("heavy", 1, "blue");
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{1000004}));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 0u);
  EXPECT_EQ(store_.queries(), 1u);
}

TEST_F(NotifierTest, TellsWhatIsInMemoryIfTheStoreTakesNothing) {
  auto notifier = Start();
  Publish("heavy", 3);
  ASSERT_TRUE(WaitForNumbers(*notifier, 3));
  notifier.reset();
  store_.TakeNoMore();
  BeginAnewAfter(1000000);
  Publish("heavy", 2);
  notifier = Start();
  ASSERT_TRUE(WaitForNumbers(*notifier, 5));
  EXPECT_EQ(NumbersTaken(), (std::vector<uint64_t>{1, 2, 3, 1000001, 1000002}));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 0u);
}

TEST_F(NotifierTest, KeepsWhatNobodyTakesAsDeadLetters) {
  receiver_.AnswerBy([](size_t number) {
    TestReceiver::Answer answer;
    if (number == 0) answer.status = 422;
    return answer;
  });
  is_taken_ = {false, true};
  auto notifier = Start();
  Publish("heavy", 2);
  ASSERT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].dropped == 2; }));
  Publish("heavy", 1);
  ASSERT_TRUE(WaitForNumbers(*notifier, 1));
  notifier.reset();
  const std::string dead = Content("ops.dead");
  EXPECT_EQ(std::count(dead.begin(), dead.end(), '\n'), 2);
  EXPECT_EQ(dead.substr(0, 12), "{\"number\":1,");
  EXPECT_EQ(Content("ops.place"), "3\n");
}

TEST_F(NotifierTest, SaysInTheLogWhenAReceiverFailsAndWhenItIsWell) {
  bool is_well = false;
  receiver_.AnswerBy([&](size_t) {
    TestReceiver::Answer answer;
    if (!is_well) answer = {503, {}, "too busy", false};
    return answer;
  });
  const auto notifier = Start();
  Publish("heavy", 1);
  ASSERT_TRUE(LoopUntil(base_, [&] { return !log_.empty(); }));
  EXPECT_EQ(log_, "warn receiver ops does not take notifications: HTTP status 503: too busy\n");
  log_.clear();
  is_well = true;
  ASSERT_TRUE(LoopUntil(base_, [&] { return !log_.empty(); }));
  EXPECT_EQ(log_, "info receiver ops takes notifications again\n");
}

// Whatever the receiver does, every report arrives, and the first time it does, in order.
TEST_F(NotifierTest, BringsEverythingThroughARandomReceiverAndRestarts) {
  constexpr uint32_t kSeed = 20261121;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  receiver_.AnswerBy([&](size_t number) {
    TestReceiver::Answer answer;
    const uint32_t roll = random() % 10;
    if (roll < 3) answer.status = 500;
    if (roll == 3) answer.is_silent = true;
    is_taken_.resize(number + 1);
    is_taken_[number] = roll > 3;
    return answer;
  });
  one_.timeout = 20 * kNanosPerMilli;
  one_.max_batch = 7;
  auto notifier = Start();
  uint64_t published = 0;
  for (int round = 0; round < 60; ++round) {
    const int count = static_cast<int>(random() % 40);
    Publish("heavy", count);
    published += static_cast<uint64_t>(count);
    const size_t requests = receiver_.requests().size() + random() % 4;
    if (hub_->last_number() > 0 && notifier->Receivers()[0].waiting > 0) {
      LoopUntil(base_, [&] {
        return receiver_.requests().size() >= requests || notifier->Receivers()[0].waiting == 0;
      });
    }
    if (random() % 5 == 0) {
      notifier.reset();
      notifier = Start();
    }
  }
  ASSERT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].waiting == 0; }));
  uint64_t next = 1;
  for (const uint64_t number : NumbersTaken()) {
    ASSERT_LE(number, next);
    if (number == next) ++next;
  }
  EXPECT_EQ(next, published + 1);
}

class AlertTest : public NotifierTest {
 protected:
  AlertTest() { one_.format = NotifyFormat::kAlertmanager; }

  void Tell(const std::string& event, int bucket, bool is_clear = false) {
    hub_->Publish({ReportOf(event, "{\"outer.dstPort\":" + std::to_string(bucket) + "}", is_clear)},
                  "blue");
  }
};

TEST_F(AlertTest, FiresAndIsResolved) {
  const auto notifier = Start();
  Tell("heavy", 80);
  ASSERT_TRUE(WaitForAlerts(1));
  const Json fired = AlertsSent()[0];
  EXPECT_EQ(receiver_.requests()[0].path, "/api/v2/alerts");
  EXPECT_EQ(fired["labels"],
            Json::parse(R"({"alertname":"heavy","job":"trumpet","severity":"warning",
                                             "outer_dstPort":"80","tenant":"blue"})"));
  EXPECT_EQ(fired["startsAt"], "1970-01-01T00:00:01.000Z");
  EXPECT_EQ(fired["annotations"]["hosts"], "h1");
  Tell("heavy", 80, true);
  ASSERT_TRUE(WaitForAlerts(2));
  const Json resolved = AlertsSent()[1];
  EXPECT_EQ(resolved["labels"], fired["labels"]);
  EXPECT_EQ(resolved["endsAt"], "1970-01-01T00:00:01.010Z");
}

TEST_F(AlertTest, SaysHowThingsAreNotHowTheyCameThere) {
  one_.batch_window = 20 * kNanosPerMilli;
  const auto notifier = Start();
  for (int i = 0; i < 100; ++i) {
    Tell("heavy", 80);
    Tell("heavy", 80, true);
  }
  Tell("heavy", 443);
  ASSERT_TRUE(WaitForAlerts(2));
  EXPECT_EQ(receiver_.requests().size(), 1u);
  EXPECT_EQ(AlertsSent()[0]["endsAt"], "1970-01-01T00:00:01.010Z");
  EXPECT_EQ(AlertsSent()[1]["labels"]["outer_dstPort"], "443");
}

TEST_F(AlertTest, IsRenewedBeforeItEnds) {
  one_.resolve_after = 300 * kNanosPerMilli;
  const auto notifier = Start();
  size_t told = 0;
  ASSERT_TRUE(LoopUntil(base_, [&] {
    Tell("heavy", 80);
    ++told;
    return AlertsSent().size() >= 3;
  }));
  // Every hundred milliseconds, not with every report.
  EXPECT_GT(told, 5u);
}

TEST_F(AlertTest, IsForgottenWhenNobodyRenewsIt) {
  one_.resolve_after = 100 * kNanosPerMilli;
  max_alerts_ = 1;
  const auto notifier = Start();
  Tell("heavy", 80);
  ASSERT_TRUE(WaitForAlerts(1));
  ASSERT_TRUE(LoopUntil(base_, [&] {
    Tell("other", 1);  // finds room only once the first one is gone
    return AlertsSent().back()["labels"]["alertname"] == "other";
  }));
}

TEST_F(AlertTest, CountsReportsForWhichThereIsNoRoom) {
  max_alerts_ = 2;
  const auto notifier = Start();
  for (int bucket = 0; bucket < 5; ++bucket) Tell("heavy", bucket);
  ASSERT_TRUE(WaitForAlerts(2));
  EXPECT_EQ(notifier->Receivers()[0].dropped, 3u);
}

TEST_F(AlertTest, IsToldAgainAfterAFailureAsItIsThen) {
  receiver_.AnswerBy([&](size_t number) {
    TestReceiver::Answer answer;
    if (number == 0) {
      answer.status = 500;
      Tell("heavy", 80, true);
    }
    return answer;
  });
  const auto notifier = Start();
  Tell("heavy", 80);
  ASSERT_TRUE(WaitForAlerts(2));
  EXPECT_EQ(AlertsSent()[1]["endsAt"], "1970-01-01T00:00:01.010Z");
  EXPECT_TRUE(LoopUntil(base_, [&] { return notifier->Receivers()[0].waiting == 0; }));
}

TEST(ReceiverOptions, SayWhatIsWrong) {
  const auto wrong = [](const std::function<void(NotifyReceiver*)>& change) {
    NotifyReceiver receiver;
    receiver.name = "ops";
    receiver.url = "https://ops.example/hook";
    change(&receiver);
    const Status checked = CheckReceiver(receiver);
    return checked ? "" : checked.message();
  };
  EXPECT_EQ(wrong([](NotifyReceiver*) {}), "");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->name = "a/b"; }),
            "name is 'a/b'; it takes 1 to 64 letters, digits, '-', '_' and '.'");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->url = "ops.example"; }),
            "url is 'ops.example'; it begins with http:// or https://");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->url = "http://"; }),
            "url is 'http://', which is no URL");
  EXPECT_EQ(wrong([](NotifyReceiver* r) {
              r->headers = {{"A", "b\r\nC: d"}};
            }),
            "headers: 'A' is no header of one line");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->key_file = "k"; }),
            "certificate and key need one another");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->max_batch = 0; }),
            "max_batch is 0; it takes 1 to 10000");
  EXPECT_EQ(wrong([](NotifyReceiver* r) { r->timeout = 0; }), "timeout takes 10ms to 300s");
}

}  // namespace
}  // namespace trumpet
