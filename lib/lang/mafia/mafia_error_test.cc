// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Programs with mistakes, and what is said of them: every error with its place and a way out.

#include <gtest/gtest.h>

#include <string>

#include "lib/lang/mafia/mafia_language.h"

namespace trumpet {
namespace {

struct Row {
  const char* text;
  const char* error;  // all of them, one a line; without the name of the program
};

std::string ErrorsOf(const std::string& text, const MafiaOptions& options = {}) {
  std::string errors;
  for (const MafiaProblem& problem : CheckMafia(text, "p", options).errors) {
    errors += (errors.empty() ? "" : "\n") + FormatMafiaProblem("p", problem).substr(2);
  }
  return errors.empty() ? "none" : errors;
}

template <size_t kCount>
void CheckRows(const Row (&rows)[kCount]) {
  for (const Row& row : rows) EXPECT_EQ(ErrorsOf(row.text), row.error) << "for: " << row.text;
}

TEST(MafiaErrors, OfTheReferencesRejectedProgramsAreTold) {
  CheckRows({
      {"a=Counter(); b=Counter(); c=Counter(); pkts >> a.set(1) ++ b.set(2) >> c.set(3)",
       "1:69: '++' and '>>' are not mixed; put the steps that belong together into parentheses: "
       "a >> (b ++ c)"},
      {"pkts >> trajectory.insert();", "1:9: E1: 'trajectory' is not declared"},
      {"endpoint C; pkts >> collect(C);",
       "1:21: E5: collect() would take the packet away from its receiver; duplicate(STREAM) first, "
       "and 'STREAM >> collect(C)'"},
      {"a >> duplicate(b); b >> duplicate(a); pkts >> duplicate(a);",
       "1:25: E7: copies would run in a circle: 'a' is where they come from; copy to another "
       "stream"},
      {"pkts >> tag(pkt.size, 1);",
       "1:13: E3: 'pkt.size' is not written; it tells where the packet is"},
      {"c=Counter(); pkts >> c.insert();",
       "1:24: E2: 'c' is a Counter, which has no insert(); it has set(), add() and reset()"},
      {"k=Key(ip.src); s=Sketch(alg=\"count-min\",key=k,nhash=2,size=16); c=Counter();\n"
       "pkts >> c.set(s);",
       "2:15: E4: 's' has several cells for a packet; read it by sum(), avg(), min() and max()"},
      {"endpoint C; zz >> collect(C);",
       "1:13: E8: nothing is copied to 'zz'; a task with duplicate(zz) fills it"},
      {"k=Key(ip.src); s=Sketch(alg=\"count-min\",key=k,nhash=2,key=k,size=16);",
       "1:55: E1: 'key' is given twice; leave one of the two out"},
  });
}

TEST(MafiaErrors, OfNamesAreTold) {
  CheckRows({
      {"total=Counter(); pkts >> totl.add(1)",
       "1:26: E1: 'totl' is not declared; did you mean 'total'?"},
      {"pkts >> match(ipv4.scr == 1)",
       "1:15: E1: 'ipv4.scr' is no field; did you mean 'ipv4.src'?"},
      {"c=Counter(); c=Timestamp()",
       "1:14: E1: 'c' is declared a second time; give one of the two another name"},
      {"role every { c=Counter() } c=Counter()",
       "1:28: E1: 'c' is declared a second time; give one of the two another name"},
      {"role first_hop { c=Counter() } role last_hop { pkts >> c.add(1) }",
       "1:56: E1: 'c' is not declared"},
      {"role last_hop { c=Counter() } role every { pkts >> c.add(1) }",
       "1:52: E1: 'c' is not declared"},
      {"role every { total=Counter() } role last_hop { pkts >> totl.add(1) }",
       "1:56: E1: 'totl' is not declared; did you mean 'total'?"},
      {"c=Counter(widht=8)",
       "1:11: E1: 'widht' is no keyword of Counter, which takes width; did you mean 'width'?"},
      {"m=HashMap(size=8)",
       "1:3: E1: this HashMap has no key=; it needs key, size, type\n"
       "1:3: E1: this HashMap has no type=; it needs key, size, type"},
      {"k=Key(ip.src) s=Sketch(alg=\"count-mni\", key=k, size=4)",
       "1:28: E1: 'count-mni' is no algorithm of Sketch, which has count-min, store, pcsa, "
       "hyperloglog; did you mean 'count-min'?"},
      {"c=Counter() pkts >> match(c.x == 1)",
       "1:27: E1: 'c.x' is no field: 'c' is a variable, read by its name alone"},
      {"c=Counter() window(5s, mode=filp)",
       "1:29: E1: 'filp' is no mode of a window; it is reset or flip; did you mean 'flip'?"},
      {"header ipv4 when ipv4.ttl == 1 at 0 { a: 8; }",
       "1:8: E1: 'ipv4' is a header that is always there; give this one another name"},
      {"header h when udp.dst == 1 at 0 { a: 8; a: 8; }",
       "1:41: E1: 'h.a' is declared a second time; give one of the two another name"},
      {"header h when udp.dst == 1 at 0 {}",
       "1:1: E1: this header has no field; it needs one, such as 'msg: 8;'"},
      {"k=Key(ip.src) m=HashMap(key=k, size=4, type=Counter(), collide=\"evcit\")",
       "1:64: E1: 'evcit' is nothing that keys of one slot do; they \"evict\" each other, or share "
       "it without this keyword"},
  });
}

TEST(MafiaErrors, OfKindsAreTold) {
  CheckRows({
      {"t=Timestamp(); pkts >> t.set(1)",
       "1:26: E2: 't' is a Timestamp, which has no set(); it has timestamp(NAME) and reset()"},
      {"c=Counter(); pkts >> timestamp(c)",
       "1:32: E2: 'c' is a Counter; timestamp() writes Timestamp() and HashMap of Timestamp"},
      {"c=Counter(); pkts >> match(c.min() > 1)",
       "1:30: E2: 'c' is a Counter, which has no min(); it is read by its name alone"},
      {"k=Key(ip.src); pkts >> match(k == 1)",
       "1:30: E2: 'k' is a key, which has no value; read its fields"},
      {"c=Counter(); pkts >> c.set()", "1:24: E2: set() of a Counter takes a value"},
      {"c=Counter(); pkts >> c.reset(1)", "1:30: E2: reset() of a Counter takes no value"},
      {"c=Counter(); d=HashMap(key=c, size=4, type=Counter())",
       "1:28: E2: 'c' is no key; declare one by NAME = Key(FIELD, ...)"},
      {"k=Key(ip.src); m=HashMap(key=k, size=4, type=Key(ip.src))",
       "1:46: E2: a HashMap holds Counter() or Timestamp(), not 'Key'"},
      {"c=Counter(); pkts >> match(c > 0.5)",
       "1:30: E2: a decimal is only compared with a ratio, as in 'a / b > 0.05'"},
      {"c=Counter(); pkts >> c.set(0.5)",
       "1:28: E2: a decimal is only compared with a ratio, as in 'a / b > 0.05'; a whole number is "
       "needed here"},
      {"c=Counter(width=pkt.size)",
       "1:17: E2: 'pkt.size' is known only of a packet; numbers, consts and params can stand here"},
      {"endpoint E; pkts >> E.add(1)", "1:21: E2: 'E' is no variable"},
      {"c=Counter(); header h when c == 1 at 0 { a: 8; }",
       "1:28: E2: 'c' is state; whether a header is there is decided by fields of the packet"},
  });
}

TEST(MafiaErrors, OfStreamsAreTold) {
  CheckRows({
      {"pkts >> duplicate(pkts)",
       "1:19: E6: copies do not go to 'pkts', which is what the switch receives; name a stream of "
       "your own"},
      {"pkts >> duplicate(ctrl)",
       "1:19: E6: copies do not go to 'ctrl', which is what the switch receives; name a stream of "
       "your own"},
      {"pkts >> duplicate(a); a >> duplicate(a)",
       "1:28: E7: copies would run in a circle: 'a' is where they come from; copy to another "
       "stream"},
      {"endpoint C; pkts >> duplicate(samples); sampels >> collect(C)",
       "1:41: E8: nothing is copied to 'sampels'; a task with duplicate(sampels) fills it; did you "
       "mean 'samples'?"},
      {"a >> tag(ipv4.id, nothing); b >> tag(ipv4.id, 1); pkts >> duplicate(a) >> match(nothing)",
       "1:19: E1: 'nothing' is not declared\n"
       "1:29: E8: nothing is copied to 'b'; a task with duplicate(b) fills it; did you mean 'a'?\n"
       "1:81: E1: 'nothing' is not declared"},
      {"param T; pkts >> match(pkt.size > T)",
       "1:7: E8: 'T' has no value; write 'param T = VALUE', or give one when it is installed"},
  });
}

TEST(MafiaErrors, OfSizesAndWindowsAreTold) {
  CheckRows({
      {"k=Key(ip.src); s=Sketch(alg=\"hll\", key=k, size=100)",
       "1:48: E9: the size of this sketch is 100; it takes a power of two, such as 128"},
      {"k=Key(ip.src); s=Sketch(alg=\"pcsa\", key=k, size=1)",
       "1:49: E12: size is 1; it takes 2 to 67108864"},
      {"k=Key(ip.src); s=Sketch(alg=\"hll\", key=k, size=1)",
       "1:48: E12: size is 1; it takes 2 to 67108864"},
      {"c=Counter(); window(1s); window(2s)",
       "1:26: E10: 'c' is in another window already; take one of the two away"},
      {"c=Counter(); window(1s); pkts.window(1s) >> c.add(1)",
       "1:31: E10: 'c' is in another window already; take one of the two away"},
      {"window(1s)",
       "1:1: E10: this window covers no variable; it stands beside those that it covers"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, nhash=2, size=32);\n"
       "pkts >> tag(ipv4.id, b)",
       "2:22: E11: a filter of 32 bits does not fit into 'ipv4.id', which has 16 bits; declare it "
       "with size=16"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, nhash=2, size=16);\n"
       "pkts >> tag(vlan.vid, b)",
       "2:23: E11: a filter of 16 bits does not fit into 'vlan.vid', which has 12 bits; declare it "
       "with size=12"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=12);\n"
       "pkts >> tag(ipv4.id, b.read() << 8)",
       "2:31: E11: the bits of a filter go up to 20 here, and 'ipv4.id' has 16 bits"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=12);\n"
       "pkts >> tag(ipv4.id, 1 | b.read() << 4)",
       "none"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=32);\n"
       "pkts >> tag(ipv4.id, b.read() >> 16) >> tag(ipv4.id, b & 0xffff) >> "
       "tag(ipv4.tos, b > 0) >> tag(ipv4.id, b << 2 & 0xffff)",
       "none"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=8);\n"
       "pkts >> tag(ipv4.id, b.read() | ipv4.src)",
       "none"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=128); c=Counter();\n"
       "pkts >> c.set(b.read())",
       "2:15: E11: 'b' has 128 bits; only a filter of at most 64 is a number, others are read by "
       "test()"},
      {"k=Key(ip.src); b=BloomFilter(alg=\"membership\", key=k, size=128); pkts >> b.init(1)",
       "1:76: E11: 'b' has 128 bits; init() loads a filter of at most 64"},
      {"pkts >> tag(ipv4.dst, 10.0.0.1)",
       "1:13: E12: 'ipv4.dst' is not written on forwarded packets, which would change where they "
       "go; write ipv4.tos, ipv4.id, vlan.vid or geneve.option, or duplicate() first and write on "
       "the "
       "copy"},
      {"c=Counter(width=65)", "1:17: E12: width is 65; it takes 1 to 64"},
      {"c=Counter(); window(0)",
       "1:21: E12: the window in nanoseconds is 0; it takes 1 to 86400000000000"},
      {"k=Key(ip.src); m=HashMap(key=k, size=0x4000001, type=Counter())",
       "1:38: E12: size is 67108865; it takes 1 to 67108864"},
      {"k=Key(ip.src); m=HashMap(key=k, size=0x4000000, type=Counter()); c=Counter()",
       "1:66: E12: with this the program has 67108865 cells of state; at most 67108864 are "
       "allowed"},
      {"header h when udp.dst == 1 at 0 { a: 12; }",
       "1:35: E12: 'h.a' has 12 bits; fields of headers have whole bytes, 8 to 64 bits"},
  });
}

