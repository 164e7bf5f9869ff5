// The loader: shards that cover each sample once, any batch at any time, and a thread that never surprises.
#include "models/loader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "kernels/error.h"
#include "models/shuffle.h"
#include "parallel/blocks.h"
#include "tests/support/errors.h"

using namespace warpline;
using namespace warpline::test;
using Catch::Matchers::Contains;

namespace {

// Sample i has two channels of 1 x 3 pixels, i in the first and 255 - i in the second, and label i % 7.
std::shared_ptr<const Dataset> numbered(std::int64_t count) {
  std::vector<std::uint8_t> images, labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<std::uint8_t>(i % 7));
    images.insert(images.end(), 3, static_cast<std::uint8_t>(i));
    images.insert(images.end(), 3, static_cast<std::uint8_t>(255 - i));
  }
  return std::make_shared<const Dataset>(Dataset{
      "numbered", {2, 1, 3}, 7, {0.25F, 0.5F}, {0.5F, 2.0F}, {images, labels, 6}, {images, labels, 6}});
}

float normalised(std::int64_t byte, int channel) {
  const float mean = channel == 0 ? 0.25F : 0.5F;
  return (static_cast<float>(byte) / 255.0F - mean) / (channel == 0 ? 0.5F : 2.0F);
}

// Which sample each row of the batch is, or -1 where image and label are not one sample's.
std::vector<std::int64_t> samples_of(const parallel::Batch& batch) {
  const std::vector<float> images = batch.input.to_host<float>();
  const std::vector<std::int64_t> targets = batch.target.to_host<std::int64_t>();
  std::vector<std::int64_t> found;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    std::int64_t sample = -1;
    for (std::int64_t i = 0; i < 256; ++i) {
      if (images[row * 6] == normalised(i, 0)) sample = i;
    }
    bool one = targets[row] == sample % 7;
    for (std::size_t p = 0; p < 6; ++p) {
      one &= images[row * 6 + p] == (p < 3 ? normalised(sample, 0) : normalised(255 - sample, 1));
    }
    found.push_back(one ? sample : -1);
  }
  return found;
}

std::vector<std::int64_t> expected(const std::vector<std::uint32_t>& order, std::int64_t begin,
                                   std::int64_t end) {
  return {order.begin() + begin, order.begin() + end};
}

}  // namespace

TEST_CASE("a batch holds normalised images and their labels", "[loader]") {
  const auto data = numbered(10);
  Context context;
  Loader loader(data, data->train, {.batch_size = 4, .seed = 3});
  CHECK(loader.steps() == 3);
  CHECK(loader.batch_count(1) == 4);
  CHECK(loader.batch_count(2) == 2);
  const auto order = shuffled(3, 0, 10);
  for (std::int64_t step = 0; step < 3; ++step) {
    const parallel::Batch batch = loader.get(context, 0, step);
    CHECK(batch.count == loader.batch_count(step));
    CHECK(batch.input.shape() == Shape{batch.count, 2, 1, 3});
    CHECK(batch.input.dtype() == DType::Float32);
    CHECK(batch.target.shape() == Shape{batch.count});
    CHECK(samples_of(batch) == expected(order, 4 * step, 4 * step + batch.count));
  }
}

TEST_CASE("shards cover each sample of an epoch once", "[loader]") {
  int runs = 0, right = 0;
  for (const std::int64_t count : {1, 7, 61, 130}) {
    for (const std::int64_t batch_size : {1, 5, 64, 200}) {
      for (const int shards : {1, 2, 3, 5}) {
        const auto data = numbered(count);
        Context context;
        std::vector<std::int64_t> seen;  // in the order of the batches, shard by shard within each
        std::vector<std::unique_ptr<Loader>> loaders;
        for (int shard = 0; shard < shards; ++shard) {
          loaders.push_back(std::make_unique<Loader>(
              data, data->train,
              LoaderOptions{.batch_size = batch_size, .seed = 2, .share = [=](std::int64_t samples) {
                              return parallel::part(samples, shards, shard);
                            }}));
        }
        for (std::int64_t step = 0; step < loaders[0]->steps(); ++step) {
          for (const auto& loader : loaders) {
            const auto mine = samples_of(loader->get(context, 1, step));
            seen.insert(seen.end(), mine.begin(), mine.end());
          }
        }
        ++runs;
        right += seen == expected(shuffled(2, 1, count), 0, count) ? 1 : 0;
      }
    }
  }
  CHECK(right == runs);
  fmt::print("{} of {} ways to shard an epoch cover each sample once, in order\n", right, runs);
}

