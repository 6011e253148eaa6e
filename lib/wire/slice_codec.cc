// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "lib/wire/slice_codec.h"

#include <algorithm>
#include <utility>

#include "lib/model/slice_spec.h"
#include "lib/wire/limits.h"
#include "lib/wire/place_codec.h"
#include "lib/wire/trumpet.pb.h"

namespace trumpet {
namespace {

static_assert(pb::CAPABILITY_ANALYZER == kCapabilityAnalyzer);
static_assert(pb::CAPABILITY_PACKET_FILES == kCapabilityPacketFiles);

constexpr size_t kRoom = kMaxFrameToController / 2;  // of a part; the rest is for heads

bool CheckTag(const Place& place, uint32_t tag, Checker* checker) {
  return checker->Range(place, "tag", tag, 1, kMaxSliceTag);
}

bool CheckPrefix(const pb::AddressSet& set, const Place& place, Checker* checker) {
  const AddressSet read = Read(set);
  if (read.prefixes.size() == 1 && read.macs.empty()) return true;
  return checker->Fail(place, "is not one prefix");
}

template <typename Names>
bool CheckNames(const Names& names, size_t max, const Place& place, const char* name,
                Checker* checker) {
  if (!checker->Count(place, name, static_cast<size_t>(names.size()), max)) return false;
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& text) { return checker->Name(place, name, text); });
}

bool CheckSlice(const pb::ExpectedSlice& slice, const Place& place, Checker* checker) {
  if (!CheckTag(place, slice.tag(), checker) ||
      !checker->Text(place, "name", slice.name(), kMaxTextBytes) ||
      !Check(slice.prefix(), Place(place, "prefix"), checker) ||
      !CheckPrefix(slice.prefix(), Place(place, "prefix"), checker) ||
      !CheckNames(slice.path(), kMaxSlicePath, place, "path", checker) ||
      !CheckNames(slice.locations(), kMaxSliceLocations, place, "locations", checker) ||
      !checker->Instant(place, "start_ns", slice.start_ns()) ||
      !checker->Instant(place, "end_ns", slice.end_ns())) {
    return false;
  }
  if (slice.numbers_size() != slice.locations_size()) {
    return checker->Fail(place, "numbers", "are not as many as locations");
  }
  return std::all_of(slice.numbers().begin(), slice.numbers().end(), [&](uint32_t number) {
    return checker->Range(place, "numbers", number, 0, kMaxSwitchNumber);
  });
}

void WriteSlice(const ExpectedSlice& slice, pb::ExpectedSlice* out) {
  out->set_tag(slice.tag);
  out->set_run(slice.run);
  out->set_slot(slice.slot);
  out->set_query(slice.query);
  out->set_name(slice.name);
  out->set_is_confine(slice.is_confine);
  Write(AddressSet{{slice.prefix}, {}}, out->mutable_prefix());
  for (const std::string& router : slice.path) out->add_path(router);
  for (const std::string& router : slice.locations) out->add_locations(router);
  for (const uint16_t number : slice.numbers) out->add_numbers(number);
  out->set_start_ns(slice.start);
  out->set_end_ns(slice.end);
}

ExpectedSlice ReadSlice(const pb::ExpectedSlice& in) {
  ExpectedSlice slice;
  slice.tag = in.tag();
  slice.run = in.run();
  slice.slot = in.slot();
  slice.query = in.query();
  slice.name = in.name();
  slice.is_confine = in.is_confine();
  slice.prefix = Read(in.prefix()).prefixes[0];
  slice.path.assign(in.path().begin(), in.path().end());
  slice.locations.assign(in.locations().begin(), in.locations().end());
  for (const uint32_t number : in.numbers()) {
    slice.numbers.push_back(static_cast<uint16_t>(number));
  }
  slice.start = in.start_ns();
  slice.end = in.end_ns();
  return slice;
}

size_t BytesOf(const ExpectedSlice& slice) {
  size_t bytes = 128 + slice.name.size();
  for (const std::string& router : slice.path) bytes += router.size() + 4;
  for (const std::string& router : slice.locations) bytes += router.size() + 8;
  return bytes;
}
size_t BytesOf(const SliceTally& tally) { return 96 + tally.switch_name.size(); }
size_t BytesOf(const PacketRecord& record) {
  return 64 + record.switch_name.size() + record.bytes.size();
}

void WritePlace(const PacketFilePlace& place, pb::PacketFilePlace* out) {
  out->set_slot(place.slot);
  out->set_query(place.query);
  out->set_offset(place.offset);
}
PacketFilePlace ReadPlace(const pb::PacketFilePlace& in) {
  return {in.slot(), in.query(), in.offset()};
}

// Calls `part(elements, is_last)`, at least once.
template <typename Element, typename Part>
void Split(std::vector<Element> elements, size_t max_count, const Part& part) {
  std::vector<Element> some;
  size_t bytes = 0;
  for (Element& element : elements) {
    const size_t more = BytesOf(element);
    if (!some.empty() && (some.size() == max_count || bytes + more > kRoom)) {
      part(std::move(some), false);
      some.clear();
      bytes = 0;
    }
    bytes += more;
    some.push_back(std::move(element));
  }
  part(std::move(some), true);
}

}  // namespace

