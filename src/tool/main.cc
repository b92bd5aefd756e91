#include <iostream>

#include "tool/cli.h"

int main(int argc, char** argv) { return cairn::tool::run_cli(argc, argv, std::cout, std::cerr); }
