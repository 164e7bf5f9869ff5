#include "engine/inplace.h"

#include "engine/checks.h"
#include "engine/node.h"
#include "engine/transfer.h"
#include "kernels/error.h"
#include "kernels/table.h"

namespace warpline {

void begin_in_place(std::string_view op, Context& context, Tensor& tensor) {
  check_same_device(op, context, {{"destination", tensor}});
  if (context.recording() && tensor.requires_grad()) {
    if (tensor.is_leaf()) {
      fail<AutogradError>(op,
                          "a leaf that needs gradients must not be changed in place while ops are recorded: "
                          "{}; wrap the change in NoGrad",
                          describe(tensor));
    }
    fail<AutogradError>(op,
                        "an in-place change records no gradient, yet this tensor of shape {} has history "
                        "(from {}); wrap the change in NoGrad or change a detach()ed tensor",
                        to_string(tensor.shape()), tensor.node()->name());
  }
  tensor.storage()->bump_version();
}

void copy_into(Context& context, Tensor& destination, const Tensor& source) {
  check_same("copy_into", context, {"destination", destination}, {"source", source});
  begin_in_place("copy_into", context, destination);
  device_to_device(destination.data(), source.data(), static_cast<std::size_t>(source.bytes()),
                   context.stream());
}

void add_into(Context& context, Tensor& destination, const Tensor& source, double alpha) {
  check_same("add_into", context, {"destination", destination}, {"source", source});
  const kernels::CountArgs args{destination.count(), alpha};
  const auto axpy = kernels::kernel<kernels::Axpy>(context.device().kind, destination.dtype(), args);
  begin_in_place("add_into", context, destination);
  if (args.count != 0) axpy(source.data(), destination.data(), args, context.stream());
}

void fill_(Context& context, Tensor& tensor, double value) {
  const kernels::CountArgs args{tensor.count(), value};
  const auto fill = kernels::kernel<kernels::Fill>(context.device().kind, tensor.dtype(), args);
  begin_in_place("fill_", context, tensor);
  if (args.count != 0) fill(tensor.data(), args, context.stream());
}

void scale_(Context& context, Tensor& tensor, double factor) {
  const kernels::CountArgs args{tensor.count(), factor};
  const auto scale = kernels::kernel<kernels::Scale>(context.device().kind, tensor.dtype(), args);
  begin_in_place("scale_", context, tensor);
  if (args.count != 0) scale(tensor.data(), tensor.data(), args, context.stream());
}

}  // namespace warpline
