//! Paths, found by their segments.

/// A path of this server, with what stands in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Route {
    Index,
    Work,
    NewUser,
    User(usize),
    Users,
    Null(usize),
    Health,
}

impl Route {
    pub(crate) fn find(path: &str) -> Option<Self> {
        let (first, rest) = match path.strip_prefix('/')?.split_once('/') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path.get(1..)?, None),
        };
        match (first, rest) {
            ("null", Some(bytes)) => number(bytes).map(Self::Null),
            ("" | "index.html" | "index.htm", None) => Some(Self::Index),
            ("user", None | Some("")) => Some(Self::NewUser),
            ("user", Some(id)) => number(id.strip_suffix('/').unwrap_or(id)).map(Self::User),
            ("users", None | Some("")) => Some(Self::Users),
            ("work", None) => Some(Self::Work),
            ("healthz", None) => Some(Self::Health),
            _ => None,
        }
    }

    /// The methods that work here.
    pub(crate) fn allowed(self) -> &'static str {
        match self {
            Self::Index | Self::Users | Self::Null(_) | Self::Health => "GET, HEAD",
            Self::User(_) => "GET, HEAD, PUT, DELETE",
            Self::NewUser | Self::Work => "POST",
        }
    }
}

/// Digits. One that is too large is that of no user, as is the largest of all.
fn number(digits: &str) -> Option<usize> {
    let is_one = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_with_their_numbers() {
        for (paths, route) in [
            (&["/", "/index.html", "/index.htm"][..], Route::Index),
            (&["/work"], Route::Work),
            (&["/user", "/user/"], Route::NewUser),
            (&["/user/7", "/user/007/"], Route::User(7)),
            (&["/user/99999999999999999999"], Route::User(usize::MAX)),
            (&["/users", "/users/"], Route::Users),
            (&["/null/0"], Route::Null(0)),
            (&["/healthz"], Route::Health),
        ] {
            for path in paths {
                assert_eq!(Route::find(path), Some(route), "{path}");
            }
        }
    }

    #[test]
    fn other_paths_are_not() {
        for path in [
            "",
            "*",
            "//",
            "/index",
            "/index.html/",
            "/indexxhtml",
            "/work/",
            "/user/abc",
            "/user/-1",
            "/user/1/2",
            "/user//",
            "/user/1//",
            "/users/1",
            "/null",
            "/null/",
            "/null/1/",
            "/healthz/",
            "/healthz\n",
            "/api/v1/recipes",
        ] {
            assert_eq!(Route::find(path), None, "{path}");
        }
    }
}