bool Check(const pb::ExpectSlices& expect, const Place& place, Checker* checker) {
  if (!checker->Count(place, "slices", expect.slices_size(), kMaxExpectedSlices)) return false;
  for (int i = 0; i < expect.slices_size(); ++i) {
    if (!CheckSlice(expect.slices(i), Place(place, "slices", i), checker)) return false;
  }
  return true;
}

bool Check(const pb::TallyRequest& request, const Place& place, Checker* checker) {
  if (!checker->Count(place, "tags", request.tags_size(), kMaxTallyTags)) return false;
  return std::all_of(request.tags().begin(), request.tags().end(), [&](uint32_t tag) {
    return checker->Range(place, "tags", tag, 1, kMaxSliceTag);
  });
}

bool Check(const pb::SliceTallies& tallies, const Place& place, Checker* checker) {
  if (!checker->Count(place, "tallies", tallies.tallies_size(), kMaxTallies)) return false;
  for (int i = 0; i < tallies.tallies_size(); ++i) {
    const pb::SliceTally& tally = tallies.tallies(i);
    const Place here(place, "tallies", i);
    if (!CheckTag(here, tally.tag(), checker) ||
        !checker->Name(here, "switch_name", tally.switch_name()) ||
        !checker->Instant(here, "first_ns", tally.first_ns()) ||
        !checker->Instant(here, "last_ns", tally.last_ns())) {
      return false;
    }
  }
  return true;
}

bool Check(const pb::FinishRun& finish, const Place& place, Checker* checker) {
  if (!checker->Count(place, "latencies", finish.latencies_size(), kMaxLatencies)) return false;
  for (int i = 0; i < finish.latencies_size(); ++i) {
    const pb::CopyLatency& latency = finish.latencies(i);
    const Place here(place, "latencies", i);
    if (!checker->Name(here, "switch_name", latency.switch_name()) ||
        !checker->Instant(here, "latency_ns", latency.latency_ns()) ||
        !checker->Instant(here, "error_ns", latency.error_ns())) {
      return false;
    }
  }
  return true;
}

bool Check(const pb::RunAnswer& answer, const Place& place, Checker* checker) {
  return checker->Range(place, "part", answer.part(), 0, kMaxAnswerParts - 1) &&
         checker->Text(place, "text", answer.text(), kRoom);
}

bool Check(const pb::PacketsRequest& request, const Place& place, Checker* checker) {
  return CheckTag(place, request.tag(), checker) &&
         checker->Range(place, "max_packets", request.max_packets(), 1, kMaxPacketsAsked);
}

bool Check(const pb::PacketRecords& records, const Place& place, Checker* checker) {
  if (!checker->Count(place, "records", records.records_size(), kMaxPacketsAsked)) return false;
  for (int i = 0; i < records.records_size(); ++i) {
    const pb::PacketRecord& record = records.records(i);
    const Place here(place, "records", i);
    if (!checker->Name(here, "switch_name", record.switch_name()) ||
        !checker->Instant(here, "time_ns", record.time_ns()) ||
        !checker->Count(here, "bytes", record.bytes().size(), kMaxRecordBytes)) {
      return false;
    }
  }
  return true;
}

bool Check(const pb::PacketFileRequest& request, const Place& place, Checker* checker) {
  return checker->Range(place, "max_bytes", request.max_bytes(), 1, kMaxPacketFileBytes);
}

bool Check(const pb::PacketFilePiece& piece, const Place& place, Checker* checker) {
  if (!checker->Count(place, "bytes", piece.bytes().size(), kMaxPacketFileBytes) ||
      !checker->Text(place, "error", piece.error(), kMaxLongTextBytes)) {
    return false;
  }
  if (piece.error().empty()) {
    // Who asks on must come to an end.
    if (piece.is_last() || !piece.bytes().empty()) return true;
    return checker->Fail(place, "goes on without bytes");
  }
  if (piece.bytes().empty()) return true;
  return checker->Fail(Place(place, "error"), "stands with bytes");
}

void Write(const ExpectSlices& expect, pb::ExpectSlices* out) {
  for (const ExpectedSlice& slice : expect.slices) WriteSlice(slice, out->add_slices());
}

void Write(const TallyRequest& request, pb::TallyRequest* out) {
  out->set_number(request.number);
  out->mutable_tags()->Add(request.tags.begin(), request.tags.end());
}

void Write(const SliceTallies& tallies, pb::SliceTallies* out) {
  out->set_number(tallies.number);
  out->set_is_last(tallies.is_last);
  for (const SliceTally& tally : tallies.tallies) {
    pb::SliceTally* one = out->add_tallies();
    one->set_tag(tally.tag);
    one->set_switch_name(tally.switch_name);
    one->set_packets(tally.packets);
    one->set_bytes(tally.bytes);
    one->set_copy_bytes(tally.copy_bytes);
    one->set_first_ns(tally.first);
    one->set_last_ns(tally.last);
  }
}

