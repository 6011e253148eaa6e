# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

lib_libtrumpet_lang_a_SOURCES += \
	lib/lang/slice/slice_check.cc \
	lib/lang/slice/slice_print.cc \
	lib/lang/slice/slice_language.h \
	lib/lang/slice/slice_syntax.cc \
	lib/lang/slice/slice_syntax.h

gtest_programs += lib/lang/slice/lang_slice_test
lib_lang_slice_lang_slice_test_SOURCES = lib/lang/slice/slice_language_test.cc
lib_lang_slice_lang_slice_test_LDADD = $(LIBTRUMPET_LANG) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/lang/slice/slice_fuzz
lib_lang_slice_slice_fuzz_SOURCES = lib/lang/slice/slice_fuzz.cc
lib_lang_slice_slice_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)

EXTRA_DIST += tests/corpus/slice_fuzz
