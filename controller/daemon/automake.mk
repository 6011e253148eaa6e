# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The controller's daemon side.  What needs Open vSwitch's library is built in
# trees that have one (BUILD_PLUGIN), its flags taken from there; the relay
# between its thread and ours is built and tested everywhere.
noinst_LIBRARIES += controller/libtrumpet-daemon.a
controller_libtrumpet_daemon_a_SOURCES = \
	controller/daemon/analyzer_config.cc \
	controller/daemon/analyzer_config.h \
	controller/daemon/command_relay.cc \
	controller/daemon/command_relay.h \
	controller/daemon/config.cc \
	controller/daemon/config.h \
	controller/daemon/config_reader.cc \
	controller/daemon/config_reader.h \
	controller/daemon/control_commands.cc \
	controller/daemon/control_commands.h \
	controller/daemon/controller.cc \
	controller/daemon/controller.h \
	controller/daemon/openflow_config.cc \
	controller/daemon/openflow_part.cc \
	controller/daemon/openflow_part.h \
	controller/daemon/probe_part.cc \
	controller/daemon/probe_part.h \
	controller/daemon/process.cc \
	controller/daemon/process.h \
	controller/daemon/reshuffler_config.cc \
	controller/daemon/reshuffler_part.cc \
	controller/daemon/reshuffler_part.h \
	controller/daemon/service_manager.cc \
	controller/daemon/service_manager.h \
	controller/daemon/measurement_commands.cc \
	controller/daemon/slice_commands.cc \
	controller/daemon/slice_config.cc \
	controller/daemon/slice_part.cc \
	controller/daemon/slice_part.h \
	controller/daemon/switch_commands.cc \
	controller/daemon/switch_commands.h \
	controller/daemon/trace_rule_part.cc \
	controller/daemon/trace_rule_part.h
controller_libtrumpet_daemon_a_CPPFLAGS = $(AM_CPPFLAGS) -DTRUMPET_REPLAY='"$(bindir)/trumpet-replay"'
LIBTRUMPET_DAEMON = controller/libtrumpet-daemon.a $(LIBEVENT_LIBS)

gtest_programs += controller/daemon/daemon_test
TSAN_TESTS += controller/daemon/daemon_test
controller_daemon_daemon_test_SOURCES = \
	controller/daemon/analyzer_config_test.cc \
	controller/daemon/command_relay_test.cc \
	controller/daemon/config_test.cc \
	controller/daemon/service_manager_test.cc
controller_daemon_daemon_test_LDADD = $(LIBTRUMPET_DAEMON) controller/libtrumpet-traces.a controller/libtrumpet-analyzer.a \
	controller/libtrumpet-rest.a $(LIBTRUMPET_NOTIFY) \
	$(LIBTRUMPET_OPENFLOW) $(LIBTRUMPET_TOPOLOGY) controller/libtrumpet-switch-ovsdb.a \
	controller/libtrumpet-measurements.a controller/libtrumpet-trace-rules.a lib/libtrumpet-measure.a $(LIBTRUMPET_SLICE) $(XXHASH_LIBS) $(GTEST_MAIN_LIBS)

# A program of the family lists these sources besides its own, adds
# OVS_DAEMON_CPPFLAGS, ends its LDADD with OVS_DAEMON_LIBS, and names
# OVS_DAEMON_FILES among its DEPENDENCIES, beside the libraries of its LDADD.
OVS_DAEMON_SOURCES = \
	controller/daemon/daemon.cc \
	controller/daemon/daemon.h \
	controller/daemon/ovs_daemon.h
OVS_DAEMON_CPPFLAGS = -DTRUMPET_DEFAULT_STATEDIR='"$(localstatedir)/lib/trumpet"'
OVS_DAEMON_FILES = controller/daemon/ovs_daemon.o controller/daemon/ovs-libs
OVS_DAEMON_LIBS = controller/daemon/ovs_daemon.o `cat controller/daemon/ovs-libs`

controller/daemon/ovs_daemon.o: controller/daemon/ovs_daemon.c controller/daemon/ovs_daemon.h \
		vswitchd-plugin/ovs.mk vswitchd-plugin/ovs-tree
	$(AM_V_CC)$(MKDIR_P) controller/daemon && $(ovs_make) TRUMPET_SRCDIR='$(abs_top_srcdir)' \
	  TRUMPET_SOURCE=controller/daemon/ovs_daemon.c TRUMPET_OUT='$(abs_builddir)/$@' trumpet-object

