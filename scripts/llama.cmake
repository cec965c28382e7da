# Which parts of llama-cpp-python's source are built, and how: CMake includes this file at the
# project's start (scripts/llama_source.py puts it there). The box needs the libraries of ggml, llama
# and mtmd; llama.cpp's programs, its server and their common library would take half of the build.

# A variable of the project has precedence over the cache variable that the project sets to ON.
set(LLAMA_BUILD_COMMON OFF)

# What runs for each token or each second of sound keeps llama.cpp's own optimisation, as does all
# arithmetic of ggml: the context, the graph, the cache, the batch, the sampler and the spectrum.
# What runs once for a model, or never here, is optimised less, which is compiled sooner.
function(interlude_compile_faster)
  set(llama ${CMAKE_SOURCE_DIR}/vendor/llama.cpp/src)
  set(mtmd ${CMAKE_SOURCE_DIR}/vendor/llama.cpp/tools/mtmd)
  set(ggml ${CMAKE_SOURCE_DIR}/vendor/llama.cpp/ggml/src)

  target_compile_options(llama PRIVATE -O1)
  set_source_files_properties(
    ${llama}/llama-batch.cpp ${llama}/llama-context.cpp ${llama}/llama-graph.cpp
    ${llama}/llama-kv-cache.cpp ${llama}/llama-kv-cache-iswa.cpp ${llama}/llama-sampler.cpp
    TARGET_DIRECTORY llama PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)

  target_compile_options(mtmd PRIVATE -O1)
  set_source_files_properties(
    ${mtmd}/mtmd-audio.cpp
    TARGET_DIRECTORY mtmd PROPERTIES COMPILE_OPTIONS -O3 SKIP_UNITY_BUILD_INCLUSION ON)

  set_source_files_properties(
    ${ggml}/gguf.cpp ${ggml}/ggml-backend-meta.cpp ${ggml}/ggml-opt.cpp
    TARGET_DIRECTORY ggml-base PROPERTIES COMPILE_OPTIONS -O1)

  # Most of the time goes into reading headers: several files in one unit, as llama.cpp itself
  # compiles its models, and the standard headers read once. Three files of mtmd redefine each
  # other's macros and stay alone.
  set_target_properties(llama PROPERTIES UNITY_BUILD_BATCH_SIZE 32)
  set_target_properties(mtmd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
  set_source_files_properties(
    ${mtmd}/mtmd.cpp ${mtmd}/mtmd-helper.cpp ${mtmd}/mtmd-helper-gen.cpp
    TARGET_DIRECTORY mtmd PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(
    ${llama}/llama-adapter.cpp ${llama}/llama-arch.cpp ${llama}/llama-chat.cpp
    ${llama}/llama-cparams.cpp ${llama}/llama-hparams.cpp ${llama}/llama-impl.cpp
    ${llama}/llama-io.cpp ${llama}/llama-kv-cache-dsa-iswa.cpp ${llama}/llama-kv-cache-dsa.cpp
    ${llama}/llama-kv-cache-dsv4.cpp ${llama}/llama-kv-cache-msa.cpp
    ${llama}/llama-memory-hybrid-idx.cpp ${llama}/llama-memory-hybrid-iswa.cpp
    ${llama}/llama-memory-hybrid.cpp ${llama}/llama-memory-recurrent.cpp ${llama}/llama-memory.cpp
    ${llama}/llama-mmap.cpp ${llama}/llama-model-saver.cpp ${llama}/llama.cpp
    TARGET_DIRECTORY llama PROPERTIES SKIP_UNITY_BUILD_INCLUSION OFF)
  target_precompile_headers(
    llama PRIVATE <algorithm> <array> <atomic> <cinttypes> <cmath> <cstring> <fstream> <functional>
    <future> <map> <memory> <mutex> <numeric> <random> <regex> <set> <sstream> <stdexcept> <string>
    <thread> <unordered_map> <unordered_set> <vector>)
endfunction()
cmake_language(DEFER CALL interlude_compile_faster)
