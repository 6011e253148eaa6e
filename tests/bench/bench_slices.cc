// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0
//
// bench-slices: what planning costs, by size, beside plain implementations of the same.
//
// usage: bench-slices [REFERENCE_DIR]
//
// Cases come from REFERENCE_DIR/ref_public.jsonl and its topologies; without it from random
// networks.  Every case is timed by itself, the median of three runs; the plain implementations
// run where they end in reasonable time.  One thread, CPU time.

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/plan/slice/key_points.h"
#include "controller/plan/slice/network_files.h"
#include "controller/plan/slice/packing.h"
#include "controller/plan/slice/surrounding.h"

namespace trumpet::slice {
namespace {

constexpr size_t kPlainPath = 13;        // routers; above, 2^n takes minutes
constexpr uint64_t kPlainSteps = 2'000;  // of one plain surrounding

double CpuMicros() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double Time(const std::function<void()>& work) {
  std::vector<double> runs;
  for (int run = 0; run < 3; ++run) {
    const double start = CpuMicros();
    work();
    runs.push_back(CpuMicros() - start);
  }
  std::sort(runs.begin(), runs.end());
  return runs[1];
}

struct Times {
  std::vector<double> ours;
  std::vector<double> plain;
};

std::string Spread(std::vector<double> times) {
  if (times.empty()) return "                -";
  std::sort(times.begin(), times.end());
  const auto at = [&times](double part) {
    return times[static_cast<size_t>(part * static_cast<double>(times.size() - 1))];
  };
  char text[80];
  std::snprintf(text, sizeof(text), "%9.1f /%9.1f /%9.1f", at(0.5), at(0.95), times.back());
  return text;
}

void PrintTable(const char* title, const std::map<std::string, Times>& groups) {
  std::printf("\n%s, us: median / p95 / max\n", title);
  std::printf("%-24s %6s %32s %6s %32s\n", "size", "cases", "ours", "cases", "plain");
  for (const auto& [name, times] : groups) {
    std::printf("%-24s %6zu %32s %6zu %32s\n", name.c_str(), times.ours.size(),
                Spread(times.ours).c_str(), times.plain.size(), Spread(times.plain).c_str());
  }
}

// The paper's way: all sets of inner routers, the smallest first, until one proves; every segment
// is searched anew by depth first up to its length.
class PlainKeyPoints {
 public:
  PlainKeyPoints(const Network& network, const std::vector<int>& path)
      : network_(network), path_(path) {}

  size_t Find() {
    const size_t inner = path_.size() - 2;
    for (size_t count = 0; count <= inner; ++count) {
      std::vector<bool> is_kept(inner, false);
      std::fill(is_kept.begin(), is_kept.begin() + static_cast<std::ptrdiff_t>(count), true);
      do {
        if (Proves(is_kept)) return count + 2;
      } while (std::prev_permutation(is_kept.begin(), is_kept.end()));
    }
    return path_.size();
  }

 private:
  bool Proves(const std::vector<bool>& is_kept) {
    size_t from = 0;
    for (size_t to = 1; to < path_.size(); ++to) {
      if (to + 1 < path_.size() && !is_kept[to - 1]) continue;
      count_ = 0;
      walk_.assign(1, path_[from]);
      if (to - from > 1) Search(path_[to], to - from);
      if (count_ > 1) return false;
      from = to;
    }
    return true;
  }
  void Search(int end, size_t hops) {
    if (walk_.back() == end) count_ += walk_.size() == hops + 1 ? 1 : 0;
    if (walk_.back() == end || walk_.size() > hops || count_ > 1) return;
    for (const NetworkLink& link : network_.LinksOf(walk_.back())) {
      if (std::find(walk_.begin(), walk_.end(), link.to) != walk_.end()) continue;
      walk_.push_back(link.to);
      Search(end, hops);
      walk_.pop_back();
    }
  }

  const Network& network_;
  const std::vector<int>& path_;
  std::vector<int> walk_;
  int count_ = 0;
};

// Finds an open path, and tries each of its routers: every smallest set holds one of them.  Sets of
// growing size, so the first that closes all is smallest.
class PlainSurrounding {
 public:
  PlainSurrounding(const Network& network, const std::vector<int>& region,
                   const std::vector<int>& egresses)
      : network_(network),
        region_(region),
        egresses_(egresses.begin(), egresses.end()),
        inside_(region.begin(), region.end()) {
    for (int router : region) has_inside_ = has_inside_ || egresses_.count(router) != 0;
  }

