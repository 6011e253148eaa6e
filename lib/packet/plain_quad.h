// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// PlainQuad: four frames side by side, read as PlainReader::ReadIpv4() reads one of them, with the
// vectors of AVX2.
//
// A frame with a VLAN tag, or to a port that may be a tunnel's, is left to PlainReader: saying less
// than it is allowed, saying something else is not.
//
// Threads: immutable once made.  Only for processors that HasQuads().

#ifndef TRUMPET_LIB_PACKET_PLAIN_QUAD_H
#define TRUMPET_LIB_PACKET_PLAIN_QUAD_H

#include <cstdint>

#include "lib/base/quads.h"
#include "lib/packet/plain_frame.h"

namespace trumpet {

// A word of each frame; those of frames that are not plain mean nothing.
struct PlainQuad {
  __m256i ips;             // as PlainFrame::ips, and so the others
  __m256i ports;           // upper halves 0
  __m256i volume_and_ecn;  // likewise
  __m256i is_tcp;          // all ones, or 0: UDP
  uint32_t tcp = 0;        // a bit for each that is TCP
  uint32_t plain = 0;      // a bit for each that is plain
};

class PlainQuadReader {
 public:
  static constexpr int kFrames = 4;

  explicit PlainQuadReader(const PlainReader& reader)
      : some_tunnel_ports_(static_cast<int64_t>(reader.some_tunnel_ports())) {}

  // Adds the lengths on the wire, of all four, to the words of `wire_bytes`.
  TRUMPET_QUADS PlainQuad Read(const Frame* frames, __m256i* wire_bytes) const {
    static_assert(sizeof(Frame) == 16 && offsetof(Frame, captured_length) == 8 &&
                  offsetof(Frame, wire_length) == 12);
    const auto* pairs = reinterpret_cast<const __m256i*>(frames);
    // Of frames 0, 2, 1, 3: captured in the lower halves, on the wire in the upper ones.
    const __m256i lengths =
        _mm256_unpackhi_epi64(_mm256_loadu_si256(pairs), _mm256_loadu_si256(pairs + 1));
    *wire_bytes = _mm256_add_epi64(*wire_bytes, _mm256_srli_epi64(lengths, 32));
    const __m256i enough = _mm256_cmpgt_epi32(lengths, QuadOf(kMinBytes - 1));
    // Bits of lower halves are the even ones.
    const int long_frames = _mm256_movemask_ps(_mm256_castsi256_ps(enough)) & 0x55;
    PlainQuad quad;
    if (__builtin_expect(long_frames == 0x55, 1)) ReadWords(frames, &quad);
    return quad;
  }

