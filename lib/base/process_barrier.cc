// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/base/process_barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trumpet {
namespace {

bool Membarrier(int command) { return syscall(SYS_membarrier, command, 0) == 0; }

}  // namespace

bool HasProcessBarrier() {
  static const bool has_it = Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return has_it;
}

bool ProcessBarrier() { return Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

}  // namespace trumpet
