// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the import of SONiC's config_db: no crash, and what was read prints, reads back as the
// same, and can be told to a switch.

#include <cstdint>
#include <string>

#include "controller/plan/trace/sonic_export.h"
#include "controller/plan/trace/sonic_import.h"
#include "controller/plan/trace/trace_flows.h"
#include "lib/base/fuzz_require.h"
#include "lib/lang/trace/trace_language.h"

using trumpet::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto import = trumpet::ImportSonic(text, "fuzz", {{"Ethernet0", 1}, {"Ethernet4", 2}});
  if (!import.ok()) {
    Require(import.message().rfind("fuzz:", 0) == 0, "error without a place", import.message());
    return 0;
  }
  (void)trumpet::SonicSessionTable(import->sessions);
  const std::string printed = trumpet::PrintTraceRules(import->rules);
  const auto again = trumpet::ParseTraceRulesYaml(printed, "printed");
  Require(again.ok() && *again == import->rules, "rules do not read back", printed);
  Require(trumpet::CompileTraceRules(*again, trumpet::TraceSwitch()).ok(), "no flows", printed);
  (void)trumpet::ExportSonic(*again, {"10.1.0.32", "10.0.0.7"}).ok();
  return 0;
}
