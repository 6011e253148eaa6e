// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The canonical text: from a table, and of random trees, which must read back as they were.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "lib/lang/mafia/mafia_language.h"
#include "lib/lang/mafia/parser.h"
#include "lib/lang/mafia/print.h"

namespace trumpet::mafia {
namespace {

struct Row {
  const char* text;
  const char* canonical;  // without the end of its line
};

TEST(MafiaPrint, IsCanonical) {
  const Row rows[] = {
      {"const A=0X1F", "const A = 0x1f;"},
      {"const A=0b101;;;", "const A = 0b101;"},
      {"param P", "param P;"},
      {"param P=0.0500", "param P = 0.05;"},
      {"param P=1.0", "param P = 1.0;"},
      {"param P=1500us", "param P = 1500us;"},
      {"param P=2000ms", "param P = 2s;"},
      {"param P=1.5ms", "param P = 1500us;"},
      {"param P=10.0.0.1", "param P = 10.0.0.1;"},
      {"endpoint A,B", "endpoint A, B;"},
      {"window(5s,mode=flip,quantum=8)", "window(5s, quantum=8, mode=flip);"},
      {"k=key(ip.src,ip.dest,ip.proto,switchid,pkt.in_port,metadata.packet_length)",
       "k = Key(ipv4.src, ipv4.dst, ipv4.proto, switch.id, pkt.input_port, pkt.size);"},
      {"c=Counter(w=8)", "c = Counter(width=8);"},
      {"c=Counter()", "c = Counter();"},
      {"m=HashMap(type=Timestamp(),collide=\"evict\",size=2*8,key=k)",
       "m = HashMap(key=k, size=2 * 8, type=Timestamp(), collide=\"evict\");"},
      {"s=Sketch(size=4,key=k,alg=\"countmin\")", "s = Sketch(alg=\"count-min\", key=k, size=4);"},
      {"header h when(udp.dst==1)at 4{a:8 b:16;}",
       "header h when udp.dst == 1 at 4 { a: 8; b: 16; }"},
      {"role every{c=Counter()pkts>>c.add(1)}",
       "role every {\n  c = Counter();\n  pkts >> c.add(1);\n}"},
      {"pkts>>((match((1))))", "pkts >> match(1);"},
      {"pkts>>(a.reset()>>b.reset())", "pkts >> a.reset() >> b.reset();"},
      {"pkts>>a.reset()>>(b.reset()>>c.reset())", "pkts >> a.reset() >> (b.reset() >> c.reset());"},
      {"pkts>>(a.reset())++(b.reset())", "pkts >> a.reset() ++ b.reset();"},
      {"pkts.window(1s)>>a.reset()", "pkts.window(1s) >> a.reset();"},
      {"# of the shell\npkts >> match(1) // of C", "pkts >> match(1);"},
      // Of expressions: only parentheses that are needed.
      {"pkts>>match((a+b)+c)", "pkts >> match(a + b + c);"},
      {"pkts>>match(a+(b+c))", "pkts >> match(a + (b + c));"},
      {"pkts>>match((a*b)+c)", "pkts >> match(a * b + c);"},
      {"pkts>>match(a*(b+c))", "pkts >> match(a * (b + c));"},
      {"pkts>>match((a==b)==c)", "pkts >> match((a == b) == c);"},
      {"pkts>>match((a&1)==1)", "pkts >> match(a & 1 == 1);"},
      {"pkts>>match(a&(b==1))", "pkts >> match(a & (b == 1));"},
      {"pkts>>match(!(a&&b)||!c)", "pkts >> match(!(a && b) || !c);"},
      {"pkts>>match(-(-a)+~b)", "pkts >> match(--a + ~b);"},
      {"pkts>>match(a>>1>>b)", "pkts >> match(a >> 1 >> b);"},
      {"pkts>>match(random(0,100)<min(a,b))", "pkts >> match(random([0:100]) < min(a, b));"},
      {"pkts>>match(s.any(ip.src)&&s.all())", "pkts >> match(s.any(ipv4.src) && s.all());"},
  };
  for (const Row& row : rows) {
    const auto printed = PrintMafia(row.text, "p");
    ASSERT_TRUE(printed.ok()) << row.text << "\n" << printed.message();
    EXPECT_EQ(*printed, std::string(row.canonical) + "\n") << "for: " << row.text;
    EXPECT_EQ(*PrintMafia(*printed, "p"), *printed);
  }
}

// The tree as it is, every node in brackets; nothing of the printer is used.
class Dump {
 public:
  std::string Of(const std::vector<Item>& items) {
    for (const Item& item : items) Add(item);
    return std::move(text_);
  }

