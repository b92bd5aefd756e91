// The version of these headers; cairn_version() (cairn/cairn.h) gives that of the library. Until
// 1.0 two versions that differ in MINOR are not compatible. For C and C++.
#pragma once

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0
#define CAIRN_VERSION "0.1.0"
