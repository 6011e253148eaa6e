// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include <event2/buffer.h>
#include <gtest/gtest.h>

#include "controller/rest/event_body.h"
#include "controller/rest/json_body.h"
#include "controller/rest/metrics_text.h"
#include "controller/rest/multipart.h"
#include "controller/rest/problem.h"
#include "lib/lang/event/document.h"

namespace trumpet {
namespace {

// "a|b ? k=v" or the error.
std::string Parsed(std::string_view text) {
  const auto target = ParseTarget(text);
  if (!target.ok()) return target.message();
  std::string result;
  for (const std::string& segment : target->segments) result += segment + "|";
  for (const auto& parameter : target->query) {
    result += " " + parameter.first + "=" + parameter.second;
  }
  return result;
}

TEST(Target, IsDecoded) {
  const std::pair<std::string, std::string> cases[] = {
      {"/", "|"},
      {"/v1/events", "v1|events|"},
      {"/v1/events/", "v1|events|"},
      {"/a%2Fb/c", "a/b|c|"},
      {"/%c3%a4", "\xc3\xa4|"},
      {"/a?x=1&y=%2B+z&flag", "a| flag= x=1 y=+ z"},
      {"/a?", "a|"},
      {"/../etc", "..|etc|"},
      {"a", "the URL's path does not start with '/'"},
      {"/a%", "a '%' in the URL is not followed by two hexadecimal digits"},
      {"/a%4", "a '%' in the URL is not followed by two hexadecimal digits"},
      {"/%00", "the URL holds control characters, or is not UTF-8"},
      {"/%c3", "the URL holds control characters, or is not UTF-8"},
      {"/a?x=1&x=2", "the parameter 'x' is given twice"},
      {"/a/b/c/d/e/f/g/h/i", "the URL's path is too deep"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Parsed(text), expected) << text;
  EXPECT_EQ(Parsed("/" + std::string(5000, 'a')), "the URL is longer than 4096 bytes");
}

TEST(JsonBody, HasEachKeyOfAnObjectOnce) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"enabled":true,"enabled":false})", "request:1:17: 'enabled' stands twice here"},
      {R"({"a":{"b":1,"c":[{"d":1,"\u0064":2}]}})", "request:1:25: 'd' stands twice here"},
      {R"({"a":{"b":1},"b":{"a":1},"c":["a","a"]})", ""},
      {R"(["a","a"])", ""},
      {"", "request:1:1: not valid JSON here"},
  };
  for (const auto& [text, error] : cases) {
    const auto json = ReadJsonBody(text);
    EXPECT_EQ(json.ok() ? "" : json.message(), error) << text;
    EXPECT_EQ(json.ok() ? json->dump() : text, text);
  }
}

TEST(Problem, TellsPlacesApart) {
  const HttpReply answer =
      ProblemAnswer(422, "e.yaml:7:17: no \"x\"\nother text\ne.yaml:8:1: wrong");
  EXPECT_EQ(answer.content_type, "application/problem+json");
  EXPECT_EQ(answer.body,
            R"({"type":"about:blank","title":"Unprocessable Content","status":422,)"
            R"("detail":"e.yaml:7:17: no \"x\"\nother text\ne.yaml:8:1: wrong",)"
            R"("errors":[{"source":"e.yaml","line":7,"column":17,"message":"no \"x\""},)"
            R"({"source":"e.yaml","line":8,"column":1,"message":"wrong"}]})"
            "\n");
}

Evbuffer BufferOf(std::string_view text) {
  Evbuffer buffer(evbuffer_new());
  evbuffer_add(buffer.get(), text.data(), text.size());
  return buffer;
}

std::string Parts(const std::string& type, const std::string& body) {
  const Evbuffer buffer = BufferOf(body);
  const auto parts = ReadMultipart(type, buffer.get());
  if (!parts.ok()) return parts.message();
  std::string result;
  for (const auto& part : *parts) {
    std::string text(evbuffer_get_length(part.second.get()), '\0');
    evbuffer_copyout(part.second.get(), text.data(), text.size());
    result += part.first + "=" + text + ";";
  }
  return result;
}

