// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/campaign_manager.h"

#include <event2/event.h>
#include <gtest/gtest.h>

#include "controller/slice/slice_twin_test.h"
#include "controller/store/memory_event_store.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

constexpr Nanos kSecond = kNanosPerSecond;
constexpr Nanos kMs = kNanosPerMilli;

Topology PaperTopology() {
  Topology topology;
  const slice::Network network = slice::PaperNetwork();
  for (int router = 0; router < network.router_count(); ++router) {
    topology.switches.push_back({network.NameOf(router), 0});
    for (const slice::NetworkLink& link : network.LinksOf(router)) {
      if (link.to < router) {
        topology.links.push_back({network.NameOf(router), network.NameOf(link.to), 1});
      }
    }
  }
  for (const char* border : {"A", "1", "2", "3", "D"}) {
    TopologyHost host;
    host.id = std::string("h") + border;
    host.attached_to = border;
    topology.hosts.push_back(host);
  }
  return topology;
}

class Campaigns : public testing::Test {
 protected:
  Campaigns() : loop_(NewPreciseLoop()), store_(loop_.get(), 77), hub_(nullptr) {
    TwinFlow& flow = network_.flows.emplace_back();
    flow.prefix = *ParsePrefix("1.2.3.4/32");
    flow.routers = {"A", "B", "C", "D"};
    flow.rates[0] = 1'000'000;
    options_.budget_bps = 30'000'000;
    Begin();
  }

  // Another process of the controller over the same store.
  void Begin() {
    manager_.reset();
    CampaignParts parts;
    parts.clock = &clock_;
    parts.store = &store_;
    parts.planner = &network_;
    parts.reports = &hub_;
    manager_ = std::make_unique<CampaignManager>(parts, options_);
    manager_->AddDriver(&network_);
    manager_->SetCollector(&network_);
    manager_->SetTopology(PaperTopology());
    manager_->feed().SetListener([this](const CampaignNews& news) {
      const auto kind = news.moment.kind;
      if (kind == SliceMoment::Kind::kRunBegun) history_ += news.name + ":begins ";
      if (kind == SliceMoment::Kind::kRunEnded) {
        history_ += news.name + ":" + NameOf(news.run.state) + " ";
      }
    });
    manager_->Start();
    RunUntil(clock_.now);
  }

  void RunUntil(Nanos until) {
    while (true) {
      for (int i = 0; i < 3; ++i) event_base_loop(loop_.get(), EVLOOP_NONBLOCK);
      const Nanos due = std::max(manager_->due(), clock_.now);
      const Nanos next = std::min(due, agenda_.next());
      if (next > until) break;
      if (agenda_.next() <= due) {
        agenda_.RunNext();
      } else {
        clock_.now = due;
        manager_->Step();
      }
    }
    clock_.now = std::max(clock_.now, until);
  }
  void RunFor(Nanos span) { RunUntil(clock_.now + span); }

  std::string Put(const std::string& name, const std::string& text, int priority = 5,
                  const Caller& caller = {}, std::vector<std::string> triggers = {}) {
    CampaignDefinition definition;
    definition.name = name;
    definition.text = text;
    definition.priority = priority;
    definition.trigger_on = std::move(triggers);
    std::string said = "no answer";
    manager_->Put(definition, "c", caller, std::nullopt, [&](const Result<EventRecord>& record) {
      said = record ? "" : record.message();
    });
    RunUntil(clock_.now);
    return said;
  }
  CampaignView View(const std::string& name) { return *manager_->Find(name, Caller()); }
  void Fire(const std::string& event, const std::string& tenant = "") {
    NetworkReport report;
    report.report.event = event;
    hub_.Publish({report}, tenant);
    RunUntil(clock_.now);
  }

  const std::string path_ = "MIRROR 1.2.3.0/24 ON [A B C D] ";
  TwinClock clock_;
  Agenda agenda_{&clock_};
  TwinNetwork network_{&clock_, &agenda_, 3};
  OwnedLoop loop_;
  MemoryEventStore store_;
  ReportHub hub_;
  CampaignOptions options_;
  std::string history_;
  std::unique_ptr<CampaignManager> manager_;
};

