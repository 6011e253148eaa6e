// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Reads frames of Partials, of which hosts send the most by far, without protobuf's objects: each
// list goes from the frame to where it is used.
//
// Only what our own encoder writes is read: fields in order, each once, lists packed.  Everything
// else is left to protobuf, which says what is wrong with it, if anything is.
//
// Threads: a function without state; any.

#ifndef TRUMPET_LIB_WIRE_PARTIALS_READER_H
#define TRUMPET_LIB_WIRE_PARTIALS_READER_H

#include <string_view>

#include "lib/wire/message.h"

namespace trumpet {

// False: the frame holds something else, or has to be looked at in another way; `partials` is
// rubbish then.  True: it is what DecodeByProtobuf() reads (codec.h).
bool ReadPartialsFrame(std::string_view frame, Partials* partials);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_PARTIALS_READER_H
