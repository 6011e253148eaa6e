// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// The only file that includes headers of Open vSwitch: registers the monitor
// with the datapath, turns packets into plain frames (glue.h), and lends the
// C++ side what it needs of the switch.  No decision is taken here.

#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "connectivity.h"
#include "dirs.h"
#include "dp-packet.h"
#include "dpdk.h"
#include "dpif-netdev-monitor.h"
#include "dpif-netdev-perf.h"
#include "hash.h"
#include "netdev-provider.h"
#include "odp-util.h"
#include "openvswitch/vlog.h"
#include "ovs-numa.h"
#include "ovs-thread.h"
#include "packets.h"
#include "random.h"
#include "seq.h"
#include "smap.h"
#include "unixctl.h"
#include "util.h"

#include "vswitchd-plugin/glue.h"

VLOG_DEFINE_THIS_MODULE(trumpet);

BUILD_ASSERT_DECL(TRUMPET_BATCH_MAX >= NETDEV_MAX_BURST);

// How long an MTU that has changed is not known.
#define REFRESH_US 1000000

// Whether egress is wanted; read once per sent batch.
static atomic_bool tx_wanted = false;

// What the datapath is attached for; read once per batch.
static atomic_bool is_shown = false;
static atomic_bool is_carrying = false;
static struct ovs_mutex attach_mutex = OVS_MUTEX_INITIALIZER;

static inline bool is_on(atomic_bool* flag) {
  bool on;

  atomic_read_relaxed(flag, &on);
  return on;
}

// What a packet thread's `state` is to the datapath: a small record around that
// of the C++ side, so that the frames of a batch need no room on the stack of
// the packet path and are warm from the batch before.
struct packet_thread {
  void* state;
  bool is_pmd;
  long long int next_refresh;  // of carriers, by the main thread
  uint32_t* marks;             // of the packets of a batch; room for marks_room
  size_t marks_room;
  struct trumpet_frame frames[TRUMPET_BATCH_MAX];
  struct trumpet_sent_frame sent[TRUMPET_BATCH_MAX];
};

// The readable part of a packet is its first buffer; the datapath keeps later
// ones, if a driver delivered a chain, out of reach.
static inline uint32_t first_buffer_length(const struct dp_packet* packet) {
#ifdef DPDK_NETDEV
  return packet->mbuf.data_len;
#else
  return dp_packet_size(packet);
#endif
}

// The first `length` bytes of `packet`, as far as they can be read.
static inline struct trumpet_frame frame_of(const struct dp_packet* packet, uint32_t length) {
  return (struct trumpet_frame){
      .data = dp_packet_data(packet),
      .captured_length = MIN(first_buffer_length(packet), length),
      .wire_length = length,
  };
}

// Batches grow beyond 32 in later releases: once per thread and size.
static void make_room(struct packet_thread* thread, size_t n) {
  thread->marks = xrealloc(thread->marks, n * sizeof *thread->marks);
  thread->marks_room = n;
}

static bool monitor_wants_qlen(void* thread_) {
  struct packet_thread* thread = thread_;

  return is_on(&is_shown) && trumpet_wants_queue_length(thread->state);
}

// What was taken off a packet as it came, and by which port that was.  It goes where the packet's
// metadata goes, through recirculation, clones and tunnels: at the end of the room for options of
// tunnels, which nobody clears, and nobody writes but for a packet with more than 240 bytes of
// them. The check tells what is there by chance, or of an earlier packet that was made otherwise.
struct carried_note {
  uint32_t check;
  uint32_t in_port;
  struct trumpet_carried carried;
};
BUILD_ASSERT_DECL(sizeof(struct carried_note) == 16);
BUILD_ASSERT_DECL(TUN_METADATA_TOT_OPT_SIZE >= 256);

static uint32_t note_basis;

static uint8_t* note_place(struct dp_packet* packet) {
  return &packet->md.tunnel.metadata.opts
              .u8[TUN_METADATA_TOT_OPT_SIZE - sizeof(struct carried_note)];
}

static uint32_t note_check(const struct carried_note* note) {
  return hash_bytes(&note->in_port, sizeof *note - sizeof note->check, note_basis);
}

static bool read_note(struct dp_packet* packet, struct carried_note* note) {
  memcpy(note, note_place(packet), sizeof *note);
  return packet->md.in_port.odp_port != ODPP_NONE && note->check == note_check(note);
}

static void take_carried(struct dp_packet* packet, odp_port_t in_port, bool is_carrier) {
  struct carried_note note = {.in_port = odp_to_u32(in_port)};

  if (is_carrier && first_buffer_length(packet) == dp_packet_size(packet)) {
    uint32_t taken =
        trumpet_take_carried(dp_packet_data(packet), dp_packet_size(packet), &note.carried);
    if (taken) {
      dp_packet_pull(packet, taken);
    }
  }
  note.check = note_check(&note);
  memcpy(note_place(packet), &note, sizeof note);
}

