# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Programs of this folder, and what `make demo` runs.

# Everything of trumpet-replay but its main(), so that tests can call it.
noinst_LIBRARIES += utilities/libtrumpet-replay.a
utilities_libtrumpet_replay_a_SOURCES = \
	utilities/replay/replay.cc \
	utilities/replay/replay.h \
	utilities/replay/replay_options.cc \
	utilities/replay/replay_options.h \
	utilities/replay/schedule.cc \
	utilities/replay/schedule.h
LIBTRUMPET_REPLAY = utilities/libtrumpet-replay.a lib/libtrumpet-tpm.a \
	lib/libtrumpet-verdict.a $(XXHASH_LIBS) $(LIBTRUMPET_LANG)

bin_PROGRAMS += utilities/trumpet-replay
utilities_trumpet_replay_SOURCES = utilities/replay/main.cc
utilities_trumpet_replay_LDADD = $(LIBTRUMPET_REPLAY)

# The demonstration is a folder of scripts.
EXTRA_DIST += utilities/demo
