# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""A slow, obvious evaluator of the event contract.

It shares nothing with lib/ but the names of fields, holds the whole trace in
memory and counts with exact integers.  Where it and the monitor disagree, one
of them has misread the contract.
"""
