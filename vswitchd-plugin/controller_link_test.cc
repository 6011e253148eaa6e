// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The agent's thread, a controller that listens, and the database of a switch, on loopback.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "lib/base/memory_shortage_test.h"
#include "lib/lang/event/event_language.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/ovsdb/ovsdb_server_test.h"
#include "lib/wire/session_kit_test.h"
#include "vswitchd-plugin/fake_switch_test.h"

extern "C" void __lsan_disable() __attribute__((weak));  // where leaks are looked for

namespace trumpet {
namespace {

using testing::FakeSwitch;
using testing::StillSwitch;

// As much of vswitch.ovsschema as is read, with the types that it has there.
constexpr char kSchema[] = R"({"name": "Open_vSwitch", "version": "8.3.1", "tables": {
  "Open_vSwitch": {"maxRows": 1, "isRoot": true, "columns": {
    "external_ids": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
    "bridges": {"type": {"key": {"type": "uuid", "refTable": "Bridge"}, "min": 0, "max": "unlimited"}},
    "ssl": {"type": {"key": {"type": "uuid", "refTable": "SSL"}, "min": 0, "max": 1}}}},
  "Bridge": {"columns": {
    "name": {"type": "string", "mutable": false},
    "datapath_id": {"type": {"key": "string", "min": 0, "max": 1}},
    "datapath_type": {"type": "string"},
    "external_ids": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
    "ports": {"type": {"key": {"type": "uuid", "refTable": "Port"}, "min": 0, "max": "unlimited"}}}},
  "Port": {"columns": {
    "interfaces": {"type": {"key": {"type": "uuid", "refTable": "Interface"}, "min": 1, "max": "unlimited"}}}},
  "Interface": {"columns": {
    "name": {"type": "string", "mutable": false},
    "type": {"type": "string"},
    "ofport": {"type": {"key": "integer", "min": 0, "max": 1}},
    "mac_in_use": {"type": {"key": "string", "min": 0, "max": 1}},
    "link_state": {"type": {"key": "string", "min": 0, "max": 1}},
    "error": {"type": {"key": "string", "min": 0, "max": 1}},
    "options": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}},
    "external_ids": {"type": {"key": "string", "value": "string", "min": 0, "max": "unlimited"}}}},
  "SSL": {"maxRows": 1, "columns": {
    "private_key": {"type": "string"}, "certificate": {"type": "string"},
    "ca_cert": {"type": "string"}}}}})";

// A row of Open_vSwitch, and bridges with a port each of the name with "-p" behind it.
std::string NewSwitch(const std::string& system_id, const std::vector<std::string>& bridges) {
  Json operations = Json::array({"Open_vSwitch"});
  std::vector<Json> added;
  for (const std::string& name : bridges) {
    operations.push_back({{"op", "insert"},
                          {"table", "Interface"},
                          {"uuid-name", "i" + name},
                          {"row",
                           {{"name", name + "-p"},
                            {"type", "internal"},
                            {"ofport", 7},
                            {"mac_in_use", "aa:00:00:00:00:01"}}}});
    operations.push_back({{"op", "insert"},
                          {"table", "Port"},
                          {"uuid-name", "p" + name},
                          {"row", {{"interfaces", OvsdbNamedUuid("i" + name)}}}});
    operations.push_back(
        {{"op", "insert"},
         {"table", "Bridge"},
         {"uuid-name", "b" + name},
         {"row",
          {{"name", name}, {"datapath_type", "netdev"}, {"ports", OvsdbNamedUuid("p" + name)}}}});
    added.push_back(OvsdbNamedUuid("b" + name));
  }
  operations.push_back({{"op", "delete"}, {"table", "Open_vSwitch"}, {"where", Json::array()}});
  operations.push_back(
      {{"op", "insert"},
       {"table", "Open_vSwitch"},
       {"row",
        {{"external_ids", OvsdbMap({{"system-id", system_id}})}, {"bridges", OvsdbSet(added)}}}});
  return PrintJson(operations);
}