TEST_F(Campaigns, RunAtOnceAndThenEvery) {
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 450 ms EVERY 5 s"), "");
  RunFor(2 * kSecond);
  const CampaignView view = View("web");
  EXPECT_EQ(view.runs, 1u);
  ASSERT_NE(view.last, nullptr);
  EXPECT_EQ(view.last->state, SliceRunState::kDone);
  EXPECT_EQ(view.last->bootstrap_slots, 1u);
  EXPECT_EQ(view.next_start, clock_.UnixNow() + 3 * kSecond);
  RunFor(10 * kSecond);
  EXPECT_EQ(View("web").runs, 3u);
  EXPECT_EQ(View("web").last->bootstrap_slots, 0u);  // it is known now
  EXPECT_EQ(manager_->counters().runs_done, 3u);
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 450 ms EVERY 5 s"), "");  // once more
  RunFor(kSecond);
  EXPECT_EQ(View("web").runs, 4u);
}

TEST_F(Campaigns, TellWhatHappensAsItHappens) {
  CampaignFeed& feed = manager_->feed();
  const uint64_t before = feed.last_number();
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 90 ms EVERY 5 s"), "");
  RunFor(2 * kSecond);
  const auto last = View("web").last;
  ASSERT_NE(last, nullptr);
  std::string kinds;
  int64_t bytes = 0;
  uint64_t number = before;
  for (const auto& news : feed.After(before, 1000)) {
    EXPECT_EQ(news->number, ++number);
    EXPECT_EQ(news->run.run, last->run);
    kinds += std::string(NameOf(news->moment.kind)) + std::to_string(news->moment.slot) + " ";
    bytes += news->moment.slot_bytes;
  }
  std::string slots;
  for (uint32_t slot = 1; slot <= last->slots + last->bootstrap_slots; ++slot) {
    slots += "slot-begun" + std::to_string(slot) + " slot-ended" + std::to_string(slot) + " ";
  }
  EXPECT_EQ(kinds, "run-begun0 " + slots + "run-ended0 ");
  EXPECT_EQ(bytes, last->copied_bytes);
  EXPECT_EQ(feed.After(before + 1, 2).back()->number, before + 3);
  EXPECT_TRUE(feed.After(number, 1).empty());
}

TEST_F(Campaigns, KeepTheLatestNewsOnly) {
  CampaignFeed feed(100);
  EXPECT_TRUE(feed.After(0, 10).empty());
  for (size_t i = 0; i < CampaignFeed::kKept + 5; ++i) feed.Publish({});
  EXPECT_EQ(feed.After(100, 1).front()->number, 106u);
  EXPECT_EQ(feed.After(110, 1).front()->number, 111u);
  EXPECT_EQ(feed.After(0, SIZE_MAX).size(), CampaignFeed::kKept);
}

TEST_F(Campaigns, GoOnAtTheirNextTimeAfterARestart) {
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 900 ms EVERY 5 s"), "");
  RunFor(500 * kMs);
  ASSERT_NE(View("web").now, nullptr);
  const uint64_t first_run = View("web").now->run;
  const Nanos killed = clock_.now;
  Begin();
  EXPECT_EQ(View("web").now, nullptr);
  RunFor(100 * kMs);
  EXPECT_EQ(network_.on(), 0u);  // by themselves
  RunUntil(killed + 4400 * kMs);
  EXPECT_EQ(View("web").runs, 0u);
  RunFor(2 * kSecond);
  EXPECT_EQ(View("web").runs, 1u);
  EXPECT_GT(View("web").last->run, first_run);
  EXPECT_EQ(network_.mistake, "");
}

TEST_F(Campaigns, StopWhileAnotherControllerRunsThem) {
  options_.run.shortest_slice = 400 * kMs;
  Begin();
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 2 s EVERY 1 h"), "");
  RunFor(100 * kMs);
  ASSERT_GT(network_.on(), 0u);
  manager_->StandBy();
  RunFor(20 * kMs);
  EXPECT_EQ(network_.on(), 0u);
  EXPECT_FALSE(store_.is_ready()) << "the lock is let go";
  EXPECT_EQ(View("web").last->problem, "another controller runs campaigns");
  EXPECT_NE(Put("other", path_ + "USING 15 Mb/s DURING 2 s"), "");
  RunFor(2 * 3600 * kSecond);
  EXPECT_EQ(View("web").runs, 1u);
  manager_->Start();
  RunFor(3600 * kSecond);
  EXPECT_GE(View("web").runs, 2u);
  EXPECT_EQ(Put("other", path_ + "USING 15 Mb/s DURING 2 s"), "");
}

