//! Each guest by itself under `witlock run`, twice on one store.

use crate::child::Witlock;
use crate::guest::run;
use crate::guests::Place;
use crate::shelf::Shelf;

pub fn writes_twice(language: &str) {
    crate::watchdog();
    let place = Place::new();
    let shelf = Shelf::new(place.path("shelf"));
    let store = place.text("store");
    let fences = [1, 2].map(|number| {
        let run = run(language, ["--store", &store], shelf.directory(), 1);
        let ended = Witlock::start(run).end();
        ended.expect_code(0);
        assert_eq!(shelf.lines().len(), number);
        shelf.wrote_last(language, &ended.out())
    });
    assert!(fences[0] < fences[1], "{fences:?}");
}

// LOCK-02
crate::each_language!(
    "needs the guests of all languages: just guests",
    crate::alone::writes_twice
);