static const uint32_t* monitor_rx(void* thread_, struct dp_packet* const* packets, size_t n,
                                  int qlen, odp_port_t in_port, long long int now) {
  struct packet_thread* thread = thread_;
  uint16_t queue_length = MIN(MAX(qlen, 0), UINT16_MAX);  // negative: the port can not tell
  bool is_marked = false;

  if (is_on(&is_carrying)) {
    bool is_carrier = trumpet_carrier_mtu(odp_to_u32(in_port)) != 0;
    for (size_t i = 0; i < n; i++) {
      take_carried(packets[i], in_port, is_carrier);
    }
    if (!is_on(&is_shown)) {
      return NULL;
    }
  }
  if (OVS_UNLIKELY(n > thread->marks_room)) {
    make_room(thread, n);
  }
  for (size_t done = 0; done < n;) {
    size_t count = MIN(n - done, TRUMPET_BATCH_MAX);
    uint32_t* marks = thread->marks + done;
    for (size_t i = 0; i < count; i++) {
      struct dp_packet* packet = packets[done + i];
      thread->frames[i] = frame_of(packet, dp_packet_size(packet));
    }
    if (trumpet_rx_batch(thread->state, thread->frames, count, queue_length, odp_to_u32(in_port),
                         now, marks)) {
      is_marked = true;
    } else if (n > TRUMPET_BATCH_MAX) {
      memset(marks, 0, count * sizeof *marks);  // others of the batch may be marked
    }
    done += count;
  }
  return is_marked ? thread->marks : NULL;
}

// Packets that leave, in the words of each supported version: up to 3.5 flags as DPDK has them,
// from 4.0 on states of the switch's own.
#ifdef DP_PACKET_OL_RX_IP_CKSUM_MASK

static bool is_segmented(const struct dp_packet* packet) { return dp_packet_hwol_is_tso(packet); }

static bool makes_checksum(const struct dp_packet* packet) {
  return dp_packet_hwol_tx_l4_checksum(packet);
}

// What was said of the header checksum on arrival is about another header.
static void forget_header_checksum(struct dp_packet* packet) {
  *dp_packet_ol_flags_ptr(packet) &= ~DP_PACKET_OL_RX_IP_CKSUM_MASK;
}

#else

static bool is_segmented(const struct dp_packet* packet) {
  return dp_packet_get_tso_segsz(packet) != 0;
}

static bool makes_checksum(const struct dp_packet* packet) {
  return dp_packet_l4_checksum_partial(packet);
}

// One that is yet to be made will be made of the changed header.
static void forget_header_checksum(struct dp_packet* packet) {
  if (!dp_packet_ip_checksum_partial(packet)) {
    dp_packet_ip_checksum_set_unknown(packet);
  }
}

#endif

static struct trumpet_sent_frame sent_frame_of(struct dp_packet* packet) {
  // Less than the packet's size after output(max_len=...).
  uint32_t length = dp_packet_get_send_len(packet);

  return (struct trumpet_sent_frame){
      .bytes = dp_packet_data(packet),
      .captured_length = MIN(first_buffer_length(packet), length),
      .wire_length = length,
      .in_port = odp_to_u32(packet->md.in_port.odp_port),
      .is_fixed = is_segmented(packet),
      .makes_checksum = makes_checksum(packet),
  };
}

static bool can_grow(const struct dp_packet* packet) {
  return packet->source == DPBUF_MALLOC || packet->source == DPBUF_STUB;
}

// What the packet has brought, and what it may take along through a port of this MTU (0: nothing).
// A packet that was put into a tunnel came by the port by which it was received all the same.
static void add_carried(struct dp_packet* packet, uint32_t mtu, struct trumpet_sent_frame* frame) {
  uint32_t most = mtu ? mtu + ETH_HEADER_LEN : 0;
  struct carried_note note;

  if (read_note(packet, &note)) {
    frame->carried = note.carried;
    if (!flow_tnl_dst_is_set(&packet->md.tunnel)) {
      frame->in_port = note.in_port;
    }
  }
  if (most > frame->wire_length && !frame->is_fixed && !dp_packet_get_cutlen(packet)) {
    uint32_t room = most - frame->wire_length;
    frame->room = can_grow(packet) ? room : MIN(room, dp_packet_headroom(packet));
  }
}

static void move_back(uint16_t* offset, uint32_t bytes) {
  if (*offset != UINT16_MAX) {
    *offset -= bytes;
  }
}

