//! A component of a core module that Go built as a library for wasip1.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME as ADAPTER,
    WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER as REACTOR,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};

use crate::{World, write};

/// Writes the component, which exports what its world says. The adapter is the one for
/// libraries: a program's `_start` would be called with the adapter's memory taken from
/// a Go runtime that has not been started.
pub fn make(module: &Path, world: &World, out: &Path) -> Result<()> {
    let mut bytes = fs::read(module).with_context(|| module.display().to_string())?;
    let (resolve, id) = world.resolve()?;
    embed_component_metadata(&mut bytes, &resolve, id, StringEncoding::UTF8)?;
    let component = ComponentEncoder::default()
        .module(&bytes)?
        .adapter(ADAPTER, REACTOR)?
        .validate(true)
        .encode()?;
    write(out, &component)
}
