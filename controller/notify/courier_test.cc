// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/notify/courier.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <thread>

#include "controller/notify/http_sender.h"
#include "controller/notify/notify_kit_test.h"
#include "lib/base/loop_event.h"

namespace trumpet {
namespace {

class CourierTest : public testing::Test {
 protected:
  CourierTest() : receiver_(base_.get()) {
    options_.name = "ops";
    options_.url = receiver_.url();
    options_.first_retry = 2 * kNanosPerMilli;
    options_.longest_retry = 8 * kNanosPerMilli;
  }

  PostAnswer Post(HttpPost post) {
    std::optional<PostAnswer> answer;
    sender_.Post(std::move(post), [&](const PostAnswer& one) { answer = one; });
    EXPECT_TRUE(LoopUntil(base_.get(), [&] { return answer.has_value(); }));
    return answer.value_or(PostAnswer());
  }
  HttpPost PostTo(const std::string& url) {
    HttpPost post;
    post.url = url;
    post.body = "{}";
    return post;
  }

  // Brings one message; how that ended.
  Courier::End Deliver(Nanos give_up_after, CourierCounters* counters) {
    Courier courier(base_.get(), &sender_, &slots_, options_, "/hook", give_up_after, 1);
    EXPECT_TRUE(courier.ReadHeaders());
    std::optional<Courier::End> end;
    courier.Send([] { return std::string("{\"a\":1}"); }, [&](Courier::End one) { end = one; });
    EXPECT_TRUE(LoopUntil(base_.get(), [&] { return end.has_value(); }));
    *counters = courier.counters();
    return end.value_or(Courier::End::kExpired);
  }

