// Communicators made from others, and calls that are refused before anything is sent.
#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "tests/support/communicator_suite.h"
#include "tests/support/errors.h"

namespace warpline::test {
namespace {

using Catch::Matchers::Contains;
using parallel::Communicator;
using parallel::ReduceOp;

// The ranks of the run that a communicator holds, in its order.
std::vector<std::int64_t> members(Rank& rank, Communicator& communicator) {
  const Tensor mine = rank.tensor(std::vector<std::int64_t>{rank.rank});
  const Tensor all = Tensor::zeros(rank.context, {communicator.size()}, DType::Int64);
  communicator.all_gather(mine, all, rank.stream()).wait();
  return all.to_host<std::int64_t>();
}

}  // namespace

void check_splits(const CommunicatorCase& backend) {
  struct Results {
    std::vector<std::int64_t> even_odd, reversed, chosen, single, grandchild;
    std::string name;
    bool left_out = false;
  };
  const auto results = on_ranks(backend, 5, [](Rank& rank) {
    Results mine;
    const int r = rank.rank;
    const auto even_odd = rank.world->split(r % 2, 0, r % 2 == 0 ? "even" : "odd");
    mine.even_odd = members(rank, *even_odd);
    mine.name = even_odd->name();
    const auto reversed = rank.world->split(0, -r, "reversed");
    mine.reversed = members(rank, *reversed);
    const auto chosen = rank.world->split(r == 1 || r == 4 ? 7 : -1, 9 - r, "chosen");
    mine.left_out = chosen == nullptr;
    if (chosen) mine.chosen = members(rank, *chosen);
    const auto single = rank.world->split(r, 0, "single");
    mine.single = members(rank, *single);
    const auto grandchild = reversed->split(reversed->rank() < 2 ? 0 : 1, 0, "grandchild");
    mine.grandchild = members(rank, *grandchild);
    return mine;
  });
  using List = std::vector<std::int64_t>;
  for (int r = 0; r < 5; ++r) {
    const Results& mine = results[static_cast<std::size_t>(r)];
    CHECK(mine.even_odd == (r % 2 == 0 ? List{0, 2, 4} : List{1, 3}));
    CHECK(mine.name == (r % 2 == 0 ? "even" : "odd"));
    CHECK(mine.reversed == List{4, 3, 2, 1, 0});
    CHECK(mine.left_out == (r != 1 && r != 4));
    CHECK(mine.chosen == (r == 1 || r == 4 ? List{4, 1} : List{}));
    CHECK(mine.single == List{r});
    CHECK(mine.grandchild == (r >= 3 ? List{4, 3} : List{2, 1, 0}));
  }

  // Many at once, each with a FIFO of its own: calls on one do not wait for those on another, whatever their
  // order on each rank.
  constexpr int kMany = 12;
  const auto sums = on_ranks(backend, 3, [](Rank& rank) {
    std::vector<std::shared_ptr<Communicator>> many;
    std::vector<Tensor> tensors;
    std::vector<parallel::Work> works;
    for (int i = 0; i < kMany; ++i) {
      many.push_back(rank.world->split(0, 0, fmt::format("copy {}", i)));
      tensors.push_back(rank.tensor(std::vector<double>{static_cast<double>(i + rank.rank)}));
    }
    for (int k = 0; k < kMany; ++k) {
      const auto i = static_cast<std::size_t>(rank.rank % 2 == 0 ? k : kMany - 1 - k);
      works.push_back(many[i]->all_reduce(tensors[i], ReduceOp::Sum, rank.stream()));
    }
    for (const parallel::Work& work : works) work.wait();
    std::vector<double> mine;
    for (const Tensor& tensor : tensors) mine.push_back(tensor.item());
    return mine;
  });
  for (const auto& mine : sums) {
    for (int i = 0; i < kMany; ++i) CHECK(mine[static_cast<std::size_t>(i)] == 3 * i + 3);
  }
}

void check_refusals(const CommunicatorCase& backend) {
  struct Texts {
    std::string self, high, low, root, small, dtype, overlap, device, split_in_group, empty;
    std::vector<float> after;
  };
  const auto refused = on_ranks(backend, 2, [](Rank& rank) {
    Texts texts;
    Communicator& world = *rank.world;
    const Stream stream = rank.stream();
    const Tensor tensor = Tensor::full(rank.context, {4}, rank.rank + 1);
    const Tensor large = Tensor::zeros(rank.context, {8});
    texts.self = error_of<ValueError>([&] { world.send(tensor, rank.rank, stream); });
    texts.high = error_of<ValueError>([&] { world.recv(tensor, 2, stream); });
    texts.low = error_of<ValueError>([&] { world.send(tensor, -1, stream); });
    texts.root = error_of<ValueError>([&] { world.broadcast(tensor, 2, stream); });
    texts.small = error_of<ShapeError>([&] { world.all_gather(tensor, tensor, stream); });
    texts.dtype = error_of<DTypeError>([&] {
      world.reduce_scatter(large, Tensor::zeros(rank.context, {4}, DType::Float64), ReduceOp::Sum, stream);
    });
    texts.overlap = error_of<ValueError>(
        [&] { world.reduce_scatter(large, Tensor::view_of(large, 0, {4}), ReduceOp::Sum, stream); });
    Context elsewhere(Device{rank.context.device().kind, 77});
    texts.device = error_of<DeviceError>(
        [&] { world.all_reduce(Tensor::zeros(elsewhere, {4}), ReduceOp::Sum, stream); });
    world.group_begin();
    texts.split_in_group = error_of<ValueError>([&] { world.split(0, 0, "child"); });
    world.group_cancel();
    texts.empty = error_of<ValueError>([] { parallel::Work().wait(); });
    // A refused call leaves no trace: the next one meets its partner.
    world.all_reduce(tensor, ReduceOp::Sum, stream).wait();
    texts.after = tensor.to_host<float>();
    return texts;
  });
  for (int r = 0; r < 2; ++r) {
    const Texts& texts = refused[static_cast<std::size_t>(r)];
    CHECK_THAT(texts.self, Contains(fmt::format("rank {} has no peer {}", r, r)));
    CHECK_THAT(texts.high, Contains("no peer 2"));
    CHECK_THAT(texts.low, Contains("no peer -1"));
    CHECK_THAT(texts.root, Contains("root 2 is not one of 0..1"));
    CHECK_THAT(texts.small, Contains("4 elements against 4"));
    CHECK_THAT(texts.dtype, Contains("float64") && Contains("float32"));
    CHECK_THAT(texts.overlap, Contains("overlap"));
    CHECK_THAT(texts.device, Contains(":77"));
    CHECK_THAT(texts.split_in_group, Contains("end the group first"));
    CHECK_THAT(texts.empty, Contains("empty"));
    CHECK(texts.after == std::vector<float>(4, 3.f));
  }
}

}  // namespace warpline::test
