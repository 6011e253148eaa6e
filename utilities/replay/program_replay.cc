// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/program_replay.h"

#include <cerrno>
#include <cstring>
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
  std::vector<std::string> later(ProgramRun::SwitchCountOf(**program));  // by switch
  const auto on_collected = [&](size_t switch_index, const CollectedPacket& packet) {
    if (options.wants_state) {
      report.AddCollected(switch_index, packet);
    } else if (switch_index == 0) {
      Print(report.CollectedJson(switch_index, packet), out);
    } else {
      later[switch_index] += report.CollectedJson(switch_index, packet) + "\n";
    }
  };
  ProgramRun run(program->get(), on_collected,
                 [&report](const PacketValues& packet) { report.AddForwarded(packet); });
  Status status = run.Start(options.program_batch);
  if (status.ok()) status = Play(&*capture, *metas, &run);
  if (!status.ok()) return status;
  for (const std::string& lines : later) std::fputs(lines.c_str(), out);
  if (options.wants_state) Print(report.StateJson(run.states()), out);
  if (std::fflush(out) != 0 || std::ferror(out) != 0) {
    return Status::Error(std::string("cannot write: ") + std::strerror(errno));
  }
  if (options.wants_stats) run.PrintStats(err);
  return Status::Ok();
}

}  // namespace trumpet
