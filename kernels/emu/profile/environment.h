// WARPLINE_PROFILE=1 in the environment: a program's kernels are counted from its start to its end.
#pragma once

namespace warpline::emu::profile {

// Asks for the checked kernels, for only they are counted. ValueError: it is neither 1 nor 0.
bool wanted_by_environment();

// Records from now on. When the program ends, the counts of each kernel and of its lines go to stderr.
void record_until_exit();

}  // namespace warpline::emu::profile
