// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/slice_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace trumpet {
namespace {

// A directory with some maps, gone with the test.
class SliceCases : public ::testing::Test {
 protected:
  SliceCases() {
    char name[] = "/tmp/slice-cases-XXXXXX";
    directory_ = mkdtemp(name);
    Write("square.edges", "a b 1\nb c 1\nc d 1\nd a 1\n");
    Write("broken.edges", "a b 1\na b c\n");
    Write("empty.edges", "\n");
    Write("line.gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]");
    options_.topologies = directory_;
    options_.source_name = "cases";
  }
  ~SliceCases() override {
    for (const char* name : {"square.edges", "broken.edges", "empty.edges", "line.gml"}) {
      std::remove((directory_ + "/" + name).c_str());
    }
    std::remove(directory_.c_str());
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
  }
  std::string Answer(const std::string& line) {
    bool is_case = false;
    const std::string answer = SliceCaseSolver(options_).Answer(line, 7, &is_case);
    EXPECT_TRUE(is_case) << answer;
    return answer;
  }
  std::string Refusal(const std::string& line) {
    bool is_case = true;
    const std::string answer = SliceCaseSolver(options_).Answer(line, 7, &is_case);
    EXPECT_FALSE(is_case) << answer;
    return answer;
  }

  std::string directory_;
  SliceCaseOptions options_;
};

TEST_F(SliceCases, AreAnsweredByKind) {
  const struct {
    const char* line;
    const char* answer;
  } cases[] = {
      {R"({"id":"1","k":"kps","g":"square","p":["a","b","c"]})",
       R"({"id":"1","kp":[0,1,2],"proof":"theorem-1"})"},
      {R"({"id":"2","k":"kps","g":"line","p":["1","0"]})",
       R"({"id":"2","kp":[0,1],"proof":"theorem-1"})"},
      {R"({"id":"3","k":"sur","g":"square","R":["a","b"],"E":["b"]})",
       R"({"id":"3","set":["c"],"node":["c","d"],"edge":[["a","d"],["b","c"]],"proof":"flow"})"},
      {R"({"id":"4","k":"sur","g":"square","R":["a","b"],"E":["c"]})",
       R"({"id":"4","set":["c"],"node":["c","d"],"edge":[["a","d"],["b","c"]],"proof":"flow",)"
       R"("warning":"no egress router is in the region, so every packet leaves it"})"},
      {R"({"id":"5","k":"arrow","g":"square","reg":["a","->","c"]})",
       R"({"id":"5","paths":[["a","b","c"],["a","d","c"]]})"},
      {R"({"id":"6","k":"arrow","g":"square","reg":["->","c"],"E":["b","c"]})",
       R"({"id":"6","paths":[["b","c"],["c"]]})"},
      {R"({"id":"7","k":"slots","during_s":0.45,"max_path_delay_ms":20,"min_slot_ms":23,)"
       R"("spacing_ms":10})",
       R"({"id":"7","slot_ms":23.0,"slots":13})"},
      {R"({"id":"14","k":"slots","during_s":1,"max_path_delay_ms":-0.0,"min_slot_ms":-0.0,)"
       R"("spacing_ms":100})",
       R"({"id":"14","slot_ms":0.0,"slots":10})"},
      {R"({"id":"10","k":"parse","text":"MIRROR 1.2.3.4 ON [A]"})",
       R"({"id":"10","accept":1,"print":"MIRROR { 1.2.3.4/32 } ON { [A] }\nUSING 10 Mb/s DURING )"
       R"(500 ms EVERY 5 s\n"})"},
      {R"({"id":"11","k":"parse","text":"FOO 1.2.3.4 ON [A]"})",
       R"({"id":"11","accept":1,"error":"text:1:1: 'FOO' is no action"})"},
      {R"({"id":"12","k":"parse","text":"MIRROR\n[A]"})",
       R"({"id":"12","accept":0,"error":"text:2:1: expected a prefix, ',' or ON, not '['"})"},
      {R"({"id":"8","k":"sched","m":[6,4],"z":1,"B":10,"T":2})",
       R"({"id":"8","pack":[[0,1]],"least":1,"proof":"counting","sched":[[0,1,2],[0,1,2]],)"
       R"("fill":{"obj":0.0,"bound":0.0,"proven":1}})"},
      {R"({"id":"13","k":"sched","m":[],"z":1,"B":10,"T":2})",
       R"({"id":"13","pack":[],"least":0,"proof":"counting","sched":[[0],[0]],)"
       R"("fill":{"obj":0.0,"bound":0.0,"proven":1}})"},
      {R"({"id":"9","k":"sched","m":[6,5],"z":0,"B":10,"T":3,"pack":[[0],[1]]})",
       R"({"id":"9","pack":[[0],[1]],"least":2,"proof":"counting","sched":[[0],[1],[1]],)"
       R"("fill":{"obj":1.0,"bound":1.0,"proven":1}})"},
  };
  for (const auto& one : cases) EXPECT_EQ(Answer(one.line), one.answer);
}