std::string NewKeys(const TlsFiles& keys) {
  return PrintJson(Json::array({"Open_vSwitch",
                                {{"op", "insert"},
                                 {"table", "SSL"},
                                 {"uuid-name", "s"},
                                 {"row",
                                  {{"private_key", keys.private_key},
                                   {"certificate", keys.certificate},
                                   {"ca_cert", keys.ca_certificate}}}},
                                {{"op", "update"},
                                 {"table", "Open_vSwitch"},
                                 {"where", Json::array()},
                                 {"row", {{"ssl", OvsdbNamedUuid("s")}}}}}));
}

class SystemWireClock final : public WireClock {
 public:
  Nanos UnixNow() const override { return ReadSystemClocks().wall_ns; }
  Nanos MonotonicNow() const override { return ReadSystemClocks().monotonic_ns; }
};

// The plug-in with its own thread; the controller and the database are the test's.
class AgentsLink : public ::testing::Test {
 protected:
  AgentsLink() : switches_(&folder_, "switch"), controllers_(&folder_, "controller") {}
  // Before any fixture's members go: the agent's thread reads them by its clock.
  void TearDown() override {
    if (plugin_ != nullptr) plugin_->agent().Stop();
  }

  void StartDatabase(const std::string& operations) {
    database_.Create(kSchema);
    database_.Start();
    database_.Transact(operations);
    parts_.database = database_.remote();
  }
  void Listen(const char* address) {
    if (std::string(address).substr(0, 4) == "pssl") {
      auto tls = TlsContext::Load(controllers_.Issue("controller", "tem.example", switches_));
      ASSERT_TRUE(tls.ok()) << tls.message();
      tls_ = std::move(*tls);
    }
    auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress(address), tls_.get(),
                                     ListenerOptions(), clock_, &controller_);
    ASSERT_TRUE(listener.ok()) << listener.message();
    listener_ = std::move(*listener);
  }
  void StartAgent(ConfigPairs config = {}) {
    plugin_ = std::make_unique<Plugin>(fake_.ops(), parts_);
    const std::string scheme = tls_ != nullptr ? "ssl:" : "tcp:";
    config.emplace_back("trumpet-controller",
                        scheme + "127.0.0.1:" + std::to_string(listener_->port()));
    plugin_->SetConfig(config);
  }
  bool RunUntil(const std::function<bool()>& done) {
    LoopEvent look(loop_.base(), [] {});  // what other threads do wakes no loop
    look.RunEvery(5 * kNanosPerMilli);
    return loop_.RunUntil(done);
  }
  LinkStatus Status() const { return plugin_->agent().Snapshot().link; }

  // The last that came.
  const HostFacts* Told() const {
    for (auto message = controller_.messages.rbegin(); message != controller_.messages.rend();
         ++message) {
      if (const auto* facts = std::get_if<HostFacts>(&*message)) return facts;
    }
    return nullptr;
  }
  bool Knows(const std::string& port) const {
    const HostFacts* const told = Told();
    return told != nullptr && std::any_of(told->ports.begin(), told->ports.end(),
                                          [&](const Port& known) { return known.name == port; });
  }

  SystemWireClock clock_;
  TempFolder folder_;
  TestAuthority switches_;
  TestAuthority controllers_;
  OvsdbTestServer database_;
  Loop loop_;
  RecordingOwner controller_;
  std::unique_ptr<TlsContext> tls_;
  std::unique_ptr<Listener> listener_;
  FakeSwitch fake_;
  AgentParts parts_;
  std::unique_ptr<Plugin> plugin_;
};

TEST_F(AgentsLink, TellsWhatTheSwitchsDatabaseSays) {
  StartDatabase(NewSwitch("id-1", {"br0"}));
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return Told() != nullptr; })) << Status().last_error;
  EXPECT_EQ(controller_.heard.host_id, "id-1");
  ASSERT_EQ(Told()->bridges.size(), 1u);
  ASSERT_TRUE(Knows("br0-p"));
  EXPECT_EQ(Told()->ports[0].of_port, 7u);
  EXPECT_EQ(Told()->ports[0].macs, std::vector<uint64_t>{0xaa0000000001});
  EXPECT_EQ(controller_.established_count, 1) << "it knew its name before it came";
}

