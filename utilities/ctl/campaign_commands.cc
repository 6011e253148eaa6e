// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl about campaigns of slices, which a controller runs.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ostream>

#include "controller/view/slice_tables.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/output.h"

namespace trumpet {
namespace {

constexpr char kSliceLanguage[] = "text/plain";

std::string SlicePath(const CtlRun& run) { return ApiPath("slices", run.argument(0)); }

// A campaign that is there, or one from a file, which then runs at once; null: it does not.
std::optional<ApiJson> StartRun(CtlRun* run, HttpClient* client) {
  CtlRun start{run->invocation, run->terminal, client};
  if (run->invocation.arguments.size() == 2) {
    const auto document = run->ReadDocument(run->argument(1));
    if (!document) return std::nullopt;
    return start.Ask(RequestWith("PUT", SlicePath(*run), *document, kSliceLanguage), &*document);
  }
  ApiRequest request;
  request.method = "POST";
  request.path = SlicePath(*run) + "/run";
  return start.Ask(request);
}

// Starts it when the news of it can be heard, so that none is missed, and waits for its end.
int RunAndWait(CtlRun* run) {
  HttpClient starter = run->client->Another();
  uint64_t number = 0;  // of the run that has begun
  CtlRun::Following following;
  following.query = {{"kind", "slice"}, {"slice", run->argument(0)}};
  following.deadline = WaitsUntil(run->invocation);
  following.late = "the run has not ended yet";
  following.on_open = [&] { return StartRun(run, &starter).has_value(); };
  following.on_event = [&](const StreamedEvent& event) {
    const ApiJson news = ApiJson::parse(event.data, nullptr, false);
    if (event.type != "slice" || !news.is_object()) return true;
    const ApiJson summary = news.value("run", ApiJson::object());
    const std::string what = news.value("what", "");
    if (what == "run-begun") number = summary.value("run", uint64_t{0});
    run->ShowProgress(what == "run-ended" ? ""
                                          : what + " " + std::to_string(news.value("slot", 0)));
    return what != "run-ended" || number == 0 || summary.value("run", uint64_t{0}) != number;
  };
  if (const int status = run->Follow(following); status != 0) return status;
  const auto results = run->Get(SlicePath(*run) + "/results");
  if (!results) return 1;
  run->Print(*results, SliceRunText);
  return results->value("state", "") == "done" ? 0 : 1;
}

// Gives packets to `out` as they come; the exit status.
int ReceivePackets(CtlRun* run, std::ostream* out) {
  uint64_t count = 0;
  ApiRequest request;
  request.path = SlicePath(*run) + "/packets";
  if (run->invocation.Has("run")) request.query = {{"run", run->invocation.Get("run")}};
  request.receive = [&](std::string_view bytes) {
    count += bytes.size();
    run->ShowProgress(std::to_string(count) + " bytes");
    return static_cast<bool>(out->write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
  };
  const Result<ApiAnswer> answer = run->client->Send(request);
  run->ShowProgress("");
  out->flush();
  if (!*out) return run->Fail("the packets cannot be written");
  if (answer && answer->is_success()) return 0;
  if (answer) return run->Fail(DescribeProblem(answer->status, answer->body, "", ""));
  if (count == 0) return run->Fail(answer.message());
  return run->Fail("the packets broke off after " + std::to_string(count) +
                   " bytes, the controller's log says why: " + answer.message());
}

// Those that say what a controller knows.
std::string OptionWithoutController(const CtlInvocation& invocation) {
  for (const auto& [option, value] : invocation.options) {
    if (option != "controller") return option;
  }
  return "";
}

}  // namespace

int PlanCtlSlices(CtlRun* run) {
  const std::string option = OptionWithoutController(run->invocation);
  if (!option.empty()) {
    return run->Misuse("--" + option + " is for plans without --controller, which has its own");
  }
  const auto document = run->ReadDocument(run->argument(0));
  if (!document) return 1;
  auto plan =
      run->Ask(RequestWith("POST", "/v1/slices/plan", *document, kSliceLanguage), &*document);
  if (!plan) return 1;
  NameSourceOfWarnings(document->name, &*plan);
  return run->Print(*plan, SlicePlanText);
}

int RunCtlSlices(CtlRun* run) {
  if (run->invocation.Has("wait")) return RunAndWait(run);
  const auto campaign = StartRun(run, run->client);
  if (!campaign) return 1;
  return run->Print(*campaign, [](const ApiJson&) { return std::string(); });
}

int SaveCtlPackets(CtlRun* run) {
  const std::string path = run->invocation.Get("write", "-");
  if (path == "-" && run->terminal.out_is_terminal) {
    return run->Fail("packets are not for terminals: -w FILE, or to another program");
  }
  return run->WriteTo(path, [run](std::ostream* out) { return ReceivePackets(run, out); });
}

int ShowCtlSlices(CtlRun* run) {
  const std::string path = SlicePath(*run);
  auto campaign = run->Get(path);
  if (!campaign) return 1;
  const bool has_run =
      !campaign->value("now", ApiJson()).is_null() || !campaign->value("last", ApiJson()).is_null();
  const auto results = has_run ? run->Get(path + "/results") : std::optional<ApiJson>(ApiJson());
  if (!results) return 1;
  if (run->invocation.output != OutputFormat::kTable) (*campaign)["results"] = *results;
  return run->Print(*campaign, [&](const ApiJson& json) {
    return SliceText(json) + (has_run ? SliceRunText(*results) : "");
  });
}

}  // namespace trumpet
