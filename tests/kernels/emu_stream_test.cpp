// Streams of emulated devices are deferred: work runs as far as somebody waits, in order, and what was
// forgotten to wait for shows. Memory of virtual devices, and launch limits.
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/emu/grid.h"
#include "kernels/emu/memory.h"
#include "kernels/emu/queue.h"
#include "kernels/error.h"
#include "kernels/runtime.h"
#include "tests/support/kernel_rows.h"

using namespace warpline;
using namespace warpline::emu;
using Catch::Matchers::Contains;
using warpline::test::OrderSeed;

namespace {

// A queue that is closed at the end, and appends names of pieces to a log when they run.
class LoggedQueue {
 public:
  explicit LoggedQueue(std::string& log) : log_(log), queue_(Queue::open(0, nullptr)) {}
  ~LoggedQueue() { queue_->close(); }
  LoggedQueue(const LoggedQueue&) = delete;
  LoggedQueue& operator=(const LoggedQueue&) = delete;

  void put(char name) {
    queue_->push([this, name](const Moment&) { log_ += name; });
  }
  void fail(const std::string& text) {
    queue_->push([text](const Moment&) { throw KernelError(text); });
  }
  Queue& get() { return *queue_; }

 private:
  std::string& log_;
  std::shared_ptr<Queue> queue_;
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("work waits until somebody waits for it, and runs in order", "[emu][stream]") {
  std::string log;
  LoggedQueue queue(log);
  for (const char name : {'a', 'b', 'c'}) queue.put(name);
  CHECK(log.empty());
  queue.get().synchronize();
  CHECK(log == "abc");
  queue.get().synchronize();
  CHECK(log == "abc");
}

TEST_CASE("a wait runs the other stream as far as it has to, no further", "[emu][stream]") {
  std::string log;
  LoggedQueue first(log), second(log);
  first.put('a');
  second.put('x');
  second.get().wait_for(first.get());
  first.put('b');  // after the wait: nobody waits for it
  second.put('y');
  second.get().synchronize();
  CHECK(log == "xay");
  first.get().synchronize();
  CHECK(log == "xayb");
}

TEST_CASE("an order seed lets other streams run ahead, never past what they wait for", "[emu][stream]") {
  std::set<std::string> logs;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const OrderSeed order(seed);
    std::string log;
    LoggedQueue first(log), second(log);
    for (const char name : {'a', 'b', 'c'}) first.put(name);
    second.put('x');
    second.get().synchronize();
    if (seed == 0) CHECK(log == "x");
    if (seed == 1) CHECK(log == "abcx");
    logs.insert(log);
    first.get().wait_for(second.get());
    first.get().synchronize();
    log.erase(log.find('x'), 1);
    CHECK(log == "abc");
  }
  CHECK(logs.size() >= 3);
}

TEST_CASE("what failed is thrown once, the work behind it is dropped, and the stream goes on",
          "[emu][stream]") {
  std::string log;
  LoggedQueue queue(log);
  queue.put('a');
  queue.fail("first");
  queue.fail("second");
  queue.put('b');
  CHECK(error_of([&] { queue.get().synchronize(); }) == "first");
  CHECK(log == "a");
  queue.put('c');
  CHECK(error_of([&] { queue.get().synchronize(); }).empty());
  CHECK(log == "ac");
}

TEST_CASE("a stream holds 1024 pieces, then the oldest run", "[emu][stream]") {
  std::string log;
  LoggedQueue queue(log);
  for (int i = 0; i < 1030; ++i) queue.put('a');
  CHECK(log.size() == 6);
}

TEST_CASE("threads that wait for each other's streams do not wait in a circle", "[emu][stream]") {
  std::string unused;
  std::atomic<int> ran = 0;
  const auto first = Queue::open(0, nullptr), second = Queue::open(0, nullptr);
  const auto put = [&](Queue& queue) { queue.push([&](const Moment&) { ++ran; }); };
  for (int i = 0; i < 200; ++i) {
    put(*first);
    second->wait_for(*first);
    put(*second);
    first->wait_for(*second);
  }
  std::thread other([&] { first->synchronize(); });
  second->synchronize();
  other.join();
  CHECK(ran == 400);
  first->close();
  second->close();
}

// The clock of a stream was once merged into by the piece that ran while another thread read it.
TEST_CASE("two threads put work on one stream and wait for it", "[emu][stream]") {
  constexpr int kPieces = 2000;
  const auto queue = Queue::open(0, nullptr), earlier = Queue::open(0, nullptr);
  int ran = 0;  // a stream runs one piece at a time
  const auto put_and_wait = [&] {
    for (int i = 0; i < kPieces; ++i) {
      queue->wait_for(*earlier);
      queue->push([&](const Moment&) { ++ran; });
      queue->synchronize();
    }
  };
  std::thread other(put_and_wait);
  put_and_wait();
  other.join();
  CHECK(ran == 2 * kPieces);
  queue->close();
  earlier->close();
}

TEST_CASE("copies run in the order of their stream, from what the host had then", "[emu][stream]") {
  Runtime& emu = warpline::runtime(DeviceKind::Emu);
  ThreadPool pool(1);
  const Stream stream{{DeviceKind::Emu, 0}, &pool, nullptr, emu.open_stream(0, &pool)};
  auto* const data = static_cast<int*>(emu.allocate(0, sizeof(int)));
  auto* const copy = static_cast<int*>(emu.allocate(0, sizeof(int)));
  *data = 0;
  int value = 5, seen = 0;
  emu.host_to_device(data, &value, sizeof value, stream);
  value = 6;
  emu.device_to_device(copy, data, sizeof value, stream);
  emu.zero(data, sizeof value, stream);
  CHECK(*data == 0);
  emu.synchronize(stream);
  emu.device_to_host(&seen, copy, sizeof seen);
  CHECK(seen == 5);
  CHECK(*data == 0);
  emu.close_stream(stream.native);
  emu.release(0, data, sizeof(int));
  emu.release(0, copy, sizeof(int));
}

TEST_CASE("a virtual device's memory is handed out in gaps, joined again, and ends", "[emu][memory]") {
  std::vector<std::byte> bytes(16 * DeviceMemory::kAlignment);
  DeviceMemory memory(bytes.data(), bytes.size());
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(memory.allocate(DeviceMemory::kAlignment));  // and a gap each
  CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == 8);
  CHECK(memory.allocate(1) == nullptr);
  CHECK(memory.used() == memory.capacity());
  CHECK(memory.release(blocks[3]));
  CHECK(!memory.release(blocks[3]));
  CHECK(memory.release(blocks[5]));
  CHECK(memory.allocate(3 * DeviceMemory::kAlignment) == nullptr);
  CHECK(memory.release(blocks[4]));
  CHECK(memory.allocate(5 * DeviceMemory::kAlignment) == blocks[3]);
  CHECK(memory.allocate(SIZE_MAX) == nullptr);
}

