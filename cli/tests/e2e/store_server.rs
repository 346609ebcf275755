//! An object store of the tests' own, which speaks S3 as far as closeread does.

use crate::http::{Answered, Asked, HttpServer};
use crate::support::{Ended, Sandbox};
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex};

pub(crate) type Objects = Arc<Mutex<BTreeMap<String, String>>>;

/// A store with the bucket `evals`; `fault` may answer in its place.
pub(crate) struct Store {
    pub(crate) server: HttpServer,
    pub(crate) objects: Objects,
}

impl Store {
    pub(crate) fn start(objects: &Objects, mut fault: impl FnMut(&Asked) -> Option<Answered> + Send + 'static) -> Self {
        let objects = objects.clone();
        let own = objects.clone();
        let server =
            HttpServer::start(move |asked| fault(asked).unwrap_or_else(|| answer(&mut own.lock().unwrap(), asked)));
        Self { server, objects }
    }

    pub(crate) fn run(&self, sandbox: &Sandbox, machine: &str, args: &[&str]) -> Ended {
        Ended(self.command(sandbox, machine, args).output().unwrap())
    }

    pub(crate) fn command(&self, sandbox: &Sandbox, machine: &str, args: &[&str]) -> Command {
        // Memory beyond 1.5 GB is refused.
        let mut command = sandbox.command_after("ulimit -v 1500000", args);
        command.env("CLOSEREAD_CACHE", sandbox.path(machine)).env("AWS_ENDPOINT_URL", &self.server.url);
        command.env("AWS_ACCESS_KEY_ID", "k").env("AWS_SECRET_ACCESS_KEY", "geheim").env("AWS_REGION", "us-east-1");
        command.env("AWS_SESSION_TOKEN", "vertraulich").env("CLOSEREAD_SYNC_SECONDS", "1");
        command
    }
}

pub(crate) fn tag(content: &str) -> String {
    format!("\"{}-{}\"", content.len(), content.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31) ^ u32::from(byte)))
}

/// The path of the object that is asked for; none in a listing.
pub(crate) fn object(asked: &Asked) -> Option<&str> {
    asked.path.strip_prefix("/evals/").map(|path| path.split('?').next().unwrap())
}

pub(crate) fn is_listing(asked: &Asked) -> bool {
    asked.path.contains("list-type=2")
}

/// A listing; with a token, more follows.
pub(crate) fn listing(objects: &BTreeMap<String, String>, token: Option<&str>) -> Answered {
    let more = token.map_or("<IsTruncated>false</IsTruncated>".to_owned(), |token| {
        format!("<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>")
    });
    let object = |(name, content): (&String, &String)| {
        let (tag, length) = (tag(content).replace('"', "&quot;"), content.len());
        format!(
            "<Contents><Key>{name}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>{tag}</ETag><Size>{length}</Size></Contents>"
        )
    };
    let all: String = objects.iter().map(object).collect();
    ("200 OK", Vec::new(), format!("<ListBucketResult>{more}{all}</ListBucketResult>"))
}

pub(crate) fn content(content: &str) -> Answered {
    let modified = ("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT".to_owned());
    ("200 OK", vec![("etag", tag(content)), modified], content.to_owned())
}

pub(crate) fn answer(objects: &mut BTreeMap<String, String>, asked: &Asked) -> Answered {
    if is_listing(asked) {
        return listing(objects, None);
    }
    let name = object(asked).unwrap_or_default().replace("%3D", "=").replace("%C3%BC", "ü").replace("%23", "#");
    let there = objects.get(&name).map(|content| tag(content));
    match asked.method.as_str() {
        "GET" => objects.get(&name).map_or(("404 Not Found", Vec::new(), String::new()), |there| content(there)),
        "PUT" => {
            let is_refused = asked.header("if-none-match").is_some() && there.is_some()
                || asked.header("if-match").is_some_and(|tag| Some(tag) != there.as_deref());
            if is_refused {
                return ("412 Precondition Failed", Vec::new(), String::new());
            }
            objects.insert(name, asked.body.clone());
            ("200 OK", vec![("etag", tag(&asked.body))], String::new())
        }
        // Several are removed at once.
        _ => {
            let keys = asked.body.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap().to_owned());
            let removed: String = keys
                .map(|key| {
                    objects.remove(&key);
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                })
                .collect();
            ("200 OK", Vec::new(), format!("<DeleteResult>{removed}</DeleteResult>"))
        }
    }
}
