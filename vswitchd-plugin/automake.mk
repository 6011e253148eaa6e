# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The monitor as ovs-vswitchd links it, all but the file that sees its headers.
LIBTRUMPET_PLUGIN = vswitchd-plugin/libtrumpet-plugin.a lib/libtrumpet-ovsdb.a \
	lib/libtrumpet-wire.a lib/libtrumpet-wire-pb.a $(LIBTRUMPET_TPM) \
	lib/libtrumpet-measure.a $(LIBTRUMPET_LANG) $(PROTOBUF_LIBS) \
	$(LIBEVENT_OPENSSL_LIBS) $(LIBEVENT_LIBS) $(OPENSSL_LIBS)

noinst_LIBRARIES += vswitchd-plugin/libtrumpet-plugin.a
vswitchd_plugin_libtrumpet_plugin_a_SOURCES = \
	vswitchd-plugin/agent.cc \
	vswitchd-plugin/agent.h \
	vswitchd-plugin/agent_program.cc \
	vswitchd-plugin/agent_round.cc \
	vswitchd-plugin/agent_status.h \
	vswitchd-plugin/carrier_ports.cc \
	vswitchd-plugin/carrier_ports.h \
	vswitchd-plugin/commands.cc \
	vswitchd-plugin/commands.h \
	vswitchd-plugin/controller_link.cc \
	vswitchd-plugin/controller_link.h \
	vswitchd-plugin/controller_link_session.cc \
	vswitchd-plugin/controller_set.cc \
	vswitchd-plugin/controller_set.h \
	vswitchd-plugin/copy_sender.cc \
	vswitchd-plugin/copy_sender.h \
	vswitchd-plugin/database_remote.cc \
	vswitchd-plugin/database_remote.h \
	vswitchd-plugin/delivery_desk.cc \
	vswitchd-plugin/delivery_desk.h \
	vswitchd-plugin/edge_ports.h \
	vswitchd-plugin/event_input.cc \
	vswitchd-plugin/event_input.h \
	vswitchd-plugin/event_registry.cc \
	vswitchd-plugin/event_registry.h \
	vswitchd-plugin/event_text.cc \
	vswitchd-plugin/event_text.h \
	vswitchd-plugin/glue.h \
	vswitchd-plugin/host.h \
	vswitchd-plugin/link_status.h \
	vswitchd-plugin/local_facts.cc \
	vswitchd-plugin/local_facts.h \
	vswitchd-plugin/input_file.cc \
	vswitchd-plugin/input_file.h \
	vswitchd-plugin/json_line.h \
	vswitchd-plugin/measurement_arguments.cc \
	vswitchd-plugin/measurement_arguments.h \
	vswitchd-plugin/measurement_commands.cc \
	vswitchd-plugin/measurement_commands.h \
	vswitchd-plugin/measurement_copies.cc \
	vswitchd-plugin/measurement_place.cc \
	vswitchd-plugin/measurement_place.h \
	vswitchd-plugin/measurement_table.cc \
	vswitchd-plugin/measurement_table.h \
	vswitchd-plugin/measurement_text.cc \
	vswitchd-plugin/measurement_text.h \
	vswitchd-plugin/monitor_memory.cc \
	vswitchd-plugin/monitor_memory.h \
	vswitchd-plugin/monitor_slot.cc \
	vswitchd-plugin/monitor_slot.h \
	vswitchd-plugin/network_desk.cc \
	vswitchd-plugin/network_desk.h \
	vswitchd-plugin/perf_table.cc \
	vswitchd-plugin/perf_table.h \
	vswitchd-plugin/plugin.cc \
	vswitchd-plugin/plugin.h \
	vswitchd-plugin/port_table.cc \
	vswitchd-plugin/port_table.h \
	vswitchd-plugin/program_desk.cc \
	vswitchd-plugin/program_desk.h \
	vswitchd-plugin/report_log.cc \
	vswitchd-plugin/report_log.h \
	vswitchd-plugin/settings.cc \
	vswitchd-plugin/settings.h \
	vswitchd-plugin/slice_commands.cc \
	vswitchd-plugin/slice_commands.h \
	vswitchd-plugin/slice_table.cc \
	vswitchd-plugin/slice_table.h \
	vswitchd-plugin/status_text.cc \
	vswitchd-plugin/status_text.h \
	vswitchd-plugin/switch_database.cc \
	vswitchd-plugin/switch_database.h \
	vswitchd-plugin/thread_monitor.cc \
	vswitchd-plugin/thread_monitor.h \
	vswitchd-plugin/thread_programs.cc \
	vswitchd-plugin/thread_programs.h \
	vswitchd-plugin/wall_clock.cc \
	vswitchd-plugin/wall_clock.h \
	vswitchd-plugin/zone_map.cc \
	vswitchd-plugin/zone_map.h

