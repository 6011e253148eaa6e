// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/alert_feed.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/base/text_table.h"

namespace trumpet {
namespace {

using Json = nlohmann::json;

// Renewed this often, as part of the time after which it would end.
constexpr Nanos kRenewalsPerLife = 3;

std::string TextOf(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "outer.dstIP" is no name of a label.
std::string LabelNameOf(std::string field) {
  std::replace(field.begin(), field.end(), '.', '_');
  return field;
}

std::string NamesOf(const Json& report) {
  std::string names;
  const auto hosts = report.find("hosts");
  if (hosts == report.end()) return names;
  for (const Json& host : *hosts)
    names += (names.empty() ? "" : " ") + TextOf(host.value("host", Json()));
  return names;
}

}  // namespace

std::string AlertToJson(const Alert& alert, Nanos expires_ns) {
  // Our own line; should it be broken, the alert still says what it can.
  const Json report = Json::parse(alert.row->json, nullptr, false);
  Json labels = {{"alertname", alert.row->event}, {"job", "trumpet"}};
  Json annotations = Json::object();
  if (report.is_object()) {
    const auto bucket = report.find("bucket");
    if (bucket != report.end()) {
      for (const auto& [field, value] : bucket->items()) labels[LabelNameOf(field)] = TextOf(value);
    }
    for (const char* key : {"value", "threshold", "complete"}) {
      const auto found = report.find(key);
      if (found != report.end()) annotations[key] = TextOf(*found);
    }
    const auto severity = report.find("severity");
    if (severity != report.end()) labels["severity"] = TextOf(*severity);
    const std::string hosts = NamesOf(report);
    if (!hosts.empty()) annotations["hosts"] = hosts;
  }
  if (!alert.row->tenant.empty()) labels["tenant"] = alert.row->tenant;
  annotations["report"] = std::to_string(alert.row->number);
  return Json({{"labels", labels},
               {"annotations", annotations},
               {"startsAt", FormatTime(alert.starts_ns)},
               {"endsAt", FormatTime(alert.is_resolved ? alert.ends_ns : expires_ns)}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

AlertFeed::AlertFeed(event_base* base, Courier* courier, const NotifyReceiver& receiver,
                     size_t max_alerts)
    : courier_(courier),
      receiver_(receiver),
      max_alerts_(max_alerts),
      send_(base, [this] { Send(); }),
      sweep_(base, [this] { Sweep(); }) {
  sweep_.RunEvery(std::max<Nanos>(receiver.resolve_after / 4, 100 * kNanosPerMilli));
}

AlertFeed::~AlertFeed() = default;

void AlertFeed::OnReport(const std::shared_ptr<const ReportRow>& row) {
  const Key key = row->tenant + '\n' + row->event + '\n' + row->bucket;
  const auto found = alerts_.find(key);
  if (row->is_clear) {
    if (found == alerts_.end() || found->second.alert.is_resolved) return;
    found->second.alert.is_resolved = true;
    found->second.alert.ends_ns = row->end_ns;
    Change(key, &found->second);
    return;
  }
  if (found == alerts_.end()) {
    if (alerts_.size() >= max_alerts_) {
      ++counters_.dropped;
      return;
    }
    Entry& entry = alerts_[key];
    entry.alert = {row, row->start_ns, 0, false};
    Change(key, &entry);
    return;
  }
  Entry& entry = found->second;
  entry.alert.row = row;
  if (entry.alert.is_resolved) {
    entry.alert.is_resolved = false;
    entry.alert.starts_ns = row->start_ns;
    Change(key, &entry);
  } else if (NotifyNow() - entry.sent_ns >= receiver_.resolve_after / kRenewalsPerLife) {
    Change(key, &entry);
  }
}

void AlertFeed::Change(const Key& key, Entry* entry) {
  ++entry->version;
  if (entry->is_waiting) return;
  entry->is_waiting = true;
  changed_.push_back(key);
  if (is_send_due_ || courier_->is_busy()) return;
  is_send_due_ = true;
  send_.RunAfter(receiver_.batch_window);
}

void AlertFeed::Send() {
  is_send_due_ = false;
  if (changed_.empty() || courier_->is_busy()) return;
  courier_->Send([this] { return NextBody(); }, [this](Courier::End end) { OnEnd(end); });
}

// Asked anew at each attempt: alerts are sent as they are then.
std::string AlertFeed::NextBody() {
  const Nanos expires_ns = NotifyNow() + receiver_.resolve_after;
  sent_.clear();
  std::string body;
  for (const Key& key : changed_) {
    if (sent_.size() >= receiver_.max_batch) break;
    const Entry& entry = alerts_.at(key);
    sent_.push_back({key, entry.version});
    body += (body.empty() ? '[' : ',') + AlertToJson(entry.alert, expires_ns);
  }
  return body + "]";
}

void AlertFeed::OnEnd(Courier::End end) {
  (end == Courier::End::kTaken ? counters_.delivered : counters_.refused) += sent_.size();
  for (const Sent& sent : sent_) {
    changed_.pop_front();
    Entry& entry = alerts_.at(sent.key);
    entry.sent_ns = NotifyNow();
    entry.is_waiting = false;
    if (entry.version != sent.version) {
      Change(sent.key, &entry);  // it changed under way
    } else if (entry.alert.is_resolved) {
      alerts_.erase(sent.key);
    }
  }
  sent_.clear();
  if (!changed_.empty() && !is_send_due_) send_.RunSoon();
}

// Forgets those that have ended by themselves at the receiver.
void AlertFeed::Sweep() {
  const Nanos now = NotifyNow();
  for (auto it = alerts_.begin(); it != alerts_.end();) {
    const bool has_ended =
        !it->second.is_waiting && now - it->second.sent_ns > receiver_.resolve_after;
    it = has_ended ? alerts_.erase(it) : std::next(it);
  }
}

}  // namespace trumpet
