// The recipes application, async: coroutines on one event loop per thread. Configured by the
// environment alone.
//
//   GET  /healthz                        alive; never touches the database
//   GET  /pool                           how long the database connections were waited for
//   GET  /                               a fixed page
//   POST /user/, GET PUT DELETE /user/N  users in memory; GET /users/ lists them
//   POST /work?delay_ms=N                adds numbers, then waits
//   GET  /api/v1/recipes                 a random recipe that the session's user may see
//   GET  /api/v1/recipes/N               that recipe
//   POST /api/v1/recipes/N/notes         a note on it
//   GET  /api/v1/dashboard               what is new for the user

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
