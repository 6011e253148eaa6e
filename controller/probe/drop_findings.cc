// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/probe/drop_findings.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace trumpet {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kFewer = 1e-4;  // chance below which a field loses fewer packets
constexpr double kBunched = 1e-4;
constexpr size_t kShown = 8;          // values
constexpr uint32_t kLeastPasses = 6;  // of the flow, that show that it has ended

std::string Join(const std::vector<std::string>& words, const char* last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string Of(uint64_t part, uint64_t all) {
  return std::to_string(part) + " of " + std::to_string(all);
}

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

// What is known of the flow's own packets in the order of time.
std::vector<bool> LossesInOrder(const DropEvidence& evidence) {
  std::vector<bool> losses;
  for (const DropOutcome& outcome : evidence.outcomes()) {
    const bool is_known = outcome.fate == ProbeFate::kPassed || outcome.fate == ProbeFate::kLost;
    if (outcome.kind == 0 && is_known) losses.push_back(outcome.fate == ProbeFate::kLost);
  }
  return losses;
}

size_t RunsOf(const std::vector<bool>& losses) {
  size_t runs = losses.empty() ? 0 : 1;
  for (size_t i = 1; i < losses.size(); ++i) runs += losses[i] != losses[i - 1] ? 1 : 0;
  return runs;
}

// All were lost until some time, and none since.
bool HasEnded(const std::vector<bool>& losses) {
  const auto passes = std::count(losses.begin(), losses.end(), false);
  return RunsOf(losses) == 2 && losses.front() && passes >= kLeastPasses;
}

class Conclusion {
 public:
  explicit Conclusion(const DropEvidence& evidence) : evidence_(evidence) {}

  DropFindings Run() {
    const DropTally& flow = evidence_.flow();
    found_.known = flow.known;
    found_.lost = flow.lost;
    found_.rate = RateOf(flow.lost, flow.known, kConfidence);
    found_.confidence = 1 - (flow.lost == 0 ? 0 : evidence_.ChanceOfCopies(flow));
    found_.persistence = "not_known";
    if (flow.looped > 0) {
      Say("loop", Of(flow.looped, flow.sent) + " packets went in a loop");
    } else if (flow.known * 2 < flow.sent || flow.known == 0) {
      Say("not_known", "what became of " + Of(flow.sent - flow.known, flow.sent) +
                           " packets is not known: there is no trace of them, or nobody knows "
                           "where they ought to go");
    } else if (!evidence_.IsReal(flow) || flow.lost == 0) {
      SayNothing();
    } else {
      Look();
    }
    return std::move(found_);
  }

 private:
  void Say(const char* verdict, std::string explanation) {
    found_.verdict = verdict;
    found_.explanation = std::move(explanation);
  }

  void SayNothing() {
    const bool has_gone = evidence_.suspicion().was_dropped;
    found_.persistence = has_gone ? "transient" : "none";
    std::string text = "none of " + std::to_string(found_.known) + " packets vanished";
    if (found_.lost != 0) {
      text = Of(found_.lost, found_.known) + " packets seem to be lost, as often as copies are";
    }
    text += "; if they do by chance, then less than " + Percent(found_.rate.high) + " of them";
    Say(has_gone ? "gone" : "nothing", text + (has_gone ? ": what the trace shows is over" : ""));
  }

  void Look() {
    const std::vector<bool> losses = LossesInOrder(evidence_);
    roles_ = evidence_.Roles();
    FindPlaces();
    const auto lost = static_cast<uint64_t>(found_.lost);
    if (HasEnded(losses)) {
      AddRoles();
      found_.persistence = "transient";
      return Say("gone", "the first " + std::to_string(lost) + " packets vanished" + Where() +
                             ", and none of the " + std::to_string(found_.known - lost) +
                             " since: it ended while it was looked for");
    }
    const bool is_partial = evidence_.flow().passes() || evidence_.IsByChance();
    if (is_partial) return LookAtSome(losses);
    AddRoles();
    found_.persistence = "persistent";
    LookAtAll();
  }

  // ---- Some vanish ----

  void LookAtSome(const std::vector<bool>& losses) {
    std::vector<std::string> fewer;
    for (const DropFieldRole& role : roles_) {
      DropFieldFinding field = FindingOf(role);
      const double chance =
          ChanceOfSoFew(role.tally.lost, role.tally.known, found_.lost, found_.known);
      if (role.tally.known != 0) field.role = chance < kFewer ? "fewer" : "no_matter";
      if (field.role == "fewer") {
        fewer.push_back(std::string("another ") + DropFieldName(role.field) + " (" +
                        Of(role.tally.lost, role.tally.known) + ")");
      }
      found_.fields.push_back(std::move(field));
    }
    const std::string text = Of(found_.lost, found_.known) + " packets (" +
                             Percent(static_cast<double>(found_.lost) / found_.known) +
                             "; between " + Percent(found_.rate.low) + " and " +
                             Percent(found_.rate.high) + ") vanish" + Where();
    const auto passed = found_.known - found_.lost;
    if (ChanceOfSoFewRuns(RunsOf(losses), found_.lost, passed) < kBunched) {
      found_.persistence = "transient";
      return Say("bursts", text + ", one behind the other: it comes and goes");
    }
    found_.persistence = "persistent";
    Say("random",
        text + (fewer.empty() ? ", by chance: no field is known to matter"
                              : ", by chance; fewer of those with " + Join(fewer, " and ")));
  }

  // ---- All vanish ----

  void LookAtAll() {
    std::vector<const DropFieldRole*> deciding;
    std::vector<const DropFieldRole*> scattered;
    size_t tried = 0;
    size_t hashed = 0;
    for (const DropFieldRole& role : roles_) {
      const bool is_known = role.role != DropRole::kNotTried && role.role != DropRole::kNotKnown;
      if (!is_known) continue;
      ++tried;
      const bool is_of_flow = IsHashed(role.field) || role.field == DropField::kProtocol;
      if (is_of_flow && role.role == DropRole::kOneValue) ++hashed;
      if (is_of_flow && role.role != DropRole::kOneValue) hashed += 100;
      if (role.role == DropRole::kScattered && IsHashed(role.field)) scattered.push_back(&role);
      if (role.role != DropRole::kNoMatter) deciding.push_back(&role);
    }
    if (tried == 0) {
      return Say("everything", "all " + std::to_string(found_.known) + " packets vanish" + Where() +
                                   "; there was nothing else to try");
    }
    if (deciding.empty()) return SayEverything();
    if (IsOfWay(scattered)) return SayWay(scattered);
    constexpr size_t kLeastOfFlow = 2;  // fields; one alone would be its value
    const bool is_flow = hashed >= kLeastOfFlow && hashed < 100 && deciding.size() == hashed;
    is_flow ? SayFlow() : SayPattern(deciding);
  }

  void SayEverything() {
    Say("everything", "all " + std::to_string(found_.known) + " packets vanish" + Where() +
                          ", and so does whatever was tried instead, with another " +
                          NamesOf(DropRole::kNoMatter) + ": nothing passes");
  }

  void SayFlow() {
    Say("flow", "all " + std::to_string(found_.known) + " packets vanish" + Where() +
                    "; with any other " + NamesOf(DropRole::kOneValue) +
                    " they pass: it is this flow alone");
  }

  void SayPattern(const std::vector<const DropFieldRole*>& deciding) {
    std::vector<std::string> what;
    DropTally others;
    for (const DropFieldRole* role : deciding) {
      what.push_back(std::string(DropFieldName(role->field)) + " " + LostValues(*role));
      others.Add(role->tally);
    }
    std::string text = "packets with " + Join(what, " and ") + " vanish" + Where() + " (" +
                       Of(found_.lost, found_.known) +
                       " of this flow); those with another value pass";
    const std::string rest = NamesOf(DropRole::kNoMatter);
    if (!rest.empty())
      text += "; " + rest + (CountOf(DropRole::kNoMatter) == 1 ? " does" : " do") + " not matter";
    Say("pattern", text);
  }

  // Values that vanish in no order do so for the way that packets with them take, if there is one
  // that no packet has passed; or if several fields are like this.
  bool IsOfWay(const std::vector<const DropFieldRole*>& scattered) const {
    if (scattered.empty()) return false;
    return scattered.size() > 1 || !Untaken().empty() || !IsPassed();
  }

  // Where nothing that passed went, of where packets ought to have gone.
  std::vector<std::string> Untaken() const {
    if (found_.places.empty()) return {};
    const DropPlace& place = found_.places.front();
    std::vector<std::string> names;
    for (const std::string& next : place.towards) {
      const auto& taken = place.passed_over;
      if (std::find(taken.begin(), taken.end(), next) == taken.end()) names.push_back(next);
    }
    return names;
  }

  // Did any that passed go through where the others end?
  bool IsPassed() const {
    if (found_.places.empty()) return false;
    const std::string& behind = found_.places.front().behind;
    for (const DropOutcome& outcome : evidence_.outcomes()) {
      if (outcome.fate != ProbeFate::kPassed) continue;
      if (std::find(outcome.path.begin(), outcome.path.end(), behind) != outcome.path.end()) {
        return true;
      }
    }
    return false;
  }

  void SayWay(const std::vector<const DropFieldRole*>& scattered) {
    size_t lost = 0;
    size_t all = 0;
    std::vector<std::string> names;
    for (const DropFieldRole* role : scattered) {
      lost += role->vanish.size();
      all += role->vanish.size() + role->pass.size();
      names.emplace_back(DropFieldName(role->field));
    }
    const RateRange share = RateOf(lost, all, kConfidence);
    std::string text = "with another " + Join(names, " or ") + " " + Of(lost, all) +
                       " flows vanish" + Where() + " as this one does, and the others pass";
    const std::vector<std::string> untaken = Untaken();
    const auto& over = found_.places.front().passed_over;
    if (!over.empty()) text += " over " + Join(over, " and ");
    text += ": one of several equal ways is bad";
    if (!untaken.empty()) text += ", that to " + Join(untaken, " or ");
    if (untaken.empty() && !IsPassed()) text += ", that through " + found_.places.front().behind;
    text += "; it has between " + Percent(share.low) + " and " + Percent(share.high) + " of flows";
    Say("path", text);
  }

  // ---- Words ----

  size_t CountOf(DropRole wanted) const {
    return static_cast<size_t>(std::count_if(
        roles_.begin(), roles_.end(), [&](const auto& role) { return role.role == wanted; }));
  }

  std::string NamesOf(DropRole wanted) const {
    std::vector<std::string> names;
    for (const DropFieldRole& role : roles_) {
      if (role.role == wanted) names.emplace_back(DropFieldName(role.field));
    }
    return Join(names, wanted == DropRole::kNoMatter ? " and " : " or ");
  }

  std::string Where() const {
    if (found_.places.empty() || found_.places.front().behind.empty()) return "";
    const DropPlace& place = found_.places.front();
    if (place.towards.empty()) return " behind " + place.behind;
    return " between " + place.behind + " and " + Join(place.towards, " or ");
  }

  std::string ValuesOf(const std::vector<size_t>& kinds, bool with_own, DropField field) const {
    std::vector<std::string> values;
    if (with_own) values.push_back(DropValue(evidence_.kinds().front().packet, field));
    for (const size_t kind : kinds) {
      values.push_back(DropValue(evidence_.kinds()[kind].packet, field));
    }
    const size_t more = values.size() - std::min(values.size(), kShown);
    values.resize(values.size() - more);
    return Join(values, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
  }

  // The shortest block of addresses that is known to vanish, or to hold all that does.
  std::string Block(const FieldValue& address, uint32_t bits) const {
    Prefix prefix;
    prefix.is_ipv6 = address.kind == ValueKind::kIpv6;
    prefix.length = static_cast<uint8_t>((prefix.is_ipv6 ? 128 : 32) - bits);
    prefix.address = address.value;
    prefix.address = FirstOf(prefix);
    return PrintPrefix(prefix);
  }

  std::string LostAddresses(const DropFieldRole& role) const {
    const ProbePacket& packet = evidence_.suspicion().packet;
    const FieldValue& address = role.field == DropField::kSrc ? packet.src : packet.dst;
    const DropEdge& edge = role.edges[static_cast<size_t>(DropSide::kUp)];
    std::string text = Block(address, edge.near);
    if (edge.far > edge.near + 1) text += " up to " + Block(address, edge.far - 1);
    return text;
  }

  std::string LostValues(const DropFieldRole& role) const {
    const DropField field = role.field;
    if (role.role == DropRole::kOneValue) {
      return DropValue(evidence_.suspicion().packet, field);
    }
    if (role.role != DropRole::kRange) return ValuesOf(role.vanish, true, field);
    if (field == DropField::kSrc || field == DropField::kDst) return LostAddresses(role);
    return LostNumbers(role);
  }

  std::string LostNumbers(const DropFieldRole& role) const {
    const auto own =
        static_cast<int64_t>(std::stoul(DropValue(evidence_.suspicion().packet, role.field)));
    const auto edge_text = [&](DropSide side, int64_t sign) -> std::string {
      const DropEdge& edge = role.edges[static_cast<size_t>(side)];
      if (edge.far == 0) return "";
      std::string text = std::to_string(own + sign * int64_t{edge.near});
      if (edge.far > edge.near + 1) {
        text += " (or up to " + std::to_string(own + sign * (int64_t{edge.far} - 1)) + ")";
      }
      return text;
    };
    const std::string low = edge_text(DropSide::kDown, -1);
    const std::string high = edge_text(DropSide::kUp, 1);
    if (high.empty()) return "of " + low + " and more";
    if (low.empty()) return "of " + high + " and less";
    return low == high ? low : low + " to " + high;
  }

  DropFieldFinding FindingOf(const DropFieldRole& role) const {
    DropFieldFinding field;
    field.field = role.field;
    field.known = role.tally.known;
    field.lost_packets = role.tally.lost;
    field.lost_values = role.vanish.size();
    field.passed_values = role.pass.size();
    field.role = role.role == DropRole::kNotTried    ? "not_tried"
                 : role.role == DropRole::kNotKnown  ? "not_known"
                 : role.role == DropRole::kNoMatter  ? "no_matter"
                 : role.role == DropRole::kScattered ? "scattered"
                                                     : "decides";
    return field;
  }

  void AddRoles() {
    for (const DropFieldRole& role : roles_) {
      DropFieldFinding field = FindingOf(role);
      if (!role.pass.empty()) {
        field.lost = LostValues(role);
        field.passed = ValuesOf(role.pass, false, role.field);
      }
      found_.fields.push_back(std::move(field));
    }
  }

  // Of packets that vanish, and not of those whose copies do.
  bool Counts(const DropOutcome& outcome) const {
    if (outcome.fate != ProbeFate::kLost) return false;
    return outcome.kind == 0 || evidence_.tally(outcome.kind).vanishes();
  }

  void FindPlaces() {
    std::map<std::pair<std::string, std::vector<std::string>>, DropPlace> places;
    for (const DropOutcome& outcome : evidence_.outcomes()) {
      if (!Counts(outcome)) continue;
      DropPlace& place = places[{outcome.behind, outcome.towards}];
      place.behind = outcome.behind;
      place.towards = outcome.towards;
      ++place.lost;
    }
    for (auto& [key, place] : places) {
      place.passed_over = PassedOver(place.behind);
      found_.places.push_back(std::move(place));
    }
    std::stable_sort(found_.places.begin(), found_.places.end(),
                     [](const auto& a, const auto& b) { return a.lost > b.lost; });
  }

  std::vector<std::string> PassedOver(const std::string& behind) const {
    std::set<std::string> names;
    for (const DropOutcome& outcome : evidence_.outcomes()) {
      if (outcome.fate != ProbeFate::kPassed) continue;
      const auto at = std::find(outcome.path.begin(), outcome.path.end(), behind);
      if (at != outcome.path.end() && at + 1 != outcome.path.end()) names.insert(*(at + 1));
    }
    return {names.begin(), names.end()};
  }

  const DropEvidence& evidence_;
  std::vector<DropFieldRole> roles_;
  DropFindings found_;
};

}  // namespace

DropFindings ConcludeDrops(const DropEvidence& evidence) { return Conclusion(evidence).Run(); }

}  // namespace trumpet
