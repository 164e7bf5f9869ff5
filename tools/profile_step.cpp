#include "tools/profile_step.h"

#include <memory>

#include "engine/context.h"
#include "engine/optim/sgd.h"
#include "models/load_dataset.h"
#include "models/loader.h"
#include "models/model.h"
#include "parallel/local.h"
#include "parallel/worker.h"

namespace warpline::tools {

std::vector<emu::profile::KernelProfile> profile_training_step(const std::string& model_name,
                                                               std::int64_t batch_size) {
  const Model model = make_model(model_name);
  const std::shared_ptr<const Dataset> data =
      load_dataset({.kind = DataKind::Builtin, .folder = {}, .colour = model.colour});
  const auto context = std::make_shared<Context>(Device{DeviceKind::EmuChecked, 0}, 1);
  std::vector<emu::profile::KernelProfile> profiles;
  parallel::run_local({context}, {}, [&](int, const std::shared_ptr<parallel::Communicator>& world) {
    parallel::Worker worker(*context, model.layers, model.sample_shape, model.loss, {}, world);
    Sgd optimizer(worker.parameters(), {.lr = 0.01, .momentum = 0.9});
    const auto step = [&](std::int64_t size) {
      const parallel::Batch batch = read_samples(*context, *data, data->train, {0, size}, true, true);
      worker.train_step(batch, optimizer);
      worker.gather_losses();  // waits for the device
    };
    step(1);
    emu::profile::Recording recording;
    step(batch_size);
    profiles = recording.take();
  });
  return profiles;
}

}  // namespace warpline::tools
