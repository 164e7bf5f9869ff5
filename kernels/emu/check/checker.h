// Checks every memory access of kernels that were compiled for it: inside an owned block and aligned
// (memcheck), written before it is read (initcheck), and ordered after whatever touched the same bytes
// before, if one of the two writes (racecheck: shared and global memory, within a warp, a block, between
// blocks, between streams).
//
// Time is counted in stamps: a new one begins with each piece of work, block, barrier and warp sync. As one
// block runs at a time, the stamp of an access tells its piece of work and its block as well.
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
#include <deque>
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
  using Stamp = std::uint32_t;

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

  // To see what happens once stamps have run out and begin again, without so many of them.
  void begin_stamps_again_after(Stamp most) { most_stamps_ = most; }

  void access(const Request& request) override;
  // The same, cut in pieces for hot_path.h.
  struct Spot {
    Shadow* shadow = nullptr;
    std::size_t offset = 0;
    Stamp first = 0;         // of shared memory: what is older was written by blocks that had it before
    Stamp ordered = 0;       // what is older comes before the running thread
    bool of_arrays = false;  // among the static arrays
  };
  bool find(const void* address, Spot& spot) const;
  template <bool kWrites, std::size_t kBytes>
  bool access_words(const void* address, const Spot& spot, const void* return_address);
  bool is_own(const void* address, bool writes) const;
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
    Stamp first = 0;
  };
  struct Stamps {  // from one up to another, without it
    Stamp begin = 0, end = 0;
    bool hold(Stamp stamp) const { return stamp - begin < end - begin; }
  };

  // False: none of the checks' business.
  bool locate(const Request& request, Space& space);
  bool locate_elsewhere(const Request& request, Space& space);
  void renew_shared_words(const Request& request, const Space& space);
  bool is_plain(const Request& request, const Space& space) const;
  Shadow& shadow_of(int device);
  Shadow& variables_shadow();
  void check_bounds(const Request& request, const Space& space);
  void check_initialised(const Request& request, const Space& space);
  void check_races(const Request& request, const Space& space);
  void check_word(const Request& request, const Space& space, Word& word, unsigned bytes);
  void remember_write(Word& word, unsigned bytes, bool atomic, const void* return_address) const;
  void remember_read(Word& word, unsigned bytes, bool atomic, const void* return_address) const;
  void keep_read(Word& word, std::uint16_t how, const void* return_address) const;
  bool reads_stand_for_all(const Word& word) const;
  bool ordered(const Access& before) const;
  bool work_ordered(Stamp before) const;
  const Work& work() const { return works_.back(); }
  std::deque<Work>::const_iterator work_after(Stamp stamp) const;
  std::uint64_t block_of(Stamp stamp) const;
  void begin_stamps_again();

  void report(const char* check, const Request& request, const std::string& what,
              const Access* before = nullptr);
  void report_host(const std::string& does, const void* return_address);  // the mutex is held
  [[noreturn]] void stop(const char* check, const Request& request, const std::string& what);
  std::string name_of(std::uint64_t block, std::uint32_t thread) const;
  std::string describe(const Access& access, bool wrote) const;
  std::string place(const void* address, const Space& space) const;
  std::string bounds_of(const char* address) const;

  std::mutex mutex_;
  // The running piece of work.
  static constexpr std::size_t kWorksKept = 1U << 16;  // what was longer ago is taken for waited for
  std::deque<Work> works_;                             // the last one runs
  std::vector<std::deque<Work>> works_of_;             // the same by queue
  Stamp work_stamp_ = 0;                               // its first
  Stamp ordered_stamp_ = 0;                            // all that is older comes before it
  mutable std::array<Stamps, 4> ordered_works_{};      // some younger ones that do so as well
  mutable std::size_t next_ordered_ = 0;
  Clock clock_;
  int device_ = 0;
  const Launch* launch_ = nullptr;
  const char *parameters_begin_ = nullptr, *parameters_end_ = nullptr;
  const char* memory_begin_ = nullptr;  // of its device, and what is in it
  std::size_t memory_bytes_ = 0;
  Shadow* memory_shadow_ = nullptr;
  const std::uintptr_t loaded_at_ = load_address();
  // The running block.
  std::uint32_t thread_ = 0;
  Stamp stamp_ = 0;
  Stamp most_stamps_ = 1U << 30;  // for a piece of work to begin with: the rest will last for a launch
  Stamp block_stamp_ = 0;         // its first
  Stamp barrier_stamp_ = 0;       // of its last barrier
  struct WarpSync {
    Stamp all = 0;             // stamp of the last sync of all lanes
    std::vector<Stamp> pairs;  // 32 x 32; empty: no sync of some lanes only
  };
  std::vector<WarpSync> warps_;
  struct BegunBlock {
    Stamp first = 0;
    std::uint64_t block = 0;
  };
  std::vector<BegunBlock> begun_blocks_;  // of the launch
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
extern __thread Checker* running_checker [[gnu::tls_model("initial-exec")]];

}  // namespace warpline::emu::check
