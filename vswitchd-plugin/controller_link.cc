// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "vswitchd-plugin/controller_link.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

constexpr Nanos kTick = 100 * kNanosPerMilli;
constexpr Nanos kRetry = 2 * kNanosPerSecond;         // of keys that could not be read
constexpr Nanos kLeaveTime = 2 * kNanosPerSecond;     // for goodbyes
constexpr Nanos kFactsSpacing = kNanosPerSecond / 2;  // between two sendings
constexpr size_t kFactsQueue = 1 << 20;               // what waits may be so much, and not more
constexpr Nanos kCountsSpacing = kNanosPerSecond;     // likewise, of what programs have collected
constexpr Nanos kDatabasePatience = 5 * kNanosPerSecond;
constexpr timeval kLongestStop = {0, 20'000};

std::string HostName() {
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "host";
  return name;
}

void Note(evutil_socket_t fd, short /*what*/, void* is_due) {
  uint64_t count;
  if (read(fd, &count, sizeof count) == static_cast<ssize_t>(sizeof count)) {
    *static_cast<bool*>(is_due) = true;
  }
}

}  // namespace

bool ControllerLink::Wanted::operator==(const Wanted& other) const {
  const auto tie = [](const Wanted& x) {
    return std::tie(x.controller, x.controller_name, x.host_id, x.keys.private_key,
                    x.keys.certificate, x.keys.ca_certificate);
  };
  return tie(*this) == tie(other);
}

void ControllerLink::EventFree::operator()(event* event) const { event_free(event); }

ControllerLink::ControllerLink(LinkParts parts)
    : parts_(std::move(parts)),
      clock_(parts_),
      host_name_(HostName()),
      process_start_ns_(parts_.read_clocks().wall_ns),
      programs_(parts_.measurements) {
  parts_.desk->SendBy([this](const Message& message) { return Send(message); });
}

bool ControllerLink::Send(const Message& message) {
  if (session_ == nullptr || !session_->Send(message).ok()) return false;
  if (KindOf(message) != MessageKind::kIntervalEnd || session_ == nullptr) return true;
  const uint64_t lost = session_->counters().dropped[static_cast<size_t>(MessageKind::kFlowStates)];
  if (lost != std::exchange(flow_states_lost_, lost)) parts_.desk->MarkFlowStatesLost();
  return true;
}

ControllerLink::~ControllerLink() {
  database_.reset();
  leaving_.clear();
  connector_.reset();
  timer_.reset();
  waker_.reset();
  if (timer_fd_ >= 0) close(timer_fd_);
  if (wake_fd_.load() >= 0) close(wake_fd_.load());
  if (owns_base_) FreeLoop(base_);
}

// --- the loop --------------------------------------------------------------

bool ControllerLink::Open() {
  if (is_broken_) return false;
  if (base_ != nullptr) return true;
  if (parts_.base != nullptr) {
    base_ = parts_.base;
    return true;
  }
  const int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  const int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  event_base* base = event_base_new();
  timer_fd_ = timer_fd;
  if (timer_fd < 0 || wake_fd < 0 || base == nullptr) {
    if (timer_fd >= 0) close(timer_fd);
    if (wake_fd >= 0) close(wake_fd);
    if (base != nullptr) event_base_free(base);
    timer_fd_ = -1;
    return false;
  }
  base_ = base;
  owns_base_ = true;
  timer_.reset(event_new(base_, timer_fd, EV_READ | EV_PERSIST, Note, &is_due_));
  waker_.reset(event_new(base_, wake_fd, EV_READ | EV_PERSIST, Note, &is_due_));
  event_add(timer_.get(), nullptr);
  event_add(waker_.get(), nullptr);
  wake_fd_.store(wake_fd);
  return true;
}

void ControllerLink::Wake() {
  const int fd = wake_fd_.load();
  const uint64_t one = 1;
  if (fd >= 0 && write(fd, &one, sizeof one) < 0) return;  // full: it is awake
}

