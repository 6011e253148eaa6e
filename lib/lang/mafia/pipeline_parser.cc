// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/pipeline_parser.h"

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/mafia/expr_parser.h"
#include "lib/lang/mafia/names.h"

namespace trumpet::mafia {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

class PipelineParser {
 public:
  explicit PipelineParser(TokenCursor* cursor) : at_(*cursor) {}

  bool Pipeline(Step* step);

 private:
  bool One(Step* step);
  bool Primitive(Step* step);
  bool Update(Step* step);

  TokenCursor& at_;
};

bool PipelineParser::Pipeline(Step* step) {
  if (!One(step)) return false;
  const bool is_parallel = at_.At("++");
  const char* sign = is_parallel ? "++" : ">>";
  if (!at_.At(sign)) return true;
  Step whole;
  whole.kind = is_parallel ? MeasureNodeKind::kPar : MeasureNodeKind::kSeq;
  whole.offset = is_parallel ? at_.Peek().offset : step->offset;
  if (!at_.Adopt(&whole, &Step::children, std::move(*step))) return false;
  while (at_.Take(sign)) {
    Step next;
    if (!One(&next) || !at_.Adopt(&whole, &Step::children, std::move(next))) return false;
  }
  *step = std::move(whole);
  if (!at_.At(">>") && !at_.At("++")) return true;
  return at_.FailAt(at_.Peek().offset,
                    "'++' and '>>' are not mixed; put the steps that belong together into "
                    "parentheses: a >> (b ++ c)");
}

bool PipelineParser::One(Step* step) {
  if (!at_.At("(")) return Primitive(step);
  if (!at_.Enter()) return false;
  at_.Next();
  const bool is_read = Pipeline(step) && at_.Expect(")");
  at_.Leave();
  return is_read;
}

bool PipelineParser::Primitive(Step* step) {
  step->offset = at_.Peek().offset;
  if (!at_.AtWord()) return at_.Expected("a step of a task");
  if (at_.At(".", 1)) return Update(step);
  const std::string word(at_.Next().text);
  const bool is_tag = word == "tag";
  if (word == "match") {
    step->kind = MeasureNodeKind::kMatch;
  } else if (is_tag) {
    step->kind = MeasureNodeKind::kTag;
  } else if (word == "timestamp") {
    step->kind = MeasureNodeKind::kTimestamp;
  } else if (word == "duplicate") {
    step->kind = MeasureNodeKind::kDuplicate;
  } else if (word == "collect") {
    step->kind = MeasureNodeKind::kCollect;
  } else {
    return at_.FailAt(
        step->offset,
        Quote(word) + " is no step; match, tag, timestamp, duplicate, collect and NAME.set() are" +
            DidYouMean(word, {"match", "tag", "timestamp", "duplicate", "collect"}));
  }
  if (!at_.Expect("(")) return false;
  if (step->kind == MeasureNodeKind::kMatch) {
    return ParseExpr(&at_, &step->expr.emplace()) && at_.Expect(")");
  }
  if (!is_tag) return at_.ExpectWord("a name", &step->name) && at_.Expect(")");
  return ParseField(&at_, &step->name) && at_.Expect(",") &&
         ParseExpr(&at_, &step->expr.emplace()) && at_.Expect(")");
}

bool PipelineParser::Update(Step* step) {
  step->kind = MeasureNodeKind::kUpdate;
  if (!at_.ExpectWord("a variable", &step->name) || !at_.Expect(".")) return false;
  if (!at_.ExpectWord("what to do with it", &step->method)) return false;
  const std::string& method = step->method.text;
  if (!UpdateByName(method)) {
    const char* hint =
        AggregateByName(method) ? "; that is read, within match(), tag() and so on" : "";
    return at_.FailAt(step->method.offset, Quote(method) + " does nothing to a variable" + hint +
                                               DidYouMean(method, UpdateNames()));
  }
  if (!at_.Expect("(")) return false;
  if (at_.Take(")")) return true;
  return ParseExpr(&at_, &step->expr.emplace()) && at_.Expect(")");
}

}  // namespace

bool ParsePipeline(TokenCursor* cursor, Step* step) {
  return PipelineParser(cursor).Pipeline(step);
}

}  // namespace trumpet::mafia
