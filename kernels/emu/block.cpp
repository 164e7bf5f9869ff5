#include "kernels/emu/block.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "kernels/emu/index.h"
#include "kernels/poison.h"

namespace warpline::emu {

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;
__thread Watcher *running_watcher = nullptr, *running_follower = nullptr;
extern "C" {
alignas(128) __thread char warpline_dynamic_shared[kMostSharedBytes];
}

namespace {

constexpr std::uint32_t kWarp = 32;

thread_local Block* current_block = nullptr;

std::string_view to_string(WarpOp op) {
  switch (op) {
    case WarpOp::Sync:
      return "__syncwarp";
    case WarpOp::Shuffle:
      return "__shfl_sync";
    case WarpOp::ShuffleUp:
      return "__shfl_up_sync";
    case WarpOp::ShuffleDown:
      return "__shfl_down_sync";
    case WarpOp::ShuffleXor:
      return "__shfl_xor_sync";
    case WarpOp::Ballot:
      return "a vote";
  }
  return "";
}

// A sanitizer sees what lies behind the bytes that the launch asked for.
void guard_shared_memory(std::size_t bytes) {
  static thread_local std::size_t guarded = kMostSharedBytes;
  if (!poisons() || bytes == guarded) return;
  unpoison(warpline_dynamic_shared, kMostSharedBytes);
  poison(warpline_dynamic_shared + bytes, kMostSharedBytes - bytes);
  guarded = bytes;
}

// On the heap, and known to the program as a whole: a leak checker may not look into the thread-local storage
// of others.
class OwnBlock {
 public:
  OwnBlock() : block_(std::make_shared<Block>()) {
    const std::lock_guard lock(mutex());
    all().insert(block_);
  }
  ~OwnBlock() {
    if (poisons())
      unpoison(warpline_dynamic_shared, kMostSharedBytes);  // the next thread's stack may lie there
    const std::lock_guard lock(mutex());
    all().erase(block_);
  }
  OwnBlock(const OwnBlock&) = delete;
  OwnBlock& operator=(const OwnBlock&) = delete;
  Block& get() { return *block_; }

  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::set<std::shared_ptr<Block>>& all() {
    static auto* const instance =
        new std::set<std::shared_ptr<Block>>;  // threads may end after static objects
    return *instance;
  }

