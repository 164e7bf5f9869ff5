#include "engine/nn/linear.h"

#include "engine/ops/linear.h"
#include "kernels/error.h"

namespace warpline {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool bias) : has_bias_(bias) {
  if (in_features < 0 || out_features < 0) {
    fail<ValueError>("Linear", "features must not be negative: in {}, out {}", in_features, out_features);
  }
  const double bound = default_init_bound(in_features);
  weight_ = {"weight", {out_features, in_features}, bound, {}};
  bias_ = {"bias", {out_features}, bound, {}};
}

std::string Linear::describe() const {
  return fmt::format("Linear({}, {}{})", weight_.shape[1], weight_.shape[0], has_bias_ ? "" : ", no bias");
}

Shape Linear::output_shape(const Shape& input) const { return linear_shape(input, weight_.shape); }

Tensor Linear::forward(Context& context, const Tensor& x) const {
  const Tensor& weight = materialised(weight_);
  return linear(context, x, weight, has_bias_ ? materialised(bias_) : Tensor());
}

std::vector<Parameter*> Linear::parameters() {
  if (!has_bias_) return {&weight_};
  return {&weight_, &bias_};
}

}  // namespace warpline
