// Profiles as people read them.
#pragma once

#include <string>
#include <vector>

#include "kernels/emu/profile/profile.h"

namespace warpline::emu::profile {

// A line a kernel: requests of warps to memory and what each costs, barriers, branches at which lanes part.
std::string kernel_table(const std::vector<KernelProfile>& profiles);

// The same of each place in the kernel's source.
std::string line_table(const KernelProfile& profile);

}  // namespace warpline::emu::profile
