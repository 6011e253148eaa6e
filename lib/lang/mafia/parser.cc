// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/mafia/parser.h"

#include <utility>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/suggest.h"
#include "lib/lang/mafia/expr_parser.h"
#include "lib/lang/mafia/names.h"
#include "lib/lang/mafia/pipeline_parser.h"

namespace trumpet::mafia {
namespace {

using event_lang::DidYouMean;
using event_lang::Quote;

const std::vector<std::string> kConstructors = {"Key",     "Counter", "Timestamp",
                                                "HashMap", "Sketch",  "BloomFilter"};
const std::vector<std::string> kItemWords = {"const",  "param",  "endpoint", "role",
                                             "header", "window", "pkts",     "ctrl"};

class Parser {
 public:
  Parser(std::string_view text, Problems* problems) : at_(Lex(text, problems), problems) {}

  Tree Run();

 private:
  // Up to the end of the program, or of the block.
  void Items(std::vector<Item>* items, bool is_in_role);
  bool ReadItem(Item* item, bool is_in_role);
  bool Value(Item* item, bool is_required);
  bool Endpoints(Item* item);
  bool Role(Item* item);
  bool Header(Item* item);
  bool HeaderFields(Item* item);
  bool WindowItem(Item* item);
  bool Task(Item* item);
  bool WindowArguments(Window* window);
  bool ReadConstructor(Constructor* constructor);
  bool KeyFields(Constructor* constructor);
  bool ReadArgument(Argument* argument);
  bool Name(const std::string& what, Item* item);
  bool Integer(const std::string& what, uint64_t* value);
  // Behind a mistake: to where the next item may begin.
  void Recover(size_t start);
  bool AtItem() const;

