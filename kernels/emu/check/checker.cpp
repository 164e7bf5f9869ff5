#include "kernels/emu/check/checker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "kernels/emu/check/hot_path.h"
#include "kernels/emu/check/report.h"
#include "kernels/emu/device_variables.h"
#include "kernels/emu/fiber.h"
#include "kernels/emu/memory.h"

namespace warpline::emu::check {

namespace {

constexpr std::string_view kLine = "=========";

bool are_written(const ByteState* states, std::size_t bytes) {
  switch (bytes) {
    case 4:
      return are_written<4>(states);
    case 8:
      return are_written<8>(states);
    case 16:
      return are_written<16>(states);
    default:
      return std::all_of(states, states + bytes, [](ByteState state) { return state == ByteState::Written; });
  }
}

}  // namespace

__thread Checker* running_checker = nullptr;

Checker& Checker::instance() {
  static Checker checker;
  return checker;
}

// ---- memory ----

Shadow& Checker::shadow_of(int device) {
  std::unique_ptr<Shadow>& shadow = global_[device];
  if (!shadow) shadow = std::make_unique<Shadow>(device_memory(device).capacity());
  return *shadow;
}

Shadow& Checker::variables_shadow() {
  if (!variables_) {
    variables_ = std::make_unique<Shadow>(device_section().bytes);
    // The program's start has written them, zeros where it says nothing. What is between them is nobody's.
    for (const Variable& variable : device_variables())
      std::fill_n(variables_->states(variable.offset), variable.bytes, ByteState::Written);
  }
  return *variables_;
}

void Checker::claim(int device, void* data, std::size_t bytes) {
  const auto* const first = static_cast<const char*>(data);
  blocks_[first] = {bytes, true};
  std::fill_n(shadow_of(device).states(device_memory(device).offset(data)), bytes, ByteState::Unwritten);
}

void Checker::own_written(int device, void* data, std::size_t bytes) {
  std::fill_n(shadow_of(device).states(device_memory(device).offset(data)), bytes, ByteState::Written);
}

void Checker::disclaim(int device, void* data, std::size_t bytes) {
  blocks_[static_cast<const char*>(data)].live = false;
  std::fill_n(shadow_of(device).states(device_memory(device).offset(data)), bytes, ByteState::Unowned);
}

void Checker::begin_work(std::string_view name, int device, const Moment& moment) {
  if (stamp_ > most_stamps_) begin_stamps_again();
  work_stamp_ = block_stamp_ = barrier_stamp_ = ++stamp_;
  if (works_.size() == kWorksKept) {
    works_of_[works_.front().queue].pop_front();
    works_.pop_front();
  }
  works_.push_back({name, moment.queue, moment.position, work_stamp_});
  if (moment.queue >= works_of_.size()) works_of_.resize(moment.queue + 1);
  clock_ = moment.clock;
  ordered_works_ = {};
  ordered_stamp_ = work_stamp_;
  for (std::size_t queue = 0; queue < works_of_.size(); ++queue) {
    const std::deque<Work>& works = works_of_[queue];
    const auto first = std::partition_point(
        works.begin(), works.end(), [&](const Work& before) { return before.position <= clock_.at(queue); });
    if (first != works.end()) ordered_stamp_ = std::min(ordered_stamp_, first->first);
  }
  works_of_[moment.queue].push_back(work());
  begun_blocks_.clear();
  reported_ = 0;
  stopped_ = false;
  device_ = device;
  launch_ = nullptr;
  thread_ = kHost;
}

// What was before is forgotten, as if it had been waited for.
void Checker::begin_stamps_again() {
  for (const auto& [device, shadow] : global_) shadow->clear_words();
  for (Shadow* const shadow : {variables_.get(), static_shared_.get(), dynamic_shared_.get()}) {
    if (shadow != nullptr) shadow->clear_words();
  }
  works_.clear();
  works_of_.clear();
  stamp_ = 0;
}

void Checker::end_work(const Moment& moment) {
  if (reported_ == 0) return;
  const KernelError error(
      fmt::format("[emu] {}: the checks made {} reports, see stderr", work().name, reported_));
  if (moment.owner == nullptr) throw error;
  moment.owner->note(std::make_exception_ptr(error));
}

void Checker::host_access(const Request& request) {
  const std::lock_guard lock(mutex_);
  report_host(fmt::format("{} {} bytes of device memory, {}; only a copy reaches it",
                          request.writes ? "writes" : "reads", request.bytes,
                          bounds_of(static_cast<const char*>(request.address))),
              request.return_address);
}

void Checker::bad_index(const char* array, std::int64_t index, const void* return_address) {
  const std::string what = fmt::format("index {} of {}", index, array);
  if (running_watcher != nullptr) stop("memcheck", {.return_address = return_address}, what);
  const std::lock_guard lock(mutex_);
  report_host("uses " + what, return_address);
}

void Checker::report_host(const std::string& does, const void* return_address) {
  const CodeOffset site = code_offset(return_address, loaded_at_);
  if (!seen_.insert({site, 0, "memcheck"}).second) return;
  add({"memcheck",
       fmt::format("{} memcheck: the host {}\n{}   at {}\n", kLine, does, kLine, source_line(site))});
}

void Checker::copy_in(const void* to, std::size_t bytes) {
  access({.address = to, .bytes = bytes, .writes = true, .aligned = false});
}

void Checker::copy_within(const void* to, const void* from, std::size_t bytes) {
  access({.address = from, .bytes = bytes, .aligned = false});
  access({.address = to, .bytes = bytes, .writes = true, .aligned = false});
}

// ---- the running kernel ----

void Checker::begin_kernel(const Launch& launch, const void* parameters, std::size_t parameter_bytes) {
  launch_ = &launch;
  parameters_begin_ = static_cast<const char*>(parameters);
  parameters_end_ = parameters_begin_ + parameter_bytes;
  warps_.assign((launch.block.count() + kWarp - 1) / kWarp, {});
  arrays_.begin_kernel();
  const DeviceMemory& memory = device_memory(device_);
  memory_begin_ = static_cast<const char*>(memory.begin());
  memory_bytes_ = memory.capacity();
  memory_shadow_ = &shadow_of(device_);
  if (static_shared_) return;
  static_shared_ = std::make_unique<Shadow>(arrays_.static_bytes());
  dynamic_shared_ = std::make_unique<Shadow>(kMostSharedBytes);
}

void Checker::end_kernel() { launch_ = nullptr; }

void Checker::begin_block(std::uint64_t block) {
  block_stamp_ = barrier_stamp_ = ++stamp_;
  begun_blocks_.push_back({stamp_, block});
  for (WarpSync& warp : warps_) warp = {};
}

void Checker::sync_warp(std::uint32_t warp, unsigned lanes) {
  ++stamp_;
  WarpSync& sync = warps_[warp];
  if (lanes == ~0U) {
    sync.all = stamp_;
    return;
  }
  sync.pairs.resize(std::size_t{kWarp} * kWarp);
  for (unsigned a = 0; a < kWarp; ++a) {
    for (unsigned b = 0; b < kWarp; ++b) {
      if ((lanes >> a & lanes >> b & 1U) != 0) sync.pairs[a * kWarp + b] = stamp_;
    }
  }
}

bool Checker::stops_at(const Site& site) {
  if (visited_.empty() || !(visited_.back() == site)) {
    if (std::find(visited_.begin(), visited_.end(), site) == visited_.end()) visited_.push_back(site);
  }
  return !removed_ || !(*removed_ == site);
}

// ---- the order of pieces of work ----

std::deque<Checker::Work>::const_iterator Checker::work_after(Stamp stamp) const {
  return std::partition_point(works_.begin(), works_.end(),
                              [&](const Work& work) { return work.first <= stamp; });
}

bool Checker::ordered(const Access& before) const {
  if (before.stamp < ordered_stamp_) return true;
  if (before.stamp < work_stamp_) return work_ordered(before.stamp);
  if (before.stamp < block_stamp_) return false;
  if (before.stamp < barrier_stamp_ || before.thread() == thread_) return true;
  if (before.warp() != thread_ / kWarp) return false;
  const WarpSync& sync = warps_[thread_ / kWarp];
  if (before.stamp < sync.all) return true;
  return !sync.pairs.empty() && before.stamp < sync.pairs[before.thread() % kWarp * kWarp + thread_ % kWarp];
}

bool Checker::work_ordered(Stamp before) const {
  for (const Stamps& known : ordered_works_) {
    if (known.hold(before)) return true;
  }
  const auto after = work_after(before);
  if (after == works_.begin()) return true;
  const Work& work = *std::prev(after);
  if (clock_.at(work.queue) < work.position) return false;
  ordered_works_[next_ordered_++ % ordered_works_.size()] = {work.first, after->first};
  return true;
}

std::uint64_t Checker::block_of(Stamp stamp) const {
  const auto after = std::partition_point(begun_blocks_.begin(), begun_blocks_.end(),
                                          [&](const BegunBlock& begun) { return begun.first <= stamp; });
  return std::prev(after)->block;
}

// ---- one access ----

bool Checker::locate(const Request& request, Space& space) {
  const auto* const address = static_cast<const char*>(request.address);
  if (launch_ != nullptr) {
    if (const auto offset = static_cast<std::size_t>(address - memory_begin_); offset < memory_bytes_) {
      space = {memory_shadow_, offset, false};
      return true;
    }
    if (const SharedArrays::Place place = arrays_.find(address); place.kind != SharedArrays::Kind::None) {
      const bool dynamic = place.kind == SharedArrays::Kind::Dynamic;
      space = {(dynamic ? dynamic_shared_ : static_shared_).get(), place.offset, true};
      if (place.kind != SharedArrays::Kind::BuiltIn) return true;
      if (request.writes)
        stop("memcheck", request, "an address outside every array, where threadIdx and its like are");
      return false;
    }
    if (is_own(address, request.writes)) return false;
  }
  return locate_elsewhere(request, space);
}

// What is neither device nor shared memory, which may lie close behind a stack: does the thread keep it
// there, or is it a parameter?
bool Checker::is_own(const void* address, bool writes) const {
  const auto* const byte = static_cast<const char*>(address);
  const auto* const frame = static_cast<const char*>(__builtin_frame_address(0));
  if (static_cast<std::size_t>(byte - frame) < Block::kStackBytes) return true;
  return !writes && byte >= parameters_begin_ && byte < parameters_end_;
}

void Checker::access(const Request& request) {
  Space space;
  if (!locate(request, space)) return;
  if (space.shared) renew_shared_words(request, space);
  if (is_plain(request, space)) {
    check_races(request, space);
    return;
  }
  check_bounds(request, space);
  if (!request.writes || request.atomic) check_initialised(request, space);
  check_races(request, space);
  if (request.writes) std::fill_n(space.shadow->states(space.offset), request.bytes, ByteState::Written);
}

// Aligned, and to bytes of one array that have been written.
bool Checker::is_plain(const Request& request, const Space& space) const {
  const std::size_t offset = space.offset, bytes = request.bytes;
  if (request.aligned && (reinterpret_cast<std::uintptr_t>(request.address) & (bytes - 1)) != 0) return false;
  return are_written(space.shadow->states(offset), bytes) &&
         (space.shadow != static_shared_.get() || arrays_.are_in_one(offset, offset + bytes - 1));
}

bool Checker::locate_elsewhere(const Request& request, Space& space) {
  const auto* const address = static_cast<const char*>(request.address);
  if (const int device = device_of(address); device >= 0) {
    if (launch_ != nullptr && device != device_ && device != kSharedWithHost) {
      stop("memcheck", request, fmt::format("memory of emu:{}, in a kernel on emu:{}", device, device_));
    }
    space = {&shadow_of(device), device_memory(device).offset(address), false};
    return true;
  }
  if (is_device_variable(address)) {
    space = {&variables_shadow(), static_cast<std::size_t>(address - device_section().begin), false};
    return true;
  }
  if (launch_ == nullptr) return false;  // the host's end of a copy
  if (!request.writes && is_constant_data(address)) return false;
  stop("memcheck", request,
       fmt::format("address {}, which is neither device nor shared memory",
                   static_cast<const void*>(address)));
}

// What the block before left there is forgotten.
void Checker::renew_shared_words(const Request& request, const Space& space) {
  for (std::size_t at = space.offset; at < space.offset + request.bytes; at = (at | 3) + 1) {
    Word& word = space.shadow->word(at);
    if (std::max({word.write.stamp, word.read.stamp, word.other_read.stamp}) >= block_stamp_) continue;
    word = {};
    std::fill_n(space.shadow->states(at & ~std::size_t{3}), 4, ByteState::Unwritten);
  }
}

void Checker::check_bounds(const Request& request, const Space& space) {
  const auto* const address = static_cast<const char*>(request.address);
  if (request.aligned && reinterpret_cast<std::uintptr_t>(address) % request.bytes != 0) {
    stop("memcheck", request,
         fmt::format("misaligned address {}: {} bytes must begin at a multiple of {}", place(address, space),
                     request.bytes, request.bytes));
  }
  if (!space.shared) {
    const ByteState* const states = space.shadow->states(space.offset);
    for (std::size_t i = 0; i < request.bytes; ++i) {
      if (states[i] == ByteState::Unowned)
        stop("memcheck", request, fmt::format("global memory {}", bounds_of(address + i)));
    }
    return;
  }
  const std::size_t end = space.offset + request.bytes;
  if (space.shadow == dynamic_shared_.get()) {
    if (end > launch_->shared_bytes) {
      stop("memcheck", request,
           fmt::format("dynamic shared memory, bytes {} to {} of {}", space.offset, end,
                       launch_->shared_bytes));
    }
    return;
  }
  const Variable* const array = arrays_.array_at(space.offset);
  if (array == nullptr || arrays_.array_at(end - 1) != array) {
    stop("memcheck", request, fmt::format("{}, past the end of its array", place(address, space)));
  }
}

void Checker::check_initialised(const Request& request, const Space& space) {
  const ByteState* const states = space.shadow->states(space.offset);
  // Members of a struct may have gaps between them, but none that fills a granule of eight bytes: there, one
  // written byte is enough.
  const std::size_t granule = request.bytes > sizeof(std::uint32_t) ? sizeof(double) : 1;
  for (std::size_t i = 0; i < request.bytes;) {
    const std::size_t end = std::min(request.bytes, i + granule - (space.offset + i) % granule);
    if (std::find(states + i, states + end, ByteState::Written) == states + end) {
      const auto* const address = static_cast<const char*>(request.address) + i;
      report("initcheck", request,
             fmt::format("{} memory {}, which nobody has written{}", space.shared ? "shared" : "global",
                         place(address, space), space.shared ? " since the block began" : ""));
      return;
    }
    i = end;
  }
}

void Checker::check_races(const Request& request, const Space& space) {
  const std::size_t end = space.offset + request.bytes;
  for (std::size_t at = space.offset; at < end;) {
    const std::size_t next = std::min(end, (at | 3) + 1);
    const unsigned bytes = ((1U << (next - at)) - 1) << at % 4;
    check_word(request, space, space.shadow->word(at), bytes);
    at = next;
  }
}

void Checker::keep_read(Word& word, std::uint16_t how, const void* return_address) const {
  Access &read = word.read, &other = word.other_read;
  if (read.thread() != thread_ || read.stamp < block_stamp_) other = read;
  read = {stamp_, code_offset(return_address, loaded_at_), how};
  if (!read.is_plain() || !other.is_plain()) {
    word.readers = Readers::Unknown;
  } else if (other.stamp < block_stamp_) {
    word.readers = Readers::Blocks;
  } else {
    word.readers = read.warp() == other.warp() ? Readers::Warp : Readers::Warps;
  }
}

void Checker::check_word(const Request& request, const Space& space, Word& word, unsigned bytes) {
  const auto conflicts = [&](const Access& before) {
    return (before.bytes() & bytes) != 0 && !(before.atomic() && request.atomic) && !ordered(before);
  };
  const auto report_race = [&](const char* what, const Access& before) {
    report("racecheck", request,
           fmt::format("{} on {} memory {}", what, space.shared ? "shared" : "global",
                       place(request.address, space)),
           &before);
  };
  if (conflicts(word.write)) {
    report_race(request.writes ? "write after write" : "read after write", word.write);
  } else if (request.writes && conflicts(word.read)) {
    report_race("write after read", word.read);
  } else if (request.writes && conflicts(word.other_read)) {
    report_race("write after read", word.other_read);
  }
  if (request.writes) {
    remember_write(word, bytes, request.atomic, request.return_address);
  } else {
    remember_read(word, bytes, request.atomic, request.return_address);
  }
}

// ---- words ----

std::string Checker::name_of(std::uint64_t block, std::uint32_t thread) const {
  const dim3 grid = launch_->grid, size = launch_->block;
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", thread % size.x, thread / size.x % size.y,
                     thread / size.x / size.y, block % grid.x, block / grid.x % grid.y,
                     block / grid.x / grid.y);
}

