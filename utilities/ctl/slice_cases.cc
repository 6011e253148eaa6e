// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_cases.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "controller/plan/slice/key_points.h"
#include "controller/plan/slice/paths.h"
#include "controller/plan/slice/schedule.h"
#include "controller/plan/slice/surrounding.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/source.h"
#include "lib/lang/slice/slice_language.h"
#include "utilities/ctl/network_file.h"
#include "utilities/ctl/slice_case_reader.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using Kind = DocumentNode::Kind;
using Json = nlohmann::ordered_json;
using slice::Network;

void AnswerKeyPoints(const Network& network, CaseReader* reader, Json* answer) {
  const std::vector<int> path = reader->Routers(network, "p");
  if (!reader->error().empty()) return;
  const Status status = slice::CheckSimplePath(network, path);
  if (!status.ok()) return reader->ComplainOf("p", status.message());
  const slice::KeyPoints points = slice::FindKeyPoints(network, path);
  (*answer)["kp"] = points.positions;
  (*answer)["proof"] = points.is_minimal ? "theorem-1" : "none";
}

std::vector<std::pair<std::string, std::string>> EdgeNames(
    const Network& network, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [a, b] : edges) names.emplace_back(network.NameOf(a), network.NameOf(b));
  return names;
}

void AnswerSurrounding(const Network& network, double seconds, CaseReader* reader, Json* answer) {
  const std::vector<int> region = reader->RouterSet(network, "R");
  const std::vector<int> egresses = reader->RouterSet(network, "E");
  if (!reader->error().empty()) return;
  const Status status = slice::CheckRegion(network, region);
  if (!status.ok()) return reader->ComplainOf("R", status.message());
  const auto optimal =
      slice::FindOptimalSurrounding(network, region, egresses, slice::DeadlineIn(seconds));
  (*answer)["set"] = network.NamesOf(optimal.routers);
  (*answer)["node"] = network.NamesOf(slice::NodeSurrounding(network, region));
  (*answer)["edge"] = EdgeNames(network, slice::EdgeSurrounding(network, region));
  (*answer)["proof"] = slice::NameOf(optimal.proof);
  if (!optimal.has_egress_inside) {
    (*answer)["warning"] = "no egress router is in the region, so every packet leaves it";
  }
}

void AnswerArrow(const Network& network, CaseReader* reader, Json* answer) {
  slice::PathEnds ends;
  if (reader->Find("E") != nullptr) ends.egresses = reader->RouterSet(network, "E");
  ends.ingresses = ends.egresses;
  const DocumentNode* steps = reader->Need("reg", Kind::kList, "a list of routers and arrows");
  std::vector<slice::RegionStep> region;
  for (size_t i = 0; steps != nullptr && i < steps->items.size(); ++i) {
    const DocumentNode& step = steps->items[i];
    slice::RegionStep& added = region.emplace_back();
    if (step.text != "->") added.router = reader->Router(network, step);
  }
  if (!reader->error().empty()) return;
  const auto paths = slice::ResolveRegion(network, region, ends);
  if (!paths) return reader->ComplainOf("reg", paths.message());
  Json& names = (*answer)["paths"] = Json::array();
  for (const slice::Path& path : *paths) names.push_back(network.NamesOf(path));
}

void AnswerSlots(CaseReader* reader, Json* answer) {
  const double during_s = reader->Number("during_s");
  const double path_ms = reader->Number("max_path_delay_ms");
  const double slice_ms = reader->Number("min_slot_ms");
  const double spacing_ms = reader->Number("spacing_ms");
  if (!reader->error().empty()) return;
  const auto times = slice::CountSlots(during_s, path_ms, slice_ms, spacing_ms);
  if (!times) {
    return reader->ComplainOf(
        std::max(path_ms, slice_ms) + spacing_ms > 0 ? "during_s" : "min_slot_ms", times.message());
  }
  (*answer)["slot_ms"] = times->slot_ms;
  (*answer)["slots"] = times->slots;
}

