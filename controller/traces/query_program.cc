// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/query_program.h"

#include <map>
#include <ostream>
#include <utility>

#include "controller/analyzer/trace_packet.h"
#include "controller/store/trace_reader.h"
#include "controller/traces/arguments.h"
#include "controller/traces/trace_query.h"
#include "controller/traces/trace_text.h"
#include "lib/packet/pcapng_writer.h"

namespace trumpet {
namespace {

constexpr char kUsage[] =
    "usage: trumpet-analyzer query --store=DIRECTORY|clickhouse:URL,... [OPTION]...\n"
    "Prints the traces of a store as lines of JSON, by the time of their first copy; then, if "
    "there\n"
    "are more, a line that says how to go on.\n"
    "  --from=TIME --until=TIME   2026-11-21T12:00:00Z, or nanoseconds of Unix time\n"
    "  --src=PREFIX --dst=PREFIX  of the innermost IP header\n"
    "  --within=PREFIX            src or dst; any of several\n"
    "  --protocol=NAME|NUMBER --src-port=NUMBER --dst-port=NUMBER\n"
    "  --verdict=WORD             delivered, dropped, copies_lost, loop, not_known\n"
    "  --mark=WORD                connection, protocol, debug, probe; any of several\n"
    "  --through=SWITCH           which has a copy\n"
    "  --min-hops=COUNT           copies\n"
    "  --id=ID\n"
    "  --limit=COUNT              of traces (default: 100)\n"
    "  --after=CURSOR             behind the page that ended so\n"
    "  --pcapng=FILE              write the packets there instead: as they were first copied\n"
    "  -h, --help                 print this\n";

struct QueryOptions {
  std::string store;
  std::string pcapng;
  SwitchBook switches;
  TraceQuery query;
};

Result<QueryOptions> MakeOptions(const Arguments& arguments) {
  QueryOptions options;
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store") options.store = value;
    if (name == "--pcapng") options.pcapng = value;
  }
  if (!arguments.files.empty()) return Status::Error(arguments.files[0] + ": is no option");
  if (options.store.empty()) return Status::Error("--store=DIRECTORY is missing");
  const std::string folder = FolderOfTracePlace(options.store);
  if (!folder.empty()) {
    auto switches = LoadSwitchBook(folder);
    if (!switches.ok()) return switches.status();
    options.switches = std::move(*switches);
  }
  for (const auto& [name, value] : arguments.options) {
    if (name == "--store" || name == "--pcapng") continue;
    const Status set = SetTraceQuery(name.substr(2), value, options.switches, &options.query);
    if (!set.ok()) return Status::Error("--" + set.message());
  }
  return options;
}

// An interface for each switch that made a first copy.
Status WritePcapng(const std::vector<StoredTrace>& traces, const QueryOptions& options) {
  auto writer = PcapngWriter::Create(options.pcapng, "first copies of traces");
  if (!writer.ok()) return writer.status();
  std::map<std::pair<uint16_t, bool>, uint32_t> interfaces;
  const auto key = [](const StoredTrace& trace) {
    const uint16_t at = trace.hops.empty() ? trace.last_switch : trace.hops[0].switch_number;
    return std::make_pair(at, (trace.marks & kMarkIp) == 0);
  };
  for (const StoredTrace& trace : traces) interfaces[key(trace)];
  for (auto& [place, interface] : interfaces) {
    interface = writer->AddInterface(options.switches.NameOf(place.first),
                                     "switch " + std::to_string(place.first), place.second);
  }
  for (const StoredTrace& trace : traces) {
    writer->AddPacket(
        interfaces.at(key(trace)), trace.start, trace.packet,
        std::max<uint32_t>(trace.wire_bytes, static_cast<uint32_t>(trace.packet.size())));
  }
  return writer->Close();
}

Status Run(QueryOptions options, std::ostream* out) {
  const size_t limit = options.query.limit++;  // one more says whether there are more
  auto reader = OpenTraceReader(options.store);
  if (!reader.ok()) return reader.status();
  TraceReader::Missing missing;
  auto found = (*reader)->Find(options.query, {}, &missing);
  if (!found.ok()) return found.status();
  const bool has_more = found->size() > limit;
  if (has_more) found->resize(limit);
  if (options.pcapng.empty()) {
    for (const StoredTrace& trace : *found) *out << JsonLine(ToJson(trace, options.switches));
  } else {
    const Status written = WritePcapng(*found, options);
    if (!written.ok()) return written;
  }
  if (has_more) {
    *out << JsonLine({{"next", TraceCursor(found->back())}});
  }
  if (!missing.empty()) *out << JsonLine({{"missing", missing}});
  return Status::Ok();
}

}  // namespace

int RunQueryProgram(const std::vector<std::string>& words, std::ostream* out, std::ostream* err) {
  std::vector<std::string> names;
  for (const std::string_view word : TraceQueryWords()) names.push_back("--" + std::string(word));
  std::vector<KnownArgument> known = {{"--store"}, {"--pcapng"}};
  for (const std::string& name : names) known.push_back({name});
  const auto run = [out](const Arguments& arguments) {
    auto options = MakeOptions(arguments);
    return options.ok() ? Run(std::move(*options), out) : options.status();
  };
  return RunProgram(words, std::move(known), kUsage, run, out, err);
}

}  // namespace trumpet
