# Every command a person types. Each has `--help`; the work is done by the harness in its container.

set positional-arguments := true

# List the commands
@default:
    just --list --unsorted

# Measure implementations: just bench rust-async python-sync --plan quick
[group('measure')]
@bench *arguments:
    harness/run bench "$@"

# Say which variant is better and by how much: just compare python-sync python-async, just compare node node:DB_POOL_MAX=4
[group('measure')]
@compare *arguments:
    harness/run compare "$@"

# Measure each implementation against its own frozen image, add to the history, judge it: just nightly --budget 2h
[group('measure')]
@nightly *arguments:
    harness/run nightly "$@"

# Print any result again: just report results/reference
[group('measure')]
@report *arguments:
    harness/run report "$@"

# Build the site of all results: one folder that opens from a file, offline
[group('measure')]
@page *arguments:
    harness/run page "$@"

# Serve that site on 127.0.0.1 until Ctrl-C
[group('measure')]
@open *arguments:
    harness/run open "$@"

# Measure what the parts around an application can do, and how near each implementation comes
[group('measure')]
@ceiling *arguments:
    harness/run ceiling "$@"

# Find the highest rate that meets an objective: just capacity rust-async --slo p99=50ms
[group('measure')]
@capacity *arguments:
    harness/run capacity "$@"

# Measure at each value of one setting: just sweep rust-async python-sync --over connections=1..512
[group('measure')]
@sweep *arguments:
    harness/run sweep "$@"

# Load for long and watch memory, descriptors and tails: just soak rust-async --for 30m
[group('measure')]
@soak *arguments:
    harness/run soak "$@"

# Measure fresh starts, to the first right answer and to the full rate: just start rust-async python-async
[group('measure')]
@start *arguments:
    harness/run start "$@"

# Find the wait from which one of two variants wins: just crossover python-sync python-async --wait 0,1,5,15,50ms
[group('measure')]
@crossover *arguments:
    harness/run crossover "$@"

# Recommend model, workers, threads and pool for a service: just advise --wait 30ms --cpu 2ms --rate 400
[group('measure')]
@advise *arguments:
    harness/run advise "$@"

# Say what may be concluded from numbers of others: just audit results.json, just audit table.csv --columns rate=rps
[group('measure')]
@audit *arguments:
    harness/run audit "$@"

# Put the command `tandem`, which works in any folder, into ~/.local/bin or another one; --remove takes it away
[group('serve')]
@install *arguments:
    harness/install "$@"

# Print a service file for --service: just service openapi.yaml > shop.toml
[group('measure')]
@service *arguments:
    harness/run service "$@"

# Explain why B is ahead of A: just explain python-sync python-async --db-rtt 4ms --from published
[group('measure')]
@explain *arguments:
    harness/run explain "$@"

# Measure a recorded study again, and say whether it lies within the recorded noise: just replay results/reference
[group('measure')]
@replay *arguments:
    harness/run replay "$@"

# List the committed records and the time to measure each again; --make measures them, --fetch brings back their raw files
[group('measure')]
@records *arguments:
    harness/run records "$@"

# Measure the main statements on this machine and append what it says: just session, just session --list
[group('measure')]
@session *arguments:
    harness/run session "$@"

# Run a published experiment again, beside what was published: just reproduce list, just reproduce hyper-delay
[group('measure')]
@reproduce *arguments:
    harness/run reproduce "$@"

# Check oha against a second load generator, vegeta, on one implementation
[group('measure')]
@crosscheck *arguments:
    harness/run crosscheck "$@"

# Show which implementation serves which scenario, tried on running containers
[group('measure')]
@matrix *arguments:
    harness/run matrix "$@"

# Prove that the harness is right, on servers of known behaviour (minutes; --full: hours)
[group('measure')]
@selftest *arguments:
    harness/run selftest "$@"

# Run the contract's black-box tests: just verify rust-async, just verify all
[group('measure')]
@verify *arguments:
    harness/run verify "$@"

# Create the folder of a new implementation: just new go-async --model async --language go
[group('develop')]
@new *arguments:
    harness/run new "$@"

# Show where an application's CPU time goes under load: just profile rust-sync --scenario index
[group('develop')]
@profile *arguments:
    harness/run profile "$@"

# Check within seconds that a folder has the shape of an implementation: just shape go-async
[group('develop')]
@shape *arguments:
    harness/run shape "$@"

# Check what this machine can measure, what it cannot, and why
[group('measure')]
@doctor *arguments:
    harness/run doctor "$@"

# List implementations, scenarios, plans, topologies, placements and labs
[group('measure')]
@list *arguments:
    harness/run list "$@"

# Serve one implementation on 127.0.0.1:8080
[group('serve')]
@up *arguments:
    harness/run up "$@"

# Remove what `just up` started
[group('serve')]
@down *arguments:
    harness/run down "$@"

# Remove untagged images of earlier builds
[group('serve')]
@clean *arguments:
    harness/run clean "$@"

# Print the log of a service: just logs app
[group('serve')]
@logs *arguments:
    harness/run logs "$@"

# Run everything that CI runs; --weekly: also what takes hours
[group('develop')]
@test *arguments:
    harness/run test "$@"

# Run the tests that start no container, and the linters
[group('develop')]
@check *arguments:
    harness/run check "$@"

# Format all sources
[group('develop')]
@fmt *arguments:
    harness/run fmt "$@"

# Fill in the figures of the documents from the committed records and the sources; --check: only list stale ones
[group('develop')]
@docs *arguments:
    harness/run docs "$@"

# Print the JSON Schema of result.json and of the trial files, for every study
[group('develop')]
@schema *arguments:
    harness/run schema "$@"

# Print the implementations that a change affects, as JSON: just changed --since main
[group('develop')]
@changed *arguments:
    harness/run changed "$@"

# Print every image with the digest of its sources, as JSON
[group('develop')]
@images *arguments:
    harness/run images "$@"

# Write a new version into the changelog and everywhere else it is stated: just release 1.2.0
[group('develop')]
@release *arguments:
    harness/run release "$@"
