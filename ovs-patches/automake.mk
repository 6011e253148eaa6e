# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0

# Nothing is compiled here; build-aux/ovs-build applies the series.
