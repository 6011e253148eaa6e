// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Problem documents: how the API says what is wrong (RFC 9457, application/problem+json).
//
//   {"type":"about:blank", "title":"Unprocessable Content", "status":422,
//    "detail":"request:1:9: 'bytez' is not a packet variable; did you mean 'bytes'?",
//    "errors":[{"source":"request", "line":1, "column":9,
//               "message":"'bytez' is not a packet variable; did you mean 'bytes'?"}]}
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_PROBLEM_H
#define TRUMPET_CONTROLLER_REST_PROBLEM_H

#include <string>

#include "controller/rest/http_exchange.h"

namespace trumpet {

// `detail` may have several lines, as errors of the languages do; those that start with a place
// are told apart in `errors`.
HttpReply ProblemAnswer(int status, const std::string& detail);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_PROBLEM_H
