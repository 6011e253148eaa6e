// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What the C files of the codec share.

#ifndef TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H
#define TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H

#include "controller/openflow/of_codec.h"

struct ofp_header;
struct ofpbuf;

// Around everything that may parse, print or complain.
bool trumpet_of_enter(void);
void trumpet_of_leave(bool was_quiescent);

// The library's time, in two parts; 0: it was not told.
int64_t trumpet_of_nanoseconds(uint32_t seconds, uint32_t rest);

void trumpet_of_tell(enum trumpet_of_kind kind, const struct trumpet_of_visitor* visitor,
                     struct trumpet_of_message* message);

// Of of_things.c.  Each returns an ofperr; 0: told.
int trumpet_of_decode_flow_mod(const struct ofp_header* header,
                               const struct trumpet_of_visitor* visitor,
                               struct trumpet_of_message* message);
int trumpet_of_decode_meter_mod(const struct ofp_header* header,
                                const struct trumpet_of_visitor* visitor,
                                struct trumpet_of_message* message);
int trumpet_of_decode_port_status(const struct ofp_header* header,
                                  const struct trumpet_of_visitor* visitor,
                                  struct trumpet_of_message* message);
// `type` is an ofptype; one that is no list is TRUMPET_OF_OTHER.
int trumpet_of_decode_list(int type, struct ofpbuf* rest, const struct trumpet_of_visitor* visitor,
                           struct trumpet_of_message* message);

#endif  // TRUMPET_CONTROLLER_OPENFLOW_OF_LIBRARY_H
