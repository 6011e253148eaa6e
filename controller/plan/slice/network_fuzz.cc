// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the readers of maps: no crash, every error with its line, and links that go both ways.

#include <cstdint>
#include <string>

#include "controller/plan/slice/network_files.h"
#include "lib/base/fuzz_require.h"

namespace {

using trumpet::Require;
using trumpet::slice::Network;

void Check(const trumpet::Result<Network>& network) {
  if (!network.ok()) {
    Require(network.message().rfind("fuzz:", 0) == 0, "error without a line");
    return;
  }
  size_t ends = 0;
  for (int router = 0; router < network->router_count(); ++router) {
    Require(network->Find(network->NameOf(router)) == router, "router without its name");
    for (const auto& link : network->LinksOf(router)) {
      Require(link.to != router && link.weight > 0, "link that is none");
      Require(network->AreLinked(link.to, router), "link without a way back");
      ++ends;
    }
  }
  Require(ends == 2 * network->link_count(), "links miscounted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Check(trumpet::slice::ParseEdges(text, "fuzz"));
  Check(trumpet::slice::ParseGml(text, "fuzz"));
  return 0;
}
