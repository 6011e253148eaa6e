// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// LocalFacts: what the switch's database says of this host, for the controller.
//
// Threads: a value.

#ifndef TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H
#define TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H

#include <cstdint>
#include <string>

#include "lib/wire/message.h"
#include "lib/wire/tls_context.h"

namespace trumpet {

struct LocalFacts {
  uint64_t version = 0;   // rises with every change; 0: nothing is known
  std::string system_id;  // external_ids:system-id; may be empty
  TlsFiles ssl;           // of the SSL table; may be empty
  HostFacts facts;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_LOCAL_FACTS_H
