// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which database the switch follows: the one argument of ovs-vswitchd that is no option, or, if
// there is none, `otherwise`, the socket in Open vSwitch's run directory.
//
// Threads: any.  Errors: none; what is no remote is no such argument.

#ifndef TRUMPET_VSWITCHD_PLUGIN_DATABASE_REMOTE_H
#define TRUMPET_VSWITCHD_PLUGIN_DATABASE_REMOTE_H

#include <string>
#include <vector>

namespace trumpet {

// `arguments` without the program's name.  Sockets with relative paths lie in the folder of
// `otherwise`, "unix:/FOLDER/SOCKET", as Open vSwitch has it.
std::string DatabaseRemote(const std::vector<std::string>& arguments, const std::string& otherwise);

// Of this process, without its name; none if the system does not tell.
std::vector<std::string> ProcessArguments();

}  // namespace trumpet

#endif  // TRUMPET_VSWITCHD_PLUGIN_DATABASE_REMOTE_H
