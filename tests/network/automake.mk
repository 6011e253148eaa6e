# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Hosts with real monitors and the controller's verdicts over them.
gtest_programs += tests/network/network_test
tests_network_network_test_SOURCES = tests/network/monitors_test.cc
tests_network_network_test_LDADD = $(LIBTRUMPET_TEM) $(LIBTRUMPET_TPM) $(GTEST_MAIN_LIBS)