bool ControllerLink::WaitUntil(Nanos monotonic_ns) {
  if (!owns_base_ || is_broken_) return false;
  if (is_configured() || !leaving_.empty()) monotonic_ns = std::min(monotonic_ns, next_tick_);
  itimerspec at{};  // all 0: never
  if (monotonic_ns != INT64_MAX) {
    const Nanos when = std::max<Nanos>(1, monotonic_ns);
    at.it_value = {when / kNanosPerSecond, when % kNanosPerSecond};
  }
  timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &at, nullptr);
  is_due_ = !sets_.empty();
  while (!is_due_) {
    if (event_base_loop(base_, has_questions_ ? EVLOOP_NONBLOCK : EVLOOP_ONCE) < 0) {
      GiveUp();
      return false;
    }
    if (has_questions_) has_questions_ = parts_.desk->AnswerSome();
  }
  return true;
}

void ControllerLink::GiveUp() noexcept {
  is_broken_ = true;
  retry_at_ = 0;
  session_ = nullptr;
  has_questions_ = false;
  parts_.desk->Disconnect();
  database_.release();
  connector_.release();
  tls_.release();
  for (Leaving& one : leaving_) {
    one.connector.release();
    one.tls.release();
  }
  leaving_.clear();
  timer_.release();
  waker_.release();
  base_ = nullptr;
  owns_base_ = false;
}

void ControllerLink::Drop() noexcept {
  if (connector_ == nullptr) return;
  KeepCounters(*connector_);
  session_ = nullptr;
  has_questions_ = false;
  parts_.desk->Disconnect();
  connector_.reset();
  tls_.reset();
}

void ControllerLink::Stop() {
  if (!owns_base_) return;
  if (connector_ != nullptr) {
    Disconnect(ByeReason::kShuttingDown);
    event_base_loopexit(base_, &kLongestStop);
    // Also while the hellos are under way: the controller may think that there is a session.
    while (leaving_.back().connector->next_attempt_at() == 0 && !event_base_got_exit(base_)) {
      event_base_loop(base_, EVLOOP_ONCE);
    }
  }
  leaving_.clear();
  database_.reset();
  // It is the loop that closes what was freed.  Peers of a process that lives on would never know.
  event_base_loop(base_, EVLOOP_NONBLOCK);
}

// --- the connection --------------------------------------------------------

void ControllerLink::FollowDatabase(const Settings& settings, Nanos now) {
  if (settings.controller.empty()) {
    database_.reset();
    facts_sent_version_ = 0;
    return;
  }
  if (database_ == nullptr) {
    auto remotes = ParseOvsdbRemotes(parts_.database);
    if (!remotes.ok() || !Open()) return;
    database_ = std::make_unique<SwitchDatabase>(base_, std::move(*remotes), parts_.seed);
    database_patience_ends_ = now + kDatabasePatience;
  }
  database_->Update(now, settings.uplinks);
}

// Whether the switch's database may yet say what the settings do not.
bool ControllerLink::MayKnowMore(const Settings& settings, Nanos now) const {
  const bool says_all = !settings.host_id.empty() && !settings.private_key.empty() &&
                        !settings.certificate.empty() && !settings.ca_cert.empty();
  return !says_all && database_ != nullptr && database_->version() == 0 &&
         now < database_patience_ends_;
}

// A key and its certificate go together; whom to believe is a question of its own.
ControllerLink::Wanted ControllerLink::WantedOf(const Settings& settings) const {
  Wanted wanted;
  if (settings.controller.empty()) return wanted;
  static const LocalFacts kNothing;
  const LocalFacts& facts = database_ != nullptr ? database_->facts() : kNothing;
  wanted.controller = settings.controller;
  wanted.controller_name = settings.controller_name;
  wanted.host_id = !settings.host_id.empty() ? settings.host_id : facts.system_id;
  if (wanted.host_id.empty()) wanted.host_id = host_name_;
  const bool has_own = !settings.private_key.empty() || !settings.certificate.empty();
  wanted.keys = {has_own ? settings.private_key : facts.ssl.private_key,
                 has_own ? settings.certificate : facts.ssl.certificate,
                 settings.ca_cert.empty() ? facts.ssl.ca_certificate : settings.ca_cert};
  return wanted;
}

