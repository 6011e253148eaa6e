# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# A slow, obvious interpreter of measurement programs: against itself with planted mistakes, against
# a reference set if there is one, and against utilities/trumpet-replay of the build directory.  How
# many random stories: MEASURE_CASES in the environment, 500 without it.  What that measures with its
# own hash is held against the truth.  Events that read programs: MEASURED_CASES, 120 without it.
measure_tests = \
	tests/measure/check-fast-hash \
	tests/measure/check-twin \
	tests/measure/measure-differential \
	tests/measure/measured-differential
TESTS += $(measure_tests)
EXTRA_DIST += $(measure_tests)

EXTRA_DIST += \
	tests/measure/mafia_packets.py \
	tests/measure/mafia_program.py \
	tests/measure/mafia_stories.py \
	tests/measure/mafia_syntax.py \
	tests/measure/mafia_text.py \
	tests/measure/mafia_twin.py \
	tests/measure/measure_compare.py \
	tests/measure/measured_stories.py \
	tests/measure/measured_twin.py \
	tests/measure/named_cases.py \
	tests/measure/reference_hash.py \
	tests/measure/story_shrink.py

# Programs on bursts of frames beside the same packets one by one.
gtest_programs += tests/measure/bursts_test
tests_measure_bursts_test_SOURCES = tests/measure/bursts_test.cc
tests_measure_bursts_test_LDADD = $(LIBTRUMPET_REPLAY) $(GTEST_MAIN_LIBS)

# Windows over what threads have in common.
gtest_programs += tests/measure/shared_windows_test
TSAN_TESTS += tests/measure/shared_windows_test
tests_measure_shared_windows_test_SOURCES = tests/measure/shared_windows_test.cc
tests_measure_shared_windows_test_LDADD = $(LIBTRUMPET_REPLAY) $(GTEST_MAIN_LIBS)

# Programs beside what they cost.
gtest_programs += tests/measure/packet_cost_test
tests_measure_packet_cost_test_SOURCES = tests/measure/packet_cost_test.cc
tests_measure_packet_cost_test_LDADD = $(LIBTRUMPET_REPLAY) $(GTEST_MAIN_LIBS)