TEST_F(AgentsLink, TellsChanges) {
  StartDatabase(NewSwitch("id-1", {"br0"}));
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return Knows("br0-p"); }));
  database_.Transact(NewSwitch("id-1", {"br0", "br1"}));
  EXPECT_TRUE(RunUntil([&] { return Knows("br1-p"); }));
  database_.Transact(NewSwitch("id-1", {"br1"}));
  EXPECT_TRUE(RunUntil([&] { return !Knows("br0-p"); }));
  EXPECT_EQ(controller_.established_count, 1);
}

TEST_F(AgentsLink, DoesNotTellEveryChangeOfABusyDatabase) {
  StartDatabase(NewSwitch("id-1", {"br0"}));
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return Knows("br0-p"); }));
  const Nanos start = clock_.MonotonicNow();
  constexpr int kChanges = 40;
  for (int i = 0; i < kChanges; ++i) {
    database_.Transact(NewSwitch("id-1", {i + 1 < kChanges ? "br" + std::to_string(i) : "end"}));
  }
  ASSERT_TRUE(RunUntil([&] { return Knows("end-p"); }));
  const Nanos taken = clock_.MonotonicNow() - start;
  EXPECT_LE(Status().facts_sent, static_cast<uint64_t>(3 + taken / (kNanosPerSecond / 2)));
}

TEST_F(AgentsLink, KeepsItsNameAndTellsAgainWhenTheDatabaseComesBack) {
  StartDatabase(NewSwitch("id-1", {"br0"}));
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return Knows("br0-p"); }));
  database_.Kill(SIGKILL);
  ASSERT_TRUE(RunUntil([&] {
    return Status().database.find("closed") != std::string::npos ||
           Status().database.find("refused") != std::string::npos;
  })) << Status().database;
  database_.Start();
  database_.Transact(NewSwitch("id-1", {"br2"}));
  EXPECT_TRUE(RunUntil([&] { return Knows("br2-p"); })) << Status().database;
  EXPECT_EQ(controller_.established_count, 1) << "the session does not depend on it";
}

TEST_F(AgentsLink, GoesOnWithoutADatabaseThatIsNotThere) {
  parts_.database = folder_.File("nobody.sock");
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  EXPECT_TRUE(RunUntil([&] { return controller_.established_count == 1; }));
  EXPECT_EQ(controller_.heard.host_id, controller_.heard.host_name);
  EXPECT_EQ(Told(), nullptr);
}

TEST_F(AgentsLink, RunsTheProgramsOfItsController) {
  constexpr char kText[] = "total = Counter(width=32);\npkts >> total.set(total + 1);\n";
  Listen("ptcp:0:127.0.0.1");
  StartAgent({{"trumpet-enable", "true"}});
  const auto last = [this](auto kind) -> const decltype(kind)* {
    for (auto message = controller_.messages.rbegin(); message != controller_.messages.rend();
         ++message) {
      if (const auto* found = std::get_if<decltype(kind)>(&*message)) return found;
    }
    return nullptr;
  };
  ASSERT_TRUE(RunUntil([&] { return last(ProgramList()) != nullptr; })) << Status().last_error;
  EXPECT_TRUE(last(ProgramList())->programs.empty());
  const ProgramName name{"hh", 3};
  ASSERT_TRUE(controller_.sessions[0]->Send(ProgramOn{name, 5, *CompileMafia(kText, "hh")}).ok());
  ASSERT_TRUE(RunUntil([&] { return last(ProgramAck()) != nullptr; }));
  EXPECT_TRUE(last(ProgramAck())->is_on) << last(ProgramAck())->error;
  ASSERT_TRUE(controller_.sessions[0]->Send(CellsRequest{9, name, 0, 0, 1, {}}).ok());
  ASSERT_TRUE(RunUntil([&] { return last(CellsAnswer()) != nullptr; }));
  EXPECT_EQ(last(CellsAnswer())->number, 9u);
  EXPECT_EQ(plugin_->agent().measurements().Snapshot().programs.size(), 1u);
}

