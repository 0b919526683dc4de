//! From a request to its answer.

use std::sync::LazyLock;
use std::time::Instant;

use common::users::{UserData, Users};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response};
use tokio::time::sleep;

use crate::errors::{BoxError, Error};
use crate::routes::Route;
use crate::work::Offload;
use crate::{bodies, query, work};

#[cfg(test)]
mod tests;

/// The log target of the access log.
pub(crate) const ACCESS_LOG: &str = "access";

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

const INDEX: &str = include_str!("../../contract/golden/index.html");
/// What `/null/{bytes}` takes its answers from.
static NULLS: LazyLock<Bytes> = LazyLock::new(|| vec![b'x'; 1 << 20].into());

type Answer = Response<Full<Bytes>>;

/// What comes from hyper, or what the tests send.
pub(crate) trait RequestBody: Body<Data = Bytes, Error: Into<BoxError>> {}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> RequestBody for B {}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    users: Users,
    offload: Offload,
    access_log: bool,
}

impl App {
    pub(crate) fn new(offload: Offload, access_log: bool) -> Self {
        Self {
            users: Users::default(),
            offload,
            access_log,
        }
    }

    /// Answers a request, whatever it is, and logs it if that is asked for.
    pub(crate) async fn serve(&self, request: Request<impl RequestBody>) -> Answer {
        if !self.access_log {
            return self.handle(request).await.unwrap_or_else(Error::into_answer);
        }
        let started = Instant::now();
        let method = request.method().clone();
        let uri = request.uri().clone();
        let answer = self.handle(request).await.unwrap_or_else(Error::into_answer);
        tracing::info!(
            target: ACCESS_LOG,
            "{method} {uri} {} {} us",
            answer.status().as_u16(),
            started.elapsed().as_micros()
        );
        answer
    }

    /// hyper leaves the body of an answer to HEAD out.
    async fn handle(&self, request: Request<impl RequestBody>) -> Result<Answer, Error> {
        let route = Route::find(request.uri().path()).ok_or(Error::NotFound)?;
        match (route, request.method()) {
            (Route::Null(bytes), &Method::GET | &Method::HEAD) => null(bytes),
            (Route::Index, &Method::GET | &Method::HEAD) => Ok(answer(HTML, INDEX)),
            (Route::Health, &Method::GET | &Method::HEAD) => Ok(answer(JSON, r#"{"status":"ok"}"#)),
            (Route::Work, &Method::POST) => self.work(request).await,
            (Route::Users, &Method::GET | &Method::HEAD) => Ok(self.list_users()),
            (Route::NewUser, &Method::POST) => self.create_user(request).await,
            (Route::User(id), &Method::GET | &Method::HEAD) => self.read_user(id),
            (Route::User(id), &Method::PUT) => self.replace_user(id, request).await,
            (Route::User(id), &Method::DELETE) => self.delete_user(id, request).await,
            (Route::User(_), &Method::POST) => Err(Error::BadRequest),
            _ => Err(Error::MethodNotAllowed(route.allowed())),
        }
    }
}

/// The handlers of one route each. Where the body of a request is ignored it still has to keep
/// within the limit.
impl App {
    async fn work(&self, request: Request<impl RequestBody>) -> Result<Answer, Error> {
        let delay = query::delay(request.uri().query())?;
        let body = bodies::read(request.into_body()).await?;
        let sum = work::sum_at(body, self.offload).await?;
        if !delay.is_zero() {
            sleep(delay).await;
        }
        Ok(answer(TEXT, format!("Sum: {sum}")))
    }

    async fn create_user(&self, request: Request<impl RequestBody>) -> Result<Answer, Error> {
        bodies::read(request.into_body()).await?;
        Ok(answer(TEXT, self.users.create(UserData).to_string()))
    }

    fn read_user(&self, id: usize) -> Result<Answer, Error> {
        let user = self.users.read(id).ok_or(Error::NotFound)?;
        Ok(answer(TEXT, user.to_string()))
    }

    async fn replace_user(&self, id: usize, request: Request<impl RequestBody>) -> Result<Answer, Error> {
        bodies::read(request.into_body()).await?;
        self.users.replace(id, UserData).ok_or(Error::NotFound)?;
        Ok(Answer::default())
    }

    async fn delete_user(&self, id: usize, request: Request<impl RequestBody>) -> Result<Answer, Error> {
        bodies::read(request.into_body()).await?;
        self.users.delete(id).ok_or(Error::NotFound)?;
        Ok(Answer::default())
    }

    fn list_users(&self) -> Answer {
        let ids: Vec<_> = self.users.ids().iter().map(usize::to_string).collect();
        answer(TEXT, ids.join(","))
    }
}

fn null(bytes: usize) -> Result<Answer, Error> {
    match bytes <= NULLS.len() {
        true => Ok(answer(TEXT, NULLS.slice(..bytes))),
        false => Err(Error::BadRequest),
    }
}

/// A 200 with this body.
fn answer(content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    let content_type = HeaderValue::from_static(content_type);
    answer.headers_mut().insert(header::CONTENT_TYPE, content_type);
    answer
}
