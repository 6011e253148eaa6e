// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/plan/slice/knapsack.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace trumpet::slice {
namespace {

// Some copies of an item, taken or left as one.
struct Piece {
  size_t item = 0;
  int copies = 0;
  int64_t cost = 0;
  double value = 0;
};

// Copies as pieces of 1, 2, 4, ... and the rest: every number of them is a sum of pieces.
std::vector<Piece> PiecesOf(const std::vector<KnapsackItem>& items, int64_t capacity) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < items.size(); ++i) {
    const KnapsackItem& item = items[i];
    if (item.value <= 0 || item.cost > capacity) continue;
    int left = item.copies;
    if (item.cost > 0) left = static_cast<int>(std::min<int64_t>(left, capacity / item.cost));
    for (int copies = 1; left > 0; copies *= 2) {
      const int taken = std::min(copies, left);
      pieces.push_back({i, taken, item.cost * taken, item.value * taken});
      left -= taken;
    }
  }
  return pieces;
}

// The best value in every room up to `width` - 1, and by piece and room if it takes that piece.
std::vector<double> BestByRoom(const std::vector<Piece>& pieces, size_t width,
                               std::vector<uint8_t>* is_taken) {
  std::vector<double> best(width, 0.0);
  is_taken->assign(width * pieces.size(), 0);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto cost = static_cast<size_t>(pieces[i].cost);
    uint8_t* const taken = &(*is_taken)[i * width];
    for (size_t room = width; room-- > cost;) {
      const double value = best[room - cost] + pieces[i].value;
      if (value <= best[room]) continue;
      best[room] = value;
      taken[room] = 1;
    }
  }
  return best;
}

// No choice is worth more than the best one by costs that are rounded down.
double MostRoundedDown(std::vector<Piece> pieces, int64_t capacity, int64_t unit) {
  for (Piece& piece : pieces) piece.cost /= unit;
  std::vector<uint8_t> is_taken;
  return BestByRoom(pieces, static_cast<size_t>(capacity / unit) + 1, &is_taken).back();
}

}  // namespace

KnapsackChoice FillKnapsack(const std::vector<KnapsackItem>& items, int64_t capacity) {
  KnapsackChoice choice;
  choice.copies.assign(items.size(), 0);
  std::vector<Piece> pieces = PiecesOf(items, capacity);
  if (pieces.empty()) return choice;
  int64_t total = 0;
  int64_t common = 0;  // divisor of all costs: sums fall on its multiples only
  for (const Piece& piece : pieces) {
    total += piece.cost;
    common = std::gcd(common, piece.cost);
  }
  common = std::max<int64_t>(common, 1);
  for (Piece& piece : pieces) piece.cost /= common;
  capacity = std::min(capacity, total) / common;
  const int64_t widest = std::clamp<int64_t>(
      kMaxKnapsackCells / static_cast<int64_t>(pieces.size()), 1, kMaxKnapsackWidth);
  if (capacity >= widest) {
    const int64_t unit = capacity / widest + 1;
    choice.most = MostRoundedDown(pieces, capacity, unit);
    for (Piece& piece : pieces) piece.cost = (piece.cost + unit - 1) / unit;
    capacity /= unit;
    choice.is_best = false;
  }
  const auto width = static_cast<size_t>(capacity) + 1;
  std::vector<uint8_t> is_taken;
  choice.value = BestByRoom(pieces, width, &is_taken).back();
  if (choice.is_best) choice.most = choice.value;
  size_t room = width - 1;
  for (size_t i = pieces.size(); i-- > 0;) {
    if (is_taken[i * width + room] == 0) continue;
    choice.copies[pieces[i].item] += pieces[i].copies;
    room -= static_cast<size_t>(pieces[i].cost);
  }
  return choice;
}

}  // namespace trumpet::slice
