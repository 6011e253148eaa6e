# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# A slow, obvious evaluator against the monitor on random traces and events.
