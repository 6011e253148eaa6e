# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-packet.a
lib_libtrumpet_packet_a_SOURCES = \
	lib/packet/capture_merge.cc \
	lib/packet/capture_merge.h \
	lib/packet/capture_source.cc \
	lib/packet/capture_source.h \
	lib/packet/fields.cc \
	lib/packet/fields.h \
	lib/packet/flow_key.h \
	lib/packet/parse.cc \
	lib/packet/parse.h \
	lib/packet/parse_ip.h \
	lib/packet/parse_transport.h \
	lib/packet/parse_tunnel.h \
	lib/packet/parsed_packet.cc \
	lib/packet/parsed_packet.h \
	lib/packet/pcap_reader.cc \
	lib/packet/pcap_reader.h \
	lib/packet/pcapng_header.cc \
	lib/packet/pcapng_header.h
