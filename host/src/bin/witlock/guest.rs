//! What a guest finds around it.

use std::path::Path;

use anyhow::{Context, Result};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Cache, Config, Engine};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};
use witlock::{LocksCtx, LocksCtxView, LocksView, Store};

use crate::args::{INSTANCE, Run};
use crate::command::Command;
use crate::load::App;

/// What the host keeps for an instance. Dropping it lets the instance's keys go.
pub struct Guest {
    wasi: WasiCtx,
    locks: LocksCtx,
    table: ResourceTable,
}

impl Guest {
    /// The instance of this number.
    pub fn new(args: &Run, store: &Store, number: u32) -> Result<Guest> {
        Ok(Guest {
            wasi: wasi(args, number)?,
            locks: LocksCtx::new(store),
            table: ResourceTable::new(),
        })
    }
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl LocksView for Guest {
    fn locks(&mut self) -> LocksCtxView<'_> {
        LocksCtxView {
            ctx: &mut self.locks,
            table: &mut self.table,
        }
    }
}

fn wasi(args: &Run, number: u32) -> Result<WasiCtx> {
    let mut wasi = WasiCtx::builder();
    wasi.inherit_stdio();
    wasi.arg(name(&args.app)).args(&args.arguments);
    for variable in &args.environment {
        wasi.env(&variable.name, &variable.value);
    }
    wasi.env(INSTANCE, number.to_string());
    for directory in &args.directories {
        wasi.preopened_dir(&directory.host, &directory.guest, FsPerms::ReadWrite)
            .map_err(anyhow::Error::from)
            .with_context(|| format!("the directory {}", directory.host.display()))?;
    }
    Ok(wasi.build())
}

/// What the guest finds as its own name.
fn name(app: &Path) -> String {
    app.file_name()
        .unwrap_or(app.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// An engine whose guests can be interrupted at every loop and call. What it compiles is
/// kept where the user's wasmtime keeps it too.
pub fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config.epoch_interruption(true);
    // Where there is no place for it, as without a home, every run compiles.
    let cache = Cache::from_file(None);
    config.cache(
        cache
            .inspect_err(|why| log::debug!("no cache: {why:#}"))
            .ok(),
    );
    Ok(Engine::new(&config)?)
}

/// Compiles the component and links it with what we have.
pub fn link(engine: &Engine, app: &App) -> Result<Command> {
    let component = Component::new(engine, &app.bytes)
        .map_err(anyhow::Error::from)
        .context("this is not a valid component")?;
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi::p3::add_to_linker(&mut linker)?;
    witlock::p2::add_to_linker_async(&mut linker)?;
    witlock::p3::add_to_linker(&mut linker)?;
    Ok(Command::new(linker.instantiate_pre(&component)?, app.run)?)
}