std::string Checker::describe(const Access& access, bool wrote) const {
  const char* const verb = wrote ? "wrote" : "read";
  const std::string_view name = std::prev(work_after(access.stamp))->name;
  if (access.thread() == kHost) return fmt::format("{} {} it", name, verb);
  if (access.stamp >= work_stamp_)
    return fmt::format("{} {} it at {}", name_of(block_of(access.stamp), access.thread()), verb,
                       source_line(access.site));
  return fmt::format("kernel {} {} it at {}, which this piece of work has not waited for", name, verb,
                     source_line(access.site));
}

std::string Checker::bounds_of(const char* address) const {
  if (is_device_variable(address)) {
    const auto at = static_cast<std::size_t>(address - device_section().begin);
    const std::vector<Variable>& all = device_variables();
    const auto after = std::upper_bound(
        all.begin(), all.end(), at, [](std::size_t value, const Variable& v) { return value < v.offset; });
    if (after == all.begin()) return "outside every variable";
    const Variable& variable = *std::prev(after);
    return fmt::format("{}, byte {} of {}", variable.name, at - variable.offset, variable.bytes);
  }
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return fmt::format("at {}, in no block", static_cast<const void*>(address));
  const auto& [begin, block] = *std::prev(after);
  const auto offset = static_cast<std::size_t>(address - begin);
  if (!block.live)
    return fmt::format("at byte {} of a block of {} bytes that was freed", offset, block.bytes);
  return fmt::format("at byte {} of a block of {} bytes", offset, block.bytes);
}

