// SGD, Adam and AdamW.
#include <cmath>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "engine/autograd.h"
#include "engine/ops/nll_loss.h"
#include "engine/optim/adam.h"
#include "engine/optim/sgd.h"
#include "kernels/error.h"
#include "tests/support/errors.h"
#include "tests/support/not_finite.h"
#include "tests/support/options.h"
#include "tests/support/values.h"

using namespace warpline;
using namespace warpline::test;

namespace {

const Offers offers{true, false};
// A few float32 roundings a step on numbers of magnitude up to 2.
constexpr double kTolerance = 16 * 1.2e-7;

Parameter parameter(Context& context, const std::string& name, const std::vector<double>& x) {
  Parameter result{name, {static_cast<std::int64_t>(x.size())}, 0.0, {}};
  result.value = make(context, x, result.shape).set_requires_grad().set_name(name);
  return result;
}

void set_gradient(Context& context, Parameter& p, const std::vector<double>& g) {
  p.value.set_grad(make(context, g, p.shape));
}

// The parameter, from 1, after each of some steps with the same gradient.
template <class O, class Options>
std::vector<double> walk(Context& context, const Options& options, double gradient) {
  Parameter p = parameter(context, "p", {1});
  O optimizer({&p}, options);
  std::vector<double> result;
  for (int step = 0; step < 3; ++step) {
    set_gradient(context, p, {gradient});
    optimizer.step(context);
    result.push_back(values(p.value)[0]);
  }
  return result;
}

// From {1, -2} with gradients {g, 2 g - 1} for g = 0.5, -1, 2.
template <class O, class Options>
std::vector<double> varied(Context& context, const Options& options) {
  Parameter p = parameter(context, "p", {1, -2});
  O optimizer({&p}, options);
  std::vector<double> result;
  for (const double g : {0.5, -1.0, 2.0}) {
    set_gradient(context, p, {g, 2 * g - 1});
    optimizer.step(context);
    for (const double value : values(p.value)) result.push_back(value);
  }
  return result;
}

}  // namespace

TEST_CASE("a bad target stops the run before any parameter is updated", "[optim][nll_loss]") {
  on_each_device("bad target, then a step", [](Context& context) {
    Parameter parameter;
    parameter.name = "w";
    parameter.value = make(context, {1, 2, 3}, {1, 3}).set_requires_grad();
    Sgd optimizer({&parameter}, SgdOptions{.lr = .1});
    // `ref` and `cpu` tell at the loss, a device at the step's synchronisation.
    const auto step = [&] {
      const Tensor target = make(context, {7}, {1}, DType::Int64);
      const Tensor loss = nll_loss(context, parameter.value, target);
      backward(context, {loss}, {Tensor::full(context, {}, 1.0)});
      optimizer.step(context);
    };
    CHECK_THAT(error_of<ValueError>(step), Catch::Contains("row 0 holds 7, for 3 classes"));
    CHECK(values(parameter.value) == std::vector<double>{1, 2, 3});
  });
}

TEST_CASE("SGD with momentum, dampening and Nesterov gives PyTorch's sequences", "[optim][sgd]") {
  on_each_device("sgd sequences", [](Context& context) {
    CHECK(difference(walk<Sgd>(context, SgdOptions{.lr = .1}, .5), {.95, .9, .85}, kTolerance) == "");
    CHECK(difference(walk<Sgd>(context, SgdOptions{.lr = .1, .momentum = .9}, .5), {.95, .855, .7195},
                     kTolerance) == "");
    CHECK(difference(walk<Sgd>(context, SgdOptions{.lr = .1, .momentum = .9, .dampening = .5}, .5),
                     {.95, .88, .792}, kTolerance) == "");
    CHECK(difference(walk<Sgd>(context, SgdOptions{.lr = .1, .momentum = .9, .nesterov = true}, .5),
                     {.905, .7695, .59755}, kTolerance) == "");
    // Numbers of PyTorch 1.13.
    CHECK(
        difference(
            varied<Sgd>(context, SgdOptions{.lr = .1, .momentum = .9, .dampening = .25, .weight_decay = .01}),
            {0.949, -1.998, 0.97738825, -1.7697015, 0.8522046338124999, -1.787905573875}, kTolerance) == "");
    CHECK(difference(varied<Sgd>(context,
                                 SgdOptions{.lr = .1, .momentum = .9, .weight_decay = .01, .nesterov = true}),
                     {0.9031, -1.9962, 1.05007411, -1.42078722, 0.7111684581909999, -1.742012802282},
                     kTolerance) == "");
  });
}

