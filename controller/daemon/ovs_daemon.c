// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

// The only file of the controller that includes headers of Open vSwitch.  No decision is taken
// here.

#include <config.h>

#include <daemon.h>  // theirs; there is one beside this file, too
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command-line.h"
#include "coverage.h"
#include "dirs.h"
#include "fatal-signal.h"
#include "latch.h"
#include "memory.h"
#include "openvswitch/poll-loop.h"
#include "openvswitch/vlog.h"
#include "ovs-rcu.h"
#include "ovs-thread.h"
#include "simap.h"
#include "timeval.h"
#include "unixctl.h"
#include "util.h"

#include "controller/daemon/ovs_daemon.h"

// --- log ---

#define MODULE(ID, NAME)                                                                    \
  [ID] = {                                                                                  \
      .name = NAME,                                                                         \
      .levels = {[VLF_SYSLOG] = VLL_INFO, [VLF_CONSOLE] = VLL_INFO, [VLF_FILE] = VLL_INFO}, \
      .min_level = VLL_INFO,                                                                \
      .honor_rate_limits = true,                                                            \
  }

static struct vlog_module modules[TRUMPET_LOG_MODULE_COUNT] = {
    MODULE(TRUMPET_LOG_CONTROLLER, "trumpet_controller"),
    MODULE(TRUMPET_LOG_TEM, "trumpet_tem"),
    MODULE(TRUMPET_LOG_STORE, "trumpet_store"),
    MODULE(TRUMPET_LOG_REST, "trumpet_rest"),
    MODULE(TRUMPET_LOG_NOTIFY, "trumpet_notify"),
    MODULE(TRUMPET_LOG_ANALYZER, "trumpet_analyzer"),
};

static struct vlog_rate_limit limits[TRUMPET_LOG_MODULE_COUNT] = {
    [0 ... TRUMPET_LOG_MODULE_COUNT - 1] = VLOG_RATE_LIMIT_INIT(60, 60),
};

OVS_CONSTRUCTOR(insert_modules) {
  for (size_t i = 0; i < TRUMPET_LOG_MODULE_COUNT; i++) {
    ovs_list_init(&modules[i].list);
    vlog_insert_module(&modules[i].list);
  }
}

static enum vlog_level level_of(enum trumpet_log_level level) {
  switch (level) {
    case TRUMPET_LOG_ERROR:
      return VLL_ERR;
    case TRUMPET_LOG_WARNING:
      return VLL_WARN;
    case TRUMPET_LOG_INFO:
      return VLL_INFO;
    case TRUMPET_LOG_DEBUG:
      break;
  }
  return VLL_DBG;
}

void trumpet_daemon_log(enum trumpet_log_module module, enum trumpet_log_level level,
                        const char* text) {
  // Threads that are not of Open vSwitch hold back nobody's memory but here, where patterns of the
  // log are read.
  bool was_quiescent = ovsrcu_is_quiescent();
  if (was_quiescent) {
    ovsrcu_quiesce_end();
  }
  if (level <= TRUMPET_LOG_WARNING) {
    vlog_rate_limit(&modules[module], level_of(level), &limits[module], "%s", text);
  } else {
    vlog(&modules[module], level_of(level), "%s", text);
  }
  if (was_quiescent) {
    ovsrcu_quiesce_start();
  }
}

bool trumpet_daemon_logs(enum trumpet_log_module module, enum trumpet_log_level level) {
  return vlog_is_enabled(&modules[module], level_of(level));
}

// --- command line ---

enum {
  OPT_UNIXCTL = UCHAR_MAX + 1,
  VLOG_OPTION_ENUMS,
  DAEMON_OPTION_ENUMS,
  OPT_OURS,  // the first of the program's own
};

static const struct option common_options[] = {
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"unixctl", required_argument, NULL, OPT_UNIXCTL},
    DAEMON_LONG_OPTIONS,
    VLOG_LONG_OPTIONS,
};

static char* unixctl_path;

