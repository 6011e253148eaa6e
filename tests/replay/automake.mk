# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The command line of trumpet-replay.
gtest_programs += tests/replay/replay_test
tests_replay_replay_test_SOURCES = \
	tests/replay/measured_replay_test.cc \
	tests/replay/replay_kit_test.h \
	tests/replay/replay_test.cc
tests_replay_replay_test_LDADD = $(LIBTRUMPET_REPLAY) $(GTEST_MAIN_LIBS)
