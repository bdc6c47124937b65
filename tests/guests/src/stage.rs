//! What the `wasmtime::Store` of a guest holds, and what the guest is offered.

use wasmtime::component::{Linker, ResourceTable};
use wasmtime::{Engine, Result};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use witlock::{LocksCtx, LocksCtxView, LocksView};

use crate::tasks::{Time, TimeView};

/// Data of a guest.
pub struct Stage {
    /// None for a composition, which imports no locks.
    pub(crate) locks: Option<LocksCtx>,
    wasi: WasiCtx,
    table: ResourceTable,
    time: Time,
}

impl Stage {
    pub(crate) fn new(locks: Option<LocksCtx>, wasi: WasiCtx) -> Self {
        Stage {
            locks,
            wasi,
            table: ResourceTable::new(),
            time: Time::new(),
        }
    }
}

impl LocksView for Stage {
    fn locks(&mut self) -> LocksCtxView<'_> {
        LocksCtxView {
            ctx: self.locks.as_mut().expect("a guest of a store"),
            table: &mut self.table,
        }
    }
}

impl WasiView for Stage {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl TimeView for Stage {
    fn time(&self) -> Time {
        self.time.clone()
    }
}

/// All that a guest is offered.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<Stage>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi::p3::add_to_linker(&mut linker)?;
    witlock::p2::add_to_linker_async(&mut linker)?;
    witlock::p3::add_to_linker(&mut linker)?;
    Ok(linker)
}