TEST_F(Campaigns, GiveWayToHigherPriorities) {
  const std::string text = path_ + "USING 20 Mb/s DURING 900 ms EVERY 5 s";
  ASSERT_EQ(Put("low", text, 2), "");
  RunFor(300 * kMs);
  ASSERT_NE(View("low").now, nullptr);
  ASSERT_EQ(Put("high", text, 7), "");
  RunFor(kMs / 10);
  ASSERT_EQ(Put("equal", text, 7), "");
  RunFor(4 * kSecond);
  EXPECT_EQ(history_, "low:begins low:stopped high:begins high:done equal:begins equal:done ");
  EXPECT_EQ(View("low").last->problem, "it gave way to campaign 'high'");
  EXPECT_EQ(manager_->counters().gave_way, 1u);
  EXPECT_EQ(manager_->granted_bps(), 0);
}

TEST_F(Campaigns, NobodyGivesWayForRoomThatOneThatIsReplacedLeaves) {
  const std::string text = path_ + "USING 15 Mb/s DURING 900 ms EVERY 1 h";
  ASSERT_EQ(Put("low", text, 2), "");
  ASSERT_EQ(Put("web", text, 7), "");
  RunFor(300 * kMs);
  ASSERT_EQ(manager_->running(), 2u);
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 800 ms EVERY 1 h", 7), "");
  RunFor(4 * kSecond);
  EXPECT_EQ(history_, "low:begins web:begins web:stopped web:begins low:done web:done ");
  EXPECT_EQ(manager_->counters().gave_way, 0u);
}

TEST_F(Campaigns, OfEqualPriorityTakeTurnsByTenant) {
  const std::string text = path_ + "USING 30 Mb/s DURING 1 s EVERY 1 s";
  Caller red, blue;
  red.tenant = "red";
  blue.tenant = "blue";
  ASSERT_EQ(Put("r1", text, 5, red), "");
  ASSERT_EQ(Put("r2", text, 5, red), "");
  ASSERT_EQ(Put("r3", text, 5, red), "");
  ASSERT_EQ(Put("b1", text, 5, blue), "");
  RunFor(40 * kSecond);
  const uint64_t reds = View("r1").runs + View("r2").runs + View("r3").runs;
  EXPECT_GT(reds, 10u);
  EXPECT_NEAR(static_cast<double>(View("b1").runs), static_cast<double>(reds), 2);
  EXPECT_NEAR(static_cast<double>(View("r1").runs), static_cast<double>(View("r3").runs), 2);
  EXPECT_LE(MostInASecond(network_.copies), 2 * options_.budget_bps / 8);
}

TEST_F(Campaigns, AreRefusedWithTheReason) {
  Caller red;
  red.tenant = "red";
  red.prefixes = {*ParsePrefix("10.0.0.0/8")};
  EXPECT_EQ(Put("a", path_ + "USING 31 Mb/s"),
            "campaign 'a' asks for 31000000 b/s, and all campaigns together may copy 30000000");
  EXPECT_EQ(Put("a", "MIRROR 10.1.0.0/16, 1.2.3.0/24 ON [A B] USING 1", 5, red),
            "c:1:1: 1.2.3.0/24 is not among the prefixes of tenant 'red'");
  EXPECT_EQ(Put("a", "MIRROR 10.1.0.0/16 ON [A B] USING 1", 6, red),
            "priority is 6; a tenant's campaign takes 0 to 5");
  EXPECT_EQ(Put("a", "MIRROR 10.1.0.0/16 ON [A B] USING 1", 5, red), "");
  Caller blue;
  blue.tenant = "blue";
  EXPECT_EQ(Put("a", path_ + "USING 1", 5, blue), "the name 'a' is taken");
  EXPECT_FALSE(manager_->Find("a", blue));
  EXPECT_EQ(manager_->RunNow("a", blue).message(), "there is no campaign named 'a'");
}

TEST_F(Campaigns, RunWhenAnEventFiresButNotMoreOftenThanEvery) {
  Caller red;
  red.tenant = "red";
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 450 ms EVERY 5 s", 5, red, {"heavy"}), "");
  RunFor(10 * kSecond);
  EXPECT_EQ(View("web").runs, 0u);
  Fire("light", "red");
  Fire("heavy", "blue");
  RunFor(kSecond);
  EXPECT_EQ(View("web").runs, 0u);
  Fire("heavy", "red");
  Fire("heavy", "red");
  RunFor(kSecond);
  EXPECT_EQ(View("web").runs, 1u);
  Fire("heavy", "red");
  RunFor(kSecond);
  EXPECT_EQ(View("web").runs, 1u);
  EXPECT_EQ(View("web").triggered, 1u);
  EXPECT_EQ(View("web").withheld, 2u);
  RunFor(4 * kSecond);
  Fire("heavy", "red");
  RunFor(kSecond);
  EXPECT_EQ(View("web").runs, 2u);
}

