// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/ovsdb_event_store.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

// When the database was changed by others between our look and our transaction.
constexpr int kMaxAttempts = 5;
constexpr Nanos kRetryAfter = 20 * kNanosPerMilli;
// When the database refused.
constexpr Nanos kRetryRefusedAfter = kNanosPerSecond;
// A server that was away hears of the end of our old connection, which had the lock, about when it
// hears of the new one.
constexpr Nanos kWaitForLock = kNanosPerSecond;
// Of one transaction.
constexpr size_t kMaxIdsAtOnce = 512;

bool IsSame(const EventRecord& a, const EventRecord& b) {
  return a.id == b.id && a.name == b.name && a.tenant == b.tenant && a.definition == b.definition &&
         a.is_enabled == b.is_enabled && a.created_ns == b.created_ns &&
         a.changed_ns == b.changed_ns && a.changed_by == b.changed_by;
}

// A wait that does not hold, or a row of a name that has come meanwhile.
bool IsRaced(const OvsdbOutcome& outcome) {
  return outcome.error == "timed out" || outcome.error == "constraint violation";
}

Json SetNextId(const std::string& table, int64_t next_id) {
  return {{"op", "update"},
          {"table", kGlobalTable},
          {"where", Json::array()},
          {"row", {{IdCounterOf(table), next_id}}}};
}

}  // namespace

OvsdbEventStore::OvsdbEventStore(event_base* base, OvsdbEventStoreOptions options)
    : base_(base),
      options_(std::move(options)),
      later_event_(base, [this] { RunLater(); }),
      work_event_(base, [this] { Work(); }),
      lock_event_(base, [this] {
        lock_wait_ = LockWait::kLong;
        UpdateState();
      }) {
  OvsdbClientOptions& client = options_.client;
  client.database = kTrumpetDatabase;
  client.tables = TrumpetColumns(options_.table);
  client.lock = options_.lock;
  client.needs_leader = true;
}

OvsdbEventStore::~OvsdbEventStore() = default;

void OvsdbEventStore::Start(EventStoreListener* listener) {
  listener_ = listener;
  OvsdbListener* const self = this;
  client_ = std::make_unique<OvsdbClient>(base_, options_.client, self);
}

// Of a change that was under way nobody will hear whether it was made.
void OvsdbEventStore::Stop() {
  client_.reset();
  lock_event_.Cancel();
  lock_wait_ = LockWait::kNone;
  is_busy_ = is_writing_ = false;
  state_ = StoreState::kAway;
  state_text_ = "this controller has let the database go";
  RefuseWaiting();
}

EventStoreCounters OvsdbEventStore::counters() const {
  EventStoreCounters counters;
  if (client_ == nullptr) return counters;
  counters.connections = client_->counters().connections;
  counters.transactions = client_->counters().transactions;
  counters.failed_transactions = client_->counters().failed_transactions;
  counters.malformed_records = malformed_.size();
  return counters;
}

void OvsdbEventStore::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

void OvsdbEventStore::RunLater() {
  std::vector<std::function<void()>> actions;
  actions.swap(later_);
  for (const auto& action : actions) action();
}

// --- what is there ---

void OvsdbEventStore::ReadGlobal() {
  global_ = Global();
  for (const auto& [uuid, row] : client_->table(kGlobalTable)) {
    int64_t id = 0;
    global_.uuid = uuid;
    if (ReadColumn(row, "controller_id", &id)) global_.controller_id = static_cast<uint64_t>(id);
    ReadColumn(row, IdCounterOf(options_.table).c_str(), &global_.next_event_id);
  }
}

void OvsdbEventStore::ForgetRow(const std::string& uuid, std::set<std::string>* names) {
  strangers_.erase(uuid);
  malformed_.erase(uuid);
  const auto row = rows_.find(uuid);
  if (row == rows_.end()) return;
  const std::string& name = row->second.record.name;
  names->insert(name);
  const auto named = by_name_.find(name);
  if (named != by_name_.end() && named->second == uuid) by_name_.erase(named);
  rows_.erase(row);
}

void OvsdbEventStore::ReadRow(const std::string& uuid, std::set<std::string>* names) {
  const OvsdbTable& table = client_->table(options_.table);
  const auto found = table.find(uuid);
  if (found == table.end()) return;
  EventRow row;
  if (!ReadEventRow(uuid, found->second, &row)) {
    malformed_.insert(uuid);
    return;
  }
  if (!row.has_own_id()) strangers_.insert(uuid);
  names->insert(row.record.name);
  by_name_[row.record.name] = uuid;
  rows_[uuid] = std::move(row);
}

const EventRow* OvsdbEventStore::FindRow(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &rows_.at(found->second);
}

void OvsdbEventStore::OnOvsdbLoaded() {
  rows_.clear();
  by_name_.clear();
  strangers_.clear();
  malformed_.clear();
  has_told_ = false;
  ReadGlobal();
  std::set<std::string> names;
  for (const auto& [uuid, row] : client_->table(options_.table)) ReadRow(uuid, &names);
  TellLoaded();
}

