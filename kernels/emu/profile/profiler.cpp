#include "kernels/emu/profile/profiler.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/emu/memory.h"

namespace warpline::emu::profile {

namespace {

// "max_kernel<float, BlockTeam>", without the scopes.
std::string short_name(std::string_view kernel) {
  std::string name;
  std::size_t word = 0;  // where the last name begins
  for (const char c : kernel) {
    name += c;
    if (name.size() >= 2 && name.compare(name.size() - 2, 2, "::") == 0) name.resize(word);
    if (c == '<' || c == ' ' || c == '(' || c == ',') word = name.size();
  }
  return name;
}

}  // namespace

Profiler& Profiler::instance() {
  static Profiler profiler;
  return profiler;
}

// ---- the running kernel ----

void Profiler::begin_kernel(const Launch& launch, int device, const kernels::CallNote& note,
                            Watcher& checker) {
  checker_ = &checker;
  device_ = device;
  arrays_.begin_kernel();
  warps_.resize(std::max<std::size_t>(warps_.size(), (launch.block.count() + kWarp - 1) / kWarp));
  const std::string name = short_name(launch.kernel);
  const auto is_this = [&](const auto& kernel) {
    const KernelProfile& profile = kernel->profile;
    return profile.kernel == name && profile.op == note.op && profile.variant == note.variant;
  };
  auto found = std::find_if(kernels_.begin(), kernels_.end(), is_this);
  if (found == kernels_.end()) {
    found = kernels_.insert(found, std::make_unique<Kernel>());
    KernelProfile& profile = (*found)->profile;
    profile.op = note.op;
    profile.variant = note.variant;
    profile.kernel = name;
  }
  kernel_ = found->get();
  KernelProfile& profile = kernel_->profile;
  ++profile.launches;
  profile.blocks += launch.grid.count();
  profile.threads += launch.grid.count() * launch.block.count();
  profile.flops += note.flops;
}

void Profiler::end_kernel() {
  for (Warp& warp : warps_) flush(warp);
  for (auto& [memory, directions] : touched_) {
    for (SectorSet& sectors : directions) {
      kernel_->profile.bytes_touched += sectors.size() * kSectorBytes;
      sectors.clear();
    }
  }
}

void Profiler::begin_block(std::uint64_t block) {
  for (Warp& warp : warps_) {
    flush(warp);
    warp.basic_block = {};
  }
  checker_->begin_block(block);
}

void Profiler::become(std::uint32_t thread) {
  warp_ = &warps_[thread / kWarp];
  lane_ = thread % kWarp;
  checker_->become(thread);
}

// All lanes have come to the same point.
void Profiler::barrier(const Site& site) {
  for (Warp& warp : warps_) flush(warp);
  ++kernel_->barriers[check::shortened(to_string(site))];
  checker_->barrier(site);
}

void Profiler::sync_warp(std::uint32_t warp, unsigned lanes) {
  if (lanes == ~0U) flush(warps_[warp]);
  checker_->sync_warp(warp, lanes);
}

// ---- events ----

Profiler::Id Profiler::place_of(const void* code, const Place& place) {
  // Addresses of code leave the upper bits free.
  const std::uint64_t key =
      reinterpret_cast<std::uintptr_t>(code) | static_cast<std::uint64_t>(place.space) << 60 |
      static_cast<std::uint64_t>(place.direction) << 61 | static_cast<std::uint64_t>(place.branch) << 63;
  const auto [found, added] = ids_.try_emplace(key, static_cast<Id>(places_.size()));
  if (added) {
    places_.push_back(place);
    places_.back().code = check::code_offset(code);
  }
  return found->second;
}

template <class Event>
Event& Profiler::event_of(std::vector<Visits<Event>>& visits, Warp& warp, Id place, unsigned lane,
                          bool& first) {
  if (place >= visits.size()) visits.resize(place + 1);
  Visits<Event>& here = visits[place];
  if (here.events.empty()) warp.visited.push_back(place);
  const std::uint32_t n = here.count[lane]++;
  first = n == here.events.size();
  if (first) here.events.emplace_back();
  return here.events[n];
}

void Profiler::access(const Request& request) {
  // An atomic function is a load and a compare-and-swap here, and one request on a GPU.
  if (request.atomic && !request.writes) return checker_->access(request);
  std::uint64_t address = 0;
  Place place;
  place.direction = request.atomic ? Direction::Atomic : request.writes ? Direction::Store : Direction::Load;
  const int memory = device_of(request.address);
  if (memory == device_ || memory == kSharedWithHost) {
    const std::size_t offset = device_memory(memory).offset(request.address);
    address = offset;
    SectorSet& touched = touched_[memory][request.writes ? 1 : 0];
    for (std::size_t s = offset / kSectorBytes; s <= (offset + request.bytes - 1) / kSectorBytes; ++s)
      touched.insert(s);
  } else {
    using Kind = check::SharedArrays::Kind;
    const check::SharedArrays::Place shared = arrays_.find(request.address);
    if (shared.kind != Kind::Static && shared.kind != Kind::Dynamic) return checker_->access(request);
    place.space = Space::Shared;
    // Banks are counted from the array's first byte; where the compiler puts that is not known.
    const check::Variable* const array =
        shared.kind == Kind::Static ? arrays_.array_at(shared.offset) : nullptr;
    address = shared.offset - (array == nullptr ? 0 : array->offset);
  }
  bool first = false;
  const Id id = place_of(request.return_address, place);
  WarpRequest& event = event_of(warp_->requests, *warp_, id, lane_, first);
  event.address[lane_] = address;
  event.lanes |= 1U << lane_;
  event.bytes = static_cast<std::uint32_t>(std::max<std::size_t>(event.bytes, request.bytes));
  checker_->access(request);
}

void Profiler::enter(const void* basic_block) {
  Place place;
  place.branch = true;
  const Id to = place_of(basic_block, place);
  const Id from = std::exchange(warp_->basic_block[lane_], to);
  if (from == 0) return;
  bool first = false;
  Fork& fork = event_of(warp_->forks, *warp_, from, lane_, first);
  if (first) fork.to = to;
  fork.parted = fork.parted || fork.to != to;
}

void Profiler::flush(Warp& warp) {
  for (const Id id : warp.visited) {
    if (places_[id].branch) {
      Visits<Fork>& visits = warp.forks[id];
      if (id >= kernel_->divergent.size()) kernel_->divergent.resize(id + 1);
      for (const Fork& fork : visits.events) kernel_->divergent[id] += fork.parted ? 1 : 0;
      visits.events.clear();
      visits.count = {};
      continue;
    }
    Visits<WarpRequest>& visits = warp.requests[id];
    if (id >= kernel_->traffic.size()) kernel_->traffic.resize(id + 1);
    Traffic& traffic = kernel_->traffic[id];
    const bool global = places_[id].space == Space::Global;
    for (const WarpRequest& request : visits.events) {
      ++traffic.requests;
      traffic.parts += static_cast<std::uint64_t>(global ? sectors(request) : wavefronts(request));
      traffic.bytes += std::uint64_t{request.bytes} * static_cast<unsigned>(std::popcount(request.lanes));
    }
    visits.events.clear();
    visits.count = {};
  }
  warp.visited.clear();
}

// ---- the result ----

std::vector<KernelProfile> Profiler::take() {
  std::vector<check::CodeOffset> codes;
  for (const Place& place : places_) codes.push_back(place.code);
  const std::vector<std::string> lines = check::source_places(codes);
  std::vector<KernelProfile> profiles;
  for (const auto& kernel : std::exchange(kernels_, {})) {
    KernelProfile& profile = kernel->profile;
    for (Id id = 0; id < kernel->traffic.size(); ++id) {
      if (kernel->traffic[id].requests == 0) continue;
      profile.lines[lines[id]].of(places_[id].space, places_[id].direction) += kernel->traffic[id];
    }
    for (Id id = 0; id < kernel->divergent.size(); ++id) {
      if (kernel->divergent[id] != 0) profile.lines[lines[id]].divergent += kernel->divergent[id];
    }
    for (const auto& [line, count] : kernel->barriers) profile.lines[line].barriers += count;
    for (const auto& [line, counts] : profile.lines) profile.total += counts;
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace warpline::emu::profile