TEST_F(Campaigns, LeaveNothingOnWhenTheyAreRemoved) {
  options_.run.shortest_slice = 400 * kMs;
  Begin();
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 2 s"), "");
  RunFor(100 * kMs);
  ASSERT_GT(network_.on(), 0u);
  bool is_removed = false;
  manager_->Remove("web", Caller(), [&](const auto& record) { is_removed = record.ok(); });
  RunFor(20 * kMs);
  EXPECT_TRUE(is_removed);
  EXPECT_EQ(network_.on(), 0u);
  EXPECT_FALSE(manager_->Find("web", Caller()));
  EXPECT_EQ(manager_->running(), 0u);
  EXPECT_EQ(manager_->counters().runs_stopped, 1u);
}

TEST_F(Campaigns, StopAndStartAsTheyAreTold) {
  ASSERT_EQ(Put("web", path_ + "USING 15 Mb/s DURING 2 s EVERY 1 h"), "");
  RunFor(500 * kMs);
  EXPECT_EQ(manager_->RunNow("web", Caller()).message(), "campaign 'web' is running already");
  EXPECT_TRUE(manager_->StopRun("web", Caller()).ok());
  RunFor(500 * kMs);
  EXPECT_EQ(View("web").last->problem, "stopped by local");
  EXPECT_EQ(manager_->StopRun("web", Caller()).message(), "campaign 'web' does not run now");
  EXPECT_TRUE(manager_->RunNow("web", Caller()).ok());
  RunFor(4 * kSecond);
  EXPECT_EQ(View("web").last->state, SliceRunState::kDone);
  manager_->SetEnabled("web", false, Caller(), [](const auto&) {});
  RunFor(2 * 3600 * kSecond);
  EXPECT_EQ(View("web").runs, 2u);
  EXPECT_EQ(View("web").next_start, 0);
}

TEST_F(Campaigns, ArePlannedWithoutBeingRun) {
  options_.analyzer_at = "U";
  Begin();
  std::string said;
  manager_->Plan(path_ + "USING 15", "c", Caller(), [&](const Result<CampaignPlan>& plan) {
    said = plan ? plan->answer.explanation : plan.message();
    EXPECT_EQ(plan ? plan->answer.links.size() : 0, 5u);
  });
  RunFor(kSecond);
  EXPECT_NE(said.find("mirror at: A B D"), said.npos) << said;
  EXPECT_EQ(network_.turned_on, 0u);
  manager_->Plan("MIROR x", "c", Caller(), [&](const auto& plan) { said = plan.message(); });
  EXPECT_EQ(said.substr(0, 6), "c:1:7:");
}

TEST(CampaignDefinition, SaysWhatIsWrong) {
  const auto error = [](const std::string& json) {
    const auto read = ReadCampaignDefinition(json, "a", "c");
    return read ? PrintCampaignDefinition(*read) : read.message();
  };
  EXPECT_EQ(
      error(R"({"campaign":"MIRROR 1.0.0.0/8 ON [A B]","priority":9,"trigger_on":["x"]})"),
      R"({"name":"a","campaign":"MIRROR 1.0.0.0/8 ON [A B]","priority":9,"trigger_on":["x"]})");
  EXPECT_EQ(error("[]"), "the campaign is no JSON object");
  EXPECT_EQ(error("{}"), "campaign is missing: what shall be mirrored?");
  EXPECT_EQ(error(R"({"name":"b"})"), "the campaign's name is 'b', and it was to be 'a'");
  EXPECT_EQ(error(R"({"priority":10})"), "priority takes 0 to 9");
  EXPECT_EQ(error(R"({"trigger_on":[1]})"), "trigger_on takes names of events");
  EXPECT_EQ(error(R"({"when":1})"),
            "a campaign has no 'when'; it has name, campaign, priority and trigger_on");
  EXPECT_EQ(error(R"({"campaign":"MIRROR"})").substr(0, 4), "c:1:");
}

}  // namespace
}  // namespace trumpet
