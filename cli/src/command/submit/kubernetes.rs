//! Kubernetes: an Indexed Job whose parts fail each for itself. JSON, which is YAML too.

use super::job::Job;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Characters of a folder's name in the name of its job: that may have 63, and pods add their own.
const MAX_NAME: usize = 40;

/// The manifest. Parts that are finished already end at once.
pub(super) fn manifest(job: &Job<'_>) -> Result<String> {
    let args = job.args;
    let part = format!("{}/parts/$(JOB_COMPLETION_INDEX)", job.out.replace('$', "$$"));
    let ends = ["--shard".to_owned(), format!("auto/{}", args.parts), "--out".to_owned(), part];
    // Kubernetes fills in `$(NAME)`, and reads `$$` as `$`.
    let run = job.run.iter().map(|text| text.replace('$', "$$"));
    let command: Vec<String> = std::iter::once("run".to_owned()).chain(run).chain(ends).collect();
    let mut resources = json!({ "requests": { "cpu": args.cpus.to_string() } });
    if let Some(memory) = args.memory.map(|mebibytes| format!("{mebibytes}Mi")) {
        resources["requests"]["memory"] = json!(memory);
        resources["limits"] = json!({ "memory": memory });
    }
    let secrets: Vec<Value> = args.secret.iter().map(|name| json!({ "secretRef": { "name": name } })).collect();
    let mut container = json!({
        "name": "run",
        "image": args.image.as_ref().context("--image names the container image")?,
        "args": command,
        "resources": resources,
        "envFrom": secrets,
    });
    let mut pod = json!({
        // Of a part, not of the job: parts may wait for a node. The group is that of the image's user.
        "activeDeadlineSeconds": u64::from(job.minutes) * 60,
        "securityContext": { "fsGroup": 65532 },
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 120,
    });
    if let Some(claim) = &args.claim {
        container["volumeMounts"] = json!([{ "name": "runs", "mountPath": job.out }]);
        pod["volumes"] = json!([{ "name": "runs", "persistentVolumeClaim": { "claimName": claim } }]);
    }
    pod["containers"] = json!([container]);
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name(job),
            "annotations": { "closeread/limits": job.shares.join("; ") },
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": args.parts,
            "parallelism": args.parts,
            "backoffLimitPerIndex": 3,
            "maxFailedIndexes": args.parts,
            "template": { "spec": pod },
        },
    });
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}

/// Returns the name of the job: that of the folder, in the characters that such names have.
pub(super) fn name(job: &Job<'_>) -> String {
    let folder = job.out.rsplit('/').next().unwrap_or_default().to_lowercase();
    let name = folder.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(MAX_NAME);
    format!("closeread-{}", name.collect::<String>()).trim_end_matches('-').to_owned()
}
