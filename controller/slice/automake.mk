# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# What runs campaigns of slices; links the solvers.
noinst_LIBRARIES += controller/libtrumpet-slice.a
controller_libtrumpet_slice_a_SOURCES = \
	controller/slice/analyzer_collector.cc \
	controller/slice/analyzer_collector.h \
	controller/slice/campaign_admission.cc \
	controller/slice/campaign_definition.cc \
	controller/slice/campaign_definition.h \
	controller/slice/campaign_feed.h \
	controller/slice/campaign_loop.h \
	controller/slice/campaign_manager.cc \
	controller/slice/campaign_manager.h \
	controller/slice/campaign_run.cc \
	controller/slice/campaign_run.h \
	controller/slice/campaign_slots.cc \
	controller/slice/copy_collector.h \
	controller/slice/copy_flows.cc \
	controller/slice/copy_flows.h \
	controller/slice/datapath_driver.cc \
	controller/slice/datapath_driver.h \
	controller/slice/demand_book.cc \
	controller/slice/demand_book.h \
	controller/slice/flow_counters.cc \
	controller/slice/flow_counters.h \
	controller/slice/flow_export.cc \
	controller/slice/flow_export.h \
	controller/slice/latency_book.cc \
	controller/slice/latency_book.h \
	controller/slice/latency_prober.cc \
	controller/slice/latency_prober.h \
	controller/slice/openflow_driver.cc \
	controller/slice/openflow_driver.h \
	controller/slice/packet_keeper.h \
	controller/slice/trace_asker.cc \
	controller/slice/trace_asker.h \
	controller/slice/sample_receiver.cc \
	controller/slice/sample_receiver.h \
	controller/slice/sampled_demand.cc \
	controller/slice/sampled_demand.h \
	controller/slice/second_budget.h \
	controller/slice/sflow_export.cc \
	controller/slice/slice_driver.h \
	controller/slice/slice_planner.cc \
	controller/slice/slice_planner.h \
	controller/slice/tag_pool.h

fuzz_programs += controller/slice/campaign_fuzz
controller_slice_campaign_fuzz_SOURCES = controller/slice/campaign_fuzz.cc
controller_slice_campaign_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_SLICE)
controller_slice_campaign_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/campaign_fuzz

fuzz_programs += controller/slice/flow_export_fuzz
controller_slice_flow_export_fuzz_SOURCES = controller/slice/flow_export_fuzz.cc
controller_slice_flow_export_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_SLICE)
controller_slice_flow_export_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/flow_export_fuzz

gtest_programs += controller/slice/slice_test
TSAN_TESTS += controller/slice/slice_test
controller_slice_slice_test_SOURCES = \
	controller/slice/campaign_manager_test.cc \
	controller/slice/campaign_delay_test.cc \
	controller/slice/campaign_lab_test.h \
	controller/slice/campaign_run_test.cc \
	controller/slice/flow_export_test.cc \
	controller/slice/latency_test.cc \
	controller/slice/sample_receiver_test.cc \
	controller/slice/slice_parts_test.cc \
	controller/slice/slice_twin_test.h
controller_slice_slice_test_LDADD = $(LIBTRUMPET_SLICE) $(GTEST_MAIN_LIBS)

# The OpenFlow driver with a real switch.
if BUILD_PLUGIN
gtest_programs += controller/slice/openflow_driver_test
endif
EXTRA_PROGRAMS += controller/slice/openflow_driver_test
controller_slice_openflow_driver_test_SOURCES = $(openflow_test_kit) \
	controller/slice/copy_flows_test.cc \
	controller/slice/flow_counters_test.cc \
	controller/slice/flow_match_test.cc \
	controller/slice/openflow_driver_test.cc
controller_slice_openflow_driver_test_LDADD = $(LIBTRUMPET_SLICE) $(openflow_test_libs)
controller_slice_openflow_driver_test_DEPENDENCIES = \
	$(filter %.a,$(controller_slice_openflow_driver_test_LDADD)) $(OPENFLOW_CODEC_FILES)

# The datapath driver with agents over loopback.
gtest_programs += controller/slice/datapath_driver_test
controller_slice_datapath_driver_test_SOURCES = \
	controller/slice/datapath_driver_test.cc \
	controller/tem/event_manager_kit_test.h \
	controller/tem/scripted_agent_test.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h
controller_slice_datapath_driver_test_LDADD = $(LIBTRUMPET_SLICE) $(GTEST_MAIN_LIBS)
