// The subcommands: each adds itself to the program in a file of its own. A command reports failure by
// throwing; main maps BadInput and a wrong command line to exit status 2, every other failure to 1.
#pragma once

#include "tools/command.h"

namespace warpline::tools {

void add_train(Command program);
void add_infer(Command program);
void add_op(Command program);
void add_doctor(Command program);
void add_profile(Command program);
void add_bench(Command program);
void add_schedule(Command program);

}  // namespace warpline::tools
