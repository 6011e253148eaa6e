// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Real servers of OVSDB for tests, in temporary folders and on sockets there; Debian has them in
// openvswitch-common.  What goes wrong fails the test.

#ifndef TRUMPET_LIB_OVSDB_OVSDB_SERVER_TEST_H
#define TRUMPET_LIB_OVSDB_OVSDB_SERVER_TEST_H

#include <event2/event.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/loop_event.h"
#include "lib/ovsdb/ovsdb_client.h"

namespace trumpet {

// Gone with all that is in it at the end of its life.
class OvsdbTestFolder {
 public:
  OvsdbTestFolder();
  ~OvsdbTestFolder();
  OvsdbTestFolder(const OvsdbTestFolder&) = delete;
  OvsdbTestFolder& operator=(const OvsdbTestFolder&) = delete;
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void WriteTestFile(const std::string& path, const std::string& text);

// Runs a program of $PATH to its end; its output, and if it fails a failure of the test.
std::string RunProgram(const std::vector<std::string>& arguments);

// A program that runs beside the test and ends with it, however that ends.
class TestProgram {
 public:
  explicit TestProgram(const std::vector<std::string>& arguments);
  ~TestProgram();
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;
  void Kill(int signal);  // and waits for the end

 private:
  pid_t pid_;
};

// A database with a table Thing of name (an index), size, tags.
extern const char kThingsSchema[];

class OvsdbTestServer {
 public:
  explicit OvsdbTestServer(const std::string& name = "db");
  ~OvsdbTestServer();
  OvsdbTestServer(const OvsdbTestServer&) = delete;
  OvsdbTestServer& operator=(const OvsdbTestServer&) = delete;

  // Makes a database of the schema, to be served by Start().
  void CreateFrom(const std::string& schema_file);
  void Create(const std::string& schema);
  // Members of a cluster: the first one, and those that come to `other`.
  void CreateCluster(const std::string& schema);
  void JoinCluster(const std::string& database, const OvsdbTestServer& other);

  // Returns when connections are taken.
  void Start(const std::vector<std::string>& more_arguments = {});
  void Kill(int signal);  // and waits for the end
  void Signal(int signal);

  std::string remote() const { return "unix:" + folder_.File("db.sock"); }
  std::string database_file() const { return folder_.File("test.db"); }
  std::string raft_address() const { return "unix:" + folder_.File("raft"); }
  std::string control_socket() const { return folder_.File("ctl"); }
  const OvsdbTestFolder& folder() const { return folder_; }
  std::string Log() const;
  // As `ovsdb-client transact` does it.
  std::string Transact(const std::string& operations) const;
  pid_t pid() const { return pid_; }

 private:
  OvsdbTestFolder folder_;
  const std::string name_;
  pid_t pid_ = -1;
};

class OvsdbTestLoop {
 public:
  OvsdbTestLoop() : base_(event_base_new()) {}
  event_base* base() { return base_.get(); }
  // False if `done` does not come to hold within a minute, which only a broken test reaches.
  bool RunUntil(const std::function<bool()>& done);
  // Runs for a while, to see that something does not happen.
  void RunFor(Nanos time);

 private:
  OwnedLoop base_;
};

class RecordingOvsdbListener final : public OvsdbListener {
 public:
  void OnOvsdbLoaded() override { ++loaded_count; }
  void OnOvsdbChanged(const std::vector<OvsdbRowChange>& rows) override {
    changes.insert(changes.end(), rows.begin(), rows.end());
  }
  void OnOvsdbState() override { ++state_count; }

  int loaded_count = 0;
  int state_count = 0;
  std::vector<OvsdbRowChange> changes;
};

// Options for a test: one remote, short waits.
OvsdbClientOptions TestClientOptions(const std::string& remotes, const std::string& database);

}  // namespace trumpet

#endif  // TRUMPET_LIB_OVSDB_OVSDB_SERVER_TEST_H
