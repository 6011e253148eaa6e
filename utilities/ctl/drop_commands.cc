// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for searches for the cause of drops.

#include <chrono>
#include <ostream>
#include <thread>

#include "controller/view/drop_tables.h"
#include "lib/lang/probe/probe_language.h"
#include "utilities/ctl/ctl_run.h"

namespace trumpet {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);
constexpr char kCollection[] = "apps/drops/probes";

int Tell(CtlRun* run, const ApiJson& search) {
  if (run->invocation.output == OutputFormat::kTable) {
    for (const ApiJson& one : search.value("silent", ApiJson::array())) {
      *run->terminal.err << "trumpetctl: without the traces of analyzer "
                         << ApiText(one, "analyzer") << ", which " << ApiText(one, "why") << "\n";
    }
  }
  return run->Print(search, DropSearchText);
}

// The flow that is meant; none, and told, if it is not said well.
std::optional<ApiJson> ReadFlow(CtlRun* run) {
  const auto& words = run->invocation.arguments;
  ApiJson body = ApiJson::object();
  if (run->invocation.Has("trace")) {
    body["trace"] = run->invocation.Get("trace");
    if (words.empty()) return body;
  }
  constexpr size_t kLeastWords = 3;
  if (words.size() < kLeastWords) {
    run->Fail("which packets? SWITCH PORT FIELD=VALUE..., or --trace=ID");
    return std::nullopt;
  }
  std::string line;
  for (size_t i = 2; i < words.size(); ++i) line += (line.empty() ? "" : " ") + words[i];
  // What is wrong with it is said with its place in what was typed.
  const auto packet = ParseProbePacket(line, "packet");
  if (!packet) {
    *run->terminal.err << packet.message() << "\n";
    return std::nullopt;
  }
  body["switch"] = words[0];
  body["port"] = words[1];
  body["packet"] = line;
  return body;
}

bool IsClean(const ApiJson& search) {
  const std::string verdict = ApiText(search, "verdict");
  return verdict == "nothing" || verdict == "gone";
}

}  // namespace

int SearchCtlDrops(CtlRun* run) {
  auto body = ReadFlow(run);
  if (!body) return 1;
  AddSending(run->invocation, &*body);
  if (run->invocation.Has("src-within")) (*body)["src_within"] = run->invocation.Get("src-within");
  if (run->invocation.Has("dst-within")) (*body)["dst_within"] = run->invocation.Get("dst-within");
  const CtlDocument document{"search", body->dump(-1, ' ', true), true};
  auto search =
      run->Ask(RequestWith("POST", "/v1/apps/drops/probes", document, "application/json"));
  if (!search) return 1;
  if (run->invocation.Has("background")) return run->Print(*search, DropSearchText);
  const std::string path = ApiPath(kCollection, ApiText(*search, "id"));
  // The controller ends it, whatever becomes of it.
  while (ApiText(*search, "state") == "running") {
    std::this_thread::sleep_for(kLook);
    search = run->Get(path);
    if (!search) return 1;
  }
  const int status = Tell(run, *search);
  return status == 0 && !IsClean(*search) ? 1 : status;
}

int ShowCtlDropSearch(CtlRun* run) {
  const auto search = run->Get(ApiPath(kCollection, run->argument(0)));
  return search ? Tell(run, *search) : 1;
}

}  // namespace trumpet