OVS_NO_RETURN static void print_usage(const char* usage) {
  fputs(usage, stdout);
  daemon_usage();
  vlog_usage();
  printf(
      "\nOther options:\n"
      "  --unixctl=SOCKET          override default control socket name\n"
      "  -h, --help                display this help message\n"
      "  -V, --version             display version information\n");
  exit(EXIT_SUCCESS);
}

// True if `c` is an option of every daemon.
static bool take_common_option(int c, const char* usage) {
  switch (c) {
    case 'h':
      print_usage(usage);
    case 'V':
      ovs_print_version(0, 0);
      exit(EXIT_SUCCESS);
    case OPT_UNIXCTL:
      unixctl_path = optarg;
      return true;

      VLOG_OPTION_HANDLERS
      DAEMON_OPTION_HANDLERS

    case '?':
      exit(EXIT_FAILURE);
    default:
      return false;
  }
  return true;
}

int trumpet_daemon_parse(int argc, char** argv, const char* version, const char* usage,
                         const struct trumpet_option* options, size_t option_count,
                         trumpet_option_found* found, void* aux) {
  enum { COMMON = ARRAY_SIZE(common_options), MOST = 64 };
  struct option all[COMMON + MOST + 1] = {{NULL, 0, NULL, 0}};

  ovs_assert(option_count <= MOST);
  ovs_set_program_name(argv[0], version);
  ovsthread_id_init();
  ovs_cmdl_proctitle_init(argc, argv);
  service_start(&argc, &argv);

  memcpy(all, common_options, sizeof common_options);
  for (size_t i = 0; i < option_count; i++) {
    int has_value = options[i].takes_value ? required_argument : no_argument;
    all[COMMON + i] = (struct option){options[i].name, has_value, NULL, OPT_OURS + (int)i};
  }
  char* short_options = ovs_cmdl_long_options_to_short_options(all);
  for (int c; (c = getopt_long(argc, argv, short_options, all, NULL)) != -1;) {
    if (!take_common_option(c, usage)) {
      found(aux, (size_t)(c - OPT_OURS), optarg);
    }
  }
  free(short_options);
  return optind;
}

// --- life ---

void trumpet_daemon_start(void) {
  fatal_ignore_sigpipe();
  daemonize_start(false);
}

void trumpet_daemon_ready(void) {
  daemonize_complete();
  // From here on a slow disk delays the writer of the log, nobody else.
  vlog_enable_async();
}

// --- control socket ---

static struct trumpet_control control;
static struct unixctl_server* server;
static struct latch bell;      // something waits for the control thread
static struct latch end_bell;  // the control thread is to end
static pthread_t control_thread;

// Figures on their way from the main thread.
static struct ovs_mutex figures_mutex = OVS_MUTEX_INITIALIZER;
static bool has_figures OVS_GUARDED_BY(figures_mutex);
static uint64_t new_totals[TRUMPET_COUNTER_COUNT] OVS_GUARDED_BY(figures_mutex);
static struct simap memory_usage OVS_GUARDED_BY(figures_mutex) = SIMAP_INITIALIZER(&memory_usage);

#define DEFINE_COUNTER(NAME) COVERAGE_DEFINE(trumpet_##NAME);
TRUMPET_COUNTERS(DEFINE_COUNTER)