 private:
  void Add(const std::string& word) { text_ += word + " "; }
  void Add(uint64_t number) { Add(std::to_string(number)); }
  void Add(const Expr& expr) {
    Add("[" + std::to_string(static_cast<int>(expr.kind)));
    const bool has_op = expr.kind == ExprKind::kUnary || expr.kind == ExprKind::kBinary;
    if (has_op) Add(static_cast<uint64_t>(expr.op));
    Add(expr.base);
    Add(expr.number.numerator);
    Add(expr.number.denominator);
    Add(expr.name + "." + expr.method.text);
    for (const Expr& operand : expr.operands) Add(operand);
    Add("]");
  }
  void Add(const std::optional<Expr>& expr) {
    if (expr) Add(*expr);
  }
  void Add(const Step& step) {
    Add("{" + std::to_string(static_cast<int>(step.kind)) + step.name.text + step.method.text);
    Add(step.expr);
    for (const Step& child : step.children) Add(child);
    Add("}");
  }
  void Add(const Constructor& constructor) {
    Add("(" + constructor.type.text);
    for (const Word& field : constructor.fields) Add(field.text);
    for (const Argument& argument : constructor.arguments) {
      Add(argument.keyword.text + "=" + argument.word.text);
      Add(argument.expr);
      for (const Constructor& type : argument.type) Add(type);
    }
    Add(")");
  }
  void Add(const Item& item) {
    Add("<" + std::to_string(static_cast<int>(item.kind)));
    for (const Word& name : item.names) Add(name.text);
    Add(item.expr);
    if (item.window) {
      Add(item.window->duration);
      Add(item.window->quantum);
      Add("mode" + item.window->mode.text);
    }
    if (item.kind == ItemKind::kDeclaration) Add(item.constructor);
    if (item.kind == ItemKind::kTask) Add(item.pipeline);
    for (const Item& inner : item.items) Add(inner);
    for (const HeaderField& field : item.header_fields) {
      Add(field.name.text);
      Add(field.bits);
    }
    Add(item.header_offset);
    Add(">");
  }

  std::string text_;
};

// Trees as the parser could give them, whatever they mean.
class RandomTree {
 public:
  explicit RandomTree(uint64_t seed) : random_(seed) {}

  Tree Next() {
    Tree tree;
    const int count = Below(6);
    for (int i = 0; i < count; ++i) tree.items.push_back(RandomItem(false));
    return tree;
  }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint64_t>(end)); }
  Word Name() { return {std::string(1, static_cast<char>('a' + Below(26))) + "_1", 0}; }
  std::string Field() { return Name().text + "." + Name().text; }

  Expr Number(ExprKind kind) {
    Expr expr;
    expr.kind = kind;
    expr.number.numerator = random_() >> Below(64);
    if (kind == ExprKind::kInteger) {
      constexpr uint8_t kBases[] = {2, 10, 16};
      expr.base = kBases[Below(3)];
    }
    if (kind == ExprKind::kDecimal) {
      expr.number.numerator %= 100'000;
      expr.number.denominator = 1000;
      if (expr.number.numerator % 10 == 0) ++expr.number.numerator;
    }
    if (kind == ExprKind::kIpv4) expr.number.numerator &= 0xffffffff;
    return expr;
  }

  Expr RandomExpr(int depth) {
    if (depth == 0 || Below(4) == 0) return Leaf();
    Expr expr;
    expr.kind = static_cast<ExprKind>(static_cast<int>(ExprKind::kUnary) + Below(5));
    const bool is_unary = expr.kind == ExprKind::kUnary;
    constexpr MeasureOp kUnaries[] = {MeasureOp::kNot, MeasureOp::kMinus, MeasureOp::kComplement};
    if (is_unary) expr.op = kUnaries[Below(3)];
    if (expr.kind == ExprKind::kBinary) expr.op = static_cast<MeasureOp>(Below(18));
    for (int i = 0; i < (is_unary ? 1 : 2); ++i) expr.operands.push_back(RandomExpr(depth - 1));
    return expr;
  }

  Expr Leaf() {
    const auto kind = static_cast<ExprKind>(Below(static_cast<int>(ExprKind::kUnary)));
    Expr expr;
    expr.kind = kind;
    if (kind <= ExprKind::kIpv4) return Number(kind);
    expr.name = kind == ExprKind::kField ? Field() : Name().text;
    if (kind != ExprKind::kMethod) return expr;
    constexpr const char* kMethods[] = {"test", "any", "all", "sum", "avg", "min", "max", "read"};
    expr.method.text = kMethods[Below(8)];
    if (Below(2) == 0) expr.operands.push_back(Number(ExprKind::kInteger));
    return expr;
  }

