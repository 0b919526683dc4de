//! Which releases were compiled in: from the lock file itself.

use crate::report::Way;

const LOCK: &str = include_str!("../Cargo.lock");

pub(crate) fn with_versions(ways: Vec<Way>) -> Vec<Way> {
    ways.into_iter()
        .map(|way| Way {
            version: way.library.and_then(|name| version(LOCK, name)),
            ..way
        })
        .collect()
}

/// The version of a package; None where the lock file has none or several of that name.
fn version(lock: &str, name: &str) -> Option<String> {
    let head = format!("name = \"{name}\"\nversion = \"");
    let mut found = lock
        .split("[[package]]\n")
        .filter_map(|package| package.strip_prefix(&head));
    let only = found.next()?;
    match found.next() {
        None => only.split('"').next().map(str::to_owned),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variants::ALL;

    #[test]
    fn every_library_has_its_version() {
        for way in with_versions(ALL.iter().map(Way::of).collect()) {
            assert_eq!(way.version.is_some(), way.library.is_some(), "{}", way.name);
        }
    }

    #[test]
    fn what_is_not_there_or_twice_has_none() {
        let lock = "x\n\n[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0\"\n";
        assert_eq!(version(lock, "a").as_deref(), Some("1.0"));
        assert_eq!(version(lock, "b"), None);
        assert_eq!(version(lock, "c"), None);
    }
}
