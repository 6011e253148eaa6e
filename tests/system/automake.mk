# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# The patched switch with the monitor in it; run by `make check-system`.
EXTRA_DIST += \
	tests/system/attack_cases.py \
	tests/system/bench-slice-length \
	tests/system/blackhole_cases.py \
	tests/system/captures.py \
	tests/system/carrier_cases.py \
	tests/system/cases.py \
	tests/system/clos.py \
	tests/system/clos_cases.py \
	tests/system/clos_loss_cases.py \
	tests/system/controller_cases.py \
	tests/system/datapath_cases.py \
	tests/system/debug_cases.py \
	tests/system/demo_cases.py \
	tests/system/gateways.py \
	tests/system/live_trace_cases.py \
	tests/system/mark_cases.py \
	tests/system/measure_cases.py \
	tests/system/measure_copy_cases.py \
	tests/system/measured_event_cases.py \
	tests/system/measure_network_cases.py \
	tests/system/mirror_match_cases.py \
	tests/system/mirror_order_cases.py \
	tests/system/mirror_session_cases.py \
	tests/system/mirrors.py \
	tests/system/bounce_cases.py \
	tests/system/probe_cases.py \
	tests/system/reshuffler_cases.py \
	tests/system/roce_cases.py \
	tests/system/router_cases.py \
	tests/system/rule_change_cases.py \
	tests/system/run \
	tests/system/session_cases.py \
	tests/system/slice_cases.py \
	tests/system/slice_fault_cases.py \
	tests/system/slice_truth_cases.py \
	tests/system/switch.py \
	tests/system/tag_cases.py \
	tests/system/trace_cases.py \
	tests/system/trace_controller_cases.py \
	tests/system/trace_number_cases.py
