# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

noinst_LIBRARIES += lib/libtrumpet-base.a
lib_libtrumpet_base_a_SOURCES = \
	lib/base/backoff.h \
	lib/base/block_pool.h \
	lib/base/byte_cursor.h \
	lib/base/byte_order.h \
	lib/base/fuzz_require.h \
	lib/base/hash.h \
	lib/base/log_buckets.h \
	lib/base/loop_event.cc \
	lib/base/loop_event.h \
	lib/base/job_thread.cc \
	lib/base/job_thread.h \
	lib/base/loop_worker.cc \
	lib/base/loop_worker.h \
	lib/base/name_list.h \
	lib/base/page_buffer.h \
	lib/base/text_file.cc \
	lib/base/text_file.h \
	lib/base/page_source.cc \
	lib/base/page_source.h \
	lib/base/process_barrier.cc \
	lib/base/process_barrier.h \
	lib/base/quads.h \
	lib/base/spsc_ring.h \
	lib/base/status.h \
	lib/base/system_error.h \
	lib/base/text_table.cc \
	lib/base/text_table.h \
	lib/base/units.h \
	lib/base/utc_time.h \
	lib/base/utf8.h

gtest_programs += lib/base/base_test
TSAN_TESTS += lib/base/base_test
lib_base_base_test_SOURCES = \
	lib/base/backoff_test.cc \
	lib/base/block_pool_test.cc \
	lib/base/cold_stores_test.h \
	lib/base/hash_test.cc \
	lib/base/log_buckets_test.cc \
	lib/base/loop_event_test.cc \
	lib/base/loop_worker_test.cc \
	lib/base/name_list_test.cc \
	lib/base/page_source_test.cc \
	lib/base/process_barrier_test.cc \
	lib/base/random_runs_test.h \
	lib/base/spsc_ring_test.cc \
	lib/base/text_table_test.cc
lib_base_base_test_LDADD = $(LIBTRUMPET_BASE) $(GTEST_MAIN_LIBS) $(XXHASH_LIBS) $(LIBEVENT_LIBS)
