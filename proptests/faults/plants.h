// Faults of the allocator that are planted, to see that the matrix finds them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "examine.h"

namespace cairn::faults {

std::vector<std::string> names_of_plants();
// None where there is no plant of that name.
std::optional<Plant> plant_of(const std::string& name);

}  // namespace cairn::faults
