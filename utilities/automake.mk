# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Programs of this folder, and what `make demo` runs.

# Everything of trumpet-replay but its main(), so that tests can call it.
noinst_LIBRARIES += utilities/libtrumpet-replay.a
utilities_libtrumpet_replay_a_SOURCES = \
	utilities/replay/event_replay.cc \
	utilities/replay/event_replay.h \
	utilities/replay/measured_events.cc \
	utilities/replay/measured_events.h \
	utilities/replay/packet_meta.cc \
	utilities/replay/packet_meta.h \
	utilities/replay/program_file.cc \
	utilities/replay/program_file.h \
	utilities/replay/program_replay.cc \
	utilities/replay/program_replay.h \
	utilities/replay/program_report.cc \
	utilities/replay/program_report.h \
	utilities/replay/program_run.cc \
	utilities/replay/program_run.h \
	utilities/replay/replay.cc \
	utilities/replay/replay.h \
	utilities/replay/replay_options.cc \
	utilities/replay/replay_options.h \
	utilities/replay/schedule.cc \
	utilities/replay/schedule.h
LIBTRUMPET_REPLAY = utilities/libtrumpet-replay.a controller/libtrumpet-tem.a lib/libtrumpet-tpm.a \
	lib/libtrumpet-verdict.a lib/libtrumpet-measure.a $(XXHASH_LIBS) $(LIBTRUMPET_LANG) \
	$(OPENSSL_LIBS)

bin_PROGRAMS += utilities/trumpet-replay
utilities_trumpet_replay_SOURCES = utilities/replay/main.cc
utilities_trumpet_replay_LDADD = $(LIBTRUMPET_REPLAY)

# The demonstration is a folder of scripts.
EXTRA_DIST += utilities/demo

# Everything of trumpetctl but its main().
noinst_LIBRARIES += utilities/libtrumpet-ctl.a
utilities_libtrumpet_ctl_a_SOURCES = \
	utilities/ctl/campaign_commands.cc \
	utilities/ctl/command_help.cc \
	utilities/ctl/command_help.h \
	utilities/ctl/command_table.cc \
	utilities/ctl/command_table.h \
	utilities/ctl/commands.cc \
	utilities/ctl/commands.h \
	utilities/ctl/ctl_run.cc \
	utilities/ctl/ctl_run.h \
	utilities/ctl/event_commands.cc \
	utilities/ctl/event_stream.cc \
	utilities/ctl/event_stream.h \
	utilities/ctl/http_client.cc \
	utilities/ctl/http_client.h \
	utilities/ctl/option_range.cc \
	utilities/ctl/option_range.h \
	utilities/ctl/options.cc \
	utilities/ctl/options.h \
	utilities/ctl/output.cc \
	utilities/ctl/output.h \
	utilities/ctl/measure_commands.cc \
	utilities/ctl/network_file.cc \
	utilities/ctl/network_file.h \
	utilities/ctl/bounce_commands.cc \
	utilities/ctl/drop_commands.cc \
	utilities/ctl/probe_commands.cc \
	utilities/ctl/report_commands.cc \
	utilities/ctl/slice_case_reader.h \
	utilities/ctl/slice_cases.cc \
	utilities/ctl/slice_cases.h \
	utilities/ctl/slice_commands.cc \
	utilities/ctl/slice_commands.h \
	utilities/ctl/store_commands.cc \
	utilities/ctl/token.cc \
	utilities/ctl/trace_commands.cc \
	utilities/ctl/trace_rule_commands.cc
LIBTRUMPET_CTL = utilities/libtrumpet-ctl.a $(LIBTRUMPET_MEASURE) $(LIBTRUMPET_SLICE_PLAN) $(LIBTRUMPET_VIEW) $(YAML_CPP_LIBS) $(CURL_LIBS) \
	$(OPENSSL_LIBS)

bin_PROGRAMS += utilities/trumpetctl
utilities_trumpetctl_SOURCES = utilities/ctl/main.cc
utilities_trumpetctl_LDADD = $(LIBTRUMPET_CTL)

# bash looks for a file of the command's name.
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = utilities/completions/trumpetctl
utilities/completions/trumpetctl: utilities/trumpetctl-completion.bash
	$(AM_V_GEN)$(MKDIR_P) utilities/completions && cp '$(srcdir)/utilities/trumpetctl-completion.bash' $@
CLEANFILES += utilities/completions/trumpetctl
EXTRA_DIST += utilities/trumpetctl-completion.bash

gtest_programs += utilities/ctl/ctl_test
utilities_ctl_ctl_test_SOURCES = \
	utilities/ctl/commands_test.cc \
	utilities/ctl/event_stream_test.cc \
	utilities/ctl/measure_commands_test.cc \
	utilities/ctl/options_test.cc \
	utilities/ctl/output_test.cc \
	utilities/ctl/slice_cases_test.cc \
	utilities/ctl/slice_commands_test.cc \
	utilities/ctl/trace_rule_commands_test.cc
utilities_ctl_ctl_test_LDADD = $(LIBTRUMPET_CTL) $(GTEST_MAIN_LIBS) $(LIBEVENT_LIBS)

# As people use it, against controller/rest/small_rest.
TESTS += utilities/ctl/trumpetctl_test.py
EXTRA_DIST += utilities/ctl/trumpetctl_test.py

# The database of events.
dist_bin_SCRIPTS += utilities/trumpet-db

# The certificates of a small deployment.
dist_bin_SCRIPTS += utilities/trumpet-pki