TEST(MafiaErrors, OfSyntaxAreTold) {
  CheckRows({
      {"pkts >> match(1", "1:16: expected ')', not the end of the program"},
      {"pkts >> mach(1)",
       "1:9: 'mach' is no step; match, tag, timestamp, duplicate, collect and NAME.set() are; did "
       "you mean 'match'?"},
      {"cosnt X = 1",
       "1:1: 'cosnt' begins nothing; a declaration is 'NAME = ...', a task 'STREAM >> ...'; did "
       "you "
       "mean 'const'?"},
      {"c = Conter()", "1:5: 'Conter' is nothing that can be declared; did you mean 'Counter'?"},
      {"c = 5", "1:5: expected Key, Counter, Timestamp, HashMap, Sketch or BloomFilter, not '5'"},
      {"pkts >> match(1 < 2 < 3)",
       "1:21: comparisons do not follow each other; put one into parentheses"},
      {"param T = 10mz", "1:11: '10mz' is no number; durations end in ns, us, ms or s"},
      {"param T = 0.1ns", "1:11: '0.1ns' is no whole number of nanoseconds below 2^64"},
      {"param T = 10.0.0.256", "1:11: '10.0.0.256' is no IPv4 address such as 10.0.0.1"},
      {"param T = 18446744073709551616", "1:11: '18446744073709551616' does not fit into 64 bits"},
      {"c = Counter() @", "1:15: '@' is no character of programs"},
      {"s = Sketch(alg=\"pcsa)",
       "1:16: this quote is not closed on its line\n"
       "1:22: expected ')', not the end of the program"},
      {"role every { role last_hop {} }",
       "1:14: a role stands within no other; end that one with '}' first"},
      {"param pkts = 1", "1:7: 'pkts' is a word of the language; nothing else has this name"},
      {"pkts >> match(hh.tset())", "1:18: 'tset' is not read of a variable; did you mean 'test'?"},
      {"pkts >> match(c.set(1))",
       "1:17: 'set' is not read of a variable; that changes state, and is a step of a task"},
      {"pkts >> c.min()",
       "1:11: 'min' does nothing to a variable; that is read, within match(), tag() and so on"},
      {"// \u00e4\u00f6\n  \u00e4", "2:3: '\u00e4' is no character of programs"},
      {"\xc3\u202e", "1:1: '?' is no character of programs"},
      {"\u202e", "1:1: '?' is no character of programs"},
      {"k = Key(\u201cip.src\u201d)",
       "1:9: '\u201c' is no character of programs; quotes are \"\n"
       "1:16: '\u201d' is no character of programs; quotes are \""},
      {"pkts > c.add(1)", "1:6: expected '>>', not '>'"},
      {"c=Counter(); ctrl match(1)", "1:19: expected '>>', not 'match'"},
      {"c=Counter(); pkts.windw(1s) >> c.add(1)", "1:19: expected 'window', not 'windw'"},
      {"c=Counter(); c.add(1)",
       "1:14: a task begins with a stream, as in 'pkts >> c.add(...)'; behind the name of one "
       "there is '.window(...)'"},
      // Each kind of end of line ends one line, and the remark on it.
      {"# 1\r# 2\n# 3\r\npkts >> add(1)",
       "4:9: 'add' is no step; match, tag, timestamp, duplicate, collect and NAME.set() are"},
  });
}

