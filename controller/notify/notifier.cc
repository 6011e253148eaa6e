// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/notifier.h"

#include <cerrno>
#include <cstring>
#include <random>
#include <set>
#include <utility>

#include <sys/stat.h>

namespace trumpet {
namespace {

constexpr Nanos kWatchEvery = kNanosPerSecond;

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             "-_.") == std::string::npos;
}

bool IsHeaderText(const std::string& text) {
  return text.find_first_of(std::string("\r\n\0", 3)) == std::string::npos;
}

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

Status CheckRange(const char* key, Nanos value, Nanos least, Nanos most) {
  if (value >= least && value <= most) return Status::Ok();
  return Status::Error(std::string(key) + " takes " + std::to_string(least / kNanosPerMilli) +
                       "ms to " + std::to_string(most / kNanosPerSecond) + "s");
}

Status CheckTimes(const NotifyReceiver& receiver) {
  const Nanos ms = kNanosPerMilli;
  const Nanos s = kNanosPerSecond;
  struct {
    const char* key;
    Nanos value, least, most;
  } const times[] = {
      {"batch_window", receiver.batch_window, 0, 60 * s},
      {"timeout", receiver.timeout, 10 * ms, 300 * s},
      {"first_retry", receiver.first_retry, ms, 3600 * s},
      {"longest_retry", receiver.longest_retry, receiver.first_retry, 86400 * s},
      {"give_up_after", receiver.give_up_after, ms, 7 * 86400 * s},
      {"resolve_after", receiver.resolve_after, 100 * ms, 86400 * s},
  };
  for (const auto& time : times) {
    Status checked = CheckRange(time.key, time.value, time.least, time.most);
    if (!checked) return checked;
  }
  return Status::Ok();
}

}  // namespace

Status CheckReceiver(const NotifyReceiver& receiver) {
  if (!IsName(receiver.name)) {
    return Status::Error("name is '" + receiver.name +
                         "'; it takes 1 to 64 letters, digits, '-', '_' and '.'");
  }
  if (!StartsWith(receiver.url, "http://") && !StartsWith(receiver.url, "https://")) {
    return Status::Error("url is '" + receiver.url + "'; it begins with http:// or https://");
  }
  if (!IsSameOrigin(receiver.url, receiver.url)) {
    return Status::Error("url is '" + receiver.url + "', which is no URL");
  }
  for (const auto& [name, value] : receiver.headers) {
    if (name.empty() || name.find(':') != std::string::npos || !IsHeaderText(name + value)) {
      return Status::Error("headers: '" + name + "' is no header of one line");
    }
  }
  for (const auto& [name, path] : receiver.header_files) {
    if (name.empty() || name.find(':') != std::string::npos || !IsHeaderText(name)) {
      return Status::Error("header_files: '" + name + "' is no name of a header");
    }
  }
  if (receiver.certificate_file.empty() != receiver.key_file.empty()) {
    return Status::Error("certificate and key need one another");
  }
  if (receiver.max_batch == 0 || receiver.max_batch > 10000) {
    return Status::Error("max_batch is " + std::to_string(receiver.max_batch) +
                         "; it takes 1 to 10000");
  }
  return CheckTimes(receiver);
}

Notifier::Notifier(event_base* base, ReportHub* hub, NotifyOptions options, Log log)
    : base_(base),
      hub_(hub),
      options_(std::move(options)),
      log_(std::move(log)),
      sender_(base),
      slots_(options_.max_in_flight),
      watch_(base, [this] { Watch(); }) {}

Notifier::~Notifier() { hub_->Remove(this); }

Status Notifier::Start() {
  std::set<std::string> names;
  for (const NotifyReceiver& receiver : options_.receivers) {
    const Status checked = CheckReceiver(receiver);
    if (!checked) return Status::Error("notify: " + receiver.name + ": " + checked.message());
    if (!names.insert(receiver.name).second) {
      return Status::Error("notify: there are two receivers '" + receiver.name + "'");
    }
  }
  if (options_.receivers.empty()) return Status::Ok();
  if (!options_.directory.empty() && mkdir(options_.directory.c_str(), 0700) != 0 &&
      errno != EEXIST) {
    return Status::Error("notify: cannot make " + options_.directory + ": " + strerror(errno));
  }
  std::random_device seed;
  for (const NotifyReceiver& receiver : options_.receivers) {
    const bool is_alerts = receiver.format == NotifyFormat::kAlertmanager;
    Receiver one;
    one.courier = std::make_unique<Courier>(base_, &sender_, &slots_, receiver,
                                            is_alerts ? "/api/v2/alerts" : "",
                                            is_alerts ? 0 : receiver.give_up_after, seed());
    const Status read = one.courier->ReadHeaders();
    if (!read) {
      receivers_.clear();
      return Status::Error("notify: " + receiver.name + ": header_files: " + read.message());
    }
    if (is_alerts) {
      one.alerts =
          std::make_unique<AlertFeed>(base_, one.courier.get(), receiver, options_.max_alerts);
    } else {
      one.reports =
          std::make_unique<ReportFeed>(base_, hub_, &files_, one.courier.get(), receiver, options_);
    }
    receivers_.push_back(std::move(one));
  }
  hub_->Add(this);
  watch_.RunEvery(kWatchEvery);
  return Status::Ok();
}

Status Notifier::Reload() {
  Status result = Status::Ok();
  for (size_t i = 0; i < receivers_.size(); ++i) {
    const Status read = receivers_[i].courier->ReadHeaders();
    if (!read) {
      result = Status::Error("notify: " + options_.receivers[i].name +
                             ": header_files: " + read.message());
    }
  }
  return result;
}

void Notifier::OnReports(const ReportRows& rows) {
  for (size_t i = 0; i < receivers_.size(); ++i) {
    if (receivers_[i].reports) {
      receivers_[i].reports->OnReports();
      continue;
    }
    for (const auto& row : rows) {
      if (Wants(options_.receivers[i], *row)) receivers_[i].alerts->OnReport(row);
    }
  }
}

// Tells the log when a receiver fails, when it fails in another way, and when it is well again.
void Notifier::Watch() {
  for (size_t i = 0; i < receivers_.size(); ++i) {
    const std::string& error = receivers_[i].courier->counters().last_error;
    std::string* const told = &receivers_[i].told_error;
    if (error == *told) continue;
    const std::string& name = options_.receivers[i].name;
    if (error.empty()) {
      log_("info", "receiver " + name + " takes notifications again");
    } else {
      log_("warn", "receiver " + name + " does not take notifications: " + error);
    }
    *told = error;
  }
}

std::vector<ReceiverView> Notifier::Receivers() const {
  std::vector<ReceiverView> views;
  for (size_t i = 0; i < receivers_.size(); ++i) {
    const Receiver& receiver = receivers_[i];
    ReceiverView view;
    view.name = options_.receivers[i].name;
    view.format = options_.receivers[i].format;
    view.requests = receiver.courier->counters();
    if (receiver.reports) {
      const ReportFeedCounters& counters = receiver.reports->counters();
      view.delivered = counters.delivered;
      view.dropped = counters.dead_letters + counters.missed;
      view.waiting = receiver.reports->waiting();
    } else {
      const AlertFeedCounters& counters = receiver.alerts->counters();
      view.delivered = counters.delivered;
      view.dropped = counters.refused + counters.dropped;
      view.waiting = receiver.alerts->waiting();
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace trumpet
