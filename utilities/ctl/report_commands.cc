// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl about reports, of the past and of captures.

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "lib/base/system_error.h"
#include "utilities/ctl/ctl_run.h"
#include "utilities/ctl/output.h"

namespace trumpet {

int ListCtlReports(CtlRun* run) {
  ApiRequest request;
  request.path = "/v1/reports";
  request.query = {{"order", "desc"}};
  for (const char* name : {"event", "bucket", "limit"}) {
    if (run->invocation.Has(name)) request.query.emplace_back(name, run->invocation.Get(name));
  }
  for (const char* name : {"from", "until"}) {
    if (!run->invocation.Has(name)) continue;
    const Result<std::string> time = ParseCtlTime(run->invocation.Get(name));
    if (!time) return run->Fail(std::string("--") + name + ": " + time.message());
    request.query.emplace_back(name, *time);
  }
  const auto answer = run->Ask(request);
  if (!answer) return 1;
  return run->Print(answer->value("reports", ApiJson::array()), ReportTable);
}

int SimulateCtlEvents(CtlRun* run) {
  const auto document = run->ReadDocument(run->argument(0));
  if (!document) return 1;
  const std::string& capture = run->argument(1);
  struct stat info {};
  if (access(capture.c_str(), R_OK) != 0 || stat(capture.c_str(), &info) != 0) {
    return run->Fail(SystemError("cannot read " + capture).message());
  }
  if (!S_ISREG(info.st_mode))
    return run->Fail("cannot read " + capture + ": it is no regular file");
  ApiRequest request;
  request.method = "POST";
  request.path = "/v1/simulate";
  request.form = {{"events", document->text, ""}, {"capture", "", capture}};
  request.progress = [run](uint64_t sent, uint64_t total) {
    run->ShowProgress(sent < total ? "sending: " + std::to_string(100 * sent / total) + "%"
                                   : "running");
  };
  const auto answer = run->Ask(request, &*document);
  run->ShowProgress("");
  if (!answer) return 1;
  return run->Print(answer->value("reports", ApiJson::array()), ReportTable);
}

}  // namespace trumpet
