# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# All of the folder: pages come and go.
EXTRA_DIST += docs
