// The counts of a profile are those worked out on paper, and the ladder of matrix products costs what theory
// says; twice the same, in any order of threads.
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/emu/profile/profile.h"
#include "kernels/emu/profile/warp_request.h"
#include "kernels/runtime.h"
#include "kernels/table.h"
#include "tests/planted/costs.h"
#include "tests/support/kernel_rows.h"

using namespace warpline;
using namespace warpline::emu::profile;
using warpline::test::OrderSeed;

namespace {

constexpr std::size_t kFloats = 128 * 128;

// A stream of emu_checked with three arrays of kFloats numbers.
class Device {
 public:
  Device() {
    for (void*& array : arrays_) {
      array = runtime_.allocate(0, kBytes);
      runtime_.claim(array, kBytes, stream_);
      runtime_.zero(array, kBytes, stream_);
    }
    runtime_.synchronize(stream_);
  }
  ~Device() {
    for (void* const array : arrays_) {
      runtime_.disclaim(array, kBytes, stream_);
      runtime_.synchronize(stream_);
      runtime_.release(0, array, kBytes);
    }
    runtime_.close_stream(stream_.native);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  float* array(int i) const { return static_cast<float*>(arrays_[i]); }
  const Stream& stream() const { return stream_; }
  void wait() const { runtime_.synchronize(stream_); }

 private:
  static constexpr std::size_t kBytes = kFloats * sizeof(float);
  Runtime& runtime_ = runtime(DeviceKind::EmuChecked);
  ThreadPool pool_{1};
  Stream stream_{{DeviceKind::EmuChecked, 0}, &pool_, nullptr, runtime_.open_stream(0, &pool_)};
  void* arrays_[3] = {};
};

KernelProfile profile_of_cost(const char* name) {
  const Device device;
  Recording recording;
  test::run_planted_cost(name, device.array(0), device.array(1), device.stream());
  device.wait();
  const std::vector<KernelProfile> profiles = recording.take();
  REQUIRE(profiles.size() == 1);
  return profiles.front();
}

struct Ways {
  Traffic load, store, atomic, shared_load, shared_store;
};
Ways ways(const Counts& counts) {
  return {counts.of(Space::Global, Direction::Load), counts.of(Space::Global, Direction::Store),
          counts.of(Space::Global, Direction::Atomic), counts.of(Space::Shared, Direction::Load),
          counts.of(Space::Shared, Direction::Store)};
}

// The gemm row of that name on n x n matrices.
KernelProfile profile_of_gemm(std::string_view variant, std::int64_t n) {
  const Device device;
  const GemmArgs args{n, n, n};
  for (const kernels::Row& row : kernels::table()) {
    if (row.op != "gemm" || row.variant != variant || row.target != DeviceKind::EmuChecked ||
        row.dtype != DType::Float32)
      continue;
    Recording recording;
    reinterpret_cast<kernels::Gemm::Function>(row.function)(device.array(0), device.array(1), device.array(2),
                                                            args, device.stream());
    device.wait();
    return recording.take().at(0);
  }
  FAIL("no gemm " << variant);
  return {};
}

// Of the line of a kernel's source that holds the text.
Counts at_line(const KernelProfile& profile, const std::string& file, const std::string& text) {
  std::ifstream source(std::string(WARPLINE_SOURCE_ROOT) + "/" + file);
  int number = 1;
  for (std::string line; std::getline(source, line) && line.find(text) == std::string::npos;) ++number;
  const std::string place = fmt::format("{}:{}", file, number);
  INFO(place);
  Counts counts;
  int found = 0;
  for (const auto& [line, at] : profile.lines) {
    if (line != place && line.rfind(place + " > ", 0) != 0) continue;
    counts += at;
    ++found;
  }
  CHECK(found > 0);
  return counts;
}

}  // namespace

TEST_CASE("sectors and wavefronts of a request", "[profile]") {
  WarpRequest request{{}, ~0U, 4};
  const auto fill = [&](auto address) {
    for (unsigned lane = 0; lane < kWarp; ++lane) request.address[lane] = address(lane);
  };
  fill([](unsigned lane) { return 4 * lane; });
  CHECK(sectors(request) == 4);
  CHECK(wavefronts(request) == 1);
  fill([](unsigned lane) { return 4 * lane + 4; });  // off by one float: a fifth sector
  CHECK(sectors(request) == 5);
  CHECK(wavefronts(request) == 1);
  fill([](unsigned) { return 12U; });  // the same word
  CHECK(sectors(request) == 1);
  CHECK(wavefronts(request) == 1);
  fill([](unsigned lane) { return 128 * lane; });
  CHECK(sectors(request) == 32);
  CHECK(wavefronts(request) == 32);
  fill([](unsigned lane) { return 8 * lane; });  // every second word: two lanes a bank
  CHECK(sectors(request) == 8);
  CHECK(wavefronts(request) == 2);
  request.bytes = 8;
  CHECK(wavefronts(request) == 2);  // 256 bytes, nothing wasted
  request.bytes = 16;
  fill([](unsigned lane) { return 16 * lane; });
  CHECK(sectors(request) == 16);
  CHECK(wavefronts(request) == 4);
  request = {{}, 0b101, 4};
  request.address[2] = 128;
  CHECK(sectors(request) == 2);
  CHECK(wavefronts(request) == 2);
}

TEST_CASE("a transposed tile costs 32 wavefronts a request, a padded one 1", "[profile]") {
  for (const auto& [name, expected] : {std::pair{"transposed", 32.0}, std::pair{"padded", 1.0}}) {
    INFO(name);
    const KernelProfile profile = profile_of_cost(name);
    const Ways at = ways(profile.total);
    CHECK(at.shared_load.requests == 32);
    CHECK(at.shared_load.parts_per_request() == expected);
    CHECK(at.shared_store.parts_per_request() == 1);
    CHECK(at.load.requests == 32);
    CHECK(at.load.parts == 128);
    CHECK(at.store.parts == 128);
    CHECK(at.load.bytes == 4096);
    CHECK(profile.total.barriers == 1);
    CHECK(profile.total.divergent == 0);
    CHECK(profile.bytes_touched == 2 * 4096);
    CHECK(profile.bytes_moved() == 2 * 4096);
    CHECK(profile.launches == 1);
    CHECK(profile.threads == 1024);
  }
}

TEST_CASE("sectors of strides, vectors, broadcasts and atomics", "[profile]") {
  const Ways strided = ways(profile_of_cost("strided").total);
  CHECK(strided.load.parts_per_request() == 32);
  CHECK(strided.store.parts_per_request() == 4);
  const Ways vectors = ways(profile_of_cost("vectors").total);
  CHECK(vectors.load.requests == 32);
  CHECK(vectors.load.parts_per_request() == 16);
  CHECK(vectors.store.bytes == 4096 * 4);
  const KernelProfile broadcast = profile_of_cost("broadcast");
  CHECK(ways(broadcast.total).load.parts_per_request() == 1);
  CHECK(broadcast.bytes_touched == 32 + 4096);
  CHECK(broadcast.bytes_moved() == 32 * 32 + 4096);
  const Ways atomics = ways(profile_of_cost("atomics").total);
  CHECK(atomics.atomic.requests == 32);
  CHECK(atomics.atomic.parts == 32);
  CHECK(atomics.load.requests + atomics.store.requests == 0);
}

TEST_CASE("lanes that part at a branch make two requests of half a warp, and are counted", "[profile]") {
  const KernelProfile halves = profile_of_cost("halves");
  CHECK(halves.total.divergent == 32);  // each warp once
  CHECK(ways(halves.total).load.requests == 64);
  CHECK(ways(halves.total).load.bytes == 4096);
  const KernelProfile tail = profile_of_cost("tail");
  CHECK(tail.total.divergent == 1);  // the last warp
  CHECK(ways(tail.total).load.bytes == 1014 * 4);
  CHECK(profile_of_cost("strided").total.divergent == 0);
}

TEST_CASE("the ladder of matrix products costs what theory says", "[profile][gemm]") {
  constexpr std::int64_t n = 64;
  constexpr std::uint64_t kProducts = n * n * n;
  const auto loads = [](const KernelProfile& profile, const char* file, const char* text) {
    return at_line(profile, file, text).of(Space::Global, Direction::Load);
  };
  const KernelProfile naive = profile_of_gemm("naive", n);
  const Traffic naive_a = loads(naive, "kernels/cuda/gemm_1_naive.cu", "const T left");
  const Traffic naive_b = loads(naive, "kernels/cuda/gemm_1_naive.cu", "const T right");
  CHECK(naive_a.parts_per_request() == 32);
  CHECK(naive_b.parts_per_request() == 1);
  CHECK(naive_a.requests == kProducts / kWarp);

  const KernelProfile coalesced = profile_of_gemm("coalesced", n);
  const Traffic coalesced_a = loads(coalesced, "kernels/cuda/gemm_2_coalesced.cu", "const T left");
  const Traffic coalesced_b = loads(coalesced, "kernels/cuda/gemm_2_coalesced.cu", "const T right");
  CHECK(coalesced_a.parts_per_request() == 1);
  CHECK(coalesced_b.parts_per_request() == 4);
  CHECK(coalesced_b.requests == kProducts / kWarp);

  // A value leaves global memory once a tile of 16 x 16 cells, and shared memory twice a product.
  const KernelProfile tile = profile_of_gemm("shared_tile", n);
  const auto bytes = [](const KernelProfile& profile) {
    return profile.total.of(Space::Global, Direction::Load).bytes;
  };
  const auto shared = [](const KernelProfile& profile) {
    return profile.total.of(Space::Shared, Direction::Load);
  };
  CHECK(bytes(coalesced) == 2 * kProducts * sizeof(float));
  CHECK(bytes(tile) == 2 * kProducts / 16 * sizeof(float));
  CHECK(shared(tile).bytes == 2 * kProducts * sizeof(float));
  CHECK(tile.total.barriers == (n / 16) * (n / 16) * (n / 32) * 2);

  // Registers: a value from shared memory serves 8 products of one side, then of both.
  const KernelProfile column = profile_of_gemm("register_column", n);
  const KernelProfile registers = profile_of_gemm("register_tile", n);
  CHECK(shared(column).bytes == kProducts / 8 * 9 * sizeof(float));
  CHECK(shared(registers).bytes == kProducts / 64 * 16 * sizeof(float));

  // Vector loads: a quarter of the requests for the same bytes.
  const KernelProfile vectors = profile_of_gemm("vector_loads", n);
  CHECK(bytes(vectors) == bytes(registers));
  CHECK(4 * vectors.total.of(Space::Global, Direction::Load).requests ==
        registers.total.of(Space::Global, Direction::Load).requests);
  for (const KernelProfile& profile : {naive, coalesced, tile, column, registers, vectors}) {
    fmt::print("[profile] {}: {:.1f} sectors a request, {} global, {} shared requests, {:.2f} wavefronts each\n",
               profile.kernel, profile.total.of(Space::Global, Direction::Load).parts_per_request(),
               profile.total.of(Space::Global, Direction::Load).requests, shared(profile).requests,
               shared(profile).parts_per_request());
  }
}

TEST_CASE("a profile is the same twice and in any order", "[profile]") {
  const auto text = [](const KernelProfile& profile) {
    std::string all;
    for (const auto& [line, counts] : profile.lines) {
      all += line;
      for (const auto& space : counts.traffic) {
        for (const Traffic& traffic : space)
          all += fmt::format(" {} {} {}", traffic.requests, traffic.parts, traffic.bytes);
      }
      all += fmt::format(" {} {}\n", counts.barriers, counts.divergent);
    }
    return all;
  };
  for (const char* variant : {"shared_tile", "vector_loads"}) {
    const std::string first = text(profile_of_gemm(variant, 64));
    CHECK(first.size() > 100);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const OrderSeed order(seed);
      CHECK(text(profile_of_gemm(variant, 64)) == first);
    }
  }
}
