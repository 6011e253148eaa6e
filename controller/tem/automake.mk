# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-tem.a
controller_libtrumpet_tem_a_SOURCES = \
	controller/tem/caller.h \
	controller/tem/cell_table.cc \
	controller/tem/cell_table.h \
	controller/tem/event_book.cc \
	controller/tem/event_book.h \
	controller/tem/event_manager.cc \
	controller/tem/event_manager.h \
	controller/tem/event_manager_events.cc \
	controller/tem/event_manager_hosts.cc \
	controller/tem/event_manager_impl.h \
	controller/tem/event_manager_measured.cc \
	controller/tem/event_manager_runs.cc \
	controller/tem/event_manager_topology.cc \
	controller/tem/event_manager_verdicts.cc \
	controller/tem/host_book.h \
	controller/tem/latency_histogram.h \
	controller/tem/live_event.cc \
	controller/tem/live_event.h \
	controller/tem/measured_desk.cc \
	controller/tem/measured_desk.h \
	controller/tem/measured_event.cc \
	controller/tem/measured_event.h \
	controller/tem/measured_source.h \
	controller/tem/network_event.cc \
	controller/tem/network_event.h \
	controller/tem/network_event_cells.cc \
	controller/tem/network_event_ends.cc \
	controller/tem/network_event_members.cc \
	controller/tem/network_event_polls.cc \
	controller/tem/network_event_reports.cc \
	controller/tem/network_host.h \
	controller/tem/network_verdicts.cc \
	controller/tem/network_verdicts.h \
	controller/tem/poll_book.h \
	controller/tem/poll_table.h \
	controller/tem/report_hub.cc \
	controller/tem/report_hub.h \
	controller/tem/report_rate.h \
	controller/tem/threshold_shares.cc \
	controller/tem/threshold_shares.h \
	controller/tem/trigger_sync.cc \
	controller/tem/trigger_sync.h \
	controller/tem/verdict_desk.cc \
	controller/tem/verdict_desk.h

gtest_programs += controller/tem/tem_test
controller_tem_tem_test_SOURCES = \
	controller/tem/cell_table_test.cc \
	controller/tem/event_manager_absence_test.cc \
	controller/tem/event_manager_hosts_test.cc \
	controller/tem/event_manager_install_test.cc \
	controller/tem/event_manager_kit_test.h \
	controller/tem/event_manager_test.cc \
	controller/tem/measured_desk_test.cc \
	controller/tem/measured_event_test.cc \
	controller/tem/network_ends_test.cc \
	controller/tem/network_merging_test.cc \
	controller/tem/network_random_test.cc \
	controller/tem/network_split_test.cc \
	controller/tem/network_test_kit.h \
	controller/tem/network_verdicts_test.cc \
	controller/tem/port_network_test.h \
	controller/tem/report_rate_test.cc \
	controller/tem/scripted_agent_test.h \
	controller/tem/threshold_shares_test.cc \
	controller/tem/trigger_sync_test.cc \
	lib/verdict/slow_host_test.h \
	lib/verdict/verdict_test_kit.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h
controller_tem_tem_test_LDADD = $(LIBTRUMPET_TEM) $(GTEST_MAIN_LIBS)

bench_programs += controller/tem/network_verdicts_bench
controller_tem_network_verdicts_bench_SOURCES = \
	controller/tem/network_test_kit.h \
	controller/tem/network_verdicts_bench.cc
controller_tem_network_verdicts_bench_LDADD = $(LIBTRUMPET_TEM) $(BENCH_MAIN_LIBS)
