// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Host: what the switch offers (glue.h), for C++.

#ifndef TRUMPET_VSWITCHD_PLUGIN_HOST_H
#define TRUMPET_VSWITCHD_PLUGIN_HOST_H

#include <string>

#include "vswitchd-plugin/glue.h"

namespace trumpet {

class Host {
 public:
  // `ops` must outlive the host.
  explicit Host(const trumpet_host* ops) : ops_(ops) {}

  // One line in the switch's log.  Any thread off the packet path.
  void Error(const std::string& text) const { ops_->log(TRUMPET_LOG_ERROR, text.c_str()); }
  void Warn(const std::string& text) const { ops_->log(TRUMPET_LOG_WARNING, text.c_str()); }
  void Info(const std::string& text) const { ops_->log(TRUMPET_LOG_INFO, text.c_str()); }

  const trumpet_host& ops() const { return *ops_; }

 private:
  const trumpet_host* ops_;
};

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_HOST_H
