// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the API says of reshufflers, as JSON (openapi.json: schemas).
//
// Threads: no state.

#ifndef TRUMPET_CONTROLLER_REST_RESHUFFLER_VIEWS_H
#define TRUMPET_CONTROLLER_REST_RESHUFFLER_VIEWS_H

#include <nlohmann/json.hpp>

#include "controller/trace/reshuffler_book.h"

namespace trumpet {

nlohmann::ordered_json ReshufflersJson(const ReshufflersView& view);
// One of view.reshufflers, with whose each slot is.
nlohmann::ordered_json ReshufflerJson(const ReshufflersView& view, const ReshufflerView& one);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_RESHUFFLER_VIEWS_H