  // Its size, or -1 when it took too long.
  int Find() {
    for (int size = 0; steps_ < kPlainSteps; ++size) {
      if (Close(size)) return size;
    }
    return -1;
  }

 private:
  // The routers outside on a way from the region to an egress, or back into it elsewhere.
  std::vector<int> OpenPath() const {
    for (int start : region_) {
      std::map<int, int> from;
      std::vector<int> queue;
      const auto reach = [&](int router, int before) {
        if (inside_.count(router) == 0 && chosen_.count(router) == 0 &&
            from.emplace(router, before).second) {
          queue.push_back(router);
        }
      };
      for (const NetworkLink& link : network_.LinksOf(start)) reach(link.to, -1);
      for (size_t i = 0; i < queue.size(); ++i) {
        bool is_open = egresses_.count(queue[i]) != 0;
        for (const NetworkLink& link : network_.LinksOf(queue[i])) {
          is_open = is_open || (has_inside_ && link.to != start && inside_.count(link.to) != 0);
          reach(link.to, queue[i]);
        }
        if (!is_open) continue;
        std::vector<int> path;
        for (int step = queue[i]; step != -1; step = from[step]) path.push_back(step);
        return path;
      }
    }
    return {};
  }
  bool Close(int left) {
    if (++steps_ >= kPlainSteps) return false;
    const std::vector<int> path = OpenPath();
    if (path.empty()) return true;
    if (left == 0) return false;
    for (int router : path) {
      chosen_.insert(router);
      const bool is_closed = Close(left - 1);
      chosen_.erase(router);
      if (is_closed) return true;
    }
    return false;
  }

  const Network& network_;
  const std::vector<int>& region_;
  const std::set<int> egresses_;
  const std::set<int> inside_;
  bool has_inside_ = false;
  std::set<int> chosen_;
  uint64_t steps_ = 0;
};

std::vector<Slot> PlainFirstFit(const std::vector<int64_t>& costs, int64_t budget) {
  std::vector<int> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&costs](int a, int b) {
    return costs[static_cast<size_t>(a)] > costs[static_cast<size_t>(b)];
  });
  std::vector<Slot> slots;
  std::vector<int64_t> rooms;
  for (int query : order) {
    const int64_t cost = costs[static_cast<size_t>(query)];
    size_t slot = 0;
    while (slot < rooms.size() && rooms[slot] < cost) ++slot;
    if (slot == rooms.size()) {
      rooms.push_back(budget);
      slots.emplace_back();
    }
    rooms[slot] -= cost;
    slots[slot].push_back(query);
  }
  return slots;
}

class Bench {
 public:
  void KeyPointsOf(const Network& network, const std::vector<int>& path) {
    char name[32];
    std::snprintf(name, sizeof(name), "%2zu routers", path.size());
    size_t ours = 0;
    Times& times = key_points_[name];
    times.ours.push_back(Time([&] { ours = FindKeyPoints(network, path).positions.size(); }));
    if (path.size() > kPlainPath || path.size() < 3) return;
    size_t plain = 0;
    times.plain.push_back(Time([&] { plain = PlainKeyPoints(network, path).Find(); }));
    if (ours != plain) Disagree("key points", ours, plain);
  }

  void SurroundingOf(const Network& network, const std::vector<int>& region,
                     const std::vector<int>& egresses) {
    OptimalSurrounding ours;
    const double micros =
        Time([&] { ours = FindOptimalSurrounding(network, region, egresses, kNoDeadline); });
    const std::string size = network.router_count() < 80 ? "map < 80" : "map >= 80";
    const std::string kind = ours.has_egress_inside ? ", egress inside" : ", none inside";
    int plain = -1;
    const double plain_micros =
        Time([&] { plain = PlainSurrounding(network, region, egresses).Find(); });
    for (const std::string& name : {std::string("all"), size + kind}) {
      surroundings_[name].ours.push_back(micros);
      if (plain >= 0) surroundings_[name].plain.push_back(plain_micros);
    }
    if (plain >= 0 && plain != static_cast<int>(ours.routers.size())) {
      Disagree("surrounding", ours.routers.size(), static_cast<size_t>(plain));
    }
  }

