// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// MeasureProgram: a measurement program (MAFIA) whose names are all resolved: what the language
// hands to the wire and to the engine.
//
// Flat vectors that name each other by index, so that it is copied, compared and sent as it is;
// kNoIndex stands for "none".  The language promises (and whoever takes a program from elsewhere
// must check again): every index is within its vector, children of a node or expression have lower
// indices than their parent (so there are no cycles), a field or a stream is written only where
// that is allowed, and the limits below hold.
//
// Numbers are unsigned and 64 bits wide while they are computed with, modulo 2^64, and cut to the
// width of the cell or field that they are stored in.  x / 0 = x % 0 = 0; a shift by 64 or more is
// 0; comparisons and && || ! yield 0 or 1, any value but 0 is true.  && and || evaluate their right
// side only when the left one does not decide (which matters to random()).
//
// Threads: values; no state.

#ifndef TRUMPET_LIB_MODEL_MEASURE_PROGRAM_H
#define TRUMPET_LIB_MODEL_MEASURE_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/measure_field.h"

namespace trumpet {

using MeasureIndex = uint32_t;
constexpr MeasureIndex kNoIndex = UINT32_MAX;

// Limits of one program.
constexpr size_t kMaxMeasureVariables = 256;
constexpr size_t kMaxMeasureKeys = 64;
constexpr size_t kMaxMeasureKeyBytes = 64;
constexpr size_t kMaxMeasureTasks = 256;
constexpr size_t kMaxMeasureStreams = 64;  // pkts and ctrl included
constexpr size_t kMaxMeasureNodes = 4096;
constexpr size_t kMaxMeasureExprs = 16384;
constexpr size_t kMaxMeasureDepth = 64;   // of nodes, and of parentheses in expressions
constexpr size_t kMaxMeasureChain = 256;  // operators in a row, whatever they join
constexpr size_t kMaxMeasureExprDepth = kMaxMeasureChain + kMaxMeasureDepth + 1;
constexpr size_t kMaxMeasureBranches = 64;       // of one ++
constexpr size_t kMaxMeasureDiagnostics = 1000;  // of branches; further ones are left out
constexpr size_t kMaxMeasureCopies = 64;         // of one packet, copies of copies included
constexpr size_t kMaxMeasureNames = 256;         // params, endpoints, headers: of each
constexpr size_t kMaxMeasureRoles = 63;          // a bit each; one is left for "any"
constexpr size_t kMaxMeasureWindows = 63;        // likewise
constexpr size_t kMaxMeasureHeaderFields = 36;   // of all headers of one's own
constexpr uint32_t kMaxMeasureHashes = 16;
constexpr uint64_t kMaxMeasureCells = uint64_t{1} << 26;  // of all variables
constexpr Nanos kMaxMeasureWindow = 24 * 3600 * kNanosPerSecond;
constexpr uint64_t kMaxMeasureHeaderOffset = 1400;
constexpr uint64_t kMaxMeasureHeaderBytes = 1 << 12;

// In the text, both from 1; columns in characters.
struct MeasurePlace {
  uint32_t line = 1;
  uint32_t column = 1;
};

// numerator / denominator; a whole number has denominator 1.
struct MeasureNumber {
  uint64_t numerator = 0;
  uint64_t denominator = 1;  // a power of ten, at most 10^18
};

// Its value is already in the expressions; another value means to compile again.
struct MeasureParam {
  std::string name;
  MeasureNumber value;
  bool is_bound = false;  // by who installs it, not by the text
};

enum class MeasureRoleKind : uint8_t {
  kFirstHop,      // packets that came in by an edge port
  kIntermediate,  // by none, and leave by none
  kLastHop,       // leave by an edge port
  kEvery,
  kSite,  // of a name of the user's own: switches that are told to have it
};

struct MeasureRole {
  std::string name;
  MeasureRoleKind kind = MeasureRoleKind::kEvery;
};

// The bytes of a key: its fields in this order, each big-endian in (bits + 7) / 8 bytes, read from
// the current headers at each use.
struct MeasureKey {
  std::string name;
  MeasureIndex role = kNoIndex;
  std::vector<MeasureFieldId> fields;  // 1 or more
  uint32_t bytes = 0;
};

// A header in the payload of TCP or UDP: there if `guard` is true (1) of the packet and all its
// bytes are.  The guard reads fields of the table only, and is made of constants, fields and
// operators.
struct MeasureHeader {
  std::string name;
  MeasureIndex guard = 0;  // an expression
  uint32_t offset = 0;     // bytes from the end of the TCP or UDP header
  uint32_t bytes = 0;
};

// May be written on forwarded packets, too.
struct MeasureHeaderField {
  std::string name;  // "control.request"
  MeasureIndex header = 0;
  uint32_t offset = 0;  // bytes from the start of the header
  uint8_t bits = 8;     // whole bytes, 8 to 64
};

enum class MeasureKind : uint8_t {
  kCounter,       // one cell
  kTimestamp,     // one cell; ns of the switch's clock, 0: never
  kCounterMap,    // `size` cells, one of them per key
  kTimestampMap,  // likewise
  kBloomMembership,
  kBloomCounting,  // `size` cells, `hashes` of them per key, perhaps the same one twice
  kCountMin,
  kStore,  // as count-min: `hashes` rows of `size` cells, one of each row per key
  kPcsa,   // `size` bitmaps of `bits`
  kHyperLogLog,
};

// How the replicas of packet threads become one value.
enum class MeasureMerge : uint8_t {
  kSum,
  kOr,
  kMax,
  kMinNonzero,
  kShared,  // none does: one copy for all threads, or one thread that alone runs the program
};

struct MeasureVariable {
  std::string name;
  MeasureKind kind = MeasureKind::kCounter;
  MeasureMerge merge = MeasureMerge::kSum;
  bool evicts = false;  // a map with collide="evict": a slot belongs to the key that used it
                        // last; another key finds it 0 and takes it over when it writes
  uint8_t bits = 32;    // of a cell; 1 for membership
  uint32_t hashes = 1;  // functions or rows
  uint64_t size = 1;    // cells (of a row)
  MeasureIndex key = kNoIndex;  // none for kCounter and kTimestamp
  MeasureIndex role = kNoIndex;
  MeasureIndex window = kNoIndex;
  MeasurePlace place;

