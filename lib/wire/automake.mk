# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# What protoc writes.  It is not ours to mend, so it is compiled without warnings.
wire_generated = lib/wire/trumpet.pb.cc lib/wire/trumpet.pb.h
noinst_LIBRARIES += lib/libtrumpet-wire-pb.a
lib_libtrumpet_wire_pb_a_CXXFLAGS = $(AM_CXXFLAGS) -w
nodist_lib_libtrumpet_wire_pb_a_SOURCES = $(wire_generated)
EXTRA_DIST += lib/wire/trumpet.proto
BUILT_SOURCES += $(wire_generated)
CLEANFILES += $(wire_generated)

# One run writes both: the header stands for it.
lib/wire/trumpet.pb.h: $(top_srcdir)/lib/wire/trumpet.proto
	$(AM_V_GEN)$(MKDIR_P) lib/wire && \
	  $(PROTOC) --proto_path='$(top_srcdir)' --cpp_out=. '$(top_srcdir)/lib/wire/trumpet.proto' && \
	  touch lib/wire/trumpet.pb.cc
lib/wire/trumpet.pb.cc: lib/wire/trumpet.pb.h
	@test -f $@ || { rm -f lib/wire/trumpet.pb.h && $(MAKE) $(AM_MAKEFLAGS) lib/wire/trumpet.pb.h; }

noinst_LIBRARIES += lib/libtrumpet-wire.a
lib_libtrumpet_wire_a_SOURCES = \
	lib/wire/address.cc \
	lib/wire/address.h \
	lib/wire/check.cc \
	lib/wire/check.h \
	lib/wire/clock_estimate.cc \
	lib/wire/clock_estimate.h \
	lib/wire/codec.cc \
	lib/wire/codec.h \
	lib/wire/connector.cc \
	lib/wire/connector.h \
	lib/wire/copy_address.cc \
	lib/wire/copy_address.h \
	lib/wire/count_codec.cc \
	lib/wire/count_codec.h \
	lib/wire/event_check.cc \
	lib/wire/event_codec.cc \
	lib/wire/event_codec.h \
	lib/wire/farewell.cc \
	lib/wire/farewell.h \
	lib/wire/frame_body.h \
	lib/wire/frame_reader.cc \
	lib/wire/frame_reader.h \
	lib/wire/host_codec.cc \
	lib/wire/host_codec.h \
	lib/wire/limits.h \
	lib/wire/listener.cc \
	lib/wire/listener.h \
	lib/wire/measure_codec.cc \
	lib/wire/measure_codec.h \
	lib/wire/message.h \
	lib/wire/message_parts.cc \
	lib/wire/message_parts.h \
	lib/wire/message_rules.cc \
	lib/wire/message_rules.h \
	lib/wire/order_codec.cc \
	lib/wire/order_codec.h \
	lib/wire/partials_reader.cc \
	lib/wire/partials_reader.h \
	lib/wire/place_codec.cc \
	lib/wire/place_codec.h \
	lib/wire/program_codec.cc \
	lib/wire/program_codec.h \
	lib/wire/program_message.h \
	lib/wire/send_queue.cc \
	lib/wire/send_queue.h \
	lib/wire/session.cc \
	lib/wire/session.h \
	lib/wire/session_codec.cc \
	lib/wire/session_codec.h \
	lib/wire/session_hello.cc \
	lib/wire/slice_codec.cc \
	lib/wire/slice_codec.h \
	lib/wire/slice_message.h \
	lib/wire/slice_order.h \
	lib/wire/stream_end.cc \
	lib/wire/stream_end.h \
	lib/wire/tls_context.cc \
	lib/wire/tls_context.h \
	lib/wire/trace_codec.cc \
	lib/wire/trace_codec.h \
	lib/wire/trace_message.h \
	lib/wire/trigger_codec.cc \
	lib/wire/trigger_codec.h \
	lib/wire/wide_integer.h \
	lib/wire/wire_clock.h

# BUILT_SOURCES come first in `make all' and `make check', but not before a single target.
$(lib_libtrumpet_wire_a_OBJECTS) $(lib_libtrumpet_wire_pb_a_OBJECTS): lib/wire/trumpet.pb.h

wire_test_kit = \
	lib/wire/random_analyzer_message_test.cc \
	lib/wire/random_event_test.cc \
	lib/wire/random_message_test.cc \
	lib/wire/random_message_test.h \
	lib/wire/random_program_message_test.cc \
	lib/wire/raw_peer_test.cc \
	lib/wire/raw_peer_test.h \
	lib/wire/same_message_test.h \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h

gtest_programs += lib/wire/wire_test
lib_wire_wire_test_SOURCES = $(wire_test_kit) \
	lib/wire/address_test.cc \
	lib/wire/clock_estimate_test.cc \
	lib/wire/codec_kit_test.h \
	lib/wire/codec_test.cc \
	lib/wire/count_codec_test.cc \
	lib/wire/frame_reader_test.cc \
	lib/wire/partials_reader_test.cc \
	lib/wire/place_codec_test.cc \
	lib/wire/program_codec_test.cc \
	lib/wire/send_queue_test.cc \
	lib/wire/session_peers_test.cc \
	lib/wire/session_test.cc \
	lib/wire/slice_codec_test.cc \
	lib/wire/tls_session_test.cc \
	lib/wire/trace_codec_test.cc \
	lib/wire/trigger_codec_test.cc
lib_wire_wire_test_LDADD = $(LIBTRUMPET_WIRE) $(GTEST_MAIN_LIBS)
$(lib_wire_wire_test_OBJECTS): lib/wire/trumpet.pb.h

fuzz_programs += lib/wire/wire_fuzz
lib_wire_wire_fuzz_SOURCES = lib/wire/same_message_test.h lib/wire/wire_fuzz.cc
lib_wire_wire_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_WIRE)
lib_wire_wire_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/wire_fuzz

bench_programs += lib/wire/wire_bench
lib_wire_wire_bench_SOURCES = \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	lib/wire/wire_bench.cc
lib_wire_wire_bench_LDADD = $(LIBTRUMPET_WIRE) $(BENCH_MAIN_LIBS)
