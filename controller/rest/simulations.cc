// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/rest/simulations.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trumpet {
namespace {

constexpr size_t kSliceBytes = 2 * 1024 * 1024;  // of the capture, copied at a time
constexpr size_t kMaxMessageBytes = 64 * 1024;
constexpr int kEventsFd = 3;
constexpr int kCaptureFd = 4;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  void Reset(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Above the numbers that the child's files get.
int RaisedFd(int fd) {
  if (fd < 0 || fd > kCaptureFd) return fd;
  const int raised = fcntl(fd, F_DUPFD_CLOEXEC, kCaptureFd + 1);
  close(fd);
  return raised;
}

bool MakePipe(Fd* reading, Fd* writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  reading->Reset(RaisedFd(ends[0]));
  writing->Reset(RaisedFd(ends[1]));
  return reading->get() >= 0 && writing->get() >= 0 &&
         fcntl(reading->get(), F_SETFL, O_NONBLOCK) == 0;
}

void Limit(int what, uint64_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(what), &limit);
}

struct ChildFiles {
  int events;
  int capture;
  int output;
  int messages;
};

// In the child, between fork() and exec: nothing that allocates or locks.
[[noreturn]] void BecomeReplay(const SimulationOptions& options, const ChildFiles& files,
                               char* const* arguments, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (getppid() != parent) _exit(127);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(files.output, STDOUT_FILENO);
  dup2(files.messages, STDERR_FILENO);
  dup2(files.events, kEventsFd);
  dup2(files.capture, kCaptureFd);
  close_range(kCaptureFd + 1, ~0u, 0);
  Limit(RLIMIT_CPU, options.max_cpu_s);
  if (options.max_memory_bytes > 0) Limit(RLIMIT_AS, options.max_memory_bytes);
  Limit(RLIMIT_FSIZE, 0);
  Limit(RLIMIT_NOFILE, 64);
  Limit(RLIMIT_CORE, 0);
  setpriority(PRIO_PROCESS, 0, 10);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char* const environment[] = {const_cast<char*>("LC_ALL=C.UTF-8"), nullptr};
  execve(options.program.c_str(), arguments, environment);
  _exit(127);
}

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = text->find(from); at != text->npos; at = text->find(from, at + to.size())) {
    text->replace(at, from.size(), to);
  }
}

}  // namespace

class Simulations::Run {
 public:
  Run(Simulations* owner, uint64_t number, Evbuffer capture, Done done)
      : owner_(owner),
        number_(number),
        capture_(std::move(capture)),
        done_(std::move(done)),
        copier_(owner->base_, [this] { Copy(); }),
        deadline_(owner->base_, [this] { OnDeadline(); }) {}

  ~Run() {
    Kill();
    for (event* watch : {output_watch_, messages_watch_, exit_watch_}) {
      if (watch != nullptr) event_free(watch);
    }
    if (pid_ > 0) waitpid(pid_, nullptr, 0);  // it has been killed: at once
  }

  uint64_t number() const { return number_; }

  // Nobody waits for it any more.
  void Abandon() {
    done_ = nullptr;
    if (pid_ > 0) {
      Kill();
    } else {
      Finish();
    }
  }

  bool is_over() const { return is_over_; }

  Status Start(const std::string& events) {
    events_file_.Reset(RaisedFd(memfd_create("events", MFD_CLOEXEC)));
    capture_file_.Reset(RaisedFd(memfd_create("capture", MFD_CLOEXEC)));
    if (events_file_.get() < 0 || capture_file_.get() < 0 ||
        write(events_file_.get(), events.data(), events.size()) !=
            static_cast<ssize_t>(events.size())) {
      return Status::Error(std::string("cannot keep the capture in memory: ") +
                           std::strerror(errno));
    }
    deadline_.RunAfter(owner_->options_.max_duration);
    copier_.RunSoon();
    return Status::Ok();
  }

 private:
  void Copy() {
    size_t left = kSliceBytes;
    while (left > 0 && evbuffer_get_length(capture_.get()) > 0) {
      const int written =
          evbuffer_write_atmost(capture_.get(), capture_file_.get(), static_cast<ev_ssize_t>(left));
      if (written <= 0) {
        result_.messages =
            std::string("cannot keep the capture in memory: ") + std::strerror(errno);
        result_.exit_status = -1;
        ++owner_->counters_.failed;
        Finish();
        return;
      }
      left -= std::min(left, static_cast<size_t>(written));
    }
    if (evbuffer_get_length(capture_.get()) > 0) {
      copier_.RunSoon();
    } else {
      Spawn();
    }
  }

