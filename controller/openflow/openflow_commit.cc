// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/openflow_commit.h"

#include <algorithm>
#include <utility>

namespace trumpet {
namespace {

bool IsUnknownMessage(const std::string& error) {
  return error == "OFPBRC_BAD_TYPE" || error == "OFPBRC_BAD_EXPERIMENTER" ||
         error == "OFPBRC_BAD_EXP_TYPE" || error == "OFPBRC_BAD_VENDOR";
}

}  // namespace

OpenflowCommit::OpenflowCommit(OpenflowSwitch* target, OpenflowChange change, Mode mode)
    : target_(target), change_(std::move(change)), mode_(mode) {}

// Sends a batch, and tells of the first error.
void OpenflowCommit::Ask(Batch batch,
                         std::function<void(const OpenflowAnswers&, const Status&)> done) {
  target_->Ask(life_, std::move(batch.requests),
               [this, labels = std::move(batch.labels), done](const OpenflowAnswers& answers) {
                 Status status = answers.status;
                 is_lost_ = is_lost_ || !status.ok();
                 for (size_t i = 0; status.ok() && i < answers.answers.size(); ++i) {
                   const std::string& error = answers.answers[i].error;
                   if (error.empty()) continue;
                   status = Status::Error("switch " + target_->name() + " refuses " + labels[i] +
                                          ": " + error);
                 }
                 done(answers, status);
               });
}

void OpenflowCommit::AddRequest(Batch* batch, trumpet_of_change change, const OpenflowRule& rule,
                                const std::string& label) {
  const uint32_t xid = target_->NextXid();
  Result<std::string> bytes = EncodeRule(target_->version(), change, rule, xid);
  if (!bytes.ok()) return;  // Learn() has seen that it can be said
  batch->requests.push_back({xid, std::move(*bytes)});
  batch->labels.push_back(label + "'" + rule.text + "'");
}

// What the switch has at the place of a rule that is added; null: nothing.
const OpenflowRule* OpenflowCommit::KeptFor(const OpenflowRule& rule) const {
  if (mode_ == Mode::kReconcile) return nullptr;
  const auto place = PlaceAndText(version_, rule);
  if (!place.ok()) return nullptr;
  const auto kept = target_->rules().find(place->first);
  return kept == target_->rules().end() ? nullptr : &kept->second;
}

// A flow replaces the one at its place by itself.
void OpenflowCommit::Add(Batch* batch, const std::vector<OpenflowRule>& rules, Kind kind) {
  for (const OpenflowRule& rule : rules) {
    if (rule.kind != kind) continue;
    const bool modifies = kind != Kind::kFlow && KeptFor(rule) != nullptr;
    AddRequest(batch, modifies ? TRUMPET_OF_MODIFY : TRUMPET_OF_ADD, rule, "");
  }
}

void OpenflowCommit::Remove(Batch* batch, const std::vector<OpenflowRule>& rules, Kind kind) {
  for (const OpenflowRule& rule : rules) {
    if (rule.kind == kind) AddRequest(batch, TRUMPET_OF_DELETE, rule, "to remove ");
  }
}

// Groups are there before and after the flows that use them.
void OpenflowCommit::AddMods(Batch* batch, const OpenflowChange& change) {
  Add(batch, change.add, Kind::kGroup);
  Remove(batch, change.remove, Kind::kFlow);
  Add(batch, change.add, Kind::kFlow);
  Remove(batch, change.remove, Kind::kGroup);
}

// Looks at the texts, and what would undo them.
Status OpenflowCommit::Learn() {
  version_ = target_->version();
  const OpenflowSwitch::Rules& rules = target_->rules();
  const auto is_ours = [](const OpenflowRule& rule) {
    return rule.kind != Kind::kFlow || (rule.cookie & kOpenflowCookieMask) == kOpenflowCookie;
  };
  for (const OpenflowRule& rule : change_.remove) {
    const auto place = PlaceAndText(version_, rule);
    if (!place.ok()) return place.status();
    if (!is_ours(rule)) return Status::Error("'" + rule.text + "' has a cookie that is not ours");
    const auto kept = rules.find(place->first);
    inverse_.add.push_back(kept == rules.end() ? rule : kept->second);
  }
  for (const OpenflowRule& rule : change_.add) {
    auto place = PlaceAndText(version_, rule);
    if (!place.ok()) return place.status();
    if (!is_ours(rule)) return Status::Error("'" + rule.text + "' has a cookie that is not ours");
    const auto kept = rules.find(place->first);
    if (kept != rules.end()) inverse_.add.push_back(kept->second);
    if (kept == rules.end()) inverse_.remove.push_back(rule);
    places_.push_back(std::move(place->first));
  }
  return Status::Ok();
}

void OpenflowCommit::Prepare(Done done) {
  life_ = target_->life();
  Status status = Status::Error("switch " + target_->name() + " is not connected");
  is_lost_ = life_ == 0;
  if (!is_lost_) status = Learn();
  if (!status.ok()) return target_->Later([done, status] { done(status); });
  LookAndMakeMeters(std::move(done));
}

void OpenflowCommit::LookAndMakeMeters(Done done) {
  Batch batch;
  for (const OpenflowRule& rule : change_.add) {
    if (rule.kind != Kind::kFlow) continue;
    const uint32_t xid = target_->NextXid();
    Result<std::string> bytes = EncodeFlowLook(target_->version(), false, rule, xid);
    if (!bytes.ok()) continue;  // Learn() has seen to that
    batch.requests.push_back({xid, std::move(*bytes)});
    batch.labels.push_back("to look for '" + rule.text + "'");
    ++look_count_;
  }
  Add(&batch, change_.add, Kind::kMeter);
  for (const OpenflowRule& rule : change_.modify) AddRequest(&batch, TRUMPET_OF_MODIFY, rule, "");
  for (const OpenflowRule& rule : change_.add) {
    if (rule.kind != Kind::kMeter) continue;
    const OpenflowRule* const kept = KeptFor(rule);
    if (kept == nullptr) new_meters_.push_back(rule);
    if (kept != nullptr) old_meters_.push_back(*kept);
  }
  if (batch.requests.empty()) return OpenBundle(std::move(done));
  Ask(std::move(batch), [this, done](const OpenflowAnswers& answers, Status status) {
    SpareRefused(answers, look_count_, Kind::kMeter, &new_meters_);
    if (status.ok()) status = CheckLooks(answers);
    if (!status.ok()) return UndoMeters(status, done);
    OpenBundle(done);
  });
}

// Is there a flow of somebody else's that we would replace?
Status OpenflowCommit::CheckLooks(const OpenflowAnswers& answers) const {
  for (size_t i = 0; i < look_count_; ++i) {
    for (const OpenflowMessage& message : answers.answers[i].messages) {
      for (const OpenflowFlow& flow : message.flows) {
        if ((flow.cookie & kOpenflowCookieMask) == kOpenflowCookie) continue;
        const std::string place = flow.Place();
        const bool is_same = std::any_of(places_.begin(), places_.end(),
                                         [&](const auto& ours) { return ours == place; });
        if (!is_same) continue;
        return Status::Error("switch " + target_->name() + " has a flow of somebody else's at " +
                             place);
      }
    }
  }
  return Status::Ok();
}

void OpenflowCommit::OpenBundle(Done done) {
  Batch mods;
  AddMods(&mods, change_);
  if (mods.requests.empty() || !target_->has_bundles()) {
    return target_->Later([done] { done(Status::Ok()); });
  }
  const uint8_t version = target_->version();
  Batch batch;
  bundle_ = target_->NextXid();
  const auto control = [&](trumpet_of_bundle what, const char* label) {
    const uint32_t xid = target_->NextXid();
    batch.requests.push_back({xid, EncodeBundleControl(version, bundle_, what, xid)});
    batch.labels.emplace_back(label);
  };
  control(TRUMPET_OF_BUNDLE_OPEN, "to open a bundle");
  for (size_t i = 0; i < mods.requests.size(); ++i) {
    const OpenflowRequest& mod = mods.requests[i];
    batch.requests.push_back({mod.xid, EncodeBundleAdd(version, bundle_, mod.bytes)});
    batch.labels.push_back(mods.labels[i]);
    in_bundle_.requests.push_back({mod.xid, ""});
    in_bundle_.labels.push_back(mods.labels[i]);
  }
  control(TRUMPET_OF_BUNDLE_CLOSE, "to close a bundle");
  Ask(std::move(batch), [this, done](const OpenflowAnswers& answers, const Status& status) {
    if (status.ok()) return done(status);
    if (answers.status.ok() && IsUnknownMessage(answers.answers[0].error)) {
      target_->set_has_bundles(false);
      bundle_ = 0;
      return done(Status::Ok());
    }
    Abandon([done, status](const Status&) { done(status); });
  });
}

void OpenflowCommit::Finish(Done done) {
  if (bundle_ != 0) return FinishBundle(std::move(done));
  FinishOneByOne(std::move(done));
}

void OpenflowCommit::FinishBundle(Done done) {
  Batch batch = in_bundle_;  // their errors come only now, perhaps
  if (target_->life() == life_) {
    const uint32_t xid = target_->NextXid();
    batch.requests.push_back(
        {xid, EncodeBundleControl(target_->version(), bundle_, TRUMPET_OF_BUNDLE_COMMIT, xid)});
    batch.labels.emplace_back("to commit a bundle");
  }
  Ask(std::move(batch), [this, done](const OpenflowAnswers&, const Status& status) {
    if (!status.ok()) return UndoMeters(status, done);
    Keep();
    RemoveMeters(status, done);
  });
}

void OpenflowCommit::FinishOneByOne(Done done) {
  Batch batch;
  if (target_->life() == life_) AddMods(&batch, change_);
  Ask(std::move(batch), [this, done](const OpenflowAnswers& answers, const Status& status) {
    if (status.ok()) {
      Keep();
      return RemoveMeters(status, done);
    }
    SpareRefused(answers, 0, Kind::kGroup, &inverse_.remove);
    Batch back;
    if (target_->life() == life_) AddMods(&back, inverse_);
    Ask(std::move(back),
        [this, done, status](const OpenflowAnswers&, const Status&) { UndoMeters(status, done); });
  });
}

void OpenflowCommit::Abandon(Done done) {
  Batch batch;
  if (bundle_ != 0 && target_->life() == life_) {
    const uint32_t xid = target_->NextXid();
    batch.requests.push_back(
        {xid, EncodeBundleControl(target_->version(), bundle_, TRUMPET_OF_BUNDLE_DISCARD, xid)});
    batch.labels.emplace_back("to discard a bundle");
  }
  Ask(std::move(batch),
      [this, done](const OpenflowAnswers&, const Status&) { UndoMeters(Status::Ok(), done); });
}

void OpenflowCommit::RemoveMeters(const Status& status, Done done) {
  Batch batch;
  if (target_->life() == life_) Remove(&batch, change_.remove, Kind::kMeter);
  AskLast(std::move(batch), status, std::move(done));
}

// What the switch has refused to add is not there, or is somebody else's: it is not to be taken
// away. `first`: of the answers to rules of that kind, in their order.
void OpenflowCommit::SpareRefused(const OpenflowAnswers& answers, size_t first, Kind kind,
                                  std::vector<OpenflowRule>* added) const {
  size_t at = first;
  for (const OpenflowRule& rule : change_.add) {
    if (rule.kind != kind || at >= answers.answers.size()) continue;
    if (answers.answers[at++].error.empty()) continue;
    added->erase(std::remove_if(added->begin(), added->end(),
                                [&](const OpenflowRule& each) {
                                  return each.kind == kind && each.text == rule.text;
                                }),
                 added->end());
  }
}

// Those of a change that does not hold: new ones go, and old ones are again what they were.
void OpenflowCommit::UndoMeters(const Status& status, Done done) {
  Batch batch;
  if (target_->life() == life_) {
    for (const OpenflowRule& rule : old_meters_) AddRequest(&batch, TRUMPET_OF_MODIFY, rule, "");
    Remove(&batch, new_meters_, Kind::kMeter);
  }
  AskLast(std::move(batch), status, std::move(done));
}

// The last step, which may fail: what stays is put right when the switch comes again.
void OpenflowCommit::AskLast(Batch batch, const Status& status, Done done) {
  if (batch.requests.empty()) return done(status);
  Ask(std::move(batch), [done, status](const OpenflowAnswers&, const Status&) { done(status); });
}

void OpenflowCommit::Keep() {
  if (mode_ == Mode::kChange) Remember(change_);
}

void OpenflowCommit::Forget() { Remember(inverse_); }

void OpenflowCommit::LetGo() {
  if (is_lost_) target_->ForgetBrief(change_.remove);
}

void OpenflowCommit::Remember(const OpenflowChange& change) {
  for (const OpenflowRule& rule : change.remove) {
    const auto place = PlaceAndText(version_, rule);
    if (place.ok()) target_->rules().erase(place->first);
  }
  for (const OpenflowRule& rule : change.add) {
    const auto place = PlaceAndText(version_, rule);
    if (place.ok()) target_->rules()[place->first] = rule;
  }
}

// ---- Several switches ----

namespace {

// Shared by the calls back that are under way; gone with the last of them.
class Across : public std::enable_shared_from_this<Across> {
 public:
  Across(std::vector<SwitchChange> parts, OpenflowSwitch::Done done)
      : parts_(std::move(parts)), done_(std::move(done)) {
    // All in the same order, so that no two wait for each other.
    std::sort(parts_.begin(), parts_.end(), [](const SwitchChange& a, const SwitchChange& b) {
      return a.target->datapath_id() < b.target->datapath_id();
    });
  }