gtest_programs += vswitchd-plugin/plugin_test vswitchd-plugin/agent_thread_test
TSAN_TESTS += vswitchd-plugin/agent_thread_test
vswitchd_plugin_plugin_test_SOURCES = \
	lib/base/memory_shortage_test.cc \
	lib/base/memory_shortage_test.h \
	vswitchd-plugin/agent_test.cc \
	vswitchd-plugin/carrier_ports_test.cc \
	vswitchd-plugin/commands_test.cc \
	vswitchd-plugin/controller_set_test.cc \
	vswitchd-plugin/copy_receiver_test.h \
	vswitchd-plugin/copy_sender_test.cc \
	vswitchd-plugin/database_remote_test.cc \
	vswitchd-plugin/event_input_test.cc \
	vswitchd-plugin/event_registry_test.cc \
	vswitchd-plugin/fake_switch_test.h \
	vswitchd-plugin/local_facts_test.cc \
	vswitchd-plugin/measurement_table_test.cc \
	vswitchd-plugin/monitor_memory_test.cc \
	vswitchd-plugin/network_desk_test.cc \
	vswitchd-plugin/plugin_test.cc \
	vswitchd-plugin/program_desk_test.cc \
	vswitchd-plugin/report_log_test.cc \
	vswitchd-plugin/sent_programs_test.cc \
	vswitchd-plugin/settings_test.cc \
	vswitchd-plugin/slice_table_random_test.cc \
	vswitchd-plugin/slice_table_test.cc \
	vswitchd-plugin/watchdog_test.cc \
	vswitchd-plugin/wall_clock_test.cc \
	vswitchd-plugin/zone_map_test.cc
vswitchd_plugin_plugin_test_LDADD = $(LIBTRUMPET_PLUGIN) $(GTEST_MAIN_LIBS) $(XXHASH_LIBS)
vswitchd_plugin_agent_thread_test_SOURCES = \
	lib/base/cold_stores_test.h \
	lib/base/memory_shortage_test.cc \
	lib/base/memory_shortage_test.h \
	vswitchd-plugin/agent_thread_test.cc \
	vswitchd-plugin/fake_switch_test.h \
	vswitchd-plugin/thread_monitor_test.cc
vswitchd_plugin_agent_thread_test_LDADD = $(LIBTRUMPET_PLUGIN) $(GTEST_MAIN_LIBS) $(XXHASH_LIBS)

# The session of the agent's thread: with a controller, and the server of a database.
gtest_programs += vswitchd-plugin/controller_link_test
TSAN_TESTS += vswitchd-plugin/controller_link_test
vswitchd_plugin_controller_link_test_SOURCES = $(ovsdb_test_kit) \
	lib/base/memory_shortage_test.cc \
	lib/base/memory_shortage_test.h \
	lib/base/sanitizers_test.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	vswitchd-plugin/controller_link_test.cc \
	vswitchd-plugin/fake_switch_test.h
vswitchd_plugin_controller_link_test_LDADD = $(LIBTRUMPET_PLUGIN) $(GTEST_MAIN_LIBS) \
	$(XXHASH_LIBS)

bench_programs += vswitchd-plugin/thread_monitor_bench
vswitchd_plugin_thread_monitor_bench_SOURCES = \
	vswitchd-plugin/fake_switch_test.h \
	vswitchd-plugin/thread_monitor_bench.cc
vswitchd_plugin_thread_monitor_bench_LDADD = $(LIBTRUMPET_PLUGIN) $(BENCH_MAIN_LIBS) $(XXHASH_LIBS)

EXTRA_DIST += \
	vswitchd-plugin/link.mk \
	vswitchd-plugin/ovs.mk \
	vswitchd-plugin/ovs_glue.c

include vswitchd-plugin/link.mk
