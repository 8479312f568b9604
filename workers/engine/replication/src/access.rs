//! The store as separate threads use it, while others may close it.

use regent_commitlog::Store;

use crate::error::LinkError;

/// A store that more than one owner shares.
pub trait StoreAccess: Send + Sync + 'static {
    /// What goes wrong with it, and with links.
    type Error: From<LinkError> + Send;

    /// Runs `work`, which should take no longer than a turn: closing the store waits for it.
    ///
    /// # Errors
    /// The store is closed, or `work` failed or panicked.
    fn with<T>(&self, work: impl FnOnce(&Store) -> Result<T, LinkError>) -> Result<T, Self::Error>;
}
