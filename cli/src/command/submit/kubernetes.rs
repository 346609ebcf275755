//! Kubernetes: an Indexed Job whose parts fail each for itself, and a Job that joins them. JSON, which is YAML too.

use super::handed::Handed;
use super::job::{Job, call};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tracing::info;

/// Characters of a folder's name in the name of its job: that may have 63, and pods add their own.
const MAX_NAME: usize = 40;
/// Minutes without a change after which the parts are joined: more than a failed part's back-off, and than a call takes.
const QUIET: &str = "15";
/// Annotation with the place of a job's parts, by which two folders of the same name are told apart.
const PLACE: &str = "closeread/place";
/// Times that joining is tried again while parts lack: they may still wait for a node.
const MORE_JOINS: u32 = 6;

/// The manifest. Parts that are finished already end at once.
pub(super) fn manifest(job: &Job<'_>) -> Result<String> {
    let args = job.args;
    // Kubernetes fills in `$(NAME)`, and reads `$$` as `$`.
    let plain = |text: &str| text.replace('$', "$$");
    let out = plain(&job.out);
    let part = format!("{out}/parts/$(JOB_COMPLETION_INDEX)");
    let ends = ["--shard".to_owned(), format!("auto/{}", args.parts), "--out".to_owned(), part];
    let run = job.run.iter().map(|text| plain(text));
    let run: Vec<String> = std::iter::once("run".to_owned()).chain(run).chain(ends).collect();
    let whole = format!("{out}/whole");
    let merge = ["merge", &out, "--wait", QUIET, "--fresh", "--out", &whole].map(str::to_owned);
    let memory = job.memory.map(|mebibytes| format!("{mebibytes}Mi"));
    let mut parts = pod(job, "run", &run, json!({ "cpu": args.cpus.to_string() }))?;
    // Of a part, not of the job: parts may wait for a node.
    parts["activeDeadlineSeconds"] = json!(u64::from(job.minutes) * 60);
    parts["terminationGracePeriodSeconds"] = json!(120);
    if let Some(memory) = &memory {
        parts["containers"][0]["resources"]["limits"] = json!({ "memory": memory });
    }
    let manifest = json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {
                    "name": name(job),
                    "annotations": { "closeread/limits": job.shares.join("; "), PLACE: place(job) },
                },
                "spec": {
                    "completionMode": "Indexed",
                    "completions": args.parts,
                    "parallelism": args.parts,
                    "backoffLimitPerIndex": 3,
                    "maxFailedIndexes": args.parts,
                    "template": { "spec": parts },
                },
            },
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": { "name": merging(job) },
                "spec": {
                    "backoffLimit": MORE_JOINS,
                    "template": { "spec": pod(job, "merge", &merge, json!({ "cpu": "100m" }))? },
                },
            },
        ],
    });
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// A pod whose container has this command.
fn pod(job: &Job<'_>, name: &str, command: &[String], mut requests: Value) -> Result<Value> {
    let args = job.args;
    if let Some(mebibytes) = job.memory {
        requests["memory"] = json!(format!("{mebibytes}Mi"));
    }
    let secrets: Vec<Value> = args.secret.iter().map(|name| json!({ "secretRef": { "name": name } })).collect();
    let mut container = json!({
        "name": name,
        "image": args.image.as_ref().context("--image names the container image")?,
        "args": command,
        "resources": { "requests": requests },
        "envFrom": secrets,
    });
    // The group is that of the image's user.
    let mut pod = json!({ "securityContext": { "fsGroup": 65532 }, "restartPolicy": "Never" });
    if let Some(claim) = &args.claim {
        container["volumeMounts"] = json!([{ "name": "runs", "mountPath": job.out }]);
        pod["volumes"] = json!([{ "name": "runs", "persistentVolumeClaim": { "claimName": claim } }]);
    }
    pod["containers"] = json!([container]);
    Ok(pod)
}

/// Hands in both jobs, in the place of earlier ones that have ended; one that has not is left alone, and the answer is `None`.
pub(super) fn hand_in(job: &Job<'_>, file: &Path) -> Result<Option<Handed>> {
    let mut parts = Handed::Job(name(job));
    let of_place = format!("jsonpath={{.metadata.annotations.{PLACE}}}");
    let its =
        call(Command::new("kubectl").args(["get", "job", "--ignore-not-found", &name(job), "--output", &of_place]))?;
    ensure!(
        its.is_empty() || its == place(job),
        "job {} has the parts in {its}: give another last name by --out, or end it by kubectl delete job {0}",
        name(job)
    );
    match parts.goes_on() {
        Some(true) => {
            info!("job {} has not ended and is not handed in again; kubectl delete job {0} ends it", name(job));
            return Ok(None);
        }
        Some(false) => {
            let old = ["delete", "job", "--ignore-not-found", &name(job), &merging(job)];
            call(Command::new("kubectl").args(old))?;
        }
        None => {}
    }
    call(Command::new("kubectl").args(["apply", "--filename"]).arg(file))?;
    info!("job {} joins the parts in {}/whole when all have ended", merging(job), job.out);
    Ok(Some(parts))
}

/// Returns the place of the parts: in a store, or in a volume.
fn place(job: &Job<'_>) -> String {
    job.args.claim.as_ref().map_or_else(|| job.out.clone(), |claim| format!("{claim}:{}", job.out))
}

/// Returns the name of the job that joins the parts.
fn merging(job: &Job<'_>) -> String {
    format!("{}-merge", name(job))
}

/// Returns the name of the job: that of the folder, in the characters that such names have.
fn name(job: &Job<'_>) -> String {
    let folder = job.out.rsplit('/').next().unwrap_or_default().to_lowercase();
    let name = folder.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(MAX_NAME);
    format!("closeread-{}", name.collect::<String>()).trim_end_matches('-').to_owned()
}
