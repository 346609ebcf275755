use super::*;
use serde_json::json;

#[test]
fn what_is_not_there_is_nothing_and_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("none");
    assert_eq!((read(&path).unwrap(), read_text(&path).unwrap()), (None, None));
    assert_eq!(entries(&path).unwrap(), Vec::<PathBuf>::new());
    assert_eq!(read_lines::<Value>(&path, "a value").unwrap(), Vec::<Value>::new());
    remove(&path).unwrap();
    remove_from(&path, |_| true).unwrap();
    assert!(read(dir.path()).is_err(), "a folder is no file");
}

#[test]
fn a_folder_is_made_in_one_that_is_there_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        make_inside(&dir.path().join("made")).unwrap();
    }
    fs::write(dir.path().join("file"), "").unwrap();
    assert!(make_inside(&dir.path().join("file")).is_err());
    assert!(make_inside(&dir.path().join("gone/made")).is_err() && !dir.path().join("gone").exists());
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("prompt.md");
    for (written, text) in [("\u{feff}+++\n", "+++\n"), ("a\u{feff}", "a\u{feff}"), ("\u{feff}", "")] {
        fs::write(&path, written).unwrap();
        assert_eq!(read_text_file(&path).unwrap(), text);
    }
    fs::write(&path, b"\xFF\xFEa\0").unwrap();
    assert_eq!(read_text_file(&path).unwrap_err().to_string(), "it is not in UTF-8: save it as UTF-8");
}

#[test]
#[cfg(unix)]
fn an_output_goes_into_what_is_named_and_a_file_of_ours_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let (file, to_file, to_device) = (dir.path().join("f"), dir.path().join("l"), dir.path().join("n"));
    std::os::unix::fs::symlink(&file, &to_file).unwrap();
    std::os::unix::fs::symlink("/dev/null", &to_device).unwrap();
    fs::write(&file, "old").unwrap();
    write_output(&to_file, b"new").unwrap();
    write_output(&to_device, b"new").unwrap();
    write_output(Path::new("/dev/null"), b"new").unwrap();
    assert_eq!(read_text(&file).unwrap().unwrap(), "new");
    assert!(to_file.is_symlink() && to_device.is_symlink());
    assert!(!fs::metadata("/dev/null").unwrap().is_file(), "the device is there");

    // Finding 1: whoever made a folder laid links into it.
    for link in [&to_file, &to_device] {
        write_atomically(link, b"ours").unwrap();
        assert!(!link.is_symlink() && fs::read(link).unwrap() == b"ours");
    }
    assert_eq!(read_text(&file).unwrap().unwrap(), "new");
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = format!("{:#}", write_atomically(&pipe, b"x").unwrap_err());
    assert!(error.contains("it is a pipe or a device: remove it"), "{error}");
}

#[test]
#[cfg(unix)]
fn lines_are_not_appended_to_a_file_that_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lines.jsonl");
    let open = || open_lines::<Value>(&path, "a value").unwrap().0;
    let file = open();
    append_lines(&file, &path, b"1\n").unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(append_lines(&file, &path, b"2\n").unwrap_err().kind(), ErrorKind::NotFound);
    fs::write(&path, "1\n").unwrap();
    assert!(append_lines(&file, &path, b"2\n").is_err(), "another file of that name");
    let file = open();
    fs::rename(&path, dir.path().join("moved")).unwrap();
    assert!(append_lines(&file, &path, b"2\n").is_err());
    assert_eq!(fs::read_to_string(dir.path().join("moved")).unwrap(), "1\n2\n", "it is kept where it is now");
}

#[test]
fn files_of_one_stem_are_written_side_by_side_and_leave_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["report.html", "report.json"];
    std::thread::scope(|scope| {
        for name in names {
            let path = dir.path().join(name);
            scope.spawn(move || (0..100).for_each(|_| write_atomically(&path, name.as_bytes()).unwrap()));
        }
    });
    assert_eq!(entries(dir.path()).unwrap(), names.map(|name| dir.path().join(name)));
    for name in names {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), name);
    }
    assert!(write_atomically(&dir.path().join("none/x"), b"").is_err());
    assert!(write_atomically(dir.path(), b"").is_err(), "a folder stays where it is");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::write(dir.path().join("new"), "").unwrap();
        let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("report.json"), mode("new"));
    }
}

#[test]
fn an_error_names_the_file_and_not_ours_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let error = format!("{:#}", write_atomically(&dir.path().join("gone/x"), b"").unwrap_err());
    assert!(error.contains("gone/x: ") && !error.contains(PARTIAL), "{error}");
}

#[test]
#[cfg(unix)]
fn finding_03_pipes_and_devices_are_refused_before_they_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
        for error in [read_file(path).unwrap_err(), read_text_file(path).unwrap_err()] {
            assert!(error.to_string().contains("it is a pipe or a device"), "{error}");
        }
    }
    assert!(read_file(dir.path()).is_err() && read_file(dir.path().join("none")).is_err());
}

