//! Paths and methods. https://docs.rs/axum/0.8/axum/struct.Router.html

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, any, get, post};

use crate::application::Application;
use crate::handlers::{self, App};
use crate::logging::ACCESS_LOG;
use crate::users::Users;

/// What answers one path.
pub type Handlers<A> = MethodRouter<Arc<App<A>>>;

/// `get` serves HEAD, too. `waiting` is put around the handlers that may wait, or compute for long.
pub fn router<A: Application>(
    application: A,
    waiting: impl Fn(Handlers<A>) -> Handlers<A>,
    access_log: bool,
) -> Router {
    let index = get(handlers::index);
    let new_user = post(handlers::create_user::<A>).fallback(handlers::only_post);
    let user = any(handlers::other_user_method)
        .get(handlers::read_user::<A>)
        .put(handlers::replace_user::<A>)
        .delete(handlers::delete_user::<A>)
        .post(handlers::create_user_with_id);
    let users = get(handlers::list_users::<A>);
    let pool = match application.pool_use() {
        Some(_) => Router::new().route("/pool", get(handlers::pool::<A>)),
        None => Router::new(),
    };
    let app = App {
        application,
        users: Users::default(),
    };
    let router = pool
        .route("/healthz", get(handlers::healthz))
        .route("/", index.clone())
        .route("/index.html", index.clone())
        .route("/index.htm", index)
        .route("/user/", new_user.clone())
        .route("/user", new_user)
        .route("/user/{id}", user.clone())
        .route("/user/{id}/", user)
        .route("/users/", users.clone())
        .route("/users", users)
        .route(
            "/work",
            waiting(post(handlers::work::<A>).fallback(handlers::only_post)),
        )
        .route(
            "/api/v1/recipes",
            waiting(get(handlers::random_recipe::<A>)),
        )
        .route("/api/v1/recipes/{id}", waiting(get(handlers::recipe::<A>)))
        .route(
            "/api/v1/recipes/{id}/notes",
            waiting(post(handlers::write_note::<A>).fallback(handlers::only_post)),
        )
        .route("/api/v1/dashboard", waiting(get(handlers::dashboard::<A>)))
        .fallback(handlers::not_found)
        .method_not_allowed_fallback(handlers::only_get)
        .with_state(Arc::new(app));
    match access_log {
        true => router.layer(middleware::from_fn(log_access)),
        false => router,
    }
}

async fn log_access(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let uri = request.uri().clone();
    let response = next.run(request).await;
    tracing::info!(
        target: ACCESS_LOG,
        "{method} {uri} {} {} us",
        response.status().as_u16(),
        started.elapsed().as_micros()
    );
    response
}
