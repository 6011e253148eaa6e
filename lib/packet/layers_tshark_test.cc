// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Layers beside tshark: all fields of all layers of captures made by others, hostile ones among
// them, and of random stacks of headers.  The captures are not part of the project: they are looked
// for where FindCaptures() says.

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "lib/base/byte_order.h"
#include "lib/packet/layers.h"
#include "lib/packet/random_stacks.h"
#include "lib/packet/test_captures.h"
#include "lib/packet/test_frames.h"

namespace trumpet {
namespace {

namespace fs = std::filesystem;
using test_frames::Bytes;

// What tshark is asked for, in this order.
constexpr const char* kFields[] = {"eth.dst",         "eth.src",
                                   "eth.type",        "ieee8021ad.id",
                                   "ieee8021ad.svid", "ieee8021ad.cvid",
                                   "vlan.id",         "mpls.label",
                                   "ip.src",          "ip.dst",
                                   "ip.ttl",          "ip.id",
                                   "ip.proto",        "ip.len",
                                   "ip.dsfield.dscp", "ipv6.src",
                                   "ipv6.dst",        "ipv6.hlim",
                                   "ipv6.plen",       "tcp.srcport",
                                   "tcp.dstport",     "tcp.seq_raw",
                                   "tcp.flags",       "tcp.window_size_value",
                                   "udp.srcport",     "udp.dstport",
                                   "udp.length",      "sctp.srcport",
                                   "sctp.dstport",    "gre.proto",
                                   "gre.key",         "gre.sequence_number",
                                   "erspan.spanid",   "erspan.vlan",
                                   "erspan.cos",      "erspan.truncated",
                                   "erspan.index",    "erspan.timestamp",
                                   "erspan.sgt",      "erspan.ft",
                                   "erspan.hw",       "erspan.gra",
                                   "vxlan.vni",       "geneve.vni",
                                   "nsh.spi",         "nsh.si"};

// The values of each field, from the outermost layer to the innermost.
using Values = std::map<std::string, std::vector<std::string>>;

struct Capture {
  LayerKind first = LayerKind::kEthernet;
  std::vector<Bytes> frames;
};

// Of a pcap file of Ethernet or IP, without libpcap; nothing of another.
Capture ReadCapture(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Bytes bytes(text.begin(), text.end());
  if (bytes.size() < 24) return {};
  const bool is_big_endian = bytes[0] == 0xa1;
  const auto number = [&](size_t at) {
    const uint32_t value = LoadBe32(bytes.data() + at);
    return is_big_endian ? value : __builtin_bswap32(value);
  };
  Capture capture;
  const uint32_t link_type = number(20) & 0xffff;
  const bool is_pcap = number(0) == 0xa1b2c3d4 || number(0) == 0xa1b23c4d;
  if (!is_pcap || (link_type != 1 && link_type != 101)) return {};
  if (link_type == 101) capture.first = LayerKind::kIpv4;
  for (size_t at = 24; at + 16 <= bytes.size();) {
    const auto begin = bytes.begin() + static_cast<long>(at) + 16;
    const size_t size = std::min<size_t>(number(at + 8), bytes.size() - at - 16);
    capture.frames.emplace_back(begin, begin + static_cast<long>(size));
    at += 16 + size;
  }
  return capture;
}

std::string Mac(const uint8_t* mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                mac[3], mac[4], mac[5]);
  return text.data();
}

std::string Address(int family, const uint8_t* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(family, address, text.data(), text.size());
}

// Numbers are compared as numbers, whatever base they are written in.
std::string Plain(const std::string& value) {
  if (value == "True") return "1";
  if (value == "False") return "0";
  char* end = nullptr;
  const unsigned long long number = std::strtoull(value.c_str(), &end, 0);
  return *end == '\0' && !value.empty() ? std::to_string(number) : value;
}

class Fields {
 public:
  explicit Fields(const Bytes& frame) : frame_(frame) {}

  void Add(const Layer& layer);
  const Values& values() const { return values_; }

 private:
  void Put(const char* field, std::string text) { values_[field].push_back(std::move(text)); }
  void Put(const char* field, uint64_t number) { Put(field, std::to_string(number)); }
  void AddTag(const uint8_t* tag);
  void AddTransport(const Layer& layer, const std::string& name);
  void AddGre(const Layer& layer);
  void AddErspan(const Layer& layer);

