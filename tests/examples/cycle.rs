#![allow(missing_docs, clippy::unwrap_used)]
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let clock = witlock::clock::ManualClock::default();
    let store = if n < 100_000 {
        witlock::Store::builder().clock(clock).in_memory()
    } else {
        witlock::Store::in_memory()
    }
    .unwrap();
    let lock = store.lock("summaries").open().unwrap();
    let start = std::time::Instant::now();
    for _ in 0..n {
        std::hint::black_box(lock.blocking_hold("chat-1", |lease| lease.fence()).unwrap());
    }
    println!("{:?} each", start.elapsed() / n as u32);
    store.close();
}