TEST(MafiaErrors, AreAllToldAtOnce) {
  EXPECT_EQ(
      ErrorsOf(
          "pkts >> first.add(1);\npkts >> tag(pkt.size, second);\nendpoint C; pkts >> collect(C);"),
      "1:9: E1: 'first' is not declared\n"
      "2:13: E3: 'pkt.size' is not written; it tells where the packet is\n"
      "2:23: E1: 'second' is not declared\n"
      "3:21: E5: collect() would take the packet away from its receiver; duplicate(STREAM) "
      "first, and 'STREAM >> collect(C)'");
  EXPECT_EQ(ErrorsOf("pkts >> match(;\nc = Conter();\nrole every { pkts >> ; d = Counter( }"),
            "1:15: expected a value, not ';'\n"
            "2:5: 'Conter' is nothing that can be declared; did you mean 'Counter'?\n"
            "3:22: expected a step of a task, not ';'\n"
            "3:37: expected a keyword such as size=, not '}'");
}

TEST(MafiaErrors, OfADeclarationAreNotToldAgainWhereItIsUsed) {
  EXPECT_EQ(ErrorsOf("k=Key(ip.scr); m=HashMap(key=k, size=4, type=Counter()); pkts >> m.add(1)"),
            "1:7: E1: 'ip.scr' is no field; did you mean 'ip.src'?");
  EXPECT_EQ(ErrorsOf("header h when udp.dst == 1 at 0 { a: 12; } k=Key(h.a); pkts >> tag(h.a, 1)"),
            "1:35: E12: 'h.a' has 12 bits; fields of headers have whole bytes, 8 to 64 bits");
}

