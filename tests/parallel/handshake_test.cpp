// Ranks that do not agree find out before the first step, and the error names the first difference.
#include "parallel/handshake.h"

#include <catch2/catch.hpp>

#include "engine/inplace.h"
#include "kernels/error.h"
#include "parallel/lowering.h"
#include "parallel/schedule.h"
#include "parallel/texts.h"
#include "tests/support/training.h"

using namespace warpline;
using namespace warpline::parallel;

namespace {

void on_ranks(int ranks, const std::function<void(Context&, int, Communicator&)>& body) {
  const std::vector<std::shared_ptr<Context>> contexts = test::make_contexts(ranks);
  run_local(contexts, {}, [&](int rank, const std::shared_ptr<Communicator>& world) {
    body(*contexts[static_cast<std::size_t>(rank)], rank, *world);
  });
}

}  // namespace

TEST_CASE("another plan on one rank is refused with the first difference", "[handshake]") {
  const auto plan = [](int m) {
    return lower(compute_plan(find_schedule("gpipe"), {.ranks = 3, .micro_batches = m}));
  };
  CHECK_NOTHROW(on_ranks(
      3, [&](Context& context, int, Communicator& world) { require_same_plan(context, world, plan(4)); }));
  const auto differ = [&](Context& context, int rank, Communicator& world) {
    Plan mine = plan(4);
    if (rank == 2) std::swap(mine.per_rank[1][5], mine.per_rank[1][6]);
    require_same_plan(context, world, mine);
    world.barrier(context.stream()).wait();  // where the others stop
  };
  CHECK_THROWS_WITH(on_ranks(3, differ), Catch::Contains("rank 2 of world has another plan than rank 0") &&
                                             Catch::Contains("rank 1 position 5"));
}

TEST_CASE("another parameter, in name or in its last bit, is refused by name", "[handshake]") {
  const auto check = [](const std::function<void(Context&, int, std::vector<Parameter*>&)>& change) {
    on_ranks(2, [&](Context& context, int rank, Communicator& world) {
      Sequential model = test::tiny_model();
      model.materialise(context, 1);
      std::vector<Parameter*> parameters = model.parameters();
      change(context, rank, parameters);
      require_same_parameters(context, world, parameters);
      world.barrier(context.stream()).wait();
    });
  };
  CHECK_NOTHROW(check([](Context&, int, std::vector<Parameter*>&) {}));
  CHECK_THROWS_WITH(check([](Context& context, int rank, std::vector<Parameter*>& parameters) {
                      const NoGrad no_grad(context);
                      Tensor last = Tensor::view_of(parameters[4]->value, 34, {1});
                      if (rank == 1) scale_(context, last, 1.0000002);
                    }),
                    Catch::Contains("other values of c.weight"));
  CHECK_THROWS_WITH(check([](Context&, int rank, std::vector<Parameter*>& parameters) {
                      if (rank == 1) parameters.pop_back();
                    }),
                    Catch::Contains("'nothing more' here, 'd.bias [4]' on rank 0"));
}

TEST_CASE("texts travel whole, empty ones too", "[handshake]") {
  std::vector<std::string> gathered;
  std::vector<std::string> told(3);
  on_ranks(3, [&](Context& context, int rank, Communicator& world) {
    const std::string mine(static_cast<std::size_t>(rank) * 5, static_cast<char>('a' + rank));
    const std::vector<std::string> all = gather_texts(context, world, mine);
    told[static_cast<std::size_t>(rank)] = broadcast_text(context, world, mine, 2);
    if (rank == 0) gathered = all;
  });
  CHECK(gathered == std::vector<std::string>{"", "bbbbb", "cccccccccc"});
  CHECK(told == std::vector<std::string>(3, "cccccccccc"));
}
