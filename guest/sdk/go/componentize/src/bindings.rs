//! Bindings as Go packages, in a directory of their own.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use wit_bindgen_core::Files;
use wit_bindgen_go::Opts;

use crate::{World, write};

/// Generates the packages of a world into a directory, in place of what is there.
pub fn generate(world: &World, package: &str, directory: &Path) -> Result<()> {
    let (mut resolve, id) = world.resolve()?;
    let options = Opts {
        pkg_name: Some(package.into()),
        ..Opts::default()
    };
    let mut files = Files::default();
    options.build().generate(&mut resolve, id, &mut files)?;
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| directory.display().to_string())?;
    }
    for (name, bytes) in files.iter() {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().context("a file is in a directory")?)?;
        write(&path, bytes)?;
    }
    Ok(())
}
