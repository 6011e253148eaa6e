# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-tem.a
controller_libtrumpet_tem_a_SOURCES = \
	controller/tem/network_event.cc \
	controller/tem/network_event.h \
	controller/tem/network_event_polls.cc \
	controller/tem/network_event_reports.cc \
	controller/tem/network_host.h \
	controller/tem/network_verdicts.cc \
	controller/tem/network_verdicts.h \
	controller/tem/poll_table.h \
	controller/tem/report_rate.h \
	controller/tem/threshold_shares.cc \
	controller/tem/threshold_shares.h

gtest_programs += controller/tem/tem_test
controller_tem_tem_test_SOURCES = \
	controller/tem/network_random_test.cc \
	controller/tem/network_test_kit.h \
	controller/tem/network_verdicts_test.cc \
	controller/tem/report_rate_test.cc \
	controller/tem/threshold_shares_test.cc \
	lib/verdict/slow_host_test.h \
	lib/verdict/verdict_test_kit.h
controller_tem_tem_test_LDADD = $(LIBTRUMPET_TEM) $(GTEST_MAIN_LIBS)

bench_programs += controller/tem/network_verdicts_bench
controller_tem_network_verdicts_bench_SOURCES = \
	controller/tem/network_test_kit.h \
	controller/tem/network_verdicts_bench.cc
controller_tem_network_verdicts_bench_LDADD = $(LIBTRUMPET_TEM) $(BENCH_MAIN_LIBS)
