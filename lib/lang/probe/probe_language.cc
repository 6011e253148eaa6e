// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/lang/probe/probe_language.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "lib/lang/event/diagnostic.h"
#include "lib/lang/event/document.h"
#include "lib/lang/event/suggest.h"

namespace trumpet {
namespace {

using event_lang::DocumentNode;
using event_lang::Quote;
using event_lang::Source;
using Kind = DocumentNode::Kind;
using Names = std::vector<std::string>;

constexpr uint16_t kMaxVlan = 4095;
constexpr uint16_t kMaxTcpFlags = 0xfff;
constexpr const char* kTcpFlagNames[] = {"fin", "syn", "rst", "psh", "ack",
                                         "urg", "ece", "cwr", "ns"};

const Names& FieldNames() {
  static const Names names = {"Protocol", "srcIP",    "dstIP",    "srcPort", "dstPort",
                              "tcpFlags", "icmpType", "icmpCode", "srcMAC",  "dstMAC",
                              "vlan",     "dscp",     "ecn",      "ttl",     "bytes"};
  return names;
}

// A value of a packet, and where the name and it stand in the source.
struct Word {
  std::string name;
  std::string value;
  size_t name_at = 0;
  size_t value_at = 0;
};

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  return text;
}

// Decimal, or hexadecimal with 0x.
std::optional<uint32_t> ReadNumber(std::string_view text) {
  const bool is_hex = text.substr(0, 2) == "0x";
  if (is_hex) text.remove_prefix(2);
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

uint8_t ProtocolOf(const std::string& text) {
  const std::string name = Lower(text);
  if (name == "udp" || name == "17") return kProtocolUdp;
  if (name == "tcp" || name == "6") return kProtocolTcp;
  if (name == "icmp" || name == "1") return kProtocolIcmp;
  if (name == "icmpv6" || name == "58") return kProtocolIcmpv6;
  return 0;
}

// "+syn+ack"
std::optional<uint16_t> ReadFlags(std::string_view text) {
  uint16_t flags = 0;
  while (!text.empty()) {
    if (text[0] != '+') return std::nullopt;
    const size_t end = std::min(text.find('+', 1), text.size());
    const std::string_view name = text.substr(1, end - 1);
    const auto* const found = std::find(std::begin(kTcpFlagNames), std::end(kTcpFlagNames), name);
    if (found == std::end(kTcpFlagNames)) return std::nullopt;
    flags = static_cast<uint16_t>(flags | 1u << (found - std::begin(kTcpFlagNames)));
    text.remove_prefix(end);
  }
  return flags;
}

// The first complaint wins; every step returns false after one.
class ProbeReader {
 public:
  explicit ProbeReader(const Source& source) : source_(source) {}

  const std::string& error() const { return error_; }

  bool ReadRequest(const DocumentNode& root, ProbeRequest* request) {
    static const Names keys = {"switch", "port", "packet", "via", "count", "rate", "wait"};
    if (root.kind != Kind::kMap) return Fail(root.offset, "a probe is a map of keys");
    const DocumentNode* packet = nullptr;
    Names seen;
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const DocumentNode& key = root.items[i];
      const DocumentNode& value = root.items[i + 1];
      if (!CheckKey(key, keys, "a probe", &seen)) return false;
      if (key.text == "packet") packet = &value;
      if (key.text == "packet") continue;
      if (!ReadKey(key.text, value, request)) return false;
    }
    if (request->switch_name.empty()) return Fail(root.offset, "this probe has no 'switch'");
    if (request->port.empty()) return Fail(root.offset, "this probe has no 'port'");
    if (packet == nullptr) return Fail(root.offset, "this probe has no 'packet'");
    return ReadPacket(*packet, &request->packet);
  }

  bool ReadLine(std::string_view text, size_t node_at, bool is_decoded, ProbePacket* packet) {
    const auto place = [&](size_t at) {
      return is_decoded ? event_lang::RawOffset(source_.text, node_at, text, at) : at;
    };
    std::vector<Word> words;
    constexpr std::string_view kBetween = " \t\r\n,";
    for (size_t at = text.find_first_not_of(kBetween); at < text.size();
         at = text.find_first_not_of(kBetween, at)) {
      const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
      const std::string word(text.substr(at, end - at));
      const size_t equals = word.find('=');
      if (equals != word.npos) {
        words.push_back(
            {word.substr(0, equals), word.substr(equals + 1), place(at), place(at + equals + 1)});
      } else if (ProtocolOf(word) != 0) {
        words.push_back({"Protocol", word, place(at), place(at)});
      } else {
        return Fail(place(at), Quote(word) + " is no FIELD=VALUE");
      }
      at = end;
    }
    return ReadWords(words, place(0), packet);
  }

 private:
  bool Fail(size_t offset, const std::string& message) {
    error_ = source_.ErrorAt(std::min(offset, source_.text.size()), message);
    return false;
  }

  bool CheckKey(const DocumentNode& key, const Names& known, const char* what, Names* seen) {
    if (key.kind != Kind::kText || std::find(known.begin(), known.end(), key.text) == known.end()) {
      return Fail(key.offset, Quote(key.text) + " is not a key of " + what +
                                  event_lang::DidYouMean(key.text, known));
    }
    if (std::find(seen->begin(), seen->end(), key.text) != seen->end()) {
      return Fail(key.offset, Quote(key.text) + " stands twice here");
    }
    seen->push_back(key.text);
    return true;
  }

  // A list of names, or a text that has them with commas in between.
  bool ReadVia(const DocumentNode& node, std::vector<std::string>* via) {
    if (node.kind == Kind::kText) {
      for (size_t at = 0; at <= node.text.size();) {
        const size_t end = std::min(node.text.find(',', at), node.text.size());
        via->push_back(node.text.substr(at, end - at));
        at = end + 1;
      }
    } else if (node.kind == Kind::kList) {
      for (const DocumentNode& name : node.items) {
        if (name.kind != Kind::kText) return Fail(name.offset, "'via' takes names of switches");
        via->push_back(name.text);
      }
    }
    const auto is_empty = [](const std::string& name) { return name.empty(); };
    if (via->empty() || std::any_of(via->begin(), via->end(), is_empty)) {
      return Fail(node.offset, "'via' takes names of switches");
    }
    return via->size() <= kMaxProbeVia ||
           Fail(node.offset, "'via' takes " + std::to_string(kMaxProbeVia) + " switches at most");
  }

  bool ReadKey(const std::string& key, const DocumentNode& value, ProbeRequest* request) {
    if (key == "via") return ReadVia(value, &request->via);
    if (value.kind != Kind::kText && value.kind != Kind::kNumber) {
      return Fail(value.offset, Quote(key) + " takes a text or a number");
    }
    const Word word{key, value.text, value.offset, value.offset};
    if (key == "count") return ReadCount(word, 1, kMaxProbePackets, &request->count);
    if (key == "rate") return ReadCount(word, 1, kMaxProbeRate, &request->rate);
    if (key == "wait") return ReadCount(word, 1, kMaxProbeWait, &request->wait_seconds);
    (key == "switch" ? request->switch_name : request->port) = value.text;
    return true;
  }

  bool ReadPacket(const DocumentNode& node, ProbePacket* packet) {
    if (node.kind == Kind::kText) return ReadLine(node.text, node.offset, true, packet);
    if (node.kind != Kind::kMap) return Fail(node.offset, "'packet' takes a line or a map");
    std::vector<Word> words;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const DocumentNode& value = node.items[i + 1];
      if (value.kind != Kind::kText && value.kind != Kind::kNumber) {
        return Fail(value.offset, "a field takes a text or a number");
      }
      words.push_back({node.items[i].text, value.text, node.items[i].offset, value.offset});
    }
    return ReadWords(words, node.offset, packet);
  }

