# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Apart from the other planners: only who plans slices links the solvers.
noinst_LIBRARIES += controller/libtrumpet-slice-plan.a
controller_libtrumpet_slice_plan_a_CPPFLAGS = $(AM_CPPFLAGS) $(CBC_CFLAGS)
controller_libtrumpet_slice_plan_a_SOURCES = \
	controller/plan/slice/cut_graph.cc \
	controller/plan/slice/cut_graph.h \
	controller/plan/slice/explain.cc \
	controller/plan/slice/fill.cc \
	controller/plan/slice/fill.h \
	controller/plan/slice/fill_bound.cc \
	controller/plan/slice/fill_bound.h \
	controller/plan/slice/fill_problem.cc \
	controller/plan/slice/fill_problem.h \
	controller/plan/slice/greedy_fill.cc \
	controller/plan/slice/greedy_fill.h \
	controller/plan/slice/key_points.cc \
	controller/plan/slice/key_points.h \
	controller/plan/slice/knapsack.cc \
	controller/plan/slice/knapsack.h \
	controller/plan/slice/linear_program.cc \
	controller/plan/slice/linear_program.h \
	controller/plan/slice/link_rates.cc \
	controller/plan/slice/link_rates.h \
	controller/plan/slice/multiway_cut.cc \
	controller/plan/slice/multiway_cut.h \
	controller/plan/slice/network.cc \
	controller/plan/slice/network.h \
	controller/plan/slice/network_files.cc \
	controller/plan/slice/network_files.h \
	controller/plan/slice/packing.cc \
	controller/plan/slice/packing.h \
	controller/plan/slice/paths.cc \
	controller/plan/slice/paths.h \
	controller/plan/slice/pattern_packing.cc \
	controller/plan/slice/pattern_packing.h \
	controller/plan/slice/plan_json.cc \
	controller/plan/slice/plan_json.h \
	controller/plan/slice/planner.cc \
	controller/plan/slice/planner.h \
	controller/plan/slice/schedule.cc \
	controller/plan/slice/schedule.h \
	controller/plan/slice/surrounding.cc \
	controller/plan/slice/surrounding.h

gtest_programs += controller/plan/slice/slice_plan_test
controller_plan_slice_slice_plan_test_SOURCES = \
	controller/plan/slice/fill_test.cc \
	controller/plan/slice/key_points_test.cc \
	controller/plan/slice/network_test.cc \
	controller/plan/slice/paths_test.cc \
	controller/plan/slice/planner_test.cc \
	controller/plan/slice/schedule_test.cc \
	controller/plan/slice/slice_kit_test.h \
	controller/plan/slice/surrounding_test.cc
controller_plan_slice_slice_plan_test_LDADD = $(LIBTRUMPET_SLICE_PLAN) $(GTEST_MAIN_LIBS)

fuzz_programs += controller/plan/slice/network_fuzz
controller_plan_slice_network_fuzz_SOURCES = controller/plan/slice/network_fuzz.cc
controller_plan_slice_network_fuzz_LDADD = $(LIBTRUMPET_SLICE_PLAN) $(FUZZ_MAIN)
EXTRA_DIST += tests/corpus/network_fuzz