TEST_CASE("Adam and AdamW give PyTorch's sequences", "[optim][adam]") {
  on_each_device("adam sequences", [](Context& context) {
    AdamOptions adamw = kAdamW;
    adamw.lr = .1;
    CHECK(difference(walk<Adam>(context, AdamOptions{.lr = .1}, .5), {.9, .8, .7}, 1e-6) == "");
    CHECK(difference(walk<Adam>(context, AdamOptions{.lr = .1, .weight_decay = .1}, .5), {.9, .80005, .70017},
                     5e-6) == "");  // the digits given
    CHECK(difference(walk<Adam>(context, adamw, .5), {.899, .7981, .6973}, 5e-5) == "");
    CHECK(difference(walk<Adam>(context, AdamOptions{.lr = .1}, 0), {1, 1, 1}) == "");
    // 0.1 x 0.5 / (0.5 + 1) a step.
    CHECK(difference(walk<Adam>(context, AdamOptions{.lr = .1, .eps = 1}, .5),
                     {0.9666666666666667, 0.9333333333333333, 0.9}, kTolerance) == "");
    // Numbers of PyTorch 1.13.
    CHECK(difference(
              varied<Adam>(context, AdamOptions{.lr = .1, .beta1 = .8, .beta2 = .95, .weight_decay = .1}),
              {0.9000000016666666, -1.9000000049999997, 0.9308391063203053, -1.8186814686863424,
               0.87918024332315, -1.820957628639142},
              kTolerance) == "");
    CHECK(difference(varied<Adam>(context, adamw),
                     {0.899000002, -1.998, 0.9347113542385653, -1.9215883179940036, 0.8918110813618659,
                      -1.9241849536352817},
                     kTolerance) == "");
    CHECK(Adam({}, adamw).name() == "adamw");
    CHECK(Adam({}).name() == "adam");
  });
}

TEST_CASE("a parameter without a gradient is skipped, weight decay too", "[optim]") {
  on_each_device("optimisers skip", [](Context& context) {
    Parameter a = parameter(context, "a", {1, 2}), b = parameter(context, "b", {3});
    Sgd sgd({&a, &b}, {.lr = .5, .momentum = .9, .weight_decay = .5});
    Adam adam({&a, &b}, {.lr = .5, .weight_decay = .5});
    set_gradient(context, a, {1, 1});
    sgd.step(context);
    adam.step(context);
    CHECK(difference(values(b.value), {3}) == "");
    CHECK(values(a.value)[0] < 1);
    CHECK(sgd.state(context).size() == 1);
    CHECK(adam.state(context).size() == 3);
    // Its momentum starts when its first gradient comes, not with the others.
    set_gradient(context, b, {2});
    sgd.step(context);
    CHECK(difference(values(sgd.state(context).at("b.momentum_buffer")), {3.5}) == "");
    adam.zero_grad();
    CHECK_FALSE(a.value.grad().defined());
    CHECK_FALSE(b.value.grad().defined());
  });
}

TEST_CASE("a step counts as an in-place change, and works on empty parameters", "[optim]") {
  on_each_device("optimiser versions", [](Context& context) {
    Parameter a = parameter(context, "a", {1}), none = parameter(context, "none", {});
    Adam adam({&a, &none});
    set_gradient(context, a, {1});
    set_gradient(context, none, {});
    const std::uint64_t before = a.value.storage()->version();
    adam.step(context);
    CHECK(a.value.storage()->version() == before + 1);
    CHECK(adam.state(context).at("none.exp_avg").shape() == Shape{0});
  });
}

