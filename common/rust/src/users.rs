//! The users: a table in the memory of this process.

use std::fmt;

use parking_lot::Mutex;
use slab::Slab;

/// What is known about a user: nothing yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UserData;

impl fmt::Display for UserData {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("{}")
    }
}

/// Ids count up from 0; one that was freed is given again. The lock is never held across an await.
#[derive(Debug, Default)]
pub struct Users(Mutex<Slab<UserData>>);

impl Users {
    /// Returns the id of the new user.
    pub fn create(&self, data: UserData) -> usize {
        self.0.lock().insert(data)
    }

    pub fn read(&self, id: usize) -> Option<UserData> {
        self.0.lock().get(id).copied()
    }

    /// Returns the former data.
    pub fn replace(&self, id: usize, data: UserData) -> Option<UserData> {
        let mut users = self.0.lock();
        users.get_mut(id).map(|user| std::mem::replace(user, data))
    }

    pub fn delete(&self, id: usize) -> Option<UserData> {
        self.0.lock().try_remove(id)
    }

    /// All ids, ascending. They are written down after the lock is free again.
    pub fn ids(&self) -> Vec<usize> {
        self.0.lock().iter().map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_count_up_and_are_given_again() {
        let users = Users::default();
        assert_eq!([0; 3].map(|_| users.create(UserData)), [0, 1, 2]);
        assert_eq!(users.delete(1), Some(UserData));
        assert_eq!(users.delete(1), None);
        assert_eq!(users.ids(), [0, 2]);
        assert_eq!(users.create(UserData), 1);
        assert_eq!(users.read(1), Some(UserData));
        assert_eq!(users.replace(2, UserData), Some(UserData));
    }

    #[test]
    fn an_id_without_a_user_is_harmless() {
        let users = Users::default();
        for id in [0, 7, usize::MAX] {
            assert_eq!(users.read(id), None);
            assert_eq!(users.replace(id, UserData), None);
            assert_eq!(users.delete(id), None);
        }
    }
}