  void AcquireNext() {
    if (acquired_ == parts_.size()) return PrepareAll();
    parts_[acquired_++].target->Acquire([self = shared_from_this()] { self->AcquireNext(); });
  }

 private:
  using Step = void (OpenflowCommit::*)(OpenflowCommit::Done);

  // One step at all `commits`; `next` when all have answered.
  void ForAll(const std::vector<OpenflowCommit*>& commits, Step step, std::function<void()> next) {
    if (commits.empty()) return next();
    waiting_ = commits.size();
    for (OpenflowCommit* commit : commits) {
      (commit->*step)([self = shared_from_this(), commit, next](const Status& status) {
        if (status.ok()) self->succeeded_.push_back(commit);
        if (!status.ok() && self->status_.ok()) self->status_ = status;
        if (--self->waiting_ == 0) next();
      });
    }
  }

  void PrepareAll() {
    std::vector<OpenflowCommit*> all;
    for (SwitchChange& part : parts_) {
      commits_.push_back(std::make_unique<OpenflowCommit>(part.target, std::move(part.change)));
      all.push_back(commits_.back().get());
    }
    ForAll(all, &OpenflowCommit::Prepare, [this, all] {
      const std::vector<OpenflowCommit*> prepared = std::exchange(succeeded_, {});
      if (!status_.ok()) {
        return ForAll(prepared, &OpenflowCommit::Abandon, [this] { End(); });
      }
      ForAll(all, &OpenflowCommit::Finish, [this] { TakeBack(); });
    });
  }

