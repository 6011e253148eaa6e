// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Programs for tests of the engine, built by hand.

#ifndef TRUMPET_LIB_MEASURE_TEST_PROGRAMS_H
#define TRUMPET_LIB_MEASURE_TEST_PROGRAMS_H

#include "lib/model/measure_program.h"

namespace trumpet {

inline MeasureExpr TestConstant(uint64_t value) {
  MeasureExpr expr;
  expr.value = value;
  return expr;
}

inline MeasureVariable TestSketch(MeasureKind kind, uint32_t hashes, uint64_t size, uint8_t bits) {
  MeasureVariable variable;
  variable.name = "v";
  variable.kind = kind;
  variable.hashes = hashes;
  variable.size = size;
  variable.bits = bits;
  variable.key = 0;
  return variable;
}

// pkts >> hits.set(hits + 1) >> match(hits.min() > 2) >> duplicate(copies);
// copies >> collect(C)
inline MeasureProgram TestProgram() {
  MeasureProgram program;
  program.endpoints = {"C"};
  program.streams = {{"pkts"}, {"ctrl"}, {"copies"}};
  program.keys.push_back({"key", kNoIndex, {kIpv4Src, kIpv4Dst}, 8});
  MeasureVariable hits;
  hits.name = "hits";
  hits.kind = MeasureKind::kCountMin;
  hits.hashes = 4;
  hits.size = 64;
  hits.key = 0;
  program.variables.push_back(hits);

  MeasureExpr cell;
  cell.kind = MeasureExprKind::kWrittenCell;
  MeasureExpr sum;
  sum.kind = MeasureExprKind::kBinary;
  sum.a = 0;
  sum.b = 1;
  MeasureExpr least;
  least.kind = MeasureExprKind::kAggregate;
  least.aggregate = MeasureAggregate::kMin;
  least.variable = 0;
  MeasureExpr above;
  above.kind = MeasureExprKind::kBinary;
  above.op = MeasureOp::kGreater;
  above.a = 3;
  above.b = 4;
  program.exprs = {cell, TestConstant(1), sum, least, TestConstant(2), above};

  MeasureNode set;
  set.kind = MeasureNodeKind::kUpdate;
  set.target = 0;
  set.expr = 2;
  MeasureNode match;
  match.kind = MeasureNodeKind::kMatch;
  match.expr = 5;
  MeasureNode duplicate;
  duplicate.kind = MeasureNodeKind::kDuplicate;
  duplicate.target = 2;
  MeasureNode seq;
  seq.children = {0, 1, 2};
  MeasureNode collect;
  collect.kind = MeasureNodeKind::kCollect;
  collect.target = 0;
  program.nodes = {set, match, duplicate, seq, collect};

  MeasureTask main;
  main.root = 3;
  MeasureTask copies;
  copies.stream = 2;
  copies.root = 4;
  program.tasks = {main, copies};
  return program;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MEASURE_TEST_PROGRAMS_H