static void put_carried(struct dp_packet* packet, struct trumpet_sent_frame* frame) {
  if (!trumpet_needs_shims(frame)) {
    return;
  }
  if (can_grow(packet)) {
    dp_packet_prealloc_headroom(packet, TRUMPET_SHIMS_MAX);
    frame->bytes = dp_packet_data(packet);
  }
  struct trumpet_shims put = trumpet_put_carried(frame);
  uint32_t bytes = put.vlan_bytes + put.option_bytes;
  if (bytes) {
    dp_packet_resize_l2(packet, bytes);
    // The outer headers are where they were, seen from the beginning, but for the VLAN tags.
    move_back(&packet->l2_5_ofs, put.option_bytes);
    move_back(&packet->l3_ofs, put.option_bytes);
    move_back(&packet->l4_ofs, put.option_bytes);
  }
  if (put.option_bytes) {
    forget_header_checksum(packet);
  }
}

static void monitor_tx(void* thread_, struct dp_packet* const* packets, size_t n,
                       odp_port_t out_port, long long int now) {
  struct packet_thread* thread = thread_;
  bool carries = is_on(&is_carrying);
  bool is_wanted = is_on(&is_shown) && is_on(&tx_wanted) && trumpet_wants_sent(thread->state);
  uint32_t mtu = carries ? trumpet_carrier_mtu(odp_to_u32(out_port)) : 0;

  if (!is_wanted && !mtu) {
    return;
  }
  while (n > 0) {
    size_t count = MIN(n, TRUMPET_BATCH_MAX);
    for (size_t i = 0; i < count; i++) {
      thread->sent[i] = sent_frame_of(packets[i]);
      if (carries) {
        add_carried(packets[i], mtu, &thread->sent[i]);
      }
    }
    if (is_wanted) {
      trumpet_tx_batch(thread->state, thread->sent, count, odp_to_u32(out_port), now);
    }
    for (size_t i = 0; i < count; i++) {
      if (thread->sent[i].is_changed) {
        forget_header_checksum(packets[i]);
      }
      if (mtu) {
        put_carried(packets[i], &thread->sent[i]);
      }
    }
    packets += count;
    n -= count;
  }
}

static long long int monitor_idle(void* thread_, long long int now) {
  struct packet_thread* thread = thread_;

  long long int wakeup = LLONG_MAX;

  if (is_on(&is_shown)) {
    trumpet_idle(thread->state, now);
    wakeup = MAX(trumpet_next_wakeup_us(thread->state), 0);
  }
  if (!thread->is_pmd && is_on(&is_carrying)) {
    if (now >= thread->next_refresh) {
      trumpet_refresh_carriers();
      thread->next_refresh = now + REFRESH_US;
    }
    wakeup = MIN(wakeup, thread->next_refresh);
  }
  return wakeup;
}

static void* monitor_thread_init(unsigned core_id, int numa_id, const struct pmd_perf_stats* perf) {
  bool is_pmd = core_id != NON_PMD_CORE_ID;
  struct trumpet_thread_info info = {
      .core_id = is_pmd ? (int)core_id : -1,
      .numa_id = is_pmd ? numa_id : -1,
      .is_pmd = is_pmd,
      .thread = perf,
  };
  void* state = trumpet_thread_init(&info);

  if (!state) {
    return NULL;
  }
  // Its own cache lines: next to nothing that another thread writes.
  struct packet_thread* thread = xzalloc_cacheline(sizeof *thread);
  thread->state = state;
  thread->is_pmd = is_pmd;
  make_room(thread, TRUMPET_BATCH_MAX);
  return thread;
}

static void monitor_thread_uninit(void* thread_) {
  struct packet_thread* thread = thread_;

  trumpet_thread_uninit(thread->state);
  free(thread->marks);
  free_cacheline(thread);
}

static void monitor_set_config(const struct smap* other_config) {
  static const char prefix[] = "trumpet-";
  size_t most = smap_count(other_config);
  const char** keys = xmalloc(most * sizeof *keys);
  const char** values = xmalloc(most * sizeof *values);
  struct smap_node* node;
  size_t count = 0;

  SMAP_FOR_EACH(node, other_config) {
    if (!strncmp(node->key, prefix, sizeof prefix - 1)) {
      keys[count] = node->key;
      values[count] = node->value;
      count++;
    }
  }
  trumpet_set_config(keys, values, count);
  free(values);
  free(keys);
}

static void monitor_port_update(odp_port_t port, const char* name, const char* type, bool added) {
  trumpet_port_update(odp_to_u32(port), name, type, added);
}

