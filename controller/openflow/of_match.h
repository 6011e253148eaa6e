// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What a match takes, by Open vSwitch's own library; frame_match.h is what the rest uses.
//
// Errors and threads: as of_codec.h has them.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OF_MATCH_H
#define TRUMPET_CONTROLLER_OPENFLOW_OF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether the match takes the frame as it comes in at that port, 0 for none: without registers,
// without a tunnel.
char* trumpet_of_takes(const char* match, uint32_t in_port, const void* frame, size_t size,
                       bool* takes);

#ifdef __cplusplus
}
#endif

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OF_MATCH_H
