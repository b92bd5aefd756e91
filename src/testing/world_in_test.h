// For tests: short Programs, and how they must end.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "testing/parser.h"
#include "testing/world.h"

namespace cairn::testing {

inline RunReport run_text(const std::string& text, const RunOptions& options = {}) {
  const auto program = parse_program(text);
  if (program.failed()) {
    ADD_FAILURE() << program.error().line << ":" << program.error().column << ": "
                  << program.error().message << "\n"
                  << text;
    return {};
  }
  return run(*program, options);
}

inline std::string in_words(const RunReport& report) {
  return std::to_string(report.line) + ":" + std::to_string(report.column) + ": " +
         report.statement + "\n  expected " + report.expected + "\n  found " + report.found +
         "\n  " + report.why;
}

inline void holds(const std::string& text) {
  const RunReport report = run_text(text);
  EXPECT_EQ(report.verdict, Verdict::holds) << text << in_words(report);
}

inline void ends(const std::string& text, Verdict verdict, int line, const std::string& says) {
  const RunReport report = run_text(text);
  EXPECT_EQ(report.verdict, verdict) << text << "\n" << in_words(report);
  EXPECT_EQ(report.line, line) << text << "\n" << in_words(report);
  EXPECT_NE(in_words(report).find(says), std::string::npos) << text << "\n" << in_words(report);
}

inline void violated(const std::string& text, int line, const std::string& says) {
  ends(text, Verdict::violated, line, says);
}
inline void mistaken(const std::string& text, int line, const std::string& says) {
  ends(text, Verdict::mistaken, line, says);
}
inline void unsupported(const std::string& text, int line, const std::string& says = "") {
  ends(text, Verdict::unsupported, line, says);
}

}  // namespace cairn::testing