TEST(MafiaErrors, OfBoundParamsAreTold) {
  MafiaOptions options;
  options.params = {{"T", "soon"}};
  EXPECT_EQ(ErrorsOf("param T = 5", options),
            "1:7: E8: 'T' is given as 'soon'; it takes a number such as 5, 0.05, 10ms or 10.0.0.1");
  options.params = {{"S", "5"}};
  EXPECT_EQ(ErrorsOf("param T = 5", options),
            "1:1: E8: 'S' is given a value, but is no param of the program; did you mean 'T'?");
  options.params = {{"S", "5"}, {"U", "6"}};
  EXPECT_EQ(ErrorsOf("param T = 5", options),
            "1:1: E8: 'S' is given a value, but is no param of the program; did you mean 'T'?\n"
            "1:1: E8: 'U' is given a value, but is no param of the program; did you mean 'T'?");
}

// In order, and each once.
TEST(MafiaErrors, OfBranchesAreTold) {
  const std::string text =
      "a=Counter(); b=Counter(); c=Counter();\n"
      "pkts >> (\n"
      "  (a.set(1) >> b.set(1)) ++ (a.set(2) >> b.set(2)) ++ a.set(3))\n"
      ">> ((c.set(1) ++ c.set(2)) ++ c.set(3))";
  const std::string all =
      "3:26: warning: two branches of this '++' write 'a' of one packet; the last one in the text "
      "wins\n"
      "3:26: warning: two branches of this '++' write 'b' of one packet; the last one in the text "
      "wins\n"
      "4:15: warning: two branches of this '++' write 'c' of one packet; the last one in the text "
      "wins\n"
      "4:28: warning: two branches of this '++' write 'c' of one packet; the last one in the text "
      "wins";
  std::string warnings;
  for (const MafiaProblem& problem : CheckMafia(text, "p").warnings) {
    warnings += (warnings.empty() ? "" : "\n") + FormatMafiaProblem("p", problem).substr(2);
  }
  EXPECT_EQ(warnings, all);
  EXPECT_EQ(ErrorsOf(text, {true, {}}), all);
  const auto both = CheckMafia(
      "a=Counter(); b=Counter();\n"
      "pkts >> ((a.add(1) >> b.set(1)) ++ match(a > 5) ++ b.set(2))",
      "p");
  ASSERT_EQ(both.warnings.size(), 2u);
  EXPECT_EQ(both.warnings[0].code + both.warnings[1].code, "notewarning");
}

