// What a flag's value may look like, for all flags of all subcommands: not empty (an unset shell variable),
// and whole numbers in plain decimal digits that fit (the command line library reads 010 as 8 and clamps what
// is too large).
#pragma once

namespace CLI {
class App;
}

namespace warpline::tools {

void require_plain_values(CLI::App& app);

}  // namespace warpline::tools
