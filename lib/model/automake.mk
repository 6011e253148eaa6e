# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-model.a
lib_libtrumpet_model_a_SOURCES = \
	lib/model/bucket_key.cc \
	lib/model/bucket_key.h \
	lib/model/event_spec.h \
	lib/model/expr.cc \
	lib/model/expr.h \
	lib/model/filter.cc \
	lib/model/filter.h \
	lib/model/flow_state.h \
	lib/model/host_place.h \
	lib/model/measure_copies.h \
	lib/model/measure_field.h \
	lib/model/measure_math.h \
	lib/model/measure_place.h \
	lib/model/measure_program.h \
	lib/model/measure_reading.h \
	lib/model/network_report.cc \
	lib/model/network_report.h \
	lib/model/report.cc \
	lib/model/report.h \
	lib/model/slice_copies.h \
	lib/model/slice_spec.h \
	lib/model/trace_rule.h

gtest_programs += lib/model/model_test
lib_model_model_test_SOURCES = \
	lib/model/bucket_key_test.cc \
	lib/model/expr_test.cc \
	lib/model/filter_test.cc \
	lib/model/network_report_test.cc \
	lib/model/report_test.cc
lib_model_model_test_LDADD = $(LIBTRUMPET_MODEL) $(GTEST_MAIN_LIBS)
