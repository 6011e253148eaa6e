# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

controller_libtrumpet_plan_a_SOURCES += \
	controller/plan/trace/trace_flows.cc \
	controller/plan/trace/trace_flows.h

gtest_programs += controller/plan/trace/plan_trace_test
controller_plan_trace_plan_trace_test_SOURCES = controller/plan/trace/trace_flows_test.cc
controller_plan_trace_plan_trace_test_LDADD = $(LIBTRUMPET_PLAN) $(GTEST_MAIN_LIBS)
