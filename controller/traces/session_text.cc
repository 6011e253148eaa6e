// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/traces/session_text.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "controller/traces/session_verdict.h"
#include "controller/traces/trace_text.h"
#include "lib/base/text_table.h"

namespace trumpet {
namespace {

using Json = nlohmann::ordered_json;

// So that an answer has room for those of some dozens of sessions.
constexpr size_t kMaxTold = 40;         // events, the last ones
constexpr size_t kMaxSecondsTold = 20;  // with the most UPDATEs

std::string Count(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What is said of one session, in words.
class Story {
 public:
  Story(const BgpPeers& peers, const BgpSession& session, const SessionState& state, Nanos now)
      : peers_(peers),
        session_(session),
        state_(state),
        connection_(*state.connection),
        now_(now) {}

  std::string Address(int side) const {
    return AddressText(peers_.addresses[static_cast<size_t>(side)], peers_.ip_family);
  }
  // As its last OPEN that could be read said.
  const BgpOpen* Open(int side) const {
    const BgpOpen* found = nullptr;
    for (const auto& [ports, connection] : session_.connections()) {
      const auto& open = connection.side(side).open;
      if (open) found = &*open;
    }
    return found;
  }
  std::string Name(int side) const {
    const BgpOpen* const open = Open(side);
    return Address(side) + (open == nullptr ? "" : " (AS " + std::to_string(open->as) + ")");
  }
  std::string Text() const {
    std::string text = Name(0) + " and " + Name(1) + ": " + Verdict();
    const uint64_t not_read = session_.sums(0).not_read + session_.sums(1).not_read;
    if (not_read > 0) text += "; " + Count(not_read, "message") + " could not be read";
    for (const int side : {0, 1}) {
      const uint64_t lost = session_.sums(side).lost;
      if (lost > 0) text += "; " + Count(lost, "packet") + " of " + Address(side) + " were lost";
    }
    return text;
  }

 private:
  std::string Verdict() const {
    switch (state_.verdict) {
      case SessionVerdict::kFlapping:
        return "flapping " + std::to_string(session_.outcomes().ended) + " times, and " +
               (state_.is_up ? Up() : Down());
      case SessionVerdict::kHoldTimer:
      case SessionVerdict::kClosed:
        return Down();
      case SessionVerdict::kSilent:
        return Up() + ", but " + Address(state_.side) + " has said nothing for " +
               SecondsText(connection_.Silence(state_.side, now_)) +
               ", longer than the hold time of " +
               std::to_string(connection_.hold_seconds().value_or(0)) + " s";
      case SessionVerdict::kRefused:
        return Refused();
      case SessionVerdict::kOneWay:
        return "one way: only packets of " + Address(state_.side) + " were seen, " +
               std::to_string(session_.sums(state_.side).packets);
      case SessionVerdict::kNotRead:
        return "not read: no message of " + Address(state_.side) +
               " could be read, for copies are cut short or missing";
      case SessionVerdict::kOpening:
        return "opening: " + Count(session_.outcomes().connections, "connection") +
               ", and none is established yet";
      case SessionVerdict::kEstablished:
        return Up() + (session_.outcomes().ended > 0 ? ", after it had ended once" : "");
    }
    return "";
  }

  std::string Up() const {
    const std::string since = FormatTime(connection_.established());
    return connection_.began_before() ? "established since before " + since
                                      : "established since " + since;
  }
  std::string Down() const {
    std::string text = "down since " + FormatTime(connection_.close_time()) + ", " + End();
    if (state_.attempts == 0) return text;
    const auto& last = session_.connections().back().second;
    text += "; since then " + Count(state_.attempts, "connection") + " came to nothing";
    if (last.close() == BgpClose::kNotification) {
      text += ", the last one by " + BgpNotificationText(last.notification()) + " of " +
              Address(last.closer());
    }
    return text;
  }
  // Who closed it, and how.
  std::string End() const {
    const int closer = connection_.closer();
    const int other = 1 - closer;
    switch (connection_.close()) {
      case BgpClose::kNotification:
        if (state_.verdict != SessionVerdict::kHoldTimer &&
            connection_.notification().code != kBgpHoldTimerExpired) {
          return "closed by " + Address(closer) + ": " +
                 BgpNotificationText(connection_.notification());
        }
        return "closed by the hold timer of " + Address(closer) + ": the last message of " +
               Address(other) + " was " +
               SecondsText(connection_.Silence(other, connection_.close_time())) + " old";
      case BgpClose::kFin:
        return "closed by " + Address(closer) +
               " without a NOTIFICATION (FIN), as when it has ended";
      case BgpClose::kReset:
        return "reset by " + Address(closer) + " (RST)";
      case BgpClose::kNone:
        break;
    }
    return "not closed";
  }
  std::string Refused() const {
    const bool is_said = connection_.close() == BgpClose::kNotification;
    const bool has_spoken =
        connection_.side(0).sums.carried_bytes + connection_.side(1).sums.carried_bytes > 0;
    std::string text = "refused by " + Address(connection_.closer());
    if (is_said) {
      text += ": " + BgpNotificationText(connection_.notification());
    } else if (connection_.close() == BgpClose::kReset && !has_spoken) {
      text += ": nobody listens at port " + std::to_string(kBgpPort) + " (RST)";
    } else {
      text += " without a NOTIFICATION (";
      text += connection_.close() == BgpClose::kReset ? "RST)" : "FIN)";
    }
    return text + ", " + Count(session_.outcomes().connections, "connection") + " in all";
  }

  const BgpPeers& peers_;
  const BgpSession& session_;
  const SessionState& state_;
  const BgpConnection& connection_;
  const Nanos now_;
};

Json LostJson(const std::map<uint16_t, uint64_t>& lost, const SwitchBook& switches) {
  Json json = Json::object();
  for (const auto& [number, count] : lost) json[switches.NameOf(number)] = count;
  return json;
}

Json SideJson(const Story& story, const BgpSession& session, int side, const SwitchBook& switches) {
  const BgpSideSums sums = session.sums(side);
  Json json = {{"peer", story.Address(side)}};
  const BgpOpen* const open = story.Open(side);
  if (open != nullptr) {
    json["as"] = open->as;
    json["hold_seconds"] = open->hold_seconds;
  }
  json["packets"] = sums.packets;
  json["messages"] = sums.messages;
  json["keepalives"] = sums.keepalives;
  json["updates"] = sums.updates;
  json["announced"] = sums.announced;
  json["withdrawn"] = sums.withdrawn;
  if (sums.refreshes > 0) json["route_refreshes"] = sums.refreshes;
  json["longest_gap_ms"] = sums.longest_gap / kNanosPerMilli;
  json["not_read"] = sums.not_read;
  json["not_read_bytes"] = sums.not_read_bytes;
  if (sums.malformed > 0) json["malformed"] = sums.malformed;
  if (sums.lost > 0) json["lost_behind"] = LostJson(session.lost(side), switches);
  return json;
}

Json SecondsJson(const std::map<int64_t, BgpSecond>& seconds) {
  std::vector<std::pair<int64_t, BgpSecond>> busiest(seconds.begin(), seconds.end());
  std::stable_sort(busiest.begin(), busiest.end(), [](const auto& a, const auto& b) {
    return a.second.updates > b.second.updates;
  });
  if (busiest.size() > kMaxSecondsTold) busiest.resize(kMaxSecondsTold);
  std::sort(busiest.begin(), busiest.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  Json list = Json::array();
  for (const auto& [time, second] : busiest) {
    list.push_back({{"time_ns", time * kNanosPerSecond},
                    {"updates", second.updates},
                    {"announced", second.announced},
                    {"withdrawn", second.withdrawn}});
  }
  return list;
}

// Of all connections that are kept, by time.
Json TimelineJson(const Story& story, const BgpSession& session, uint64_t* left_out) {
  std::vector<const BgpEvent*> events;
  for (const auto& [ports, connection] : session.connections()) {
    for (const BgpEvent& event : connection.events()) events.push_back(&event);
    *left_out += connection.events_left_out();
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const BgpEvent* a, const BgpEvent* b) { return a->time < b->time; });
  const size_t earlier = events.size() - std::min(events.size(), kMaxTold);
  *left_out += earlier;
  Json list = Json::array();
  for (size_t i = earlier; i < events.size(); ++i) {
    Json one = {{"time_ns", events[i]->time}};
    if (events[i]->side >= 0) one["peer"] = story.Address(events[i]->side);
    one["what"] = events[i]->what;
    list.push_back(std::move(one));
  }
  return list;
}

Json SessionJson(const BgpPeers& peers, const BgpSession& session, const SessionState& state,
                 Nanos now, const SwitchBook& switches) {
  const Story story(peers, session, state, now);
  const BgpOutcomes outcomes = session.outcomes();
  Json json = {{"verdict", kSessionVerdicts[static_cast<size_t>(state.verdict)]},
               {"protocol", "bgp"},
               {"peers", {story.Address(0), story.Address(1)}},
               {"is_up", state.is_up},
               {"explanation", story.Text()},
               {"first_ns", session.first()},
               {"last_ns", session.last()},
               {"connections", outcomes.connections},
               {"established", outcomes.established},
               {"ended", outcomes.ended},
               {"collided", outcomes.collided}};
  if (state.connection->hold_seconds()) json["hold_seconds"] = *state.connection->hold_seconds();
  const BgpConnection& connection = *state.connection;
  if (connection.close() != BgpClose::kNone) {
    json["closed_by"] = story.Address(connection.closer());
    json["closed_ns"] = connection.close_time();
  }
  if (connection.close() == BgpClose::kNotification) {
    const BgpNotification& notification = connection.notification();
    json["notification"] = {{"code", notification.code},
                            {"subcode", notification.subcode},
                            {"text", BgpNotificationText(notification)}};
  }
  json["sides"] = {SideJson(story, session, 0, switches), SideJson(story, session, 1, switches)};
  json["seconds_with_updates"] = session.seconds().size();
  json["busiest_seconds"] = SecondsJson(session.seconds());
  uint64_t left_out = 0;
  json["timeline"] = TimelineJson(story, session, &left_out);
  if (left_out > 0) json["timeline_left_out"] = left_out;
  return json;
}

}  // namespace

Json SessionFindings(const BgpSessions& sessions, const SwitchBook& switches) {
  std::vector<std::pair<SessionVerdict, Json>> found;
  for (const auto& [peers, session] : sessions.sessions()) {
    const SessionState state = JudgeSession(session, sessions.last());
    found.emplace_back(state.verdict,
                       SessionJson(peers, session, state, sessions.last(), switches));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Json findings = Json::array();
  for (auto& [verdict, json] : found) findings.push_back(std::move(json));
  if (sessions.left_out() > 0) {
    findings.push_back({{"verdict", "left_out"},
                        {"explanation", Count(sessions.left_out(), "packet") +
                                            " of more sessions than are kept, " +
                                            std::to_string(BgpSessions::kMaxSessions)}});
  }
  return findings;
}

}  // namespace trumpet