  TokenCursor at_;
};

bool Parser::Name(const std::string& what, Item* item) {
  Word name;
  if (!at_.ExpectWord(what, &name)) return false;
  if (IsReserved(name.text)) {
    return at_.FailAt(name.offset, Quote(name.text) + " is a word of the language; nothing else " +
                                       "has this name");
  }
  item->names.push_back(std::move(name));
  return true;
}

bool Parser::Integer(const std::string& what, uint64_t* value) {
  if (at_.Peek().kind != TokenKind::kInteger) return at_.Expected(what);
  *value = at_.Next().number.numerator;
  return true;
}

bool Parser::Value(Item* item, bool is_required) {
  item->kind = is_required ? ItemKind::kConst : ItemKind::kParam;
  if (!Name(is_required ? "the name of the constant" : "the name of the param", item)) return false;
  if (!is_required && !at_.At("=")) return true;
  return at_.Expect("=") && ParseExpr(&at_, &item->expr.emplace());
}

bool Parser::Endpoints(Item* item) {
  item->kind = ItemKind::kEndpoint;
  do {
    if (!Name("the name of an endpoint", item)) return false;
  } while (at_.Take(","));
  return true;
}

bool Parser::Role(Item* item) {
  item->kind = ItemKind::kRole;
  if (!Name("the name of the role", item) || !at_.Expect("{") || !at_.Enter()) return false;
  Items(&item->items, true);
  at_.Leave();
  return at_.Expect("}");
}

// IDENT "when" expr "at" INT "{" { IDENT ":" INT ";" } "}"
bool Parser::Header(Item* item) {
  item->kind = ItemKind::kHeader;
  return Name("the name of the header", item) && at_.Expect("when") &&
         ParseExpr(&at_, &item->expr.emplace()) && at_.Expect("at") &&
         Integer("the header's offset in bytes", &item->header_offset) && at_.Expect("{") &&
         HeaderFields(item) && at_.Expect("}");
}

bool Parser::HeaderFields(Item* item) {
  while (!at_.At("}")) {
    HeaderField& field = item->header_fields.emplace_back();
    if (!at_.ExpectWord("a field such as 'request: 16;', or '}'", &field.name)) return false;
    if (!at_.Expect(":") || !Integer("the field's width in bits", &field.bits)) return false;
    at_.Take(";");
  }
  return true;
}

// "(" expr { "," ("quantum" "=" expr | "mode" "=" IDENT) } ")"
bool Parser::WindowArguments(Window* window) {
  if (!at_.Expect("(") || !ParseExpr(&at_, &window->duration)) return false;
  while (at_.Take(",")) {
    Word keyword;
    if (!at_.ExpectWord("quantum= or mode=", &keyword) || !at_.Expect("=")) return false;
    const bool is_mode = keyword.text == "mode";
    if (!is_mode && keyword.text != "quantum") {
      return at_.FailAt(keyword.offset, Quote(keyword.text) + " is nothing that a window has" +
                                            DidYouMean(keyword.text, {"quantum", "mode"}));
    }
    if (is_mode ? !window->mode.text.empty() : window->quantum.has_value()) {
      return at_.FailAt(keyword.offset, Quote(keyword.text) + " is given twice");
    }
    if (is_mode && !at_.ExpectWord("reset or flip", &window->mode)) return false;
    if (!is_mode && !ParseExpr(&at_, &window->quantum.emplace())) return false;
  }
  return at_.Expect(")");
}

bool Parser::WindowItem(Item* item) {
  item->kind = ItemKind::kWindow;
  item->window.emplace().offset = item->offset;
  return WindowArguments(&*item->window);
}

bool Parser::Task(Item* item) {
  item->kind = ItemKind::kTask;
  Word stream;
  if (!at_.ExpectWord("a stream", &stream)) return false;
  item->names.push_back(std::move(stream));
  if (at_.Take(".")) {
    Window& window = item->window.emplace();
    window.offset = at_.Peek().offset;
    const bool is_stream = item->names[0].text == "pkts" || item->names[0].text == "ctrl";
    if (is_stream && !at_.Expect("window")) return false;
    if (!is_stream && !at_.Take("window")) {
      return at_.FailAt(item->offset, "a task begins with a stream, as in 'pkts >> " +
                                          item->names[0].text + "." +
                                          (at_.AtWord() ? std::string(at_.Peek().text) : "NAME") +
                                          "(...)'; behind the name of one there is '.window(...)'");
    }
    if (!WindowArguments(&window)) return false;
  }
  return at_.Expect(">>") && ParsePipeline(&at_, &item->pipeline);
}

bool Parser::KeyFields(Constructor* constructor) {
  do {
    if (!ParseField(&at_, &constructor->fields.emplace_back())) return false;
  } while (at_.Take(","));
  return true;
}

bool Parser::ReadArgument(Argument* argument) {
  if (!at_.ExpectWord("a keyword such as size=", &argument->keyword)) return false;
  std::string& keyword = argument->keyword.text;
  if (keyword == "w") keyword = "width";
  if (!at_.Expect("=")) return false;
  if (keyword == "type") {
    if (!at_.Enter() || !ReadConstructor(&argument->type.emplace_back())) return false;
    at_.Leave();
    return true;
  }
  if (keyword == "key") return at_.ExpectWord("the name of a key", &argument->word);
  if (keyword != "alg" && keyword != "collide") {
    return ParseExpr(&at_, &argument->expr.emplace());
  }
  if (at_.Peek().kind != TokenKind::kString) return at_.Expected("a word in quotes");
  const Token& token = at_.Next();
  argument->word = {std::string(token.text), token.offset};
  if (argument->word.text == "countmin") argument->word.text = "count-min";
  if (argument->word.text == "hll") argument->word.text = "hyperloglog";
  return true;
}

bool Parser::ReadConstructor(Constructor* constructor) {
  if (!at_.ExpectWord("Key, Counter, Timestamp, HashMap, Sketch or BloomFilter",
                      &constructor->type)) {
    return false;
  }
  std::string& type = constructor->type.text;
  if (type == "key") type = "Key";
  if (std::find(kConstructors.begin(), kConstructors.end(), type) == kConstructors.end()) {
    return at_.FailAt(constructor->type.offset,
                      Quote(type) + " is nothing that can be declared" +
                          (at_.At("(") ? DidYouMean(type, kConstructors)
                                       : "; a number has a name by 'const NAME = VALUE'"));
  }
  if (!at_.Expect("(")) return false;
  if (type == "Key") return KeyFields(constructor) && at_.Expect(")");
  if (at_.Take(")")) return true;
  do {
    if (!ReadArgument(&constructor->arguments.emplace_back())) return false;
  } while (at_.Take(","));
  return at_.Expect(")");
}

bool Parser::ReadItem(Item* item, bool is_in_role) {
  item->offset = at_.Peek().offset;
  if (at_.At("=", 1)) {
    item->kind = ItemKind::kDeclaration;
    return Name("a name", item) && at_.Expect("=") && ReadConstructor(&item->constructor);
  }
  if (at_.At("role") && is_in_role) {
    at_.FailAt(item->offset, "a role stands within no other; end that one with '}' first");
  }
  if (at_.Take("const")) return Value(item, true);
  if (at_.Take("param")) return Value(item, false);
  if (at_.Take("endpoint")) return Endpoints(item);
  if (at_.Take("role")) return Role(item);
  if (at_.Take("header")) return Header(item);
  if (at_.Take("window")) return WindowItem(item);
  if (at_.At(">>", 1) || at_.At(".", 1) || at_.At("pkts") || at_.At("ctrl")) return Task(item);
  if (!at_.AtWord()) return at_.Expected("a declaration or a task");
  const std::string word(at_.Peek().text);
  return at_.FailAt(item->offset, Quote(word) + " begins nothing; a declaration is 'NAME = ...', " +
                                      "a task 'STREAM >> ...'" + DidYouMean(word, kItemWords));
}

bool Parser::AtItem() const {
  for (const std::string_view word : {"const", "param", "endpoint", "role", "header"}) {
    if (at_.At(word) && at_.AtWord(1)) return true;
  }
  return (at_.At("pkts") || at_.At("ctrl")) && at_.At(">>", 1);
}

void Parser::Recover(size_t start) {
  // At least one token, or the same mistake would be read for ever.
  if (at_.Peek().offset == start && !at_.At("}")) at_.Next();
  while (!at_.AtEnd() && !at_.At(";") && !at_.At("}") && !AtItem()) at_.Next();
}

void Parser::Items(std::vector<Item>* items, bool is_in_role) {
  while (!at_.AtEnd() && !(is_in_role && at_.At("}")) && !at_.HasEnough()) {
    if (at_.Take(";")) continue;
    const size_t start = at_.Peek().offset;
    const size_t depth = at_.depth();
    if (ReadItem(&items->emplace_back(), is_in_role)) continue;
    at_.RestoreDepth(depth);
    Recover(start);
    if (!is_in_role) at_.Take("}");
  }
}

Tree Parser::Run() {
  Tree tree;
  Items(&tree.items, false);
  return tree;
}

}  // namespace

Tree Parse(std::string_view text, Problems* problems) { return Parser(text, problems).Run(); }

}  // namespace trumpet::mafia