TEST(MafiaErrors, OfHostileSizesAreTold) {
  const auto repeat = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string deep = "nested too deep here; at most 64 levels are allowed";
  EXPECT_EQ(ErrorsOf("pkts >> match(" + repeat("(", 100) + "1" + repeat(")", 100) + ")"),
            "1:79: " + deep);
  EXPECT_EQ(ErrorsOf("pkts >> match(" + repeat("!", 64) + "pkt.size)"), "none");
  EXPECT_EQ(ErrorsOf("pkts >> match(" + repeat("!", 65) + "pkt.size)"), "1:79: " + deep);
  for (const char* more : {" || ipv4.id == 1", " && ipv4.id == 1", " + 1"}) {
    const std::string chain = "pkts >> match(pkt.size" + repeat(more, 256) + ")";
    EXPECT_EQ(ErrorsOf(chain), "none") << more;
    EXPECT_NE(ErrorsOf(chain + " >> match(pkt.size" + repeat(more, 400) + ")")
                  .find("more than 256 operators in a row; put some of them into parentheses"),
              std::string::npos)
        << more;
  }
  EXPECT_EQ(ErrorsOf("pkts >> " + repeat("(", 100)), "1:73: " + deep);
  EXPECT_EQ(ErrorsOf("m=" + repeat("HashMap(type=", 100)), "1:848: " + deep);
  EXPECT_EQ(ErrorsOf(std::string(kMaxMafiaTextBytes + 1, ' ')),
            "1:1: longer than the 65536 bytes that are read of a program");
  // Each stream makes two copies of what it gets.
  std::string doubling = "pkts >> duplicate(s0);\n";
  for (int i = 0; i < 20; ++i) {
    const std::string copy = "duplicate(s" + std::to_string(i + 1) + ")";
    doubling += "s" + std::to_string(i) + " >> " + copy + " >> " + copy + ";\n";
  }
  EXPECT_EQ(ErrorsOf(doubling),
            "1:9: E12: one packet on 'pkts' could make more than 64 copies; use fewer duplicate() "
            "steps");
  EXPECT_EQ(CheckMafia(repeat("c=Counter(x=1);\n", 1000), "p").errors.size(), kMaxMafiaProblems);
}

