// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// SwitchDatabase: follows the switch's own database, and reads from it what LocalFacts hold.
//
// While the database is away the last facts stay.  Facts are read anew half a second after they
// were read last, however often the database changes.
//
// Threads: that of the libevent loop.
// Lifetime: `base` must outlive it.  Its end must not come from within the loop's calls.
// Memory: a copy of the columns read, of at most 16 MiB of text; a database that has more is not
// read, and state() says so.

#ifndef TRUMPET_VSWITCHD_PLUGIN_SWITCH_DATABASE_H
#define TRUMPET_VSWITCHD_PLUGIN_SWITCH_DATABASE_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/ovsdb/ovsdb_client.h"
#include "vswitchd-plugin/local_facts.h"

struct event_base;

namespace trumpet {

class SwitchDatabase final : private OvsdbListener {
 public:
  // Begins to connect; `remotes` as ParseOvsdbRemotes() takes them.  Of those over TLS state() says
  // that there are no keys: the switch's are not the agent's.  `seed`: another one for each
  // process.
  SwitchDatabase(event_base* base, std::vector<OvsdbRemote> remotes, uint64_t seed);

  // Takes in what has changed, as far as it is time to.
  void Update(Nanos monotonic_ns, const std::vector<std::string>& uplinks);

  // Of the last Update().
  const LocalFacts& facts() const { return facts_; }
  // Rises when facts() may be others; 0: nothing is known yet.
  uint64_t version() const { return version_; }
  // For people: "unix:/run/...: connected".
  const std::string& state() const { return client_.state(); }

 private:
  void OnOvsdbLoaded() override { has_changed_ = has_tables_ = true; }
  void OnOvsdbChanged(const std::vector<OvsdbRowChange>& /*changes*/) override {
    has_changed_ = true;
  }
  void OnOvsdbState() override {}

  bool has_tables_ = false;
  bool has_changed_ = false;
  std::vector<std::string> uplinks_;
  LocalFacts facts_;
  uint64_t version_ = 0;
  Nanos next_update_ = 0;
  OvsdbClient client_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_SWITCH_DATABASE_H
