// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// NotifyOptions: who is told of reports, and how; `notify:` in controller.yaml.

#ifndef TRUMPET_CONTROLLER_NOTIFY_NOTIFY_OPTIONS_H
#define TRUMPET_CONTROLLER_NOTIFY_NOTIFY_OPTIONS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/status.h"
#include "lib/base/units.h"

namespace trumpet {

enum class NotifyFormat : uint8_t {
  kTrumpet,       // every report, in order, in batches
  kAlertmanager,  // alerts that fire and are resolved, as Prometheus sends them
};

struct NotifyReceiver {
  std::string name;  // unique; letters, digits, '-', '_' and '.'
  std::string url;   // http or https; for kAlertmanager without "/api/v2/alerts"
  NotifyFormat format = NotifyFormat::kTrumpet;
  std::vector<std::string> events;  // names, `*` stands for anything; empty: all
  std::string tenant;               // only events of this tenant; empty: of all
  std::vector<std::pair<std::string, std::string>> headers;       // name, value
  std::vector<std::pair<std::string, std::string>> header_files;  // name, file with the value
  std::string ca_file;                                            // empty: what the system trusts
  std::string certificate_file;                                   // of ours, with key_file
  std::string key_file;

  Nanos batch_window = 200 * kNanosPerMilli;  // reports are collected for this long
  size_t max_batch = 500;                     // reports or alerts in one request
  Nanos timeout = 10 * kNanosPerSecond;       // of one request
  Nanos first_retry = 1 * kNanosPerSecond;
  Nanos longest_retry = 60 * kNanosPerSecond;
  Nanos give_up_after = 3600 * kNanosPerSecond;  // kTrumpet: reports are dead letters then
  Nanos resolve_after = 300 * kNanosPerSecond;   // kAlertmanager: of an alert that nobody renews
};

struct NotifyOptions {
  std::vector<NotifyReceiver> receivers;
  // For places in the stream and dead letters; empty: none are kept.
  std::string directory;
  size_t max_dead_letter_bytes = 16 << 20;  // of a receiver
  size_t max_in_flight = 8;                 // requests at once, of all receivers
  size_t max_alerts = 10000;                // of a receiver, that fire at once
};

// The first thing that is wrong with a receiver: "url: ...".
Status CheckReceiver(const NotifyReceiver& receiver);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_NOTIFY_NOTIFY_OPTIONS_H
