#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite ask for it. Runs in the sources; takes CC,
# CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, OUT and WORK from the environment, and no compiler flag
# and no engine but these. ci/oss-fuzz tries it.

# The flags are the caller's alone: a build type would add its own. Only libc is not there at run
# time for sure.
cmake -S . -B "$WORK/cairn" -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DZLIB_LIBRARY="$("$CXX" -print-file-name=libz.a)" \
  -DCAIRN_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DCAIRN_INVARIANTS=heap \
  -DCAIRN_TOOL=ON -DCAIRN_CUDA=OFF -DCAIRN_INSTALL=OFF
cmake --build "$WORK/cairn" --parallel "$(nproc)" --target fuzzers

for source in fuzz/*_fuzzer.cc; do
  name=$(basename "$source" .cc)
  cp "$WORK/cairn/bin/$name" "fuzz/$name.options" "$OUT/"
  [[ ! -f fuzz/$name.dict ]] || cp "fuzz/$name.dict" "$OUT/"
  seeds=("fuzz/corpus/$name")
  [[ $name != program_fuzzer ]] || seeds+=(proptests/regressions/*.program)
  rm -f "$OUT/${name}_seed_corpus.zip"
  zip --quiet --junk-paths --recurse-paths "$OUT/${name}_seed_corpus.zip" "${seeds[@]}"
done