TEST_F(SliceCases, WithoutASolutionSayWhyAndWhere) {
  const struct {
    const char* line;
    const char* error;
  } cases[] = {
      {R"({"k":"kps","g":"square","p":["a","c"]})",
       R"(cases:7:29: there is no link from 'a' to 'c')"},
      {R"({"k":"kps","g":"square","p":["a","b","a"]})", R"(cases:7:29: the path visits 'a' twice)"},
      {R"({"k":"kps","g":"square","p":["a","x"]})", R"(cases:7:34: 'x' is no router of this map)"},
      {R"({"k":"sur","g":"empty","R":["a"],"E":[]})",
       R"(cases:7:29: 'a' is no router of this map)"},
      {R"({"k":"kps","g":"square","p":[]})", R"(cases:7:29: the path has no router)"},
      {R"({"k":"sur","g":"square","R":["a","c"],"E":[]})",
       R"(cases:7:29: the region is not connected: no way inside of it from 'a' to 'c')"},
      {R"({"k":"sched","m":[11],"z":0,"B":10,"T":2})",
       R"(cases:7:18: query 0 costs 11, more than the budget of 10 allows even alone)"},
      {R"({"k":"sched","m":[6,6],"z":0,"B":10,"T":1})",
       R"(cases:7:41: the queries need 2 slots, the campaign has 1)"},
      {R"({"k":"sched","m":[6,6],"z":0,"B":10,"T":2,"pack":[[0],[0]]})",
       R"(cases:7:56: a packing holds every query once)"},
      {R"({"k":"sched","m":[-1],"z":0,"B":10,"T":2})",
       R"(cases:7:19: this has to be a whole number from 0 to 1000000000000)"},
      {R"({"k":"sched","m":[1],"z":0,"B":10,"T":5000000})",
       R"(cases:7:39: a campaign of 5000000 slots; it takes 1 to 100000)"},
      {R"({"k":"sched","m":[1],"z":100000,"B":10,"T":2})",
       R"(cases:7:26: 100001 queries; at most 100000 are planned)"},
      {R"({"k":"sched","m":[1],"z":1000000000000,"B":10,"T":2})",
       R"(cases:7:26: 1000000000001 queries; at most 100000 are planned)"},
      {R"({"k":"slots","during_s":1000,"max_path_delay_ms":0,"min_slot_ms":1,"spacing_ms":0})",
       R"(cases:7:25: a campaign of 1000000 slots; it takes 1 to 100000)"},
      {R"({"k":"slots","during_s":1,"max_path_delay_ms":0,"min_slot_ms":0,"spacing_ms":0})",
       R"(cases:7:63: a slot takes 0 ms; the shortest slice takes more)"},
  };
  for (const auto& one : cases) {
    const std::string answer = Answer(one.line);
    EXPECT_NE(answer.find(std::string("\"error\":\"") + one.error + "\""), std::string::npos)
        << answer;
  }
}

