//! What one guest may do.

use std::sync::Arc;

use wasmtime::component::{HasData, ResourceTable};

use crate::lock::Terms;
use crate::session::Session;
use crate::store::Store;
use crate::{LockError, driver::wit};

/// What one guest may do with a store's locks: one holder, which ends with
/// this.
///
/// All that shares one context is one holder. Give each guest a context of its
/// own, in the data of its `wasmtime::Store`.
///
/// Dropping the context ends the guest's session: its keys go on at once and
/// its asks are answered, whatever state the guest is in. So does
/// [`end`](LocksCtx::end), for an embedder that keeps the `wasmtime::Store`
/// after a trap, a time-out or a cancelled call; nothing of these does it by
/// itself.
#[derive(Debug)]
pub struct LocksCtx {
    session: Arc<Session>,
    scope: String,
}

/// Builds a [`LocksCtx`].
#[derive(Debug, Clone)]
#[must_use = "nothing is opened until `build` is called"]
pub struct LocksCtxBuilder {
    store: Store,
    scope: String,
    max_held: Option<u32>,
    max_waiting: Option<u32>,
}

impl LocksCtx {
    /// A guest that may use every lock of the store, and hold and wait for
    /// 10 000 keys each.
    pub fn new(store: &Store) -> Self {
        Self::builder(store).build()
    }

    /// A guest that may do less.
    pub fn builder(store: &Store) -> LocksCtxBuilder {
        LocksCtxBuilder {
            store: store.clone(),
            scope: String::new(),
            max_held: None,
            max_waiting: None,
        }
    }

    /// Ends the guest's session now: its keys go on, its asks are answered
    /// `closed`, and so is all that it asks later. Doing it again changes
    /// nothing.
    pub fn end(&self) {
        self.session.end();
    }

    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// What a guest opens, by the name that it has in the store.
    pub(crate) fn open(
        &self,
        name: String,
        limit: Option<u32>,
        wait: Option<u32>,
        options: wit::Options,
    ) -> Result<Terms, LockError> {
        let mut terms = Terms {
            name,
            limit,
            wait,
            options,
        };
        self.session.check(&terms)?;
        if !self.scope.is_empty() {
            terms.name.insert_str(0, &self.scope);
            self.session
                .check(&terms)
                .map_err(|error| self.with_scope(error))?;
        }
        Ok(terms)
    }

    fn with_scope(&self, error: LockError) -> LockError {
        match error {
            LockError::Invalid(why) => {
                LockError::Invalid(format!("with its scope {:?} in front, {why}", self.scope))
            }
            error => error,
        }
    }
}

impl Drop for LocksCtx {
    fn drop(&mut self) {
        // Leases in the guest's table may outlive this by a moment.
        self.end();
    }
}

impl LocksCtxBuilder {
    /// Names that the guest opens get this in front: it can't reach, or see, a
    /// lock without it. Scope and name together have at most 128 bytes. End it
    /// with a character that no scope contains, `/` say, or one may be the
    /// beginning of another.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = scope.into();
        self
    }

    /// How many keys the guest may hold at a time; 10 000 unless given.
    pub fn max_held(mut self, keys: u32) -> Self {
        self.max_held = Some(keys);
        self
    }

    /// How many keys the guest may wait for at a time; 10 000 unless given.
    pub fn max_waiting(mut self, keys: u32) -> Self {
        self.max_waiting = Some(keys);
        self
    }

    /// Opens the guest's session.
    pub fn build(self) -> LocksCtx {
        let session = Session::open(&self.store, self.max_held, self.max_waiting);
        LocksCtx {
            session: Arc::new(session),
            scope: self.scope,
        }
    }
}

/// A guest's context, and the table of its handles.
pub struct LocksCtxView<'a> {
    /// What the guest may do.
    pub ctx: &'a mut LocksCtx,
    /// Where its locks and leases are kept.
    pub table: &'a mut ResourceTable,
}

/// How the data of a `wasmtime::Store` gives its guest's locks.
pub trait LocksView: Send {
    /// The guest's context and table.
    fn locks(&mut self) -> LocksCtxView<'_>;
}

/// Names [`LocksCtxView`] to wasmtime.
pub(crate) struct Locks;

impl HasData for Locks {
    type Data<'a> = LocksCtxView<'a>;
}
