// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// The line between Open vSwitch (C) and the monitor (C++) inside ovs-vswitchd.
//
// ovs_glue.c is the only file that sees Open vSwitch headers; it turns what the
// datapath calls out into the plain values below and calls the trumpet_*
// functions, which the C++ files of this folder define.  The other way, C++
// reaches the switch only through `struct trumpet_host`.
//
// Rules for both sides:
//  * Nothing here throws.  The C++ definitions are noexcept; an exception that
//    escaped would end the process, so none is let go that far.
//  * Pointers passed in are valid during the call only, unless said otherwise.
//  * Times named now_us are microseconds of CLOCK_MONOTONIC, read by the packet
//    thread at most one batch ago.  They are not wall clock.
//  * Port numbers are datapath ports (those of `ovs-appctl dpctl/show`), not
//    OpenFlow ports.
//
// Which thread calls what:
//
//   main thread     trumpet_plugin_init, trumpet_set_config, trumpet_command,
//                   trumpet_port_update, trumpet_thread_uninit,
//                   trumpet_refresh_carriers, trumpet_plugin_exit
//   the packet      trumpet_thread_init, trumpet_rx_batch, trumpet_tx_batch,
//   thread itself   trumpet_idle, trumpet_next_wakeup_us,
//                   trumpet_wants_queue_length, trumpet_wants_sent
//
// A packet thread is a PMD thread, or the main thread for ports that no PMD
// polls (is_pmd false).  The calls for one `state` never overlap one another,
// and what one call wrote is visible to the next.  One exception to the table:
// other threads of the switch send too (BFD, for example), so trumpet_tx_batch()
// for the main thread's state may come from any thread, under a lock.
//
// Order of events:
//  1. trumpet_plugin_init(): once, after the daemon has forked, before any
//     bridge exists.  Hooks are detached.
//  2. trumpet_thread_init() and trumpet_port_update() may come *before* the
//     first trumpet_set_config(): the main thread's state and the local port are
//     made together with the datapath, the settings follow.  Take the memory
//     that depends on settings only once settings are known.
//  3. trumpet_set_config(): at every reconfiguration, changed or not.  From the
//     first one on it is safe to start threads.
//  4. set_attached(true) lets packets through to the hooks.
//  5. trumpet_plugin_exit(): from atexit(); hooks are detached before the call,
//     but PMD threads may still run, so their states must stay in place.