  bool ReadWords(const std::vector<Word>& words, size_t at, ProbePacket* packet) {
    Names seen;
    for (const Word& word : words) {
      DocumentNode key;
      key.kind = Kind::kText;
      key.offset = word.name_at;
      key.text = word.name;
      if (!CheckKey(key, FieldNames(), "a packet", &seen)) return false;
      if (!ReadField(word, packet)) return false;
    }
    const auto has = [&](const char* name) {
      return std::find(seen.begin(), seen.end(), name) != seen.end();
    };
    const bool is_ipv6 = packet->src.kind == ValueKind::kIpv6;
    if (is_ipv6 && packet->protocol == kProtocolIcmp) packet->protocol = kProtocolIcmpv6;
    constexpr uint8_t kEchoRequest6 = 128;
    if (packet->protocol == kProtocolIcmpv6 && !has("icmpType")) packet->icmp_type = kEchoRequest6;
    const std::string problem = ProbePacketProblem(*packet);
    return problem.empty() || Fail(at, problem);
  }

  template <typename T>
  bool ReadCount(const Word& word, uint32_t least, uint32_t most, T* to) {
    const auto number = ReadNumber(word.value);
    if (!number || *number < least || *number > most) {
      return Fail(word.value_at, Quote(word.name) + " takes a whole number from " +
                                     std::to_string(least) + " to " + std::to_string(most));
    }
    *to = static_cast<T>(*number);
    return true;
  }

  bool ReadField(const Word& word, ProbePacket* packet) {
    const std::string& name = word.name;
    if (name == "srcIP") return ReadAddress(word, &packet->src);
    if (name == "dstIP") return ReadAddress(word, &packet->dst);
    if (name == "srcMAC") return ReadMac(word, &packet->src_mac);
    if (name == "dstMAC") return ReadMac(word, &packet->dst_mac);
    if (name == "srcPort") return ReadCount(word, 0, UINT16_MAX, &packet->src_port);
    if (name == "dstPort") return ReadCount(word, 0, UINT16_MAX, &packet->dst_port);
    if (name == "icmpType") return ReadCount(word, 0, UINT8_MAX, &packet->icmp_type);
    if (name == "icmpCode") return ReadCount(word, 0, UINT8_MAX, &packet->icmp_code);
    if (name == "vlan") return ReadCount(word, 0, kMaxVlan, &packet->vlan.emplace());
    if (name == "dscp") return ReadCount(word, 0, 63, &packet->dscp);
    if (name == "ecn") return ReadCount(word, 0, 3, &packet->ecn);
    if (name == "ttl") return ReadCount(word, 1, UINT8_MAX, &packet->ttl);
    if (name == "bytes") return ReadCount(word, kLeastProbeBytes, kMostProbeBytes, &packet->bytes);
    if (name == "tcpFlags") return ReadTcpFlags(word, &packet->tcp_flags);
    packet->protocol = ProtocolOf(word.value);
    return packet->protocol != 0 ||
           Fail(word.value_at,
                Quote(word.value) + " is no protocol of probes; UDP, TCP and ICMP are");
  }

