//! Locks of shuttle with the names of `parking_lot`'s: a panic leaves them usable.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

use shuttle::sync;
use shuttle::sync::{RwLockReadGuard, RwLockWriteGuard};

/// See [`parking_lot::Mutex`].
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

/// What a locked [`Mutex`] guards; empty while it waits at a [`Condvar`].
#[derive(Debug)]
pub struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

/// See [`parking_lot::RwLock`].
#[derive(Debug, Default)]
pub struct RwLock<T>(sync::RwLock<T>);

/// See [`parking_lot::Condvar`].
#[derive(Debug, Default)]
pub struct Condvar(sync::Condvar);

impl<T> Mutex<T> {
    /// See [`parking_lot::Mutex::new`].
    pub const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    /// See [`parking_lot::Mutex::lock`].
    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// See [`parking_lot::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

const GUARDED: &str = "a lock that is held guards something";

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(GUARDED)
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(GUARDED)
    }
}

impl<T> RwLock<T> {
    /// See [`parking_lot::RwLock::new`].
    pub const fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }

    /// See [`parking_lot::RwLock::read`].
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`parking_lot::RwLock::write`].
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`parking_lot::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`parking_lot::RwLock::into_inner`].
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Condvar {
    /// See [`parking_lot::Condvar::new`].
    pub const fn new() -> Self {
        Self(sync::Condvar::new())
    }

    /// See [`parking_lot::Condvar::wait`].
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let held = guard.0.take().expect(GUARDED);
        let held = self.0.wait(held);
        guard.0 = Some(held.unwrap_or_else(PoisonError::into_inner));
    }

    /// See [`parking_lot::Condvar::notify_one`].
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// See [`parking_lot::Condvar::notify_all`].
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}
