// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What routes that ask analyzers about traces have in common: the words of a question, and the
// answer's way back.
//
// Threads: that of the libevent loop.

#ifndef TRUMPET_CONTROLLER_REST_TRACE_QUESTIONS_H
#define TRUMPET_CONTROLLER_REST_TRACE_QUESTIONS_H

#include <functional>
#include <string>
#include <vector>

#include "controller/rest/rest_call.h"
#include "controller/slice/trace_asker.h"
#include "lib/wire/trace_message.h"

namespace trumpet {

// These return false, and have answered, if the call asks for what there is not, or is not to be
// had by the caller.
bool RefuseTraces(const RestCall& call, int status, const std::string& why);
bool HasTraces(const RestCall& call);
// The parameters that say which traces are meant, and a tenant's prefixes.
bool ReadTraceWords(const RestCall& call, std::vector<TraceWord>* words);
// A tenant sees the packets of its prefixes.
bool ConfineTraces(const RestCall& call, std::vector<TraceWord>* words);
// "timeout".
bool ReadTracePatience(const RestCall& call, TraceQuestion* question);

// What analyzers understand as it is: printable, and not too long.
bool IsPlainTraceText(const std::string& text);
// "src-port" of "src_port"; empty: traces are not asked for by that.
std::string TraceWordOf(const std::string& parameter);

// Who has gone is not answered, and analyzers stop.
void AskTraces(const RestCall& call, TraceQuestion question,
               std::function<void(HttpExchange*, const TraceFindings&)> tell);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_REST_TRACE_QUESTIONS_H
