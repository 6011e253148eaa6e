# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The monitor on the workload of the paper's experiments; `make bench` runs it.
EXTRA_PROGRAMS += tests/bench/bench-monitor
tests_bench_bench_monitor_SOURCES = \
	tests/bench/bench_monitor.cc \
	tests/bench/case_run.cc \
	tests/bench/case_run.h \
	tests/bench/contender.h \
	tests/bench/frames.cc \
	tests/bench/frames.h \
	tests/bench/install_run.cc \
	tests/bench/install_run.h \
	tests/bench/lane.cc \
	tests/bench/lane.h \
	tests/bench/matcher_run.cc \
	tests/bench/matcher_run.h \
	tests/bench/matrix.cc \
	tests/bench/matrix.h \
	tests/bench/monitor_contender.cc \
	tests/bench/monitor_contender.h \
	tests/bench/options.cc \
	tests/bench/options.h \
	tests/bench/report_run.cc \
	tests/bench/report_run.h \
	tests/bench/results.cc \
	tests/bench/results.h \
	tests/bench/simple_contenders.cc \
	tests/bench/simple_contenders.h \
	tests/bench/strawmen.cc \
	tests/bench/strawmen.h \
	tests/bench/summing_sink.cc \
	tests/bench/summing_sink.h \
	tests/bench/traffic.cc \
	tests/bench/traffic.h \
	tests/bench/triggers.cc \
	tests/bench/triggers.h \
	tests/bench/tuple_keys.h \
	tests/bench/tuple_matcher.h \
	tests/bench/workload.h \
	tests/bench/yardstick.cc \
	tests/bench/yardstick.h
tests_bench_bench_monitor_LDADD = $(LIBTRUMPET_TPM)
CLEANFILES += tests/bench/bench-monitor tests/bench/bench-monitor.json
check_PROGRAMS += tests/bench/bench-monitor

gtest_programs += tests/bench/workload_test
tests_bench_workload_test_SOURCES = \
	tests/bench/frames.cc \
	tests/bench/frames.h \
	tests/bench/traffic.cc \
	tests/bench/traffic.h \
	tests/bench/triggers.cc \
	tests/bench/triggers.h \
	tests/bench/workload.h \
	tests/bench/workload_test.cc
tests_bench_workload_test_LDADD = $(LIBTRUMPET_MODEL) $(GTEST_MAIN_LIBS)

TESTS += tests/bench/bench_monitor_test
EXTRA_DIST += \
	tests/bench/bench_monitor_test \
	tests/bench/check-yardstick

# The monitor in the switch; `make bench-ovs` runs it (root).
TESTS += tests/bench/bench_ovs_test
EXTRA_DIST += \
	tests/bench/bench-ovs \
	tests/bench/bench_ovs_test \
	tests/bench/ovs_contenders.py \
	tests/bench/ovs_figures.py \
	tests/bench/ovs_machine.py \
	tests/bench/ovs_switches.py \
	tests/bench/ovs_workload.py \
	tests/bench/packet_counter.mafia

# The controller with the hosts of a network; `make bench-tem` runs it.
EXTRA_PROGRAMS += tests/bench/bench-tem
tests_bench_bench_tem_SOURCES = \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/bench/bench_tem.cc \
	tests/bench/processors_apart.h \
	tests/bench/tem_cases.h \
	tests/bench/tem_daemon.cc \
	tests/bench/tem_daemon.h \
	tests/bench/tem_host.cc \
	tests/bench/tem_host.h \
	tests/bench/tem_install_case.cc \
	tests/bench/tem_machine_case.cc \
	tests/bench/tem_network.cc \
	tests/bench/tem_network.h \
	tests/bench/tem_report_case.cc \
	tests/bench/tem_verdict_case.cc
tests_bench_bench_tem_LDADD = $(LIBTRUMPET_TEM) $(GTEST_LIBS)

# The slice planner beside plain implementations; `make bench-slices` runs it.
EXTRA_PROGRAMS += tests/bench/bench-slices
tests_bench_bench_slices_SOURCES = tests/bench/bench_slices.cc
tests_bench_bench_slices_LDADD = $(LIBTRUMPET_SLICE_PLAN)

# Measurement programs beside what is written by hand; `make bench-measure` runs it.
EXTRA_PROGRAMS += tests/bench/bench-measure
tests_bench_bench_measure_SOURCES = \
	tests/bench/bench_measure.cc \
	tests/bench/measure_contenders.h \
	tests/bench/measure_hand.cc \
	tests/bench/measure_hand.h \
	tests/bench/measure_hand_all.cc
# The headers of DPDK want flags that must not change the other contenders.
EXTRA_LIBRARIES += tests/bench/libbench-rte-member.a
if HAVE_DPDK
tests_bench_libbench_rte_member_a_SOURCES = tests/bench/measure_rte_member.cc
tests_bench_libbench_rte_member_a_CXXFLAGS = $(AM_CXXFLAGS) $(DPDK_CFLAGS) -DALLOW_EXPERIMENTAL_API
else
tests_bench_libbench_rte_member_a_SOURCES = tests/bench/measure_no_rte_member.cc
endif
EXTRA_DIST += \
	tests/bench/measure_no_rte_member.cc \
	tests/bench/measure_rte_member.cc
CLEANFILES += tests/bench/libbench-rte-member.a
tests_bench_bench_measure_LDADD = tests/bench/libbench-rte-member.a $(LIBTRUMPET_REPLAY) $(DPDK_LIBS)
