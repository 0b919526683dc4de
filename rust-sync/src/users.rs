//! The table of users, in memory.

use parking_lot::RwLock;
use slab::Slab;

/// What is known about a user: nothing.
#[derive(Debug)]
struct User;

/// Shared by all threads. Ids count up from 0; one that was freed is given again.
#[derive(Debug, Default)]
pub(crate) struct Users {
    table: RwLock<Slab<User>>,
}

impl Users {
    /// Adds a user and returns the id.
    pub(crate) fn create(&self) -> usize {
        self.table.write().insert(User)
    }

    /// Whether there is such a user.
    pub(crate) fn contains(&self, id: usize) -> bool {
        self.table.read().contains(id)
    }

    /// Replaces the data of a user; false if there is none of that id.
    pub(crate) fn replace(&self, id: usize) -> bool {
        match self.table.write().get_mut(id) {
            Some(user) => {
                *user = User;
                true
            }
            None => false,
        }
    }

    /// Removes a user; false if there is none of that id.
    pub(crate) fn remove(&self, id: usize) -> bool {
        self.table.write().try_remove(id).is_some()
    }

    /// All ids, ascending.
    pub(crate) fn ids(&self) -> Vec<usize> {
        self.table.read().iter().map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_up_and_are_listed_in_order() {
        let users = Users::default();
        assert_eq!([users.create(), users.create(), users.create()], [0, 1, 2]);
        assert!(users.contains(1) && users.replace(1) && users.remove(1));
        assert!(!users.contains(1) && !users.replace(1) && !users.remove(1));
        assert!(!users.contains(usize::MAX));
        assert_eq!(users.ids(), [0, 2]);
    }
}
