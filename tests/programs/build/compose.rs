//! Composes programs with `locks.wasm` and `client.wasm`, as `wac plug` does it, and
//! where a clock is to be shared, by hand.

use std::fs;
use std::path::Path;

use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, NodeId, PackageId};

const CLOCK: &str = "wasi:clocks/monotonic-clock@0.3.0";
const TIME: &str = "witlock:tasks/time@0.1.0";
const LOCKS: [&str; 2] = ["witlock:locks/locks@0.2.0", "witlock:locks/locks@0.3.0"];
const RUN: &str = "wasi:cli/run@0.3.0";

/// Composes all, from components in a directory and into it.
pub fn all(directory: &Path) -> Result<(), String> {
    plug(directory, "tasks", "locks", "tasks-with-locks")?;
    plug(
        directory,
        "tasks-in-time",
        "locks",
        "tasks-with-locks-in-time",
    )?;
    plug(directory, "holder", "locks", "holder-with-locks")?;
    plug(directory, "holder", "locks-0.2", "holder-with-locks-0.2")?;
    plug(directory, "holder", "client", "holder-with-client")?;
    in_time(directory)
}

fn plug(directory: &Path, app: &str, plug: &str, into: &str) -> Result<(), String> {
    let mut graph = CompositionGraph::new();
    let socket = register(&mut graph, directory, app)?;
    let plug = register(&mut graph, directory, plug)?;
    wac_graph::plug(&mut graph, vec![plug], socket).map_err(why(into))?;
    encode(&graph, directory, into)
}

/// `tasks.wasm` and `locks.wasm` over a component that is their clock.
fn in_time(directory: &Path) -> Result<(), String> {
    let mut graph = CompositionGraph::new();
    let [clock, locks, tasks] =
        ["clock", "locks", "tasks-in-time"].map(|name| register(&mut graph, directory, name));
    let [clock, locks, tasks] = [clock?, locks?, tasks?].map(|package| graph.instantiate(package));
    link(&mut graph, clock, locks, CLOCK)?;
    link(&mut graph, clock, tasks, CLOCK)?;
    link(&mut graph, clock, tasks, TIME)?;
    for version in LOCKS {
        link(&mut graph, locks, tasks, version)?;
    }
    let run = graph.alias_instance_export(tasks, RUN).map_err(why(RUN))?;
    graph.export(run, RUN).map_err(why(RUN))?;
    encode(&graph, directory, "tasks-with-locks-and-clock")
}

fn link(graph: &mut CompositionGraph, from: NodeId, to: NodeId, name: &str) -> Result<(), String> {
    let export = graph.alias_instance_export(from, name).map_err(why(name))?;
    let linked = graph.set_instantiation_argument(to, name, export);
    linked.map_err(why(name))
}

fn register(
    graph: &mut CompositionGraph,
    directory: &Path,
    name: &str,
) -> Result<PackageId, String> {
    let file = directory.join(format!("{name}.wasm"));
    let package = format!("witlock:{}", name.replace("0.2", "zero-two"));
    let package = Package::from_file(&package, None, file, graph.types_mut());
    let package = package.map_err(|error| format!("{name}.wasm: {error:#}"))?;
    graph.register_package(package).map_err(why(name))
}

fn encode(graph: &CompositionGraph, directory: &Path, into: &str) -> Result<(), String> {
    let composed = graph.encode(EncodeOptions::default()).map_err(why(into))?;
    fs::write(directory.join(format!("{into}.wasm")), composed).map_err(why(into))
}

fn why<E: std::error::Error>(what: &str) -> impl Fn(E) -> String {
    move |error| {
        let sources = std::iter::successors(error.source(), |source| source.source());
        let sources: String = sources.map(|source| format!(": {source}")).collect();
        format!("composing {what}: {error}{sources}")
    }
}