void Write(const FinishRun& finish, pb::FinishRun* out) {
  out->set_run(finish.run);
  for (const CopyLatency& latency : finish.latencies) {
    pb::CopyLatency* one = out->add_latencies();
    one->set_switch_name(latency.switch_name);
    one->set_latency_ns(latency.latency);
    one->set_error_ns(latency.error);
  }
}

void Write(const RunAnswer& answer, pb::RunAnswer* out) {
  out->set_run(answer.run);
  out->set_part(answer.part);
  out->set_is_last(answer.is_last);
  out->set_text(answer.text);
}

void Write(const PacketsRequest& request, pb::PacketsRequest* out) {
  out->set_number(request.number);
  out->set_tag(request.tag);
  out->set_first(request.first);
  out->set_max_packets(request.max_packets);
}

void Write(const PacketRecords& records, pb::PacketRecords* out) {
  out->set_number(records.number);
  out->set_first(records.first);
  out->set_is_last(records.is_last);
  for (const PacketRecord& record : records.records) {
    pb::PacketRecord* one = out->add_records();
    one->set_switch_name(record.switch_name);
    one->set_time_ns(record.time);
    one->set_wire_bytes(record.wire_bytes);
    one->set_is_ethernet(record.is_ethernet);
    one->set_bytes(record.bytes);
  }
}

void Write(const PacketFileRequest& request, pb::PacketFileRequest* out) {
  out->set_number(request.number);
  out->set_run(request.run);
  WritePlace(request.from, out->mutable_from());
  out->set_max_bytes(request.max_bytes);
}

void Write(const PacketFilePiece& piece, pb::PacketFilePiece* out) {
  out->set_number(piece.number);
  WritePlace(piece.next, out->mutable_next());
  out->set_is_last(piece.is_last);
  out->set_bytes(piece.bytes);
  out->set_error(piece.error);
}

ExpectSlices Read(const pb::ExpectSlices& in) {
  ExpectSlices expect;
  for (const pb::ExpectedSlice& slice : in.slices()) expect.slices.push_back(ReadSlice(slice));
  return expect;
}

TallyRequest Read(const pb::TallyRequest& in) {
  return {in.number(), {in.tags().begin(), in.tags().end()}};
}

SliceTallies Read(const pb::SliceTallies& in) {
  SliceTallies tallies{in.number(), in.is_last(), {}};
  for (const pb::SliceTally& one : in.tallies()) {
    tallies.tallies.push_back({one.tag(), one.switch_name(), one.packets(), one.bytes(),
                               one.copy_bytes(), one.first_ns(), one.last_ns()});
  }
  return tallies;
}

FinishRun Read(const pb::FinishRun& in) {
  FinishRun finish{in.run(), {}};
  for (const pb::CopyLatency& one : in.latencies()) {
    finish.latencies.push_back({one.switch_name(), one.latency_ns(), one.error_ns()});
  }
  return finish;
}

RunAnswer Read(const pb::RunAnswer& in) { return {in.run(), in.part(), in.is_last(), in.text()}; }

PacketsRequest Read(const pb::PacketsRequest& in) {
  return {in.number(), in.tag(), in.first(), in.max_packets()};
}

PacketRecords Read(const pb::PacketRecords& in) {
  PacketRecords records{in.number(), in.first(), in.is_last(), {}};
  for (const pb::PacketRecord& one : in.records()) {
    records.records.push_back(
        {one.switch_name(), one.time_ns(), one.wire_bytes(), one.is_ethernet(), one.bytes()});
  }
  return records;
}

PacketFileRequest Read(const pb::PacketFileRequest& in) {
  return {in.number(), in.run(), ReadPlace(in.from()), in.max_bytes()};
}

PacketFilePiece Read(const pb::PacketFilePiece& in) {
  return {in.number(), ReadPlace(in.next()), in.is_last(), in.bytes(), in.error()};
}

void SplitExpectSlices(std::vector<ExpectedSlice> slices, const SendMessage& send) {
  if (slices.empty()) return;
  Split(std::move(slices), kMaxExpectedSlices,
        [&](std::vector<ExpectedSlice> some, bool) { send(ExpectSlices{std::move(some)}); });
}

void SplitTallies(uint64_t number, std::vector<SliceTally> tallies, const SendMessage& send) {
  Split(std::move(tallies), kMaxTallies, [&](std::vector<SliceTally> some, bool is_last) {
    send(SliceTallies{number, is_last, std::move(some)});
  });
}

void SplitRunAnswer(uint64_t run, const std::string& text, const SendMessage& send) {
  uint32_t part = 0;
  for (size_t at = 0; part == 0 || at < text.size(); at += kRoom, ++part) {
    send(RunAnswer{run, part, at + kRoom >= text.size(), text.substr(at, kRoom)});
  }
}

void SplitPacketRecords(uint64_t number, uint64_t first, std::vector<PacketRecord> records,
                        const SendMessage& send) {
  Split(std::move(records), kMaxPacketsAsked, [&](std::vector<PacketRecord> some, bool is_last) {
    const uint64_t count = some.size();
    send(PacketRecords{number, first, is_last, std::move(some)});
    first += count;
  });
}

}  // namespace trumpet
