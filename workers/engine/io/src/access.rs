//! The hot path and its store, which others may close.

use regent_commitlog::Store;
use regent_hotpath::HotPath;

/// Why a store does no work any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable(pub String);

/// A hot path with a store that more than one owner shares.
pub trait HotAccess: Send + Sync + 'static {
    /// What the connections share; it outlives the store.
    fn hot(&self) -> &HotPath;

    /// Runs `work`, which should take no longer than a turn: who closes the store waits for it. A panic of
    /// `work` is not caught.
    ///
    /// # Errors
    /// The store is closed, or work in it has panicked.
    fn with<T>(&self, work: impl FnOnce(&Store) -> T) -> Result<T, Unusable>;

    /// Sends what was appended to the replicas, since answers wait for them. It waits for no replica.
    fn send_appended(&self);
}
