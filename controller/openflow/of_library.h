// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the two C files of the codec share.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H
#define TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H

#include "controller/openflow/of_codec.h"

// Around everything that may parse, print or complain.
bool trumpet_of_enter(void);
void trumpet_of_leave(bool was_quiescent);

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H
