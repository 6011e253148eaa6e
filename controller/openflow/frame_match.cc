// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/openflow/frame_match.h"

#include <cstdlib>

#include "controller/openflow/of_match.h"

namespace trumpet {

Result<bool> TakesFrame(const std::string& match, uint32_t in_port, std::string_view frame) {
  bool takes = false;
  char* const error = trumpet_of_takes(match.c_str(), in_port, frame.data(), frame.size(), &takes);
  if (error == nullptr) return takes;
  Status status = Status::Error(error);
  std::free(error);
  return status;
}

}  // namespace trumpet
