# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-packet.a
lib_libtrumpet_packet_a_SOURCES = \
	lib/packet/bgp.cc \
	lib/packet/bgp.h \
	lib/packet/bgp_stream.cc \
	lib/packet/bgp_stream.h \
	lib/packet/capture_merge.cc \
	lib/packet/capture_merge.h \
	lib/packet/capture_source.cc \
	lib/packet/capture_source.h \
	lib/packet/checksum.h \
	lib/packet/fields.cc \
	lib/packet/fields.h \
	lib/packet/flow_key.h \
	lib/packet/layers.cc \
	lib/packet/layers.h \
	lib/packet/link_header.cc \
	lib/packet/link_header.h \
	lib/packet/mirror_copy.cc \
	lib/packet/mirror_copy.h \
	lib/packet/mirror_header.cc \
	lib/packet/mirror_header.h \
	lib/packet/parse.cc \
	lib/packet/parse.h \
	lib/packet/parse_ip.h \
	lib/packet/parse_plain.h \
	lib/packet/parse_transport.h \
	lib/packet/parse_tunnel.h \
	lib/packet/parsed_packet.cc \
	lib/packet/parsed_packet.h \
	lib/packet/pcap_reader.cc \
	lib/packet/pcap_reader.h \
	lib/packet/pcapng_fcs.cc \
	lib/packet/pcapng_fcs.h \
	lib/packet/pcapng_joiner.cc \
	lib/packet/pcapng_joiner.h \
	lib/packet/pcapng_writer.cc \
	lib/packet/pcapng_writer.h \
	lib/packet/plain_frame.h \
	lib/packet/plain_quad.h \
	lib/packet/prefix.cc \
	lib/packet/prefix.h \
	lib/packet/probe_frame.cc \
	lib/packet/probe_frame.h \
	lib/packet/roce.cc \
	lib/packet/roce.h

gtest_programs += lib/packet/packet_test
lib_packet_packet_test_SOURCES = \
	lib/packet/bgp_frames.h \
	lib/packet/bgp_stream_test.cc \
	lib/packet/bgp_test.cc \
	lib/packet/bgp_tshark_test.cc \
	lib/packet/capture_merge_test.cc \
	lib/packet/captures_test.cc \
	lib/packet/fields_test.cc \
	lib/packet/layers_test.cc \
	lib/packet/layers_tshark_test.cc \
	lib/packet/link_header_test.cc \
	lib/packet/mirror_copy_test.cc \
	lib/packet/parse_random_test.cc \
	lib/packet/parse_tcp_test.cc \
	lib/packet/parse_test.cc \
	lib/packet/parse_tunnel_test.cc \
	lib/packet/pcap_reader_test.cc \
	lib/packet/pcapng_joiner_test.cc \
	lib/packet/pcapng_writer_test.cc \
	lib/packet/plain_frame_test.cc \
	lib/packet/prefix_test.cc \
	lib/packet/quad_words.h \
	lib/packet/random_frames.h \
	lib/packet/random_roce.h \
	lib/packet/random_stacks.h \
	lib/packet/reference_parse.cc \
	lib/packet/reference_parse.h \
	lib/packet/roce_test.cc \
	lib/packet/roce_tshark_test.cc \
	lib/packet/test_captures.h \
	lib/packet/test_frames.h
lib_packet_packet_test_LDADD = $(LIBTRUMPET_PACKET) $(GTEST_MAIN_LIBS)

bench_programs += lib/packet/parse_bench
lib_packet_parse_bench_SOURCES = \
	lib/packet/parse_bench.cc \
	lib/packet/reference_parse.cc \
	lib/packet/reference_parse.h \
	lib/packet/test_frames.h
lib_packet_parse_bench_LDADD = $(LIBTRUMPET_PACKET) $(BENCH_MAIN_LIBS)

fuzz_programs += lib/packet/bgp_fuzz lib/packet/layers_fuzz lib/packet/mirror_copy_fuzz lib/packet/parse_fuzz lib/packet/pcap_fuzz lib/packet/roce_fuzz
lib_packet_bgp_fuzz_SOURCES = lib/packet/bgp_fuzz.cc
lib_packet_bgp_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_bgp_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
lib_packet_layers_fuzz_SOURCES = lib/packet/layers_fuzz.cc
lib_packet_layers_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_layers_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
lib_packet_mirror_copy_fuzz_SOURCES = lib/packet/mirror_copy_fuzz.cc
lib_packet_mirror_copy_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_mirror_copy_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
lib_packet_parse_fuzz_SOURCES = \
	lib/packet/parse_fuzz.cc \
	lib/packet/reference_parse.cc \
	lib/packet/reference_parse.h
lib_packet_parse_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_parse_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
lib_packet_pcap_fuzz_SOURCES = lib/packet/pcap_fuzz.cc
lib_packet_pcap_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_pcap_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
lib_packet_roce_fuzz_SOURCES = lib/packet/roce_fuzz.cc
lib_packet_roce_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_PACKET)
lib_packet_roce_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)

EXTRA_DIST += tests/corpus/bgp_fuzz tests/corpus/layers_fuzz tests/corpus/mirror_copy_fuzz tests/corpus/parse_fuzz tests/corpus/pcap_fuzz tests/corpus/roce_fuzz