TEST_CASE("a restored optimiser goes on bit for bit, also on a rank that holds a part", "[optim]") {
  on_each_device("optimiser state", [](Context& context) {
    const auto make_optimizer = [](int kind, std::vector<Parameter*> parameters) {
      std::unique_ptr<Optimizer> result;
      if (kind == 0) {
        result = std::make_unique<Sgd>(parameters, SgdOptions{.lr = .1, .momentum = .9, .dampening = .3});
      } else {
        result = std::make_unique<Adam>(parameters, kind == 1 ? AdamOptions{.lr = .1} : kAdamW);
      }
      return result;
    };
    const auto run = [&](Optimizer& optimizer, std::vector<Parameter*> parameters, int from, int to) {
      for (int step = from; step < to; ++step) {
        for (Parameter* p : parameters) {
          const std::int64_t salt = step + static_cast<std::int64_t>(p->name.size());
          set_gradient(context, *p, noise(p->shape[0], salt));
        }
        optimizer.step(context);
      }
    };
    for (const int kind : {0, 1, 2}) {
      Parameter a = parameter(context, "a", {1, 2, 3}), bb = parameter(context, "bb", {4});
      const auto whole = make_optimizer(kind, {&a, &bb});
      run(*whole, {&a, &bb}, 0, 3);
      const std::map<std::string, Tensor> saved = whole->state(context);
      const std::vector<double> bb_then = values(bb.value);
      run(*whole, {&a, &bb}, 3, 6);

      Parameter part = parameter(context, "bb", bb_then);
      const auto resumed = make_optimizer(kind, {&part});
      resumed->load_state(context, saved);
      run(*resumed, {&part}, 3, 6);
      CHECK(difference(values(part.value), values(bb.value)) == "");
      CHECK(resumed->state(context).size() == (kind == 0 ? 1 : 3));
      if (kind != 0) CHECK(resumed->state(context).at("bb.step").item() == 6);
    }
  });
}

TEST_CASE("state that does not fit is refused by name, and nothing changes", "[optim][errors]") {
  on_each_device("optimiser state errors", [](Context& context) {
    Parameter a = parameter(context, "a", {1, 2}), b = parameter(context, "b", {3});
    Adam adam({&a, &b});
    set_gradient(context, a, {1, 1});
    set_gradient(context, b, {1});
    adam.step(context);
    const std::map<std::string, Tensor> good = adam.state(context);
    const auto load = [&](const std::string& name, const Tensor& replacement) {
      return [&, name, replacement] {
        std::map<std::string, Tensor> state = good;
        state.erase(name);
        if (replacement.defined()) state.emplace(name, replacement);
        adam.load_state(context, state);
      };
    };
    CHECK(error_of<ValueError>(load("b.exp_avg_sq", {})) ==
          "[adam] the state of a parameter must be whole: b.exp_avg_sq is missing, 2 of 3 are there");
    CHECK(error_of<ShapeError>(load("b.exp_avg", Tensor::zeros(context, {2}))) ==
          "[adam] b.exp_avg must have shape [1]: it has [2]");
    CHECK(error_of<DTypeError>(load("b.exp_avg", Tensor::zeros(context, {1}, DType::Float64))) ==
          "[adam] b.exp_avg must be float32: it is float64");
    CHECK(error_of<ValueError>(load("b.step", Tensor::zeros(context, {}, DType::Int64))) ==
          "[adam] b.step must be at least 1: it is 0");
    CHECK(error_of<DTypeError>(load("b.step", Tensor::zeros(context, {}))) ==
          "[adam] b.step must be int64: it is float32");
    for (const auto& [name, tensor] : adam.state(context)) {
      CHECK(difference(values(tensor), values(good.at(name))) == "");
    }
  });
}

