# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

controller_libtrumpet_plan_a_SOURCES += \
	controller/plan/trace/sonic_export.cc \
	controller/plan/trace/sonic_export.h \
	controller/plan/trace/sonic_import.cc \
	controller/plan/trace/sonic_import.h \
	controller/plan/trace/sonic_sessions.cc \
	controller/plan/trace/trace_flows.cc \
	controller/plan/trace/trace_flows.h \
	controller/plan/trace/trace_tests.cc \
	controller/plan/trace/trace_tests.h

gtest_programs += controller/plan/trace/plan_trace_test
controller_plan_trace_plan_trace_test_SOURCES = \
	controller/plan/trace/sonic_test.cc \
	controller/plan/trace/trace_flows_test.cc \
	controller/plan/trace/trace_tests_test.cc
controller_plan_trace_plan_trace_test_LDADD = $(LIBTRUMPET_PLAN) $(GTEST_MAIN_LIBS)

fuzz_programs += controller/plan/trace/sonic_fuzz
controller_plan_trace_sonic_fuzz_SOURCES = controller/plan/trace/sonic_fuzz.cc
controller_plan_trace_sonic_fuzz_LDADD = $(LIBTRUMPET_PLAN) $(FUZZ_MAIN)

EXTRA_DIST += tests/corpus/sonic_fuzz
