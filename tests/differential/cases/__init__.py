# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""Cases worked out by hand, all in ALL."""
from .golden import ALL
from . import table2, header_cases, tcp_cases, predicate_cases, bucket_cases
