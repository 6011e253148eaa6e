# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Planning by `trumpetctl slice solve` against twins that try everything.  How many random cases:
# SLICE_CASES in the environment, 300 without it.
TESTS += tests/slices/check-slices
EXTRA_DIST += tests/slices/check-slices tests/slices/twins.py

# Analyzers and the collector that asks them.
gtest_programs += tests/slices/analyzer_session_test
tests_slices_analyzer_session_test_SOURCES = \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/slices/analyzer_session_test.cc
tests_slices_analyzer_session_test_LDADD = controller/libtrumpet-slice.a $(LIBTRUMPET_ANALYZER) \
	$(GTEST_MAIN_LIBS)
$(tests_slices_analyzer_session_test_OBJECTS): lib/wire/trumpet.pb.h

# Packets, from files of analyzers to clients of the API.
gtest_programs += tests/slices/packet_download_test
tests_slices_packet_download_test_SOURCES = \
	controller/rest/rest_kit_test.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/slices/packet_download_test.cc
tests_slices_packet_download_test_LDADD = $(LIBTRUMPET_REST) $(LIBTRUMPET_ANALYZER) \
	$(GTEST_MAIN_LIBS)
$(tests_slices_packet_download_test_OBJECTS): lib/wire/trumpet.pb.h
