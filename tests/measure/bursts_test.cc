// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Bursts of frames, from which programs read no more than they need, or of packets that have times
// of their own; either take operators together, beside the same packets one by one with all their
// fields read: after every burst the same cells, at the end the same copies.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "lib/base/byte_order.h"
#include "lib/base/text_file.h"
#include "lib/lang/mafia/mafia_language.h"
#include "lib/measure/frame_programs.h"
#include "lib/measure/program_loader.h"

namespace trumpet {
namespace {

constexpr uint32_t kBursts = 300;
constexpr uint64_t kSeed = 7;

struct RandomFrame {
  std::vector<uint8_t> bytes;  // as many as were captured
  uint32_t wire = 0;
};

// Mostly plain ones of a few flows, a few of which have most packets; the others have tags, options
// and fragments, are cut short, or of no protocol that programs know.
class RandomFrames {
 public:
  explicit RandomFrames(uint64_t seed) : random_(seed) {}

  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

  RandomFrame Next() {
    std::vector<uint8_t> bytes(kBytes);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    uint8_t* at = &bytes[12];
    const bool is_odd = Below(4) == 0;
    for (uint32_t tags = is_odd ? Below(4) : 0; tags > 0; --tags, at += 4) {
      StoreBe16(at, Below(2) != 0 ? 0x8100 : 0x88a8);
    }
    StoreBe16(at, is_odd && Below(4) == 0 ? (Below(2) != 0 ? 0x86dd : 0x0806) : 0x0800);
    WriteIpv4(at + 2, is_odd);
    const uint32_t captured = is_odd && Below(3) == 0 ? Below(kBytes + 1) : kBytes;
    // Memory of its own, so that a read beyond its end is seen.
    return {std::vector<uint8_t>(bytes.begin(), bytes.begin() + captured),
            captured + (Below(2) != 0 ? Below(1400) : 0)};
  }

 private:
  static constexpr uint32_t kBytes = 128;  // more than a copy keeps

  void WriteIpv4(uint8_t* ip, bool is_odd) {
    const uint32_t flow = Below(3) != 0 ? Below(3) : Below(40);
    ip[0] = is_odd && Below(3) == 0 ? static_cast<uint8_t>(random_()) : 0x45;
    StoreBe16(ip + 6, is_odd && Below(3) == 0 ? static_cast<uint16_t>(random_()) : 0x4000);
    ip[9] = is_odd && Below(3) == 0 ? static_cast<uint8_t>(Below(20)) : flow % 4 == 3 ? 17 : 6;
    StoreBe32(ip + 12, 0x0a000000 + flow);
    StoreBe32(ip + 16, 0x0a000100 + flow % 5);
    StoreBe16(ip + 20, static_cast<uint16_t>(1000 + flow));
    StoreBe16(ip + 22, Below(8) == 0 ? 30000 : 80);
    ip[33] = static_cast<uint8_t>(Below(4) == 0 ? 2 : 16);  // flags of TCP
  }

  std::mt19937_64 random_;
};

// The programs of one set, with a state each.
struct States {
  States(const std::vector<const CompiledProgram*>& programs, std::vector<SharedCells>* shared) {
    *shared = std::vector<SharedCells>(programs.size());
    for (size_t i = 0; i < programs.size(); ++i) {
      EXPECT_TRUE((*shared)[i].Init(*programs[i]));
      ProgramState::Options options;
      options.random_seed = i;
      options.ring_bytes = 1 << 22;
      owned.push_back(ProgramState::Create(programs[i], &(*shared)[i], options));
      all.push_back(owned.back().get());
    }
  }
  std::vector<std::unique_ptr<ProgramState>> owned;
  std::vector<ProgramState*> all;
};

// What tells two states apart; "" if nothing does.
std::string DifferenceOf(const ProgramState& got, const ProgramState& expected) {
  const CompiledProgram& program = got.program();
  for (MeasureIndex i = 0; i < program.variables.size(); ++i) {
    for (uint32_t cell = 0; cell < program.variables[i].cell_count; ++cell) {
      const uint64_t one = got.ReadCell(i, cell);
      const uint64_t other = expected.ReadCell(i, cell);
      if (one == other) continue;
      return program.source.variables[i].name + "[" + std::to_string(cell) + "] is " +
             std::to_string(one) + ", not " + std::to_string(other);
    }
  }
  return "";
}

void ExpectSameCopies(ProgramState* got, ProgramState* expected) {
  CollectedPacket one;
  CollectedPacket other;
  for (uint32_t i = 0; expected->ReadCollected(&other); ++i) {
    ASSERT_TRUE(got->ReadCollected(&one)) << "copy " << i << " is missing";
    EXPECT_EQ(one.now, other.now) << "copy " << i;
    EXPECT_EQ(one.present, other.present) << "copy " << i;
    EXPECT_EQ(one.endpoint, other.endpoint) << "copy " << i;
    EXPECT_EQ(one.values, other.values) << "copy " << i;
  }
  EXPECT_FALSE(got->ReadCollected(&one));
}

std::string ExamplePath(const std::string& name) {
  const char* const top = std::getenv("top_srcdir");
  return std::string(top != nullptr ? top : ".") + "/docs/measurements/" + name + ".mafia";
}

struct Way {
  uint32_t threads = 1;  // of several, variables that do not merge are shared
  bool takes_frames = true;
  MeasureHashFamily family = MeasureHashFamily::kFast;
};

class BurstsTest : public ::testing::TestWithParam<Way> {
 protected:
  void Add(const std::string& text, const std::string& name) {
    const auto source = CompileMafia(text, name);
    ASSERT_TRUE(source.ok()) << source.status().message();
    MeasureLoadOptions options;
    options.seed = kSeed;
    options.thread_count = GetParam().threads;
    options.family = GetParam().family;
    auto program = LoadMeasureProgram(*source, options);
    ASSERT_TRUE(program.ok()) << program.status().message();
    programs_.push_back(std::move(*program));
  }

