# Lists the recipes.
default:
    @just --list

# The main job, on the embedded store.
demo:
    cargo run --release --example summaries

# All Rust tests.
test:
    cargo test --workspace

# What a change has to pass.
ci:
    .ci/run

# The wasm parts, and the WIT packages that apps import, in target/components.
components:
    cargo run --quiet -p witlock-parts -- target/components

# The guests of all languages, in target/guests.
guests:
    guest/sdk/build

# Runs them in each case, and writes the table of the documentation.
conformance:
    WITLOCK_WRITE_TABLE=1 cargo test --workspace --test languages -- --ignored the_documentation

# An app composed with the lock engine, run by the stock wasmtime command line.
compose:
    host/examples/composed/run

# A key held in turn by commands, by a guest, and by an app with client.wasm, of a
# store that is served.
share:
    cargo build
    host/examples/shared/run

# The benchmarks; `ratios` has what the README's table says.
bench:
    cargo bench --workspace --bench ratios --bench hold --bench due

# Cycles of a served store beside its peers, as far as `just peers` installed them.
bench-served:
    cargo bench --workspace --bench served

# Redis, etcd and tinystore's server, into target/peers.
peers:
    .ci/peers

# Random histories beside the model, until Ctrl-C or a difference.
simulate:
    cargo run --release --bin simulate

# A minute of bytes and messages at random, at the decoder of frames, the server and
# the client.
fuzz:
    WITLOCK_FUZZ_FOR=60 cargo test --workspace --test fuzz -- --nocapture --test-threads 3

# Real faults over sockets, for so many seconds, by a seed that it prints
# (WITLOCK_SEED, to have it again).
torture seconds="600":
    WITLOCK_FAULTS_FOR={{seconds}} cargo test --workspace --test faults -- --ignored --nocapture

# Instructions of one hold and its release, by valgrind, which has to be there.
profile:
    #!/usr/bin/env bash
    set -euo pipefail
    cargo build --quiet --release --bin cycles
    count() {
        valgrind --tool=callgrind --callgrind-out-file=target/callgrind.$1 target/release/cycles $1 2>&1 |
            sed -n 's/.*Collected : //p'
    }
    few=$(count 1000) many=$(count 11000)
    echo "$(((many - few) / 10000)) instructions; callgrind_annotate target/callgrind.11000 tells whose"

# Formats everything.
fmt:
    cargo fmt --all

# Lints everything, as CI does.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The documentation, as docs.rs shows it.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The crate as it is published, with its wasm parts built.
package:
    .ci/package
