# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Hosts with real monitors and the controller's verdicts over them.
gtest_programs += tests/network/network_test
tests_network_network_test_SOURCES = \
	tests/network/monitors_test.cc \
	tests/network/placement_random_test.cc
tests_network_network_test_LDADD = $(LIBTRUMPET_TEM) $(LIBTRUMPET_PLAN) $(LIBTRUMPET_TPM) \
	$(GTEST_MAIN_LIBS)

# Hosts with real agents, and the event manager.
gtest_programs += tests/network/agents_test
tests_network_agents_test_SOURCES = \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/network/agent_network_test.h \
	tests/network/agents_test.cc \
	tests/network/measurement_copies_test.cc \
	tests/network/measurement_network_test.h \
	tests/network/measurements_test.cc \
	vswitchd-plugin/copy_receiver_test.h
tests_network_agents_test_LDADD = vswitchd-plugin/libtrumpet-plugin.a lib/libtrumpet-tpm.a \
	$(LIBTRUMPET_MEASUREMENTS) $(GTEST_MAIN_LIBS)

# Verdicts of the network against a slow evaluator that sees all packets.  `exactness` takes
# network_replay of the build directory.  How many seeds: EXACTNESS_CASES in the environment, 300
# without it.
if HAVE_GTEST
check_PROGRAMS += tests/network/network_replay
TESTS += tests/network/exactness
endif
EXTRA_PROGRAMS += tests/network/network_replay
tests_network_network_replay_SOURCES = \
	lib/wire/session_kit_test.h \
	lib/wire/test_certificates_test.cc \
	lib/wire/test_certificates_test.h \
	tests/network/agent_network_test.h \
	tests/network/network_replay.cc \
	tests/network/replay_story_test.h
tests_network_network_replay_LDADD = vswitchd-plugin/libtrumpet-plugin.a lib/libtrumpet-tpm.a \
	lib/libtrumpet-measure.a \
	$(LIBTRUMPET_TEM) $(GTEST_LIBS)
EXTRA_DIST += \
	tests/network/exactness \
	tests/network/network_cases.py \
	tests/network/story_cases.py
