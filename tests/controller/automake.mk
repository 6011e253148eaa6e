# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Faults around trumpet-controller; run by `make check-controller`.
check_PROGRAMS += tests/controller/fault_host
tests_controller_fault_host_SOURCES = tests/controller/fault_host.cc
tests_controller_fault_host_LDADD = $(LIBTRUMPET_WIRE) $(LIBTRUMPET_VERDICT)

EXTRA_DIST += \
	tests/controller/cluster.py \
	tests/controller/daemon_kit.py \
	tests/controller/faults.py \
	tests/controller/openflow_recorder.py \
	tests/controller/openflow_test.py \
	tests/controller/os_ken_switch.py \
	tests/controller/os_ken_test.py \
	tests/controller/proxy.py \
	tests/controller/run \
	tests/controller/store_faults.py \
	tests/controller/trumpet_db_test.sh
TESTS += \
	tests/controller/openflow_test.py \
	tests/controller/os_ken_test.py \
	tests/controller/trumpet_db_test.sh
