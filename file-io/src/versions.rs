//! Which releases were compiled in: from the lock file itself.

const LOCK: &str = include_str!("../Cargo.lock");

/// The version of a library that was compiled in.
pub(crate) fn compiled(name: &str) -> Option<String> {
    version(LOCK, name)
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
        for library in ALL.iter().filter_map(|variant| variant.library) {
            assert!(compiled(library).is_some(), "{library}");
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
