# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

lib_libtrumpet_lang_a_SOURCES += \
	lib/lang/trace/trace_language.cc \
	lib/lang/trace/trace_language.h

gtest_programs += lib/lang/trace/lang_trace_test
lib_lang_trace_lang_trace_test_SOURCES = lib/lang/trace/trace_language_test.cc
lib_lang_trace_lang_trace_test_LDADD = $(LIBTRUMPET_LANG) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/lang/trace/trace_fuzz
lib_lang_trace_trace_fuzz_SOURCES = lib/lang/trace/trace_fuzz.cc
lib_lang_trace_trace_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)

EXTRA_DIST += tests/corpus/trace_fuzz