static void count(uint64_t totals[], const uint64_t now[]) {
#define ADD_TO_COUNTER(NAME)                                                              \
  COVERAGE_ADD(trumpet_##NAME,                                                            \
               (unsigned)(now[TRUMPET_COUNTER_##NAME] - totals[TRUMPET_COUNTER_##NAME])); \
  totals[TRUMPET_COUNTER_##NAME] = now[TRUMPET_COUNTER_##NAME];
  TRUMPET_COUNTERS(ADD_TO_COUNTER)
}

// True if new figures have come; they are counted, and told to whoever asked for memory/show.
static bool take_figures(uint64_t totals[]) {
  ovs_mutex_lock(&figures_mutex);
  bool has = has_figures;
  if (has) {
    has_figures = false;
    count(totals, new_totals);
    if (memory_should_report()) {
      memory_report(&memory_usage);
    }
  }
  ovs_mutex_unlock(&figures_mutex);
  return has;
}

void trumpet_daemon_figures(const uint64_t totals[TRUMPET_COUNTER_COUNT], const char* const* names,
                            const unsigned* values, size_t value_count) {
  ovs_mutex_lock(&figures_mutex);
  memcpy(new_totals, totals, sizeof new_totals);
  simap_clear(&memory_usage);
  for (size_t i = 0; i < value_count; i++) {
    simap_put(&memory_usage, names[i], values[i]);
  }
  has_figures = true;
  ovs_mutex_unlock(&figures_mutex);
  latch_set(&bell);
}

static void run_command(struct unixctl_conn* conn, int argc, const char* argv[],
                        void* aux OVS_UNUSED) {
  control.received(control.aux, conn, argc, argv);
}

void trumpet_daemon_command(const char* name, const char* usage, int min_args, int max_args) {
  // unixctl keeps the usage by reference, for ever.
  unixctl_command_register(name, xstrdup(usage), min_args, max_args, run_command, NULL);
}

static void send_answers(void) {
  void* conn;
  bool is_error;
  char* text;

  while (control.next_answer(control.aux, &conn, &is_error, &text)) {
    if (is_error) {
      unixctl_command_reply_error(conn, text);
    } else {
      unixctl_command_reply(conn, text);
    }
    free(text);
  }
}

static void* run_control(void* aux OVS_UNUSED) {
  uint64_t totals[TRUMPET_COUNTER_COUNT] = {0};
  bool is_asking = false;
  long long int next_figures = time_msec();

  while (!latch_is_set(&end_bell)) {
    latch_poll(&bell);
    send_answers();
    memory_run();
    if (take_figures(totals)) {
      is_asking = false;
    }
    // Every five seconds, as coverage/show averages, and whenever somebody asks for memory/show.
    if (!is_asking && (time_msec() >= next_figures || memory_should_report())) {
      is_asking = true;
      next_figures = time_msec() + COVERAGE_RUN_INTERVAL;
      control.figures_wanted(control.aux);
    }
    unixctl_server_run(server);

    if (memory_should_report() && !is_asking) {
      poll_immediate_wake();
    }
    unixctl_server_wait(server);
    latch_wait(&bell);
    latch_wait(&end_bell);
    if (!is_asking) {
      poll_timer_wait_until(next_figures);
    }
    poll_block();
  }
  send_answers();
  unixctl_server_run(server);
  return NULL;
}

bool trumpet_daemon_serve(const struct trumpet_control* control_) {
  control = *control_;
  latch_init(&bell);
  latch_init(&end_bell);
  if (unixctl_server_create(unixctl_path, &server)) {
    return false;
  }
  control_thread = ovs_thread_create("control", run_control, NULL);
  // The loop of this thread is not one of Open vSwitch; see trumpet_daemon_log().
  if (!ovsrcu_is_quiescent()) {
    ovsrcu_quiesce_start();
  }
  return true;
}

void trumpet_daemon_wake(void) { latch_set(&bell); }

void trumpet_daemon_end(void) {
  latch_set(&end_bell);
  xpthread_join(control_thread, NULL);
  unixctl_server_destroy(server);
  server = NULL;
  vlog_disable_async();
}

// --- what the library has and a controller has not ---

// Packets in buffers of DPDK or AF_XDP: addresses are parsed in the same object file that frees
// packets, which would bring the whole datapath and 30 libraries of DPDK into this program.  Nobody
// here has a packet to free.
struct dp_packet;
void free_dpdk_buf(struct dp_packet* packet);
void free_afxdp_buf(struct dp_packet* packet);

void free_dpdk_buf(struct dp_packet* packet OVS_UNUSED) { OVS_NOT_REACHED(); }
void free_afxdp_buf(struct dp_packet* packet OVS_UNUSED) { OVS_NOT_REACHED(); }

// --- directories ---

const char* trumpet_daemon_rundir(void) { return ovs_rundir(); }
const char* trumpet_daemon_logdir(void) { return ovs_logdir(); }
const char* trumpet_daemon_sysconfdir(void) { return ovs_sysconfdir(); }
