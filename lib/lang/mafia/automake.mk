# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

lib_libtrumpet_lang_a_SOURCES += \
	lib/lang/mafia/ast.h \
	lib/lang/mafia/check.cc \
	lib/lang/mafia/check.h \
	lib/lang/mafia/conflicts.cc \
	lib/lang/mafia/conflicts.h \
	lib/lang/mafia/constants.cc \
	lib/lang/mafia/constants.h \
	lib/lang/mafia/declare.cc \
	lib/lang/mafia/declare.h \
	lib/lang/mafia/expr_parser.cc \
	lib/lang/mafia/expr_parser.h \
	lib/lang/mafia/lexer.cc \
	lib/lang/mafia/lexer.h \
	lib/lang/mafia/lower.cc \
	lib/lang/mafia/lower.h \
	lib/lang/mafia/lower_expr.cc \
	lib/lang/mafia/lower_expr.h \
	lib/lang/mafia/mafia_language.cc \
	lib/lang/mafia/mafia_language.h \
	lib/lang/mafia/merge.cc \
	lib/lang/mafia/merge.h \
	lib/lang/mafia/names.cc \
	lib/lang/mafia/names.h \
	lib/lang/mafia/parser.cc \
	lib/lang/mafia/parser.h \
	lib/lang/mafia/pipeline_parser.cc \
	lib/lang/mafia/pipeline_parser.h \
	lib/lang/mafia/print.cc \
	lib/lang/mafia/print.h \
	lib/lang/mafia/problems.cc \
	lib/lang/mafia/problems.h \
	lib/lang/mafia/resolve.cc \
	lib/lang/mafia/resolve.h \
	lib/lang/mafia/symbols.cc \
	lib/lang/mafia/symbols.h \
	lib/lang/mafia/token_cursor.h

gtest_programs += lib/lang/mafia/lang_mafia_test
lib_lang_mafia_lang_mafia_test_SOURCES = \
	lib/lang/mafia/mafia_error_test.cc \
	lib/lang/mafia/mafia_print_test.cc \
	lib/lang/mafia/mafia_program_test.cc \
	lib/lang/mafia/mafia_usecase_test.cc
lib_lang_mafia_lang_mafia_test_LDADD = $(LIBTRUMPET_LANG) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/lang/mafia/mafia_fuzz
lib_lang_mafia_mafia_fuzz_SOURCES = lib/lang/mafia/mafia_fuzz.cc
lib_lang_mafia_mafia_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)

# The examples are tests, too.
EXTRA_DIST += docs/measurements tests/corpus/mafia_fuzz
