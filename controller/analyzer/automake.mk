# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-analyzer.a
controller_libtrumpet_analyzer_a_SOURCES = \
	controller/analyzer/copy_matching.cc \
	controller/analyzer/copy_matching.h \
	controller/analyzer/estimates.cc \
	controller/analyzer/estimates.h \
	controller/analyzer/packet_identity.cc \
	controller/analyzer/packet_identity.h \
	controller/analyzer/path_statistics.cc \
	controller/analyzer/path_statistics.h

gtest_programs += controller/analyzer/analyzer_test
controller_analyzer_analyzer_test_SOURCES = \
	controller/analyzer/copy_matching_test.cc \
	controller/analyzer/estimates_test.cc \
	controller/analyzer/packet_identity_test.cc \
	controller/analyzer/path_simulation_test.h \
	controller/analyzer/path_statistics_test.cc
controller_analyzer_analyzer_test_LDADD = $(LIBTRUMPET_ANALYZER) $(GTEST_MAIN_LIBS)
