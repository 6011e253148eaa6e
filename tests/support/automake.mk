# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# What tests need around them and this kernel does not have.
check_PROGRAMS += tests/support/link_emulator
tests_support_link_emulator_SOURCES = \
	tests/support/link_emulator.cc \
	tests/support/lossy_link.cc \
	tests/support/lossy_link.h
tests_support_link_emulator_LDADD = $(LIBTRUMPET_PACKET) $(LIBEVENT_LIBS)

# For LD_PRELOAD: sets the clock of one process.
check_PROGRAMS += tests/support/clock_shift.so
tests_support_clock_shift_so_SOURCES = tests/support/clock_shift.c
tests_support_clock_shift_so_CFLAGS = $(AM_CFLAGS) -fPIC
tests_support_clock_shift_so_LDFLAGS = -shared

TESTS += tests/support/link_emulator_test.py
EXTRA_DIST += tests/support/frames.py tests/support/link_emulator_test.py tests/support/routers.py
