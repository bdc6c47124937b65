//! What the Go toolchain leaves to others: bindings of a WIT world as Go packages,
//! and a component of the core module that `go build` writes. The same as
//! `wit-bindgen go`, and as `wasm-tools component embed` and `component new` with
//! wasmtime's adapter, of the versions that this repository's lock file names.

mod bindings;
mod component;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use wit_parser::{Resolve, WorldId};

/// Go bindings of a WIT world, and components of what Go builds.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Generate the Go packages of a world.
    Bindings {
        #[command(flatten)]
        world: World,
        /// The import path of the directory they are put into.
        #[arg(long)]
        package: String,
        /// The directory, which is made anew.
        #[arg(short)]
        out: PathBuf,
    },
    /// Make a component of what `go build` wrote for wasip1.
    Component {
        /// The core module, built with `-buildmode=c-shared`.
        module: PathBuf,
        #[command(flatten)]
        world: World,
        /// The component.
        #[arg(short)]
        out: PathBuf,
    },
}

/// A world in a WIT package.
#[derive(clap::Args)]
struct World {
    /// The package: a file, or a directory with its `deps`.
    #[arg(long)]
    wit: PathBuf,
    /// The world's name.
    #[arg(long)]
    world: String,
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Bindings {
            world,
            package,
            out,
        } => bindings::generate(&world, &package, &out),
        Task::Component { module, world, out } => component::make(&module, &world, &out),
    }
}

impl World {
    fn resolve(&self) -> Result<(Resolve, WorldId)> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_path(&self.wit)?;
        let world = resolve.select_world(&[package], Some(&self.world))?;
        Ok((resolve, world))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}
