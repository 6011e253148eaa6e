// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Packets of a run, from the files of analyzers through the controller to clients of its API.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/analyzer/analyzer.h"
#include "controller/rest/packet_downloads.h"
#include "controller/rest/rest_kit_test.h"
#include "controller/rest/rest_server.h"
#include "controller/slice/analyzer_collector.h"
#include "controller/slice/campaign_loop.h"
#include "controller/store/memory_event_store.h"
#include "lib/packet/pcapng_joiner.h"
#include "lib/packet/pcapng_writer.h"
#include "lib/packet/test_captures.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

constexpr char kTwoRouters[] = "{switches: [{name: A}, {name: B}], links: [{from: A, to: B}]}";
constexpr char kCampaign[] = "MIRROR 10.0.0.0/8 ON [A B] USING 1 Mb/s DURING 100 ms EVERY 1 h";

void NoLog(const char*, const std::string&) {}

// A body in chunks, put together; `is_whole` if the last one has come.
std::string Unchunk(std::string_view body, bool* is_whole) {
  std::string text;
  *is_whole = false;
  while (true) {
    const size_t end = body.find("\r\n");
    if (end == body.npos) return text;
    const size_t size = std::strtoul(std::string(body.substr(0, end)).c_str(), nullptr, 16);
    if (size == 0 || body.size() < end + 2 + size) {
      *is_whole = size == 0;
      return text;
    }
    text += body.substr(end + 2, size);
    body.remove_prefix(std::min(body.size(), end + 2 + size + 2));
  }
}

// A controller with a campaign that has run once, in vain: there is no switch.  What analyzers have
// of its runs is put into their directories.
class PacketDownload : public testing::Test {
 protected:
  PacketDownload() : events_(loop_.base(), 1), campaigns_(loop_.base(), 1), hub_(nullptr) {
    EventManagerParts parts;
    parts.base = loop_.base();
    parts.store = &events_;
    parts.reports = &hub_;
    parts.clock = &clock_;
    manager_ = std::make_unique<EventManager>(parts, EventManagerOptions());
    manager_->Start();
    collector_ = std::make_unique<AnalyzerCollector>(loop_.base(), AnalyzerCollectorOptions(),
                                                     clock_, NoLog);
    CampaignParts campaign_parts;
    campaign_parts.clock = &clock_;
    campaign_parts.store = &campaigns_;
    campaign_loop_ =
        std::make_unique<CampaignLoop>(loop_.base(), campaign_parts, CampaignOptions());
    campaign_loop_->manager().SetCollector(collector_.get());
    campaign_loop_->manager().SetTopology(*ParseTopologyYaml(kTwoRouters, "topology"));
    campaign_loop_->manager().Start();
  }

  void Start() {
    const auto port = collector_->Listen(*ParsePassiveAddress("ptcp:0:127.0.0.1"), nullptr);
    ASSERT_TRUE(port.ok()) << port.message();
    analyzer_port_ = *port;
    RestParts parts;
    parts.base = loop_.base();
    parts.events = manager_.get();
    parts.reports = &hub_;
    parts.campaigns = &campaign_loop_->manager();
    parts.packets = collector_.get();
    parts.clock = &clock_;
    parts.log = [this](const char*, const std::string& text) { log_ += text + "\n"; };
    RestOptions options;
    options.listen = {"ptcp:0:127.0.0.1"};
    options.access.token_file = folder_.File("tokens.yaml");
    WriteFile(options.access.token_file,
              "tokens:\n- {name: red, sha256: " + ToHex(HashToken("red")) +
                  ", role: operate, tenant: red, prefixes: [10.0.0.0/8]}\n- {name: blue, sha256: " +
                  ToHex(HashToken("blue")) + ", role: operate, tenant: blue}\n");
    fs::permissions(options.access.token_file, fs::perms::owner_read);
    auto server = RestServer::Start(parts, options);
    ASSERT_TRUE(server.ok()) << server.message();
    server_ = std::move(*server);
    ASSERT_TRUE(loop_.RunUntil([&] { return campaign_loop_->manager().is_store_ready(); }));
  }

  void AddAnalyzer(const std::string& name) {
    AnalyzerOptions options;
    options.name = name;
    options.archive.directory = folder_.File(name);
    fs::create_directory(options.archive.directory);
    analyzers_.push_back(std::make_unique<Analyzer>(loop_.base(), options, clock_, NoLog));
    ASSERT_TRUE(analyzers_.back()->Connect({false, "127.0.0.1", analyzer_port_}, nullptr).ok());
    ASSERT_TRUE(loop_.RunUntil([&] { return collector_->Keepers().size() == analyzers_.size(); }));
  }