TEST_F(AgentsLink, TakesTheSwitchsKeysAndFollowsThem) {
  StartDatabase(NewSwitch("id-1", {}));
  Listen("pssl:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return !Status().last_error.empty(); }));
  EXPECT_NE(Status().last_error.find("set-ssl"), std::string::npos) << Status().last_error;
  database_.Transact(NewKeys(switches_.Issue("one", "one.example", controllers_)));
  ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 1; })) << Status().last_error;
  EXPECT_EQ(controller_.peer_at_hello.common_name, "one.example");
  database_.Transact(NewKeys(switches_.Issue("two", "two.example", controllers_)));
  ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 2; })) << Status().last_error;
  EXPECT_EQ(controller_.peer_at_hello.common_name, "two.example");
  EXPECT_EQ(controller_.closed.size(), 1u);
}

TEST_F(AgentsLink, PrefersItsOwnKeys) {
  StartDatabase(NewSwitch("id-1", {}));
  database_.Transact(NewKeys(switches_.Issue("switch", "switch.example", controllers_)));
  Listen("pssl:0:127.0.0.1");
  const TlsFiles own = switches_.Issue("own", "own.example", controllers_);
  StartAgent({{"trumpet-private-key", own.private_key}, {"trumpet-certificate", own.certificate}});
  ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 1; })) << Status().last_error;
  EXPECT_EQ(controller_.peer_at_hello.common_name, "own.example")
      << "with whom the switch believes";
}

TEST_F(AgentsLink, TakesLeaveWhenItIsStopped) {
  Listen("ptcp:0:127.0.0.1");
  StartAgent();
  ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 1; }));
  plugin_->agent().Stop();
  ASSERT_TRUE(RunUntil([&] { return !controller_.closed.empty(); }));
  EXPECT_EQ(controller_.closed[0].cause, CloseCause::kBye) << controller_.closed[0].text;
}

// The plug-in lives until the process ends: nothing but Stop() closes its connections.
TEST_F(AgentsLink, ClosesAConnectionThatWasNeverAnswered) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage address{};
  ASSERT_GT(ToSocketAddress("127.0.0.1", 0, &address), 0);
  socklen_t size = sizeof(sockaddr_in);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listening, generic, size), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  ASSERT_EQ(getsockname(listening, generic, &size), 0);
  const uint16_t port = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);

  plugin_ = std::make_unique<Plugin>(fake_.ops(), parts_);
  plugin_->SetConfig({{"trumpet-controller", "tcp:127.0.0.1:" + std::to_string(port)}});
  const int peer = accept(listening, nullptr, nullptr);
  ASSERT_GE(peer, 0);
  char bytes[4096];
  ASSERT_GT(read(peer, bytes, sizeof bytes), 0) << "its hello";
  plugin_->agent().Stop();
  pollfd wait{peer, POLLIN, 0};
  ssize_t got = 1;  // of a goodbye, perhaps
  while (got > 0) {
    ASSERT_EQ(poll(&wait, 1, 10'000), 1) << "neither a message nor the end";
    got = read(peer, bytes, sizeof bytes);
  }
  EXPECT_EQ(got, 0);
  close(peer);
  close(listening);
}

// --- memory that runs out ----------------------------------------------------

// A loop that was left by an exception is lost with all that it had, on purpose.
struct ThreadThatMayLoseMemory {
  ThreadThatMayLoseMemory() {
    if (__lsan_disable != nullptr) __lsan_disable();
  }
};

class AgentsLinkWithoutMemory : public AgentsLink {
 protected:
  AgentsLinkWithoutMemory() {
    parts_.read_clocks = [this, main = std::this_thread::get_id()] {
      if (std::this_thread::get_id() != main) {
        thread_local const ThreadThatMayLoseMemory once;
        is_short_.load() ? testing::MemoryShortage::Begin(0) : testing::MemoryShortage::End();
      }
      return ReadSystemClocks();
    };
  }

  void StartWithASession() {
    Listen("ptcp:0:127.0.0.1");
    StartAgent({{"trumpet-enable", "true"}});
    ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 1; }));
  }
  bool HasAnotherSessionOnceItIsEnabled() {
    Agent& agent = plugin_->agent();
    if (!RunUntil([&] { return !agent.Snapshot().is_enabled; })) return false;
    is_short_.store(false);
    return RunUntil([&] {
      agent.SetEnabled(true);
      return controller_.established_count == 2;
    });
  }

  std::atomic<bool> is_short_{false};  // for the agent's thread, from its next look at the clock on
};

