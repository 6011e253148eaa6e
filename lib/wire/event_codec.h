// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Events and what they are made of, as protobuf.
//
// Of each type: Check...() says whether it may cross the wire, Write() makes it of a value, Read()
// makes the value of what passed the check.
//
// A part of the codec.

#ifndef TRUMPET_LIB_WIRE_EVENT_CODEC_H
#define TRUMPET_LIB_WIRE_EVENT_CODEC_H

#include "lib/model/event_spec.h"
#include "lib/model/expr.h"
#include "lib/wire/check.h"

namespace trumpet {

namespace pb {
class Event;
class Expr;
class Filter;
class Number;
}  // namespace pb

bool CheckNumber(const pb::Number& number, const Place& place, Checker* checker);
void Write(const Number& number, pb::Number* out);
Number Read(const pb::Number& in);

// A filter that stands alone.
bool CheckFilter(const pb::Filter& filter, const Place& place, Checker* checker);
void Write(const FilterExpr& filter, pb::Filter* out);
FilterExpr Read(const pb::Filter& in);

bool CheckEvent(const pb::Event& event, const Place& place, Checker* checker);
// A predicate in place of the one of `event`.
bool CheckPredicate(const pb::Expr& predicate, const pb::Event& event, const Place& place,
                    Checker* checker);
void Write(const EventSpec& event, pb::Event* out);
void Write(const Expr& expr, pb::Expr* out);
EventSpec Read(const pb::Event& in);
Expr Read(const pb::Expr& in);

}  // namespace trumpet

#endif  // TRUMPET_LIB_WIRE_EVENT_CODEC_H
