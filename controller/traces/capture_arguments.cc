// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/capture_arguments.h"

#include <utility>

#include "controller/traces/trace_routes.h"
#include "lib/model/slice_spec.h"

namespace trumpet {
namespace {

Status TakeSwitch(const std::string& value, CaptureArguments* taken) {
  const auto [name, text] = SplitAtEquals(value);
  if (name.empty()) return Status::Error("--switch: '" + value + "' is not NAME=NUMBER");
  const auto number = ReadCount("--switch: " + name, text, 0, kMaxSwitchNumber);
  if (!number) return number.status();
  const Status added = taken->switches.Add(name, static_cast<uint16_t>(*number));
  return added.ok() ? added : Status::Error("--switch: " + added.message());
}

Status TakeTopology(const std::string& path, CaptureArguments* taken) {
  auto topology = ReadTopologyFile(path);
  if (!topology.ok()) return topology.status();
  taken->topology = std::move(*topology);
  return AddSwitches(*taken->topology, &taken->switches);
}

Status TakeHop(const std::string& value, CaptureArguments* taken) {
  const auto [name, path] = SplitAtEquals(value);
  if (name.empty()) return Status::Error("--hop: '" + value + "' is not NAME=CAPTURE");
  const Status added = taken->switches.AddNext(name);
  if (added.ok()) taken->captures.push_back({path, taken->switches.NumberOf(name)});
  return added;
}

}  // namespace

std::vector<std::string> CaptureArguments::paths() const {
  std::vector<std::string> paths;
  for (const PlacedCapture& capture : captures) paths.push_back(capture.path);
  return paths;
}

Result<CaptureArguments> ReadCaptureArguments(const Arguments& arguments) {
  using Take = Status (*)(const std::string&, CaptureArguments*);
  static constexpr std::pair<const char*, Take> kOrder[] = {
      {"--switch", TakeSwitch}, {"--topology", TakeTopology}, {"--hop", TakeHop}};
  CaptureArguments taken;
  for (const auto& [which, take] : kOrder) {
    for (const auto& [name, value] : arguments.options) {
      const Status status = name == which ? take(value, &taken) : Status::Ok();
      if (!status.ok()) return status;
    }
  }
  for (const std::string& path : arguments.files) taken.captures.push_back({path, std::nullopt});
  if (taken.captures.empty()) return Status::Error("no capture is given");
  return taken;
}

}  // namespace trumpet
