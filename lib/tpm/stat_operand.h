// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// StatOperand: an aggregate's operand, compiled for evaluation per packet.
//
// A bare variable is read directly; an integer expression runs as a short
// postfix program; one that needs doubles walks the expression tree.
//
// Threads: immutable once made.  Cost: no allocation.

#ifndef TRUMPET_LIB_TPM_STAT_OPERAND_H
#define TRUMPET_LIB_TPM_STAT_OPERAND_H

#include <cstdint>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/expr.h"
#include "lib/packet/parsed_packet.h"
#include "lib/tpm/packet_facts.h"

namespace trumpet {

// The packet variables of one packet, or of one RTT sample.
struct VariableValues {
  int64_t values[kVariableCount];
  uint32_t defined = 0;  // bit per Variable

  bool IsDefined(Variable variable) const {
    return (defined >> static_cast<int>(variable) & 1) != 0;
  }
  int64_t Get(Variable variable) const { return values[static_cast<int>(variable)]; }
  void Set(Variable variable, int64_t value) {
    values[static_cast<int>(variable)] = value;
    defined |= 1u << static_cast<int>(variable);
  }
};

VariableValues ValuesOfPacket(const ParsedPacket& packet, const PacketFacts& facts);
VariableValues ValuesOfSample(const RttSample& sample);

class StatOperand {
 public:
  static StatOperand Compile(const Expr& expr, bool is_real);

  bool is_real() const { return is_real_; }
  bool is_bare() const { return is_bare_; }  // an integer variable by itself
  bool mentions_rtt() const { return mentions_rtt_; }
  // What an evaluation takes, by experience.
  Nanos work() const { return work_; }
  const Expr& expr() const { return expr_; }

  // False when the operand is undefined on this packet.
  bool EvaluateInteger(const VariableValues& values, int64_t* result) const {
    if (is_bare_) {
      *result = values.Get(expr_.variable);
      return values.IsDefined(expr_.variable);
    }
    return RunProgram(values, result);
  }
  // A whole number if no step has a fraction, however wide; undefined as above.
  Number EvaluateReal(const VariableValues& values) const;

 private:
  struct Step {
    ExprOp op;
    Variable variable;
    int64_t number;
  };

  StatOperand() = default;
  void Emit(const Expr& expr);
  bool RunProgram(const VariableValues& values, int64_t* result) const;

  Expr expr_;
  bool is_real_ = false;
  bool is_bare_ = false;
  bool mentions_rtt_ = false;
  Nanos work_ = 0;
  std::vector<Step> steps_;  // integer expressions that fit the stack of RunProgram
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_TPM_STAT_OPERAND_H