  OwnedLoop base_{event_base_new()};
  TestReceiver receiver_;
  HttpSender sender_{base_.get()};
  SendSlots slots_{4};
  NotifyReceiver options_;
};

TEST_F(CourierTest, BringsAMessageWithItsHeaders) {
  const std::string secret = testing::TempDir() + "/trumpet-secret-" + std::to_string(getpid());
  std::ofstream(secret) << "Bearer s3cret\n";
  options_.headers = {{"X-Site", "north"}};
  options_.header_files = {{"Authorization", secret}};
  CourierCounters counters;
  EXPECT_EQ(Deliver(0, &counters), Courier::End::kTaken);
  unlink(secret.c_str());
  ASSERT_EQ(receiver_.requests().size(), 1u);
  const TestReceiver::Request& request = receiver_.requests()[0];
  EXPECT_EQ(request.path, "/hook");
  EXPECT_EQ(request.body, "{\"a\":1}");
  EXPECT_EQ(request.headers.at("Content-Type"), "application/json");
  EXPECT_EQ(request.headers.at("X-Site"), "north");
  EXPECT_EQ(request.headers.at("Authorization"), "Bearer s3cret");
  EXPECT_EQ(counters.taken, 1u);
}

TEST_F(CourierTest, KeepsOldHeadersWhenTheirFileIsGone) {
  options_.header_files = {{"Authorization", "/nonexistent/secret"}};
  Courier courier(base_.get(), &sender_, &slots_, options_, "", 0, 1);
  const Status read = courier.ReadHeaders();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.message(), "cannot read /nonexistent/secret: No such file or directory");
}

TEST_F(CourierTest, ComesAgainUntilTheReceiverIsWell) {
  receiver_.AnswerBy([](size_t number) {
    TestReceiver::Answer answer;
    answer.status = number < 5 ? 500 : 200;
    answer.body = "out of order";
    return answer;
  });
  CourierCounters counters;
  EXPECT_EQ(Deliver(0, &counters), Courier::End::kTaken);
  EXPECT_EQ(counters.attempts, 6u);
  EXPECT_EQ(counters.failed, 5u);
  EXPECT_EQ(counters.last_error, "");
}

TEST_F(CourierTest, WaitsAsLongAsTheReceiverAsks) {
  receiver_.AnswerBy([](size_t number) {
    TestReceiver::Answer answer;
    if (number == 0) answer = {429, {{"Retry-After", "1"}}, "", false};
    return answer;
  });
  CourierCounters counters;
  EXPECT_EQ(Deliver(0, &counters), Courier::End::kTaken);
  ASSERT_EQ(receiver_.requests().size(), 2u);
  EXPECT_GE(receiver_.requests()[1].when - receiver_.requests()[0].when,
            std::chrono::milliseconds(990));
}

TEST_F(CourierTest, GivesAMessageUpThatTheReceiverWillNeverTake) {
  receiver_.AnswerBy([](size_t) {
    return TestReceiver::Answer{400, {}, "no such field\nx", false};
  });
  CourierCounters counters;
  EXPECT_EQ(Deliver(0, &counters), Courier::End::kRefused);
  EXPECT_EQ(counters.attempts, 1u);
  EXPECT_EQ(counters.last_error, "HTTP status 400: no such field");
}

TEST_F(CourierTest, GivesAMessageUpInTheEnd) {
  receiver_.AnswerBy([](size_t) { return TestReceiver::Answer{503, {}, "", false}; });
  CourierCounters counters;
  EXPECT_EQ(Deliver(20 * kNanosPerMilli, &counters), Courier::End::kExpired);
  EXPECT_EQ(counters.expired, 1u);
  EXPECT_GT(counters.attempts, 1u);
}

TEST_F(CourierTest, DoesNotWaitForeverForAnAnswer) {
  receiver_.AnswerBy([](size_t number) {
    TestReceiver::Answer answer;
    answer.is_silent = number == 0;
    return answer;
  });
  options_.timeout = 50 * kNanosPerMilli;
  CourierCounters counters;
  EXPECT_EQ(Deliver(0, &counters), Courier::End::kTaken);
  EXPECT_EQ(counters.failed, 1u);
}

TEST_F(CourierTest, LetsOnlySoManyRequestsBeUnderWay) {
  receiver_.AnswerBy([](size_t) {
    TestReceiver::Answer answer;
    answer.is_silent = true;
    return answer;
  });
  options_.timeout = 100 * kNanosPerMilli;
  std::vector<std::unique_ptr<Courier>> couriers;
  size_t most = 0;
  size_t ended = 0;
  for (int i = 0; i < 10; ++i) {
    couriers.push_back(
        std::make_unique<Courier>(base_.get(), &sender_, &slots_, options_, "", 1, i));
    couriers.back()->Send([] { return std::string("{}"); }, [&](Courier::End) { ++ended; });
  }
  EXPECT_TRUE(LoopUntil(base_.get(), [&] {
    most = std::max(most, sender_.in_flight());
    return ended == couriers.size();
  }));
  EXPECT_EQ(most, 4u);
}

TEST_F(CourierTest, GivesItsTurnBackWhenItEndsUnderWay) {
  receiver_.AnswerBy([](size_t) {
    TestReceiver::Answer answer;
    answer.is_silent = true;
    return answer;
  });
  SendSlots one(1);
  options_.timeout = 50 * kNanosPerMilli;
  auto first = std::make_unique<Courier>(base_.get(), &sender_, &one, options_, "", 1, 1);
  Courier second(base_.get(), &sender_, &one, options_, "", 1, 2);
  bool is_ended = false;
  first->Send([] { return std::string("{}"); }, [](Courier::End) { FAIL(); });
  EXPECT_TRUE(LoopUntil(base_.get(), [&] { return sender_.in_flight() == 1; }));
  second.Send([] { return std::string("{}"); }, [&](Courier::End) { is_ended = true; });
  first.reset();
  EXPECT_TRUE(LoopUntil(base_.get(), [&] { return is_ended; }));
}

TEST_F(CourierTest, FollowsARedirectToTheSamePlaceOnly) {
  TestReceiver other(base_.get());
  receiver_.AnswerBy([&](size_t number) {
    TestReceiver::Answer answer;
    if (number == 0) answer = {308, {{"Location", "/elsewhere"}}, "", false};
    if (number == 2) answer = {307, {{"Location", other.url() + "/steal"}}, "", false};
    if (number == 3) answer = {302, {{"Location", "/get"}}, "", false};
    return answer;
  });
  EXPECT_EQ(Post(PostTo(receiver_.url())).status, 200);
  EXPECT_EQ(receiver_.requests()[1].path, "/elsewhere");
  EXPECT_EQ(receiver_.requests()[1].body, "{}");
  EXPECT_EQ(Post(PostTo(receiver_.url())).status, 307);
  EXPECT_EQ(Post(PostTo(receiver_.url())).status, 302);
  EXPECT_TRUE(other.requests().empty());
  EXPECT_EQ(receiver_.requests().size(), 4u);
}

TEST_F(CourierTest, EndsACircleOfRedirects) {
  receiver_.AnswerBy([](size_t) {
    return TestReceiver::Answer{307, {{"Location", "/again"}}, "", false};
  });
  EXPECT_EQ(Post(PostTo(receiver_.url())).status, 307);
  EXPECT_EQ(receiver_.requests().size(), 1u + HttpSender::kMaxRedirects);
}

TEST_F(CourierTest, ReadsNoEndlessAnswer) {
  receiver_.AnswerBy([](size_t) {
    return TestReceiver::Answer{200, {}, std::string(HttpSender::kMaxAnswerBytes + 1, 'x'), false};
  });
  EXPECT_EQ(Post(PostTo(receiver_.url())).error, "the answer is too long");
}

TEST_F(CourierTest, SaysWhyThereWasNoAnswer) {
  std::string url;
  {
    TestReceiver gone(base_.get());
    url = gone.url();
  }
  const PostAnswer answer = Post(PostTo(url));
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.error.find("connect"), std::string::npos) << answer.error;
}

TEST_F(CourierTest, TakesABrokenOffAnswerForAFailure) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  std::thread server([&] {
    const int peer = accept(listener, nullptr, nullptr);
    char request[4096];
    EXPECT_GT(read(peer, request, sizeof request), 0);
    const std::string half = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf";
    EXPECT_EQ(write(peer, half.data(), half.size()), static_cast<ssize_t>(half.size()));
    close(peer);
  });
  const PostAnswer answer =
      Post(PostTo("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))));
  server.join();
  close(listener);
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.error, "");
}

TEST_F(CourierTest, SpeaksNothingButHttp) {
  EXPECT_EQ(Post(PostTo("file:///etc/passwd")).status, 0);
  EXPECT_EQ(Post(PostTo("ftp://127.0.0.1/")).status, 0);
}

TEST(SameOrigin, ComparesSchemeHostAndPort) {
  EXPECT_TRUE(IsSameOrigin("http://a/x", "http://a:80/y?z"));
  EXPECT_TRUE(IsSameOrigin("https://a:443", "https://a/"));
  EXPECT_FALSE(IsSameOrigin("http://a", "https://a"));
  EXPECT_FALSE(IsSameOrigin("http://a", "http://b"));
  EXPECT_FALSE(IsSameOrigin("http://a", "http://a:81"));
  EXPECT_FALSE(IsSameOrigin("no url at all", "no url at all"));
}

}  // namespace
}  // namespace trumpet