TEST_CASE("an address tells its device, and there are 64", "[emu][memory]") {
  void* const first = device_memory(0).allocate(100);
  void* const third = device_memory(2).allocate(100);
  CHECK(device_of(first) == 0);
  CHECK(device_of(third) == 2);
  CHECK(device_of(&first) == -1);
  CHECK(device_memory(0).release(first));
  CHECK(device_memory(2).release(third));
  CHECK_THROWS_AS(device_memory(64), DeviceError);
  CHECK_THROWS_AS(device_memory(-1), DeviceError);
}

TEST_CASE("launches past the driver's limits are refused with the numbers", "[emu][launch]") {
  check_launch("k", {2147483647, 65535, 65535}, {1024}, 48 * 1024);
  check_launch("k", {1}, {16, 1, 64}, 0);
  CHECK_THAT(error_of([] { check_launch("k", {0}, {32}, 0); }),
             Contains("launch of k") && Contains("0 x 1 x 1"));
  CHECK_THAT(error_of([] { check_launch("k", {1, 65536}, {32}, 0); }), Contains("1 x 65536 x 1"));
  CHECK_THAT(error_of([] { check_launch("k", {1}, {1025}, 0); }), Contains("1025 x 1 x 1"));
  CHECK_THAT(error_of([] { check_launch("k", {1}, {1, 1, 65}, 0); }), Contains("1 x 1 x 65"));
  CHECK_THAT(error_of([] { check_launch("k", {1}, {64, 32}, 0); }), Contains("64 x 32 x 1 are 2048"));
  CHECK_THAT(error_of([] { check_launch("k", {1}, {32}, 48 * 1024 + 1); }), Contains("49153 were asked for"));
}
