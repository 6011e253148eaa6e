// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// What systemd is told: the datagrams of sd_notify(3), without its library.
//
// Threads: the main one; the environment is read.

#ifndef TRUMPET_CONTROLLER_DAEMON_SERVICE_MANAGER_H
#define TRUMPET_CONTROLLER_DAEMON_SERVICE_MANAGER_H

namespace trumpet {

// Sends `state`, such as "READY=1", to the socket that NOTIFY_SOCKET names: a path, or a name of
// the kernel's with '@' in front.  Never waits.  False if there is nobody to tell, or it did not
// work: a service manager then gives up on us by itself.
bool TellServiceManager(const char* state);

}  // namespace trumpet

#endif  // TRUMPET_CONTROLLER_DAEMON_SERVICE_MANAGER_H
