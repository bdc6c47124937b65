//! Each guest by itself under `witlock run`, twice on one store.

use crate::child::Witlock;
use crate::guest::{CHAT, run};
use crate::guests::Place;
use crate::shelf::Shelf;

pub fn writes_twice(language: &str) {
    crate::watchdog();
    let place = Place::new();
    let shelf = Shelf::new(place.path("shelf"));
    let store = place.text("store");
    let mut fences = Vec::new();
    for _ in 0..2 {
        let run = run(language, ["--store", &store], shelf.directory(), 1);
        let ended = Witlock::start(run).end();
        ended.expect_code(0);
        let lines = shelf.lines();
        let last = lines.last().unwrap();
        assert_eq!(last.writer, language);
        let told = format!("{language} wrote {CHAT} under fence {}\n", last.fence);
        assert!(ended.out().ends_with(&told), "{}", ended.out());
        fences.push(last.fence);
    }
    assert!(fences[0] < fences[1], "{fences:?}");
}

// LOCK-02
crate::each_language!(
    "needs the guests of all languages: just guests",
    crate::alone::writes_twice
);
