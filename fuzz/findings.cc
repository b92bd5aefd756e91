#include "fuzz/findings.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "testing/gzip_file.h"
#include "testing/play.h"
#include "testing/printer.h"
#include "testing/shrink.h"

namespace cairn::fuzz {
namespace {

// FNV-1a: the same text has the same name on every machine.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace

std::string replay_command(const std::string& file) {
  return "build/checked/bin/cairn run " + file;
}

bool write_program(const std::string& file, const testing::Program& program) {
  const auto written = testing::write_content(file, testing::print_program(program));
  if (!written) std::fprintf(stderr, "%s: %s\n", file.c_str(), written.error().c_str());
  return static_cast<bool>(written);
}

void keep_finding(const std::string& target, const testing::Program& program,
                  const testing::WorldOptions& options) {
  const char* folder = std::getenv("CAIRN_FINDINGS");
  if (folder == nullptr) return;
  std::error_code ignored;  // What is wrong with the folder is said when the file is written.
  std::filesystem::create_directories(folder, ignored);
  const std::string file = std::string(folder) + "/" + target + "-" +
                           hash_of(testing::print_program(program)) + ".program";
  if (!write_program(file, program)) return;
  std::fprintf(stderr, "%s: %zu statements\n", file.c_str(), program.statements.size());
  if (testing::play(program, options).result.kind == testing::StepResult::Kind::finding) {
    const testing::Program shorter = testing::shrink(program, options);
    if (write_program(file, shorter))
      std::fprintf(stderr, "%s: made shorter, %zu statements\n", file.c_str(),
                   shorter.statements.size());
  }
  std::fprintf(stderr, "replay: %s\n", replay_command(file).c_str());
}

}  // namespace cairn::fuzz
