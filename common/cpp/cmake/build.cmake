# How both servers are built. To be included before any target.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH COMMON)
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
# As in the release profile of the servers in Rust: the third level, and one optimisation of the whole. Names of functions
# stay, for profiles.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(Boost_USE_STATIC_LIBS ON)
add_compile_options(-Wall -Wextra -Wpedantic -Werror)

# "We recommend against combining -Werror and the use of sanitizers", for their false warnings:
# https://gcc.gnu.org/onlinedocs/gcc-14.2.0/gcc/Instrumentation-Options.html
set(SANITIZE "" CACHE STRING "What -fsanitize finds: thread, or address,undefined")
if(SANITIZE)
  # Asio's fences, which ThreadSanitizer does not see, stand beside locks, which it does.
  add_compile_options(-fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    -Wno-error -Wno-tsan -Wno-maybe-uninitialized)
  # Linked in, so that an image for it needs no more packages than any other.
  add_link_options(-fsanitize=${SANITIZE} -static-libasan -static-libubsan -static-libtsan)
  add_library(suppressions OBJECT ${COMMON}/cmake/suppressions.cpp)
  link_libraries(suppressions)
endif()

# The tests of the common code and of the server, beside its library.
function(add_unit_tests application)
  find_package(Catch2 3 REQUIRED)
  file(GLOB tests CONFIGURE_DEPENDS ${COMMON}/tests/*.cpp tests/*.cpp)
  add_executable(unit-tests ${tests})
  target_include_directories(unit-tests PRIVATE ${COMMON}/tests)
  target_link_libraries(unit-tests PRIVATE ${application} Catch2::Catch2WithMain)
endfunction()
