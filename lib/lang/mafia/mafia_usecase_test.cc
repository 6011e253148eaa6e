// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The 13 programs of docs/measurements: accepted, with the diagnostics of the reference, and the
// way their state is merged.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lib/lang/mafia/mafia_language.h"

namespace trumpet {
namespace {

constexpr const char* kNames[] = {
    "uc01_flow_volume_duration",   "uc02_flow_volume_cm", "uc03_cardinality_pcsa",
    "uc04_cardinality_hll",        "uc05_thresholds",     "uc06_sampling_stochastic",
    "uc07_sampling_deterministic", "uc08_postcards",      "uc09_trajectory",
    "uc10_two_phase_hh",           "uc11_topk_congested", "uc12_path_changes",
    "uc13_path_change_latency"};

std::string ReadProgram(const std::string& name) {
  const char* const top = std::getenv("top_srcdir");
  const std::string path =
      std::string(top != nullptr ? top : ".") + "/docs/measurements/" + name + ".mafia";
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_FALSE(text.empty()) << "cannot read " << path;
  return text;
}

MafiaCheck CheckProgram(const std::string& name, const MafiaOptions& options = {}) {
  return CheckMafia(ReadProgram(name), name, options);
}

// "WW m ordered, RW m snapshot"; without truncations, which the reference does not tell.
std::string Conflicts(const MeasureProgram& program) {
  constexpr const char* kNotes[] = {"", "exclusive", "ordered", "snapshot"};
  std::string text;
  for (const MeasureDiagnostic& diagnostic : program.diagnostics) {
    if (diagnostic.finding == MeasureFinding::kTruncation) continue;
    const bool is_write = diagnostic.finding == MeasureFinding::kWriteWrite;
    text += std::string(text.empty() ? "" : ", ") + (is_write ? "WW " : "RW ") + diagnostic.name +
            " " + kNotes[static_cast<int>(diagnostic.note)];
  }
  return text;
}

std::string Merges(const MeasureProgram& program) {
  constexpr const char* kMerges[] = {"sum", "or", "max", "min", "shared"};
  std::string text;
  for (const MeasureVariable& variable : program.variables) {
    text += (text.empty() ? "" : ", ") + variable.name + " " +
            kMerges[static_cast<int>(variable.merge)];
  }
  return text;
}

TEST(MafiaUsecases, AreAccepted) {
  for (const char* name : kNames) {
    const MafiaCheck check = CheckProgram(name);
    for (const MafiaProblem& error : check.errors) ADD_FAILURE() << FormatMafiaProblem(name, error);
  }
}

TEST(MafiaUsecases, ConflictAsTheReferenceSays) {
  for (const std::string name : kNames) {
    std::string expected;
    if (name == kNames[0]) expected = "RW start_ts exclusive";
    if (name == kNames[6]) {
      expected =
          "RW delta exclusive, WW delta ordered, RW delta snapshot, WW m ordered, RW delta "
          "snapshot, RW m snapshot";
    }
    if (name == kNames[9]) {
      expected = "WW hh_bytes exclusive, RW hh exclusive, RW hh_bytes exclusive";
    }
    EXPECT_EQ(Conflicts(CheckProgram(name).program), expected) << name;
  }
}

TEST(MafiaUsecases, AreMergedByKindAndUse) {
  const auto merges = [](const char* name) { return Merges(CheckProgram(name).program); };
  EXPECT_EQ(merges("uc01_flow_volume_duration"),
            "now_ts max, byte_counter sum, packet_counter sum, start_ts min, flow_duration max");
  EXPECT_EQ(merges("uc10_two_phase_hh"), "total shared, nbytes sum, hh or, hh_bytes sum");
  EXPECT_EQ(merges("uc12_path_changes"),
            "location_bf or, paths_sketch shared, n_change_sketch sum");
  EXPECT_EQ(merges("uc13_path_change_latency"), "change_ts max, l_clock shared");
}

TEST(MafiaUsecases, AreStrictlyRightButThoseThatCutOrCollide) {
  MafiaOptions options;
  options.is_strict = true;
  for (const std::string name : kNames) {
    const bool warns = name == kNames[6] || name == kNames[9] || name == kNames[10];
    EXPECT_EQ(CheckProgram(name, options).ok(), !warns) << name;
  }
}

TEST(MafiaUsecases, ArePrintedAsTheyAreWritten) {
  for (const char* name : kNames) {
    const std::string text = ReadProgram(name);
    const auto printed = PrintMafia(text, name);
    ASSERT_TRUE(printed.ok()) << printed.message();
    std::string bare;
    std::string line;
    for (const char c : text) {
      line += c;
      if (c != '\n') continue;
      if (line != "\n" && line.rfind("//", 0) != 0) bare += line;
      line.clear();
    }
    EXPECT_EQ(*printed, bare) << name;
  }
}

TEST(MafiaUsecases, TakeOtherParams) {
  MafiaOptions options;
  options.params = {{"THRESHOLD", "0.1"}};
  const MafiaCheck check = CheckProgram("uc10_two_phase_hh", options);
  ASSERT_TRUE(check.ok());
  const MeasureParam& param = check.program.params[1];
  EXPECT_EQ(param.name, "THRESHOLD");
  EXPECT_TRUE(param.is_bound);
  EXPECT_EQ(param.value.numerator, 1u);
  EXPECT_EQ(param.value.denominator, 10u);
  int ratios = 0;
  for (const MeasureExpr& expr : check.program.exprs) {
    if (expr.kind != MeasureExprKind::kRatio) continue;
    ++ratios;
    EXPECT_EQ(expr.value, 1u);
    EXPECT_EQ(expr.denominator, 10u);
    EXPECT_EQ(expr.op, MeasureOp::kGreater);
  }
  EXPECT_EQ(ratios, 1);
}

}  // namespace
}  // namespace trumpet
