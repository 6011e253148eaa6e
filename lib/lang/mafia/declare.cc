// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/declare.h"

#include <algorithm>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/mafia/constants.h"
#include "lib/lang/mafia/resolve.h"

namespace trumpet::mafia {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

struct Type {
  std::string_view name;
  std::vector<std::string> keywords;
  std::vector<std::string> required;
  std::vector<std::string> algorithms;
};

const Type& TypeOf(const std::string& name) {
  static const Type kTypes[] = {
      {"Counter", {"width"}, {}, {}},
      {"Timestamp", {"width"}, {}, {}},
      {"HashMap", {"key", "size", "type", "collide"}, {"key", "size", "type"}, {}},
      {"Sketch",
       {"alg", "key", "nhash", "size", "width"},
       {"alg", "key", "size"},
       {"count-min", "store", "pcsa", "hyperloglog"}},
      {"BloomFilter",
       {"alg", "key", "nhash", "size", "width"},
       {"alg", "key", "size"},
       {"membership", "counting"}},
  };
  for (const Type& type : kTypes) {
    if (name == type.name) return type;
  }
  return kTypes[0];  // the parser lets no other name in, and Key has no keywords
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Declaration {
 public:
  Declaration(const Constructor& constructor, const Symbols& symbols, MeasureIndex role,
              Problems* problems)
      : constructor_(constructor),
        type_(TypeOf(constructor.type.text)),
        symbols_(symbols),
        role_(role),
        problems_(*problems) {}

  std::optional<MeasureVariable> Run();

 private:
  bool CheckKeywords();
  bool SetKind();
  bool SetMapType();
  bool SetCells();
  bool CheckPowerOfTwo();
  // The value of a keyword, or `otherwise` without one.
  bool Number(const char* keyword, uint64_t otherwise, uint64_t least, uint64_t most,
              uint64_t* value);
  const Argument* Find(std::string_view keyword) const;
  bool Fail(size_t offset, const char* code, const std::string& message) {
    return problems_.Add(offset, code, message);
  }

  const Constructor& constructor_;
  const Type& type_;
  const Symbols& symbols_;
  const MeasureIndex role_;
  Problems& problems_;
  MeasureVariable variable_;
};

const Argument* Declaration::Find(std::string_view keyword) const {
  for (const Argument& argument : constructor_.arguments) {
    if (argument.keyword.text == keyword) return &argument;
  }
  return nullptr;
}

bool Declaration::CheckKeywords() {
  bool is_right = true;
  for (const Argument& argument : constructor_.arguments) {
    const std::string& keyword = argument.keyword.text;
    if (!Contains(type_.keywords, keyword)) {
      is_right =
          Fail(argument.keyword.offset, "E1",
               Quote(keyword) + " is no keyword of " + std::string(type_.name) + ", which takes " +
                   List(type_.keywords) + DidYouMean(keyword, type_.keywords));
    } else if (Find(keyword) != &argument) {
      is_right = Fail(argument.keyword.offset, "E1",
                      Quote(keyword) + " is given twice; leave one of the two out");
    }
  }
  for (const std::string& keyword : type_.required) {
    if (Find(keyword) != nullptr) continue;
    is_right = Fail(constructor_.type.offset, "E1",
                    "this " + std::string(type_.name) + " has no " + keyword + "=; it needs " +
                        List(type_.required));
  }
  return is_right;
}

bool Declaration::SetMapType() {
  const Constructor& type = Find("type")->type[0];
  if (type.type.text != "Counter" && type.type.text != "Timestamp") {
    return Fail(type.type.offset, "E2",
                "a HashMap holds Counter() or Timestamp(), not " + Quote(type.type.text));
  }
  const auto cell = ResolveVariable(type, symbols_, role_, &problems_);
  if (!cell) return false;
  variable_.kind =
      cell->kind == MeasureKind::kCounter ? MeasureKind::kCounterMap : MeasureKind::kTimestampMap;
  variable_.bits = cell->bits;
  const Argument* collide = Find("collide");
  if (collide == nullptr) return true;
  variable_.evicts = collide->word.text == "evict";
  if (variable_.evicts) return true;
  return Fail(collide->word.offset, "E1",
              Quote(collide->word.text) + " is nothing that keys of one slot do; they \"evict\" " +
                  "each other, or share it without this keyword");
}

bool Declaration::SetKind() {
  if (type_.name == "HashMap") return SetMapType();
  if (type_.name == "Timestamp") variable_.kind = MeasureKind::kTimestamp;
  const Argument* alg = Find("alg");
  if (alg == nullptr) return true;
  struct Algorithm {
    std::string_view name;
    MeasureKind kind;
  };
  constexpr Algorithm kAlgorithms[] = {{"count-min", MeasureKind::kCountMin},
                                       {"store", MeasureKind::kStore},
                                       {"pcsa", MeasureKind::kPcsa},
                                       {"hyperloglog", MeasureKind::kHyperLogLog},
                                       {"membership", MeasureKind::kBloomMembership},
                                       {"counting", MeasureKind::kBloomCounting}};
  for (const Algorithm& known : kAlgorithms) {
    const bool is_of_type = Contains(type_.algorithms, std::string(known.name));
    if (alg->word.text != known.name || !is_of_type) continue;
    variable_.kind = known.kind;
    return true;
  }
  return Fail(alg->word.offset, "E1",
              Quote(alg->word.text) + " is no algorithm of " + std::string(type_.name) +
                  ", which has " + List(type_.algorithms) +
                  DidYouMean(alg->word.text, type_.algorithms));
}

bool Declaration::Number(const char* keyword, uint64_t otherwise, uint64_t least, uint64_t most,
                         uint64_t* value) {
  *value = otherwise;
  const Argument* argument = Find(keyword);
  if (argument == nullptr) return true;
  const auto given =
      EvaluateBetween(*argument->expr, keyword, least, most, symbols_, role_, &problems_);
  *value = given.value_or(otherwise);
  return given.has_value();
}

// E9, and registers that hold every rank: 32 - log2(size) + 1.
bool Declaration::CheckPowerOfTwo() {
  const size_t offset = Find("size")->expr->offset;
  const uint64_t size = variable_.size;
  if ((size & (size - 1)) != 0) {
    uint64_t next = 2;
    while (next < size) next *= 2;
    return Fail(offset, "E9",
                "the size of this sketch is " + std::to_string(size) +
                    "; it takes a power of two, such as " + std::to_string(next));
  }
  uint32_t rank = 33;
  for (uint64_t rest = size; rest > 1; rest /= 2) --rank;
  if (variable_.kind == MeasureKind::kPcsa || rank < (1u << variable_.bits)) return true;
  return Fail(Find("width")->expr->offset, "E12",
              "registers of " + std::to_string(variable_.bits) + " bits are too narrow for ranks " +
                  "up to " + std::to_string(rank));
}

bool Declaration::SetCells() {
  const bool is_pcsa = variable_.kind == MeasureKind::kPcsa;
  const bool is_hll = variable_.kind == MeasureKind::kHyperLogLog;
  const bool is_time = variable_.kind == MeasureKind::kTimestamp;
  const bool is_bit = variable_.kind == MeasureKind::kBloomMembership;
  const uint64_t most_hashes = is_pcsa || is_hll ? 1 : kMaxMeasureHashes;
  // A rank has 8 bits at most, a bitmap 32, and wider cells would hold the same.
  const uint64_t useful_bits = is_hll ? 8 : is_pcsa ? 32 : 64;
  uint64_t hashes = 1;
  uint64_t bits = variable_.bits;
  bool is_right = Number("nhash", 1, 1, most_hashes, &hashes);
  if (type_.name != "HashMap") {
    const uint64_t otherwise = is_bit ? 1 : is_hll ? 8 : is_time ? 64 : 32;
    is_right = Number("width", otherwise, 1, is_bit ? 1 : 64, &bits) && is_right;
  }
  // A register is chosen by a bit of the hash at least.
  const uint64_t least = is_pcsa || is_hll ? 2 : 1;
  is_right = Number("size", least, least, kMaxMeasureCells, &variable_.size) && is_right;
  variable_.hashes = static_cast<uint32_t>(hashes);
  variable_.bits = static_cast<uint8_t>(std::min(bits, useful_bits));
  return is_right && (!(is_pcsa || is_hll) || CheckPowerOfTwo());
}

std::optional<MeasureVariable> Declaration::Run() {
  if (!CheckKeywords() || !SetKind() || !SetCells()) return std::nullopt;
  const Argument* key = Find("key");
  if (key == nullptr) return variable_;
  const Symbol* symbol = symbols_.Require(key->word, role_);
  if (symbol == nullptr) return std::nullopt;
  if (symbol->kind != SymbolKind::kKey) {
    Fail(key->word.offset, "E2",
         Quote(key->word.text) + " is no key; declare one by NAME = " + "Key(FIELD, ...)");
    return std::nullopt;
  }
  variable_.key = symbol->index;
  return variable_;
}

}  // namespace

std::optional<MeasureKey> ResolveKey(const Constructor& constructor, const MeasureProgram& program,
                                     Problems* problems) {
  MeasureKey key;
  bool is_right = true;
  for (const Word& name : constructor.fields) {
    const auto field = RequireField(program, name, problems);
    is_right = is_right && field;
    if (!field) continue;
    key.fields.push_back(*field);
    key.bytes += (FieldBits(program, *field) + 7) / 8;
  }
  if (!is_right) return std::nullopt;
  if (key.bytes <= kMaxMeasureKeyBytes) return key;
  problems->Add(constructor.type.offset, "E12",
                "this key has " + std::to_string(key.bytes) + " bytes; at most " +
                    std::to_string(kMaxMeasureKeyBytes) + " are hashed");
  return std::nullopt;
}

std::optional<MeasureVariable> ResolveVariable(const Constructor& constructor,
                                               const Symbols& symbols, MeasureIndex role,
                                               Problems* problems) {
  return Declaration(constructor, symbols, role, problems).Run();
}

}  // namespace trumpet::mafia
