# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Slots of reshufflers.
controller_libtrumpet_plan_a_SOURCES += \
	controller/plan/reshuffle/reshuffle_flows.cc \
	controller/plan/reshuffle/reshuffle_flows.h \
	controller/plan/reshuffle/slot_table.cc \
	controller/plan/reshuffle/slot_table.h

gtest_programs += controller/plan/reshuffle/plan_reshuffle_test
controller_plan_reshuffle_plan_reshuffle_test_SOURCES = \
	controller/plan/reshuffle/reshuffle_flows_test.cc \
	controller/plan/reshuffle/slot_table_test.cc
controller_plan_reshuffle_plan_reshuffle_test_LDADD = $(LIBTRUMPET_PLAN) $(GTEST_MAIN_LIBS)
