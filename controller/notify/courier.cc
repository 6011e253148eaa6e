// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/courier.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <utility>

#include "lib/base/system_error.h"

namespace trumpet {
namespace {

constexpr size_t kMaxHeaderBytes = 8192;
constexpr Nanos kMaxRetryAfter = 3600 * kNanosPerSecond;

Nanos Read(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

// The same message would be refused again: its content is at fault, not the moment.
bool IsRefusal(int status) { return status == 400 || status == 413 || status == 422; }

std::string DescribeFailure(const PostAnswer& answer) {
  if (answer.status == 0) return answer.error;
  std::string text = "HTTP status " + std::to_string(answer.status);
  if (answer.status >= 300 && answer.status < 400) return text + ", which is not followed";
  std::string said = answer.text.substr(0, answer.text.find_first_of("\r\n"));
  for (char& c : said) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return said.empty() ? text : text + ": " + said;
}

// The only line of a file.
Result<std::string> ReadSecret(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file) return SystemError("cannot read " + path);
  if (!std::getline(file, line)) return Status::Error("there is no line in " + path);
  if (line.size() > kMaxHeaderBytes) return Status::Error(path + ": longer than 8192 bytes");
  return line;
}

}  // namespace

Nanos NotifyNow() { return Read(CLOCK_REALTIME); }

bool SendSlots::Take(Courier* courier) {
  if (free_ == 0) {
    waiting_.push_back(courier);
    return false;
  }
  --free_;
  return true;
}

void SendSlots::Release() {
  ++free_;
  if (waiting_.empty()) return;
  Courier* const next = waiting_.front();
  waiting_.pop_front();
  next->next_attempt_.RunSoon();
}

void SendSlots::Forget(Courier* courier) {
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), courier), waiting_.end());
}

Courier::Courier(event_base* base, HttpSender* sender, SendSlots* slots,
                 const NotifyReceiver& receiver, const std::string& path, Nanos give_up_after,
                 uint64_t seed)
    : sender_(sender),
      slots_(slots),
      receiver_(receiver),
      url_(receiver.url + path),
      give_up_after_(give_up_after),
      backoff_(receiver.first_retry, receiver.longest_retry, seed),
      next_attempt_(base, [this] { Attempt(); }) {}

Courier::~Courier() {
  *is_alive_ = false;
  slots_->Forget(this);
}

Status Courier::ReadHeaders() {
  std::vector<std::string> headers = {"Content-Type: application/json"};
  for (const auto& [name, value] : receiver_.headers) headers.push_back(name + ": " + value);
  for (const auto& [name, path] : receiver_.header_files) {
    const Result<std::string> value = ReadSecret(path);
    if (!value) return value.status();
    headers.push_back(name + ": " + *value);
  }
  headers_ = std::move(headers);
  return Status::Ok();
}

void Courier::Send(Body body, Done done) {
  body_ = std::move(body);
  done_ = std::move(done);
  first_attempt_ns_ = Read(CLOCK_MONOTONIC);
  next_attempt_.RunSoon();
}

void Courier::Attempt() {
  if (!slots_->Take(this)) return;
  ++counters_.attempts;
  HttpPost post;
  post.url = url_;
  post.headers = headers_;
  post.body = body_();
  post.ca_file = receiver_.ca_file;
  post.certificate_file = receiver_.certificate_file;
  post.key_file = receiver_.key_file;
  post.timeout = receiver_.timeout;
  sender_->Post(std::move(post),
                [this, slots = slots_, is_alive = is_alive_](const PostAnswer& answer) {
                  slots->Release();
                  if (*is_alive) OnAnswer(answer);
                });
}

void Courier::OnAnswer(const PostAnswer& answer) {
  if (answer.status >= 200 && answer.status < 300) {
    ++counters_.taken;
    counters_.last_taken_ns = NotifyNow();
    counters_.last_error.clear();
    backoff_.Reset();
    Finish(End::kTaken);
    return;
  }
  ++counters_.failed;
  counters_.last_error = DescribeFailure(answer);
  if (IsRefusal(answer.status)) {
    ++counters_.refused;
    Finish(End::kRefused);
    return;
  }
  const Nanos waited = Read(CLOCK_MONOTONIC) - first_attempt_ns_;
  if (give_up_after_ != 0 && waited >= give_up_after_) {
    ++counters_.expired;
    Finish(End::kExpired);
    return;
  }
  next_attempt_.RunAfter(std::max(backoff_.Next(), std::min(answer.retry_after, kMaxRetryAfter)));
}

void Courier::Finish(End end) {
  const Done done = std::move(done_);
  done_ = nullptr;
  body_ = nullptr;
  done(end);
}

}  // namespace trumpet