// The packing that a case wants to be repeated, if it names one.
std::optional<std::vector<slice::Slot>> GivenPack(const slice::ScheduleProblem& problem,
                                                  CaseReader* reader) {
  const DocumentNode* node = reader->Find("pack");
  if (node == nullptr) return std::nullopt;
  std::vector<slice::Slot> pack;
  std::vector<bool> is_packed(problem.costs.size());
  size_t packed = 0;
  for (const DocumentNode& slot : node->items) {
    int64_t cost = 0;
    pack.emplace_back();
    for (const DocumentNode& item : slot.items) {
      const auto query = static_cast<size_t>(reader->Whole(item));
      if (query >= problem.costs.size() || is_packed[query]) {
        reader->Complain(item, "a packing holds every query once");
        return std::nullopt;
      }
      is_packed[query] = true;
      ++packed;
      cost += problem.costs[query];
      pack.back().push_back(static_cast<int>(query));
    }
    if (cost > problem.budget) reader->Complain(slot, "this slot is above the budget");
  }
  if (packed < problem.costs.size()) reader->Complain(*node, "a packing holds every query once");
  return pack;
}

void AddConfineQueries(const slice::ScheduleProblem& problem, std::vector<slice::Slot>* slots) {
  for (slice::Slot& slot : *slots) {
    for (size_t i = 0; i < problem.confined; ++i) {
      slot.push_back(static_cast<int>(problem.costs.size() + i));
    }
  }
}

// CONFINE queries count among all, but only where MIRROR queries alone are within the limits are
// they what is too much.
slice::ScheduleProblem ReadProblem(CaseReader* reader) {
  slice::ScheduleProblem problem;
  problem.costs = reader->Wholes("m");
  problem.weights.assign(problem.costs.size(), 1.0);
  problem.budget = reader->Whole("B");
  const int64_t slots = reader->Whole("T");
  const auto confined = static_cast<size_t>(reader->Whole("z"));
  if (!reader->error().empty()) return problem;
  const auto complain = [reader](const char* field, const Status& status) {
    if (!status.ok()) reader->ComplainOf(field, status.message());
    return status.ok();
  };
  if (!complain("T", slice::CheckSlotCount(static_cast<double>(slots)))) return problem;
  problem.slots = static_cast<int>(slots);
  if (!complain("m", slice::CheckScheduleProblem(problem))) return problem;
  problem.confined = confined;
  complain("z", slice::CheckScheduleProblem(problem));
  return problem;
}

void AnswerSchedule(double seconds, CaseReader* reader, Json* answer) {
  const slice::ScheduleProblem problem = ReadProblem(reader);
  if (!reader->error().empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const auto half = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds / 2));
  const slice::Packing packing = slice::Pack(problem.costs, problem.budget, now + half);
  (*answer)["pack"] = packing.slots;
  (*answer)["least"] = packing.least;
  (*answer)["proof"] = slice::NameOf(packing.proof);
  if (static_cast<int>(packing.slots.size()) > problem.slots) {
    return reader->ComplainOf("T", "the queries " + slice::PackingProblem(packing, problem.slots) +
                                       ", the campaign has " + std::to_string(problem.slots));
  }
  auto pack = GivenPack(problem, reader);
  if (!reader->error().empty()) return;
  if (pack && static_cast<int>(pack->size()) > problem.slots) pack.reset();
  const auto deadline = std::chrono::steady_clock::now() + half;
  slice::Schedule schedule = pack ? slice::FillAroundPacking(problem, *pack, deadline)
                                  : slice::FillFreely(problem, packing.slots, deadline);
  AddConfineQueries(problem, &schedule.slots);
  (*answer)["sched"] = std::move(schedule.slots);
  (*answer)["fill"] = {{"obj", schedule.fill.objective},
                       {"bound", schedule.fill.bound},
                       {"proven", schedule.fill.is_proven ? 1 : 0}};
}

// `accept` is about the grammar alone, as in the reference set.
void AnswerParse(CaseReader* reader, Json* answer) {
  const std::string text = reader->Text("text");
  if (!reader->error().empty()) return;
  (*answer)["accept"] = CheckSliceGrammar(text, "text").ok() ? 1 : 0;
  const auto campaign = ParseSlices(text, "text");
  if (campaign) {
    (*answer)["print"] = PrintSlices(*campaign);
  } else {
    (*answer)["error"] = campaign.message();
  }
}

