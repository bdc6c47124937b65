//! How the engine is broken. The build script makes the changes, all of them;
//! each is at work only while its number is chosen.

/// One change of one file.
pub struct Break {
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

const fn change(file: &'static str, from: &'static str, to: &'static str) -> Break {
    Break { file, from, to }
}

pub const ALL: &[Break] = &[
    // What chooses.
    change(
        "guest/engine/src/lib.rs",
        "extern crate alloc;",
        "extern crate alloc;

/// Which change is at work.
pub static BROKEN: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

pub(crate) fn is_broken(number: u32) -> bool {
    BROKEN.load(core::sync::atomic::Ordering::Relaxed) == number
}",
    ),
    change(
        "guest/components/engine/src/machine.rs",
        "let wit::Seed { low, high } = seed;",
        "let wit::Seed { low, high } = seed;
        let broken = (high >> 32) as u32;
        witlock_engine::BROKEN.store(broken, core::sync::atomic::Ordering::Relaxed);",
    ),
    // 1: who came last is served first.
    change(
        "guest/engine/src/tickets.rs",
        "        self.from((key, 0))
            .next()",
        "        let last = || {
            let mut line = self.lines.range(..(key + 1, 0));
            line.next_back().map(|(at, place)| (*at, *place))
        };
        let first = || self.from((key, 0)).next();
        (if crate::is_broken(1) { last() } else { first() })",
    ),
    // 2: as the head of a line is cancelled, nobody looks at the line again.
    change(
        "guest/engine/src/engine/asking.rs",
        "            self.take_from_line(place, Refusal::Cancelled);
",
        "            self.take_from_line(place, Refusal::Cancelled);
            if crate::is_broken(2) && self.keys[key].waiting > 0 {
                return self.keys.take_from_unsettled(key);
            }
",
    ),
    change(
        "guest/engine/src/keys.rs",
        "    fn take_from_unsettled(",
        "    pub(crate) fn take_from_unsettled(",
    ),
    // 3: a renewal that comes late is in time.
    change(
        "guest/engine/src/engine/mod.rs",
        "        self.end_due();
        self.end_overdue_grace();
        self.work_off();
        let handled = self.handle(commands);",
        "        let early = crate::is_broken(3).then(|| self.handle(commands));
        self.end_due();
        self.end_overdue_grace();
        self.work_off();
        let handled = early.unwrap_or_else(|| self.handle(commands));",
    ),
    change(
        "guest/engine/src/engine/leases.rs",
        "        if self.is_over(place) {
            self.end_overdue(place);",
        "        if !crate::is_broken(3) && self.is_over(place) {
            self.end_overdue(place);",
    ),
    // 4: keys of semaphores are never forgotten.
    change(
        "guest/engine/src/keys.rs",
        "if held > 0 || waiting > 0 {",
        "if held > 0 || waiting > 0 || crate::is_broken(4) && self[place].semaphore {",
    ),
    // 5: semaphores admit one more.
    change(
        "guest/engine/src/keys.rs",
        "self.held < self.limit",
        "self.held < self.limit + u32::from(crate::is_broken(5) && self.semaphore)",
    ),
    // 6: what somebody held or waited for counts against it for ever.
    change(
        "guest/engine/src/engine/granting.rs",
        "        *stake -= 1;",
        "        *stake -= u32::from(!crate::is_broken(6));",
    ),
    // 7: what was given to somebody without a connection lasts as if it was seen.
    change(
        "guest/engine/src/engine/granting.rs",
        "            lease.unseen = until;",
        "            lease.unseen = if crate::is_broken(7) { crate::NEVER } else { until };",
    ),
    // 8: renewing begins a max-hold anew.
    change(
        "guest/engine/src/leases.rs",
        "        self.unseen = NEVER;
",
        "        self.unseen = NEVER;
        if let Some(max_hold) = self.ask.max_hold.filter(|_| crate::is_broken(8)) {
            self.revoked = after(now, max_hold);
        }
",
    ),
    // 9: fences that were given are given again, once a range is used up.
    change(
        "guest/engine/src/fences.rs",
        "        self.end = range.end;",
        "        let from = range.start - u64::from(crate::is_broken(9) && range.start > 1);
        let range = from..range.end;
        self.end = range.end;",
    ),
    // 10: asking again stands in line a second time.
    change(
        "guest/engine/src/engine/asking.rs",
        "            if self.ask_again(hold, asked)? {",
        "            if !crate::is_broken(10) && self.ask_again(hold, asked)? {",
    ),
    // 11: in the grace a key that nobody held before is given.
    change(
        "guest/engine/src/engine/asking.rs",
        "let free = !self.in_grace() &&",
        "let free = (!self.in_grace() || crate::is_broken(11)) &&",
    ),
    // 12: who stands in line as the grace ends is forgotten there.
    change(
        "guest/engine/src/engine/grace.rs",
        "        self.settle_unsettled(moment);",
        "        while crate::is_broken(12) && self.keys.take_unsettled().is_some() {}
        self.settle_unsettled(moment);",
    ),
];
