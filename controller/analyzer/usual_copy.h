// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// ReadUsualCopy: the short way for the copies that most switches make of most packets.
//
// A usual copy comes over Ethernet and IPv4 without options, in ERSPAN II or III or in GRE with a
// key, and has in it a whole Ethernet header, at most one VLAN tag, IPv4 without options and not a
// fragment or IPv6 without extension headers, then TCP or UDP to no port of a tunnel nor of RoCE,
// with all their fixed headers.  What is said of it is what ReadTraceCopy() would say, and no list
// of layers is made for it.
//
// Threads: pure function.  Cost: no allocation.

#ifndef TRUMPET_CONTROLLER_ANALYZER_USUAL_COPY_H
#define TRUMPET_CONTROLLER_ANALYZER_USUAL_COPY_H

#include "controller/analyzer/trace_copy.h"

namespace trumpet {

// True: it is one for a trace (kCopy), and `copy` is all set.  False: nothing is known of it, and
// `copy` must be thrown away.
bool ReadUsualCopy(const Frame& frame, Nanos time, const TraceCopyOptions& options,
                   TraceCopy* copy);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_ANALYZER_USUAL_COPY_H