  void FirstFitOf(const std::vector<int64_t>& costs, int64_t budget) {
    char name[32];
    std::snprintf(name, sizeof(name), "%5zu queries", costs.size());
    std::vector<Slot> ours, plain;
    Times& times = first_fit_[name];
    times.ours.push_back(Time([&] { ours = PackFirstFit(costs, budget); }));
    times.plain.push_back(Time([&] { plain = PlainFirstFit(costs, budget); }));
    if (ours.size() != plain.size()) Disagree("first fit", ours.size(), plain.size());
  }

  int Print() const {
    PrintTable("Key points; plain: all sets, up to 13 routers", key_points_);
    PrintTable("Optimal surrounding; plain: open paths, up to 2,000 of them", surroundings_);
    PrintTable("First fit; plain: linear scan", first_fit_);
    return is_wrong_ ? 1 : 0;
  }

 private:
  void Disagree(const char* what, size_t ours, size_t plain) {
    std::printf("WRONG: %s: ours %zu, plain %zu\n", what, ours, plain);
    is_wrong_ = true;
  }

  std::map<std::string, Times> key_points_, surroundings_, first_fit_;
  bool is_wrong_ = false;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<int> Numbers(const Network& network, const nlohmann::json& names) {
  std::vector<int> routers;
  for (const auto& name : names) routers.push_back(*network.Find(name.get<std::string>()));
  return routers;
}

void RunReference(const std::string& directory, Bench* bench) {
  std::map<std::string, Network> maps;
  std::ifstream cases(directory + "/ref_public.jsonl");
  for (std::string line; std::getline(cases, line);) {
    const nlohmann::json one = nlohmann::json::parse(line);
    const std::string kind = one["k"];
    if (kind == "sched") {
      const auto costs = one["m"].get<std::vector<int64_t>>();
      const int64_t budget = one["B"];
      if (*std::max_element(costs.begin(), costs.end()) <= budget) {
        bench->FirstFitOf(costs, budget);
      }
      continue;
    }
    if (kind != "kps" && kind != "sur") continue;
    const std::string name = one["g"];
    if (maps.count(name) == 0) {
      const std::string path = directory + "/topologies/normalized/" + name + ".edges";
      maps.emplace(name, *ParseEdges(ReadAll(path), path));
    }
    const Network& network = maps.at(name);
    if (kind == "kps") {
      bench->KeyPointsOf(network, Numbers(network, one["p"]));
    } else {
      bench->SurroundingOf(network, Numbers(network, one["R"]), Numbers(network, one["E"]));
    }
  }
}

// Rings with chords, and walks on them.
void RunRandom(Bench* bench) {
  std::mt19937 random(1);
  const auto draw = [&random](int most) {
    return static_cast<int>(random() % static_cast<uint32_t>(most));
  };
  for (int round = 0; round < 300; ++round) {
    const int routers = 20 + draw(200);
    Network network;
    for (int i = 0; i < routers; ++i) network.AddRouter(std::to_string(i));
    for (int i = 0; i < routers; ++i) network.AddLink(i, (i + 1) % routers, 1);
    for (int i = 0; i < routers / 3; ++i) network.AddLink(draw(routers), draw(routers), 1);
    std::vector<int> path;
    for (int length = 3 + draw(14); static_cast<int>(path.size()) < length;) {
      path.push_back(static_cast<int>(path.size()));
    }
    bench->KeyPointsOf(network, path);
    bench->SurroundingOf(network, path, {draw(routers), draw(routers), draw(routers)});
    std::vector<int64_t> costs(1000);
    for (int64_t& cost : costs) cost = 1 + draw(1000);
    bench->FirstFitOf(costs, 1000);
  }
}

int Main(int argc, char** argv) {
  Bench bench;
  struct stat found {};
  const std::string directory = argc > 1 ? argv[1] : "";
  if (argc > 1 && stat((directory + "/ref_public.jsonl").c_str(), &found) == 0) {
    std::printf("cases of %s\n", directory.c_str());
    RunReference(directory, &bench);
  } else {
    std::printf("random networks, for there is no reference set%s%s\n", argc > 1 ? " in " : "",
                directory.c_str());
    RunRandom(&bench);
  }
  return bench.Print();
}

}  // namespace
}  // namespace trumpet::slice

int main(int argc, char** argv) { return trumpet::slice::Main(argc, argv); }
