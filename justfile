# Every command a person types. Each has `--help`; the work is done by the harness in its container.

set positional-arguments := true

# List the commands
@default:
    just --list --unsorted

# Measure implementations: just bench rust-async python-sync --plan quick
[group('measure')]
@bench *arguments:
    harness/run bench "$@"

# Say which is better and by how much: just compare python-sync python-async, just compare node node:DB_POOL_MAX=4
[group('measure')]
@compare *arguments:
    harness/run compare "$@"

# Measure each implementation against its own frozen image, keep the history, judge it: just nightly --budget 2h
[group('measure')]
@nightly *arguments:
    harness/run nightly "$@"

# Print the table of any result again: just report results/reference
[group('measure')]
@report *arguments:
    harness/run report "$@"

# Build the site of all results: one folder that opens from a file, offline
[group('measure')]
@page *arguments:
    harness/run page "$@"

# Serve that site on 127.0.0.1, until Ctrl-C
[group('measure')]
@open *arguments:
    harness/run open "$@"

# Measure what the parts around an application could do, and how near each one comes
[group('measure')]
@ceiling *arguments:
    harness/run ceiling "$@"

# Search the highest rate that meets an objective: just capacity rust-async --slo p99=50ms
[group('measure')]
@capacity *arguments:
    harness/run capacity "$@"

# Measure at each value of a setting: just sweep rust-async python-sync --over connections=1..512
[group('measure')]
@sweep *arguments:
    harness/run sweep "$@"

# Say from which wait on which of two wins: just crossover python-sync python-async --wait 0,1,5,15,50ms
[group('measure')]
@crossover *arguments:
    harness/run crossover "$@"

# Say which model, workers, threads and pool a service needs, from a model and the records: just advise --wait 30ms --cpu 2ms --rate 400
[group('measure')]
@advise *arguments:
    harness/run advise "$@"

# Say why B is ahead of A: just explain python-sync python-async --db-rtt 4ms --from published
[group('measure')]
@explain *arguments:
    harness/run explain "$@"

# Make a recorded study again and say whether it lies within the recorded noise: just replay results/reference
[group('measure')]
@replay *arguments:
    harness/run replay "$@"

# List the committed records and what each takes to be made anew; --make makes them, and goes on where it was
[group('measure')]
@records *arguments:
    harness/run records "$@"

# Make a published experiment again, beside what was published: just reproduce list, just reproduce hyper-delay
[group('measure')]
@reproduce *arguments:
    harness/run reproduce "$@"

# Ask a second load generator, vegeta: do both say the same about an implementation?
[group('measure')]
@crosscheck *arguments:
    harness/run crosscheck "$@"

# Say which implementation serves which scenario, tried on running containers
[group('measure')]
@matrix *arguments:
    harness/run matrix "$@"

# Prove that the harness tells the truth, against servers of known behaviour (five minutes; --full: hours)
[group('measure')]
@selftest *arguments:
    harness/run selftest "$@"

# Run the contract's black-box tests: just verify rust-async, just verify all
[group('measure')]
@verify *arguments:
    harness/run verify "$@"

# Make the folder of a new implementation: just new go-async --model async --language go
[group('develop')]
@new *arguments:
    harness/run new "$@"

# Say where an application's CPU time goes under load: just profile rust-sync --scenario index
[group('develop')]
@profile *arguments:
    harness/run profile "$@"

# Say in seconds whether a folder has the shape that takes part: just shape go-async
[group('develop')]
@shape *arguments:
    harness/run shape "$@"

# Say what this machine is fit for, what it is not, and why
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

# Remove the images that earlier builds left without a tag
[group('serve')]
@clean *arguments:
    harness/run clean "$@"

# Print the log of a served service: just logs app
[group('serve')]
@logs *arguments:
    harness/run logs "$@"

# Run all that CI runs; --weekly: also what takes hours
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

# Fill the figures of the documents in from the committed records and the sources; --check: only say which are stale
[group('develop')]
@docs *arguments:
    harness/run docs "$@"

# Print the JSON Schema of result.json, of every study, and of its trials
[group('develop')]
@schema *arguments:
    harness/run schema "$@"

# Print the implementations that a change touches, as JSON: just changed --since main
[group('develop')]
@changed *arguments:
    harness/run changed "$@"

# Print every image with the digest of its sources, as JSON
[group('develop')]
@images *arguments:
    harness/run images "$@"

# Write a new version into the changelog and wherever it stands: just release 1.2.0
[group('develop')]
@release *arguments:
    harness/run release "$@"