TEST_CASE("any batch can be had at any time", "[loader]") {
  const auto data = numbered(50);
  Context context;
  Loader loader(data, data->train, {.batch_size = 8, .seed = 5});
  // On, over the end of an epoch, back, far ahead, the same one again.
  const std::vector<std::pair<std::int64_t, std::int64_t>> visits = {
      {0, 3}, {0, 4}, {0, 6}, {1, 0}, {1, 1}, {0, 0}, {9, 2}, {9, 2}, {9, 3}, {0, 6}, {2, 0}};
  for (const auto& [epoch, step] : visits) {
    INFO(epoch << " " << step);
    const parallel::Batch batch = loader.get(context, epoch, step);
    CHECK(samples_of(batch) == expected(shuffled(5, epoch, 50), 8 * step, 8 * step + batch.count));
  }
}

TEST_CASE("without shuffling, samples come in order in every epoch", "[loader]") {
  const auto data = numbered(9);
  Context context;
  Loader loader(data, data->test, {.batch_size = 5, .shuffle = false});
  for (const std::int64_t epoch : {0, 1}) {
    CHECK(samples_of(loader.get(context, epoch, 0)) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
    CHECK(samples_of(loader.get(context, epoch, 1)) == std::vector<std::int64_t>{5, 6, 7, 8});
  }
  CHECK(samples_of(read_samples(context, *data, data->test, {2, 5}, true, true)) ==
        std::vector<std::int64_t>{2, 3, 4});
}

TEST_CASE("a rank gets only what it needs, also nothing", "[loader]") {
  const auto data = numbered(9);
  Context context;
  Loader first(data, data->train, {.targets = false});
  CHECK(first.get(context, 0, 0).input.defined());
  CHECK(!first.get(context, 0, 0).target.defined());
  Loader last(data, data->train, {.images = false});
  CHECK(!last.get(context, 0, 0).input.defined());
  CHECK(last.get(context, 0, 0).target.count() == 9);
  Loader middle(data, data->train, {.images = false, .targets = false});
  CHECK(middle.get(context, 0, 0).count == 9);
  Loader idle(data, data->train, {.share = [](std::int64_t count) { return parallel::Range{count, count}; }});
  const parallel::Batch none = idle.get(context, 0, 0);
  CHECK(none.count == 9);
  CHECK(none.input.shape() == Shape{0, 2, 1, 3});
  CHECK(none.target.shape() == Shape{0});
}

TEST_CASE("what is outside is refused", "[loader]") {
  const auto data = numbered(9);
  Context context;
  CHECK_THAT(error_of<ValueError>([&] { Loader(data, data->train, {.batch_size = 0}); }),
             Contains("at least 1: 0"));
  Loader loader(data, data->train, {.batch_size = 4});
  CHECK_THAT(error_of<ValueError>([&] { loader.get(context, 0, 3); }),
             Contains("from 0 to 2: epoch 0, step 3"));
  CHECK_THAT(error_of<ValueError>([&] { loader.get(context, 0, -1); }), Contains("step -1"));
  CHECK_THAT(error_of<ValueError>([&] { loader.get(context, -1, 0); }), Contains("epoch -1"));
  CHECK(loader.get(context, 0, 2).count == 1);
  for (const parallel::Range range : {parallel::Range{-1, 2}, parallel::Range{0, 5}, parallel::Range{3, 2}}) {
    Loader wrong(data, data->train, {.batch_size = 4, .share = [=](std::int64_t) { return range; }});
    CHECK_THAT(error_of<ValueError>([&] { wrong.get(context, 0, 0); }), Contains("within"));
  }
  for (const parallel::Range range :
       {parallel::Range{-1, 2}, parallel::Range{0, 10}, parallel::Range{3, 2}}) {
    CHECK_THAT(error_of<ValueError>([&] { read_samples(context, *data, data->test, range, true, true); }),
               Contains("within"));
  }
}

TEST_CASE("an error on the loader's thread reaches the caller, and the loader goes on", "[loader]") {
  const auto whole = numbered(12);
  // Image 5 cannot be drawn until it is mended.
  std::atomic<bool> broken = true;
  Samples::Draw draw = [&](std::int64_t index, std::span<std::uint8_t> image) {
    if (index == 5 && broken) fail<Failure>("test", "image 5 is torn");
    std::ranges::copy(whole->train.image(index), image.begin());
  };
  std::vector<std::uint8_t> labels;
  for (std::int64_t i = 0; i < 12; ++i) labels.push_back(whole->train.label(i));
  const auto data = std::make_shared<const Dataset>(
      Dataset{"torn", {2, 1, 3}, 7, whole->mean, whole->std_dev, {draw, labels, 6}, {draw, labels, 6}});
  Context context;
  Loader loader(data, data->train, {.batch_size = 4, .shuffle = false});
  CHECK(samples_of(loader.get(context, 0, 0)) ==
        std::vector<std::int64_t>{0, 1, 2, 3});  // prepares step 1: fails
  CHECK(samples_of(loader.get(context, 0, 2)) ==
        std::vector<std::int64_t>{8, 9, 10, 11});  // not asked for: unseen
  for (int i = 0; i < 2; ++i) {
    CHECK(error_of<Failure>([&] { loader.get(context, 0, 1); }) == "[test] image 5 is torn");
  }
  broken = false;
  CHECK(samples_of(loader.get(context, 0, 1)) == std::vector<std::int64_t>{4, 5, 6, 7});
}

TEST_CASE("a loader can be dropped in any state", "[loader]") {
  const auto data = numbered(200);
  Context context;
  for (int i = 0; i < 50; ++i) {
    { const Loader unused(data, data->train, {}); }
    {
      Loader busy(data, data->train, {.batch_size = 7});
      busy.get(context, 0, i % 29);
    }
    Loader failed(data, data->train,
                  {.share = [](std::int64_t) -> parallel::Range { fail<Failure>("test", "no"); }});
    CHECK(error_of<Failure>([&] { failed.get(context, 0, 0); }) == "[test] no");
  }
}

TEST_CASE("ranks that are threads load the same drawn set at once", "[loader]") {
  const auto whole = numbered(100);
  Samples::Draw draw = [&](std::int64_t index, std::span<std::uint8_t> image) {
    std::ranges::copy(whole->train.image(index), image.begin());
  };
  std::vector<std::uint8_t> labels;
  for (std::int64_t i = 0; i < 100; ++i) labels.push_back(whole->train.label(i));
  const auto data = std::make_shared<const Dataset>(
      Dataset{"drawn", {2, 1, 3}, 7, whole->mean, whole->std_dev, {draw, labels, 6}, {draw, labels, 6}});
  std::vector<std::vector<std::int64_t>> seen(3);
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      Context context;
      Loader loader(data, data->train, {.batch_size = 13});
      for (std::int64_t step = 0; step < loader.steps(); ++step) {
        const auto samples = samples_of(loader.get(context, 0, step));
        seen[rank].insert(seen[rank].end(), samples.begin(), samples.end());
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (const auto& samples : seen) CHECK(samples == expected(shuffled(1, 0, 100), 0, 100));
}
