# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-view.a
controller_libtrumpet_view_a_SOURCES = \
	controller/view/api_tables.cc \
	controller/view/api_tables.h \
	controller/view/measurement_tables.cc \
	controller/view/measurement_tables.h \
	controller/view/bounce_tables.cc \
	controller/view/bounce_tables.h \
	controller/view/drop_tables.cc \
	controller/view/drop_tables.h \
	controller/view/probe_tables.cc \
	controller/view/probe_tables.h \
	controller/view/reshuffler_tables.cc \
	controller/view/reshuffler_tables.h \
	controller/view/slice_answers.cc \
	controller/view/slice_answers.h \
	controller/view/slice_tables.cc \
	controller/view/slice_tables.h \
	controller/view/trace_rule_tables.cc \
	controller/view/trace_rule_tables.h \
	controller/view/trace_tables.cc \
	controller/view/trace_tables.h
LIBTRUMPET_VIEW = controller/libtrumpet-view.a $(LIBTRUMPET_BASE)

gtest_programs += controller/view/view_test
controller_view_view_test_SOURCES = \
	controller/view/api_tables_test.cc \
	controller/view/bounce_tables_test.cc \
	controller/view/measurement_tables_test.cc \
	controller/view/drop_tables_test.cc \
	controller/view/probe_tables_test.cc \
	controller/view/reshuffler_tables_test.cc \
	controller/view/slice_tables_test.cc \
	controller/view/trace_rule_tables_test.cc \
	controller/view/trace_tables_test.cc
controller_view_view_test_LDADD = $(LIBTRUMPET_VIEW) $(GTEST_MAIN_LIBS)
