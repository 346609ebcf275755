//! How the parts of core point: ARCHITECTURE.md says it in words, this holds that no arrow comes back.

#![allow(clippy::disallowed_methods, reason = "reads the sources of this crate")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Module -> the modules it names, each with a file that does.
type Arrows = BTreeMap<String, BTreeMap<String, PathBuf>>;

#[test]
fn no_module_of_core_points_back_at_one_that_points_at_it() {
    let arrows = arrows(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(arrows.len() > 15 && arrows["method"].contains_key("index"), "the sources were read: {arrows:?}");
    let mut done = BTreeSet::new();
    for module in arrows.keys() {
        follow(&arrows, module, &mut Vec::new(), &mut done);
    }
}

fn follow<'a>(arrows: &'a Arrows, module: &'a str, path: &mut Vec<&'a str>, done: &mut BTreeSet<&'a str>) {
    if let Some(start) = path.iter().position(|seen| *seen == module) {
        let circle: Vec<&str> = path[start..].iter().copied().chain([module]).collect();
        let files: Vec<String> = circle.windows(2).map(|pair| arrows[pair[0]][pair[1]].display().to_string()).collect();
        panic!("a circle, {}: by {}", circle.join(" -> "), files.join(", "));
    }
    if done.contains(module) {
        return;
    }
    path.push(module);
    for next in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
        follow(arrows, next, path, done);
    }
    path.pop();
    done.insert(module);
}

fn arrows(source: &Path) -> Arrows {
    let mut arrows = Arrows::new();
    for file in files(source) {
        let inside = file.strip_prefix(source).unwrap();
        let first = inside.iter().next().unwrap().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        let is_test = inside.iter().any(|part| part == "tests.rs" || part == "testing.rs");
        if module == "lib" || is_test {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        for name in lines.flat_map(|line| line.split("crate::").skip(1)) {
            let name: String = name.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            if !name.is_empty() && name != module {
                arrows.entry(module.clone()).or_default().entry(name).or_insert_with(|| inside.to_owned());
            }
        }
    }
    arrows
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