  void Spawn() {
    Fd output;
    Fd messages;
    if (!MakePipe(&output_, &output) || !MakePipe(&messages_, &messages)) return Fail("pipes");
    const std::string events = "/proc/self/fd/" + std::to_string(kEventsFd);
    const std::string capture = "/proc/self/fd/" + std::to_string(kCaptureFd);
    const std::string& program = owner_->options_.program;
    const char* arguments[] = {program.c_str(), "--events", events.c_str(), capture.c_str(),
                               nullptr};
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      BecomeReplay(owner_->options_,
                   {events_file_.get(), capture_file_.get(), output.get(), messages.get()},
                   const_cast<char* const*>(arguments), parent);
    }
    if (pid_ < 0) return Fail("a process");
    setpgid(pid_, pid_);  // whichever of us comes first
    exit_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (exit_.get() < 0) return Fail("a watch of the process");
    output_watch_ = Watch(output_.get(), OnOutput);
    messages_watch_ = Watch(messages_.get(), OnMessages);
    exit_watch_ = Watch(exit_.get(), OnExit);
  }

  void Fail(const char* what) {
    result_.exit_status = -1;
    result_.messages = std::string("cannot make ") + what + ": " + std::strerror(errno);
    ++owner_->counters_.failed;
    Kill();
    Finish();
  }

  event* Watch(int fd, event_callback_fn callback) {
    event* watch = event_new(owner_->base_, fd, EV_READ | EV_PERSIST, callback, this);
    event_add(watch, nullptr);
    return watch;
  }

  static void OnOutput(int, short, void* run) { static_cast<Run*>(run)->ReadOutput(); }
  static void OnMessages(int, short, void* run) { static_cast<Run*>(run)->ReadMessages(); }
  static void OnExit(int, short, void* run) { static_cast<Run*>(run)->TakeExit(); }

  // Returns false at the end of what there is to read for now.
  bool ReadInto(int fd, event* watch, std::string* text, size_t max_bytes, bool* is_cut) {
    char piece[16384];
    const ssize_t count = read(fd, piece, sizeof piece);
    if (count == 0) event_del(watch);
    if (count <= 0) return false;
    const size_t room = max_bytes - text->size();
    text->append(piece, std::min(room, static_cast<size_t>(count)));
    if (static_cast<size_t>(count) > room) *is_cut = true;
    return true;
  }

  void ReadOutput() {
    ReadInto(output_.get(), output_watch_, &result_.output, owner_->options_.max_output_bytes,
             &result_.is_cut);
    if (result_.is_cut) KillAndCount();
  }

  void ReadMessages() {
    bool is_cut = false;
    ReadInto(messages_.get(), messages_watch_, &result_.messages, kMaxMessageBytes, &is_cut);
  }

  void TakeExit() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return;
    pid_ = -1;
    bool is_cut = false;
    while (!result_.is_cut && ReadInto(output_.get(), output_watch_, &result_.output,
                                       owner_->options_.max_output_bytes, &result_.is_cut)) {
    }
    while (
        ReadInto(messages_.get(), messages_watch_, &result_.messages, kMaxMessageBytes, &is_cut)) {
    }
    result_.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) result_.is_too_long = true;
    if (result_.exit_status != 0 && result_.exit_status != 1) ++owner_->counters_.failed;
    Finish();
  }

  void OnDeadline() {
    if (is_over_) return;
    result_.is_too_long = true;
    if (pid_ > 0) {
      KillAndCount();
    } else {
      result_.exit_status = -1;
      Finish();
    }
  }

  void KillAndCount() {
    ++owner_->counters_.killed;
    Kill();
  }

  void Kill() {
    if (pid_ > 0) kill(-pid_, SIGKILL);
    if (pid_ > 0) kill(pid_, SIGKILL);  // its group may not be there yet
  }

  void Finish() {
    if (std::exchange(is_over_, true)) return;
    ReplaceAll(&result_.messages, "/proc/self/fd/" + std::to_string(kEventsFd), "events");
    ReplaceAll(&result_.messages, "/proc/self/fd/" + std::to_string(kCaptureFd), "capture");
    deadline_.Cancel();
    copier_.Cancel();
    if (exit_watch_ != nullptr) event_del(exit_watch_);
    owner_->reaper_.RunSoon();
    if (done_) std::exchange(done_, nullptr)(std::move(result_));
  }

  Simulations* const owner_;
  const uint64_t number_;
  Evbuffer capture_;
  Done done_;
  SimulationResult result_;
  Fd events_file_;
  Fd capture_file_;
  Fd output_;
  Fd messages_;
  Fd exit_;
  pid_t pid_ = -1;
  bool is_over_ = false;
  event* output_watch_ = nullptr;
  event* messages_watch_ = nullptr;
  event* exit_watch_ = nullptr;
  LoopEvent copier_;
  LoopEvent deadline_;
};

Simulations::Simulations(event_base* base, SimulationOptions options)
    : base_(base), options_(std::move(options)), reaper_(base, [this] { Reap(); }) {}

Simulations::~Simulations() = default;

Status Simulations::CanRun() const {
  if (access(options_.program.c_str(), X_OK) == 0) return Status::Ok();
  return Status::Error("cannot run " + options_.program + ": " + std::strerror(errno));
}

bool Simulations::is_full() const { return runs_.size() >= options_.max_running; }

Status Simulations::Refuse() {
  ++counters_.refused;
  return Status::Error("as many simulations run as may");
}

Result<uint64_t> Simulations::Start(const std::string& events_yaml, Evbuffer capture, Done done) {
  if (is_full()) return Refuse();
  auto run = std::make_unique<Run>(this, ++last_number_, std::move(capture), std::move(done));
  const Status started = run->Start(events_yaml);
  if (!started.ok()) return started;
  ++counters_.started;
  runs_.push_back(std::move(run));
  return last_number_;
}

void Simulations::Cancel(uint64_t number) {
  for (const auto& run : runs_) {
    if (run->number() == number && !run->is_over()) run->Abandon();
  }
}

void Simulations::Reap() {
  runs_.remove_if([](const auto& run) { return run->is_over(); });
}

}  // namespace trumpet