 private:
  TRUMPET_QUADS static __m256i LoadFrom10(const Frame& frame) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(frame.data + 10));
  }

  // Bytes of each word, by their number; -1: 0.
  TRUMPET_QUADS static __m256i Pick(__m256i words, int8_t b0, int8_t b1, int8_t b2, int8_t b3) {
    return _mm256_shuffle_epi8(
        words, _mm256_setr_epi8(b0, b1, b2, b3, -1, -1, -1, -1, Next(b0), Next(b1), Next(b2),
                                Next(b3), -1, -1, -1, -1, b0, b1, b2, b3, -1, -1, -1, -1, Next(b0),
                                Next(b1), Next(b2), Next(b3), -1, -1, -1, -1));
  }
  static constexpr int8_t Next(int8_t byte) {
    return static_cast<int8_t>(byte < 0 ? byte : byte + 8);
  }

  TRUMPET_QUADS void ReadWords(const Frame* frames, PlainQuad* quad) const {
    // Bytes 10 to 41 of each frame, then the same by their place.
    const __m256i frame0 = LoadFrom10(frames[0]);
    const __m256i frame1 = LoadFrom10(frames[1]);
    const __m256i frame2 = LoadFrom10(frames[2]);
    const __m256i frame3 = LoadFrom10(frames[3]);
    const __m256i even01 = _mm256_unpacklo_epi64(frame0, frame1);
    const __m256i even23 = _mm256_unpacklo_epi64(frame2, frame3);
    const __m256i from10 = _mm256_permute2x128_si256(even01, even23, 0x20);
    // Type at 12, version and length of header at 14.
    const __m256i is_ipv4 = _mm256_cmpeq_epi64(_mm256_and_si256(from10, QuadOf(0x000000ffffff0000)),
                                               QuadOf(0x0000004500080000));
    quad->plain = HighBitsOf(is_ipv4);
    if (__builtin_expect(quad->plain == 0, 0)) return;
    const __m256i odd01 = _mm256_unpackhi_epi64(frame0, frame1);
    const __m256i odd23 = _mm256_unpackhi_epi64(frame2, frame3);
    const __m256i from18 = _mm256_permute2x128_si256(odd01, odd23, 0x20);
    const __m256i from34 = _mm256_permute2x128_si256(odd01, odd23, 0x31);
    quad->ips = _mm256_permute2x128_si256(even01, even23, 0x31);
    quad->ports = Pick(from34, 1, 0, 3, 2);

    // Fragment word at 20, protocol at 23.
    const __m256i protocol = _mm256_and_si256(from18, QuadOf(0x0000ff00ff3f0000));
    const __m256i is_udp = _mm256_cmpeq_epi64(protocol, QuadOf(int64_t{kProtocolUdp} << 40));
    const __m256i is_tcp = _mm256_cmpeq_epi64(protocol, QuadOf(int64_t{kProtocolTcp} << 40));
    quad->is_tcp = is_tcp;
    quad->tcp = HighBitsOf(is_tcp);

    // Total length at 16, traffic class at 15.
    const __m256i total_and_class = Pick(from10, 7, 6, -1, 5);
    const __m256i total = _mm256_and_si256(total_and_class, QuadOf(0xffff));
    const __m256i ecn = _mm256_and_si256(total_and_class, QuadOf(0x03000000));
    __m256i least = QuadOf(kIpv4Bytes + kUdpBytes);
    __m256i headers = least;
    if (quad->tcp != 0) {
      least = _mm256_blendv_epi8(least, QuadOf(kIpv4Bytes + kTcpMinBytes), is_tcp);
      headers = _mm256_blendv_epi8(headers, TcpHeaders(frames), is_tcp);
    }
    const __m256i volume = _mm256_max_epi32(_mm256_sub_epi32(total, headers), QuadOf(0));
    quad->volume_and_ecn = _mm256_or_si256(volume, ecn);

    const __m256i is_short = _mm256_cmpgt_epi32(least, total);  // in the lower halves
    const __m256i port_bit = _mm256_and_si256(_mm256_srli_epi64(quad->ports, 16), QuadOf(63));
    const __m256i may_be_tunnel = _mm256_srlv_epi64(QuadOf(some_tunnel_ports_), port_bit);
    const __m256i is_not =
        _mm256_or_si256(_mm256_slli_epi64(_mm256_andnot_si256(is_tcp, may_be_tunnel), 63),
                        _mm256_slli_epi64(is_short, 32));
    quad->plain &= HighBitsOf(_mm256_andnot_si256(is_not, _mm256_or_si256(is_udp, is_tcp)));
  }

  // With the header of IP.
  TRUMPET_QUADS static __m256i TcpHeaders(const Frame* frames) {
    constexpr int kAt = 34 + parse_internal::kTcpOffsetByte;
    const __m256i offset_bytes = _mm256_setr_epi64x(frames[0].data[kAt], frames[1].data[kAt],
                                                    frames[2].data[kAt], frames[3].data[kAt]);
    const __m256i stated =
        _mm256_and_si256(_mm256_srli_epi64(offset_bytes, 2), QuadOf(0x3c));  // four bytes each
    return _mm256_add_epi64(_mm256_max_epi32(stated, QuadOf(kTcpMinBytes)), QuadOf(kIpv4Bytes));
  }

  static constexpr int64_t kIpv4Bytes = parse_internal::kIpv4MinBytes;
  static constexpr int64_t kUdpBytes = parse_internal::kUdpBytes;
  static constexpr int64_t kTcpMinBytes = parse_internal::kTcpMinBytes;
  static constexpr int64_t kMinBytes = PlainReader::kMinIpv4Bytes;

  const int64_t some_tunnel_ports_;
};

}  // namespace trumpet

#endif  // TRUMPET_LIB_PACKET_PLAIN_QUAD_H