// A thousand notes come before the one warning, which --strict must not miss.
TEST(MafiaErrors, OfBranchesThatWriteTheSameAreToldBeforeNotes) {
  std::string text;
  std::string reads;
  std::string writes;
  for (int i = 10; i < 50; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += name + " = Counter();\n";
    reads += (i == 10 ? "" : " + ") + name;
    writes += (i == 10 ? "" : " >> ") + name + ".add(1)";
  }
  text += "last = Counter();\npkts >> ((" + writes + ")";
  for (int i = 0; i < 30; ++i) text += " ++ match(" + reads + " > " + std::to_string(i) + ")";
  const std::string notes = text + ");\n";
  const MafiaCheck quiet = CheckMafia(notes, "p", {true, {}});
  ASSERT_TRUE(quiet.ok()) << quiet.errors[0].message;
  ASSERT_EQ(quiet.program.diagnostics.size(), kMaxMeasureDiagnostics);
  ASSERT_EQ(quiet.warnings.size(), 40u + 1) << "what many branches read is told once";
  EXPECT_EQ(FormatMafiaProblem("p", quiet.warnings.back()),
            "p:1:1: note: 200 more about branches of '++' are left out; of those told, what two "
            "branches write goes first");
  const std::string both = notes + "pkts >> (last.add(1) ++ last.add(2));\n";
  const MafiaCheck check = CheckMafia(both, "p");
  ASSERT_TRUE(check.ok());
  ASSERT_EQ(check.program.diagnostics.size(), kMaxMeasureDiagnostics);
  ASSERT_EQ(check.warnings.size(), 41u + 1);
  EXPECT_EQ(check.warnings[40].code, "warning");
  EXPECT_FALSE(CheckMafia(both, "p", {true, {}}).ok());
}

// As many as a switch takes, and one more.
TEST(MafiaErrors, OfMoreThanASwitchTakesAreTold) {
  const auto numbered = [](int count, const std::string& before, const std::string& after) {
    std::string text;
    for (int i = 10; i < 10 + count; ++i) text += before + std::to_string(i) + after;
    return text;
  };
  const std::string roles = numbered(63, "role r", " { pkts >> match(1) }\n");
  EXPECT_EQ(ErrorsOf(roles), "none");
  EXPECT_EQ(ErrorsOf(roles + "role more {}"),
            "64:1: E12: too many roles; a program has at most 63");
  const std::string counters = numbered(64, "c", " = Counter();\n");
  const std::string windows = numbered(63, "pkts.window(1s) >> c", ".add(1);\n");
  EXPECT_EQ(ErrorsOf(counters + windows), "none");
  EXPECT_EQ(ErrorsOf(counters + windows + "pkts.window(1s) >> c73.add(1)"),
            "128:6: E12: too many windows; a program has at most 63");
  const std::string fields = "header h when udp.dst == 1 at 0 {\n" + numbered(36, "f", ": 8;\n");
  EXPECT_EQ(ErrorsOf(fields + "}"), "none");
  EXPECT_EQ(ErrorsOf(fields + "more: 8; }"),
            "38:1: E12: too many fields of headers; a program has at most 36");
}

}  // namespace
}  // namespace trumpet
