// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The commands of trumpetctl for probes.

#include <chrono>
#include <ostream>
#include <thread>

#include "controller/view/probe_tables.h"
#include "lib/lang/probe/probe_language.h"
#include "lib/model/trace_rule.h"
#include "utilities/ctl/ctl_run.h"

namespace trumpet {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);

// Part of an answer may be missing, and whoever reads it has to know.
void TellSilent(CtlRun* run, const ApiJson& probe) {
  for (const ApiJson& one : probe.value("silent", ApiJson::array())) {
    *run->terminal.err << "trumpetctl: without the traces of analyzer " << ApiText(one, "analyzer")
                       << ", which " << ApiText(one, "why") << "\n";
  }
}

int Tell(CtlRun* run, const ApiJson& probe) {
  if (run->invocation.output == OutputFormat::kTable) TellSilent(run, probe);
  return run->Print(probe, ProbeText);
}

// So that scripts see it, as they do with ping.
bool HasGoneWrong(const ApiJson& probe) {
  const std::string verdict = ApiText(probe, "verdict");
  return verdict != "delivered" && verdict != "not_known";
}

// Sends it, and tells in the end what became of it.
int Send(CtlRun* run, const std::string& at, const std::string& port, const std::string& line) {
  ApiJson body = {{"switch", at}, {"port", port}, {"packet", line}};
  if (run->invocation.Has("via")) body["via"] = run->invocation.Get("via");
  AddSending(run->invocation, &body);
  const CtlDocument document{"probe", body.dump(-1, ' ', true), true};
  auto probe = run->Ask(RequestWith("POST", "/v1/probes", document, "application/json"));
  if (!probe) return 1;
  if (run->invocation.Has("background")) return run->Print(*probe, ProbeText);
  const std::string path = ApiPath("probes", ApiText(*probe, "id"));
  // The controller ends it, whatever becomes of it.
  while (ApiText(*probe, "state") != "done") {
    std::this_thread::sleep_for(kLook);
    probe = run->Get(path);
    if (!probe) return 1;
  }
  const int status = Tell(run, *probe);
  return status == 0 && HasGoneWrong(*probe) ? 1 : status;
}

std::string FromHex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

// Where the packet came in; as the controller has it of probes (probe_findings.cc), copies may be
// in reverse where TTLs do not say.
const ApiJson& FirstHop(const ApiJson& trace, const ApiJson& path) {
  const std::string last = ApiText(trace, "last_switch");
  for (const ApiJson& hop : path) {
    if (ApiText(hop, "ttl") != ApiText(path.front(), "ttl")) return path.front();
  }
  const bool is_reversed =
      ApiText(path.front(), "switch") == last && ApiText(path.back(), "switch") != last;
  return is_reversed ? path.back() : path.front();
}

}  // namespace

int SendCtlProbe(CtlRun* run) {
  std::string line;
  for (size_t i = 2; i < run->invocation.arguments.size(); ++i) {
    line += (line.empty() ? "" : " ") + run->argument(i);
  }
  // What is wrong with it is said with its place in what was typed.
  const auto packet = ParseProbePacket(line, "packet");
  if (!packet) {
    *run->terminal.err << packet.message() << "\n";
    return 1;
  }
  return Send(run, run->argument(0), run->argument(1), line);
}

// Where its first copy was made, with the headers that it had there.
int ReplayCtlTrace(CtlRun* run) {
  ApiRequest request;
  request.path = ApiPath("traces", run->argument(0));
  request.query.emplace_back("packets", "whole");  // with the header of ICMP
  const auto trace = run->Ask(request);
  if (!trace) return 1;
  const ApiJson path = trace->value("path", ApiJson::array());
  const ApiJson frame = trace->value("frame", ApiJson::object());
  if (!path.is_array() || path.empty() || !frame.is_object() || ApiText(frame, "link") == "ip") {
    return run->Fail("trace " + run->argument(0) + " does not say how its packet came in");
  }
  const std::string bytes = FromHex(ApiText(frame, "hex"));
  const auto packet = ProbePacketLike(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                      trace->value("bytes", uint32_t{0}));
  if (!packet) {
    return run->Fail("the packet of trace " + run->argument(0) +
                     " is no UDP, TCP or ICMP over IP from one host to one other");
  }
  const ApiJson& first = FirstHop(*trace, path);
  const uint32_t port = TraceTagPort(first.value("tag", uint32_t{0}));
  return Send(run, ApiText(first, "switch"), std::to_string(port), PrintProbePacket(*packet));
}

int ShowCtlProbe(CtlRun* run) {
  const auto probe = run->Get(ApiPath("probes", run->argument(0)));
  return probe ? Tell(run, *probe) : 1;
}

}  // namespace trumpet
