// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The pipelines of tasks: primitives in sequence and in parallel.

#ifndef TRUMPET_LIB_LANG_MAFIA_PIPELINE_PARSER_H
#define TRUMPET_LIB_LANG_MAFIA_PIPELINE_PARSER_H

#include "lib/lang/mafia/ast.h"
#include "lib/lang/mafia/token_cursor.h"

namespace trumpet::mafia {

// What stands behind "pkts >>"; false when a problem was told.
bool ParsePipeline(TokenCursor* cursor, Step* step);

}  // namespace trumpet::mafia

#endif  // TRUMPET_LIB_LANG_MAFIA_PIPELINE_PARSER_H
