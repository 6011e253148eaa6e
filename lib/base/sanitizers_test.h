// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Which sanitizers a test was compiled with: GCC tells by a macro, Clang by a feature.

#ifndef TRUMPET_LIB_BASE_SANITIZERS_TEST_H
#define TRUMPET_LIB_BASE_SANITIZERS_TEST_H

namespace trumpet::testing {

#if defined(__has_feature)
constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
#else
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHasAddressSanitizer = true;
#else
constexpr bool kHasAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
constexpr bool kHasThreadSanitizer = true;
#else
constexpr bool kHasThreadSanitizer = false;
#endif
#endif

}  // namespace trumpet::testing

#endif  // TRUMPET_LIB_BASE_SANITIZERS_TEST_H