  Step RandomStep(int depth) {
    Step step;
    if (depth > 0 && Below(2) == 0) {
      step.kind = Below(2) == 0 ? MeasureNodeKind::kSeq : MeasureNodeKind::kPar;
      const int count = 2 + Below(4);
      for (int i = 0; i < count; ++i) step.children.push_back(RandomStep(depth - 1));
      return step;
    }
    step.kind = static_cast<MeasureNodeKind>(static_cast<int>(MeasureNodeKind::kMatch) + Below(6));
    if (step.kind != MeasureNodeKind::kMatch) step.name = Name();
    if (step.kind == MeasureNodeKind::kTag) step.name.text = Field();
    constexpr const char* kMethods[] = {"set", "add", "reset", "insert", "update", "init"};
    if (step.kind == MeasureNodeKind::kUpdate) step.method.text = kMethods[Below(6)];
    const bool has_expr = step.kind == MeasureNodeKind::kMatch ||
                          step.kind == MeasureNodeKind::kTag ||
                          (step.kind == MeasureNodeKind::kUpdate && Below(2) == 0);
    if (has_expr) step.expr = RandomExpr(4);
    return step;
  }

  Window RandomWindow() {
    Window window;
    window.duration = RandomExpr(1);
    if (Below(2) == 0) window.quantum = RandomExpr(1);
    if (Below(2) == 0) window.mode.text = Below(2) == 0 ? "flip" : "reset";
    return window;
  }

  // In the canonical order of keywords.
  Constructor RandomConstructor() {
    Constructor constructor;
    constexpr const char* kTypes[] = {"Key", "Counter", "HashMap", "Sketch", "BloomFilter"};
    constructor.type.text = kTypes[Below(5)];
    if (constructor.type.text == "Key") {
      constructor.fields = {{Field(), 0}, {Field(), 0}};
      return constructor;
    }
    constexpr const char* kKeywords[] = {"alg", "key", "nhash", "size", "width", "type", "collide"};
    for (const std::string keyword : kKeywords) {
      const bool is_needed = constructor.type.text != "Counter" && keyword == "size";
      if (Below(2) == 0 && !is_needed) continue;
      Argument argument;
      argument.keyword.text = keyword;
      if (keyword == "type") {
        argument.type.emplace_back().type.text = "Timestamp";
      } else if (keyword == "alg" || keyword == "key" || keyword == "collide") {
        argument.word = Name();
      } else {
        argument.expr = RandomExpr(1);
      }
      constructor.arguments.push_back(std::move(argument));
    }
    return constructor;
  }

  Item RandomItem(bool is_in_role) {
    Item item;
    do {
      item.kind = static_cast<ItemKind>(Below(8));
    } while (is_in_role && item.kind == ItemKind::kRole);
    if (item.kind != ItemKind::kWindow) item.names.push_back(Name());
    switch (item.kind) {
      case ItemKind::kConst:
      case ItemKind::kParam:
        if (item.kind == ItemKind::kConst || Below(2) == 0) item.expr = RandomExpr(3);
        break;
      case ItemKind::kEndpoint:
        if (Below(2) == 0) item.names.push_back(Name());
        break;
      case ItemKind::kRole:
        for (int i = Below(4); i > 0; --i) item.items.push_back(RandomItem(true));
        break;
      case ItemKind::kWindow:
        item.window = RandomWindow();
        break;
      case ItemKind::kHeader:
        item.expr = RandomExpr(3);
        item.header_offset = random_();
        for (int i = Below(3); i > 0; --i) item.header_fields.push_back({Name(), random_()});
        break;
      case ItemKind::kDeclaration:
        item.constructor = RandomConstructor();
        break;
      case ItemKind::kTask:
        if (Below(4) == 0) item.window = RandomWindow();
        item.pipeline = RandomStep(4);
        break;
    }
    return item;
  }

  std::mt19937_64 random_;
};

TEST(MafiaPrint, ReadsBackAsTheSameTree) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const Tree tree = RandomTree(seed).Next();
    const std::string printed = Print(tree);
    if (printed.size() > kMaxMafiaTextBytes) continue;
    Problems problems(printed);
    const Tree again = Parse(printed, &problems);
    ASSERT_TRUE(problems.empty()) << "seed " << seed << "\n"
                                  << printed << problems.Take().front().message;
    ASSERT_EQ(Dump().Of(again.items), Dump().Of(tree.items)) << "seed " << seed << "\n" << printed;
    ASSERT_EQ(Print(again), printed) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trumpet::mafia
