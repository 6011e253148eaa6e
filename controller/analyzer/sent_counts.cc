// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/sent_counts.h"

#include <algorithm>

namespace trumpet {
namespace {

constexpr size_t kMostTold = 64;  // that wait
constexpr Nanos kLagStep = 500 * kNanosPerMilli;

}  // namespace

// Nothing is known of what came before that time.
void SentCounts::BeginAnew(Switch* from, Nanos time) {
  waiting_ -= from->told.size();
  from->told.clear();
  from->readings.clear();
  from->since = time;
  from->came = from->first_step = from->last_step = 0;
}

void SentCounts::Note(Switch* from, Nanos time) {
  const int64_t step = time / kStep;
  if (from->last_step == 0) from->first_step = from->last_step = step;
  // Copies that overtook each other count where the latest was.
  const int64_t gap = std::min<int64_t>(step - from->last_step, kSteps);
  for (int64_t i = 1; i <= gap; ++i) {
    from->steps[static_cast<size_t>(step - gap + i) % kSteps] = from->came;
  }
  if (gap > 0) from->last_step = step;
  from->steps[static_cast<size_t>(from->last_step) % kSteps] = ++from->came;
}

// At the end of the step that the time lies in, or at its beginning.  False: that is forgotten.
bool SentCounts::CameBy(const Switch& from, Nanos time, bool at_end, int64_t* came) {
  const int64_t step = time / kStep - (at_end ? 0 : 1);
  if (from.last_step == 0 || step >= from.last_step) {
    *came = from.came;
    return true;
  }
  if (step < from.last_step - static_cast<int64_t>(kSteps) + 1) return false;
  *came = step < from.first_step ? 0 : from.steps[static_cast<size_t>(step) % kSteps];
  return true;
}

void SentCounts::Tell(uint16_t switch_number, uint64_t sent, Nanos asked_at, Nanos told_at) {
  if (switch_number > kMaxSwitchNumber) return;
  std::unique_ptr<Switch>& to = switches_[switch_number];
  if (to == nullptr) {
    to = std::make_unique<Switch>();
    to->since = told_at;
  }
  if (sent < to->latest_sent) {
    to->readings.clear();
    waiting_ -= to->told.size();
    to->told.clear();
  }
  to->latest_sent = sent;
  to->told.push_back({sent, asked_at, told_at});
  ++waiting_;
  if (to->told.size() <= kMostTold) return;
  to->told.pop_front();
  --waiting_;
}

bool SentCounts::SettleAll(Nanos now) {
  bool is_news = false;
  for (const auto& one : switches_) {
    while (one != nullptr && !one->told.empty() && one->told.front().told_at + kMargin <= now) {
      Settle(one.get(), one->told.front());
      one->told.pop_front();
      --waiting_;
      is_news = true;
    }
  }
  return is_news;
}

void SentCounts::Settle(Switch* from, const Told& told) {
  Reading reading;
  reading.low_time = told.told_at + kMargin;
  reading.high_time = told.asked_at - from->lag;
  const bool is_there = CameBy(*from, reading.low_time, true, &reading.came_by_low) &&
                        CameBy(*from, reading.high_time, false, &reading.came_by_high);
  if (!is_there) return;
  const auto sent = static_cast<int64_t>(told.sent);
  reading.low = reading.own_low = sent - reading.came_by_low;
  reading.high = sent - reading.came_by_high;
  if (reading.high_time < from->since) return;
  const auto before =
      std::partition_point(from->readings.begin(), from->readings.end(),
                           [&](const Reading& one) { return one.low_time <= reading.high_time; });
  if (before != from->readings.begin() && reading.high < std::prev(before)->low) {
    from->lag = std::min(from->lag + kLagStep, kMaxLag);
    from->readings.clear();
    return;
  }
  if (!from->readings.empty()) reading.low = std::max(reading.low, from->readings.back().low);
  from->readings.push_back(reading);
  if (from->readings.size() > kReadings) from->readings.pop_front();
}

bool SentCounts::IsSettled(uint16_t switch_number, Nanos until) const {
  if (!IsTold(switch_number)) return false;
  const auto& readings = switches_[switch_number]->readings;
  const auto is_exact = [](const Reading& one) { return one.came_by_low == one.came_by_high; };
  for (auto one = readings.rbegin(); one != readings.rend() && one->high_time >= until; ++one) {
    if (one->high_time >= until + kSettling || is_exact(*one)) return true;
  }
  return false;
}

uint64_t SentCounts::lost(uint16_t switch_number) const {
  if (!IsTold(switch_number) || switches_[switch_number]->readings.empty()) return 0;
  const auto& readings = switches_[switch_number]->readings;
  return static_cast<uint64_t>(std::max<int64_t>(readings.back().low - readings.front().high, 0));
}

// From one reading to the other, and with what all that lie before and behind say.
void SentCounts::Over(const Switch& from, size_t before, size_t behind, Around* around) {
  const auto& readings = from.readings;
  int64_t high = readings[behind].high;
  for (size_t i = behind + 1; i < readings.size(); ++i) high = std::min(high, readings[i].high);
  const int64_t most = std::max<int64_t>(high - readings[before].low, 0);
  const int64_t came =
      std::max<int64_t>(readings[behind].came_by_high - readings[before].came_by_low, 0);
  if (most == 0) around->is_none = true;
  const int64_t sent = came + most;
  if (sent > 0)
    around->most = std::min(around->most, static_cast<double>(most) / static_cast<double>(sent));
}

SentCounts::Around SentCounts::Between(uint16_t switch_number, Nanos from, Nanos until) const {
  Around around;
  if (!IsTold(switch_number)) return around;
  const Switch& asked = *switches_[switch_number];
  const auto& readings = asked.readings;
  const auto ends_before = [from](const Reading& one) { return one.low_time <= from; };
  const auto begins_before = [until](const Reading& one) { return one.high_time < until; };
  const auto first_late = std::partition_point(readings.begin(), readings.end(), ends_before);
  const auto first_behind = std::partition_point(readings.begin(), readings.end(), begins_before);
  if (first_late == readings.begin() || first_behind == readings.end()) return around;
  around.is_known = true;
  const auto last_before = static_cast<size_t>(first_late - readings.begin()) - 1;
  const auto behind = static_cast<size_t>(first_behind - readings.begin());
  for (size_t span = 1; span <= kReadings; span *= 8) {
    Over(asked, last_before >= span - 1 ? last_before - (span - 1) : 0, behind, &around);
  }
  // What cannot be but lost: of the narrowest time that surely has both.
  const Reading& begin = readings[last_before];
  const Reading& end = readings[behind];
  const int64_t least = end.own_low - begin.high;
  const int64_t came = std::max<int64_t>(end.came_by_low - begin.came_by_high, 0);
  if (least > 0) {
    around.least = static_cast<double>(least) / static_cast<double>(least + came);
    around.most = std::max(around.most, around.least);
    around.is_none = false;
  }
  return around;
}

}  // namespace trumpet