 private:
  std::shared_ptr<Block> block_;
};

}  // namespace

Block& Block::of_this_thread() {
  static thread_local OwnBlock own;
  return own.get();
}

Block::Block() = default;
Block::~Block() = default;

Block& Block::current() {
  if (current_block == nullptr) fail<KernelError>("emu", "this can be called by a kernel's threads only");
  return *current_block;
}

void Block::visit_running(FunctionRef<void(Block&)> visit) {
  const std::lock_guard lock(OwnBlock::mutex());
  for (const auto& block : OwnBlock::all()) {
    if (block->running_) visit(*block);
  }
}

void barrier(Site site) { Block::current().barrier(site); }

std::uint64_t meet(WarpCall call) { return Block::current().meet(call); }

std::string to_string(const Site& site) { return fmt::format("{}:{}", site.file, site.line); }

bool Block::runs() { return current_block != nullptr; }

void Block::run(const Launch& launch, uint3 index) {
  launch_ = &launch;
  index_ = index;
  prepare();
  Block* const before = std::exchange(current_block, this);
  running_watcher = launch.watcher;
  running_follower = launch.watcher != nullptr && launch.watcher->follows() ? launch.watcher : nullptr;
  running_ = true;
  go_on(outside_);
  running_ = false;
  running_watcher = running_follower = nullptr;
  current_block = before;
  if (!failed_) return;
  // Threads that stopped half-way are dropped with what is on their stacks.
  idle_.clear();
  for (const auto& fiber : fibers_) {
    fiber->rest = nullptr;
    idle_.push_back(fiber.get());
  }
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  const std::string text =
      fmt::format("[emu] kernel {}, block ({}, {}, {}), order seed {}: {}", launch.kernel, index.x, index.y,
                  index.z, launch.seed, std::exchange(error_, {}));
  if (timed_out_) throw KernelTimeout(text);
  throw KernelError(text);
}

void Block::prepare() {
  const dim3& size = launch_->block;
  const auto count = static_cast<std::uint32_t>(size.count());
  blockIdx = index_;
  blockDim = size;
  gridDim = launch_->grid;
  if (threads_.size() != count) {
    threads_.assign(count, {});
    calls_.assign(count, {});
    warps_.assign((count + kWarp - 1) / kWarp, {});
    order_.resize(count);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    Thread& thread = threads_[i];
    thread.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    thread.state = State::New;
  }
  for (std::uint32_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t lanes = std::min(kWarp, count - w * kWarp);
    warps_[w] = {0, lanes == kWarp ? ~0U : (1U << lanes) - 1, 0};
  }
  const dim3& grid = launch_->grid;
  const std::uint64_t block = (std::uint64_t{index_.z} * grid.y + index_.y) * grid.x + index_.x;
  round_ = block << 32;  // a salt that no other block's rounds have
  draw_order(order_, launch_->seed, round_);
  luck_ = (launch_->seed ^ round_) * 0x9E3779B97F4A7C15 | 1;
  guard_shared_memory(launch_->shared_bytes);
  ready_.clear();
  next_ready_ = 0;
  next_ = at_barrier_ = done_ = 0;
  failed_ = timed_out_ = false;
  ++blocks_;
  if (launch_->watcher != nullptr) launch_->watcher->begin_block(block);
}

void Block::work(Fiber& fiber) {
  while (true) {
    while (!failed_ && next_ < order_.size() && threads_[order_[next_]].state == State::New) {
      become(order_[next_++]);
      try {
        launch_->run_thread();
      } catch (...) {
        exception_ = std::current_exception();
        failed_ = true;
      }
      finish_thread();
    }
    idle_.push_back(&fiber);
    go_on(fiber.rest);
  }
}

void Block::become(std::uint32_t thread) {
  thread_ = thread;
  turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  threads_[thread].state = State::Running;
  threadIdx = threads_[thread].index;
  if (launch_->watcher != nullptr) launch_->watcher->become(thread);
}

bool Block::draw() {
  luck_ ^= luck_ << 13;  // Marsaglia, Xorshift RNGs, 2003
  luck_ ^= luck_ >> 7;
  luck_ ^= luck_ << 17;
  return (luck_ & 1U) != 0;
}

// Is the next turn that of a thread which its warp let go? In drawn orders it may have to wait for one that
// begins, or goes on after the barrier, or whose warp came later: so a warp runs ahead of the others by more
// at one time than at another.
bool Block::takes_ready() {
  if (next_ready_ == ready_.size()) return false;
  if (launch_->seed <= 2) return true;
  if (next_ < order_.size() && draw()) return false;
  if (draw()) std::swap(ready_[next_ready_], ready_.back());
  return true;
}

// To a thread that its warp let go, to one that begins or goes on after a barrier, or to the end.
void Block::go_on(FiberContext& left) {
  FiberContext to = outside_;
  if (failed_) {
    // back to run()
  } else if (takes_ready()) {
    become(ready_[next_ready_++]);
    to = threads_[thread_].rest;
  } else if (next_ < order_.size()) {
    if (const std::uint32_t thread = order_[next_]; threads_[thread].state != State::New) {
      ++next_;
      prefetch_stack();
      const bool is_running = thread == thread_;  // the last one at the barrier, drawn to go on first
      become(thread);
      if (is_running) return;
      to = threads_[thread].rest;
    } else {
      if (idle_.empty()) {
        fibers_.push_back(
            std::make_unique<Fiber>(kStackBytes, [](Fiber& fiber) { current_block->work(fiber); }));
        idle_.push_back(fibers_.back().get());
      }
      Fiber* const fiber = idle_.back();
      idle_.pop_back();
      to = fiber->rest != nullptr ? fiber->rest : fiber->start();
    }
  } else if (done_ < threads_.size()) {
    fail_block(stuck());
  }
  warpline_switch_fiber(&left, to);
}

// A block's stacks together exceed the first cache.
void Block::prefetch_stack() const {
  constexpr std::uint32_t kAhead = 2;  // threads
  constexpr int kLines = 8, kLineBytes = 64;
  if (next_ + kAhead >= order_.size()) return;
  const char* const stack = static_cast<const char*>(threads_[order_[next_ + kAhead]].rest);
  for (int line = 0; line < kLines; ++line) __builtin_prefetch(stack + line * kLineBytes, 1);
}

void Block::fail_block(std::string text) {
  if (failed_) return;
  failed_ = true;
  error_ = std::move(text);
}

void Block::finish_thread() {
  threads_[thread_].state = State::Done;
  ++done_;
  Warp& warp = warps_[thread_ / kWarp];
  warp.done |= 1U << thread_ % kWarp;
  if (warp.waiting == 0) return;
  // Those that wait for this lane wait for one less.
  const std::uint32_t first = thread_ / kWarp * kWarp;
  for (unsigned lanes = warp.waiting; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    if ((warp.waiting >> lane & 1U) != 0) try_resolve(thread_ / kWarp, calls_[first + lane].mask);
  }
}

void Block::end_at_barrier(std::uint64_t block, std::uint64_t seconds) {
  unwanted_after_seconds_ = seconds;
  unwanted_block_ = block;
}

void Block::end_if_unwanted() {
  if (unwanted_block_ != blocks_) return;
  give_up(
      fmt::format("meets another barrier or warp primitive when its block has run for {} s, ten times "
                  "WARPLINE_EMU_PATIENCE",
                  unwanted_after_seconds_.load()));
}

void Block::barrier(Site site) {
  end_if_unwanted();
  if (launch_->watcher != nullptr && !launch_->watcher->stops_at(site)) return;
  Thread& thread = threads_[thread_];
  thread.site = site;
  thread.state = State::AtBarrier;
  if (++at_barrier_ == threads_.size()) release_barrier();
  go_on(thread.rest);
}

void Block::release_barrier() {
  const Site& first = threads_[0].site;
  for (std::uint32_t i = 1; i < threads_.size(); ++i) {
    if (threads_[i].site == first) continue;
    fail_block(
        fmt::format("__syncthreads diverged: thread {} waits at {}, thread {} at {}; all threads of a block "
                    "must reach the same one",
                    name_of(0), to_string(first), name_of(i), to_string(threads_[i].site)));
    return;
  }
  at_barrier_ = 0;
  if (launch_->watcher != nullptr) launch_->watcher->barrier(first);
  if (launch_->seed > 2) draw_order(order_, launch_->seed, ++round_);
  next_ = 0;
}

std::uint64_t Block::meet(WarpCall call) {
  end_if_unwanted();
  if (call.op == WarpOp::Sync && launch_->watcher != nullptr && !launch_->watcher->stops_at(call.site))
    return 0;
  Thread& thread = threads_[thread_];
  const std::uint32_t warp = thread_ / kWarp;
  const unsigned lane = thread_ % kWarp;
  if ((call.mask >> lane & 1U) == 0) {
    abandon(fmt::format("thread {} calls {} at {} with mask {:#010x}, which leaves out its own lane {}",
                        name_of(thread_), to_string(call.op), to_string(call.site), call.mask, lane));
  }
  WarpCall& mine = calls_[thread_];
  mine = call;
  thread.site = call.site;
  thread.state = State::InWarp;
  warps_[warp].waiting |= 1U << lane;
  try_resolve(warp, call.mask);
  if (failed_ || thread.state != State::Running) go_on(thread.rest);
  return mine.value;
}

// Lets the lanes of `mask` go on if all of them that have not returned stand at the same call.
void Block::try_resolve(std::uint32_t warp, unsigned mask) {
  Warp& state = warps_[warp];
  const unsigned lanes = mask & state.exist & ~state.done;
  if ((lanes & ~state.waiting) != 0) return;
  Thread* const threads = &threads_[warp * kWarp];
  WarpCall* const calls = &calls_[warp * kWarp];
  const auto each = [&](const auto& body) {
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) body(std::countr_zero(rest));
  };
  const WarpOp op = calls[std::countr_zero(lanes)].op;
  bool together = lanes != 0;
  each([&](int lane) { together = together && calls[lane].mask == mask && calls[lane].op == op; });
  if (!together) return;
  std::uint64_t results[kWarp];
  each([&](int lane) { results[lane] = result_of(warp, lane, lanes); });
  if (next_ready_ == ready_.size()) {
    ready_.clear();
    next_ready_ = 0;
  }
  const std::size_t first_new = ready_.size();
  each([&](int lane) {
    Thread& thread = threads[lane];
    calls[lane].value = results[lane];
    const std::uint32_t index = warp * kWarp + static_cast<std::uint32_t>(lane);
    thread.state = index == thread_ ? State::Running : State::Ready;
    if (index != thread_) ready_.push_back(index);
  });
  state.waiting &= ~lanes;
  if (op == WarpOp::Sync && launch_->watcher != nullptr) launch_->watcher->sync_warp(warp, lanes);
  const bool backward = launch_->seed == 1 || (launch_->seed > 2 && (round_ + warp) % 2 == 1);
  if (backward) std::reverse(ready_.begin() + static_cast<std::ptrdiff_t>(first_new), ready_.end());
}

