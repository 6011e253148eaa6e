// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Alerts in a real Alertmanager, that of Debian's package prometheus-alertmanager: the one of
// $TRUMPET_TOOLS, which build-aux/fetch-tools fills, or else the one that is installed.

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "controller/notify/notifier.h"
#include "controller/notify/notify_kit_test.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

std::string Program() {
  const char* tools = getenv("TRUMPET_TOOLS");
  if (tools == nullptr) return "/usr/bin/prometheus-alertmanager";
  return std::string(tools) + "/prometheus-alertmanager/start";
}

std::string Fetch(const std::string& url) {
  std::string text;
  CURL* curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(
      curl, CURLOPT_WRITEFUNCTION, +[](char* data, size_t size, size_t count, void* to) {
        static_cast<std::string*>(to)->append(data, size * count);
        return size * count;
      });
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
  curl_easy_perform(curl);
  curl_easy_cleanup(curl);
  return text;
}

class Alertmanager {
 public:
  explicit Alertmanager(const std::string& program) {
    std::string folder = testing::TempDir() + "/trumpet-alertmanager-XXXXXX";
    folder_ = mkdtemp(folder.data());
    std::ofstream(folder_ + "/config.yml") << "route: {receiver: x}\nreceivers: [{name: x}]\n";
    int log[2];
    EXPECT_EQ(pipe2(log, O_CLOEXEC), 0);
    const std::string config = "--config.file=" + folder_ + "/config.yml";
    const std::string storage = "--storage.path=" + folder_ + "/data";
    pid_ = fork();
    if (pid_ == 0) {
      dup2(log[1], STDERR_FILENO);
      execl(program.c_str(), program.c_str(), config.c_str(), storage.c_str(),
            "--web.listen-address=127.0.0.1:0", "--cluster.listen-address=", nullptr);
      _exit(127);
    }
    close(log[1]);
    // msg="Listening on" address=127.0.0.1:44555
    FILE* lines = fdopen(log[0], "r");
    char line[4096];
    while (url_.empty() && fgets(line, sizeof line, lines) != nullptr) {
      const std::string text = line;
      said_ += text;
      const size_t at = text.find("address=127.0.0.1:");
      if (at != text.npos)
        url_ = "http://" + text.substr(at + 8, text.find_first_of(" \n", at) - at - 8);
    }
    // What it says later must not fill the pipe.
    reader_ = std::thread([lines] {
      char more[4096];
      while (fgets(more, sizeof more, lines) != nullptr) continue;
      fclose(lines);
    });
  }
  ~Alertmanager() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    reader_.join();
    const std::string command = "rm -rf '" + folder_ + "'";
    EXPECT_EQ(system(command.c_str()), 0);
  }

  const std::string& url() const { return url_; }    // empty: it did not start
  const std::string& said() const { return said_; }  // until it did
  Json Alerts() const { return Json::parse(Fetch(url_ + "/api/v2/alerts"), nullptr, false); }

 private:
  std::string folder_;
  std::string url_;
  std::string said_;
  pid_t pid_ = -1;
  std::thread reader_;
};

TEST(RealAlertmanager, ShowsAnAlertUntilItsEventIsClear) {
  const std::string program = Program();
  if (access(program.c_str(), X_OK) != 0) {
    ASSERT_EQ(getenv("TRUMPET_TOOLS"), nullptr) << program << " was not fetched";
    GTEST_SKIP() << program << " is not there; build-aux/fetch-tools fetches it";
  }
  const Alertmanager alertmanager(program);
  ASSERT_NE(alertmanager.url(), "") << alertmanager.said();
  const std::unique_ptr<event_base, void (*)(event_base*)> base(event_base_new(), event_base_free);
  ReportHub hub(nullptr);
  NotifyOptions options;
  NotifyReceiver receiver;
  receiver.name = "am";
  receiver.url = alertmanager.url();
  receiver.format = NotifyFormat::kAlertmanager;
  receiver.batch_window = kNanosPerMilli;
  options.receivers = {receiver};
  Notifier notifier(base.get(), &hub, options,
                    [](const char*, const std::string& text) { ADD_FAILURE() << text; });
  const Status started = notifier.Start();
  ASSERT_TRUE(started) << started.message();

  const auto tell = [&](bool is_clear) {
    NetworkReport report = ReportOf("heavy", "{\"srcIP\":\"10.0.0.1\",\"dstPort\":80}", is_clear);
    report.report.end_ns = NotifyNow();
    report.report.start_ns = report.report.end_ns - kNanosPerSecond;
    hub.Publish({report}, "blue");
    const uint64_t delivered = notifier.Receivers()[0].delivered + 1;
    return LoopUntil(base.get(), [&] { return notifier.Receivers()[0].delivered == delivered; });
  };
  ASSERT_TRUE(tell(false));
  // What it was given it shows a moment later.
  ASSERT_TRUE(LoopUntil(base.get(), [&] { return alertmanager.Alerts().size() == 1; }));
  const Json alert = alertmanager.Alerts()[0];
  EXPECT_EQ(alert["labels"],
            Json::parse(R"({"alertname":"heavy","job":"trumpet","severity":"warning",
                            "srcIP":"10.0.0.1","dstPort":"80","tenant":"blue"})"));
  EXPECT_EQ(alert["status"]["state"], "active");
  ASSERT_TRUE(tell(true));
  EXPECT_TRUE(LoopUntil(base.get(), [&] { return alertmanager.Alerts().empty(); }));
}

}  // namespace
}  // namespace trumpet
