// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Links with delay and loss between TAP devices, where the kernel has no netem.  Each link makes
// its two devices, which a switch or a namespace then takes; they are gone when the program ends.
//
// usage: link_emulator [--seed=N] [--watch=PREFIX] DEVICE,DEVICE,DELAY-MS,LOSS...
//
// LOSS is a probability.  Says "ready" when all devices are up; on SIGUSR1, and when it ends on
// SIGTERM, what each link did up to then, as one JSON object a line.  Frames to PREFIX are counted
// apart, too.

#include <event2/event.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/lossy_link.h"

namespace trumpet::testing {
namespace {

struct LinkOptions {
  std::string devices[2];
  LinkQuality quality;
};

[[noreturn]] void Fail(const std::string& what) {
  fprintf(stderr, "link_emulator: %s\n", what.c_str());
  exit(1);
}

[[noreturn]] void FailSystem(const std::string& what) { Fail(what + ": " + strerror(errno)); }

double ReadNumber(const std::string& text, double highest) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(value >= 0 && value <= highest)) {
    Fail("'" + text + "' is not a number from 0 to " + std::to_string(highest));
  }
  return value;
}

LinkOptions ReadLink(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  if (parts.size() != 4) Fail("'" + text + "' is not DEVICE,DEVICE,DELAY-MS,LOSS");
  LinkOptions link;
  for (int side : {0, 1}) {
    if (parts[side].empty() || parts[side].size() >= IFNAMSIZ) {
      Fail("'" + parts[side] + "' is no name of a device");
    }
    link.devices[side] = parts[side];
  }
  link.quality.delay = static_cast<Nanos>(ReadNumber(parts[2], 10'000) * kNanosPerMilli);
  link.quality.loss = ReadNumber(parts[3], 1);
  return link;
}

// A new TAP device that is up; it lives as long as the descriptor.
int OpenTap(const std::string& name) {
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) FailSystem("/dev/net/tun");
  ifreq request{};
  memcpy(request.ifr_name, name.c_str(), name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(tap, TUNSETIFF, &request) != 0) FailSystem(name);
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (any < 0 || ioctl(any, SIOCGIFFLAGS, &request) != 0) FailSystem(name);
  request.ifr_flags |= IFF_UP;
  if (ioctl(any, SIOCSIFFLAGS, &request) != 0) FailSystem(name);
  close(any);
  return tap;
}

nlohmann::json AsJson(const FrameCounts& counts) {
  return {{"taken", counts.taken},
          {"lost", counts.lost},
          {"overrun", counts.overrun},
          {"refused", counts.refused},
          {"passed", counts.passed}};
}

class Emulator {
 public:
  Emulator(const std::vector<LinkOptions>& links, uint64_t seed,
           const std::optional<Prefix>& watched)
      : loop_(NewPreciseLoop()) {
    for (const LinkOptions& link : links) {
      const int taps[2] = {OpenTap(link.devices[0]), OpenTap(link.devices[1])};
      for (int side : {0, 1}) {
        ways_.push_back({link.devices[side], link.devices[1 - side],
                         std::make_unique<LossyLink>(loop_.get(), taps[side], taps[1 - side],
                                                     link.quality, seed++, watched)});
      }
    }
  }

  void Run() {
    Signal print(loop_.get(), SIGUSR1, [this] { Print(); });
    Signal end(loop_.get(), SIGTERM, [this] { event_base_loopbreak(loop_.get()); });
    puts("ready");
    fflush(stdout);
    event_base_dispatch(loop_.get());
    Print();
  }

 private:
  class Signal {
   public:
    Signal(event_base* base, int number, std::function<void()> action)
        : action_(std::move(action)),
          event_(evsignal_new(
              base, number,
              [](evutil_socket_t, short, void* self) { static_cast<Signal*>(self)->action_(); },
              this)) {
      event_add(event_, nullptr);
    }
    ~Signal() { event_free(event_); }

   private:
    const std::function<void()> action_;
    event* const event_;
  };

  struct Way {
    std::string from;
    std::string to;
    std::unique_ptr<LossyLink> link;
  };

  void Print() const {
    nlohmann::json ways = nlohmann::json::array();
    for (const Way& way : ways_) {
      const LinkCounts& counts = way.link->counts();
      ways.push_back({{"from", way.from},
                      {"to", way.to},
                      {"all", AsJson(counts.all)},
                      {"watched", AsJson(counts.watched)},
                      {"longest_lateness_ns", counts.longest_lateness}});
    }
    puts(nlohmann::json{{"ways", ways}}.dump().c_str());
    fflush(stdout);
  }

  OwnedLoop loop_;
  std::vector<Way> ways_;
};

int Main(int argc, char** argv) {
  uint64_t seed = 1;
  std::optional<Prefix> watched;
  std::vector<LinkOptions> links;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument.rfind("--seed=", 0) == 0) {
      seed = static_cast<uint64_t>(ReadNumber(argument.substr(7), 1e15));
    } else if (argument.rfind("--watch=", 0) == 0) {
      const Result<Prefix> prefix = ParsePrefix(argument.substr(8));
      if (!prefix.ok()) Fail(prefix.status().message());
      watched = *prefix;
    } else {
      links.push_back(ReadLink(argument));
    }
  }
  if (links.empty()) Fail("no link given");
  Emulator(links, seed, watched).Run();
  return 0;
}

}  // namespace
}  // namespace trumpet::testing

int main(int argc, char** argv) { return trumpet::testing::Main(argc, argv); }
