// CAIRN_EXPORT: what libcairn.so shows to those who link it. All else in it is its own; the whole
// list is ci/exported_symbols.txt. For C and C++.
#pragma once

#define CAIRN_EXPORT __attribute__((visibility("default")))