void ControllerLink::Follow(const Settings& settings) {
  if (!is_configured() && settings.controller.empty() && leaving_.empty()) return;
  const Nanos now = clock_.MonotonicNow();
  FollowDatabase(settings, now);
  Wanted wanted = WantedOf(settings);
  if (!(wanted == wanted_)) {
    if (connector_ != nullptr) Disconnect(ByeReason::kReconfigured);
    if (wanted.controller.empty()) {
      sets_.assign(1, ControllerSet::Taken());
      set_.Forget();
      parts_.on_place(nullptr);
      running_controller_id_ = running_generation_ = 0;
    }
    wanted_ = std::move(wanted);
    retry_at_ = 0;
    problem_.clear();
  }
  if (is_configured() && connector_ == nullptr && now >= retry_at_ && !MayKnowMore(settings, now)) {
    if (!is_broken_) retry_at_ = now + kRetry;
    Connect();
  }
  if (now >= next_tick_) {
    next_tick_ = now + kTick;
    if (connector_ != nullptr) connector_->Tick();
    ForgetLeaving(now);
  }
  const bool has_news = database_ != nullptr && facts_sent_version_ != database_->version();
  if (has_news && is_connected() && now - facts_sent_at_ >= kFactsSpacing &&
      session_->queued_bytes() <= kFactsQueue) {
    SendFacts();
  }
  TellCounts(now);
}

void ControllerLink::TellCounts(Nanos now) {
  const bool may_tell = is_connected() && now - counts_told_at_ >= kCountsSpacing &&
                        (session_->capabilities() & kCapabilityCollect) != 0 &&
                        session_->queued_bytes() <= kFactsQueue;
  if (!may_tell) return;
  counts_told_at_ = now;
  for (const ProgramCounts& counts : programs_.TakeCounts()) Send(counts);
}

void ControllerLink::Connect() {
  if (!Open()) return Fail("no loop for the controller: out of descriptors or memory");
  const auto addresses = ParseActiveAddresses(wanted_.controller);
  if (!addresses.ok()) return Fail(addresses.message());
  std::unique_ptr<TlsContext> tls;
  if (addresses->front().is_tls) {
    if (wanted_.keys.private_key.empty() || wanted_.keys.certificate.empty() ||
        wanted_.keys.ca_certificate.empty()) {
      return Fail(
          "there are no keys: trumpet-private-key, trumpet-certificate and trumpet-ca-cert are to "
          "be set, or those of the switch (ovs-vsctl set-ssl)");
    }
    Result<std::unique_ptr<TlsContext>> loaded = TlsContext::Load(wanted_.keys);
    if (!loaded.ok()) return Fail(loaded.message());
    tls = std::move(*loaded);
  }
  ConnectorOptions options;
  options.seed = parts_.seed;
  options.tick = 0;
  options.others.assign(addresses->begin() + 1, addresses->end());
  options.session.expected_peer_name = wanted_.controller_name;
  SessionOwner* const self = this;
  Result<std::unique_ptr<Connector>> connector =
      Connector::Connect(base_, addresses->front(), tls.get(), options, clock_, self);
  if (!connector.ok()) return Fail(connector.message());
  problem_.clear();
  tls_ = std::move(tls);
  connector_ = std::move(*connector);
  state_since_ns_ = clock_.UnixNow();
}

void ControllerLink::Disconnect(ByeReason reason) {
  if (is_connected()) parts_.desk->Disconnect();
  session_ = nullptr;
  Leaving leaving{std::move(tls_), std::move(connector_), clock_.MonotonicNow() + kLeaveTime};
  leaving.connector->Stop(reason);
  KeepCounters(*leaving.connector);
  leaving_.push_back(std::move(leaving));
  has_questions_ = false;
  state_since_ns_ = clock_.UnixNow();
}

// Of one that goes.
void ControllerLink::KeepCounters(const Connector& connector) {
  const ConnectorCounters counters = connector.counters();
  for (size_t i = 0; i < dropped_before_.size(); ++i) {
    dropped_before_[i] += counters.sessions.dropped[i];
  }
}

void ControllerLink::ForgetLeaving(Nanos now) {
  for (Leaving& one : leaving_) one.connector->Tick();
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(),
                                [now](const Leaving& one) { return now >= one.until; }),
                 leaving_.end());
}

void ControllerLink::Fail(const std::string& why) {
  problem_ = why;
  Log(true, why);
}

// What comes again with every attempt is said once.
void ControllerLink::Log(bool is_bad, const std::string& text) {
  if (text == last_logged_) return;
  last_logged_ = text;
  const std::string line = "controller " + wanted_.controller + ": " + text;
  if (is_bad) {
    parts_.host->Warn(line);
  } else {
    parts_.host->Info(line);
  }
}

}  // namespace trumpet
