# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-lang.a
lib_libtrumpet_lang_a_SOURCES = \
	lib/lang/event/ast.h \
	lib/lang/event/check.cc \
	lib/lang/event/check.h \
	lib/lang/event/compile.cc \
	lib/lang/event/compile.h \
	lib/lang/event/diagnostic.h \
	lib/lang/event/document.cc \
	lib/lang/event/document.h \
	lib/lang/event/event_document.cc \
	lib/lang/event/event_document.h \
	lib/lang/event/event_language.cc \
	lib/lang/event/event_language.h \
	lib/lang/event/field_name.cc \
	lib/lang/event/field_name.h \
	lib/lang/event/filter_parser.cc \
	lib/lang/event/filter_parser.h \
	lib/lang/event/filter_value.cc \
	lib/lang/event/filter_value.h \
	lib/lang/event/granularity_parser.cc \
	lib/lang/event/granularity_parser.h \
	lib/lang/event/json.cc \
	lib/lang/event/label.cc \
	lib/lang/event/label.h \
	lib/lang/event/lexer.cc \
	lib/lang/event/lexer.h \
	lib/lang/event/lower.cc \
	lib/lang/event/lower.h \
	lib/lang/event/measured_check.cc \
	lib/lang/event/measured_check.h \
	lib/lang/event/number.cc \
	lib/lang/event/number.h \
	lib/lang/event/predicate_parser.cc \
	lib/lang/event/predicate_parser.h \
	lib/lang/event/print.h \
	lib/lang/event/print_filter.cc \
	lib/lang/event/print_predicate.cc \
	lib/lang/event/source.cc \
	lib/lang/event/source.h \
	lib/lang/event/suggest.cc \
	lib/lang/event/suggest.h \
	lib/lang/event/token_stream.h \
	lib/lang/token_list.h \
	lib/lang/event/yaml.cc

gtest_programs += lib/lang/event/lang_event_test
lib_lang_event_lang_event_test_SOURCES = \
	lib/lang/event/document_test.cc \
	lib/lang/event/event_table_test.cc \
	lib/lang/event/filter_table_test.cc \
	lib/lang/event/granularity_table_test.cc \
	lib/lang/event/guide_test.cc \
	lib/lang/event/limits_test.cc \
	lib/lang/event/measured_table_test.cc \
	lib/lang/event/number_test.cc \
	lib/lang/event/paper_events_test.cc \
	lib/lang/event/predicate_precedence_test.cc \
	lib/lang/event/predicate_table_test.cc \
	lib/lang/event/source_test.cc \
	lib/lang/event/suggest_test.cc \
	lib/lang/event/table_test.h
lib_lang_event_lang_event_test_LDADD = $(LIBTRUMPET_LANG) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/lang/event/event_fuzz lib/lang/event/yaml_fuzz
lib_lang_event_event_fuzz_SOURCES = lib/lang/event/event_fuzz.cc
lib_lang_event_event_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)
lib_lang_event_yaml_fuzz_SOURCES = lib/lang/event/yaml_fuzz.cc
lib_lang_event_yaml_fuzz_LDADD = $(LIBTRUMPET_LANG) $(FUZZ_MAIN)

# guide_test runs the examples of the guide.
EXTRA_DIST += docs/event-language.md tests/corpus/event_fuzz tests/corpus/yaml_fuzz
