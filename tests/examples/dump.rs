#![allow(missing_docs, clippy::unwrap_used)]
fn main() {
    let mut config = wasmtime::Config::new();
    config.concurrency_support(false);
    let engine = wasmtime::Engine::new(&config).unwrap();
    let component =
        wasmtime::component::Component::from_file(&engine, witlock_programs::ENGINE).unwrap();
    std::fs::write("/tmp/engine.cwasm", component.serialize().unwrap()).unwrap();
}