static const struct dpif_netdev_monitor_ops monitor_ops = {
    .version = DPIF_NETDEV_MONITOR_VERSION,
    .size = sizeof(struct dpif_netdev_monitor_ops),
    .thread_init = monitor_thread_init,
    .thread_uninit = monitor_thread_uninit,
    .wants_qlen = monitor_wants_qlen,
    .rx = monitor_rx,
    .tx = monitor_tx,
    .idle = monitor_idle,
    .set_config = monitor_set_config,
    .port_update = monitor_port_update,
};

static void host_log(enum trumpet_log_level level, const char* text) {
  static struct vlog_rate_limit rl = VLOG_RATE_LIMIT_INIT(60, 60);

  switch (level) {
    case TRUMPET_LOG_ERROR:
      VLOG_ERR_RL(&rl, "%s", text);
      break;
    case TRUMPET_LOG_WARNING:
      VLOG_WARN_RL(&rl, "%s", text);
      break;
    case TRUMPET_LOG_INFO:
      VLOG_INFO("%s", text);
      break;
    case TRUMPET_LOG_DEBUG:
      VLOG_DBG("%s", text);
      break;
  }
}

// Of the things that the main thread always waits for, the cheapest to have looked at.
static void host_wake_main_thread(void) { seq_change(connectivity_seq_get()); }

// Of several threads.
static void attach(atomic_bool* flag, bool on) {
  ovs_mutex_lock(&attach_mutex);
  atomic_store_relaxed(flag, on);
  dpif_netdev_monitor_attach(is_on(&is_shown) || is_on(&is_carrying));
  ovs_mutex_unlock(&attach_mutex);
}

static void host_set_attached(bool attached) { attach(&is_shown, attached); }

static void host_set_carrying(bool carrying) { attach(&is_carrying, carrying); }

static uint32_t host_port_mtu(const char* name) {
  struct netdev* netdev = netdev_from_name(name);
  int mtu = 0;

  if (netdev) {
    netdev_get_mtu(netdev, &mtu);
    netdev_close(netdev);
  }
  return MAX(mtu, 0);
}

static void host_set_tx_wanted(bool wanted) { atomic_store_relaxed(&tx_wanted, wanted); }

static void run_command(struct unixctl_conn* conn, int argc, const char* argv[],
                        void* aux OVS_UNUSED) {
  char* reply = NULL;

  if (trumpet_command(argc, argv, &reply)) {
    unixctl_command_reply(conn, reply);
  } else {
    unixctl_command_reply_error(conn, reply ? reply : "failed");
  }
  free(reply);
}

static void host_command_register(const char* name, const char* usage, int min_args, int max_args) {
  // unixctl keeps the usage by reference, forever.
  unixctl_command_register(name, xstrdup(usage), min_args, max_args, run_command, NULL);
}

static uint64_t read_counter(const struct pmd_perf_stats* perf, enum pmd_stat_type type) {
  uint64_t value;

  // The atomics' macros want a pointer to non-const even to read.
  atomic_read_relaxed(CONST_CAST(atomic_uint64_t*, &perf->counters.n[type]), &value);
  return value;
}

static void host_thread_load(const void* thread, struct trumpet_thread_load* load) {
  const struct pmd_perf_stats* perf = thread;

  load->busy_cycles = read_counter(perf, PMD_CYCLES_ITER_BUSY);
  load->idle_cycles = read_counter(perf, PMD_CYCLES_ITER_IDLE);
  load->rx_packets = read_counter(perf, PMD_STAT_RECV);
}

static struct trumpet_host host = {
    .log = host_log,
    .set_attached = host_set_attached,
    .wake_main_thread = host_wake_main_thread,
    .set_tx_wanted = host_set_tx_wanted,
    .set_carrying = host_set_carrying,
    .port_mtu = host_port_mtu,
    .command_register = host_command_register,
    .thread_load = host_thread_load,
    .ovs_version = PACKAGE_VERSION,
};

// At exit(): PMD threads are not stopped by then, so keep them out first.
static void plugin_exit(void) {
  dpif_netdev_monitor_attach(false);
  trumpet_plugin_exit();
}

// Called by ovs-vswitchd before the first bridge; takes the place of the empty
// function of the same name in libopenvswitch.
void dpif_netdev_monitor_plugin_init(void) {
  // Where ovs-vswitchd itself looks unless it is told otherwise.
  note_basis = random_uint32();
  host.database = xasprintf("unix:%s/db.sock", ovs_rundir());
  if (!trumpet_plugin_init(&host)) {
    VLOG_ERR("the packet monitor could not be set up; switching goes on without it");
    return;
  }
  int error = dpif_netdev_monitor_register(&monitor_ops);
  if (error) {
    VLOG_ERR("the packet monitor does not fit this Open vSwitch: %s", ovs_strerror(error));
    return;
  }
  atexit(plugin_exit);
}
