// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// The line between Open vSwitch's library (C) and trumpet-controller (C++).
//
// ovs_daemon.c is the only file of the controller that sees Open vSwitch headers: daemon flags, log
// and control socket are those of every daemon of the family.  C++ knows them through daemon.h.
//
// Two threads meet here.  The main thread calls all functions but those marked otherwise.  The
// control thread runs Open vSwitch's own poll loop for the control socket; it calls the functions
// of `struct trumpet_control`, which must not block.

#ifndef TRUMPET_CONTROLLER_DAEMON_OVS_DAEMON_H
#define TRUMPET_CONTROLLER_DAEMON_OVS_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A long option of the program, beside those of every daemon.
struct trumpet_option {
  const char* name;
  bool takes_value;
};

// `value` is null for an option that takes none, and valid as long as argv.
typedef void trumpet_option_found(void* aux, size_t index, const char* value);

// Parses the command line.  -h prints `usage` and what is common to all daemons, -V the version,
// and both exit; so does a mistake, with status 1.  Returns the index of the first argument that is
// no option.  `options` are at most 64.
int trumpet_daemon_parse(int argc, char** argv, const char* version, const char* usage,
                         const struct trumpet_option* options, size_t option_count,
                         trumpet_option_found* found, void* aux);

// Goes into the background if that was asked for: returns in the daemon, while the process that was
// started waits for trumpet_daemon_ready().  Writes the pid file and changes the user.  Exits with
// a message if any of that fails.  Before the first thread.
void trumpet_daemon_start(void);

// The daemon does its work: whoever started it goes on.
void trumpet_daemon_ready(void);

// A command that the control thread has received.  `request` stands for it until it is answered.
typedef void trumpet_command_received(void* aux, void* request, int argc, const char* const* argv);

// What coverage/show counts; the names there begin with trumpet_.
#define TRUMPET_COUNTERS(COUNTER)                                          \
  COUNTER(agent_sessions)    /* of agents, since the start */              \
  COUNTER(agent_refused)     /* connections of agents that were refused */ \
  COUNTER(partials)          /* counts of buckets, from hosts */           \
  COUNTER(intervals)         /* of events, that were decided */            \
  COUNTER(reports)           /* told */                                    \
  COUNTER(reports_withheld)  /* by rate limits */                          \
  COUNTER(reports_lost)      /* the store had no room for them */          \
  COUNTER(notify_delivered)  /* notifications that were taken */           \
  COUNTER(notify_failed)     /* attempts that failed */                    \
  COUNTER(notify_dropped)    /* reports and alerts that were given up */   \
  COUNTER(copies)            /* of slices, that analyzers took */          \
  COUNTER(copies_unknown)    /* of no slice that is expected */            \
  COUNTER(copies_dropped)    /* by the kernel */                           \
  COUNTER(packets_not_kept)  /* counted, for lack of memory */             \
  COUNTER(trace_copies)      /* that trace rules made */                   \
  COUNTER(traces)            /* packets whose copies were put together */  \
  COUNTER(traces_stored)     /* abnormal, marked, of protocols */          \
  COUNTER(traces_not_stored) /* the disk did not take them */

enum trumpet_counter {
#define TRUMPET_COUNTER_ENUM(NAME) TRUMPET_COUNTER_##NAME,
  TRUMPET_COUNTERS(TRUMPET_COUNTER_ENUM)
#undef TRUMPET_COUNTER_ENUM
      TRUMPET_COUNTER_COUNT
};

// How the control thread and the main thread meet.  Called by the control thread.
struct trumpet_control {
  void* aux;
  trumpet_command_received* received;
  // Takes the next answer: true and its parts, `*text` from malloc().  False: there is none.
  bool (*next_answer)(void* aux, void** request, bool* is_error, char** text);
  // Asks for figures, which come by trumpet_daemon_figures() some time later.
  void (*figures_wanted)(void* aux);
};

// Makes `name` a command, with what list-commands shows of it.  Before trumpet_daemon_serve().
void trumpet_daemon_command(const char* name, const char* usage, int min_args, int max_args);

// Opens the control socket and starts the control thread.  False: a message was printed.  `control`
// is copied.
bool trumpet_daemon_serve(const struct trumpet_control* control);

// An answer waits.  Any thread.
void trumpet_daemon_wake(void);

// The totals of all counters, and what memory/show prints.  Any thread.
void trumpet_daemon_figures(const uint64_t totals[TRUMPET_COUNTER_COUNT], const char* const* names,
                            const unsigned* values, size_t count);

// Sends the answers that wait, closes the control socket and ends the control thread.  The pid file
// goes at exit().
void trumpet_daemon_end(void);

enum trumpet_log_level {
  TRUMPET_LOG_ERROR,
  TRUMPET_LOG_WARNING,
  TRUMPET_LOG_INFO,
  TRUMPET_LOG_DEBUG,
};

// Modules of the log, as `ovs-appctl vlog/set` knows them.
enum trumpet_log_module {
  TRUMPET_LOG_CONTROLLER,  // trumpet_controller
  TRUMPET_LOG_TEM,         // trumpet_tem
  TRUMPET_LOG_STORE,       // trumpet_store
  TRUMPET_LOG_REST,        // trumpet_rest
  TRUMPET_LOG_NOTIFY,      // trumpet_notify
  TRUMPET_LOG_ANALYZER,    // trumpet_analyzer
  TRUMPET_LOG_MODULE_COUNT
};

// One line.  Errors and warnings are limited to 60 a minute for each module, and what that withheld
// is said.  Any thread.
void trumpet_daemon_log(enum trumpet_log_module module, enum trumpet_log_level level,
                        const char* text);
bool trumpet_daemon_logs(enum trumpet_log_module module, enum trumpet_log_level level);

// Directories, as built or as the environment (OVS_RUNDIR, ...) says.  Valid for ever.
const char* trumpet_daemon_rundir(void);
const char* trumpet_daemon_logdir(void);
const char* trumpet_daemon_sysconfdir(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TRUMPET_CONTROLLER_DAEMON_OVS_DAEMON_H
