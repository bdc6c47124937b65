//! Builds components of this workspace from source, for build scripts.
//!
//! Every build script of the workspace shares one target directory for it, which
//! is not that of the cargo which runs the script: that one is locked.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Ends the build script, with a message that cargo shows if it failed.
pub fn finish(result: Result<(), String>) {
    if let Err(why) = result {
        println!("cargo::error={why}");
        process::exit(1);
    }
}

/// Has the script run again when one of these files or directories changed.
pub fn watch<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) {
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.as_ref().display());
    }
}

/// One package to build, and the file in `OUT_DIR` that its component becomes.
pub struct Component {
    pub package: &'static str,
    pub file: &'static str,
}

/// Builds components for a wasm target.
pub fn build(workspace: &Path, target: &str, components: &[Component]) -> Result<(), String> {
    build_with(workspace, target, components, &[])
}

/// The same, with flags for cargo: the features that the packages shall have.
pub fn build_with(
    workspace: &Path,
    target: &str,
    components: &[Component],
    flags: &[&str],
) -> Result<(), String> {
    let shared = shared_directory()?;
    have_target(target, &shared)?;
    // One package may be built twice, with other flags, under one name.
    let lock = File::create(shared.join(".build.lock"));
    let lock = lock.map_err(|why| format!("locking {shared:?}: {why}"))?;
    lock.lock()
        .map_err(|why| format!("locking {shared:?}: {why}"))?;
    compile(workspace, target, components, flags, &shared)?;
    let built = shared.join(target).join("wasm");
    for component in components {
        copy(&find(&built, component.package)?, component.file)?;
    }
    Ok(())
}

/// Copies a file to `OUT_DIR`.
pub fn copy(from: &Path, name: &str) -> Result<(), String> {
    let to = variable("OUT_DIR")?.join(name);
    match fs::copy(from, &to) {
        Ok(_) => Ok(()),
        Err(why) => Err(format!("copying {} to {to:?}: {why}", from.display())),
    }
}

/// A variable that cargo sets for build scripts, and that holds a path.
pub fn variable(name: &str) -> Result<PathBuf, String> {
    match env::var_os(name) {
        Some(value) => Ok(value.into()),
        None => Err(format!("{name} is not set; does cargo run this?")),
    }
}

/// `<target directory>/components`. `OUT_DIR` is
/// `<target directory>/[<target>/]<profile>/build/<package>/out`.
fn shared_directory() -> Result<PathBuf, String> {
    let out = variable("OUT_DIR")?;
    let built_for = variable("TARGET")?;
    let mut above = out.ancestors().skip_while(|path| !path.ends_with("build"));
    let outside_profile = above.nth(2).ok_or("OUT_DIR has another form than it had")?;
    let shared = match outside_profile.parent() {
        Some(parent) if outside_profile.ends_with(&built_for) => parent,
        _ => outside_profile,
    };
    let shared = shared.join("components");
    fs::create_dir_all(&shared).map_err(|why| format!("creating {shared:?}: {why}"))?;
    Ok(shared)
}

/// Installs the target if it is missing. `rust-toolchain.toml` alone does it only
/// where rustup may install by itself.
fn have_target(target: &str, shared: &Path) -> Result<(), String> {
    let why = |why| format!("locking rustup: {why}");
    // Build scripts run side by side; rustup does not like to.
    let lock = File::create(shared.join(".rustup.lock")).map_err(why)?;
    lock.lock().map_err(why)?;
    if is_installed(target)? || (add(target) && is_installed(target)?) {
        return Ok(());
    }
    Err(format!(
        "Rust's target {target} is needed to build the components, and could not be installed: \
         run `rustup target add {target}`, or install it where your Rust came from"
    ))
}

fn is_installed(target: &str) -> Result<bool, String> {
    let rustc = variable("RUSTC")?;
    let printed = Command::new(&rustc)
        .args(["--print", "target-libdir", "--target", target])
        .output()
        .map_err(|why| format!("running {rustc:?}: {why}"))?;
    let directory = String::from_utf8_lossy(&printed.stdout);
    Ok(printed.status.success() && Path::new(directory.trim()).is_dir())
}

fn add(target: &str) -> bool {
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", target]);
    rustup.status().is_ok_and(|status| status.success())
}

fn compile(
    workspace: &Path,
    target: &str,
    components: &[Component],
    flags: &[&str],
    shared: &Path,
) -> Result<(), String> {
    let cargo = variable("CARGO")?;
    let mut inner = Command::new(&cargo);
    forget_outer_build(&mut inner);
    inner
        .args(["build", "--profile", "wasm", "--target", target])
        .args(components.iter().flat_map(|one| ["-p", one.package]))
        .args(flags)
        .arg("--manifest-path")
        .arg(workspace.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(shared)
        // A directory that the user's configuration names is locked, too.
        .env("CARGO_BUILD_BUILD_DIR", shared)
        // For components that are to import nothing but what their world names:
        // the linker that rustc has for components, where it would only link.
        .env(
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
            "wasm-component-ld",
        );
    match inner.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("the components for {target} do not build")),
        Err(why) => Err(format!("running {cargo:?}: {why}")),
    }
}

/// Flags, wrappers and settings of the build that runs this script are not for
/// the components: clippy would check where it shall build, coverage would
/// instrument, and each change of them would build all anew.
fn forget_outer_build(inner: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_of_outer_build) {
            inner.env_remove(name);
        }
    }
    // Set, since only that overrules flags in the user's configuration, which
    // are mostly for the linker of the user's system.
    inner.env("CARGO_ENCODED_RUSTFLAGS", same_paths_everywhere());
}

/// Panics name source files. Without their beginning, the same sources give the
/// same component on every machine.
fn same_paths_everywhere() -> OsString {
    let default = || env::home_dir().map(|home| home.join(".cargo").into());
    let Some(cargo_home) = env::var_os("CARGO_HOME").or_else(default) else {
        return OsString::new();
    };
    let mut flag = OsString::from("--remap-path-prefix=");
    flag.push(cargo_home);
    flag.push("=cargo");
    flag
}

fn is_of_outer_build(variable: &str) -> bool {
    /// How crates are fetched, and how many jobs may run.
    const KEPT: [&str; 7] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_MAKEFLAGS",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
    ];
    const FLAGS_AND_WRAPPERS: [&str; 3] = ["RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"];
    let is_kept = KEPT.iter().any(|kept| variable.starts_with(kept));
    (variable.starts_with("CARGO_") && !is_kept) || FLAGS_AND_WRAPPERS.contains(&variable)
}

/// A program has the name of its package, a library that of its crate.
fn find(built: &Path, package: &str) -> Result<PathBuf, String> {
    let names = [package.to_owned(), package.replace('-', "_")];
    let mut files = names.iter().map(|name| built.join(format!("{name}.wasm")));
    files.find(|file| file.exists()).ok_or(format!(
        "{package} left no component in {}",
        built.display()
    ))
}
