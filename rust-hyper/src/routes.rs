//! Paths, found by pattern.

use std::sync::LazyLock;

use regex::Regex;

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

static INDEX: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/(?:index\.html?)?$"));
static WORK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/work$"));
static USER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/user(?:/([0-9]+))?/?$"));
static USERS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/users/?$"));
static NULL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/null/([0-9]+)$"));
static HEALTH: LazyLock<Regex> = LazyLock::new(|| pattern(r"^/healthz$"));

#[expect(clippy::expect_used, reason = "constants, which the test compiles")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

impl Route {
    /// The first pattern that matches.
    pub(crate) fn find(path: &str) -> Option<Self> {
        if INDEX.is_match(path) {
            Some(Self::Index)
        } else if WORK.is_match(path) {
            Some(Self::Work)
        } else if let Some(user) = USER.captures(path) {
            Some(match user.get(1) {
                Some(id) => Self::User(number(id.as_str())),
                None => Self::NewUser,
            })
        } else if USERS.is_match(path) {
            Some(Self::Users)
        } else if let Some(null) = NULL.captures(path) {
            Some(Self::Null(number(&null[1])))
        } else {
            HEALTH.is_match(path).then_some(Self::Health)
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

/// One that is too large is that of no user, as is the largest of all.
fn number(digits: &str) -> usize {
    digits.parse().unwrap_or(usize::MAX)
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
