// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/options.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trumpet {
namespace {

using Arguments = std::vector<std::string>;

std::string NoEnvironment(const char* /*name*/) { return ""; }

Result<CtlInvocation> Parse(const Arguments& arguments, const std::string& config = "") {
  return ParseCtlArguments(arguments, NoEnvironment, config, "trumpetctl.yaml");
}

std::string ErrorOf(const Arguments& arguments, const std::string& config = "") {
  const auto parsed = Parse(arguments, config);
  return parsed ? "" : parsed.message();
}

TEST(CtlOptions, FindTheCommandItsArgumentsAndItsOptions) {
  const auto parsed = Parse({"event", "add", "--replace", "a.yaml", "-o", "json", "b.yaml"});
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_STREQ(parsed->command->name, "event add");
  EXPECT_EQ(parsed->arguments, (Arguments{"a.yaml", "b.yaml"}));
  EXPECT_TRUE(parsed->Has("replace"));
  EXPECT_EQ(parsed->output, OutputFormat::kJson);
}

TEST(CtlOptions, MayStandBeforeTheCommandAndTakeTheirValueEitherWay) {
  for (const Arguments& arguments : {Arguments{"--server=http://a:1/", "status"},
                                     Arguments{"--server", "http://a:1", "status"}}) {
    const auto parsed = Parse(arguments);
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_EQ(parsed->server, "http://a:1");
  }
}

TEST(CtlOptions, WaitAMinuteUnlessTold) {
  EXPECT_EQ(Parse({"event", "add", "--wait", "a"})->Get("wait"), "60");
  EXPECT_EQ(Parse({"event", "add", "--wait=5", "a"})->Get("wait"), "5");
}

TEST(CtlOptions, OfTheArgumentsWinOverTheEnvironmentAndThatOverTheFile) {
  const std::string config = "server: https://file\ntoken-file: /file\nca: /ca\noutput: yaml\n";
  const Environment environment = [](const char* name) -> std::string {
    if (std::string(name) == "TRUMPET_SERVER") return "https://environment";
    return std::string(name) == "TRUMPET_TOKEN_FILE" ? "/environment" : "";
  };
  const auto parsed =
      ParseCtlArguments({"--server=https://argument", "status"}, environment, config, "f");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->server, "https://argument");
  EXPECT_EQ(parsed->token_file, "/environment");
  EXPECT_EQ(parsed->ca_file, "/ca");
  EXPECT_EQ(parsed->output, OutputFormat::kYaml);
}

TEST(CtlOptions, SayWhatIsWrong) {
  const struct {
    Arguments arguments;
    const char* error;
  } cases[] = {
      {{}, "which command? trumpetctl --help lists them"},
      {{"evnt"}, "'evnt' is no command; trumpetctl --help lists them"},
      {{"host", "add"}, "'host add' is no command; there are host list, host show"},
      {{"event", "show"}, "too few arguments; usage: trumpetctl event show [OPTION]... NAME"},
      {{"status", "x"}, "too many arguments; usage: trumpetctl status [OPTION]... "},
      {{"status", "--replace"}, "trumpetctl status has no option --replace"},
      {{"event", "add", "--replace=yes", "f"}, "--replace takes no value"},
      {{"status", "--server"}, "--server needs a value"},
      {{"status", "--server", "host"}, "server is 'host'; it begins with http:// or https://"},
      {{"status", "-o", "xml"}, "output is 'xml'; it takes table, json or yaml"},
      {{"status", "-x"}, "there is no option -x"},
  };
  for (const auto& one : cases) EXPECT_EQ(ErrorOf(one.arguments), one.error);
}

// The words that call `command` with `option`.
Arguments CallOf(const CtlCommand& command, const std::string& option) {
  Arguments words;
  std::istringstream name(command.name);
  for (std::string word; name >> word;) words.push_back(word);
  words.insert(words.end(), command.min_arguments, "x");
  words.push_back(option);
  return words;
}

bool IsOfNumbers(const CtlOption& option) {
  const std::string value = option.value == nullptr ? "" : option.value;
  return value == "N" || value == "NUMBER" || value == "SECONDS" || value == "MS" ||
         value == "MBPS";
}

