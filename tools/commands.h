// The subcommands: each adds itself to the program in a file of its own. A callback reports failure by
// throwing; main maps BadInput and CLI11's own errors to exit status 2, every other failure to 1.
#pragma once

namespace CLI {
class App;
}

namespace warpline::tools {

void add_train(CLI::App& app);
void add_infer(CLI::App& app);
void add_op(CLI::App& app);
void add_doctor(CLI::App& app);
void add_profile(CLI::App& app);
void add_bench(CLI::App& app);
void add_schedule(CLI::App& app);

}  // namespace warpline::tools
