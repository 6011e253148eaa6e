// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "controller/slice/openflow_driver.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "controller/plan/flow_match.h"
#include "controller/plan/kept_clone.h"

namespace trumpet {
namespace {

constexpr Nanos kCapPeriod = 5 * kNanosPerMilli;
constexpr Nanos kLastWords = kNanosPerSecond;  // for flows that tell how they ended
constexpr uint32_t kMaxBurst = 4000000;  // of a meter: switches may count thousandths in 32 bits
constexpr uint64_t kSliceCookie = kOpenflowCookie | uint64_t{2} << 40;
constexpr uint64_t kLifeMask = 0xfffff;

uint64_t CookieOf(uint64_t life, uint32_t tag) {
  return kSliceCookie | (life & kLifeMask) << kSliceTagBits | tag;
}

}  // namespace

OpenflowClaim SliceClaim() {
  return ClaimOfKind(kSliceCookie, kFirstOpenflowNumber,
                     kFirstOpenflowNumber + OpenflowDriver::kMaxSlices - 1);
}

std::string CopyActions(uint32_t tag, uint16_t snap_bytes, const OpenflowCopyPort& to) {
  const std::string port = std::to_string(to.port);
  const std::string key =
      to.is_erspan ? "set_field:" + std::to_string(to.switch_number) +
                         "->tun_id,set_field:" + std::to_string(tag) + "->tun_erspan_idx"
                   : "set_field:" + std::to_string(SliceGreKey(to.switch_number, tag)) + "->tun_id";
  const std::string max = std::to_string(snap_bytes);
  return key +
         (snap_bytes == 0 ? ",output:" + port : ",output(port=" + port + ",max_len=" + max + ")");
}

// While calls back of a slice are under way it is there: it ends only when its flows are gone, or
// nobody is to be heard of any more.
struct OpenflowDriver::Slice {
  Slice(event_base* base, OpenflowDriver* driver)
      : deadline(base, [this, driver] { driver->End(this); }),
        look(base, [this, driver] { driver->LookAtCaps(this); }),
        last_words(base, [this, driver] {
          has_waited = true;
          driver->Finish(this);
        }) {}