TEST_CASE("where no kernel fits one parameter, none is changed", "[optim][errors]") {
  Context context({DeviceKind::Cpu, 0});
  const auto made = [&](const std::string& name, DType dtype) {
    Parameter p{name, {1}, 0.0, {}};
    p.value = make(context, {1}, {1}, dtype).set_requires_grad().set_name(name);
    p.value.set_grad(make(context, {1}, {1}, dtype));
    return p;
  };
  Parameter first = made("first", DType::Float32), second = made("second", DType::Float64);
  Sgd sgd({&first, &second}, {.lr = 1});
  Adam adam({&first, &second});
  for (Optimizer* optimizer : std::initializer_list<Optimizer*>{&sgd, &adam}) {
    CHECK_THROWS_AS(optimizer->step(context), DTypeError);
    CHECK(values(first.value) == std::vector<double>{1});
    CHECK(optimizer->state(context).empty());
  }
}

TEST_CASE("options that make no sense are refused with their value", "[optim][errors]") {
  const auto sgd = [](const SgdOptions& options) { return [options] { Sgd optimizer({}, options); }; };
  const auto adam = [](const AdamOptions& options) { return [options] { Adam optimizer({}, options); }; };
  CHECK(error_of<ValueError>(sgd({.lr = -.1})) == "[sgd] lr must be finite and not negative: it is -0.1");
  CHECK(error_of<ValueError>(sgd({.lr = kNaN})) == "[sgd] lr must be finite and not negative: it is nan");
  CHECK(error_of<ValueError>(sgd({.momentum = -1})) ==
        "[sgd] momentum must be finite and not negative: it is -1");
  CHECK(error_of<ValueError>(sgd({.weight_decay = kInf})) ==
        "[sgd] weight_decay must be finite and not negative: it is inf");
  CHECK(error_of<ValueError>(sgd({.dampening = kNaN})) == "[sgd] dampening must be finite: it is nan");
  CHECK(error_of<ValueError>(sgd({.nesterov = true})) ==
        "[sgd] nesterov needs momentum above 0 and dampening 0: momentum is 0, dampening 0");
  CHECK(error_of<ValueError>(sgd({.momentum = .9, .dampening = .5, .nesterov = true})) ==
        "[sgd] nesterov needs momentum above 0 and dampening 0: momentum is 0.9, dampening 0.5");
  CHECK(error_of<ValueError>(adam({.lr = kInf})) == "[adam] lr must be finite and not negative: it is inf");
  CHECK(error_of<ValueError>(adam({.eps = -1e-8})) ==
        "[adam] eps must be finite and not negative: it is -1e-08");
  CHECK(error_of<ValueError>(adam({.beta1 = 1})) == "[adam] betas must lie in [0, 1): they are 1 and 0.999");
  CHECK(error_of<ValueError>(adam({.beta2 = 1})) == "[adam] betas must lie in [0, 1): they are 0.9 and 1");
  CHECK(error_of<ValueError>(adam({.beta1 = -.1})) ==
        "[adam] betas must lie in [0, 1): they are -0.1 and 0.999");
  CHECK(error_of<ValueError>(adam({.beta2 = kNaN, .decoupled = true})) ==
        "[adamw] betas must lie in [0, 1): they are 0.9 and nan");
  CHECK(error_of<ValueError>([] { Sgd({}, {}).set_lr(-1); }) ==
        "[sgd] lr must be finite and not negative: it is -1");
}

TEST_CASE("parameters that make no sense are refused by name", "[optim][errors]") {
  on_each_device("optimiser parameters", [](Context& context) {
    Parameter a = parameter(context, "a", {1}), same = parameter(context, "a", {2}), unset{"c", {1}, 0, {}};
    CHECK(error_of<ValueError>([&] {
            Sgd({&a, &same}, {});
          }) == "[optimizer] each parameter may be given once: a is there twice");
    CHECK(error_of<ValueError>([] { Sgd({nullptr}, {}); }) == "[optimizer] parameter 0 is null");
    Sgd sgd({&a, &unset}, {.lr = 1});
    set_gradient(context, a, {1});
    CHECK_THAT(error_of<AutogradError>([&] { sgd.step(context); }),
               Catch::Contains("parameter c has no value"));
    CHECK(difference(values(a.value), {1}) == "");  // checked before the first one changes
  });
}