TEST_F(AgentsLinkWithoutMemory, BeginsAnewWhatARoundMayHaveLeftHalfSaid) {
  StartWithASession();
  is_short_.store(true);
  EXPECT_TRUE(HasAnotherSessionOnceItIsEnabled());
}

TEST_F(AgentsLinkWithoutMemory, MakesAnotherLoopForOneThatWasLeft) {
  StartWithASession();
  is_short_.store(true);
  ASSERT_TRUE(controller_.sessions[0]->Send(Poll()).ok());
  EXPECT_TRUE(HasAnotherSessionOnceItIsEnabled());
}

TEST_F(AgentsLinkWithoutMemory, EndsWithoutAGoodbye) {
  StartWithASession();
  is_short_.store(true);
  plugin_->agent().Stop();
  static Plugin* const kept = plugin_.release();  // as in the switch: its loop is not freed
  EXPECT_NE(kept, nullptr);
}

// A switch whose clocks stand still, with a session in the test's loop.
class StillLink : public ::testing::Test {
 protected:
  StillLink() : still_(1, loop_.base()) {
    auto listener = Listener::Listen(loop_.base(), *ParsePassiveAddress("ptcp:0:127.0.0.1"),
                                     nullptr, ListenerOptions(), clock_, &controller_);
    listener_ = std::move(*listener);
    Configure("tcp:127.0.0.1:" + std::to_string(listener_->port()));
    EXPECT_TRUE(RunUntil([&] { return controller_.established_count == 1; }));
  }
  void Configure(const std::string& controller) {
    still_.plugin.SetConfig({{"trumpet-enable", "true"},
                             {"trumpet-memory-mb", "4"},
                             {"trumpet-controller", controller}});
  }
  bool RunUntil(const std::function<bool()>& done) {
    for (int round = 0; round < 10'000 && !done(); ++round) {
      still_.RunOneStep(kNanosPerMilli);
      loop_.RunReady(5);
    }
    return done();
  }
  // Whether a round gets along with so many calls of operator new; else the monitor has given up.
  bool StepsWith(uint64_t calls) {
    static_cast<void>(testing::DoesWith(calls, [&] { still_.plugin.agent().StepOrGiveUp(); }));
    return still_.plugin.agent().Snapshot().is_enabled;
  }
  // Has the controller send its only event, by that name.
  void SendSet(uint64_t generation, const std::string& name) {
    TriggerChange change;
    change.put.emplace();
    change.put->event = *ParseEventLine("*, sum(packets) >= 1, 10ms", "test");
    change.put->event.id = 70;
    change.put->event.name = name;
    EXPECT_TRUE(
        controller_.sessions[0]->Send(TriggerSet{generation, 0, 0, true, {change}, {}}).ok());
    loop_.RunReady();
  }
  bool IsInstalled(const std::string& name) { return still_.plugin.events().Find(name).ok(); }
  bool IsApplied(uint64_t generation) const {
    return std::any_of(controller_.messages.begin(), controller_.messages.end(),
                       [&](const Message& message) {
                         const auto* ack = std::get_if<TriggerAck>(&message);
                         return ack != nullptr && ack->generation == generation && ack->is_applied;
                       });
  }

  FakeWireClock clock_;
  Loop loop_;
  RecordingOwner controller_;
  std::unique_ptr<Listener> listener_;
  StillSwitch still_;
};

