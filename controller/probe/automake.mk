# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Packets sent to see which way they take.
noinst_LIBRARIES += controller/libtrumpet-probe.a
controller_libtrumpet_probe_a_SOURCES = \
	controller/probe/bounce_book.h \
	controller/probe/bounce_findings.cc \
	controller/probe/bounce_findings.h \
	controller/probe/bouncer.cc \
	controller/probe/bouncer.h \
	controller/probe/chances.cc \
	controller/probe/chances.h \
	controller/probe/drop_book.h \
	controller/probe/drop_debugger.cc \
	controller/probe/drop_debugger.h \
	controller/probe/drop_evidence.cc \
	controller/probe/drop_evidence.h \
	controller/probe/drop_findings.cc \
	controller/probe/drop_findings.h \
	controller/probe/drop_kinds.cc \
	controller/probe/drop_kinds.h \
	controller/probe/drop_search.cc \
	controller/probe/drop_search.h \
	controller/probe/drop_explainer.cc \
	controller/probe/drop_explainer.h \
	controller/probe/drop_reason.cc \
	controller/probe/drop_reason.h \
	controller/probe/flow_walk.cc \
	controller/probe/flow_walk.h \
	controller/probe/probe_book.h \
	controller/probe/probe_findings.cc \
	controller/probe/probe_findings.h \
	controller/probe/probe_rate.h \
	controller/probe/prober.cc \
	controller/probe/prober.h \
	controller/probe/via_route.cc \
	controller/probe/via_route.h

gtest_programs += controller/probe/probe_test
controller_probe_probe_test_SOURCES = \
	controller/probe/bounce_findings_test.cc \
	controller/probe/chances_test.cc \
	controller/probe/drop_debugger_test.cc \
	controller/probe/drop_search_test.cc \
	controller/probe/drop_simulation_test.h \
	controller/probe/probe_findings_test.cc \
	controller/probe/via_route_test.cc
controller_probe_probe_test_LDADD = $(LIBTRUMPET_PROBE) $(GTEST_MAIN_LIBS)

# With real switches.
if BUILD_PLUGIN
gtest_programs += controller/probe/prober_test
endif
EXTRA_PROGRAMS += controller/probe/prober_test
controller_probe_prober_test_SOURCES = $(openflow_test_kit) \
	controller/probe/bouncer_test.cc \
	controller/probe/drop_explainer_test.cc \
	controller/probe/drop_reason_test.cc \
	controller/probe/flow_walk_test.cc \
	controller/probe/prober_test.cc
controller_probe_prober_test_LDADD = $(LIBTRUMPET_PROBE) controller/libtrumpet-trace-rules.a $(openflow_test_libs)
controller_probe_prober_test_DEPENDENCIES = \
	$(filter %.a,$(controller_probe_prober_test_LDADD)) $(OPENFLOW_CODEC_FILES)
