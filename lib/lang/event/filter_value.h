// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The right side of a filter's `field=`: values, prefixes, ranges, sets and TCP flags.

#ifndef TRUMPET_LIB_LANG_EVENT_FILTER_VALUE_H
#define TRUMPET_LIB_LANG_EVENT_FILTER_VALUE_H

#include <optional>
#include <string>
#include <string_view>

#include "lib/lang/event/token_stream.h"
#include "lib/model/filter.h"

namespace trumpet::event_lang {

// The nine flags that have names, lowest bit first: fin syn rst psh ack urg ece cwr ns.
constexpr std::string_view kTcpFlagNames[] = {"fin", "syn", "rst", "psh", "ack",
                                              "urg", "ece", "cwr", "ns"};

// TCP, UDP, ICMP, ICMPv6, SCTP; "" for the others.
std::string_view ProtocolName(Uint128 number);

// The largest number that `field`, which holds numbers, takes.
Uint128 LargestValue(Field field);

// Reads what follows `=` into the test, whose `ref` is set.
bool ParseTestValues(TokenStream* tokens, FieldTest* test);

}  // namespace trumpet::event_lang

#endif  // TRUMPET_LIB_LANG_EVENT_FILTER_VALUE_H
