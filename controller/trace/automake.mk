# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Trace rules of the network, and reshufflers of their copies.
noinst_LIBRARIES += controller/libtrumpet-trace-rules.a
controller_libtrumpet_trace_rules_a_SOURCES = \
	controller/trace/analyzer_health.cc \
	controller/trace/analyzer_health.h \
	controller/trace/reshuffler_book.cc \
	controller/trace/reshuffler_book.h \
	controller/trace/reshuffler_manager.cc \
	controller/trace/reshuffler_manager.h \
	controller/trace/rule_tester.cc \
	controller/trace/rule_tester.h \
	controller/trace/sent_asker.cc \
	controller/trace/sent_asker.h \
	controller/trace/switch_rules.cc \
	controller/trace/switch_rules.h \
	controller/trace/trace_counter_book.cc \
	controller/trace/trace_counter_book.h \
	controller/trace/trace_rule_book.cc \
	controller/trace/trace_rule_book.h \
	controller/trace/trace_rule_manager.cc \
	controller/trace/trace_rule_manager.h

gtest_programs += controller/trace/trace_test
controller_trace_trace_test_SOURCES = controller/trace/analyzer_health_test.cc
controller_trace_trace_test_LDADD = controller/libtrumpet-trace-rules.a $(LIBTRUMPET_BASE) $(GTEST_MAIN_LIBS)

# With real switches.
if BUILD_PLUGIN
gtest_programs += controller/trace/trace_rules_test
endif
EXTRA_PROGRAMS += controller/trace/trace_rules_test
controller_trace_trace_rules_test_SOURCES = $(openflow_test_kit) \
	controller/trace/reshuffler_manager_test.cc \
	controller/trace/sent_asker_test.cc \
	controller/trace/trace_rule_manager_test.cc
controller_trace_trace_rules_test_LDADD = $(LIBTRUMPET_TRACE_RULES) $(openflow_test_libs)
controller_trace_trace_rules_test_DEPENDENCIES = \
	$(filter %.a,$(controller_trace_trace_rules_test_LDADD)) $(OPENFLOW_CODEC_FILES)
