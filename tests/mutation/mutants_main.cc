// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Runs the unit tests with the mutant that MUTANT names, and writes to the file MUTANTS_REACHED a
// line for each test that passed: its milliseconds, name, and the mutants that it reached.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/mutation/mutant.h"

namespace mutants {

int running = 0;
volatile unsigned char reached[kMost];

namespace {

class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(FILE* file) : file_(file) {}

 private:
  void OnTestStart(const testing::TestInfo&) override {
    for (volatile unsigned char& each : reached) each = 0;
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Passed()) return;
    std::fprintf(file_, "%lld %s.%s", static_cast<long long>(test.result()->elapsed_time()),
                 test.test_suite_name(), test.name());
    for (int i = 0; i < kMost; i++) {
      if (reached[i] != 0) std::fprintf(file_, " %d", i);
    }
    std::fprintf(file_, "\n");
    std::fflush(file_);
  }

  FILE* file_;
};

}  // namespace
}  // namespace mutants

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* number = std::getenv("MUTANT")) mutants::running = std::atoi(number);
  if (const char* path = std::getenv("MUTANTS_REACHED")) {
    FILE* file = std::fopen(path, "w");
    if (file == nullptr) return 1;
    testing::UnitTest::GetInstance()->listeners().Append(new mutants::Recorder(file));
  }
  return RUN_ALL_TESTS();
}
