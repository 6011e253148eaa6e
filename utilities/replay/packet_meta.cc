// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/replay/packet_meta.h"

#include <charconv>
#include <utility>

#include "lib/base/text_file.h"
#include "lib/base/utf8.h"

namespace trumpet {
namespace {

constexpr size_t kMaxMetaBytes = size_t{1} << 30;
constexpr std::string_view kHead = "path,qlen1,qlen2,qlen3,in_port,is_ctrl";

bool ParseLine(std::string_view line, PacketMeta* meta) {
  const struct {
    uint16_t* number;
    uint16_t most;
  } kColumns[] = {{&meta->path, 1},
                  {&meta->queue_length[0], UINT16_MAX},
                  {&meta->queue_length[1], UINT16_MAX},
                  {&meta->queue_length[2], UINT16_MAX},
                  {&meta->in_port, UINT16_MAX},
                  {&meta->is_ctrl, 1}};
  const char* at = line.data();
  const char* end = at + line.size();
  for (const auto& column : kColumns) {
    if (column.number != &meta->path) {
      if (at == end || *at != ',') return false;
      ++at;
    }
    const auto result = std::from_chars(at, end, *column.number);
    if (result.ec != std::errc() || *column.number > column.most) return false;
    at = result.ptr;
  }
  return at == end;
}

}  // namespace

Result<std::vector<PacketMeta>> ParsePacketMeta(std::string_view text, const std::string& name) {
  std::vector<PacketMeta> metas;
  text = WithoutByteOrderMark(text);
  size_t number = 0;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (++number == 1) {
      if (line == kHead) continue;
      return Status::Error(name + ":1: the first line is to be " + std::string(kHead));
    }
    if (line.empty()) continue;
    PacketMeta meta;
    if (!ParseLine(line, &meta)) {
      return Status::Error(name + ":" + std::to_string(number) +
                           ": six numbers are expected: path 0 or 1, three queue lengths and a "
                           "port up to 65535, is_ctrl 0 or 1");
    }
    metas.push_back(meta);
  }
  return metas;
}

Result<PacketMetas> PacketMetas::Load(const std::string& path) {
  PacketMetas metas;
  if (path.empty()) return metas;
  const auto text = ReadTextFile(path, kMaxMetaBytes);
  if (!text.ok()) return text.status();
  auto parsed = ParsePacketMeta(*text, path);
  if (!parsed.ok()) return parsed.status();
  metas.path_ = path;
  metas.metas_ = std::move(*parsed);
  return metas;
}

Status PacketMetas::CheckCount(uint64_t count) const {
  if (path_.empty() || count == metas_.size()) return Status::Ok();
  return Status::Error(path_ + ": describes " + std::to_string(metas_.size()) +
                       " packets, but the capture has " + std::to_string(count));
}

}  // namespace trumpet