  bool ReadTcpFlags(const Word& word, uint16_t* flags) {
    const auto named = ReadFlags(word.value);
    if (!named || word.value.empty()) return ReadFlagNumber(word, flags);
    *flags = *named;
    return true;
  }

  bool ReadFlagNumber(const Word& word, uint16_t* flags) {
    const auto number = ReadNumber(word.value);
    if (!number || *number > kMaxTcpFlags) {
      return Fail(word.value_at, "'tcpFlags' takes names, +syn+ack, or a number up to 0xfff");
    }
    *flags = static_cast<uint16_t>(*number);
    return true;
  }

  bool ReadAddress(const Word& word, FieldValue* to) {
    auto address = ParseIpv4(word.value);
    if (!address) address = ParseIpv6(word.value);
    if (!address) return Fail(word.value_at, Quote(word.value) + " is no IPv4 or IPv6 address");
    *to = *address;
    return true;
  }

  bool ReadMac(const Word& word, MacBytes* to) {
    const auto address = ParseMac(word.value);
    if (!address) return Fail(word.value_at, Quote(word.value) + " is no address of Ethernet");
    for (size_t i = 0; i < to->size(); ++i) {
      (*to)[i] = static_cast<uint8_t>(address->value >> (8 * (to->size() - 1 - i)));
    }
    return true;
  }

  const Source& source_;
  std::string error_;
};

Result<ProbeRequest> Read(const Source& source, const Result<DocumentNode>& root) {
  if (!root.ok()) return root.status();
  ProbeRequest request;
  ProbeReader reader(source);
  if (!reader.ReadRequest(*root, &request)) return Status::Error(reader.error());
  return request;
}

std::string MacText(const MacBytes& mac) {
  FieldValue value;
  value.kind = ValueKind::kMac;
  for (const uint8_t byte : mac) value.value = value.value << 8 | byte;
  return FormatValue(value);
}

}  // namespace

Result<ProbePacket> ParseProbePacket(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  Status status = event_lang::CheckDocumentText(source);
  if (!status.ok()) return status;
  ProbePacket packet;
  ProbeReader reader(source);
  if (!reader.ReadLine(text, 0, false, &packet)) return Status::Error(reader.error());
  return packet;
}

std::vector<std::pair<std::string, std::string>> ProbePacketFields(const ProbePacket& packet) {
  std::vector<std::pair<std::string, std::string>> fields;
  const auto add = [&](const char* name, const std::string& value) {
    fields.emplace_back(name, value);
  };
  const auto number = [&](const char* name, unsigned value) { add(name, std::to_string(value)); };
  const bool is_tcp = packet.protocol == kProtocolTcp;
  const bool is_udp = packet.protocol == kProtocolUdp;
  add("Protocol", is_tcp                             ? "TCP"
                  : is_udp                           ? "UDP"
                  : packet.protocol == kProtocolIcmp ? "ICMP"
                                                     : "ICMPv6");
  add("srcIP", FormatValue(packet.src));
  add("dstIP", FormatValue(packet.dst));
  if (is_tcp || is_udp) {
    number("srcPort", packet.src_port);
    number("dstPort", packet.dst_port);
  } else {
    number("icmpType", packet.icmp_type);
    number("icmpCode", packet.icmp_code);
  }
  if (is_tcp) number("tcpFlags", packet.tcp_flags);
  add("srcMAC", MacText(packet.src_mac));
  add("dstMAC", MacText(packet.dst_mac));
  if (packet.vlan) number("vlan", *packet.vlan);
  number("dscp", packet.dscp);
  number("ecn", packet.ecn);
  number("ttl", packet.ttl);
  number("bytes", packet.bytes);
  return fields;
}

std::string PrintProbePacket(const ProbePacket& packet) {
  std::string text;
  for (const auto& [name, value] : ProbePacketFields(packet)) {
    text += (text.empty() ? "" : " ") + name + "=" + value;
  }
  return text;
}

Result<ProbeRequest> ParseProbeRequestYaml(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  return Read(source, event_lang::ReadYaml(source));
}

Result<ProbeRequest> ParseProbeRequestJson(std::string_view text, std::string_view source_name) {
  const Source source{source_name, text};
  return Read(source, event_lang::ReadJson(source));
}

}  // namespace trumpet
