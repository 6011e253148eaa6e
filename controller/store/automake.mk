# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += controller/libtrumpet-store.a
controller_libtrumpet_store_a_SOURCES = \
	controller/store/clickhouse_place.cc \
	controller/store/clickhouse_place.h \
	controller/store/clickhouse_rows.cc \
	controller/store/clickhouse_rows.h \
	controller/store/clickhouse_servers.cc \
	controller/store/clickhouse_servers.h \
	controller/store/clickhouse_trace_reader.cc \
	controller/store/clickhouse_trace_reader.h \
	controller/store/clickhouse_trace_store.cc \
	controller/store/clickhouse_trace_store.h \
	controller/store/event_rows.cc \
	controller/store/event_rows.h \
	controller/store/event_store.h \
	controller/store/http_client.cc \
	controller/store/http_client.h \
	controller/store/memory_event_store.cc \
	controller/store/memory_event_store.h \
	controller/store/memory_report_store.cc \
	controller/store/memory_report_store.h \
	controller/store/ovsdb_event_store.cc \
	controller/store/ovsdb_event_store.h \
	controller/store/report_reader.cc \
	controller/store/report_store.h \
	controller/store/report_tables.h \
	controller/store/report_threads.cc \
	controller/store/report_threads.h \
	controller/store/report_writer.cc \
	controller/store/row_binary.cc \
	controller/store/row_binary.h \
	controller/store/row_spool.cc \
	controller/store/row_spool.h \
	controller/store/sqlite_file.cc \
	controller/store/sqlite_file.h \
	controller/store/sqlite_report_store.cc \
	controller/store/sqlite_report_store.h \
	controller/store/sqlite_trace_store.cc \
	controller/store/sqlite_trace_store.h \
	controller/store/trace_part.cc \
	controller/store/trace_part.h \
	controller/store/trace_folder.cc \
	controller/store/trace_folder.h \
	controller/store/trace_migration.cc \
	controller/store/trace_migration.h \
	controller/store/trace_reader.cc \
	controller/store/trace_reader.h \
	controller/store/trace_sql.cc \
	controller/store/trace_sql.h \
	controller/store/trace_start_fill.cc \
	controller/store/trace_start_fill.h \
	controller/store/trace_store.cc \
	controller/store/trace_store.h \
	controller/store/trace_summary.cc \
	controller/store/trace_summary.h

# The database of events.
pkgdata_DATA = controller/store/trumpet.ovsschema
EXTRA_DIST += controller/store/trumpet.ovsschema

gtest_programs += controller/store/store_test
controller_store_store_test_SOURCES = \
	controller/store/event_rows_test.cc \
	controller/store/event_store_kit_test.h \
	controller/store/event_store_test.cc \
	controller/store/ovsdb_event_store_test.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_store_test_LDADD = $(LIBTRUMPET_STORE) $(GTEST_MAIN_LIBS)

gtest_programs += controller/store/trace_store_test
controller_store_trace_store_test_SOURCES = \
	controller/store/clickhouse_server_test.cc \
	controller/store/clickhouse_server_test.h \
	controller/store/clickhouse_trace_store_test.cc \
	controller/store/sqlite_file_test.cc \
	controller/store/sqlite_trace_store_test.cc \
	controller/store/trace_migration_test.cc \
	controller/store/trace_store_kit_test.h \
	controller/store/trace_sql_test.cc \
	controller/store/trace_store_test.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_trace_store_test_LDADD = $(LIBTRUMPET_STORE) $(GTEST_MAIN_LIBS)

fuzz_programs += controller/store/clickhouse_rows_fuzz
controller_store_clickhouse_rows_fuzz_SOURCES = controller/store/clickhouse_rows_fuzz.cc
controller_store_clickhouse_rows_fuzz_LDADD = $(FUZZ_MAIN) $(LIBTRUMPET_STORE)
controller_store_clickhouse_rows_fuzz_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
EXTRA_DIST += tests/corpus/clickhouse_rows_fuzz

# With threads.
gtest_programs += controller/store/trace_folder_test
TSAN_TESTS += controller/store/trace_folder_test
controller_store_trace_folder_test_SOURCES = \
	controller/store/trace_store_kit_test.h \
	controller/store/trace_summary_test.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_trace_folder_test_LDADD = $(LIBTRUMPET_STORE) $(GTEST_MAIN_LIBS)

gtest_programs += controller/store/report_store_test
TSAN_TESTS += controller/store/report_store_test
controller_store_report_store_test_SOURCES = \
	controller/store/report_kit_test.h \
	controller/store/report_tables_test.cc \
	controller/store/sqlite_report_store_test.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_report_store_test_LDADD = $(LIBTRUMPET_STORE) $(GTEST_MAIN_LIBS)

# Minutes long, with servers of its own: `make bench-trace-store`.
EXTRA_PROGRAMS += controller/store/trace_store_bench
CLEANFILES += controller/store/trace_store_bench
controller_store_trace_store_bench_SOURCES = \
	controller/store/bench_traces.cc \
	controller/store/bench_traces.h \
	controller/store/clickhouse_server_test.cc \
	controller/store/clickhouse_server_test.h \
	controller/store/growth_questions.cc \
	controller/store/growth_questions.h \
	controller/store/trace_growth_bench.cc \
	controller/store/trace_growth_bench.h \
	controller/store/trace_store_bench.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_trace_store_bench_LDADD = $(LIBTRUMPET_STORE) $(GTEST_LIBS)

bench_programs += controller/store/report_store_bench
controller_store_report_store_bench_SOURCES = \
	controller/store/report_kit_test.h \
	controller/store/report_store_bench.cc \
	lib/ovsdb/ovsdb_server_test.cc \
	lib/ovsdb/ovsdb_server_test.h
controller_store_report_store_bench_LDADD = $(LIBTRUMPET_STORE) $(BENCH_MAIN_LIBS) $(GTEST_LIBS)