// What a lane takes from the others, by section B.15 ("Warp Shuffle Functions") of the CUDA C++ Programming
// Guide.
std::uint64_t Block::result_of(std::uint32_t warp, int lane, unsigned lanes) {
  const WarpCall* const calls = &calls_[warp * kWarp];
  const WarpCall& call = calls[lane];
  const int base = lane & ~(call.width - 1), end = base + call.width;
  int source = lane;
  switch (call.op) {
    case WarpOp::Sync:
      return 0;
    case WarpOp::Ballot: {
      std::uint64_t votes = 0;
      for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
        const int other = std::countr_zero(rest);
        votes |= std::uint64_t{calls[other].value != 0} << other;
      }
      return votes;
    }
    case WarpOp::Shuffle:
      source = base + (call.argument & (call.width - 1));
      break;
    case WarpOp::ShuffleUp:
      if (lane - call.argument >= base) source = lane - call.argument;
      break;
    case WarpOp::ShuffleDown:
      if (lane + call.argument < end) source = lane + call.argument;
      break;
    case WarpOp::ShuffleXor:
      if ((lane ^ call.argument) < end) source = lane ^ call.argument;
      break;
  }
  if ((lanes >> source & 1U) == 0) {
    fail_block(
        fmt::format("thread {} reads lane {} by {} at {}, which does not take part (mask {:#010x}, returned "
                    "lanes left out: {:#010x})",
                    name_of(warp * kWarp + static_cast<std::uint32_t>(lane)), source, to_string(call.op),
                    to_string(call.site), call.mask, lanes));
  }
  return calls[source].value;
}