TEST(Multipart, IsTakenApart) {
  const std::string type = "multipart/form-data; boundary=\"XX\"";
  const std::string one = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n2\r\n";
  const std::string two =
      "--XX\r\ncontent-disposition: form-data; filename=x; name=b\r\nContent-Type: y\r\n\r\n\r\n";
  EXPECT_EQ(Parts(type, one + two + "--XX--\r\n"), "a=1\r\n2;b=;");
  EXPECT_EQ(Parts(type, one + one + "--XX--"), "the body has two parts named 'a'");
  EXPECT_EQ(Parts(type, one), "the body ends before its last boundary");
  EXPECT_EQ(Parts(type, one + "--XX"), "the body ends before its last boundary");
  EXPECT_EQ(Parts(type, "--XX\r\nX: y\r\n\r\n1\r\n--XX--"), "a part of the body has no name");
  EXPECT_EQ(Parts("multipart/form-data", one), "the Content-Type names no boundary of the parts");
}

HttpRequest RequestWith(const std::string& type, const std::string& body) {
  HttpRequest request;
  request.headers["content-type"] = type;
  request.body = BufferOf(body);
  return request;
}

TEST(EventBody, TakesAnEventByItself) {
  const auto json = ReadEventBody(RequestWith("application/json", R"({"name":"a"})"), true);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->text, R"([{"name":"a"}])");
  EXPECT_EQ(json->MovePlaces("request:1:9: x\nrequest:2:9: y"), "request:1:8: x\nrequest:2:9: y");
  const auto yaml = ReadEventBody(RequestWith("application/yaml", "name: a\nfilter: b\n"), true);
  ASSERT_TRUE(yaml.ok());
  EXPECT_EQ(yaml->text, "- name: a\n  filter: b\n");
  EXPECT_EQ(yaml->MovePlaces("request:2:11: x"), "request:2:9: x");
  for (const char* text : {"---\nname: a\nfilter: b\n...\n", "%YAML 1.2\n--- # one\nname: a\n",
                           "\xef\xbb\xbfname: a\n", "--- {name: a}\n"}) {
    const auto marked = ReadEventBody(RequestWith("application/yaml", text), true);
    ASSERT_TRUE(marked.ok()) << marked.message();
    const auto root = event_lang::ReadYaml({"request", marked->text});
    ASSERT_TRUE(root.ok()) << root.message();
    ASSERT_EQ(root->items.size(), 1u) << marked->text;
    ASSERT_FALSE(root->items[0].items.empty()) << marked->text;
    EXPECT_EQ(root->items[0].items[0].text, "name") << marked->text;
  }
  const auto with_mark =
      ReadEventBody(RequestWith("application/json", "\xef\xbb\xbf{\"name\":\"a\"}"), true);
  ASSERT_TRUE(with_mark.ok());
  EXPECT_EQ(with_mark->text, R"([{"name":"a"}])");
  const auto list = ReadEventBody(RequestWith("text/yaml; charset=utf-8", "- name: a\n"), true);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->text, "- name: a\n");
  EXPECT_FALSE(ReadEventBody(RequestWith("text/plain", "- a"), false).ok());
}

TEST(MetricsText, WritesPrometheusFormat) {
  MetricsText text;
  text.Counter("a", "About\nit.", 3);
  text.Family("b_seconds", MetricsText::Type::kGauge, "B.");
  text.AddSeconds({{"x", "q\"\\\n"}}, -1500000000);
  LatencyHistogram histogram;
  histogram.Add(3 * kNanosPerMilli);
  text.Family("c_seconds", MetricsText::Type::kHistogram, "C.");
  text.Add({}, histogram);
  EXPECT_EQ(text.text().find("# HELP a_total About\\nit.\n# TYPE a_total counter\na_total 3\n"
                             "# HELP b_seconds B.\n# TYPE b_seconds "
                             "gauge\nb_seconds{x=\"q\\\"\\\\\\n\"} -1.500000000\n"),
            0u);
  EXPECT_NE(
      text.text().find("c_seconds_bucket{le=\"0.002\"} 0\nc_seconds_bucket{le=\"0.005\"} 1\n"),
      std::string::npos)
      << text.text();
  EXPECT_NE(text.text().find("c_seconds_bucket{le=\"+Inf\"} 1\nc_seconds_sum 0.003000000\n"
                             "c_seconds_count 1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace trumpet
