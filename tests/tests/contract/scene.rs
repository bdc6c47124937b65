//! What scenarios are told with.

use crate::face::{Answer, Ask, Face, Holding, Kind, Lock, Need, Terms, Wait, Waiting, Why};

/// Items of one page at most.
const PAGE: usize = 256;

impl Terms {
    pub fn lock(name: &str) -> Self {
        Terms {
            name: name.into(),
            ..Terms::default()
        }
    }

    pub fn semaphore(name: &str, limit: u32) -> Self {
        Terms {
            limit: Some(limit),
            ..Terms::lock(name)
        }
    }
}

impl Kind {
    /// Leases of this kind have a ttl.
    pub fn with_ttl() -> Self {
        Kind {
            ttl: true,
            ..Kind::default()
        }
    }

    /// Stands still while it waits.
    pub fn alone() -> Self {
        Kind {
            alone: true,
            ..Kind::default()
        }
    }
}

/// Short ways to say what scenarios say over and over.
pub trait Scene: Face {
    /// A lock opened by a holder of its own.
    fn opened(&mut self, kind: Kind, terms: &Terms) -> Lock {
        let holder = self.holder(kind);
        self.open(holder, terms).expect("terms within their bounds")
    }

    /// One lock, opened by so many holders.
    fn opened_by<const N: usize>(&mut self, terms: &Terms) -> [Lock; N] {
        std::array::from_fn(|_| self.opened(Kind::default(), terms))
    }

    /// The lock `jobs`, opened by so many holders.
    fn jobs<const N: usize>(&mut self) -> [Lock; N] {
        self.opened_by(&Terms::lock("jobs"))
    }

    /// Asks for a key and gets it.
    fn hold(&mut self, lock: Lock, key: &str) -> Ask {
        let ask = self.ask(lock, key, Wait::AsOpened);
        self.fence(ask);
        ask
    }

    /// Asks for a key and stands in line for a minute.
    fn line_up(&mut self, lock: Lock, key: &str) -> Ask {
        let ask = self.ask(lock, key, Wait::For(60_000));
        assert_eq!(self.answer(ask), Answer::Waiting);
        ask
    }

    /// The fence of an ask that has the key.
    fn fence(&mut self, ask: Ask) -> u64 {
        match self.answer(ask) {
            Answer::Held(fence) => {
                assert_eq!(self.ended(ask), None, "{ask:?} was lost");
                fence
            }
            other => panic!("{ask:?} is not held: {other:?}"),
        }
    }

    /// Whether an ask has the key, and has it still.
    fn is_held(&mut self, ask: Ask) -> bool {
        matches!(self.answer(ask), Answer::Held(_)) && self.ended(ask).is_none()
    }

    fn is_waiting(&mut self, ask: Ask) -> bool {
        self.answer(ask) == Answer::Waiting
    }

    /// Why an ask did not get the key.
    fn refusal(&mut self, ask: Ask) -> Why {
        match self.answer(ask) {
            Answer::Refused(why) => why,
            other => panic!("{ask:?} was not refused: {other:?}"),
        }
    }

    /// Takes a key if it is free; whether it was.
    fn takes(&mut self, lock: Lock, key: &str) -> bool {
        let ask = self.ask(lock, key, Wait::Try);
        match self.answer(ask) {
            Answer::Held(_) => true,
            Answer::Refused(Why::InUse) => false,
            other => panic!("a try was answered by {other:?}"),
        }
    }

    /// What the answer says that is out of its bounds.
    fn invalid(&mut self, lock: Lock, key: &str) -> String {
        let ask = self.ask(lock, key, Wait::AsOpened);
        match self.refusal(ask) {
            Why::Invalid(why) => why,
            other => panic!("refused for another reason: {other:?}"),
        }
    }

    fn all_holdings(&mut self) -> Vec<Holding> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.holdings(cursor);
            assert!(page.items.len() <= PAGE, "a page too large");
            all.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                return all;
            }
        }
    }

    fn all_waiters(&mut self) -> Vec<Waiting> {
        let mut all = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.waiters(cursor);
            assert!(page.items.len() <= PAGE, "a page too large");
            all.extend(page.items);
            cursor = page.next;
            if cursor.is_none() {
                return all;
            }
        }
    }

    /// What the listing shows of a key that one holder holds.
    fn holding(&mut self, key: &str) -> Holding {
        let mut all = self.all_holdings().into_iter();
        let found = all.find(|held| held.key == key);
        found.expect("a holding of the key")
    }

    /// Whether the face shows what is kept. One that does not is checked by
    /// what it answers only.
    fn can_list(&self) -> bool {
        Self::cannot(Need::Listing).is_none()
    }

    /// Whether nothing is kept of holders that ended. Of others, their sessions are
    /// for a while.
    fn can_leave(&self) -> bool {
        Self::cannot(Need::Leave).is_none()
    }

    /// So many wait.
    fn assert_waiters(&mut self, waiters: u64) {
        if self.can_list() {
            assert_eq!(self.counts().waiters, waiters);
        }
    }

    /// So many leases last.
    fn assert_leases(&mut self, leases: u64) {
        if self.can_list() {
            assert_eq!(self.counts().leases, leases);
        }
    }

    /// So many keys are held or waited for.
    fn assert_keys(&mut self, keys: u64) {
        if self.can_list() {
            assert_eq!(self.counts().keys, keys);
        }
    }

    /// Nothing is held or waited for, and nothing is kept.
    fn assert_nothing_kept(&mut self) {
        if !self.can_list() {
            return;
        }
        let counts = self.counts();
        assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
        assert_eq!(self.all_holdings(), []);
        assert_eq!(self.all_waiters(), []);
    }
}

impl<F: Face> Scene for F {}