std::string Checker::place(const void* address, const Space& space) const {
  if (!space.shared) return bounds_of(static_cast<const char*>(address));
  if (space.shadow == dynamic_shared_.get())
    return fmt::format("at byte {} of the dynamic array", arrays_.find(address).offset);
  const Variable* const array = arrays_.array_at(space.offset);
  if (array == nullptr) return "outside every array";
  const std::size_t scope = array->name.rfind("::");
  return fmt::format("{}, byte {} of {}",
                     scope == std::string::npos ? array->name : array->name.substr(scope + 2),
                     arrays_.find(address).offset - array->offset, array->bytes);
}

void Checker::report(const char* check, const Request& request, const std::string& what,
                     const Access* before) {
  const CodeOffset site = request.return_address != nullptr ? code_offset(request.return_address) : 0;
  ++reported_;
  if (!seen_.insert({site, before != nullptr ? before->site : 0, check}).second) return;
  std::string text = fmt::format("{} {}: {}\n", kLine, check, what);
  const char* const verb = request.writes ? "writes" : "reads";
  if (launch_ != nullptr) {
    const std::string access = request.bytes == 0 ? "is" : fmt::format("{} {} bytes", verb, request.bytes);
    text += fmt::format("{}   {} {} at {}\n", kLine, name_of(block_of(stamp_), thread_), access,
                        source_line(site));
  } else {
    text += fmt::format("{}   {} {} {} bytes\n", kLine, work().name, verb, request.bytes);
  }
  if (before != nullptr) {
    const bool wrote = what.find("after write") != std::string::npos;
    text += fmt::format("{}   {}\n", kLine, describe(*before, wrote));
  }
  if (launch_ != nullptr)
    text += fmt::format("{}   in kernel {}, order seed {}\n", kLine, launch_->kernel, launch_->seed);
  add({check, text});
}

void Checker::stop(const char* check, const Request& request, const std::string& what) {
  // It is told each time: what was stopped has no result.
  seen_.erase({request.return_address != nullptr ? code_offset(request.return_address) : 0, 0, check});
  report(check, request, what);
  stopped_ = true;
  if (launch_ != nullptr) Block::current().abandon(fmt::format("{}: {}", check, what));
  throw KernelError(fmt::format("[{}] {}: {}", check, work().name, what));
}

}  // namespace warpline::emu::check
