# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Traces, from analyzers that make them as packets pass to clients of the API.
gtest_programs += tests/traces/trace_api_test
tests_traces_trace_api_test_SOURCES = \
	controller/rest/rest_kit_test.h \
	controller/traces/program_kit_test.h \
	controller/traces/trace_network_test.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/traces/trace_api_test.cc
tests_traces_trace_api_test_LDADD = $(LIBTRUMPET_REST) $(LIBTRUMPET_TRACES) $(GTEST_MAIN_LIBS)
$(tests_traces_trace_api_test_OBJECTS): lib/wire/trumpet.pb.h