void Block::abandon(std::string why) {
  fail_block(std::move(why));
  go_on(threads_[thread_].rest);
  std::abort();  // nobody goes on with a thread of a block that failed
}

void Block::give_up(const std::string& why) {
  timed_out_ = true;
  abandon(fmt::format("thread {} {}", name_of(thread_), why));
}

std::string Block::stuck() const {
  struct Group {
    std::size_t count = 0;
    std::uint32_t first = 0;
  };
  std::map<std::string, Group> groups;
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    const bool in_warp = thread.state == State::InWarp;
    const std::string_view call = in_warp ? to_string(calls_[i].op) : "__syncthreads";
    std::string place = thread.state == State::Done
                            ? "returned"
                            : fmt::format("wait in {} at {}", call, to_string(thread.site));
    if (in_warp) place += fmt::format(" with mask {:#010x}", calls_[i].mask);
    Group& group = groups[place];
    if (group.count++ == 0) group.first = i;
  }
  std::string text = "no thread can go on:";
  for (const auto& [place, group] : groups) {
    text += fmt::format(" {} of {} threads {} (first {});", group.count, threads_.size(), place,
                        name_of(group.first));
  }
  text.back() = '.';
  return text;
}

std::string Block::name_of(std::uint32_t thread) const {
  const uint3& index = threads_[thread].index;
  return fmt::format("({}, {}, {})", index.x, index.y, index.z);
}

}  // namespace warpline::emu