// Ten thousand million places would not fit into any memory.
TEST_F(SliceCases, CountConfineQueriesInEverySlot) {
  std::istringstream in(
      "{\"id\":\"z\",\"k\":\"sched\",\"m\":[1],\"z\":99999,\"B\":10,\"T\":100000}\n"
      "{\"id\":\"2\",\"k\":\"sched\",\"m\":[1],\"z\":1,\"B\":1,\"T\":1}\n");
  std::ostringstream out;
  EXPECT_EQ(AnswerSliceCases(in, out, options_), 0u);
  EXPECT_EQ(out.str(),
            R"({"id":"z","error":"cases:1:35: 100000 queries in 100000 slots; at most 10000000 )"
            R"(pairs are planned"})"
            "\n"
            R"({"id":"2","pack":[[0]],"least":1,"proof":"counting","sched":[[0,1]],)"
            R"("fill":{"obj":0.0,"bound":0.0,"proven":1}})"
            "\n");
}

TEST_F(SliceCases, ThatAreNoneSayWhyAndWhere) {
  const struct {
    std::string line;
    std::string error;
  } cases[] = {
      {"", "cases:7:1: "},
      {"{\"id\":", "cases:7:7: not valid JSON here"},
      {"[1]", "cases:7:1: 'k' has to be a text"},
      {R"({"k":"x"})",
       "cases:7:6: 'x' is no kind of case; kps, sur, arrow, sched, slots and parse"},
      {R"({"k":"slots","k":"kps"})", "cases:7:14: 'k' stands twice in this case"},
      {R"({"k":"kps","g":"square","p":["a"],"p":["b"]})",
       "cases:7:35: 'p' stands twice in this case"},
      {R"({"k":"kps","g":"none","p":[]})", "cases:7:16: there is no map 'none' in " + directory_},
      {R"({"k":"kps","g":"../square","p":[]})", "cases:7:16: there is no map '../square' in "},
      {R"({"k":"kps","g":"broken","p":[]})",
       "cases:7:16: " + directory_ + "/broken.edges:2: the weight is 'c'"},
      {std::string(100000, '['), "cases:7:17: "},
  };
  for (const auto& one : cases) {
    const std::string answer = Refusal(one.line);
    EXPECT_NE(answer.find("\"error\":\"" + one.error), std::string::npos) << answer;
  }
}

TEST_F(SliceCases, AreAnsweredInTheirOrderWhateverIsBetween) {
  std::istringstream in(
      "{\"id\":\"1\",\"k\":\"kps\",\"g\":\"square\",\"p\":[\"a\"]}\nnonsense\n"
      "{\"id\":\"3\",\"k\":\"kps\",\"g\":\"square\",\"p\":[\"b\"]}");
  std::ostringstream out;
  EXPECT_EQ(AnswerSliceCases(in, out, options_), 1u);
  std::istringstream answers(out.str());
  std::string line;
  std::getline(answers, line);
  EXPECT_EQ(line, R"({"id":"1","kp":[0],"proof":"theorem-1"})");
  std::getline(answers, line);
  EXPECT_EQ(line, R"({"id":null,"error":"cases:2:2: not valid JSON here"})");
  std::getline(answers, line);
  EXPECT_EQ(line, R"({"id":"3","kp":[0],"proof":"theorem-1"})");
  EXPECT_FALSE(std::getline(answers, line));
}

// A line that nobody would write must not fill the memory.
TEST_F(SliceCases, OfAnyLengthAreReadInBoundedMemory) {
  std::string long_line(3 * 1024 * 1024, ' ');
  std::istringstream in(long_line +
                        "\n{\"id\":\"2\",\"k\":\"kps\",\"g\":\"square\",\"p\":[\"b\"]}\n");
  std::ostringstream out;
  EXPECT_EQ(AnswerSliceCases(in, out, options_), 1u);
  EXPECT_NE(out.str().find("cases:1:1: "), std::string::npos);
  EXPECT_NE(out.str().find(R"({"id":"2","kp":[0])"), std::string::npos);
}

}  // namespace
}  // namespace trumpet
