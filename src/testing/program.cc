#include "testing/program.h"

namespace cairn::testing {

Statement::Statement() = default;
Statement::Statement(const Statement& other) = default;
Statement::Statement(Statement&& other) noexcept = default;
Statement& Statement::operator=(const Statement& other) = default;
Statement& Statement::operator=(Statement&& other) noexcept = default;
Statement::~Statement() = default;

bool operator==(const Statement& a, const Statement& b) {
  return a.thread == b.thread && a.operation == b.operation && a.expected == b.expected;
}

bool operator==(const During& a, const During& b) {
  return a.call == b.call && a.at == b.at && a.body == b.body;
}

bool operator==(const Parallel& a, const Parallel& b) { return a.body == b.body; }

}  // namespace cairn::testing
