// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/store/sqlite_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/ovsdb/ovsdb_server_test.h"

namespace trumpet {
namespace {

constexpr size_t kPageBytes = 4096;

// How much of a file the kernel has in memory, in percent.
size_t PercentInMemory(int fd) {
  struct stat about {};
  if (fstat(fd, &about) != 0 || about.st_size == 0) return 0;
  const auto bytes = static_cast<size_t>(about.st_size);
  void* const start = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  std::vector<unsigned char> pages((bytes + kPageBytes - 1) / kPageBytes);
  const bool is_told = start != MAP_FAILED && mincore(start, bytes, pages.data()) == 0;
  if (start != MAP_FAILED) munmap(start, bytes);
  if (!is_told) return 0;
  const auto in_memory = std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; });
  return 100 * static_cast<size_t>(in_memory) / pages.size();
}

class SqliteFiles : public testing::Test {
 protected:
  OvsdbTestFolder folder_;
};

TEST_F(SqliteFiles, AreReadAhead) {
  const std::string path = folder_.File("ahead");
  {
    auto file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
    ASSERT_TRUE(file.ok()) << file.message();
    ASSERT_TRUE(
        file->Run("CREATE TABLE t (x BLOB); INSERT INTO t VALUES (randomblob(30000000))").ok());
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(fsync(fd), 0);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  struct statfs about {};
  ASSERT_EQ(fstatfs(fd, &about), 0);
  if (about.f_type != TMPFS_MAGIC) {
    ASSERT_LE(PercentInMemory(fd), 10u);
  }
  auto file = SqliteFile::Open(path, SqliteFile::Mode::kRead);
  ASSERT_TRUE(file.ok()) << file.message();
  file->ReadAhead();
  const size_t behind = PercentInMemory(fd);
  close(fd);
  EXPECT_GE(behind, 90u);  // but for what others need the memory for
}

// Nothing happens: whoever has it open reads on.
TEST_F(SqliteFiles, MayBeGoneWhenTheyAreToBeReadAhead) {
  const std::string path = folder_.File("gone");
  auto file = SqliteFile::Open(path, SqliteFile::Mode::kCreate);
  ASSERT_TRUE(file.ok()) << file.message();
  ASSERT_TRUE(file->Run("CREATE TABLE t (x); INSERT INTO t VALUES (7)").ok());
  ASSERT_EQ(unlink(path.c_str()), 0);
  file->ReadAhead();
  const auto number = file->Number("SELECT x FROM t", 0);
  ASSERT_TRUE(number.ok()) << number.message();
  EXPECT_EQ(*number, 7);
}

}  // namespace
}  // namespace trumpet
