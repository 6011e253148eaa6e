// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// OpenflowCommit: one change at one switch, in two steps.  CommitAcross: a change at several.
//
//   Prepare()   everything is at the switch, in a bundle, and nothing holds yet
//   Finish()    it holds, all of it, or nothing does
//   Abandon()   instead: nothing was
//
// Meters cannot go into a bundle: new ones come before it and old ones go after it, which no packet
// sees, as flows use them.  One that is changed is so before it, too, for the switch may refuse
// that, and becomes again what it was should the rest be refused.  A switch without bundles gets
// the messages one by one, and the opposite of all of them if one is refused.
//
// Threads: that of the libevent loop, from which all calls back come.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_COMMIT_H
#define TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_COMMIT_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/openflow/openflow_switch.h"

namespace trumpet {

class OpenflowCommit {
 public:
  using Done = OpenflowSwitch::Done;

  // What brings the switch to what it remembers changes nothing of that.
  enum class Mode : uint8_t { kChange, kReconcile };

  // Whoever makes one has acquired the switch.
  OpenflowCommit(OpenflowSwitch* target, OpenflowChange change, Mode mode = Mode::kChange);

  void Prepare(Done done);
  void Finish(Done done);
  void Abandon(Done done);
  // Undoes it when it has been finished.
  OpenflowChange inverse() const { return inverse_; }
  // The switch remembers what it did before: should its connection end, it will be that again.
  void Forget();
  // It has failed.  Was it for want of a connection, brief rules that it was to remove are
  // forgotten.
  void LetGo();
  OpenflowSwitch* target() const { return target_; }

 private:
  struct Batch {
    std::vector<OpenflowRequest> requests;
    std::vector<std::string> labels;
  };
  using Kind = OpenflowRule::Kind;

  Status Learn();
  void AddRequest(Batch* batch, trumpet_of_change change, const OpenflowRule& rule,
                  const std::string& label);
  void Add(Batch* batch, const std::vector<OpenflowRule>& rules, Kind kind);
  void Remove(Batch* batch, const std::vector<OpenflowRule>& rules, Kind kind);
  const OpenflowRule* KeptFor(const OpenflowRule& rule) const;
  void AddMods(Batch* batch, const OpenflowChange& change);
  void LookAndMakeMeters(Done done);
  Status CheckLooks(const OpenflowAnswers& answers) const;
  void OpenBundle(Done done);
  void FinishBundle(Done done);
  void FinishOneByOne(Done done);
  void RemoveMeters(const Status& status, Done done);
  void UndoMeters(const Status& status, Done done);
  void SpareRefused(const OpenflowAnswers& answers, size_t first, Kind kind,
                    std::vector<OpenflowRule>* added) const;
  void AskLast(Batch batch, const Status& status, Done done);
  void Keep();
  void Remember(const OpenflowChange& change);
  void Ask(Batch batch, std::function<void(const OpenflowAnswers&, const Status&)> done);

  OpenflowSwitch* const target_;
  const OpenflowChange change_;
  const Mode mode_;
  uint64_t life_ = 0;
  bool is_lost_ = false;  // there was no connection, or it ended
  uint8_t version_ = 0;
  OpenflowChange inverse_;
  std::vector<std::string> places_;  // of change_.add
  std::vector<OpenflowRule> new_meters_;
  std::vector<OpenflowRule> old_meters_;  // as they were, of those that it changes
  size_t look_count_ = 0;
  uint32_t bundle_ = 0;  // 0: none is open
  Batch in_bundle_;      // without bytes
};

struct SwitchChange {
  OpenflowSwitch* target = nullptr;
  OpenflowChange change;
};

// Commits at all switches or at none: each prepares, and when all have, each finishes.  Should one
// fail even then, those that have finished are taken back.
void CommitAcross(std::vector<SwitchChange> parts, OpenflowSwitch::Done done);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OPENFLOW_COMMIT_H