  void AddExample(const std::string& name) {
    const auto text = ReadTextFile(ExamplePath(name), kMaxMafiaTextBytes);
    ASSERT_TRUE(text.ok()) << text.status().message() << "; set top_srcdir to the project's root";
    Add(*text, name);
  }

  void Forget() { programs_.clear(); }

  void RunBoth(uint64_t seed) {
    std::vector<const CompiledProgram*> programs;
    for (const auto& program : programs_) programs.push_back(program.get());
    std::vector<SharedCells> shared[2];
    const States by_burst(programs, &shared[0]);
    const States one_by_one(programs, &shared[1]);
    BothWays ways(by_burst.all, one_by_one.all);
    RandomFrames random(seed);
    uint64_t now = 1'000'000'000;
    for (uint32_t burst = 0; burst < kBursts; ++burst) {
      const auto port = static_cast<uint16_t>(random.Below(8) == 0 ? random.Below(4) : 1);
      const auto queue = static_cast<uint16_t>(random.Below(2) * random.Below(70000));
      const PacketPlace place = {port, 0, queue, 3};
      now += random.Below(30) == 0 ? 400'000'000 : random.Below(5'000'000);
      RunBurst(&random, place, now, &ways);
      for (size_t i = 0; i < programs.size(); ++i) {
        ASSERT_EQ(DifferenceOf(*by_burst.all[i], *one_by_one.all[i]), "")
            << "seed " << seed << ", burst " << burst << ", program " << i;
      }
    }
    for (size_t i = 0; i < programs.size(); ++i) {
      ExpectSameCopies(by_burst.all[i], one_by_one.all[i]);
    }
  }

 private:
  struct BothWays {
    BothWays(const std::vector<ProgramState*>& by_burst,
             const std::vector<ProgramState*>& one_by_one)
        : packets(one_by_one, {}) {
      if (GetParam().takes_frames) {
        frames = std::make_unique<FramePrograms>(by_burst);
      } else {
        bursts = std::make_unique<ProgramSet>(by_burst, std::vector<std::string>());
      }
    }
    std::unique_ptr<FramePrograms> frames;
    std::unique_ptr<ProgramSet> bursts;
    ProgramSet packets;
  };

  static void RunBurst(RandomFrames* random, const PacketPlace& place, uint64_t now,
                       BothWays* ways) {
    RandomFrame frames[kMaxMeasureBurst];
    Frame views[kMaxMeasureBurst];
    PacketValues values[kMaxMeasureBurst];
    MeasuredPacket packets[kMaxMeasureBurst];
    const uint32_t count = 1 + random->Below(kMaxMeasureBurst);
    for (uint32_t i = 0; i < count; ++i) {
      frames[i] = random->Next();
      views[i] = {frames[i].bytes.data(), static_cast<uint32_t>(frames[i].bytes.size()),
                  frames[i].wire};
    }
    const auto read = [&](uint32_t i) {
      ReadPacketValues(views[i], &values[i]);
      PlaceReceived(place, &values[i]);
      packets[i].values = &values[i];
    };
    // Clocks may go backwards.
    for (uint32_t i = 0; i < count; ++i) {
      packets[i].now = ways->frames != nullptr ? now : now + random->Below(2000) - 1000;
      read(i);
    }
    if (ways->frames != nullptr) {
      ways->frames->Run(views, count, place, now);
    } else {
      ways->bursts->Run(packets, count, {});
      for (uint32_t i = 0; i < count; ++i) values[i] = {};
    }
    for (uint32_t i = 0; i < count; ++i) {
      read(i);
      ways->packets.Run(&packets[i], 1);
    }
  }