// Old rows are forgotten before new ones are read, for names may have changed places.
void OvsdbEventStore::OnOvsdbChanged(const std::vector<OvsdbRowChange>& changes) {
  ReadGlobal();
  std::set<std::string> names;
  for (const OvsdbRowChange& change : changes) {
    if (change.table == options_.table) ForgetRow(change.uuid, &names);
  }
  for (const OvsdbRowChange& change : changes) {
    if (change.table == options_.table) ReadRow(change.uuid, &names);
  }
  if (has_told_) {
    TellChanges(names);
  } else {
    TellLoaded();
  }
  UpdateState();
  work_event_.RunSoon();
}

// A database without an identity is not told: it will have one as soon as somebody has the lock.
void OvsdbEventStore::TellLoaded() {
  if (global_.controller_id == 0) return;
  has_told_ = true;
  told_.clear();
  std::vector<EventRecord> records;
  for (const auto& [uuid, row] : rows_) {
    if (!row.has_own_id()) continue;
    records.push_back(row.record);
    told_[row.record.name] = row.record;
  }
  listener_->OnEventsLoaded({global_.controller_id, client_->server()}, std::move(records));
}

void OvsdbEventStore::TellChanges(const std::set<std::string>& names) {
  std::vector<EventChange> changes;
  for (const std::string& name : names) {
    const EventRow* row = FindRow(name);
    const auto told = told_.find(name);
    // A stranger's edit runs on as it was until it has an id.
    if (row != nullptr && !row->has_own_id()) continue;
    if (row == nullptr && told == told_.end()) continue;
    if (row != nullptr && told != told_.end() && IsSame(row->record, told->second)) continue;
    EventChange& change = changes.emplace_back();
    change.name = name;
    if (row == nullptr) {
      told_.erase(told);
    } else {
      change.put = row->record;
      told_[name] = row->record;
    }
  }
  if (!changes.empty()) listener_->OnEventsChanged(std::move(changes));
}

// --- may we act? ---

std::string OvsdbEventStore::StateText() const {
  if (!client_->is_loaded()) return client_->state();
  if (!client_->has_lock()) {
    return client_->server() + ": another controller has the lock " + options_.lock +
           "; this one waits";
  }
  if (global_.controller_id != 0 && own_error_.empty()) return client_->state();
  return client_->server() + ": preparing events" + (own_error_.empty() ? "" : ": " + own_error_);
}

void OvsdbEventStore::OnOvsdbState() {
  if (client_ != nullptr) UpdateState();
}

StoreState OvsdbEventStore::FindState() {
  if (!client_->is_loaded() || client_->has_lock()) {
    lock_event_.Cancel();
    lock_wait_ = LockWait::kNone;
    return client_->is_loaded() && has_told_ ? StoreState::kReady : StoreState::kAway;
  }
  if (lock_wait_ == LockWait::kNone) {
    lock_wait_ = LockWait::kShort;
    lock_event_.RunAfter(kWaitForLock);
  }
  return lock_wait_ == LockWait::kLong ? StoreState::kStandby : StoreState::kAway;
}

void OvsdbEventStore::UpdateState() {
  const StoreState state = FindState();
  std::string text = StateText();
  if (state == state_ && text == state_text_) return;
  state_ = state;
  state_text_ = std::move(text);
  if (!is_ready()) RefuseWaiting();
  listener_->OnStoreState(state_, state_text_);
  work_event_.RunSoon();
}

// What is under way hears of its end from the client.
void OvsdbEventStore::RefuseWaiting() {
  while (waiting_.size() > (is_writing_ ? 1 : 0)) {
    Later([done = std::move(waiting_.back().done), text = state_text_] {
      done(Status::Error("events cannot be changed now: " + text));
    });
    waiting_.pop_back();
  }
}

// --- transactions ---

void OvsdbEventStore::Write(std::vector<EventChange> changes, Done done) {
  std::string why;
  if (!is_ready()) why = "events cannot be changed now: " + state_text_;
  if (waiting_.size() >= kMaxWaiting) why = "too many changes of events wait for the database";
  if (!why.empty()) return Later([done = std::move(done), why] { done(Status::Error(why)); });
  waiting_.push_back({std::move(changes), std::move(done)});
  work_event_.RunSoon();
}

void OvsdbEventStore::Work() {
  if (is_busy_ || client_ == nullptr || !client_->is_loaded() || !client_->has_lock()) return;
  if (global_.controller_id == 0) return Prepare();
  if (!strangers_.empty()) return GiveIds();
  if (!waiting_.empty()) WriteNext();
}

Json OvsdbEventStore::Begin() const { return Json::array({AssertLock(options_.lock)}); }

void OvsdbEventStore::Commit(Json operations, OvsdbClient::Done done) {
  is_busy_ = true;
  operations.push_back(CommitDurably());
  client_->Transact(std::move(operations), [this, done = std::move(done)](const OvsdbOutcome& out) {
    is_busy_ = false;
    done(out);
    // Others were quicker: look again when what they did has come.
    const Nanos wait = IsRaced(out) ? kRetryAfter : kRetryRefusedAfter;
    work_event_.RunAfter(out.ok() ? 0 : wait);
  });
}

