// Counts what a checked kernel does, on the way to the checker. Lanes of a warp do not run together here: the
// n-th time that each of them comes to a place of the code, counted from the last barrier, makes one request.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/call_note.h"
#include "kernels/emu/block.h"
#include "kernels/emu/check/program.h"
#include "kernels/emu/check/shared_arrays.h"
#include "kernels/emu/profile/profile.h"
#include "kernels/emu/profile/sector_set.h"
#include "kernels/emu/profile/warp_request.h"
#include "kernels/emu/watcher.h"

namespace warpline::emu::profile {

class Profiler final : public Watcher {
 public:
  static Profiler& instance();

  std::atomic<bool> records = false;

  // The checker's mutex is held: one kernel runs at a time.
  void begin_kernel(const Launch& launch, int device, const kernels::CallNote& note, Watcher& checker);
  void end_kernel();
  std::vector<KernelProfile> take();

  void begin_block(std::uint64_t block) override;
  void become(std::uint32_t thread) override;
  void barrier(const Site& site) override;
  bool stops_at(const Site& site) override { return checker_->stops_at(site); }
  void sync_warp(std::uint32_t warp, unsigned lanes) override;
  void access(const Request& request) override;
  bool follows() const override { return true; }
  void enter(const void* basic_block) override;

 private:
  using Id = std::uint32_t;
  // A place of the code that asks for memory in one way; the place of a branch has no way.
  struct Place {
    check::CodeOffset code = 0;
    Space space = Space::Global;
    Direction direction = Direction::Load;
    bool branch = false;
  };
  // Of one warp at one place since the last barrier: how often each lane came there, and what it met.
  template <class Event>
  struct Visits {
    std::array<std::uint32_t, kWarp> count{};
    std::vector<Event> events;
  };
  struct Fork {
    Id to = 0;
    bool parted = false;
  };
  struct Warp {
    std::vector<Visits<WarpRequest>> requests;  // by place
    std::vector<Visits<Fork>> forks;
    std::vector<Id> visited;              // places of either
    std::array<Id, kWarp> basic_block{};  // where each lane is; 0: nowhere yet
  };
  struct Kernel {
    KernelProfile profile;
    std::vector<Traffic> traffic;          // by place
    std::vector<std::uint64_t> divergent;  // by place
    std::map<std::string, std::uint64_t> barriers;
  };

  Id place_of(const void* code, const Place& place);
  template <class Event>
  static Event& event_of(std::vector<Visits<Event>>& visits, Warp& warp, Id place, unsigned lane,
                         bool& first);
  void flush(Warp& warp);

  std::unordered_map<std::uint64_t, Id> ids_;
  std::vector<Place> places_{1};  // 0 is none
  std::vector<std::unique_ptr<Kernel>> kernels_;
  // The running kernel.
  Watcher* checker_ = nullptr;
  Kernel* kernel_ = nullptr;
  int device_ = 0;
  check::SharedArrays arrays_;
  std::vector<Warp> warps_;
  Warp* warp_ = nullptr;
  unsigned lane_ = 0;
  std::map<int, std::array<SectorSet, 2>> touched_;  // of each device: read, written
};

}  // namespace warpline::emu::profile