  std::vector<std::unique_ptr<const CompiledProgram>> programs_;
};

INSTANTIATE_TEST_SUITE_P(Ways, BurstsTest,
                         ::testing::Values(Way{1, true}, Way{4, true}, Way{1, false}, Way{4, false},
                                           Way{1, false, MeasureHashFamily::kReference}));

const char* const kExamples[] = {
    "uc01_flow_volume_duration",   "uc02_flow_volume_cm", "uc03_cardinality_pcsa",
    "uc04_cardinality_hll",        "uc05_thresholds",     "uc06_sampling_stochastic",
    "uc07_sampling_deterministic", "uc08_postcards",      "uc09_trajectory",
    "uc10_two_phase_hh",           "uc11_topk_congested", "uc12_path_changes",
    "uc13_path_change_latency"};

TEST_P(BurstsTest, LeaveWhatPacketsOneByOneLeaveInEachExample) {
  for (const char* name : kExamples) {
    SCOPED_TRACE(name);
    AddExample(name);
    RunBoth(1);
    Forget();
  }
}

TEST_P(BurstsTest, LeaveItInAllExamplesTogether) {
  for (const char* name : kExamples) AddExample(name);
  RunBoth(2);
}

// Whose fields are not all read.
TEST_P(BurstsTest, LeaveItInProgramsThatShareKeysAndTagNothing) {
  for (const char* name : {kExamples[1], kExamples[3], kExamples[9], kExamples[4], kExamples[1]}) {
    AddExample(name);
  }
  RunBoth(3);
}

constexpr char kKeys[] =
    "endpoint C, D;\n"
    "flow = Key(ipv4.src, ipv4.dst, tcp.src, tcp.dst, ipv4.proto);\n"
    "dns = Key(ipv4.src, ipv4.dst, udp.src, udp.dst, ipv4.proto);\n"
    "pair = Key(ipv4.dst, ipv4.src); macs = Key(eth.src, eth.dst, eth.type, ipv4.ttl);\n"
    "all_fields = Key(eth.dst, eth.src, eth.type, ipv4.tos, ipv4.len, ipv4.id, ipv4.ttl, "
    "ipv4.proto, "
    "ipv4.checksum, ipv4.src, ipv4.dst, tcp.src, tcp.dst, tcp.flags, udp.src, udp.dst);\n"
    "each = HashMap(key=all_fields, size=4096, type=Counter(width=32));\n"
    "all = Counter(width=32); some = Counter(width=64); few = Counter(width=32);\n"
    "size = Sketch(alg=\"count-min\", key=flow, nhash=4, size=64, width=32);\n"
    "known = BloomFilter(alg=\"membership\", key=flow, nhash=4, size=64);\n"
    "wide = BloomFilter(alg=\"membership\", key=dns, nhash=2, size=256);\n"
    "bytes = HashMap(key=pair, size=64, type=Counter(width=32));\n"
    "macbytes = HashMap(key=macs, size=64, type=Counter(width=32));\n";

// The parts of the two-phase program in other orders, and others that a burst may or may not part.
const char* const kPipelines[] = {
    "window(300ms); pkts >> all.set(all + pkt.size) >> ((match(known.test()) >> "
    "bytes.set(bytes + pkt.size)) ++ (match(!known.test()) >> size.set(size + pkt.size) >> "
    "match(size.min() / all > 0.02) >> known.insert() >> bytes.set(size.min()) >> duplicate(out)));"
    "out >> tag(ipv4.checksum, all) >> collect(C);",
    "pkts >> all.set(all + 1) >> ((match(!wide.test()) >> size.set(size + pkt.size) >> "
    "match(size.min() / all > 400.0) >> wide.insert() >> duplicate(out)) ++ "
    "(match(wide.test()) >> bytes.set(bytes + 1) >> macbytes.set(macbytes + pkt.size)));"
    "out >> tag(ipv4.checksum, size.min()) >> collect(C);",
    "pkts >> all.set(all + 1) >> match(!known.test()) >> size.set(size + pkt.size) >> "
    "match(size.min() / some > 0.5) >> known.insert() >> some.set(some + pkt.size);",
    "pkts >> each.set(each + 1);",
    // A copy of a later branch is of the headers at the fork.
    "pkts >> tag(ipv4.tos, 77) ++ (match(pkt.size > 100) >> duplicate(out)); out >> collect(C);",
    "pkts >> all.set(all + 1) >> (tag(ipv4.tos, 5) ++ (duplicate(out) >> some.set(some + 2)));"
    "out >> tag(ipv4.id, 3) >> collect(C);",
    // The guard reads what an arm writes.
    "pkts >> all.set(all + 1) >> ((match(known.test()) >> bytes.set(bytes + 1)) ++ "
    "(match(!known.test()) >> known.insert() >> bytes.set(bytes + 2)));",
    "pkts >> all.set(all + pkt.size) >> match(all > 3000) >> some.set(some + all) >> "
    "match(some > 100000) >> few.set(few + 1);",
    "pkts >> match(pkt.size > 200) >> all.set(all + 1) >> some.set(some + pkt.size) >> "
    "match(some > 9000) >> few.set(few + all);",
    "pkts >> all.set(all + 1) >> some.set(some + ipv4.ttl); "
    "pkts >> match(tcp.flags & 2 != 0) >> few.set(few + all);",
    "pkts >> match(pkt.input_port != 1) >> all.set(all + pkt.in_queue_length) >> "
    "bytes.set(bytes + ipv4.id); pkts >> macbytes.set(macbytes + eth.type);",
    "pkts >> match(vlan.vid != 0) >> few.set(few + vlan.vid) >> some.set(some + geneve.option);",
    // Copies are collected as frames, with tags of what packets have and of what they lack.
    "pkts >> match(ipv4.ttl > 60) >> duplicate(out); pkts >> duplicate(again);"
    "out >> tag(ipv4.id, pkt.size) >> tag(udp.src, tcp.dst) >> tag(vlan.vid, ipv4.src) >> "
    "tag(eth.src, pkt.in_queue_length) >> tag(ipv4.tos, 7) >> tag(ipv4.tos, switch.id) >> "
    "collect(C);"
    "again >> tag(tcp.src, vlan.vid) >> tag(ipv4.checksum, pkt.output_port) >> collect(C);",
    // What is viewed is set as a pair, and added to by runs, packet by packet, before copies, in
    // arms.
    "pkts >> all.add(1) >> bytes.set(all + 5);",
    "pkts >> all.add(1) >> bytes.set(all - bytes);",
    "pkts >> match(bytes < 100) >> all.add(1) >> bytes.add(1) >> match(all > 50) >> few.add(1);",
    "pkts >> match(few < 300) >> all.add(1) >> few.add(1) >> bytes.add(1) >> match(all > 50) >> "
    "some.add(1);",
    "pkts >> match(few < 300) >> all.add(1) >> few.add(1) >> duplicate(out);"
    "out >> tag(ipv4.id, all) >> collect(C);",
    "pkts >> ((match(known.test()) >> all.add(1)) ++ (match(!known.test()) >> "
    "size.set(size + pkt.size) >> match(size.min() / all > 300.0) >> known.insert() >> "
    "duplicate(out))); out >> collect(C); ctrl >> known.insert();",
    // An arm that no packet takes.
    "pkts >> all.set(all + 1) >> ((match(!known.test()) >> size.set(size + pkt.size) >> "
    "match(size.min() / all > 300.0) >> known.insert() >> duplicate(out)) ++ "
    "(match(known.test()) >> few.set(7))); out >> collect(C);",
    // A copy that is collected is not done with where its stream forks.
    "pkts >> duplicate(out); out >> tag(ipv4.tos, 1) >> (collect(C) ++ few.add(vlan.vid));",
    "pkts >> duplicate(out); out >> (collect(C) ++ collect(D));",
    "pkts >> duplicate(out); out >> collect(C); out >> few.add(1) >> collect(D);",
    "pkts >> match(udp.dst == 30000) >> few.set(few + segway_header.ts) >> duplicate(out);"
    "out >> collect(C);",
    "pkts >> match(tcp.dst == 80) >> size.set(size + ipv4.len) >> match(size.min() > 5000) >> "
    "duplicate(out) >> duplicate(again); out >> tag(ipv4.tos, 5) >> collect(C);"
    "again >> match(ipv4.proto == 6) >> collect(C);",
    // Kernels that take hashes: of the first variable of a key and of others, by width of cells.
    "flows = Sketch(alg=\"hyperloglog\", key=flow, nhash=1, size=64, width=8);"
    "pairs = Sketch(alg=\"hyperloglog\", key=pair, nhash=1, size=16, width=5);"
    "bits = Sketch(alg=\"pcsa\", key=flow, nhash=1, size=32, width=16);"
    "counted = BloomFilter(alg=\"counting\", key=flow, nhash=4, size=100, width=16);"
    "bytewise = Sketch(alg=\"count-min\", key=pair, nhash=4, size=31, width=8);"
    "ones = HashMap(key=flow, size=33, type=Counter(width=64));"
    "pkts >> match(pkt.size > 90) >> flows.update() >> pairs.update() >> bits.update() >> "
    "counted.add(1) >> bytewise.set(bytewise + pkt.size) >> ones.set(ones + ipv4.ttl) >> "
    "each.set(each + 1);",
    "first = Sketch(alg=\"pcsa\", key=pair, nhash=1, size=4, width=32);"
    "wide_sum = Sketch(alg=\"count-min\", key=macs, nhash=4, size=4096, width=64);"
    "pkts >> first.update() >> wide_sum.set(wide_sum + pkt.size) >> each.set(each + ipv4.len);",
    // Maps of one key and size, whose cells lie side by side, of all widths.
    "a = HashMap(key=flow, size=50, type=Counter(width=8)); b = HashMap(key=flow, size=50, "
    "type=Timestamp()); c = HashMap(key=flow, size=50, type=Counter(width=13));"
    "d = HashMap(key=flow, size=50, type=Counter(width=64), collide=\"evict\");"
    "e = HashMap(key=flow, size=51, type=Counter(width=32));"
    "pkts >> a.set(a + 1) >> timestamp(b) >> c.add(pkt.size) >> d.set(d + c) >> e.set(b - a);",
    // Guards that hold for the first packets of a flow, with and without something else that all
    // packets write.
    "f = HashMap(key=pair, size=64, type=Counter(width=32)); at = HashMap(key=pair, size=64, "
    "type=Timestamp()); g = HashMap(key=pair, size=64, type=Counter(width=64));"
    "pkts >> ((match(at == 0) >> timestamp(at)) ++ "
    "(match(at != 0) >> timestamp(now) >> g.set(now - at))); now = Timestamp();"
    "pkts >> ((match(f == 0) >> f.set(pkt.size) >> duplicate(out)) ++ "
    "(match(f != 0) >> bytes.set(f + pkt.size) >> match(pkt.size > 200) >> duplicate(out)));"
    "out >> collect(C);",
    "f = HashMap(key=pair, size=64, type=Counter(width=32));"
    "pkts >> ((match(f < 3) >> f.add(1)) ++ (match(f >= 3) >> f.reset() >> few.add(1)));",
    "f = HashMap(key=pair, size=64, type=Counter(width=32));"
    "pkts >> ((match(f == 0) >> f.set(pkt.size)) ++ (match(f != 0) >> f.set(f - 40)));",
    "f = HashMap(key=pair, size=64, type=Counter(width=32));"
    "pkts >> ((match(f < 4) >> f.add(1)) ++ (match(f >= 4) >> bytes.set(bytes + 1) >> "
    "match(bytes > 6) >> bytes.reset() >> few.add(1)));",
    // Guards of several parts, some of which are known to hold.
    "f = HashMap(key=pair, size=64, type=Counter(width=32));"
    "pkts >> ((match(f < 5) >> f.add(1)) ++ (match(f >= 5 && bytes < 40 && pkt.size > 100) >> "
    "bytes.set(bytes + 1) >> duplicate(out)) ++ (some.set(some + 1) >> match(some > 30) >> "
    "f.reset() >> bytes.reset() >> some.reset())); out >> collect(C);",
    // Counters and limits, whose packets leave copies that wait, in the order of the packets.
    "pkts >> bytes.set(bytes + pkt.size) >> match(bytes > 9000) >> duplicate(out);"
    "pkts >> macbytes.add(1) >> match(macbytes != 3) >> duplicate(again) >> duplicate(out);"
    "pkts >> match(bytes <= 50000) >> few.set(few + 1);"
    "out >> tag(ipv4.checksum, ipv4.id) >> tag(ipv4.tos, 300) >> tag(ipv4.id, 7) >> collect(C);"
    "again >> tag(ipv4.tos, ipv4.tos + 1) >> match(ipv4.tos & 1 == 0) >> collect(C);",
    // Copies of copies, and copies that read what packets write.
    "pkts >> match(tcp.dst == 80) >> duplicate(out) >> duplicate(again); pkts >> few.add(1) >> "
    "match(few & 3 == 1) >> duplicate(again);"
    "out >> tag(ipv4.tos, 1) >> duplicate(again) >> tag(ipv4.tos, 2) >> collect(C);"
    "again >> tag(ipv4.ttl, ipv4.tos) >> collect(C);",
    "pkts >> few.add(1) >> duplicate(out); pkts >> some.add(few);"
    "out >> tag(ipv4.id, some) >> collect(C);",
    // Random numbers before, behind and in copies.
    "pkts >> match(random([0:10]) < 4) >> duplicate(out); pkts >> few.add(random([1:3]));"
    "out >> collect(C);",
    "pkts >> few.add(1) >> match(random([5:9]) >= 7) >> duplicate(out);"
    "out >> match(random([0:2]) == 0) >> collect(C);",
    // Forks that yield, forks whose branches must not see each other, and guards behind them.
    "pkts >> ((match(pkt.size > 500) >> bytes.add(1)) ++ (match(ipv4.ttl > 99) >> few.add(2))) >> "
    "some.add(few) >> match(some & 1 == 0) >> duplicate(out); out >> collect(C);",
    "pkts >> (few.set(some + 1) ++ some.set(few + 2) ++ bytes.set(bytes + few)) >> "
    "macbytes.set(macbytes + some); pkts >> all.add(1);",
    // A window of a task, and another task that reads what it clears.
    "pkts.window(40ms) >> match(pkt.size > 100) >> size.set(size + 1) >> few.add(1);"
    "pkts >> bytes.add(1); pkts >> match(size.max() > 3) >> some.add(few);",
    // Times of packets: of a scalar that was set to it, and of maps.
    "t = Timestamp(); first = HashMap(key=pair, size=50, type=Timestamp());"
    "gap = HashMap(key=pair, size=50, type=Counter(width=48));"
    "n = HashMap(key=pair, size=50, type=Counter(width=16));"
    "pkts >> n.set(n + 1) >> timestamp(t) >> ((match(first == 0) >> timestamp(first)) ++ "
    "(match(first != 0) >> gap.set(t - first))); pkts >> match(n > 3) >> some.set(t + some) >> "
    "n.set(n - 2) >> gap.set(gap + t) >> duplicate(out);"
    "out >> tag(ipv4.id, t) >> collect(C);",
    "t = Timestamp(); u = Timestamp();"
    "pkts >> timestamp(t) >> match(t > 5) >> some.set(t - u) >> timestamp(u) >> "
    "((match(pkt.size > 300) >> few.set(u - 1)) ++ (match(pkt.size <= 300) >> timestamp(t))) >> "
    "all.set(all + t) >> ((some.set(some + t) >> timestamp(t)) ++ (few.set(few + t)));",
    // Maps that are read and written by several operators, run by run; with copies, with another
    // map between, and with a sketch of which packets share cells.
    "f = HashMap(key=flow, size=50, type=Counter(width=8));"
    "g = HashMap(key=flow, size=50, type=Counter(width=64));"
    "h = HashMap(key=flow, size=60, type=Counter(width=32));"
    "pkts >> ((match(f < 3) >> f.add(1) >> g.set(g + pkt.size)) ++ (match(f >= 3) >> "
    "duplicate(out)) "
    "++ (h.add(1) >> match(h >= 9) >> h.reset())); pkts >> match(g > 2000) >> f.reset() >> "
    "g.set(g - pkt.size) >> bytes.add(1) >> size.set(size + 1); out >> tag(ipv4.tos, 9) >> "
    "collect(C);",
    "f = HashMap(key=flow, size=50, type=Counter(width=32)); g = HashMap(key=flow, size=50, "
    "type=Counter(width=32)); pkts >> match(f != 4) >> f.set(f + g) >> g.set(f - g) >> g.set(7) >> "
    "match(g == 7) >> g.set(pkt.size - g) >> f.set(g + f); pkts >> f.add(1);",
    "one = Sketch(alg=\"count-min\", key=flow, nhash=1, size=40, width=32);"
    "pkts >> one.set(one + pkt.size) >> match(one.min() > 900) >> one.set(one - pkt.size) >> "
    "one.set(one - 1);",
    // Behind a run a jump over what packets take one by one.
    "f = HashMap(key=flow, size=50, type=Counter(width=32));"
    "pkts >> ((match(f < 3) >> f.add(1)) ++ (match(f >= 3) >> few.set(some - few) >> "
    "some.set(few - some))); pkts >> bytes.add(1);",
    // Fields that are read, tagged, and read again.
    "pkts >> match(ipv4.tos > 90) >> few.set(few + ipv4.tos) >> tag(ipv4.tos, ipv4.ttl) >> "
    "match(ipv4.tos > 60) >> some.set(some + ipv4.tos) >> tag(ipv4.tos, 61) >> "
    "bytes.set(bytes + ipv4.tos) >> tag(ipv4.tos, ipv4.tos + 1) >> all.set(all + ipv4.tos);",
    // A field that carries a filter.
    "odd = BloomFilter(alg=\"membership\", key=flow, nhash=3, size=16);"
    "pkts >> match(pkt.size > 200) >> odd.init(ipv4.checksum) >> odd.insert() >> "
    "tag(ipv4.id, odd) >> odd.reset() >> few.set(odd) >> duplicate(out);"
    "pkts >> match(odd.test()) >> bytes.add(1); pkts >> odd.insert();"
    "out >> tag(ipv4.checksum, odd) >> collect(C);",
    "odd = BloomFilter(alg=\"membership\", key=pair, nhash=4, size=12);"
    "few_bits = BloomFilter(alg=\"membership\", key=pair, nhash=4, size=8);"
    "pkts >> odd.init(vlan.vid) >> odd.insert() >> tag(vlan.vid, odd) >> odd.reset();"
    "pkts >> few_bits.init(ipv4.tos) >> few_bits.insert() >> match(pkt.size > 300) >> "
    "tag(ipv4.tos, few_bits) >> few_bits.reset(); pkts >> some.set(some + vlan.vid) >> "
    "few.set(few + ipv4.tos);",
    // Records of a flow: what is added to two of its cells, the time of its first packet and how
    // long ago that was; entered from elsewhere, too, and with something else in a place of it.
    "n = HashMap(key=pair, size=64, type=Counter(width=32)); now = Timestamp();"
    "at = HashMap(key=pair, size=64, type=Timestamp()); g = HashMap(key=pair, size=64, "
    "type=Counter(width=64)); pkts >> (bytes.set(bytes + pkt.size) ++ n.set(n + 1) ++ "
    "(match(at == 0) >> timestamp(at)) ++ "
    "(match(at != 0) >> timestamp(now) >> g.set(now - at)));",
    "n = HashMap(key=pair, size=64, type=Counter(width=32)); now = Timestamp();"
    "at = HashMap(key=pair, size=64, type=Timestamp()); g = HashMap(key=pair, size=64, "
    "type=Counter(width=64)); pkts >> ((match(pkt.size > 300) >> bytes.set(bytes + pkt.size)) ++ "
    "n.add(pkt.size) ++ (match(at == 0 && tcp.flags > 3) >> timestamp(at)) ++ "
    "(match(at != 0) >> timestamp(now) >> g.set(now - at)));",
    "n = HashMap(key=pair, size=64, type=Counter(width=32)); now = Timestamp();"
    "at = HashMap(key=pair, size=64, type=Timestamp()); g = HashMap(key=pair, size=64, "
    "type=Counter(width=33)); pkts >> match(ipv4.ttl > 30) >> n.set(n + pkt.size) >> "
    "bytes.set(bytes + 3) >> ((match(at == 0) >> timestamp(at)) ++ "
    "(match(at != 0) >> timestamp(now) >> g.set(now - at))) >> few.set(few + 1);",
    "n = HashMap(key=flow, size=64, type=Counter(width=16)); m = HashMap(key=flow, size=64, "
    "type=Counter(width=16)); k = HashMap(key=flow, size=64, type=Counter(width=16)); "
    "now = Timestamp(); at = HashMap(key=flow, size=64, type=Timestamp()); "
    "g = HashMap(key=flow, size=64, type=Counter(width=64));"
    "pkts >> n.add(pkt.size) >> m.add(1) >> k.set(k + ipv4.len); pkts >> "
    "((match(pkt.size > 200) >> n.set(n + 2)) ++ (match(at == 0) >> timestamp(at)) ++ "
    "(match(at != 0) >> timestamp(now) >> g.set(now - at))); pkts >> some.set(some + now);",
    // Filters as numbers.
    "odd = BloomFilter(alg=\"membership\", key=pair, nhash=3, size=19);"
    "pkts >> odd.init(ipv4.id) >> odd.insert() >> few.set(few + odd) >> odd.reset() >> "
    "some.set(odd); pkts >> match(odd.test()) >> bytes.add(1);",
};

TEST(ProgramSet, FieldsOfAProgramsHeadersAreNoneOfTheNext) {
  const auto load = [](const std::string& tasks) {
    auto program = LoadMeasureProgram(*CompileMafia(tasks, "fields"), {});
    EXPECT_TRUE(program.ok());
    return std::move(*program);
  };
  const auto first =
      load("header h when udp.dst == 53 at 0 { x: 16; y: 32; } c = Counter(); pkts >> c.add(h.x);");
  const auto next = load("endpoint C; pkts >> duplicate(out); out >> collect(C);");
  ProgramState::Options options;
  options.ring_bytes = 1 << 12;
  const auto counts = ProgramState::Create(first.get(), nullptr, options);
  const auto collects = ProgramState::Create(next.get(), nullptr, options);
  FramePrograms set({counts.get(), collects.get()});
  std::vector<uint8_t> bytes(64, 1);
  StoreBe16(&bytes[12], 0x800);
  bytes[14] = 0x45;
  StoreBe16(&bytes[20], 0);
  bytes[23] = 17;
  StoreBe16(&bytes[36], 53);
  const Frame frames[2] = {{bytes.data(), 64, 64}, {bytes.data(), 64, 64}};
  set.Run(frames, 2, {1, 0, 0, 1}, 5);
  CollectedPacket copy;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(collects->ReadCollected(&copy));
    EXPECT_EQ(copy.present & ~kTableFieldBits, 0u);
  }
}

uint64_t FieldsReadBy(const std::string& tasks) {
  const auto source = CompileMafia("endpoint C;" + tasks, "fields");
  EXPECT_TRUE(source.ok());
  const auto program = LoadMeasureProgram(*source, {});
  EXPECT_TRUE(program.ok());
  const auto state = ProgramState::Create(program->get(), nullptr, {});
  return ProgramSet({state.get()}, {}).fields_read();
}

TEST(FieldsRead, AreNotThoseThatOnlyPlainCopiesAreTaggedWith) {
  const uint64_t ttl = uint64_t{1} << kIpv4Ttl;
  const uint64_t vlan = uint64_t{1} << kVlanVid;
  EXPECT_EQ(FieldsReadBy("pkts >> match(ipv4.ttl > 60) >> duplicate(out);"
                         "out >> tag(tcp.src, vlan.vid) >> collect(C);"),
            ttl);
  EXPECT_EQ(FieldsReadBy("pkts >> match(ipv4.ttl > 60) >> duplicate(out);"
                         "out >> match(vlan.vid > 2) >> collect(C);"),
            ttl | vlan);
  EXPECT_EQ(FieldsReadBy("pkts >> match(vlan.vid > 60) >> duplicate(out);"
                         "out >> tag(tcp.src, vlan.vid) >> collect(C);"),
            vlan);
}

// What packets of a burst do together, and what not.
struct StageCount {
  uint32_t one_by_one = 0;  // stages whose operators packets take one after the other
  uint32_t by_runs = 0;     // groups of stages that packets of different cells take together
  uint32_t waiting = 0;     // copies that are run when all packets have gone through
  bool is_parted = false;
  bool needs_slots = false;
};

StageCount CountStages(const std::string& name) {
  StageCount count;
  const auto text = ReadTextFile(ExamplePath(name), kMaxMafiaTextBytes);
  EXPECT_TRUE(text.ok());
  const auto source = CompileMafia(*text, name);
  EXPECT_TRUE(source.ok());
  const auto program = LoadMeasureProgram(*source, {});
  EXPECT_TRUE(program.ok());
  for (const BurstStage& stage : (*program)->stages) {
    count.one_by_one += stage.kernel == nullptr ? 1 : 0;
    count.by_runs += stage.runs_end != 0 ? 1 : 0;
    count.is_parted |= stage.parts;
    count.needs_slots |= stage.keys != 0;
  }
  count.waiting = static_cast<uint32_t>((*program)->burst_copies.size());
  return count;
}

TEST(BurstStages, HoldTogetherOnlyWhatOrderCouldTellApart) {
  const struct {
    const char* name;
    StageCount expected;
  } kCases[] = {
      {kExamples[0], {0, 0, 0, false, false}},
      {kExamples[1], {0, 0, 0, false, false}},
      {kExamples[2], {0, 0, 0, false, false}},
      {kExamples[3], {0, 0, 0, false, false}},
      {kExamples[4], {0, 0, 2, false, false}},
      {kExamples[5], {0, 0, 1, false, false}},
      {kExamples[6], {0, 1, 1, false, false}},  // the counters, which the last branch resets
      {kExamples[7], {0, 0, 1, false, false}},
      {kExamples[8], {3, 0, 1, false, true}},  // verify_time; a tag; the filter
      {kExamples[9], {0, 0, 0, true, false}},
      {kExamples[10], {3, 0, 0, false, true}},   // tags; q_len; the window
      {kExamples[11], {1, 0, 0, false, true}},   // the window
      {kExamples[12], {1, 0, 0, false, false}},  // l_clock, which copies read, too
  };
  for (const auto& each : kCases) {
    const StageCount got = CountStages(each.name);
    EXPECT_EQ(got.one_by_one, each.expected.one_by_one) << each.name;
    EXPECT_EQ(got.by_runs, each.expected.by_runs) << each.name;
    EXPECT_EQ(got.waiting, each.expected.waiting) << each.name;
    EXPECT_EQ(got.is_parted, each.expected.is_parted) << each.name;
    EXPECT_EQ(got.needs_slots, each.expected.needs_slots) << each.name;
  }
}

// Now by burst and now packet by packet, while its window clears.
TEST_P(BurstsTest, LeaveItToProgramsBehindOneThatTags) {
  const std::string reads = "pkts >> match(ipv4.tos > 50) >> few.set(few + ipv4.tos);";
  Add(kKeys + reads, "before");
  Add(std::string(kKeys) + "window(60ms); pkts >> few.set(few + 1) >> tag(ipv4.tos, ipv4.ttl);",
      "tags");
  Add(kKeys + reads, "behind");
  for (uint64_t seed = 20; seed < 24; ++seed) RunBoth(seed);
}

TEST_P(BurstsTest, LeaveItInAllKindsOfPipelines) {
  for (const char* pipeline : kPipelines) {
    SCOPED_TRACE(pipeline);
    for (uint64_t seed = 10; seed < 14; ++seed) {
      Add(std::string(kKeys) + pipeline, "pipeline");
      RunBoth(seed);
      Forget();
    }
  }
}

}  // namespace
}  // namespace trumpet