// What nobody asked for: its failure is the store's state.
void OvsdbEventStore::CommitOwn(Json operations) {
  Commit(std::move(operations), [this](const OvsdbOutcome& outcome) {
    own_error_ = outcome.ok() || outcome.error == "timed out" ? "" : outcome.text;
    UpdateState();
  });
}

// Ids are not given twice, even if somebody has removed the row that counts them.
int64_t OvsdbEventStore::FirstFreeId() const {
  int64_t first = std::max<int64_t>(1, global_.next_event_id);
  for (const auto& [uuid, row] : rows_) first = std::max(first, int64_t{row.record.id} + 1);
  return first;
}

Json OvsdbEventStore::WaitForGlobal() const {
  Json rows = Json::array();
  if (!global_.uuid.empty()) {
    rows.push_back(
        {{"_uuid", OvsdbUuid(global_.uuid)}, {IdCounterOf(options_.table), global_.next_event_id}});
  }
  return WaitForRows(kGlobalTable, Json::array(), {"_uuid", IdCounterOf(options_.table)},
                     std::move(rows));
}

void OvsdbEventStore::Prepare() {
  const Json row = {{"controller_id", options_.new_controller_id},
                    {IdCounterOf(options_.table), FirstFreeId()}};
  Json operations = Begin();
  operations.push_back(WaitForGlobal());
  if (global_.uuid.empty()) {
    operations.push_back({{"op", "insert"}, {"table", kGlobalTable}, {"row", row}});
  } else {
    operations.push_back(
        {{"op", "update"}, {"table", kGlobalTable}, {"where", Json::array()}, {"row", row}});
  }
  CommitOwn(std::move(operations));
}

void OvsdbEventStore::GiveIds() {
  Json operations = Begin();
  operations.push_back(WaitForGlobal());
  int64_t next_id = FirstFreeId();
  size_t count = 0;
  for (const std::string& uuid : strangers_) {
    if (count++ == kMaxIdsAtOnce || next_id >= int64_t{UINT32_MAX}) break;
    const EventRow& row = rows_.at(uuid);
    operations.push_back(WaitForEvent(row, options_.table));
    EventRecord record = row.record;
    record.id = static_cast<uint32_t>(next_id++);
    operations.push_back(UpdateEventId(uuid, record, options_.table));
  }
  operations.push_back(SetNextId(options_.table, next_id));
  CommitOwn(std::move(operations));
}

Status OvsdbEventStore::AddChange(const EventChange& change, int64_t* next_id, Json* operations,
                                  std::vector<uint32_t>* ids) const {
  const EventRow* row = FindRow(change.name);
  const uint32_t id_now = row == nullptr ? 0 : row->record.id;
  const bool is_enabled = row != nullptr && row->record.is_enabled;
  if (change.expected_id.value_or(id_now) != id_now ||
      change.expected_enabled.value_or(is_enabled) != is_enabled) {
    return Status::Error("event '" + change.name + "' has been changed meanwhile");
  }
  if (row != nullptr) operations->push_back(WaitForEvent(*row, options_.table));
  if (!change.put) {
    if (row != nullptr) operations->push_back(DeleteEvent(row->uuid, options_.table));
    ids->push_back(0);
    return Status::Ok();
  }
  EventRecord record = *change.put;
  record.name = change.name;
  record.id = id_now;
  if (row == nullptr || !row->has_own_id() || row->record.definition != record.definition) {
    if (*next_id > int64_t{UINT32_MAX}) return Status::Error("all ids of events have been used");
    record.id = static_cast<uint32_t>((*next_id)++);
  }
  operations->push_back(row == nullptr ? InsertEvent(record, options_.table)
                                       : UpdateEvent(row->uuid, record, options_.table));
  ids->push_back(record.id);
  return Status::Ok();
}

void OvsdbEventStore::WriteNext() {
  Waiting& first = waiting_.front();
  ++first.attempts;
  Json operations = Begin();
  operations.push_back(WaitForGlobal());
  int64_t next_id = FirstFreeId();
  std::vector<uint32_t> ids;
  std::set<std::string> names;
  for (const EventChange& change : first.changes) {
    Status status = names.insert(change.name).second
                        ? AddChange(change, &next_id, &operations, &ids)
                        : Status::Error("event '" + change.name + "' is changed twice at once");
    if (!status.ok()) return Finish(status);
  }
  operations.push_back(SetNextId(options_.table, next_id));
  is_writing_ = true;
  Commit(std::move(operations), [this, ids](const OvsdbOutcome& outcome) {
    is_writing_ = false;
    if (outcome.ok()) return Finish(ids);
    if (IsRaced(outcome) && waiting_.front().attempts < kMaxAttempts && is_ready()) return;
    Finish(Status::Error("events were not changed: " + outcome.text));
  });
}

void OvsdbEventStore::Finish(const Result<std::vector<uint32_t>>& result) {
  const Done done = std::move(waiting_.front().done);
  waiting_.pop_front();
  work_event_.RunSoon();
  done(result);
}

}  // namespace trumpet
