// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// For tests of codecs: messages to frames and back, and errors that name the place.

#ifndef TRUMPET_LIB_WIRE_CODEC_KIT_TEST_H
#define TRUMPET_LIB_WIRE_CODEC_KIT_TEST_H

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lib/wire/codec.h"
#include "lib/wire/limits.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {

inline std::string Encoded(const Message& message) {
  std::string frame;
  const Status status = EncodeMessage(message, kMaxFrameToAgent, &frame);
  EXPECT_TRUE(status.ok()) << status.message();
  return frame;
}

inline std::string DecodeError(const std::string& frame) {
  const Result<Message> message = DecodeMessage(frame);
  return message.ok() ? "" : message.message();
}

// What is done to a good message, and the error it must give.
struct BadCase {
  std::function<void(pb::Frame*)> spoil;
  std::string error;
};

inline void ExpectErrors(const std::vector<BadCase>& cases) {
  for (const BadCase& bad : cases) {
    pb::Frame frame;
    bad.spoil(&frame);
    EXPECT_EQ(DecodeError(frame.SerializeAsString()), bad.error);
  }
}

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_CODEC_KIT_TEST_H
