// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/trace_summary.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "controller/store/trace_part.h"
#include "lib/base/hash.h"

namespace trumpet {
namespace {

constexpr char kMagic[24] = "trumpet-trace-summary-1";
constexpr char kSuffix[] = ".summary";
// Of each key; together with seven bits set about one in 150 others passes for one.
constexpr size_t kBitsOfKey = 12;
constexpr int kBitsSet = 7;
constexpr uint64_t kIds = 1;
constexpr uint64_t kSenders = 2;
constexpr uint64_t kReceivers = 3;

struct Block {
  uint64_t hash = 0;
  std::array<uint8_t, 56> bytes{};
};
static_assert(sizeof(Block) == 64);
constexpr uint64_t kBlockBits = 8 * sizeof(Block::bytes);

struct Header {
  char magic[sizeof kMagic];
  Nanos first;
  Nanos last;
  uint64_t block_count;
};
static_assert(sizeof(Header) <= sizeof(Block::bytes));

uint64_t HashOf(const Block& block, uint64_t index) {
  return HashBytes(block.bytes.data(), block.bytes.size(), index);
}

bool ReadBlock(int fd, uint64_t index, Block* block) {
  const ssize_t size = pread(fd, block, sizeof *block, static_cast<off_t>(index * sizeof *block));
  return size == static_cast<ssize_t>(sizeof *block) && block->hash == HashOf(*block, index);
}

uint64_t KeyOf(const std::string& address, uint64_t kind) {
  return HashBytes(address.data(), address.size(), kind);
}

// The one address of a prefix; none if it has several.
std::optional<std::string> HostOf(const std::optional<Prefix>& prefix) {
  if (!prefix || prefix->length != (prefix->is_ipv6 ? 128 : 32)) return std::nullopt;
  return StoredRange(*prefix).first;
}

// `use` is given the numbers of a key's bits in its block.
template <typename Use>
void ForEachBit(uint64_t key, Use use) {
  uint64_t bits = MixBits(key);
  for (int i = 0; i < kBitsSet; ++i, bits >>= 9) use((bits & 511) * kBlockBits >> 9);
}

}  // namespace

std::string SummaryPathOf(const std::string& part_path) {
  const std::string suffix = kTracePartSuffix;
  return part_path.substr(0, part_path.size() - suffix.size()) + kSuffix;
}

void TraceSummaryWriter::Add(uint64_t id, Nanos start, const std::string& src,
                             const std::string& dst) {
  first_ = std::min(first_, start);
  last_ = std::max(last_, start);
  keys_.push_back(HashNumber(id, kIds));
  keys_.push_back(KeyOf(src, kSenders));
  keys_.push_back(KeyOf(dst, kReceivers));
}

Status TraceSummaryWriter::Write(const std::string& path) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  const uint64_t count = (keys_.size() * kBitsOfKey + kBlockBits - 1) / kBlockBits;
  std::vector<Block> blocks(1 + count);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.first = first_;
  header.last = last_;
  header.block_count = count;
  std::memcpy(blocks[0].bytes.data(), &header, sizeof header);
  for (const uint64_t key : keys_) {
    Block& block = blocks[1 + key % count];
    ForEachBit(key, [&](uint64_t bit) {
      block.bytes[bit / 8] = static_cast<uint8_t>(block.bytes[bit / 8] | 1u << bit % 8);
    });
  }
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].hash = HashOf(blocks[i], i);
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(blocks.data()),
             static_cast<std::streamsize>(blocks.size() * sizeof(Block)));
  file.close();
  std::error_code error;
  if (file.good()) std::filesystem::rename(fresh, path, error);
  if (file.good() && !error) return Status::Ok();
  const Status status = Status::Error(path + ": " + (error ? error.message() : "is not written"));
  std::filesystem::remove(fresh, error);
  return status;
}

TraceSummary::~TraceSummary() { close(fd_); }

std::unique_ptr<TraceSummary> TraceSummary::Open(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  std::unique_ptr<TraceSummary> summary(new TraceSummary(fd));
  Block block;
  Header header{};
  if (!ReadBlock(fd, 0, &block)) return nullptr;
  std::memcpy(&header, block.bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return nullptr;
  summary->first_ = header.first;
  summary->last_ = header.last;
  summary->block_count_ = header.block_count;
  return summary;
}

bool TraceSummary::MayHaveKey(uint64_t key) const {
  Block block;
  if (block_count_ == 0) return false;
  if (!ReadBlock(fd_, 1 + key % block_count_, &block)) return true;  // nobody knows
  bool has_all = true;
  ForEachBit(key, [&](uint64_t bit) { has_all &= (block.bytes[bit / 8] >> bit % 8 & 1) != 0; });
  return has_all;
}

bool TraceSummary::MayHave(const TraceQuery& query) const {
  if (last_ < query.from || first_ >= query.until) return false;
  if (query.behind && last_ < query.behind->first) return false;
  if (query.id && !MayHaveKey(HashNumber(*query.id, kIds))) return false;
  const auto src = HostOf(query.src);
  if (src && !MayHaveKey(KeyOf(*src, kSenders))) return false;
  const auto dst = HostOf(query.dst);
  return !dst || MayHaveKey(KeyOf(*dst, kReceivers));
}

}  // namespace trumpet
