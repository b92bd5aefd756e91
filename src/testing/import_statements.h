// Statements as importers write them.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "testing/program.h"

namespace cairn::testing {

inline Statement make_statement(Operation operation, std::optional<int> thread = {}) {
  Statement statement;
  statement.thread = thread;
  statement.operation = std::move(operation);
  return statement;
}

inline Alloc make_alloc(std::string name, Bytes size, std::string stream) {
  Alloc alloc;
  alloc.name = std::move(name);
  alloc.size = size;
  alloc.stream = std::move(stream);
  return alloc;
}

inline Free make_free(std::string name) {
  Free free;
  free.target = NamedTarget{std::move(name), Bytes{0}};
  return free;
}

inline Term number_term(std::uint64_t number) {
  Term term;
  term.number = number;
  return term;
}

inline Term query_term(std::string query, std::optional<DeviceIndex> device = {}) {
  Term term;
  term.query = std::move(query);
  term.device = device;
  return term;
}

}  // namespace cairn::testing
