//! Runs instances of the guest, each of them a holder of its own.

use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, Result, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use witlock::{LocksCtx, LocksCtxView, LocksView};

use crate::shelf::Shelf;

mod bindings {
    wasmtime::component::bindgen!({
        path: ["../wit/locks-0.2", "examples/summaries/wit"],
        world: "example:summaries/writer",
        exports: { default: async },
    });
}

use bindings::WriterPre;
use bindings::example::summaries::shelf::{self, SaveError};

/// What one instance has: the data of its `wasmtime::Store`.
struct Writer {
    wasi: WasiCtx,
    /// The instance as a holder. Dropped with the store, it releases all that the
    /// instance held, even if it trapped.
    locks: LocksCtx,
    table: ResourceTable,
    shelf: Shelf,
}

impl WasiView for Writer {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl LocksView for Writer {
    fn locks(&mut self) -> LocksCtxView<'_> {
        LocksCtxView {
            ctx: &mut self.locks,
            table: &mut self.table,
        }
    }
}

impl shelf::Host for Writer {
    fn save(&mut self, chat: String, summary: String, fence: u64) -> Result<(), SaveError> {
        match self.shelf.save(&chat, &summary, fence) {
            Ok(None) => Ok(()),
            Ok(Some(kept)) => Err(SaveError::Late(kept)),
            Err(why) => Err(SaveError::Failed(why.to_string())),
        }
    }
}

/// Everything that the instances share.
pub struct Writers {
    guest: WriterPre<Writer>,
    locks: witlock::Store,
    shelf: Shelf,
}

impl Writers {
    pub fn new(locks: witlock::Store, shelf: Shelf) -> Result<Writers> {
        let engine = Engine::default();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        witlock::p2::add_to_linker_async(&mut linker)?;
        shelf::add_to_linker::<_, HasSelf<_>>(&mut linker, |writer| writer)?;
        let component = Component::from_file(&engine, witlock_programs::SUMMARIES)?;
        let guest = WriterPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Writers {
            guest,
            locks,
            shelf,
        })
    }

    /// Has a new instance write a chat's summary. Gives the fence it was kept
    /// under, or why it was not kept.
    pub async fn write(&self, chat: &str, summary: &str, ms: u32) -> Result<Result<u64, String>> {
        let writer = Writer {
            wasi: WasiCtx::builder().build(),
            locks: LocksCtx::new(&self.locks),
            table: ResourceTable::new(),
            shelf: self.shelf.clone(),
        };
        let mut store = Store::new(self.guest.engine(), writer);
        let instance = self.guest.instantiate_async(&mut store).await?;
        instance.call_write(&mut store, chat, summary, ms).await
    }
}
