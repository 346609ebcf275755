//! Requests in flight. A caller with the same request waits for the first to come back, instead of paying for it again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use tokio::sync::Notify;

/// The requests that somebody is asking, by their keys.
#[derive(Debug, Default)]
pub struct UnderWay(RefCell<HashMap<String, Rc<Notify>>>);

/// The right to ask a request; until it is dropped nobody else has it.
#[derive(Debug)]
pub struct Turn<'a> {
    requests: &'a UnderWay,
    request: String,
}

impl UnderWay {
    /// The right to ask `request`, or `None` once another who had it is through: there may be a response by now.
    pub async fn turn(&self, request: &str) -> Option<Turn<'_>> {
        let first = self.0.borrow().get(request).map(Rc::clone);
        if let Some(first) = first {
            first.notified().await;
            return None;
        }
        self.0.borrow_mut().insert(request.to_owned(), Rc::default());
        Some(Turn { requests: self, request: request.to_owned() })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Some(waited_for) = self.requests.0.borrow_mut().remove(&self.request) {
            waited_for.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn the_same_request_waits_and_another_does_not() {
        let requests = UnderWay::default();
        let first = requests.turn("a").await.expect("nobody asks it");
        let (mut second, mut third) = (Box::pin(requests.turn("a")), Box::pin(requests.turn("a")));
        assert!(second.as_mut().now_or_never().is_none() && third.as_mut().now_or_never().is_none());
        assert!(requests.turn("b").await.is_some());
        drop(first);
        assert!(second.await.is_none() && third.await.is_none());
        assert!(requests.turn("a").await.is_some());
    }
}