#ifndef TRUMPET_VSWITCHD_PLUGIN_GLUE_H
#define TRUMPET_VSWITCHD_PLUGIN_GLUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define TRUMPET_NOEXCEPT noexcept
extern "C" {
#else
#define TRUMPET_NOEXCEPT
#endif

// One frame of a batch.  `data` starts at the Ethernet header; readable are
// `captured_length` bytes (the first buffer of a chain), `wire_length` is the
// whole frame without FCS.  captured_length <= wire_length always.  Laid out as
// the Frame of lib/packet/parse.h and read as such, hence the attribute.
struct __attribute__((may_alias)) trumpet_frame {
  const uint8_t* data;
  uint32_t captured_length;
  uint32_t wire_length;
};

// What travels with a packet between switches, beside its own bytes, for programs that tag vlan.vid
// or geneve.option (lib/measure/carrier_shim.h).
struct trumpet_carried {
  bool has_vid;
  bool has_option;
  uint16_t vid;
  uint32_t option;
};

// One frame about to be sent.  `bytes` are those of a frame, and may be changed
// where trumpet_tx_batch() says so.
struct trumpet_sent_frame {
  uint8_t* bytes;
  uint32_t captured_length;
  uint32_t wire_length;
  uint32_t in_port;     // by which it came; UINT32_MAX if the switch made it
  bool is_fixed;        // hardware still makes several packets of it
  bool makes_checksum;  // that of TCP or UDP is still to be made
  bool is_changed;      // false before the call; true after it: the IPv4 header is another
  struct trumpet_carried carried;  // what it has brought; after the call, what it takes along
  uint32_t room;                   // by how many bytes it may become longer, at its front
};

// What trumpet_put_carried() has put in front of the bytes of a frame.  Its outer headers begin
// `vlan_bytes` later than before, seen from its beginning.
struct trumpet_shims {
  uint32_t vlan_bytes;
  uint32_t option_bytes;
};

// The most of both together.
#define TRUMPET_SHIMS_MAX 20

// The most frames one trumpet_rx_batch() or trumpet_tx_batch() brings.
#define TRUMPET_BATCH_MAX 32

// next_wakeup answer for "nothing to do until packets come".
#define TRUMPET_WAKEUP_NEVER INT64_MAX

// What is known of a packet thread.  `core_id` and `numa_id` are -1 for the
// main thread.  `thread` names the thread towards trumpet_host.thread_load and
// is valid until trumpet_thread_uninit() has returned.
struct trumpet_thread_info {
  int core_id;
  int numa_id;
  bool is_pmd;
  const void* thread;
};

// What Open vSwitch itself counted for a packet thread since it started.
// Cycles are those of the time stamp counter; busy iterations are those in
// which packets came.  Time in trumpet_rx_batch() and trumpet_tx_batch() falls
// into busy_cycles, time in trumpet_idle() mostly into idle_cycles.  The cycles
// of the main thread are not counted and stay 0.
struct trumpet_thread_load {
  uint64_t busy_cycles;
  uint64_t idle_cycles;
  uint64_t rx_packets;
};

enum trumpet_log_level {
  TRUMPET_LOG_ERROR,
  TRUMPET_LOG_WARNING,
  TRUMPET_LOG_INFO,
  TRUMPET_LOG_DEBUG,
};

// What the switch offers.  Lives as long as the process.
struct trumpet_host {
  // Writes one line to the log, module "trumpet".  Rate limited for
  // warnings and errors.  Any thread except on the packet path (it locks).
  void (*log)(enum trumpet_log_level level, const char* text);

  // Lets packets through to the hooks (true) or detaches all of them (false).
  // Any thread.  Starts detached.  A thread that is inside a hook finishes it
  // after this returns; later batches do not come.  While detached, idle and
  // next_wakeup do not come either.
  void (*set_attached)(bool attached);

  // Has the main thread look for work soon, by trumpet_idle() if it is attached.
  // Any thread.  Without, an idle one sleeps for seconds.  Costs the switch a
  // look at the state of its ports.
  void (*wake_main_thread)(void);

  // Whether trumpet_tx_batch() is wanted while attached.  Any thread.  Starts
  // false; a switch that does not need egress pays one load per batch.
  void (*set_tx_wanted)(bool wanted);

  // Whether packets are to be shown to trumpet_take_carried() and trumpet_put_carried(): attached
  // or not, as neighbours go on putting shims on.  Main thread.  Starts false.
  void (*set_carrying)(bool carrying);

  // The MTU of the port of that name; 0: not known.  Main thread.
  uint32_t (*port_mtu)(const char* name);

  // Makes `name` (for example "trumpet/status") a command of ovs-appctl that
  // trumpet_command() answers.  `usage` is what `ovs-appctl list-commands`
  // shows.  Arguments are counted without the name.  The strings are copied.
  // Main thread, once per name.
  void (*command_register)(const char* name, const char* usage, int min_args, int max_args);

  // Reads the load of a thread.  Any thread, between the trumpet_thread_init()
  // that gave `thread` and the return of its trumpet_thread_uninit().
  void (*thread_load)(const void* thread, struct trumpet_thread_load* load);

  // Version of Open vSwitch, for status output.  Static text.
  const char* ovs_version;

  // Remote of the ovsdb-server of this switch, unless the process has an argument that names
  // another: "unix:/FOLDER/SOCKET".  Static text; null: not known.
  const char* database;
};

// Prepares the plug-in and registers its commands.  `host` outlives everything.
// Starts no thread, and logs nothing when all is well: what it logs goes to the
// terminal of whoever starts the daemon, and Open vSwitch's tests forbid that.
// False leaves the switch running without the plug-in.
bool trumpet_plugin_init(const struct trumpet_host* host) TRUMPET_NOEXCEPT;

// Stops and joins the plug-in's threads.  States of packet threads stay.
void trumpet_plugin_exit(void) TRUMPET_NOEXCEPT;

// Makes the state of the calling packet thread.  Null means that this thread
// is not monitored; the other calls then do not come for it.
void* trumpet_thread_init(const struct trumpet_thread_info* info) TRUMPET_NOEXCEPT;

// The packet thread has ended (or its datapath is destroyed); `state` is not
// used again.  The main thread waits meanwhile, so it should be quick.
void trumpet_thread_uninit(void* state) TRUMPET_NOEXCEPT;

// `count` (1 ... TRUMPET_BATCH_MAX) frames as they came from `in_port`, before
// any lookup: once for each frame, whatever happens to it later.  Packet path:
// no allocation, lock, system call or log.  Under permanent load trumpet_idle()
// never comes, so the time-bounded part of a sweep must also run here.
// `queue_length` frames wait behind them, as far as trumpet_wants_queue_length()
// asked for it and the port can tell, else 0.
// True: `marks[i]` is what the pkt_mark of frame i is to be for the flow tables,
// 0 for most.  False: no frame is marked, and `marks` is as it was.
bool trumpet_rx_batch(void* state, const struct trumpet_frame* frames, size_t count,
                      uint16_t queue_length, uint32_t in_port, int64_t now_us,
                      uint32_t* marks) TRUMPET_NOEXCEPT;

// Whether trumpet_rx_batch() is to be told how long the queue is; asked before
// each burst, so it must be cheap.
bool trumpet_wants_queue_length(void* state) TRUMPET_NOEXCEPT;

// Whether trumpet_tx_batch() has anything to do on this thread; asked before each, so it must be
// cheap.
bool trumpet_wants_sent(void* state) TRUMPET_NOEXCEPT;

// The same frames on the way out, after all changes made to them, when
// `out_port` is known: once for each copy that leaves.  Includes frames that
// were never received (packet-out) and excludes those dropped.  Same rules.
// Fields of the IPv4 header may be changed in place, none that tells its length;
// payload of TCP and UDP may be, too, with its checksum unless `makes_checksum`.
void trumpet_tx_batch(void* state, struct trumpet_sent_frame* frames, size_t count,
                      uint32_t out_port, int64_t now_us) TRUMPET_NOEXCEPT;

// The four of carriers (carrier_ports.h).  Packet path: same rules, any thread.
//
// The MTU of `port` if shims may be on its frames, else 0.
uint32_t trumpet_carrier_mtu(uint32_t port) TRUMPET_NOEXCEPT;
// Takes shims off a frame that came by such a port, whole, before anybody looks at it.  It begins
// later then by the number of bytes that is returned.  `carried` is all zero before the call.
uint32_t trumpet_take_carried(uint8_t* bytes, uint32_t length,
                              struct trumpet_carried* carried) TRUMPET_NOEXCEPT;
// Whether trumpet_put_carried() has anything to do.
bool trumpet_needs_shims(const struct trumpet_sent_frame* frame) TRUMPET_NOEXCEPT;
// Puts shims on a frame that leaves by such a port, at most `room` bytes before its first one.
struct trumpet_shims trumpet_put_carried(const struct trumpet_sent_frame* frame) TRUMPET_NOEXCEPT;

// Looks at the MTUs of carriers.  Main thread, every second while set_carrying() is true.
void trumpet_refresh_carriers(void) TRUMPET_NOEXCEPT;

// The thread found nothing to receive.  PMD threads call this at every empty
// round (tens of nanoseconds apart), the main thread at least once per round
// of its loop, with or without packets.  Must return within the sweep budget.
void trumpet_idle(void* state, int64_t now_us) TRUMPET_NOEXCEPT;

// When trumpet_idle() is next needed, in the time of now_us, or
// TRUMPET_WAKEUP_NEVER.  Asked right after each trumpet_idle(), so it must be
// cheap; threads that go to sleep then (the main thread, and a PMD thread that
// has lost all its queues) wake up to one millisecond later than asked.  An
// answer in the past means "do not sleep".
int64_t trumpet_next_wakeup_us(void* state) TRUMPET_NOEXCEPT;

// All other_config keys that begin with "trumpet-", in no order.  A key that
// is missing has its default.  Bad values are logged and fall back; nothing
// here can fail the bridge.
void trumpet_set_config(const char* const* keys, const char* const* values,
                        size_t count) TRUMPET_NOEXCEPT;

// A datapath port was added or is about to go.  `type` is that of the netdev
// ("dpdk", "system", "tap", "internal", "dpdkvhostuserclient", "vxlan",
// "dummy-pmd", ...).  A number may be used again for another port later.
void trumpet_port_update(uint32_t port, const char* name, const char* type,
                         bool added) TRUMPET_NOEXCEPT;

// Answers command `argv[0]` with arguments argv[1] ... argv[argc - 1].  Sets
// `*reply` to text from malloc(), which the caller frees, or to null for an
// empty reply.  True: the text is the answer; false: it is an error message.
bool trumpet_command(int argc, const char* const* argv, char** reply) TRUMPET_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TRUMPET_VSWITCHD_PLUGIN_GLUE_H
