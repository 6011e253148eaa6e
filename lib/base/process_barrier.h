// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// The slow half of an agreement between one thread that stores and then loads very often, without a
// full memory barrier in between, and another that stores and loads the other way round, but
// seldom. The often one needs std::atomic_signal_fence() between the two, the seldom one
// ProcessBarrier(): then at least one of them sees what the other has stored.  (membarrier(2),
// private expedited)
//
// Threads: any.

#ifndef TRUMPET_LIB_BASE_PROCESS_BARRIER_H
#define TRUMPET_LIB_BASE_PROCESS_BARRIER_H

namespace trumpet {

// Whether this system has it: Linux from 4.14 on, unless a container forbids it.
bool HasProcessBarrier();

// All threads of the process pass a full memory barrier before this returns.  Interrupts those that
// run, for about a microsecond, and waits for the processors that run them: where these can be held
// up, as on a virtual machine, there is no hard bound.  False: they did not, for lack of memory;
// only if HasProcessBarrier().
bool ProcessBarrier();

}  // namespace trumpet

#endif  // TRUMPET_LIB_BASE_PROCESS_BARRIER_H
