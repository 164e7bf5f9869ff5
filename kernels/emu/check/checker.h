// Checks every memory access of kernels that were compiled for it: inside an owned block and aligned
// (memcheck), written before it is read (initcheck), and ordered after whatever touched the same bytes
// before, if one of the two writes (racecheck: shared and global memory, within a warp, a block, between
// blocks, between streams).
//
// A shadow word for each four bytes keeps the last write and the last reads of two different threads: who,
// when, at which line. Threads of a block are ordered by barriers, lanes of a warp also by __syncwarp;
// launches by their streams, events and the host's waits; blocks by nothing. (The happens-before relation of
// Lamport, 1978; two reads are kept as in FastTrack, Flanagan and Freund, 2009, so that one is by another
// thread than the next write.)
//
// One checked piece of work runs at a time in the program: the whole shadow belongs to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/emu/check/program.h"
#include "kernels/emu/check/shadow.h"
#include "kernels/emu/check/shared_arrays.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/queue.h"
#include "kernels/emu/watcher.h"

namespace warpline::emu::check {

class Checker final : public Watcher {
 public:
  static Checker& instance();

  // Held by whoever runs a piece of checked work.
  std::mutex& mutex() { return mutex_; }

  // Memory, in the order of streams; the mutex is held.
  void claim(int device, void* data, std::size_t bytes);
  void own_written(int device, void* data, std::size_t bytes);  // somebody unseen may have written it
  void disclaim(int device, void* data, std::size_t bytes);
  void begin_work(std::string_view name, int device, const Moment& moment);  // a launch, or a copy
  bool stopped() const { return stopped_; }                                  // did a report end it?
  void note_stop() { stopped_ = true; }                                      // somebody else told why
  // Makes what was reported since begin_work the error of the queue.
  void end_work(const Moment& moment);
  // What was reported once may be reported again.
  void forget_reports() { seen_.clear(); }
  // By the host's own code, which has to copy instead.
  void host_access(const Request& request);
  // The compiler knows the array's size. `array`: its type.
  void bad_index(const char* array, std::int64_t index, const void* return_address);
  void copy_in(const void* to, std::size_t bytes);  // from the host, or zeros
  void copy_within(const void* to, const void* from, std::size_t bytes);

  // Kernels.
  void begin_kernel(const Launch& launch, const void* parameters, std::size_t parameter_bytes);
  void end_kernel();
  void begin_block(std::uint64_t block) override;
  void become(std::uint32_t thread) override { thread_ = thread; }
  void barrier(const Site&) override { barrier_stamp_ = ++stamp_; }
  void sync_warp(std::uint32_t warp, unsigned lanes) override;
  bool stops_at(const Site& site) override;

  // To show that a check fails without it: takes one __syncthreads or __syncwarp out of all kernels; and
  // tells the places that kernels have stopped at since the last call of visited_sites().
  void remove(std::optional<Site> site) { removed_ = site; }
  std::vector<Site> visited_sites() { return std::exchange(visited_, {}); }

  void access(const Request& request) override;
  template <bool kWrites>
  bool access_word(const void* address, const void* return_address);
  bool follows() const override { return false; }
  void enter(const void*) override {}

 private:
  struct Space {  // a memory with its shadow
    Shadow* shadow = nullptr;
    std::size_t offset = 0;
    bool shared = false;
  };
  struct Work {
    std::string_view name;  // lives as long as the program
    std::size_t queue = 0;
    std::uint64_t position = 0;
  };

  // False: none of the checks' business.
  bool locate(const Request& request, Space& space);
  bool find(const void* address, Space& space) const;
  bool locate_elsewhere(const Request& request, Space& space);
  void renew_shared_words(const Request& request, const Space& space);
  bool is_plain(const Request& request, const Space& space) const;
  Shadow& shadow_of(int device);
  Shadow& variables_shadow();
  void check_bounds(const Request& request, const Space& space);
  void check_initialised(const Request& request, const Space& space);
  void check_races(const Request& request, const Space& space);
  void check_word(const Request& request, const Space& space, Word& word, std::uint8_t bytes);
  void remember(Word& word, bool writes, std::uint8_t bytes, bool atomic, const void* return_address) const;
  bool ordered(const Access& before) const;
  bool work_ordered(std::uint32_t before) const;
  const Work& work_of(std::uint32_t number) const { return works_[number % kWorksKept]; }
  std::uint32_t pair_stamp(std::uint32_t a, std::uint32_t b) const;

  void report(const char* check, const Request& request, const std::string& what,
              const Access* before = nullptr);
  [[noreturn]] void stop(const char* check, const Request& request, const std::string& what);
  std::string name_of(std::uint64_t block, std::uint32_t thread) const;
  std::string describe(const Access& access, bool wrote) const;
  std::string place(const void* address, const Space& space) const;
  std::string bounds_of(const char* address) const;

  std::mutex mutex_;
  // The running piece of work.
  static constexpr std::uint32_t kWorksKept = 1U << 16;      // what was longer ago is taken for waited for
  std::vector<Work> works_ = std::vector<Work>(kWorksKept);  // by number; 0 is none
  std::uint32_t work_ = 0;
  mutable std::array<std::uint32_t, 8> ordered_works_{};  // some that are known to come before it, by number
  Clock clock_;
  int device_ = 0;
  const Launch* launch_ = nullptr;
  const char *parameters_begin_ = nullptr, *parameters_end_ = nullptr;
  const char* memory_begin_ = nullptr;  // of its device, and what is in it
  std::size_t memory_bytes_ = 0;
  Shadow* memory_shadow_ = nullptr;
  const std::uintptr_t loaded_at_ = load_address();
  // The running block.
  std::uint32_t block_ = 0, thread_ = 0, tag_ = 0;
  std::uint32_t stamp_ = 1;          // counts barriers and warp syncs, never back
  std::uint32_t barrier_stamp_ = 0;  // of the last barrier of this block
  struct WarpSync {
    std::uint32_t all = 0;             // stamp of the last sync of all lanes
    std::vector<std::uint32_t> pairs;  // 32 x 32; empty: no sync of some lanes only
  };
  std::vector<WarpSync> warps_;
  struct DeviceBlock {
    std::size_t bytes = 0;
    bool live = false;
  };
  std::map<int, std::unique_ptr<Shadow>> global_;
  std::unique_ptr<Shadow> variables_;          // of those under __device__
  std::map<const char*, DeviceBlock> blocks_;  // of device memory, by first byte, the last one there
  SharedArrays arrays_;
  std::unique_ptr<Shadow> static_shared_, dynamic_shared_;
  struct Seen {
    CodeOffset site, before;
    const char* check;
    bool operator<(const Seen& other) const {
      return std::tie(site, before, check) < std::tie(other.site, other.before, other.check);
    }
  };
  std::set<Seen> seen_;  // reported already
  std::optional<Site> removed_;
  std::vector<Site> visited_;
  std::size_t reported_ = 0;  // in this piece of work
  bool stopped_ = false;
};

// The checker, where a kernel runs on this OS thread whose accesses nobody else is told of.
extern __thread Checker* running_checker;

}  // namespace warpline::emu::check
