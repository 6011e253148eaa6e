# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-analyzer.a
controller_libtrumpet_analyzer_a_SOURCES = \
	controller/analyzer/analyzer.cc \
	controller/analyzer/analyzer.h \
	controller/analyzer/copy_matching.cc \
	controller/analyzer/copy_matching.h \
	controller/analyzer/copy_receiver.cc \
	controller/analyzer/copy_receiver.h \
	controller/analyzer/copy_sequences.cc \
	controller/analyzer/copy_sequences.h \
	controller/analyzer/copy_source.h \
	controller/analyzer/estimates.cc \
	controller/analyzer/estimates.h \
	controller/analyzer/hop_times.h \
	controller/analyzer/packet_archive.cc \
	controller/analyzer/packet_archive.h \
	controller/analyzer/packet_files.cc \
	controller/analyzer/packet_files.h \
	controller/analyzer/address_pairs.cc \
	controller/analyzer/address_pairs.h \
	controller/analyzer/packet_identity.cc \
	controller/analyzer/packet_identity.h \
	controller/analyzer/path_statistics.cc \
	controller/analyzer/path_statistics.h \
	controller/analyzer/run_answer.cc \
	controller/analyzer/run_answer.h \
	controller/analyzer/rule_changes.h \
	controller/analyzer/sample_estimate.cc \
	controller/analyzer/sample_estimate.h \
	controller/analyzer/sent_counts.cc \
	controller/analyzer/sent_counts.h \
	controller/analyzer/set_back.h \
	controller/analyzer/slice_book.cc \
	controller/analyzer/slice_book.h \
	controller/analyzer/trace_copy.cc \
	controller/analyzer/trace_copy.h \
	controller/analyzer/trace_judge.cc \
	controller/analyzer/trace_judge.h \
	controller/analyzer/trace_loops.cc \
	controller/analyzer/trace_loops.h \
	controller/analyzer/trace_packet.cc \
	controller/analyzer/trace_packet.h \
	controller/analyzer/trace_table.cc \
	controller/analyzer/trace_table.h \
	controller/analyzer/tunnel_filter.cc \
	controller/analyzer/tunnel_filter.h \
	controller/analyzer/usual_copy.cc \
	controller/analyzer/usual_copy.h

# Ports of DPDK, whose headers want flags of their own; without libdpdk what says so.
noinst_LIBRARIES += controller/libtrumpet-dpdk.a
if HAVE_DPDK
controller_libtrumpet_dpdk_a_SOURCES = \
	controller/analyzer/dpdk_eal.cc \
	controller/analyzer/dpdk_eal.h \
	controller/analyzer/dpdk_receiver.cc \
	controller/analyzer/dpdk_receiver.h
controller_libtrumpet_dpdk_a_CXXFLAGS = $(AM_CXXFLAGS) $(DPDK_CFLAGS)
else
controller_libtrumpet_dpdk_a_SOURCES = \
	controller/analyzer/dpdk_eal.h \
	controller/analyzer/dpdk_none.cc \
	controller/analyzer/dpdk_receiver.h
endif
EXTRA_DIST += \
	controller/analyzer/dpdk_eal.cc \
	controller/analyzer/dpdk_none.cc \
	controller/analyzer/dpdk_receiver.cc
LIBTRUMPET_DPDK = controller/libtrumpet-dpdk.a $(LIBTRUMPET_ANALYZER) $(DPDK_LIBS)

gtest_programs += controller/analyzer/analyzer_test
controller_analyzer_analyzer_test_SOURCES = \
	controller/analyzer/copy_kit_test.h \
	controller/analyzer/copy_matching_test.cc \
	controller/analyzer/copy_receiver_test.cc \
	controller/analyzer/loopback_kit_test.h \
	controller/analyzer/copy_sequences_test.cc \
	controller/analyzer/estimates_test.cc \
	controller/analyzer/packet_files_test.cc \
	controller/analyzer/address_pairs_test.cc \
	controller/analyzer/packet_identity_test.cc \
	controller/analyzer/path_simulation_test.h \
	controller/analyzer/path_statistics_test.cc \
	controller/analyzer/rule_changes_test.cc \
	controller/analyzer/sample_estimate_test.cc \
	controller/analyzer/sent_counts_test.cc \
	controller/analyzer/slice_book_test.cc \
	controller/analyzer/trace_copy_test.cc \
	controller/analyzer/trace_judge_test.cc \
	controller/analyzer/trace_packet_test.cc \
	controller/analyzer/trace_simulation_test.h \
	controller/analyzer/trace_table_test.cc \
	controller/analyzer/tunnel_filter_test.cc \
	controller/analyzer/usual_copy_test.cc
controller_analyzer_analyzer_test_LDADD = $(LIBTRUMPET_ANALYZER) $(GTEST_MAIN_LIBS)

fuzz_programs += controller/analyzer/trace_copy_fuzz
controller_analyzer_trace_copy_fuzz_SOURCES = \
	controller/analyzer/copy_kit_test.h \
	controller/analyzer/trace_copy_fuzz.cc
controller_analyzer_trace_copy_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_ANALYZER)
controller_analyzer_trace_copy_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

EXTRA_DIST += tests/corpus/trace_copy_fuzz
