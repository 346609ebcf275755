//! What a store says of a request that failed, as people read it.

/// Codes of a bucket or a container that is not there.
const NO_BUCKET: [&str; 2] = ["NoSuchBucket", "ContainerNotFound"];

/// What to do about answers that keys looked up elsewhere would not change, by their codes.
const REMEDIES: [(&[&str], &str); 4] = [
    (
        &["ExpiredToken", "TokenRefreshRequired"],
        "the session token is too old: renew it, and give the same command again",
    ),
    (&["RequestTimeTooSkewed"], "the clock of this machine is wrong: set it"),
    (
        &["AccessDenied", "AuthorizationPermissionMismatch"],
        "the keys lack a right: they must be allowed to list, read, write and delete there",
    ),
    (
        &["SlowDown", "ServerBusy", "InternalError"],
        "the store has trouble of its own: give the same command again later",
    ),
];

/// The words of an error, with the store's own in the place of its XML; and what to do, where it is known.
pub(crate) fn of_store(error: &str) -> (String, Option<&'static str>) {
    let Some(at) = error.find("<?xml").or_else(|| error.find("<Error>")) else { return (error.to_owned(), None) };
    let (Some(code), Some(message)) = (element(&error[at..], "Code"), element(&error[at..], "Message")) else {
        return (error.to_owned(), None);
    };
    if NO_BUCKET.contains(&code) {
        let remedy = "make it by the store's own tools, or check its name, the account and the address of the server";
        return ("the store has no such bucket".to_owned(), Some(remedy));
    }
    // The other lines are numbers for the store's own support.
    let first = message.lines().next().unwrap_or_default();
    let remedy = REMEDIES.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, remedy)| *remedy);
    (format!("{}{first} ({code})", &error[..at]), remedy)
}

/// The text of the first element of this name.
fn element<'x>(xml: &'x str, name: &str) -> Option<&'x str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(code: &str, message: &str) -> String {
        format!(
            "Generic S3 error: 404 Not Found: \u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Error><Code>{code}</Code>\
             <Message>{message}</Message><RequestId>cMOn</RequestId></Error>"
        )
    }

    #[test]
    fn a_bucket_that_is_not_there_is_told_without_xml() {
        for code in NO_BUCKET {
            let (said, remedy) = of_store(&answer(code, "The specified bucket does not exist"));
            assert_eq!(said, "the store has no such bucket");
            assert!(remedy.is_some_and(|remedy| remedy.starts_with("make it")));
        }
    }

    #[test]
    fn other_answers_are_their_message_and_their_code() {
        let (said, remedy) = of_store(&answer("InvalidAccessKeyId", "No such key\nRequestId:17"));
        assert_eq!(said, "Generic S3 error: 404 Not Found: \u{feff}No such key (InvalidAccessKeyId)");
        assert_eq!(remedy, None);
        let (said, remedy) = of_store(&answer("AccessDenied", "Access Denied\nRequestId:17"));
        assert_eq!(said, "Generic S3 error: 404 Not Found: \u{feff}Access Denied (AccessDenied)");
        assert!(remedy.is_some_and(|remedy| remedy.starts_with("the keys lack a right")));
        for plain in ["connection refused", "<html>no store</html>", "<Error><Code>x</Code></Error>"] {
            assert_eq!(of_store(plain), (plain.to_owned(), None));
        }
    }
}