TEST_F(StillLink, InstallsASetThatFoundNoMemoryBeforeItSaysSo) {
  uint64_t calls = 0;
  std::string name;
  for (bool is_installed = false; !is_installed; ++calls) {
    name = "e" + std::to_string(calls);
    SendSet(calls + 1, name);
    const int sessions_wanted = controller_.established_count + (StepsWith(calls) ? 0 : 1);
    is_installed = IsInstalled(name);
    still_.RunOneStep();
    ASSERT_TRUE(IsInstalled(name)) << calls;
    still_.plugin.agent().SetEnabled(true);
    ASSERT_TRUE(RunUntil([&] { return controller_.established_count == sessions_wanted; }));
  }
  // By an answer, or by the hello of the next session.
  EXPECT_TRUE(
      RunUntil([&] { return IsApplied(calls) || controller_.heard.set_generation == calls; }));
}

// A controller that has begun anew may give the same generation to another set.
TEST_F(StillLink, AnswersASetOnlyInTheSessionThatItCameIn) {
  still_.threads_are_idle = false;  // they do not take the set over
  SendSet(1, "before");
  still_.RunOneStep();
  ASSERT_TRUE(IsInstalled("before"));
  const auto end_session = [this](int count) {
    controller_.sessions[0]->Abandon(CloseCause::kByUs, "");
    return RunUntil([&] { return controller_.established_count == count; });
  };
  ASSERT_TRUE(end_session(2));
  still_.threads_are_idle = true;
  still_.RunMs(50);
  loop_.RunReady();
  EXPECT_FALSE(IsApplied(1));
  ASSERT_TRUE(end_session(3));
  EXPECT_EQ(controller_.heard.set_generation, 1u) << "it runs all the same";
  SendSet(1, "after");
  EXPECT_TRUE(RunUntil([&] { return IsApplied(1); }));
  EXPECT_TRUE(IsInstalled("after"));
}

TEST_F(StillLink, ReportsEventsOnlyToTheControllerThatInstalledThem) {
  const auto reports = [this] {
    return std::count_if(
        controller_.messages.begin(), controller_.messages.end(),
        [](const Message& message) { return std::holds_alternative<HostReport>(message); });
  };
  SendSet(1, "theirs");
  ASSERT_TRUE(RunUntil([&] { return IsApplied(1); }));
  const auto is_reported = [&] {
    still_.Receive(still_.threads[0], 1);
    return reports() > 0;
  };
  ASSERT_TRUE(RunUntil(is_reported));
  controller_.controller_id = 78;
  controller_.sessions[0]->Abandon(CloseCause::kByUs, "");
  ASSERT_TRUE(RunUntil([&] { return controller_.established_count == 2; }));
  controller_.messages.clear();
  for (int round = 0; round < 100; ++round) {
    is_reported();
    still_.RunOneStep(kNanosPerMilli);
    loop_.RunReady(5);
  }
  EXPECT_EQ(reports(), 0);
  EXPECT_GT(still_.plugin.agent().Snapshot().link.desk.reports_dropped, 0u);
  SendSet(1, "ours");
  EXPECT_TRUE(RunUntil(is_reported));
}

TEST_F(StillLink, TellsTheEndsOfIntervalsAgainOnceTheClockWasSetBack) {
  SendSet(1, "theirs");
  ASSERT_TRUE(RunUntil([&] { return IsApplied(1); }));
  still_.RunMs(30);
  still_.wall_shift = -3600 * kNanosPerSecond;
  EXPECT_TRUE(RunUntil([&] {
    const auto* end = std::get_if<IntervalEnd>(&controller_.messages.back());
    return end != nullptr && end->until_ns < StillSwitch::kBoot;
  }));
}

TEST_F(StillLink, DropsTheEventsOfAControllerThatIsUnsetWhenMemoryRanOut) {
  SendSet(1, "theirs");
  ASSERT_TRUE(RunUntil([&] { return IsApplied(1); }));
  Configure("");
  for (uint64_t calls = 0; !StepsWith(calls); ++calls) {
    still_.plugin.agent().SetEnabled(true);
  }
  still_.RunMs(1);
  EXPECT_FALSE(IsInstalled("theirs"));
}

}  // namespace
}  // namespace trumpet