  // Those that have finished, if one has not.
  void TakeBack() {
    const std::vector<OpenflowCommit*> finished = std::exchange(succeeded_, {});
    if (status_.ok() || finished.empty()) return End();
    std::vector<OpenflowCommit*> backs;
    for (OpenflowCommit* commit : finished) {
      commits_.push_back(std::make_unique<OpenflowCommit>(commit->target(), commit->inverse()));
      backs.push_back(commits_.back().get());
    }
    ForAll(backs, &OpenflowCommit::Prepare, [this, finished] {
      for (OpenflowCommit* commit : finished) commit->Forget();
      ForAll(std::exchange(succeeded_, {}), &OpenflowCommit::Finish, [this] { End(); });
    });
  }

  void End() {
    if (!status_.ok()) {
      for (const auto& commit : commits_) commit->LetGo();
    }
    for (const SwitchChange& part : parts_) {
      OpenflowSwitchCounters& counts = part.target->counts();
      ++(status_.ok() ? counts.commits : counts.failed_commits);
      part.target->Release();
    }
    done_(status_);
  }

  std::vector<SwitchChange> parts_;
  const OpenflowSwitch::Done done_;
  std::vector<std::unique_ptr<OpenflowCommit>> commits_;
  std::vector<OpenflowCommit*> succeeded_;
  size_t acquired_ = 0;
  size_t waiting_ = 0;
  Status status_ = Status::Ok();
};

}  // namespace

void CommitAcross(std::vector<SwitchChange> parts, OpenflowSwitch::Done done) {
  std::make_shared<Across>(std::move(parts), std::move(done))->AcquireNext();
}

}  // namespace trumpet
