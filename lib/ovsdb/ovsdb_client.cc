// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/ovsdb/ovsdb_client.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <utility>

namespace trumpet {
namespace {

// A connection that has lasted so long was a success.
constexpr Nanos kStableAfter = 10 * kNanosPerSecond;

constexpr char kServerMonitor[] = "server";
constexpr char kTablesMonitor[] = "tables";

OvsdbOutcome Refused(std::string text) {
  OvsdbOutcome outcome;
  outcome.kind = OvsdbOutcome::Kind::kRefused;
  outcome.text = std::move(text);
  return outcome;
}

// The results of a transaction have, where it failed, an error instead of a result, or at the end
// one that is no operation's.
OvsdbOutcome ToOutcome(const Result<Json>& reply) {
  if (!reply.ok()) return Refused(reply.message());
  if (!reply->is_array()) return Refused("the server's answer is malformed");
  OvsdbOutcome outcome;
  for (const Json& result : *reply) {
    std::string details;
    if (ReadColumn(result, "error", &outcome.error)) {
      outcome.kind = OvsdbOutcome::Kind::kRefused;
      outcome.text = outcome.error;
      if (ReadColumn(result, "details", &details)) outcome.text += ": " + details;
      return outcome;
    }
    ++outcome.operation;
  }
  outcome.results = *reply;
  return outcome;
}

OvsdbTables EmptyTables(const std::map<std::string, std::vector<std::string>>& wanted) {
  OvsdbTables tables;
  for (const auto& [name, columns] : wanted) tables[name];
  return tables;
}

Json MonitorRequests(const std::map<std::string, std::vector<std::string>>& wanted) {
  Json requests = Json::object();
  for (const auto& [name, columns] : wanted) {
    requests[name] = Json::array({Json{{"columns", columns}}});
  }
  return requests;
}

const std::map<std::string, std::vector<std::string>>& ServerColumns() {
  static const std::map<std::string, std::vector<std::string>> columns = {
      {"Database", {"name", "model", "connected", "leader", "cid", "index"}}};
  return columns;
}

}  // namespace

OvsdbClient::OvsdbClient(event_base* base, const OvsdbClientOptions& options,
                         OvsdbListener* listener)
    : base_(base),
      options_(options),
      listener_(listener),
      backoff_(options.first_backoff, options.longest_backoff, options.seed),
      tables_(EmptyTables(options.tables)),
      later_event_(base, [this] { RunLater(); }),
      attempt_event_(base, [this] { Attempt(); }),
      stable_event_(base, [this] { backoff_.Reset(); }) {
  IgnoreBrokenPipes();
  remote_index_ = options.seed % options.remotes.size();
  attempt_event_.RunSoon();
}

OvsdbClient::~OvsdbClient() {
  rpc_.reset();
  if (resolver_ != nullptr) evdns_base_free(resolver_, 1);
}

const OvsdbTable& OvsdbClient::table(const std::string& name) const {
  static const OvsdbTable empty;
  const auto found = tables_.find(name);
  return found == tables_.end() ? empty : found->second;
}

void OvsdbClient::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

void OvsdbClient::RunLater() {
  dead_.clear();
  std::vector<std::function<void()>> actions;
  actions.swap(later_);
  for (const auto& action : actions) action();
}

void OvsdbClient::SetState(const std::string& text) {
  std::string state = remote().text + ": " + text;
  if (state == state_) return;
  state_ = std::move(state);
  listener_->OnOvsdbState();
}

// --- connecting ---

bufferevent* OvsdbClient::NewStream(std::string* error) {
  const int options = BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS;
  *error = "no memory for a connection";
  if (remote().kind != OvsdbRemote::Kind::kTls) return bufferevent_socket_new(base_, -1, options);
  ssl_st* tls = options_.new_tls_connection ? options_.new_tls_connection() : nullptr;
  if (tls == nullptr) {
    *error = "there are no keys and certificates to use";
    return nullptr;
  }
  bufferevent* stream =
      bufferevent_openssl_socket_new(base_, -1, tls, BUFFEREVENT_SSL_CONNECTING, options);
  if (stream == nullptr) SSL_free(tls);
  return stream;
}

bool OvsdbClient::BeginConnecting(bufferevent* stream) {
  if (remote().kind == OvsdbRemote::Kind::kUnix) {
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    remote().host.copy(path.sun_path, sizeof path.sun_path - 1);
    return bufferevent_socket_connect(stream, reinterpret_cast<sockaddr*>(&path), sizeof path) == 0;
  }
  const bool is_ipv6 = remote().host.find(':') != std::string::npos;
  const std::string text =
      (is_ipv6 ? "[" + remote().host + "]" : remote().host) + ":" + std::to_string(remote().port);
  sockaddr_storage address{};
  int size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (evutil_parse_sockaddr_port(text.c_str(), generic, &size) == 0) {
    return bufferevent_socket_connect(stream, generic, size) == 0;
  }
  // Made anew each time, so that changes of resolv.conf are seen.
  if (resolver_ != nullptr) evdns_base_free(resolver_, 1);
  resolver_ =
      evdns_base_new(base_, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
  if (resolver_ == nullptr) return false;
  return bufferevent_socket_connect_hostname(stream, resolver_, AF_UNSPEC, remote().host.c_str(),
                                             remote().port) == 0;
}

void OvsdbClient::Attempt() {
  ++counters_.attempts;
  std::string error;
  bufferevent* stream = NewStream(&error);
  if (stream != nullptr && !BeginConnecting(stream)) {
    error = std::string("cannot connect: ") + std::strerror(EVUTIL_SOCKET_ERROR());
    bufferevent_free(stream);
    stream = nullptr;
  }
  if (stream == nullptr) {
    SetState(error);
    return ScheduleAttempt();
  }
  JsonRpcOwner* const self = this;
  rpc_ = std::make_unique<JsonRpc>(base_, stream, options_.rpc, self);
}

// Of a cluster each server is tried once before there is a wait.
void OvsdbClient::ScheduleAttempt() {
  remote_index_ = (remote_index_ + 1) % options_.remotes.size();
  const bool waits = ++failed_in_a_row_ % options_.remotes.size() == 0;
  attempt_event_.RunAfter(waits ? backoff_.Next() : 0);
}

void OvsdbClient::Fail(const std::string& why) { rpc_->Close(why); }

void OvsdbClient::OnRpcClosed(const std::string& why) {
  dead_.push_back(std::move(rpc_));
  Later([] {});
  is_loaded_ = false;
  has_lock_ = false;
  stable_event_.Cancel();
  SetState(why);
  ScheduleAttempt();
}

// --- a new connection ---

void OvsdbClient::OnRpcConnected() {
  server_tables_ = EmptyTables(ServerColumns());
  server_bytes_ = 0;
  rpc_->Request("monitor",
                Json::array({"_Server", kServerMonitor, MonitorRequests(ServerColumns())}),
                [this](const Result<Json>& reply) { OnServerTable(reply); });
}

void OvsdbClient::OnServerTable(const Result<Json>& reply) {
  if (rpc_->is_closed()) return;
  // A server older than the _Server database knows of no clusters either.
  if (reply.ok()) {
    std::vector<OvsdbRowChange> changes;
    const Status status =
        ApplyUpdates(*reply, options_.max_copy_bytes, &server_tables_, &server_bytes_, &changes);
    const std::string why = status.ok() ? LookAtServer() : status.message();
    if (!why.empty()) return Fail(why);
  }
  AskForTables();
}

std::string OvsdbClient::LookAtServer() {
  for (const auto& [uuid, row] : server_tables_["Database"]) {
    std::string name;
    if (!ReadColumn(row, "name", &name) || name != options_.database) continue;
    std::string model;
    bool is_connected = false;
    bool is_leader = false;
    ReadColumn(row, "model", &model);
    ReadColumn(row, "connected", &is_connected);
    ReadColumn(row, "leader", &is_leader);
    if (model == "standalone") return "";
    if (!is_connected) return "is cut off from its cluster";
    if (options_.needs_leader && !is_leader) return "is not the leader of its cluster";
    return LookAtIndex(row);
  }
  return "serves no database " + options_.database;
}

std::string OvsdbClient::LookAtIndex(const Json& row) {
  const Json* cid = FindColumn(row, "cid");
  std::string cluster;
  int64_t index = 0;
  if (cid == nullptr || !ReadOvsdbUuid(*cid, &cluster) || !ReadColumn(row, "index", &index)) {
    return "";
  }
  if (cluster == cluster_ && index < seen_index_) return "is behind what was seen before";
  cluster_ = cluster;
  seen_index_ = index;
  return "";
}

void OvsdbClient::AskForTables() {
  if (!options_.lock.empty()) {
    rpc_->Request("lock", Json::array({options_.lock}), [this](const Result<Json>& reply) {
      bool is_locked = false;
      if (reply.ok() && ReadColumn(*reply, "locked", &is_locked) && is_locked) SetLock(true);
    });
  }
  rpc_->Request("monitor",
                Json::array({options_.database, kTablesMonitor, MonitorRequests(options_.tables)}),
                [this](const Result<Json>& reply) { OnTables(reply); });
}

void OvsdbClient::OnTables(const Result<Json>& reply) {
  if (rpc_->is_closed()) return;
  if (!reply.ok()) return Fail("cannot watch " + options_.database + ": " + reply.message());
  OvsdbTables tables = EmptyTables(options_.tables);
  std::vector<OvsdbRowChange> changes;
  size_t bytes = 0;
  const Status status = ApplyUpdates(*reply, options_.max_copy_bytes, &tables, &bytes, &changes);
  if (!status.ok()) return Fail(status.message());
  tables_ = std::move(tables);
  copy_bytes_ = bytes;
  is_loaded_ = true;
  ++counters_.connections;
  stable_event_.RunAfter(kStableAfter);
  listener_->OnOvsdbLoaded();
  SetState("connected");
}

// --- what the server tells ---

void OvsdbClient::SetLock(bool is_held) {
  if (has_lock_ == is_held) return;
  has_lock_ = is_held;
  listener_->OnOvsdbState();
}

void OvsdbClient::OnRpcNotification(const std::string& method, const Json& params) {
  if (method == "update") return OnUpdate(params);
  const bool is_ours = !params.empty() && !options_.lock.empty() && params[0] == options_.lock;
  if (method == "locked" && is_ours) return SetLock(true);
  if (method == "stolen" && is_ours) return SetLock(false);
}

void OvsdbClient::OnUpdate(const Json& params) {
  if (params.size() != 2) return Fail("the server sends a malformed update");
  const bool is_server = params[0] == kServerMonitor;
  if (!is_server && (params[0] != kTablesMonitor || !is_loaded_)) {
    return Fail("the server sends an update that was not asked for");
  }
  std::vector<OvsdbRowChange> changes;
  const Status status =
      ApplyUpdates(params[1], options_.max_copy_bytes, is_server ? &server_tables_ : &tables_,
                   is_server ? &server_bytes_ : &copy_bytes_, &changes);
  if (!status.ok()) return Fail(status.message());
  if (is_server) {
    const std::string why = LookAtServer();
    if (!why.empty()) Fail(why);
  } else if (!changes.empty()) {
    ++counters_.updates;
    listener_->OnOvsdbChanged(changes);
  }
}

// --- transactions ---

void OvsdbClient::Transact(Json operations, Done done) {
  ++counters_.transactions;
  const bool is_there = is_loaded_ && !rpc_->is_closed();
  if (!is_there || rpc_->queued_bytes() > options_.max_queued_bytes) {
    ++counters_.failed_transactions;
    const std::string why = is_there ? "the database does not keep up with changes"
                                     : "the database is away (" + state_ + ")";
    return Later([done = std::move(done), why] { done(Refused(why)); });
  }
  operations.insert(operations.begin(), options_.database);
  rpc_->Request(
      "transact", std::move(operations),
      [this, done = std::move(done)](const Result<Json>& reply) {
        OvsdbOutcome outcome = ToOutcome(reply);
        if (rpc_->is_closed()) {
          outcome.kind = OvsdbOutcome::Kind::kUnknown;
          outcome.text = "the connection to the database ended (" + outcome.text +
                         ") before it said whether the change was made";
        }
        if (!outcome.ok()) ++counters_.failed_transactions;
        done(outcome);
      },
      JsonRpc::Work::kLong);
}

}  // namespace trumpet