controller/daemon/ovs-libs: vswitchd-plugin/ovs.mk vswitchd-plugin/ovs-tree
	$(AM_V_GEN)$(MKDIR_P) controller/daemon && $(ovs_make) \
	  TRUMPET_OUT='$(abs_builddir)/$@' trumpet-libs

CLEANFILES += controller/daemon/ovs_daemon.o controller/daemon/ovs-libs
EXTRA_DIST += controller/daemon/ovs_daemon.c

if BUILD_PLUGIN
sbin_PROGRAMS += controller/daemon/trumpet-controller
endif
EXTRA_PROGRAMS += controller/daemon/trumpet-controller
controller_daemon_trumpet_controller_SOURCES = $(OVS_DAEMON_SOURCES) controller/daemon/main.cc
controller_daemon_trumpet_controller_CPPFLAGS = $(AM_CPPFLAGS) $(OVS_DAEMON_CPPFLAGS)
controller_daemon_trumpet_controller_LDADD = $(LIBTRUMPET_DAEMON) controller/libtrumpet-rest.a \
	$(LIBTRUMPET_VIEW) $(LIBTRUMPET_NOTIFY) $(LIBTRUMPET_TOPOLOGY) controller/libtrumpet-switch-ovsdb.a \
	controller/libtrumpet-measurements.a controller/libtrumpet-probe.a \
	controller/libtrumpet-trace-rules.a controller/libtrumpet-traces.a \
	lib/libtrumpet-measure.a $(LIBTRUMPET_SLICE) $(LIBTRUMPET_OPENFLOW) $(OPENFLOW_CODEC_LIBS) $(OVS_DAEMON_LIBS)
controller_daemon_trumpet_controller_DEPENDENCIES = \
	$(filter %.a,$(controller_daemon_trumpet_controller_LDADD)) $(OPENFLOW_CODEC_FILES) $(OVS_DAEMON_FILES)

if BUILD_PLUGIN
sbin_PROGRAMS += controller/daemon/trumpet-analyzer
endif
EXTRA_PROGRAMS += controller/daemon/trumpet-analyzer
controller_daemon_trumpet_analyzer_SOURCES = $(OVS_DAEMON_SOURCES) \
	controller/daemon/analyzer_commands.cc \
	controller/daemon/analyzer_commands.h \
	controller/daemon/analyzer_main.cc
controller_daemon_trumpet_analyzer_CPPFLAGS = $(AM_CPPFLAGS) $(OVS_DAEMON_CPPFLAGS)
controller_daemon_trumpet_analyzer_LDADD = $(LIBTRUMPET_DAEMON) controller/libtrumpet-dpdk.a $(LIBTRUMPET_TRACES) \
	$(DPDK_LIBS) $(XXHASH_LIBS) $(OVS_DAEMON_LIBS)
controller_daemon_trumpet_analyzer_DEPENDENCIES = \
	$(filter %.a,$(controller_daemon_trumpet_analyzer_LDADD)) $(OVS_DAEMON_FILES)

# The daemon side on its own, for tests.
if BUILD_PLUGIN
check_PROGRAMS += controller/daemon/small_daemon
endif
EXTRA_PROGRAMS += controller/daemon/small_daemon
controller_daemon_small_daemon_SOURCES = $(OVS_DAEMON_SOURCES) controller/daemon/small_daemon_test.cc
controller_daemon_small_daemon_CPPFLAGS = $(AM_CPPFLAGS) $(OVS_DAEMON_CPPFLAGS)
controller_daemon_small_daemon_LDADD = $(LIBTRUMPET_DAEMON) $(OVS_DAEMON_LIBS)
controller_daemon_small_daemon_DEPENDENCIES = \
	$(filter %.a,$(controller_daemon_small_daemon_LDADD)) $(OVS_DAEMON_FILES)

TESTS += controller/daemon/analyzer_daemon_test.py controller/daemon/control_socket_test.py controller/daemon/controller_commands_test.py
EXTRA_DIST += controller/daemon/analyzer_daemon_test.py controller/daemon/control_socket_test.py controller/daemon/controller_commands_test.py

# The configuration, commented.
trumpetsysconfdir = $(sysconfdir)/trumpet
dist_trumpetsysconf_DATA = controller/daemon/analyzer.yaml controller/daemon/controller.yaml
