// Keeps what a target found as a Program, in the folder that the environment variable
// CAIRN_FINDINGS names; without it nothing is written.
// Thread safety: none is needed; a target that finds something ends.
#pragma once

#include <string>

#include "testing/program.h"
#include "testing/world.h"

namespace cairn::fuzz {

// Writes the Program as it went to TARGET-HASH.program at once, then makes it shorter, writes it
// again, and prints the command that replays it.
void keep_finding(const std::string& target, const testing::Program& program,
                  const testing::WorldOptions& options);

// The command that replays the file.
std::string replay_command(const std::string& file);

// False, with a word on stderr, where the file cannot be written.
bool write_program(const std::string& file, const testing::Program& program);

}  // namespace cairn::fuzz
