//! Paths and methods.

use std::time::Instant;

use hyper::Method;

use crate::config::Config;
use crate::errors::Error;
use crate::handlers::{self, RecipeId, UserId};
use crate::input::{self, Request};
use crate::repository::Repository;
use crate::responses::Response;
use crate::users::Users;

/// The log target of the access log.
pub(crate) const ACCESS_LOG: &str = "access";

/// What handlers share.
#[derive(Debug)]
pub(crate) struct Application {
    users: Users,
    repository: Repository,
    access_log: bool,
}

/// A path that exists, with the id in it.
enum Route {
    Index,
    Healthz,
    Pool,
    UserCollection,
    User(UserId),
    UserList,
    Work,
    RandomRecipe,
    Recipe(RecipeId),
    Notes(RecipeId),
    Dashboard,
}

impl Application {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            users: Users::default(),
            repository: Repository::new(config),
            access_log: config.access_log,
        }
    }

    /// Answers a request that had arrived by then. Blocks.
    pub(crate) fn respond(&self, request: Request, arrived: Instant) -> Response {
        let logged = self
            .access_log
            .then(|| (request.method().clone(), request.uri().clone()));
        let response = self.dispatch(request).unwrap_or_else(Error::into_response);
        if let Some((method, uri)) = logged {
            tracing::info!(
                target: ACCESS_LOG,
                "{method} {uri} {} {} us",
                response.status().as_u16(),
                arrived.elapsed().as_micros()
            );
        }
        response
    }

    fn dispatch(&self, request: Request) -> Result<Response, Error> {
        let route = Route::find(request.uri().path()).ok_or(Error::NotFound)?;
        let method = match *request.method() {
            // hyper leaves the body out.
            Method::HEAD => Method::GET,
            ref other => other.clone(),
        };
        match (route, method) {
            (Route::Pool, Method::GET) => handlers::pool(&self.repository),
            (Route::Pool, _) if self.repository.pool_use().is_none() => Err(Error::NotFound),
            (Route::Index, Method::GET) => Ok(handlers::index()),
            (Route::Healthz, Method::GET) => Ok(handlers::healthz()),
            (Route::UserCollection, Method::POST) => handlers::create_user(&self.users, request),
            (Route::User(id), Method::GET) => handlers::read_user(&self.users, id),
            (Route::User(id), Method::PUT) => handlers::replace_user(&self.users, id, request),
            (Route::User(id), Method::DELETE) => handlers::delete_user(&self.users, id, request),
            (Route::User(_), Method::POST) => Err(Error::BadRequest),
            (Route::UserList, Method::GET) => Ok(handlers::list_users(&self.users)),
            (Route::Work, Method::POST) => handlers::work(request),
            (Route::RandomRecipe, Method::GET) => {
                handlers::random_recipe(&self.repository, &request)
            }
            (Route::Recipe(id), Method::GET) => handlers::recipe(&self.repository, id, &request),
            (Route::Notes(id), Method::POST) => handlers::write_note(&self.repository, id, request),
            (Route::Dashboard, Method::GET) => handlers::dashboard(&self.repository, &request),
            (route, _) => Err(Error::MethodNotAllowed(route.methods())),
        }
    }
}

impl Route {
    fn find(path: &str) -> Option<Self> {
        let segments: Vec<_> = path.strip_prefix('/')?.split('/').collect();
        match segments[..] {
            ["" | "index.html" | "index.htm"] => Some(Self::Index),
            ["healthz"] => Some(Self::Healthz),
            ["pool"] => Some(Self::Pool),
            ["user"] | ["user", ""] => Some(Self::UserCollection),
            ["user", id] | ["user", id, ""] => {
                let digits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| Self::User(id.parse().ok()))
            }
            ["users"] | ["users", ""] => Some(Self::UserList),
            ["work"] => Some(Self::Work),
            ["api", "v1", "recipes"] => Some(Self::RandomRecipe),
            ["api", "v1", "recipes", id] if !id.is_empty() => {
                Some(Self::Recipe(input::recipe_id(id)))
            }
            ["api", "v1", "recipes", id, "notes"] => Some(Self::Notes(input::recipe_id(id))),
            ["api", "v1", "dashboard"] => Some(Self::Dashboard),
            _ => None,
        }
    }

    fn methods(&self) -> &'static str {
        match self {
            Self::UserCollection | Self::Work | Self::Notes(_) => "POST",
            Self::User(_) => "GET, HEAD, PUT, DELETE",
            Self::Index
            | Self::Healthz
            | Self::Pool
            | Self::UserList
            | Self::RandomRecipe
            | Self::Recipe(_)
            | Self::Dashboard => "GET, HEAD",
        }
    }
}

#[cfg(test)]
mod tests;
