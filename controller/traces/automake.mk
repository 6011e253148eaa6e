# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-traces.a
controller_libtrumpet_traces_a_SOURCES = \
	controller/traces/app_program.cc \
	controller/traces/app_program.h \
	controller/traces/app_run.cc \
	controller/traces/app_run.h \
	controller/traces/arguments.cc \
	controller/traces/arguments.h \
	controller/traces/bgp_connection.cc \
	controller/traces/bgp_connection.h \
	controller/traces/bgp_sessions.cc \
	controller/traces/bgp_sessions.h \
	controller/traces/capture_arguments.cc \
	controller/traces/capture_arguments.h \
	controller/traces/counter_book.cc \
	controller/traces/counter_book.h \
	controller/traces/counter_file.cc \
	controller/traces/counter_file.h \
	controller/traces/frame_burst.h \
	controller/traces/known_captures.cc \
	controller/traces/known_captures.h \
	controller/traces/latency_app.cc \
	controller/traces/latency_app.h \
	controller/traces/link_book.cc \
	controller/traces/link_book.h \
	controller/traces/live_traces.cc \
	controller/traces/live_traces.h \
	controller/traces/migrate_program.cc \
	controller/traces/migrate_program.h \
	controller/traces/passed_lengths.cc \
	controller/traces/passed_lengths.h \
	controller/traces/pause_book.cc \
	controller/traces/pause_book.h \
	controller/traces/query_program.cc \
	controller/traces/query_program.h \
	controller/traces/roce_debugger.cc \
	controller/traces/roce_debugger.h \
	controller/traces/roce_flow.cc \
	controller/traces/roce_flow.h \
	controller/traces/roce_groups.cc \
	controller/traces/roce_groups.h \
	controller/traces/roce_program.cc \
	controller/traces/roce_program.h \
	controller/traces/roce_sight.cc \
	controller/traces/roce_sight.h \
	controller/traces/roce_text.cc \
	controller/traces/roce_text.h \
	controller/traces/rule_sums.cc \
	controller/traces/rule_sums.h \
	controller/traces/session_text.cc \
	controller/traces/session_text.h \
	controller/traces/session_verdict.cc \
	controller/traces/session_verdict.h \
	controller/traces/stored_segment.cc \
	controller/traces/stored_segment.h \
	controller/traces/switch_book.cc \
	controller/traces/switch_book.h \
	controller/traces/trace_apps.cc \
	controller/traces/trace_apps.h \
	controller/traces/trace_counts.cc \
	controller/traces/trace_counts.h \
	controller/traces/trace_maker.cc \
	controller/traces/trace_maker.h \
	controller/traces/trace_network.cc \
	controller/traces/trace_network.h \
	controller/traces/trace_program.cc \
	controller/traces/trace_program.h \
	controller/traces/trace_query.cc \
	controller/traces/trace_query.h \
	controller/traces/trace_routes.cc \
	controller/traces/trace_routes.h \
	controller/traces/trace_run.cc \
	controller/traces/trace_run.h \
	controller/traces/trace_service.cc \
	controller/traces/trace_service.h \
	controller/traces/trace_text.cc \
	controller/traces/trace_text.h

gtest_programs += controller/traces/traces_test
controller_traces_traces_test_SOURCES = \
	controller/traces/app_program_test.cc \
	controller/traces/bgp_sessions_test.cc \
	controller/traces/bgp_story_test.h \
	controller/traces/counter_book_test.cc \
	controller/traces/latency_app_test.cc \
	controller/traces/live_traces_test.cc \
	controller/traces/passed_lengths_test.cc \
	controller/traces/pause_book_test.cc \
	controller/traces/program_kit_test.h \
	controller/traces/query_program_test.cc \
	controller/traces/roce_debugger_test.cc \
	controller/traces/roce_flow_test.cc \
	controller/traces/roce_program_test.cc \
	controller/traces/roce_simulation_test.h \
	controller/traces/rule_sums_test.cc \
	controller/traces/trace_maker_test.cc \
	controller/traces/trace_network_test.h \
	controller/traces/trace_network_text_test.cc \
	controller/traces/trace_program_test.cc \
	controller/traces/trace_routes_test.cc
controller_traces_traces_test_LDADD = $(LIBTRUMPET_TRACES) $(GTEST_MAIN_LIBS)

if HAVE_DPDK
gtest_programs += controller/traces/dpdk_test
endif
controller_traces_dpdk_test_SOURCES = \
	controller/analyzer/dpdk_kit_test.cc \
	controller/analyzer/dpdk_kit_test.h \
	controller/analyzer/dpdk_receiver_test.cc \
	controller/traces/dpdk_traces_test.cc \
	controller/traces/program_kit_test.h \
	controller/traces/trace_network_test.h
controller_traces_dpdk_test_CPPFLAGS = $(AM_CPPFLAGS) $(DPDK_CFLAGS)
controller_traces_dpdk_test_LDADD = controller/libtrumpet-dpdk.a $(LIBTRUMPET_TRACES) $(DPDK_LIBS) $(GTEST_MAIN_LIBS)

bench_programs += controller/traces/trace_maker_bench
controller_traces_trace_maker_bench_SOURCES = \
	controller/traces/bench_copies.h \
	controller/traces/trace_maker_bench.cc
controller_traces_trace_maker_bench_LDADD = $(LIBTRUMPET_TRACES) $(BENCH_MAIN_LIBS)

# Needs root: not among those that `make bench` runs.
EXTRA_PROGRAMS += controller/traces/copy_receive_bench
controller_traces_copy_receive_bench_SOURCES = \
	controller/analyzer/loopback_kit_test.h \
	controller/traces/bench_copies.h \
	controller/traces/bench_loopback.cc \
	controller/traces/bench_loopback.h \
	controller/traces/bench_port.h \
	controller/traces/copy_receive_bench.cc
controller_traces_copy_receive_bench_LDADD = controller/libtrumpet-bench-port.a controller/libtrumpet-dpdk.a \
	$(LIBTRUMPET_TRACES) $(DPDK_LIBS)
EXTRA_LIBRARIES += controller/libtrumpet-bench-port.a
if HAVE_DPDK
controller_libtrumpet_bench_port_a_SOURCES = controller/traces/bench_port.cc
controller_libtrumpet_bench_port_a_CXXFLAGS = $(AM_CXXFLAGS) $(DPDK_CFLAGS)
else
controller_libtrumpet_bench_port_a_SOURCES = controller/traces/bench_port_none.cc
endif
EXTRA_DIST += controller/traces/bench_port.cc controller/traces/bench_port_none.cc
CLEANFILES += controller/traces/copy_receive_bench controller/libtrumpet-bench-port.a