#[test]
fn finding_09_files_and_lines_that_are_too_large_are_refused_before_they_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large");
    File::create(&path).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    for error in [read_file(&path).unwrap_err(), read_text_file(&path).unwrap_err()] {
        assert_eq!(error.to_string(), "it has 2048 MiB: expected at most 2048 MiB; split it");
    }
    assert!(open_lines::<Value>(&path, "a value").is_err());
    assert!(read_file_within(&path, 100).unwrap_err().to_string().contains("at most 0 MiB"));
    fs::write(&path, format!("1\n\"{}\"\n", "a".repeat(MAX_LINE_BYTES))).unwrap();
    let error = read_lines::<Value>(&path, "a value").unwrap_err().to_string();
    assert!(error.ends_with("large:2: 64 MiB in one line: expected at most 64 MiB"), "{error}");
}

#[test]
fn finding_02_an_input_is_known_by_every_name() {
    let dir = tempfile::tempdir().unwrap();
    let (input, other) = (dir.path().join("in"), dir.path().join("out"));
    fs::write(&input, "gold").unwrap();
    let refused = |out: &Path| refuse_input_as_output(out, "--out", [input.as_path()]);
    assert!(refused(&other).is_ok() && refused(&dir.path().join(".").join("in")).is_err());
    fs::write(&other, "").unwrap();
    assert!(refused(&other).is_ok());
    fs::remove_file(&other).unwrap();
    fs::hard_link(&input, &other).unwrap();
    assert_eq!(refused(&other).is_err(), cfg!(unix), "a hard link");
    #[cfg(unix)]
    {
        fs::remove_file(&other).unwrap();
        std::os::unix::fs::symlink(&input, &other).unwrap();
        assert!(refused(&other).unwrap_err().to_string().contains("name another file"));
    }
}

#[test]
fn finding_01_nothing_is_removed_from_a_file_of_other_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    for (text, left) in [("my notes\nand their end", None), ("{\"a\": 1}\n{\"a\": ", Some("{\"a\": 1}\n"))] {
        fs::write(&path, text).unwrap();
        assert_eq!(open_lines::<Value>(&path, "a value").is_ok(), left.is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), left.unwrap_or(text));
    }
}

#[test]
fn a_line_cut_short_is_passed_over_and_a_wrong_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    fs::write(&path, "{\"a\": 1}\n\n{\"a\": 2").unwrap();
    assert_eq!(read_lines::<Value>(&path, "a value").unwrap(), [json!({"a": 1})]);
    fs::write(&path, "{\"a\": 1}\n\nno\n").unwrap();
    let error = read_lines::<Value>(&path, "a value").unwrap_err().to_string();
    assert!(error.ends_with("x.jsonl:3: expected a value"), "{error}");
}

#[test]
fn finding_19_what_a_kill_left_of_a_file_is_removed_and_what_is_being_written_or_a_persons_stays() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str| fs::write(dir.path().join(name), "x").unwrap();
    let others = [".notes.partial", ".x.records.jsonl.partial", "Ab3dEf.partial", ".Ab3dEf", ".Ab-dEf.partial"];
    [".Ab3dEf.partial", ".zzzzzz.partial"].into_iter().chain(others).for_each(put);
    let written = File::open(dir.path().join(".zzzzzz.partial")).unwrap();
    written.lock().unwrap();
    let there = |name: &str| dir.path().join(name).exists();
    fs::create_dir_all(dir.path().join("a/b")).unwrap();
    put("a/b/.Ab3dEf.partial");
    remove_partial(dir.path()).unwrap();
    assert!(
        !there(".Ab3dEf.partial")
            && !there("a/b/.Ab3dEf.partial")
            && there(".zzzzzz.partial")
            && others.into_iter().all(there)
    );
    drop(written);
    remove_partial(dir.path()).unwrap();
    assert!(!there(".zzzzzz.partial"));
    remove_partial(&dir.path().join("none")).unwrap();
}

#[cfg(unix)]
#[test]
fn finding_19_a_line_that_is_appended_to_a_hard_link_does_not_reach_the_other_name() {
    let dir = tempfile::tempdir().unwrap();
    let [here, copy] = ["here", "copy"].map(|name| dir.path().join(name));
    append_line(&here, &1).unwrap();
    fs::hard_link(&here, &copy).unwrap();
    append_line(&here, &2).unwrap();
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    assert_eq!((read(&here).as_str(), read(&copy).as_str()), ("1\n2\n", "1\n"));
    let (mut file, lines): (File, Vec<u8>) = open_lines(&copy, "a number").unwrap();
    assert_eq!(lines, [1]);
    fs::hard_link(&here, dir.path().join("third")).unwrap();
    let (mut other, _): (File, Vec<u8>) = open_lines(&here, "a number").unwrap();
    file.write_all(b"7\n").unwrap();
    other.write_all(b"3\n").unwrap();
    assert_eq!((read(&here).as_str(), read(&dir.path().join("third")).as_str()), ("1\n2\n3\n", "1\n2\n"));
    assert_eq!(read(&copy), "1\n7\n");
}
