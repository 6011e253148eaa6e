# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

lib_libtrumpet_lang_a_SOURCES += \
	lib/lang/probe/probe_language.cc \
	lib/lang/probe/probe_language.h

gtest_programs += lib/lang/probe/lang_probe_test
lib_lang_probe_lang_probe_test_SOURCES = \
	lib/lang/probe/probe_frame_test.cc \
	lib/lang/probe/probe_language_test.cc
lib_lang_probe_lang_probe_test_LDADD = $(LIBTRUMPET_LANG) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/lang/probe/probe_fuzz
lib_lang_probe_probe_fuzz_SOURCES = lib/lang/probe/probe_fuzz.cc
lib_lang_probe_probe_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)

EXTRA_DIST += tests/corpus/probe_fuzz
