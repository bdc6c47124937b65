//! What a guarded resource accepts.

use std::collections::HashMap;

use witlock_tests::record::Claim;

/// Refuses whoever comes with an older fence than one that was seen. Where several
/// may hold a key at once, older fences say nothing.
#[derive(Default)]
pub struct Guard(HashMap<String, u64>);

impl Guard {
    pub fn accepts(&mut self, claim: &Claim) -> bool {
        let seen = self.0.entry(claim.key.clone()).or_default();
        *seen = claim.fence.max(*seen);
        claim.limit > 1 || claim.fence == *seen
    }
}
