#include "parallel/handshake.h"

#include <cstring>

#include "engine/transfer.h"
#include "kernels/error.h"
#include "parallel/agreement.h"
#include "parallel/plan_csv.h"
#include "parallel/texts.h"

namespace warpline::parallel {

// Hashes first; whole plans only where they differ.
void require_same_plan(Context& context, Communicator& pipeline, const Plan& plan) {
  const std::string hash = std::to_string(plan_hash(plan));
  const bool differs = broadcast_text(context, pipeline, hash) != hash;
  const Tensor anywhere = Tensor::full(context, {1}, differs ? 1.0 : 0.0);
  pipeline.all_reduce(anywhere, ReduceOp::Max, context.stream()).wait();
  if (anywhere.item() == 0) return;
  const std::string first = broadcast_text(context, pipeline, to_csv(plan));
  if (differs) {
    fail<ValueError>("agreement", "rank {} of {} has another plan than rank 0: {}", pipeline.rank(),
                     pipeline.name(), first_difference(plan_from_csv(first), plan));
  }
}

void require_same_parameters(Context& context, Communicator& replicas,
                             const std::vector<Parameter*>& parameters) {
  if (replicas.size() == 1) return;
  std::string list;
  for (const Parameter* parameter : parameters) {
    list += parameter->name + " " + warpline::to_string(parameter->shape) + "\n";
  }
  require_same_text(context, replicas, "the parameters", list);
  for (const Parameter* parameter : parameters) {
    const Tensor first = copy_to(context, parameter->value);
    replicas.broadcast(first, 0, context.stream()).wait();
    const std::vector<float> theirs = first.to_host<float>();
    const std::vector<float> mine = parameter->value.to_host<float>();
    if (std::memcmp(theirs.data(), mine.data(), mine.size() * sizeof(float)) != 0) {
      fail<ValueError>("agreement", "rank {} of {} starts with other values of {} than rank 0",
                       replicas.rank(), replicas.name(), parameter->name);
    }
  }
}

}  // namespace warpline::parallel