  // Its number.
  uint64_t Run() {
    CampaignDefinition definition;
    definition.name = "web";
    definition.text = kCampaign;
    campaign_loop_->manager().Put(definition, "c", red_, std::nullopt,
                                  [](const Result<EventRecord>& put) { EXPECT_TRUE(put.ok()); });
    const auto last = [&]() -> const SliceRunView* {
      const auto view = campaign_loop_->manager().Find("web", red_);
      return view && view->last ? view->last.get() : nullptr;
    };
    EXPECT_TRUE(loop_.RunUntil([&] { return last() != nullptr; }));
    return last()->run;
  }

  // `count` packets of `size` bytes; the file.
  std::string Keep(const std::string& analyzer, uint64_t run, int slot, size_t count, size_t size) {
    const std::string folder = folder_.File(analyzer) + "/run-" + std::to_string(run);
    fs::create_directories(folder);
    const std::string path = folder + "/slot-" + std::to_string(slot) + "-query-0.pcapng";
    Result<PcapngWriter> writer = PcapngWriter::Create(path, analyzer);
    writer->AddInterface(analyzer, "", true);
    for (size_t i = 0; i < count; ++i) writer->AddPacket(0, Nanos(i), std::string(size, 'x'), 1500);
    EXPECT_TRUE(writer->Close().ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  static std::string Joined(const std::string& files) {
    std::string joined;
    EXPECT_TRUE(PcapngJoiner().Add(files, &joined).ok());
    return joined;
  }

  static std::string Get(const std::string& token, const std::string& query = "") {
    return "GET /v1/slices/web/packets" + query +
           " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n";
  }
  std::unique_ptr<RawClient> Client() {
    return std::make_unique<RawClient>(&loop_, server_->ports().at(0));
  }
  std::string Problem(const std::string& token, const std::string& query = "") {
    const std::string answer = Client()->Ask(Get(token, query));
    return std::to_string(StatusOf(answer)) + " " + BodyOf(answer);
  }
  // What comes to `client`, to the end.
  std::string Finish(RawClient* client) {
    EXPECT_TRUE(loop_.RunUntil([&] {
      client->Receive();
      const std::string_view received = client->received();
      return client->is_closed() ||
             (received.size() > 5 && received.substr(received.size() - 5) == "0\r\n\r\n");
    }));
    bool is_whole = false;
    std::string packets = Unchunk(BodyOf(client->received()), &is_whole);
    EXPECT_TRUE(is_whole) << client->received().substr(0, 500);
    EXPECT_EQ(StatusOf(client->received()), 200);
    return packets;
  }
  std::string Download(const std::string& query = "") {
    const auto client = Client();
    client->Send(Get("red", query));
    return Finish(client.get());
  }

  const Caller red_{"red", "red", {*ParsePrefix("10.0.0.0/8")}};
  Loop loop_;
  TempFolder folder_;
  SystemWireClock clock_;
  MemoryEventStore events_;
  MemoryEventStore campaigns_;
  ReportHub hub_;
  std::string log_;
  std::unique_ptr<EventManager> manager_;
  std::unique_ptr<AnalyzerCollector> collector_;
  std::unique_ptr<CampaignLoop> campaign_loop_;
  std::unique_ptr<RestServer> server_;
  std::vector<std::unique_ptr<Analyzer>> analyzers_;
  uint16_t analyzer_port_ = 0;
};

TEST_F(PacketDownload, GivesWhatEachAnalyzerHasKeptOneAfterTheOther) {
  Start();
  AddAnalyzer("an1");
  AddAnalyzer("an2");
  AddAnalyzer("an3");
  const uint64_t run = Run();
  std::string all = Keep("an1", run, 0, 3, 100);
  all += Keep("an1", run, 1, 5000, 200);
  all += Keep("an3", run, 0, 2, 100);
  const std::string packets = Download();
  EXPECT_TRUE(packets == Joined(all));
  EXPECT_TRUE(Download("?run=" + std::to_string(run)) == packets);
  EXPECT_EQ(server_->packets().counters().bytes, 2 * packets.size());
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  WriteFile(folder_.File("all.pcapng"), packets);
  const std::string command = "tshark -r " + folder_.File("all.pcapng") +
                              " -T fields -e frame.interface_name | sort | uniq -c >" +
                              folder_.File("told");
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream told(folder_.File("told"));
  const std::vector<std::string> words{std::istream_iterator<std::string>(told), {}};
  EXPECT_EQ(words, (std::vector<std::string>{"5003", "an1", "2", "an3"}));
}

TEST_F(PacketDownload, SaysWhyThereAreNone) {
  Start();
  EXPECT_EQ(Problem("red").substr(0, 4), "404 ");
  const uint64_t run = Run();
  EXPECT_NE(Problem("red").find("503 "), Problem("red").npos);
  AddAnalyzer("an1");
  const auto says = [&](const std::string& token, const std::string& query,
                        const std::string& text) {
    const std::string problem = Problem(token, query);
    EXPECT_NE(problem.find(text), problem.npos) << problem;
  };
  says("red", "", "no analyzer has packets of run " + std::to_string(run));
  says("red", "?run=5", "run 5 is none of campaign 'web' that is remembered");
  says("red", "?run=x", "400 ");
  says("red", "?slot=1", "400 ");
  Keep("an1", run, 0, 1, 100);
  says("blue", "", "404 ");
  says("blue", "?run=" + std::to_string(run), "there is no campaign named 'web'");
  says("green", "", "401 ");
}

TEST_F(PacketDownload, WaitsForItsReader) {
  Start();
  AddAnalyzer("an1");
  const uint64_t run = Run();
  const std::string file = Keep("an1", run, 0, 400, 60000);
  const auto client = Client();
  client->Send(Get("red"));
  const auto given = [&] { return server_->packets().counters().bytes; };
  // Until no more is given, for what may be on its way is on its way.
  uint64_t before = 0;
  do {
    before = given();
    for (int i = 0; i < 20; ++i) {
      LoopEvent pause(loop_.base(), [] {});
      pause.RunAfter(10 * kNanosPerMilli);
      event_base_loop(loop_.base(), EVLOOP_ONCE);
    }
  } while (before == 0 || given() > before);
  EXPECT_LT(given(), file.size() / 2);
  EXPECT_TRUE(Finish(client.get()) == Joined(file));
}

TEST_F(PacketDownload, BreaksOffWhenAnAnalyzerGoes) {
  Start();
  AddAnalyzer("an1");
  AddAnalyzer("an2");
  const uint64_t run = Run();
  Keep("an1", run, 0, 400, 60000);
  const auto client = Client();
  client->Send(Get("red"));
  ASSERT_TRUE(client->WaitForText("\r\n\r\n"));
  analyzers_.erase(analyzers_.begin());
  ASSERT_TRUE(client->WaitForClose());
  bool is_whole = true;
  Unchunk(BodyOf(client->received()), &is_whole);
  EXPECT_FALSE(is_whole);
  EXPECT_NE(log_.find("broken off: analyzer 'an1' "), log_.npos) << log_;
  EXPECT_EQ(server_->packets().counters().broken_off, 1u);
}

TEST_F(PacketDownload, BreaksOffWhenAFileIsDamaged) {
  Start();
  AddAnalyzer("an1");
  const uint64_t run = Run();
  Keep("an1", run, 0, 1, 100);
  const std::string path =
      folder_.File("an1") + "/run-" + std::to_string(run) + "/slot-0-query-0.pcapng";
  fs::resize_file(path, fs::file_size(path) - 1);
  const auto client = Client();
  client->Send(Get("red"));
  ASSERT_TRUE(client->WaitForClose());
  EXPECT_NE(log_.find("analyzer 'an1': its last packet is cut off"), log_.npos) << log_;
}

// Who asks by HTTP/1.0 would take what there was before an analyzer went for the whole.
TEST_F(PacketDownload, IsRefusedToWhoCannotTellItsEnd) {
  Start();
  AddAnalyzer("an1");
  const uint64_t run = Run();
  const std::string file = Keep("an1", run, 0, 4, 100);
  std::string request = Get("red");
  request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
  const std::string answer = Client()->Ask(request);
  EXPECT_EQ(StatusOf(answer), 505);
  EXPECT_NE(BodyOf(answer).find("ask for them by HTTP/1.1"), std::string::npos) << answer;
  EXPECT_TRUE(Download() == Joined(file));
}

TEST_F(PacketDownload, EndsWithItsClient) {
  Start();
  AddAnalyzer("an1");
  const uint64_t run = Run();
  const std::string file = Keep("an1", run, 0, 400, 60000);
  for (size_t i = 0; i < 2 * PacketDownloads::kMaxDownloads; ++i) {
    const auto client = Client();
    client->Send(Get("red"));
    ASSERT_TRUE(client->WaitForText("\r\n\r\n"));
    if (StatusOf(client->received()) == 200) continue;
    // Those that have gone are counted until it is seen.
    EXPECT_EQ(StatusOf(client->received()), 503);
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return !server_->packets().is_full(); }));
  EXPECT_TRUE(Download() == Joined(file));
}

}  // namespace
}  // namespace trumpet