  // Rows times cells.
  uint64_t CellCount() const {
    const bool has_rows = kind == MeasureKind::kCountMin || kind == MeasureKind::kStore;
    return has_rows ? hashes * size : size;
  }
};

enum class MeasureWindowMode : uint8_t {
  kReset,  // packets at the end of an interval clear `quantum` cells each and do nothing else
  kFlip,   // two epochs change places; no packet is lost
};

// Time runs from the first packet it sees, and only with packets.
// Of a scope (`task` is none): `role` none is the whole program, else the tasks of that role.  It
// looks at each packet of pkts and ctrl of that role once, before the packet's first task; while it
// clears, none of the scope's tasks runs.
// Of a task: it looks at the packets of the task's stream; while it clears, the task does not run.
struct MeasureWindow {
  Nanos duration = 0;  // 1 to kMaxMeasureWindow
  uint32_t quantum = 64;
  MeasureWindowMode mode = MeasureWindowMode::kReset;
  MeasureIndex role = kNoIndex;
  MeasureIndex task = kNoIndex;
  std::vector<MeasureIndex> variables;  // in the order they were declared in
};

constexpr MeasureIndex kPktsStream = 0;
constexpr MeasureIndex kCtrlStream = 1;

struct MeasureStream {
  std::string name;  // [0] is pkts, [1] is ctrl
};

struct MeasureTask {
  MeasureIndex role = kNoIndex;
  MeasureIndex stream = kPktsStream;
  MeasureIndex window = kNoIndex;  // its own one, not that of its scope
  MeasureIndex root = 0;           // a node
  MeasurePlace place;
};

enum class MeasureNodeKind : uint8_t {
  kSeq,        // a >> b: the next one runs if this one yielded the packet
  kPar,        // a ++ b: each from the state at the fork, commits in order; yields if one does
  kMatch,      // `expr`; yields if true
  kTag,        // `field` = `expr`
  kTimestamp,  // cell of `target` = now
  kDuplicate,  // to stream `target`
  kCollect,    // at endpoint `target`; yields nothing
  kUpdate,     // `update` of variable `target`, with `expr` if it takes one
};

enum class MeasureUpdate : uint8_t {
  kSet,     // each selected cell, in order of rows or functions: = expr, where kWrittenCell in expr
            // is that cell
  kAdd,     // likewise += expr
  kReset,   // the selected cells = 0; of pcsa and hyperloglog the bitmap or register of the key
  kInsert,  // membership: selected cells = 1 (`set()` of a membership filter is this, too)
  kUpdate,  // pcsa, hyperloglog
  kInit,    // membership (of at most 64 cells): cell i = bit i of expr; counting: as kSet
};

struct MeasureNode {
  MeasureNodeKind kind = MeasureNodeKind::kSeq;
  MeasureUpdate update = MeasureUpdate::kSet;
  MeasureFieldId field = 0;
  MeasureIndex target = kNoIndex;      // variable, stream or endpoint
  MeasureIndex expr = kNoIndex;        // set add init match tag have one
  std::vector<MeasureIndex> children;  // kSeq, kPar: 2 or more nodes
  MeasurePlace place;
};

enum class MeasureExprKind : uint8_t {
  kConstant,     // `value`
  kRatio,        // (a / b) `op` (value / denominator), exactly; false when b is 0
  kUnary,        // `op` a
  kBinary,       // a `op` b
  kField,        // `field`
  kCell,         // of the current key: a counter, timestamp or map
  kWrittenCell,  // the cell that the surrounding set, add or init is at
  kFilterBits,   // membership (of at most 64 cells): bit i = cell i
  kAggregate,    // `aggregate` of `variable`, over its selected cells
  kMin,          // of a and b
  kMax,
  kRandom,  // uniform in [a, b), a when b <= a; one draw at each evaluation
};

enum class MeasureOp : uint8_t {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShiftLeft,
  kShiftRight,
  kPlus,
  kMinus,  // binary, and unary
  kTimes,
  kDivide,
  kRemainder,
  kNot,
  kComplement,  // ~
};

enum class MeasureAggregate : uint8_t {
  kTest,  // membership: all selected cells are 1.  pcsa, hyperloglog: update would change nothing
  kAny,   // a selected cell equals a; without a: is not 0
  kAll,   // every one
  kSum,
  kAvg,  // sum / number of selected cells
  kMin,
  kMax,
};

struct MeasureExpr {
  MeasureExprKind kind = MeasureExprKind::kConstant;
  MeasureOp op = MeasureOp::kPlus;
  MeasureAggregate aggregate = MeasureAggregate::kSum;
  MeasureFieldId field = 0;
  MeasureIndex variable = kNoIndex;
  MeasureIndex a = kNoIndex;  // expressions
  MeasureIndex b = kNoIndex;
  uint64_t value = 0;
  uint64_t denominator = 1;
};

enum class MeasureFinding : uint8_t {
  kWriteWrite,  // two branches of a ++ write the name
  kReadWrite,   // one reads what another writes
  kTruncation,  // a tag is wider than its field
};

enum class MeasureNote : uint8_t {
  kNone,
  kExclusive,  // guards let a packet into one of the branches only
  kOrdered,    // kWriteWrite: the last one in the text wins
  kSnapshot,   // kReadWrite: the reader sees what was there at the fork
};

// What the compiler says of a program that it accepts.
struct MeasureDiagnostic {
  MeasureFinding finding = MeasureFinding::kWriteWrite;
  MeasureNote note = MeasureNote::kNone;
  std::string name;  // of the variable or field
  MeasureIndex role = kNoIndex;
  MeasurePlace place;
};

struct MeasureProgram {
  std::string name;
  std::vector<MeasureParam> params;
  std::vector<std::string> endpoints;
  std::vector<MeasureRole> roles;
  std::vector<MeasureKey> keys;
  std::vector<MeasureHeader> headers;
  std::vector<MeasureHeaderField> header_fields;  // field ids from kMeasureFieldCount on
  std::vector<MeasureVariable> variables;         // in the order of the text
  std::vector<MeasureWindow> windows;
  std::vector<MeasureStream> streams;
  std::vector<MeasureTask> tasks;  // in the order of the text: that in which a packet runs them
  std::vector<MeasureNode> nodes;
  std::vector<MeasureExpr> exprs;
  std::vector<MeasureDiagnostic> diagnostics;
  uint64_t left_out_diagnostics = 0;  // besides of branches that exclude each other
};

// Whether an expression or a key reads it.
inline bool ReadsMeasureField(const MeasureProgram& program, MeasureFieldId field) {
  for (const MeasureExpr& expr : program.exprs) {
    if (expr.kind == MeasureExprKind::kField && expr.field == field) return true;
  }
  for (const MeasureKey& key : program.keys) {
    for (const MeasureFieldId one : key.fields) {
      if (one == field) return true;
    }
  }
  return false;
}

// "total", the name of a variable where all of a program are listed: "first_hop.total" when another
// role has one of the same name.
inline std::string MeasureVariableLabel(const MeasureProgram& program,
                                        const MeasureVariable& variable) {
  for (const MeasureVariable& other : program.variables) {
    if (other.name != variable.name || other.role == variable.role) continue;
    return program.roles[variable.role].name + "." + variable.name;
  }
  return variable.name;
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_MODEL_MEASURE_PROGRAM_H
