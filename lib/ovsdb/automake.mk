# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-ovsdb.a
lib_libtrumpet_ovsdb_a_SOURCES = \
	lib/ovsdb/json_rpc.cc \
	lib/ovsdb/json_rpc.h \
	lib/ovsdb/json_splitter.cc \
	lib/ovsdb/json_splitter.h \
	lib/ovsdb/ovsdb_client.cc \
	lib/ovsdb/ovsdb_client.h \
	lib/ovsdb/ovsdb_copy.cc \
	lib/ovsdb/ovsdb_copy.h \
	lib/ovsdb/ovsdb_remote.cc \
	lib/ovsdb/ovsdb_remote.h \
	lib/ovsdb/ovsdb_rows.cc \
	lib/ovsdb/ovsdb_rows.h \
	lib/ovsdb/ovsdb_value.cc \
	lib/ovsdb/ovsdb_value.h

ovsdb_test_kit = \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h

gtest_programs += lib/ovsdb/ovsdb_test
lib_ovsdb_ovsdb_test_SOURCES = $(ovsdb_test_kit) \
	lib/ovsdb/json_rpc_test.cc \
	lib/ovsdb/json_splitter_test.cc \
	lib/ovsdb/ovsdb_client_test.cc \
	lib/ovsdb/ovsdb_copy_test.cc \
	lib/ovsdb/ovsdb_remote_test.cc \
	lib/ovsdb/ovsdb_value_test.cc
lib_ovsdb_ovsdb_test_LDADD = $(LIBTRUMPET_OVSDB) $(GTEST_MAIN_LIBS)

fuzz_programs += lib/ovsdb/ovsdb_fuzz
lib_ovsdb_ovsdb_fuzz_SOURCES = lib/ovsdb/ovsdb_fuzz.cc
lib_ovsdb_ovsdb_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_OVSDB)
lib_ovsdb_ovsdb_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/ovsdb_fuzz
