// Runs a launch under the checks: alone, block after block, on the calling thread.
#pragma once

#include "kernels/call_note.h"
#include "kernels/emu/grid.h"
#include "kernels/emu/queue.h"

namespace warpline::emu::check {

// Throws KernelError where the kernel had to be stopped. Reports that stop nothing are noted in the moment's
// queue.
// While kernels are recorded, it is counted as well; `note`: what for.
void run_checked(Launch& launch, const KernelCall& call, int device, const Moment& moment,
                 const kernels::CallNote& note);

}  // namespace warpline::emu::check
