# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# A slow, obvious evaluator against the monitor on random traces and events.
# `run` takes utilities/trumpet-replay of the build directory.  How many seeds:
# DIFFERENTIAL_CASES in the environment, 3000 without it.
differential_tests = \
	tests/differential/oracle_test \
	tests/differential/run
TESTS += $(differential_tests)
EXTRA_DIST += $(differential_tests)

EXTRA_DIST += \
	tests/differential/capture_cases.py \
	tests/differential/cases/__init__.py \
	tests/differential/cases/bucket_cases.py \
	tests/differential/cases/golden.py \
	tests/differential/cases/header_cases.py \
	tests/differential/cases/predicate_cases.py \
	tests/differential/cases/table2.py \
	tests/differential/cases/tcp_cases.py \
	tests/differential/compare.py \
	tests/differential/frames.py \
	tests/differential/generate.py \
	tests/differential/hard_cases.py \
	tests/differential/oracle/__init__.py \
	tests/differential/oracle/evaluate.py \
	tests/differential/oracle/language.py \
	tests/differential/oracle/packets.py \
	tests/differential/oracle/pcapio.py \
	tests/differential/oracle/tcp.py \
	tests/differential/random_events.py \
	tests/differential/shrink.py \
	tests/differential/traffic.py