  OpenflowSwitch* which = nullptr;
  SliceSpec spec;
  uint64_t cookie = 0;
  int bit = 0;
  std::vector<OpenflowRule> flows;
  std::vector<OpenflowRule> meters;               // none or one
  std::vector<OpenflowRule> flows_without_meter;  // for a switch that refuses it, if they will do
  bool is_on = false;
  bool is_ending = false;
  bool is_looking = false;
  bool is_over = false;  // its flows have all told how they ended
  bool is_gone = false;  // its flows are
  bool is_meter_gone = true;
  size_t flows_to_come = 0;                 // that have not told how they ended
  bool has_waited = false;                  // long enough for those that have not
  std::optional<OpenflowNumbered> metered;  // what came to the meter, if it has told
  SliceEnd end;
  std::vector<Done> off;
  LoopEvent deadline;
  LoopEvent look;
  LoopEvent last_words;
};

namespace {

std::string CopyActionsOf(const SliceSpec& spec, const OpenflowCopyPort& to) {
  return CopyActions(spec.tag, spec.snap_bytes, to);
}

// Of an EtherType for experiments, from nobody to nobody; it says which one it is.
constexpr char kProbeHead[] = "\x02\0\0\0\0\1\x02\0\0\0\0\2\x88\xb5trumpet probe ";
constexpr size_t kProbeHeadBytes = sizeof kProbeHead - 1;
constexpr size_t kProbeBytes = 60;
constexpr uint32_t kFromController = 0xfffffffd;  // OFPP_CONTROLLER: no flow has brought it here

std::string MakeProbe(uint32_t tag) {
  std::string frame(kProbeHead, kProbeHeadBytes);
  frame += std::to_string(tag);
  frame.resize(kProbeBytes);
  return frame;
}

// Switches may leave a count unsaid.
void AddCount(uint64_t count, uint64_t* sum) {
  if (count != kUnknownCount) *sum += count;
}

// The meter knows better than the flows, whose counters come late; which packets it has held back
// it does not know, so their bytes are those of the average.
void CountMetered(const OpenflowNumbered& meter, SliceEnd* end) {
  if (meter.dropped == kUnknownCount) return;
  end->withheld = meter.dropped;
  end->packets -= std::min(end->packets, meter.dropped);
  const bool is_told = meter.packets != kUnknownCount && meter.packets != 0;
  if (!is_told || meter.packets < meter.dropped) return;
  end->packets = meter.packets - meter.dropped;
  if (meter.bytes == kUnknownCount) return;
  end->bytes = static_cast<uint64_t>(Uint128{meter.bytes} * end->packets / meter.packets);
}

// A meter: what passes at once, and what more a second.  A rate of 0: there is none.
struct Limit {
  uint32_t rate = 0;
  uint32_t burst = 0;
};

// A cap on packets that is reached within a second is all that the meter lets pass; one more a
// second comes of there being no rate of 0.
Limit LimitOf(const SliceSpec& spec) {
  const uint32_t rate = spec.packets_per_second;
  const uint64_t cap = spec.max_packets;
  if (cap != 0 && cap <= (rate == 0 ? kMaxBurst : rate)) return {1, static_cast<uint32_t>(cap)};
  return {rate, rate};
}

std::string Timeout(Nanos duration) {
  const Nanos seconds = (duration + kNanosPerSecond - 1) / kNanosPerSecond;
  return "hard_timeout=" + std::to_string(std::clamp<Nanos>(seconds, 1, 65535)) + ",";
}

}  // namespace

OpenflowDriver::OpenflowDriver(event_base* base, OpenflowNet* net, FindPort find_port)
    : base_(base), net_(net), find_port_(std::move(find_port)), later_event_(base, [this] {
        for (const auto& action : std::exchange(later_, {})) action();
      }) {
  net_->AddObserver(this);
}

OpenflowDriver::~OpenflowDriver() { net_->RemoveObserver(this); }

void OpenflowDriver::Later(std::function<void()> action) {
  later_.push_back(std::move(action));
  later_event_.RunSoon();
}

bool OpenflowDriver::Serves(const std::string& switch_name) const {
  const OpenflowSwitch* which = net_->Find(switch_name);
  return which != nullptr && which->is_ready() && find_port_(switch_name).has_value();
}

OpenflowDriver::Slice* OpenflowDriver::Find(const OpenflowSwitch* which, uint32_t tag) const {
  for (const auto& slice : slices_) {
    if (slice->which == which && slice->spec.tag == tag && !slice->is_ending) return slice.get();
  }
  return nullptr;
}

int OpenflowDriver::FreeBit(const OpenflowSwitch* which) const {
  uint32_t used = 0;
  for (const auto& slice : slices_) {
    if (slice->which == which) used |= 1u << slice->bit;
  }
  for (int bit = 0; bit < kMaxSlices; ++bit) {
    if ((used >> bit & 1) == 0) return bit;
  }
  return -1;
}

uint16_t OpenflowDriver::NumberOf(const std::string& switch_name) const {
  const auto port = find_port_(switch_name);
  return port.has_value() ? port->switch_number : 0;
}

void OpenflowDriver::TurnOn(const std::string& switch_name, const SliceSpec& spec, Done done) {
  const auto refuse = [&](const std::string& text) {
    Later([done, status = Status::Error(text)] { done(status); });
  };
  OpenflowSwitch* const which = net_->Find(switch_name);
  const auto port = find_port_(switch_name);
  if (which == nullptr || !which->is_ready()) {
    return refuse("switch " + switch_name + " is not connected");
  }
  if (!port) return refuse("switch " + switch_name + " has no port to an analyzer");
  if (spec.tag == 0 || spec.tag > kMaxSliceTag || spec.duration <= 0) {
    return refuse("a slice takes a tag from 1 to " + std::to_string(kMaxSliceTag) +
                  " and a duration");
  }
  if (Find(which, spec.tag) != nullptr) {
    return refuse("switch " + switch_name + " has a slice with that tag");
  }
  const int bit = FreeBit(which);
  if (bit < 0) return refuse("switch " + switch_name + " has 32 slices on");
  const Result<std::vector<std::string>> matches = FlowMatches(spec.filter);
  if (!matches.ok()) return refuse(matches.message());

  slices_.push_back(std::make_unique<Slice>(base_, this));
  Slice* const slice = slices_.back().get();
  slice->which = which;
  slice->spec = spec;
  slice->bit = bit;
  slice->cookie = CookieOf(++last_life_, spec.tag);
  slice->end.switch_name = switch_name;
  slice->end.tag = spec.tag;
  const std::string timeout = Timeout(spec.duration);
  const std::string number = std::to_string(bit);
  const std::string mark = "1->NXM_NX_REG15[" + number + "]";
  const std::string mask = std::to_string(1u << bit);
  const std::string copy = CopyActionsOf(spec, *port);
  const auto add_flows = [&](const std::string& actions, std::vector<OpenflowRule>* flows) {
    for (const std::string& match : *matches) {
      flows->push_back({OpenflowRule::Kind::kFlow,
                        "table=0,send_flow_rem,priority=" + std::to_string(kPriority) + "," +
                            timeout + "reg15=0/" + mask + "," + match + (match.empty() ? "" : ",") +
                            "actions=clone(load:" + mark + ",resubmit(,0))," + actions,
                        slice->cookie, false});
    }
  };
  const Limit limit = LimitOf(spec);
  if (limit.rate == 0) {
    add_flows(copy, &slice->flows);
  } else {
    // A meter must come first in its list, so it has a table of its own.
    const std::string meter = std::to_string(kFirstOpenflowNumber + static_cast<uint32_t>(bit));
    slice->meters.push_back(
        {OpenflowRule::Kind::kMeter,
         "meter=" + meter + ",pktps,burst,stats,band=type=drop,rate=" + std::to_string(limit.rate) +
             ",burst_size=" + std::to_string(limit.burst),
         0, false});
    slice->flows.push_back({OpenflowRule::Kind::kFlow,
                            "table=" + std::to_string(kCopyTable) +
                                ",priority=" + std::to_string(kPriority) + "," + timeout +
                                "reg14=" + number + ",actions=meter:" + meter + "," + copy,
                            slice->cookie, false});
    add_flows(KeptClone("load:" + number + "->NXM_NX_REG14[],resubmit(," +
                        std::to_string(kCopyTable) + ")"),
              &slice->flows);
    if (spec.packets_per_second == 0) add_flows(copy, &slice->flows_without_meter);
  }
  slice->flows_to_come = matches->size();
  Install(slice, std::move(done));
}

void OpenflowDriver::Install(Slice* slice, Done done) {
  slice->is_meter_gone = slice->meters.empty();
  OpenflowChange change;
  change.add = slice->meters;
  change.add.insert(change.add.end(), slice->flows.begin(), slice->flows.end());
  slice->which->Commit(std::move(change), [this, slice, done](const Status& status) {
    if (!status.ok() && !slice->flows_without_meter.empty()) {
      slice->meters.clear();
      slice->flows = std::exchange(slice->flows_without_meter, {});
      // What is still to come of those that were taken back is not of these.
      slice->cookie = CookieOf(++last_life_, slice->spec.tag);
      for (OpenflowRule& flow : slice->flows) flow.cookie = slice->cookie;
      slice->flows_to_come = slice->flows.size();
      slice->is_over = false;
      return Install(slice, done);
    }
    if (status.ok()) {
      Begin(slice);
    } else {
      const std::vector<Done> offs = std::move(slice->off);
      slices_.remove_if([slice](const auto& one) { return one.get() == slice; });
      for (const Done& off : offs) off(Status::Ok());
    }
    done(status);
  });
}

void OpenflowDriver::Begin(Slice* slice) {
  slice->is_on = true;
  // Turned off, or gone again, while it was being turned on.
  if (!slice->off.empty() || slice->is_over) return End(slice);
  slice->deadline.RunAfter(slice->spec.duration);
  if (slice->spec.max_packets != 0 || slice->spec.max_bytes != 0) slice->look.RunEvery(kCapPeriod);
}

void OpenflowDriver::LookAtCaps(Slice* slice) {
  if (slice->is_looking || slice->is_ending) return;
  slice->is_looking = true;
  slice->which->AskFlows(
      0, slice->cookie, UINT64_MAX, [this, slice](const Result<std::vector<OpenflowFlow>>& flows) {
        slice->is_looking = false;
        if (slice->is_ending) return Finish(slice);  // it waited for this
        if (!flows.ok()) return;
        uint64_t packets = 0;
        uint64_t bytes = 0;
        for (const OpenflowFlow& flow : *flows) {
          AddCount(flow.packets, &packets);
          AddCount(flow.bytes, &bytes);
        }
        const SliceSpec& spec = slice->spec;
        const bool is_full = (spec.max_packets != 0 && packets >= spec.max_packets) ||
                             (spec.max_bytes != 0 && bytes >= spec.max_bytes);
        if (is_full) End(slice);
      });
}

// Takes the flows away; the switch tells how they ended, before or after it says that it is done.
void OpenflowDriver::End(Slice* slice) {
  if (slice->is_ending) return;
  slice->is_ending = true;
  slice->deadline.Cancel();
  slice->look.Cancel();
  slice->which->Commit({slice->flows, {}}, [this, slice](const Status& status) {
    slice->is_gone = true;
    for (const Done& done : std::exchange(slice->off, {})) done(status);
    // Without a connection nobody tells; the switch sees to it by itself.
    slice->last_words.RunAfter(status.ok() ? kLastWords : 0);
    if (slice->is_meter_gone) return Finish(slice);
    if (status.ok()) return AskMeter(slice);
    RemoveMeter(slice);  // when the switch comes back, if it is away
  });
}

// What the meter has held back was matched, and not copied.
void OpenflowDriver::AskMeter(Slice* slice) {
  slice->which->AskSimple(TRUMPET_OF_METER_STATS_REQUEST, [this, slice](const OpenflowAnswers& a) {
    const uint32_t number = kFirstOpenflowNumber + static_cast<uint32_t>(slice->bit);
    for (const OpenflowAnswer& answer : a.answers) {
      for (const OpenflowMessage& message : answer.messages) {
        for (const OpenflowNumbered& meter : message.numbered) {
          if (meter.number == number) slice->metered = meter;
        }
      }
    }
    RemoveMeter(slice);
  });
}

void OpenflowDriver::RemoveMeter(Slice* slice) {
  slice->which->Commit({slice->meters, {}}, [this, slice](const Status&) {
    slice->is_meter_gone = true;
    Finish(slice);
  });
}

void OpenflowDriver::OnFlowRemoved(OpenflowSwitch* which, const OpenflowMessage& removed) {
  for (const auto& one : slices_) {
    Slice* const slice = one.get();
    if (slice->which != which || slice->cookie != removed.head.cookie) continue;
    AddCount(removed.head.packets, &slice->end.packets);
    AddCount(removed.head.bytes, &slice->end.bytes);
    slice->end.lasted = std::max(slice->end.lasted, Nanos{removed.head.duration_ns});
    if (slice->flows_to_come > 0) --slice->flows_to_come;
    if (slice->flows_to_come > 0) return;
    // By their timeout, if not by us: then the rest goes, too, unless the switch may yet refuse it.
    slice->is_over = true;
    if (!slice->is_on) return;
    return slice->is_ending ? Finish(slice) : End(slice);
  }
}

// Whatever it waited for has come: it is finished when that was the last.
void OpenflowDriver::Finish(Slice* slice) {
  const bool has_told = slice->flows_to_come == 0 || slice->has_waited;
  if (!has_told || !slice->is_gone || !slice->is_meter_gone || slice->is_looking) return;
  const auto place = std::find_if(slices_.begin(), slices_.end(),
                                  [&](const auto& one) { return one.get() == slice; });
  SliceEnd end = slice->end;
  if (slice->metered) CountMetered(*slice->metered, &end);
  // Timers of the slice may be what calls this, so it goes when the loop comes round.
  const std::shared_ptr<Slice> last = std::move(*place);
  slices_.erase(place);
  last->last_words.Cancel();
  Later([this, end, last] {
    if (ended_) ended_(end);
  });
}

std::vector<std::string> OpenflowDriver::ProbeTargets() const {
  std::vector<std::string> names;
  for (const OpenflowSwitch* which : net_->Switches()) {
    if (Serves(which->name())) names.push_back(which->name());
  }
  return names;
}

void OpenflowDriver::Probe(const std::string& switch_name, uint32_t tag,
                           std::function<void()> back) {
  OpenflowSwitch* const which = net_->Find(switch_name);
  const auto port = find_port_(switch_name);
  if (which == nullptr || !port) return;
  SliceSpec spec;
  spec.tag = tag;
  probes_[{which, tag}] = std::move(back);
  (void)which->SendPacketOut(0, MakeProbe(tag), "controller," + CopyActionsOf(spec, *port)).ok();
}

void OpenflowDriver::OnPacketIn(OpenflowSwitch* which, const OpenflowMessage& packet_in) {
  if (packet_in.head.in_port != kFromController) return;
  const std::string& frame = packet_in.packet;
  if (frame.compare(0, kProbeHeadBytes, kProbeHead, kProbeHeadBytes) != 0) return;
  const auto tag =
      static_cast<uint32_t>(strtoul(frame.substr(kProbeHeadBytes).c_str(), nullptr, 10));
  const auto probe = probes_.find({which, tag});
  if (probe == probes_.end()) return;
  const std::function<void()> back = std::move(probe->second);
  probes_.erase(probe);
  back();
}

void OpenflowDriver::TurnOff(const std::string& switch_name, uint32_t tag, Done done) {
  const OpenflowSwitch* const which = net_->Find(switch_name);
  Slice* const slice = which == nullptr ? nullptr : Find(which, tag);
  if (slice == nullptr) return Later([done] { done(Status::Ok()); });
  slice->off.push_back(std::move(done));
  if (slice->is_on) End(slice);
}

}  // namespace trumpet
