// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/output.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace trumpet {
namespace {

TEST(CtlOutput, ShowsThePlaceOfAnError) {
  const std::string document = "events:\n  - name: a\n    predicate: sum(bytez) > 1\n";
  const std::string body =
      R"({"title":"x","status":422,"detail":"d","errors":[
          {"source":"request","line":3,"column":20,"message":"'bytez' is not a packet variable"}]})";
  EXPECT_EQ(DescribeProblem(422, body, document, "events.yaml"),
            "events.yaml:3:20: 'bytez' is not a packet variable\n"
            "     3 |     predicate: sum(bytez) > 1\n"
            "       |                    ^\n");
}

TEST(CtlOutput, NamesTheFileOfWhatIsAboutAllOfIt) {
  const std::string body = R"({"detail":"request: the campaign: too long"})";
  EXPECT_EQ(DescribeProblem(422, body, "", "a.slices"), "a.slices: the campaign: too long\n");
  EXPECT_EQ(DescribeProblem(422, body, "", ""), "request: the campaign: too long\n");
}

TEST(CtlOutput, NamesTheFileOfWarnings) {
  auto plan = ApiJson::parse(
      R"({"explanation":"x\nwarning: request:1:5: m\n","warnings":["request:1:5: m","else",3]})");
  NameSourceOfWarnings("a.slices", &plan);
  EXPECT_EQ(plan.dump(), R"({"explanation":"x\nwarning: a.slices:1:5: m\n",)"
                         R"("warnings":["a.slices:1:5: m","else",3]})");
  for (const char* odd : {"null", "3", "[]", "{}", R"({"warnings":{}})", R"({"warnings":7})"}) {
    auto json = ApiJson::parse(odd);
    NameSourceOfWarnings("f", &json);
    EXPECT_EQ(json.dump(), odd);
  }
}

TEST(CtlOutput, CountsColumnsInCharactersAndKeepsTabs) {
  const std::string body = R"({"errors":[{"line":1,"column":4,"message":"m"}]})";
  EXPECT_EQ(DescribeProblem(422, body, "\t\xc3\xa9z!", "f"),
            "f:1:4: m\n     1 | \t\xc3\xa9z!\n       | \t  ^\n");
}

TEST(CtlOutput, OverlooksPlacesThatAreNone) {
  const std::string body =
      R"({"errors":[{"line":99,"column":1,"message":"m"},{"line":0,"column":-1}]})";
  EXPECT_EQ(DescribeProblem(422, body, "one line", "f"), "f:99:1: m\nf:0:-1: \n");
}

TEST(CtlOutput, DoesNotShowLinesThatATerminalWouldObey) {
  const std::string body = R"({"errors":[{"line":1,"column":2,"message":"m"}]})";
  for (const std::string line : {"a\x1b[2J", "\xc2\x9b", "\xff\xfe", "\x7f"}) {
    EXPECT_EQ(DescribeProblem(422, body, line, "f"), "f:1:2: m\n") << line.size();
  }
  EXPECT_EQ(DescribeProblem(422, body, "ab\r\n", "f"), "f:1:2: m\n     1 | ab\n       |  ^\n");
}

TEST(CtlOutput, SaysWhatItCanOfAnswersThatAreNoProblems) {
  EXPECT_EQ(DescribeProblem(502, "<html>", "", ""), "the server answered with status 502\n");
  EXPECT_EQ(DescribeProblem(404, R"({"title":"Not Found","detail":"no event 'x'"})", "", ""),
            "no event 'x'\n");
  EXPECT_EQ(DescribeProblem(401, R"({"title":"Unauthorized"})", "", ""),
            "Unauthorized (name a token with --token-file or TRUMPET_TOKEN_FILE)\n");
}

TEST(CtlOutput, BearsAnswersOfOtherShapes) {
  for (const char* text :
       {"[]", "{}", "null", "3", "\"x\"", "{\"errors\":[3]}", "{\"errors\":3}"}) {
    DescribeProblem(400, text, "", "");
    PrintYaml(ApiJson::parse(text));
  }
}

// As numbers, dates or truth, by one version of YAML or another.
TEST(CtlOutput, QuotesTextsThatReadersTakeForSomethingElse) {
  for (const char* text : {"0x0800", "0800", "+1", ".5", "1_000", "2027-01-31", "Yes", "on", "OFF",
                           "True", "NULL", ".inf", "y", "N", "=", "0o17"}) {
    EXPECT_EQ(PrintYaml(ApiJson(text)), "\"" + std::string(text) + "\"\n");
  }
  for (const char* text : {"heavy-flows", "yesterday", "h1.example", "TCP"}) {
    EXPECT_EQ(PrintYaml(ApiJson(text)), std::string(text) + "\n");
  }
}

TEST(CtlOutput, PrintsYamlThatIsReadBackTheSame) {
  const ApiJson json =
      ApiJson::parse(R"({"a":[1,2.5,-3],"b":{"c":"10ms","d":"true","e":"12","f":""},
      "g":null,"h":true,"i":[],"j":"a: b","k":"no","l":"x\ny","m":"- z","n":"~"})");
  const YAML::Node node = YAML::Load(PrintYaml(json));
  EXPECT_EQ(node["a"][1].as<double>(), 2.5);
  EXPECT_EQ(node["a"][2].as<int>(), -3);
  for (const char* key : {"c", "d", "e", "f"}) {
    EXPECT_EQ(node["b"][key].as<std::string>(), json["b"][key].get<std::string>());
  }
  EXPECT_EQ(node["b"]["d"].Tag(), "!");  // quoted, hence a text
  EXPECT_TRUE(node["g"].IsNull());
  EXPECT_TRUE(node["h"].as<bool>());
  EXPECT_EQ(node["i"].size(), 0u);
  for (const char* key : {"j", "k", "l", "m", "n"}) {
    EXPECT_EQ(node[key].as<std::string>(), json[key].get<std::string>());
  }
}

}  // namespace
}  // namespace trumpet
