// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/analyzer/packet_archive.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "lib/packet/pcapng_writer.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;

constexpr char kRunPrefix[] = "run-";

Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return Status::Ok();
  return Status::Error("cannot make " + path + ": " + std::strerror(errno));
}

std::string CommentOf(const ExpectedSlice& slice) {
  std::string text = "run " + std::to_string(slice.run) + ", slot " + std::to_string(slice.slot) +
                     ", query " + std::to_string(slice.query);
  if (!slice.name.empty()) text += " '" + slice.name + "'";
  text += slice.is_confine ? ": CONFINE " : ": MIRROR ";
  text += PrintPrefix(slice.prefix) + " ON [";
  for (const std::string& router : slice.path) text += " " + router;
  return text + " ]";
}

// Interfaces come to be where packets need them: one for each switch, and for each kind of packet
// that came from it.
using Interfaces = std::map<std::pair<uint16_t, bool>, uint32_t>;

Interfaces AddInterfaces(const SliceRecord& slice, PcapngWriter* writer) {
  Interfaces interfaces;
  for (const KeptPacket& packet : slice.packets) interfaces[{packet.location, packet.is_ethernet}];
  for (auto& [key, number] : interfaces) {
    const auto& [location, is_ethernet] = key;
    number = writer->AddInterface(slice.expected.locations[location],
                                  "switch " + std::to_string(slice.expected.numbers[location]),
                                  is_ethernet);
  }
  return interfaces;
}

struct KeptRun {
  fs::path path;
  Nanos time = 0;
  uint64_t bytes = 0;
};

Nanos TimeOf(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * kNanosPerSecond + status.st_mtim.tv_nsec;
}

std::vector<KeptRun> FindRuns(const std::string& directory, std::error_code* error) {
  std::vector<KeptRun> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, *error)) {
    if (entry.path().filename().string().rfind(kRunPrefix, 0) != 0) continue;
    KeptRun run{entry.path(), TimeOf(entry.path()), 0};
    std::error_code gone;
    for (const fs::directory_entry& file : fs::directory_iterator(entry.path(), gone)) {
      const uint64_t bytes = file.file_size(gone);
      if (!gone) run.bytes += bytes;
    }
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(),
            [](const KeptRun& a, const KeptRun& b) { return a.time < b.time; });
  return runs;
}

}  // namespace

Status PacketArchive::Write(const SliceRecord& slice) {
  if (!is_on() || slice.packets.empty()) return Status::Ok();
  Status made = MakeFolder(options_.directory);
  if (!made.ok()) return made;
  const std::string folder =
      options_.directory + "/" + kRunPrefix + std::to_string(slice.expected.run);
  made = MakeFolder(folder);
  if (!made.ok()) return made;
  const std::string path = folder + "/slot-" + std::to_string(slice.expected.slot) + "-query-" +
                           std::to_string(slice.expected.query) + ".pcapng";
  Result<PcapngWriter> writer = PcapngWriter::Create(path, CommentOf(slice.expected));
  if (!writer.ok()) return writer.status();
  const Interfaces interfaces = AddInterfaces(slice, &*writer);
  for (const KeptPacket& packet : slice.packets) {
    writer->AddPacket(interfaces.at({packet.location, packet.is_ethernet}), packet.time,
                      packet.text(), packet.wire_bytes);
  }
  return writer->Close();
}

Status PacketArchive::RemoveOld(Nanos now) {
  std::error_code error;
  if (!is_on() || !fs::exists(options_.directory, error)) return Status::Ok();
  const std::vector<KeptRun> runs = FindRuns(options_.directory, &error);
  uint64_t bytes = 0;
  for (const KeptRun& run : runs) bytes += run.bytes;
  for (const KeptRun& run : runs) {
    if (bytes <= options_.max_bytes && now - run.time <= options_.keep) break;
    fs::remove_all(run.path, error);
    bytes -= run.bytes;
  }
  if (!error) return Status::Ok();
  return Status::Error("cannot tidy up " + options_.directory + ": " + error.message());
}

}  // namespace trumpet
