// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Multipart: the parts of a body of type multipart/form-data (RFC 7578), as curl -F sends it.
//
// Threads: values; no state.  Memory: parts are moved, not copied.

#ifndef TRUMPET_CONTROLLER_REST_MULTIPART_H
#define TRUMPET_CONTROLLER_REST_MULTIPART_H

#include <map>
#include <string>
#include <string_view>

#include "controller/rest/http_request.h"
#include "lib/base/status.h"

namespace trumpet {

constexpr size_t kMaxParts = 8;

// By name; `body` is emptied.  Refused are parts without name, or with the same, headers beyond
// 4 KiB, more than kMaxParts, and a body that ends before its last boundary.
Result<std::map<std::string, Evbuffer>> ReadMultipart(std::string_view content_type,
                                                      evbuffer* body);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_MULTIPART_H