// "cases.jsonl:1:7: ..." of a text of one line, as the line it is in its file.
std::string AtLine(std::string message, const std::string& source_name, uint64_t number) {
  if (message.compare(0, source_name.size() + 3, source_name + ":1:") == 0) {
    message.replace(source_name.size() + 1, 1, std::to_string(number));
  }
  return message;
}

std::string Print(const Json& answer) {
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A file of this name in the directory, of either format; names hold no way out of it.
Result<Network> ReadMap(const std::string& directory, const std::string& name) {
  const bool is_plain = !name.empty() && name.size() <= 200 && name[0] != '.' &&
                        name.find('/') == name.npos && name.find('\0') == name.npos;
  for (const char* const ending : {".edges", ".gml"}) {
    const std::string path = directory + "/" + name + ending;
    if (is_plain && access(path.c_str(), F_OK) == 0) return ReadNetworkFile(path);
  }
  return Status::Error("there is no map " + slice::QuoteName(name) + " in " + directory);
}

}  // namespace

const SliceCaseSolver::Map& SliceCaseSolver::MapOf(const std::string& name) {
  const auto [at, is_new] = maps_.try_emplace(name);
  if (!is_new) return at->second;
  auto network = ReadMap(options_.topologies, name);
  if (network) at->second.network = std::move(*network);
  if (!network) at->second.error = network.message();
  return at->second;
}

std::string SliceCaseSolver::Answer(std::string_view line, uint64_t number, bool* is_case) {
  const event_lang::Source source{options_.source_name, line};
  const auto document = event_lang::ReadJson(source);
  *is_case = document.ok();
  if (!document) {
    return Print(
        {{"id", nullptr}, {"error", AtLine(document.message(), options_.source_name, number)}});
  }
  CaseReader reader(source, *document);
  Json answer;
  const DocumentNode* id = reader.Find("id");
  answer["id"] = id != nullptr && id->kind == Kind::kText ? Json(id->text) : Json(nullptr);
  const std::string kind = reader.Text("k");
  *is_case = reader.error().empty();
  if (kind == "kps" || kind == "sur" || kind == "arrow") {
    const std::string name = reader.Text("g");

    const Map none;
    const Map& map = reader.error().empty() ? MapOf(name) : none;
    if (!map.error.empty()) reader.ComplainOf("g", map.error);
    if (!reader.error().empty()) {
      *is_case = false;
    } else if (kind == "kps") {
      AnswerKeyPoints(map.network, &reader, &answer);
    } else if (kind == "sur") {
      AnswerSurrounding(map.network, options_.seconds, &reader, &answer);
    } else {
      AnswerArrow(map.network, &reader, &answer);
    }
  } else if (kind == "sched") {
    AnswerSchedule(options_.seconds, &reader, &answer);
  } else if (kind == "slots") {
    AnswerSlots(&reader, &answer);
  } else if (kind == "parse") {
    AnswerParse(&reader, &answer);
  } else if (*is_case) {
    reader.ComplainOf("k", slice::QuoteName(kind) +
                               " is no kind of case; kps, sur, arrow, "
                               "sched, slots and parse are");
    *is_case = false;
  }
  if (!reader.error().empty()) {
    answer["error"] = AtLine(reader.error(), options_.source_name, number);
  }
  return Print(answer);
}

namespace {

// Keeps at most one byte more than any case has, and passes over the rest.
bool ReadLine(std::istream& in, std::string* line) {
  std::streambuf* const bytes = in.rdbuf();
  line->clear();
  bool has_any = false;
  for (int byte = bytes->sbumpc(); byte != std::char_traits<char>::eof(); byte = bytes->sbumpc()) {
    has_any = true;
    if (byte == '\n') return true;
    if (line->size() <= event_lang::kMaxDocumentBytes) line->push_back(static_cast<char>(byte));
  }
  return has_any;
}

}  // namespace

uint64_t AnswerSliceCases(std::istream& in, std::ostream& out, const SliceCaseOptions& options) {
  SliceCaseSolver solver(options);
  uint64_t wrong = 0;
  std::string line;
  for (uint64_t number = 1; ReadLine(in, &line); ++number) {
    bool is_case = false;
    out << solver.Answer(line, number, &is_case) << "\n" << std::flush;
    if (!is_case) ++wrong;
  }
  return wrong;
}

}  // namespace trumpet
