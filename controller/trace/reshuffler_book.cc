// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/trace/reshuffler_book.h"

namespace trumpet {

const char* ReshufflerStateName(ReshufflerState state) {
  switch (state) {
    case ReshufflerState::kAway:
      return "away";
    case ReshufflerState::kWaiting:
      return "waiting";
    case ReshufflerState::kPending:
      return "pending";
    case ReshufflerState::kInOrder:
      return "in order";
  }
  return "";
}

}  // namespace trumpet