  const Bytes& frame_;
  Values values_;
  bool is_customer_tag_ = false;  // the next one, of two of 802.1ad that follow each other
};

void Fields::Add(const Layer& layer) {
  const uint8_t* at = frame_.data() + layer.at;
  switch (layer.kind) {
    case LayerKind::kEthernet:
      Put("eth.dst", Mac(at));
      Put("eth.src", Mac(at + 6));
      if (LoadBe16(at + 12) >= 1536 || LoadBe16(at + 12) == 0) Put("eth.type", LoadBe16(at + 12));
      break;
    case LayerKind::kVlan:
      AddTag(at);
      break;
    case LayerKind::kMpls:
      Put("mpls.label", LoadBe32(at) >> 12);
      break;
    case LayerKind::kIpv4:
      Put("ip.src", Address(AF_INET, at + 12));
      Put("ip.dst", Address(AF_INET, at + 16));
      Put("ip.ttl", at[8]);
      Put("ip.id", LoadBe16(at + 4));
      Put("ip.proto", at[9]);
      Put("ip.len", LoadBe16(at + 2));
      Put("ip.dsfield.dscp", at[1] >> 2);
      break;
    case LayerKind::kIpv6:
      Put("ipv6.src", Address(AF_INET6, at + 8));
      Put("ipv6.dst", Address(AF_INET6, at + 24));
      Put("ipv6.hlim", at[7]);
      Put("ipv6.plen", LoadBe16(at + 4));
      break;
    case LayerKind::kTcp:
      AddTransport(layer, "tcp");
      Put("tcp.seq_raw", LoadBe32(at + 4));
      Put("tcp.flags", LoadBe16(at + 12) & 0xfff);
      Put("tcp.window_size_value", LoadBe16(at + 14));
      break;
    case LayerKind::kUdp:
      AddTransport(layer, "udp");
      Put("udp.length", LoadBe16(at + 4));
      break;
    case LayerKind::kSctp:
      AddTransport(layer, "sctp");
      break;
    case LayerKind::kGre:
    case LayerKind::kPptp:
      AddGre(layer);
      break;
    case LayerKind::kErspan2:
    case LayerKind::kErspan3:
      AddErspan(layer);
      break;
    case LayerKind::kVxlan:
    case LayerKind::kVxlanGpe:
      Put("vxlan.vni", LoadBe32(at + 4) >> 8);
      break;
    case LayerKind::kGeneve:
      Put("geneve.vni", LoadBe32(at + 4) >> 8);
      break;
    case LayerKind::kNsh:
      Put("nsh.spi", LoadBe32(at + 4) >> 8);
      Put("nsh.si", at[7]);
      break;
    default:
      break;
  }
}

// tshark has fields of their own for tags of 802.1ad.
void Fields::AddTag(const uint8_t* tag) {
  constexpr uint16_t k8021ad = 0x88a8;
  const char* field = "vlan.id";
  if (is_customer_tag_) {
    field = "ieee8021ad.cvid";
    is_customer_tag_ = false;
  } else if (LoadBe16(tag - 2) == k8021ad) {
    is_customer_tag_ = LoadBe16(tag + 2) == k8021ad;
    field = is_customer_tag_ ? "ieee8021ad.svid" : "ieee8021ad.id";
  }
  Put(field, LoadBe16(tag) & 0xfff);
}

void Fields::AddTransport(const Layer& layer, const std::string& name) {
  Put((name + ".srcport").c_str(), LoadBe16(frame_.data() + layer.at));
  Put((name + ".dstport").c_str(), LoadBe16(frame_.data() + layer.at + 2));
}

void Fields::AddGre(const Layer& layer) {
  const uint8_t* gre = frame_.data() + layer.at;
  const uint16_t flags = LoadBe16(gre);
  const bool is_pptp = layer.kind == LayerKind::kPptp;  // whose key numbers a call, without a sum
  const uint32_t key_at = (flags & 0x8000) != 0 && !is_pptp ? 8 : 4;
  const uint32_t sequence_at = key_at + ((flags & 0x2000) != 0 ? 4 : 0);
  Put("gre.proto", LoadBe16(gre + 2));
  if (layer.bytes == 4) return;
  if ((flags & 0x2000) != 0 && !is_pptp) Put("gre.key", LoadBe32(gre + key_at));
  if ((flags & 0x1000) != 0) Put("gre.sequence_number", LoadBe32(gre + sequence_at));
}

void Fields::AddErspan(const Layer& layer) {
  const uint8_t* at = frame_.data() + layer.at;
  const uint32_t word = LoadBe32(at);
  Put("erspan.vlan", word >> 16 & 0xfff);
  Put("erspan.cos", word >> 13 & 7);
  Put("erspan.truncated", word >> 10 & 1);
  Put("erspan.spanid", word & 0x3ff);
  if (layer.kind == LayerKind::kErspan2) {
    Put("erspan.index", LoadBe32(at + 4) & 0xfffff);
    return;
  }
  const uint16_t last = LoadBe16(at + 10);
  Put("erspan.timestamp", LoadBe32(at + 4));
  Put("erspan.sgt", LoadBe16(at + 8));
  Put("erspan.ft", last >> 10 & 31);
  Put("erspan.hw", last >> 4 & 63);
  Put("erspan.gra", last >> 1 & 3);
}

Values OursOf(const Bytes& frame, LayerKind first) {
  Layers layers;
  ReadLayers(frame.data(), static_cast<uint32_t>(frame.size()), first, {}, &layers);
  Fields fields(frame);
  for (int i = 0; i < layers.count; ++i) fields.Add(layers.list[static_cast<size_t>(i)]);
  return fields.values();
}

// ICMP shows the headers of the packet that it is about, OpenFlow and sFlow those that they report;
// those are none of this packet's layers.
std::vector<Values> TsharksOf(const fs::path& path) {
  static constexpr char kOptions[] =
      "--disable-protocol icmp --disable-protocol icmpv6 --disable-protocol openflow"
      " --disable-protocol sflow -o ip.defragment:FALSE -o ipv6.defragment:FALSE -o "
      "tcp.desegment_tcp_streams:FALSE";
  std::vector<Values> frames;
  for (const auto& columns : test_captures::TsharkFields(path.string(), kFields, kOptions)) {
    frames.emplace_back();
    for (size_t i = 0; i < columns.size(); ++i) {
      for (const std::string& value : test_captures::Split(columns[i], ',')) {
        frames.back()[kFields[i]].push_back(Plain(value));
      }
    }
  }
  return frames;
}

std::string Text(const Values& values, const std::string& field) {
  std::string text;
  const auto found = values.find(field);
  if (found == values.end()) return text;
  for (const std::string& value : found->second) text += " " + value;
  return text;
}

// Of segmentation offload beyond 64 KiB: IP states no length, and this tshark reads no further.
bool StatesNoLength(const Values& values) {
  const auto is_zero_in = [&values](const char* field) {
    const std::string text = Text(values, field) + " ";
    return text.find(" 0 ") != std::string::npos;
  };
  return is_zero_in("ip.len") || is_zero_in("ipv6.plen");
}

// The fields in which the two differ.
std::string Difference(const Values& ours, const Values& theirs) {
  const bool may_end_early = StatesNoLength(ours);
  std::string text;
  for (const std::string field : kFields) {
    if (may_end_early && field == "ip.len") continue;  // tshark puts in what it takes it to be
    std::string our = Text(ours, field);
    const std::string their = Text(theirs, field);
    if (may_end_early) our.resize(std::min(our.size(), their.size()));
    if (our != their) text += field + ":" + our + " |" + their + "\n";
  }
  return text;
}

// The frames of all captures as one, which tshark reads at once; `names` says where each is from.
void Compare(const std::vector<Bytes>& frames, LayerKind first,
             const std::vector<std::string>& names) {
  Bytes file = test_captures::PcapHeader(test_captures::kMicroMagic,
                                         first == LayerKind::kEthernet ? 1 : 101);
  for (const Bytes& frame : frames) {
    const Bytes record = test_captures::PcapPacket(1, 0, frame);
    file.insert(file.end(), record.begin(), record.end());
  }
  const test_captures::TemporaryFile capture(file);
  const std::vector<Values> theirs = TsharksOf(capture.path());
  ASSERT_EQ(theirs.size(), frames.size());
  for (size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(Difference(OursOf(frames[i], first), theirs[i]), "") << names[i];
  }
}

TEST(LayersBesideTshark, OfEveryCaptureHaveTheSameFields) {
  const auto [folder, least_files] = test_captures::FindCaptures();
  if (!fs::is_directory(folder)) GTEST_SKIP() << "captures are absent: no " << folder;
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  size_t file_count = 0;
  std::map<LayerKind, std::vector<Bytes>> frames;
  std::map<LayerKind, std::vector<std::string>> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const Capture capture = ReadCapture(entry.path());
    for (size_t i = 0; i < capture.frames.size(); ++i) {
      frames[capture.first].push_back(capture.frames[i]);
      names[capture.first].push_back(entry.path().string() + ", packet " + std::to_string(i + 1));
    }
    if (!capture.frames.empty()) ++file_count;
  }
  EXPECT_GE(file_count, least_files);
  for (const auto& [first, list] : frames) Compare(list, first, names[first]);
}

TEST(LayersBesideTshark, OfRandomStacksHaveTheSameFields) {
  if (!test_captures::HasTshark()) GTEST_SKIP() << "no tshark";
  std::vector<Bytes> frames;
  std::vector<std::string> names;
  test_frames::RandomStacks random(20261122);
  for (int i = 0; i < 3000; ++i) {
    frames.push_back(random.Frame(3));
    names.push_back("frame " + std::to_string(i) + " of seed 20261122");
  }
  Compare(frames, LayerKind::kEthernet, names);
}

}  // namespace
}  // namespace trumpet
