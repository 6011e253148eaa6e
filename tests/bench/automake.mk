# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The monitor on the workload of the paper's experiments; `make bench` runs it.
EXTRA_PROGRAMS += tests/bench/bench-monitor
tests_bench_bench_monitor_SOURCES = \
	tests/bench/bench_monitor.cc \
	tests/bench/contenders.cc \
	tests/bench/contenders.h \
	tests/bench/workload.cc \
	tests/bench/workload.h
tests_bench_bench_monitor_LDADD = $(LIBTRUMPET_TPM)
CLEANFILES += tests/bench/bench-monitor

# The monitor in the switch; `make bench-ovs` runs it (root).
TESTS += tests/bench/bench_ovs_test
EXTRA_DIST += \
	tests/bench/bench-ovs \
	tests/bench/bench_ovs_test \
	tests/bench/ovs_contenders.py \
	tests/bench/ovs_figures.py \
	tests/bench/ovs_machine.py \
	tests/bench/ovs_switches.py \
	tests/bench/ovs_workload.py

# What a change of triggers costs the packet thread.
EXTRA_PROGRAMS += tests/bench/bench-install
tests_bench_bench_install_SOURCES = \
	tests/bench/bench_install.cc \
	tests/bench/workload.cc \
	tests/bench/workload.h
tests_bench_bench_install_LDADD = $(LIBTRUMPET_TPM)
CLEANFILES += tests/bench/bench-install
