# Which parts of llama-cpp-python's source are built, and how: CMake includes this file at the
# project's start (scripts/llama_source.py puts it there). The box needs the libraries of ggml, llama
# and mtmd; llama.cpp's programs, its server and their common library would take half of the build.

# A variable of the project has precedence over the cache variable that the project sets to ON.
set(LLAMA_BUILD_COMMON OFF)

function(interlude_compile_faster)
  set(llama ${CMAKE_SOURCE_DIR}/vendor/llama.cpp/src)
  set(mtmd ${CMAKE_SOURCE_DIR}/vendor/llama.cpp/tools/mtmd)

  # Several files in one unit, as llama.cpp itself compiles its models: most of the time goes into
  # reading headers. The three files that are left out redefine each other's macros.
  set_target_properties(mtmd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  set_source_files_properties(
    ${mtmd}/mtmd.cpp ${mtmd}/mtmd-helper.cpp ${mtmd}/mtmd-helper-gen.cpp
    TARGET_DIRECTORY mtmd PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

  # Less optimisation for code that runs once for a model, or never here. What runs for each token
  # (graph, context, caches, sampler, vocabulary) and all arithmetic (ggml) keep llama.cpp's own.
  set_source_files_properties(
    ${llama}/llama-arch.cpp ${llama}/llama-chat.cpp ${llama}/llama-grammar.cpp
    ${llama}/llama-model-loader.cpp ${llama}/llama-model-saver.cpp ${llama}/llama-model.cpp
    ${llama}/llama-quant.cpp
    TARGET_DIRECTORY llama PROPERTIES COMPILE_OPTIONS -O1)
endfunction()
cmake_language(DEFER CALL interlude_compile_faster)
