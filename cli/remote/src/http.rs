//! HTTP of stores: what a store answers has an end, and no answer leads to another server.

use async_trait::async_trait;
use closeread_files::MAX_FILE_BYTES;
use http_body_util::{BodyExt, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use reqwest::redirect::Policy;
use std::sync::Mutex;
use std::time::Duration;

/// Most answers to one listing, of a thousand objects each, and the bytes of all of them.
pub(crate) const MAX_PAGES: usize = 200;
const MAX_LISTED: usize = 256 << 20;

/// Makes the clients of a store. A redirect is not followed: the keys are for the server that was named.
#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = closeread_providers::http::client().redirect(Policy::none());
        let client = client.connect_timeout(Duration::from_secs(5)).timeout(Duration::from_secs(30)).build();
        let client = client.map_err(|source| object_store::Error::Generic { store: "HTTP", source: source.into() })?;
        Ok(HttpClient::new(Service { client, listed: Mutex::new((0, 0)) }))
    }
}

/// A client, with the answers to the last listing so far and their bytes.
#[derive(Debug)]
struct Service {
    client: reqwest::Client,
    listed: Mutex<(usize, usize)>,
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_listing = |part: &str| part.starts_with("list-type=") || part == "comp=list";
        let goes_on = |part: &str| part.starts_with("continuation-token=") || part.starts_with("marker=");
        let query = request.uri().query().unwrap_or_default();
        let (is_listing, goes_on) = (query.split('&').any(is_listing), query.split('&').any(goes_on));
        let (head, body) = self.client.call(request).await?.into_parts();
        if !is_listing {
            let body = Limited::new(body, MAX_FILE_BYTES as usize).map_err(no_end);
            return Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)));
        }
        let (pages, bytes) = if goes_on { *self.listed.lock().expect("nobody panics with it") } else { (0, 0) };
        if pages == MAX_PAGES {
            let most = MAX_PAGES * 1000;
            return Err(no_end(
                format!("the listing does not end: no run or benchmark has more than {most} files").into(),
            ));
        }
        let body = Limited::new(body, MAX_LISTED - bytes).collect().await.map_err(no_end)?.to_bytes();
        *self.listed.lock().expect("nobody panics with it") = (pages + 1, bytes + body.len());
        Ok(HttpResponse::from_parts(head, body.into()))
    }
}

/// The error of a body that is too long or broke off; asking again would come out the same.
fn no_end(source: Box<dyn std::error::Error + Send + Sync>) -> HttpError {
    match source.downcast::<HttpError>() {
        Ok(error) => *error,
        Err(source) => HttpError::new_boxed(HttpErrorKind::Decode, source),
    }
}