TEST(CtlOptions, TakeNoTextForANumber) {
  size_t count = 0;
  for (const CtlCommand& command : CtlCommands()) {
    for (const CtlOption& option : command.options) {
      EXPECT_EQ(IsOfNumbers(option), option.numbers.index() != 0) << option.name;
      if (!IsOfNumbers(option)) continue;
      ++count;
      const std::string name = std::string("--") + option.name;
      for (const char* wrong :
           {"abc", "", "-1", "5s", " 5", "0x5", "99999999999999999999", "nan"}) {
        const std::string front = name + " is '" + wrong + "'; it takes ";
        const std::string error = ErrorOf(CallOf(command, name + "=" + wrong));
        EXPECT_EQ(error.substr(0, front.size()), front) << command.name;
      }
      EXPECT_EQ(ErrorOf(CallOf(command, name + "=5")), "") << command.name;
    }
  }
  EXPECT_GT(count, 40u);
}

TEST(CtlOptions, SayWhichNumbersTheyTake) {
  EXPECT_EQ(ErrorOf({"event", "watch", "--count=abc"}),
            "--count is 'abc'; it takes 1 to 1000000000");
  EXPECT_EQ(ErrorOf({"event", "watch", "--count=0"}), "--count is '0'; it takes 1 to 1000000000");
  EXPECT_EQ(ErrorOf({"event", "watch", "--after=x"}),
            "--after is 'x'; it takes a whole number below 2^64");
  EXPECT_EQ(ErrorOf({"event", "add", "--wait=10000000000", "f"}),
            "--wait is '10000000000'; it takes 0 to 1000000000");
  EXPECT_EQ(ErrorOf({"slice", "solve", "--seconds=1e9"}),
            "--seconds is '1e9'; it takes 0.001 to 3600");
  EXPECT_EQ(Parse({"trace", "watch", "--count=7"})->Whole("count", 0), 7u);
  EXPECT_EQ(Parse({"trace", "watch"})->Whole("count", 3), 3u);
  EXPECT_EQ(Parse({"slice", "solve", "--seconds=2.5e-1"})->Decimal("seconds", 5), 0.25);
}

TEST(CtlOptions, NameThePlaceInTheFile) {
  EXPECT_EQ(ErrorOf({"status"}, "server: https://a\nsrver: b\n"),
            "trumpetctl.yaml:2:1: 'srver' is not server, token-file, ca or output");
  EXPECT_EQ(ErrorOf({"status"}, "output: xml\n"),
            "trumpetctl.yaml:1:1: output is 'xml'; it takes table, json or yaml");
  EXPECT_EQ(ErrorOf({"status"}, "server: [\n").substr(0, 17), "trumpetctl.yaml:2");
}

TEST(CtlOptions, HaveAHelpForEveryCommand) {
  EXPECT_NE(Parse({"--help"})->help.find("event watch [NAME...]"), std::string::npos);
  for (const CtlCommand& command : CtlCommands()) {
    Arguments words;
    const std::string name = command.name;
    const size_t space = name.find(' ');
    words.push_back(name.substr(0, space));
    if (space != name.npos) words.push_back(name.substr(space + 1));
    words.push_back("--help");
    const auto parsed = Parse(words);
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_NE(parsed->help.find("usage: trumpetctl " + name), std::string::npos);
    for (const CtlOption& option : command.options) {
      EXPECT_NE(parsed->help.find(std::string("--") + option.name), std::string::npos);
    }
  }
}

TEST(CtlOptions, HaveAHelpForTheFirstWordsOfCommands) {
  for (const Arguments& words :
       {Arguments{"slice", "--help"}, {"-h", "trace", "rules"}, {"token", "--help"}}) {
    const auto parsed = Parse(words);
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_NE(parsed->help, "");
  }
  const std::string help = Parse({"slice", "--help"})->help;
  EXPECT_NE(help.find("  slice solve "), std::string::npos) << help;
  EXPECT_NE(help.find("--server=URL"), std::string::npos) << help;
  EXPECT_EQ(help.find("event"), std::string::npos) << help;
  EXPECT_EQ(ErrorOf({"slic", "--help"}), "'slic' is no command; trumpetctl --help lists them");
  EXPECT_FALSE(Parse({"slice", "plans", "--help"}));
  EXPECT_FALSE(Parse({"slice"}));
}

TEST(CtlOptions, TakeWhatFollowsTwoDashesAsItIs) {
  const auto parsed = Parse({"event", "rm", "--", "--odd"});
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->arguments, Arguments{"--odd"});
}

}  // namespace
}  // namespace trumpet
