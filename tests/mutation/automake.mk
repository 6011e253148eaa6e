# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Seeded bugs, run by `make check-mutation`, and mechanical mutants, by `make check-mutants`.
TESTS += tests/mutation/rules_test.py
EXTRA_DIST += \
	tests/mutation/explained.py \
	tests/mutation/mutant.h \
	tests/mutation/mutant_rules.py \
	tests/mutation/mutants \
	tests/mutation/mutants_main.cc \
	tests/mutation/mutations.py \
	tests/mutation/rules_test.py \
	tests/mutation/run
