# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
"""The documented functions of a measurement program: hash, random numbers, estimates."""
import math

MASK32 = 2**32 - 1


def murmur3(key, seed):
    """murmur3 x86_32 of bytes."""
    def rotated(value, count):
        return (value << count | value >> (32 - count)) & MASK32

    def scrambled(block):
        return rotated(block * 0xCC9E2D51 & MASK32, 15) * 0x1B873593 & MASK32

    state = seed
    whole = len(key) // 4 * 4
    for place in range(0, whole, 4):
        state ^= scrambled(int.from_bytes(key[place:place + 4], "little"))
        state = (rotated(state, 13) * 5 + 0xE6546B64) & MASK32
    if whole < len(key):
        state ^= scrambled(int.from_bytes(key[whole:], "little"))
    state ^= len(key)
    state = (state ^ state >> 16) * 0x85EBCA6B & MASK32
    state = (state ^ state >> 13) * 0xC2B2AE35 & MASK32
    return state ^ state >> 16


def bucket_and_zeros(value, size):
    """Of a 32-bit hash: the top log2(size) bits, and the leading zeros of the others."""
    rest = 32 - (size.bit_length() - 1)
    return value >> rest, rest - (value & (1 << rest) - 1).bit_length()


class Xorshift:
    """The random numbers of one switch."""

    def __init__(self, state=12345):
        self.state = state

    def draw(self, low, high):
        """Uniform in [low, high); `low` where that is empty."""
        x = self.state
        x ^= x << 13 & MASK32
        x ^= x >> 17
        x ^= x << 5 & MASK32
        self.state = x
        return low + (x * max(high - low, 0) >> 32)


def hyperloglog_estimate(registers):
    m = len(registers)
    alpha = {16: 0.673, 32: 0.697, 64: 0.709}.get(m, 0.7213 / (1 + 1.079 / m))
    raw = alpha * m * m / sum(2.0**-each for each in registers)
    zeros = registers.count(0)
    if raw <= 2.5 * m and zeros:
        raw = m * math.log(m / zeros)
    return round(raw, 6)


def pcsa_estimate(bitmaps):
    def lowest_zero(bitmap):
        place = 0
        while bitmap >> place & 1:
            place += 1
        return place

    m = len(bitmaps)
    mean = sum(lowest_zero(each) for each in bitmaps) / m
    return round(m / 0.77351 * (2**mean - 2**(-1.75 * mean)), 6)
