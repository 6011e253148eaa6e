# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-plan.a
controller_libtrumpet_plan_a_SOURCES = \
	controller/plan/address_ranges.cc \
	controller/plan/address_ranges.h \
	controller/plan/cost.cc \
	controller/plan/cost.h \
	controller/plan/filter_analysis.cc \
	controller/plan/filter_analysis.h \
	controller/plan/filter_scope.cc \
	controller/plan/filter_scope.h \
	controller/plan/filter_terms.h \
	controller/plan/flow_match.cc \
	controller/plan/flow_match.h \
	controller/plan/kept_clone.cc \
	controller/plan/kept_clone.h \
	controller/plan/placement.cc \
	controller/plan/placement.h \
	controller/plan/topology.h \
	controller/plan/topology_change.cc \
	controller/plan/topology_change.h \
	controller/plan/topology_yaml.cc

gtest_programs += controller/plan/plan_test
controller_plan_plan_test_SOURCES = \
	controller/plan/address_ranges_test.cc \
	controller/plan/placement_test.cc \
	controller/plan/topology_change_test.cc \
	controller/plan/topology_test.cc
controller_plan_plan_test_LDADD = $(LIBTRUMPET_PLAN) $(GTEST_MAIN_LIBS)
