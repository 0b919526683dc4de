// The recipes application, async: coroutines on one event loop per thread. Configured by the
// environment alone; its paths are in routes.cpp.

#include "config.hpp"
#include "log.hpp"
#include "process.hpp"
#include "server.hpp"

int main() {
    return tandem::run_process([] {
        const auto config = tandem::read_config(tandem::process_environment);
        tandem::set_log_level(config.log_level);
        tandem::serve(config);
    });
}
