# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Merges what was counted and decides.
noinst_LIBRARIES += lib/libtrumpet-verdict.a
lib_libtrumpet_verdict_a_SOURCES = \
	lib/verdict/bucket_store.cc \
	lib/verdict/bucket_store.h \
	lib/verdict/event_feed.cc \
	lib/verdict/event_feed.h \
	lib/verdict/event_verdicts.cc \
	lib/verdict/event_verdicts.h \
	lib/verdict/flow_state_map.cc \
	lib/verdict/flow_state_map.h \
	lib/verdict/host_verdicts.cc \
	lib/verdict/host_verdicts.h \
	lib/verdict/incomplete_ranges.h \
	lib/verdict/real_sum.h \
	lib/verdict/threshold_split.cc \
	lib/verdict/threshold_split.h \
	lib/verdict/trigger_plan.cc \
	lib/verdict/trigger_plan.h \
	lib/verdict/uint256.h \
	lib/verdict/verdict_predicate.cc \
	lib/verdict/verdict_predicate.h

gtest_programs += lib/verdict/verdict_test
lib_verdict_verdict_test_SOURCES = \
	lib/verdict/bucket_store_test.cc \
	lib/verdict/event_feed_test.cc \
	lib/verdict/host_verdicts_limits_test.cc \
	lib/verdict/host_verdicts_random_test.cc \
	lib/verdict/host_verdicts_test.cc \
	lib/verdict/incomplete_ranges_test.cc \
	lib/verdict/slow_host_test.h \
	lib/verdict/threshold_split_test.cc \
	lib/verdict/trigger_plan_test.cc \
	lib/verdict/verdict_test_kit.h \
	lib/verdict/verdicts_host_test.h
lib_verdict_verdict_test_LDADD = $(LIBTRUMPET_VERDICT) $(GTEST_MAIN_LIBS)
