# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Mutants that no unit test can or needs to notice: (file, part of the line, change, why)."""
EXPLAINED = (
    ("lib/tpm/packet_thread.cc", "lot_ = lot_ * 1664525 + 1013904223;", "+ becomes -",
     "numbers drawn by lot that are as good"),
    ("lib/tpm/match_scatter.cc", "if (!epoch_->running->sets.flows_have_cells()) return;", "return left out",
     "lines that nobody needs are fetched, nothing else"),
    ("lib/tpm/match_scatter.cc", "if (!epoch_->running->sets.flows_have_cells()) return;", "the condition is turned round",
     "lines that nobody needs are fetched, or those that are needed are not: only slower"),
)
