// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// How a session begins, goes on and ends, as protobuf.  See event_codec.h.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_SESSION_CODEC_H
#define TRUMPET_LIB_WIRE_SESSION_CODEC_H

#include "lib/wire/check.h"
#include "lib/wire/message.h"

namespace trumpet {

namespace pb {
class Bye;
class Hello;
class HelloReply;
class KeepAlive;
class Refusal;
}  // namespace pb

bool Check(const pb::Hello& hello, const Place& place, Checker* checker);
bool Check(const pb::HelloReply& reply, const Place& place, Checker* checker);
bool Check(const pb::Refusal& refusal, const Place& place, Checker* checker);
bool Check(const pb::KeepAlive& keep_alive, const Place& place, Checker* checker);
bool Check(const pb::Bye& bye, const Place& place, Checker* checker);

void Write(const Hello& hello, pb::Hello* out);
void Write(const HelloReply& reply, pb::HelloReply* out);
void Write(const Refusal& refusal, pb::Refusal* out);
void Write(const KeepAlive& keep_alive, pb::KeepAlive* out);
void Write(const Bye& bye, pb::Bye* out);

Hello Read(const pb::Hello& in);
HelloReply Read(const pb::HelloReply& in);
Refusal Read(const pb::Refusal& in);
KeepAlive Read(const pb::KeepAlive& in);
Bye Read(const pb::Bye& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_SESSION_CODEC_H
