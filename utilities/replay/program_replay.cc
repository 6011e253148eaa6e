// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_replay.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/packet/capture_source.h"
#include "utilities/replay/packet_meta.h"
#include "utilities/replay/program_file.h"
#include "utilities/replay/program_report.h"
#include "utilities/replay/program_run.h"

namespace trumpet {
namespace {

void Print(const std::string& line, std::FILE* out) { std::fprintf(out, "%s\n", line.c_str()); }

// What switches print behind those before them, in files that nobody sees.
class LaterLines {
 public:
  explicit LaterLines(size_t switch_count) : files_(switch_count) {}

  void Add(size_t switch_index, const std::string& line) {
    File* const file = &files_[switch_index];
    if (*file == nullptr) file->reset(std::tmpfile());
    is_whole_ &= *file != nullptr && std::fprintf(file->get(), "%s\n", line.c_str()) > 0;
  }
  // False if not all could be kept.
  bool Print(std::FILE* out) {
    for (const File& file : files_) {
      if (file == nullptr) continue;
      is_whole_ &= std::fflush(file.get()) == 0;
      std::rewind(file.get());
      char bytes[1 << 16];
      for (size_t got = 1; got > 0 && is_whole_;) {
        got = std::fread(bytes, 1, sizeof bytes, file.get());
        is_whole_ &= std::ferror(file.get()) == 0;
        std::fwrite(bytes, 1, got, out);
      }
    }
    return is_whole_;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;
  std::vector<File> files_;
  bool is_whole_ = true;
};

Status Play(CaptureSource* capture, const PacketMetas& metas, ProgramRun* run) {
  for (uint64_t i = 0; i < capture->frame_count(); ++i) {
    TimedFrame frame;
    const auto has_frame = capture->Next(&frame);
    if (!has_frame.ok()) return has_frame.status();
    if (!*has_frame) break;
    run->Add(frame, metas.Of(i));
  }
  run->Flush();
  return Status::Ok();
}

}  // namespace

Status ReplayProgram(const ReplayOptions& options, std::FILE* out, std::FILE* err) {
  const ProgramFile& file = options.programs[0];
  const auto program = LoadProgram(file, options.hash);
  if (!program.ok()) return program.status();
  const auto metas = PacketMetas::Load(options.meta_path);
  if (!metas.ok()) return metas.status();
  // In the order of the metadata.  All of it is read before anything is printed.
  auto capture = CaptureSource::Open(options.captures[0], CaptureOrder::kOfFile);
  if (!capture.ok()) return capture.status();
  if (Status status = metas->CheckCount(capture->frame_count()); !status.ok()) return status;
  ProgramReport report(program->get(), BaseName(file.path), ProgramRun::SwitchCountOf(**program));
  LaterLines later(ProgramRun::SwitchCountOf(**program));
  const auto on_collected = [&](size_t switch_index, const CollectedPacket& packet) {
    if (options.wants_state) {
      report.AddCollected(switch_index, packet);
    } else if (switch_index == 0) {
      Print(report.CollectedJson(switch_index, packet), out);
    } else {
      later.Add(switch_index, report.CollectedJson(switch_index, packet));
    }
  };
  ProgramRun run(program->get(), on_collected,
                 [&report](const PacketValues& packet) { report.AddForwarded(packet); });
  Status status = run.Start(options.program_batch);
  if (status.ok()) status = Play(&*capture, *metas, &run);
  if (!status.ok()) return status;
  if (!later.Print(out)) return Status::Error("what switches collect cannot be kept in a file");
  if (options.wants_state) Print(report.StateJson(run.states()), out);
  if (std::fflush(out) != 0 || std::ferror(out) != 0) {
    return Status::Error(std::string("cannot write: ") + std::strerror(errno));
  }
  if (options.wants_stats) run.PrintStats(err);
  return Status::Ok();
}

}  // namespace trumpet
