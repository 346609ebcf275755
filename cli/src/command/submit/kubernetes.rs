//! Kubernetes: an Indexed Job whose parts fail each for itself. JSON, which is YAML too.

use super::job::Job;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// The manifest. Parts that are finished already end at once.
pub(super) fn manifest(job: &Job<'_>) -> Result<String> {
    let args = job.args;
    let ends =
        ["--shard".to_owned(), format!("auto/{}", args.parts), "--out".to_owned(), job.part("$(JOB_COMPLETION_INDEX)")];
    let command: Vec<&String> = job.run.iter().chain(&ends).collect();
    let mut resources = json!({ "requests": { "cpu": args.cpus.to_string() } });
    if let Some(memory) = args.memory.map(|mebibytes| format!("{mebibytes}Mi")) {
        resources["requests"]["memory"] = json!(memory);
        resources["limits"] = json!({ "memory": memory });
    }
    let secrets: Vec<Value> = args.secret.iter().map(|name| json!({ "secretRef": { "name": name } })).collect();
    let container = json!({
        "name": "run",
        "image": args.image.as_ref().context("--image names the container image")?,
        "args": std::iter::once("run").chain(command.iter().map(|text| text.as_str())).collect::<Vec<_>>(),
        "resources": resources,
        "envFrom": secrets,
        "volumeMounts": [{ "name": "runs", "mountPath": job.out }],
    });
    let name: String = job
        .out
        .rsplit('/')
        .next()
        .unwrap_or("run")
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": format!("closeread-{}", name.trim_matches('-')),
            "annotations": { "closeread/limits": job.shares.join("; ") },
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": args.parts,
            "parallelism": args.parts,
            "backoffLimitPerIndex": 3,
            "maxFailedIndexes": args.parts,
            "template": { "spec": {
                // Of a part, not of the job: parts may wait for a node. The group is that of the image's user.
                "activeDeadlineSeconds": u64::from(job.minutes) * 60,
                "securityContext": { "fsGroup": 65532 },
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 120,
                "containers": [container],
                "volumes": [{ "name": "runs", "persistentVolumeClaim": { "claimName": args.claim } }],
            } },
        },
    });
    Ok(serde_json::to_string_pretty(&manifest)? + "\n")
}
