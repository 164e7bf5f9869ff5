#include "engine/allocator.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/device_stream.h"
#include "engine/storage.h"
#include "kernels/emu/check/report.h"
#include "kernels/error.h"
#include "kernels/runtime.h"
#include "tests/support/skip.h"

using namespace warpline;

namespace {

constexpr Device kHost{DeviceKind::Cpu, 0};

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WARPLINE_TEST_SANITIZED
#endif
#endif
#if defined(WARPLINE_TEST_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsHold = false;  // sanitizers map the whole address space beforehand
#else
constexpr bool kLimitsHold = true;
#endif

// Address space that this process has, in bytes.
std::size_t mapped() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("blocks are aligned, unique and writable to the last byte", "[allocator]") {
  const auto allocator = make_allocator(kHost);
  std::set<void*> seen;
  std::vector<std::size_t> sizes = {0,   0,   1,   63,  64,  65,  255,     256,
                                    257, 320, 321, 511, 512, 513, 100'000, 1 << 20};
  std::vector<void*> blocks;
  for (const std::size_t bytes : sizes) {
    void* data = allocator->allocate(bytes, {});
    CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
    CHECK(seen.insert(data).second);
    std::memset(data, 1, bytes);
    blocks.push_back(data);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) allocator->deallocate(blocks[i], sizes[i], {});
}

TEST_CASE("a block is never smaller than asked for and wastes at most a quarter", "[allocator]") {
  // Through reserved_bytes, for every size around each class boundary.
  int checked = 0;
  for (std::size_t power = 8; power < 22; ++power) {
    for (const std::size_t quarter : {4, 5, 6, 7}) {
      const std::size_t edge = (std::size_t{1} << power) / 4 * quarter;
      for (const std::size_t bytes : {edge - 1, edge, edge + 1}) {
        const auto allocator = make_allocator(kHost);
        allocator->deallocate(allocator->allocate(bytes, {}), bytes, {});
        const auto reserved = static_cast<std::size_t>(allocator->stats().reserved_bytes);
        REQUIRE(reserved >= bytes);
        REQUIRE(reserved <= bytes + bytes / 4 + 64);
        ++checked;
      }
    }
  }
  CHECK(checked == 14 * 4 * 3);
}

TEST_CASE("statistics count what is live as requested and what is held from the system", "[allocator]") {
  const auto allocator = make_allocator(kHost);
  void* a = allocator->allocate(100, {});
  void* b = allocator->allocate(1000, {});
  CHECK(allocator->stats().live_bytes == 1100);
  CHECK(allocator->stats().live_blocks == 2);
  CHECK(allocator->stats().system_allocations == 2);
  allocator->deallocate(b, 1000, {});
  CHECK(allocator->stats().live_bytes == 100);
  CHECK(allocator->stats().peak_live_bytes == 1100);
  CHECK(allocator->stats().reserved_bytes == 128 + 1024);
  allocator->reset_peak();
  CHECK(allocator->stats().peak_live_bytes == 100);
  allocator->deallocate(a, 100, {});
  CHECK(allocator->stats().live_blocks == 0);
}

TEST_CASE("in steady state the system is asked for nothing", "[allocator]") {
  const auto allocator = make_allocator(kHost);
  const auto step = [&](std::size_t more) {
    std::vector<std::pair<void*, std::size_t>> blocks;
    for (std::size_t i = 0; i < 50; ++i) {
      const std::size_t bytes = 900 + 37 * i + more;
      blocks.emplace_back(allocator->allocate(bytes, {}), bytes);
    }
    for (const auto& [data, bytes] : blocks) allocator->deallocate(data, bytes, {});
  };
  step(0);
  const auto asked = allocator->stats().system_allocations;
  CHECK(asked == 50);
  for (int i = 0; i < 10; ++i) step(0);
  CHECK(allocator->stats().system_allocations == asked);
}

TEST_CASE("threads share an allocator", "[allocator]") {
  const auto allocator = make_allocator(kHost);
  std::vector<int> clashes(4, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::size_t bytes = 64 + static_cast<std::size_t>(i % 5) * 64;
        auto* data = static_cast<unsigned char*>(allocator->allocate(bytes, {}));
        std::memset(data, t, bytes);
        for (std::size_t k = 0; k < bytes; ++k) clashes[static_cast<std::size_t>(t)] += data[k] != t;
        allocator->deallocate(data, bytes, {});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(clashes == std::vector<int>(4, 0));
  CHECK(allocator->stats().live_bytes == 0);
}

TEST_CASE("a block that no host can hold is a failure, not a crash", "[allocator]") {
  const auto allocator = make_allocator(kHost);
  CHECK_THROWS_AS(allocator->allocate((std::size_t{1} << 40) + 1, {}), Failure);
  CHECK_THROWS_AS(allocator->allocate(SIZE_MAX, {}), Failure);
  CHECK(allocator->stats().live_blocks == 0);
}

TEST_CASE("where the system has no more, the cache goes back to it and it is asked once more",
          "[allocator]") {
  if (!kLimitsHold || mapped() == 0) SKIP_TEST("this build or system sets no limit to the address space");
  constexpr std::size_t kMiB = 1 << 20;
  const auto allocator = make_allocator(kHost);
  allocator->deallocate(allocator->allocate(256 * kMiB, {}), 256 * kMiB, {});
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit tight = before;
  tight.rlim_cur = mapped() + 128 * kMiB;  // for 320 MiB the cached block must go
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  void* data = nullptr;
  std::string refused, impossible;
  try {
    data = allocator->allocate(320 * kMiB, {});
  } catch (const Failure& error) {
    refused = error.what();
  }
  try {
    allocator->allocate(640 * kMiB, {});
  } catch (const Failure& error) {
    impossible = error.what();
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK(refused.empty());
  CHECK_THAT(impossible, Catch::Contains("no 671088640 bytes left") && Catch::Contains("335544320 are live"));
  CHECK(allocator->stats().reserved_bytes == static_cast<std::int64_t>(320 * kMiB));
  CHECK(allocator->stats().live_blocks == 1);
  if (data != nullptr) allocator->deallocate(data, 320 * kMiB, {});
}

TEST_CASE("a storage outlives everything but its last owner, and its allocator with it", "[allocator]") {
  const auto live = Storage::live();
  auto allocator = make_allocator(kHost);
  {
    const Storage storage(std::make_shared<DeviceStream>(kHost, 1, allocator), 10);
    allocator.reset();
    std::memset(storage.data(), 0, 10);
    CHECK(Storage::live() == live + 1);
    CHECK(storage.allocator().stats().live_bytes == 10);
  }
  CHECK(Storage::live() == live);
}

TEST_CASE("a block that another stream still reads waits for it before it is used again",
          "[allocator][emu]") {
  const Device device{DeviceKind::Emu, 0};
  Runtime& emu = runtime(device.kind);
  const auto allocator = make_allocator(device);
  DeviceStream first(device, 1, allocator), second(device, 1, allocator);
  for (const bool recorded : {true, false}) {
    const int old_value = 7, new_value = 8;
    int seen = 0;
    void* const block = allocator->allocate(sizeof(int), first.stream());
    void* const copy = allocator->allocate(sizeof(int), second.stream());
    emu.host_to_device(block, &old_value, sizeof(int), first.stream());
    first.synchronize();
    emu.device_to_device(copy, block, sizeof(int), second.stream());  // has not run yet
    if (recorded) allocator->record_use(block, second.stream());
    allocator->deallocate(block, sizeof(int), first.stream());
    void* const again = allocator->allocate(sizeof(int), first.stream());
    CHECK(again == block);
    emu.host_to_device(again, &new_value, sizeof(int), first.stream());
    first.synchronize();
    second.synchronize();
    emu.device_to_host(&seen, copy, sizeof(int));
    CHECK(seen == (recorded ? old_value : new_value));  // the order is the record's doing
    allocator->deallocate(again, sizeof(int), first.stream());
    allocator->deallocate(copy, sizeof(int), second.stream());
  }
}

// The one place where the host's own code makes a stream wait for another.
TEST_CASE("without the wait for another stream's use a check fails", "[allocator][emu][check][mutants]") {
  const Device device{DeviceKind::EmuChecked, 0};
  Runtime& emu = runtime(device.kind);
  std::size_t caught = 0;
  for (const bool recorded : {true, false}) {
    emu::check::Capture capture;
    const auto allocator = make_allocator(device);
    DeviceStream first(device, 1, allocator), second(device, 1, allocator);
    const int value = 7;
    void* const block = allocator->allocate(sizeof(int), first.stream());
    void* const copy = allocator->allocate(sizeof(int), second.stream());
    emu.host_to_device(block, &value, sizeof(int), first.stream());
    first.synchronize();
    emu.device_to_device(copy, block, sizeof(int), second.stream());
    if (recorded) allocator->record_use(block, second.stream());
    allocator->deallocate(block, sizeof(int), first.stream());
    try {
      first.synchronize();
      second.synchronize();
    } catch (const Error&) {
      // the reports say more
    }
    const std::size_t reports = capture.take().size();
    CHECK((reports == 0) == recorded);
    caught += !recorded && reports != 0 ? 1 : 0;
    allocator->deallocate(copy, sizeof(int), second.stream());
  }
  fmt::print("[mutants] {} of 1 waits for another stream: a check fails without it\n", caught);
}

TEST_CASE("a use on a stream that has ended holds nothing up", "[allocator][emu]") {
  const Device device{DeviceKind::Emu, 0};
  const auto allocator = make_allocator(device);
  const DeviceStream stream(device, 1, allocator);
  void* const block = allocator->allocate(100, stream.stream());
  {
    const DeviceStream ended(device, 1, allocator);
    allocator->record_use(block, ended.stream());
  }
  allocator->deallocate(block, 100, stream.stream());
  CHECK(allocator->allocate(100, stream.stream()) == block);
  allocator->deallocate(block, 100, stream.stream());
}

TEST_CASE("blocks of a stream that has ended are anybody's", "[allocator][emu]") {
  const Device device{DeviceKind::Emu, 0};
  const auto allocator = make_allocator(device);
  void* block = nullptr;
  {
    const DeviceStream ended(device, 1, allocator);
    block = allocator->allocate(100, ended.stream());
    allocator->deallocate(block, 100, ended.stream());
  }
  const DeviceStream other(device, 1, allocator);
  CHECK(allocator->allocate(100, other.stream()) == block);
  CHECK(allocator->stats().system_allocations == 1);
  allocator->deallocate(block, 100, other.stream());
}
