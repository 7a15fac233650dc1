use super::*;

const RELEASE: &str = "{\n  \"schema\": \"organza/release/1\"";

#[test]
fn nothing_is_left_behind_unless_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let mut pending = PendingFile::create(&path, false).unwrap();
    pending.write("half").unwrap();
    drop(pending);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut pending = PendingFile::create(&path, false).unwrap();
    pending.write("whole").unwrap();
    pending.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
}

#[test]
fn an_existing_file_is_kept_even_if_it_appears_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let pending = PendingFile::create(&path, false).unwrap();
    std::fs::write(&path, RELEASE).unwrap();
    assert!(pending.finish().unwrap_err().to_string().contains("`overwrite = true`"));
    assert!(PendingFile::create(&path, false).is_err());
    let mut pending = PendingFile::create(&path, true).unwrap();
    pending.write("ours").unwrap();
    pending.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "ours");
    let pending = PendingFile::create(&folder.path().join("b"), true).unwrap();
    std::fs::write(folder.path().join("b"), "x,y\n1,2\n").unwrap();
    assert!(pending.finish().unwrap_err().to_string().contains("not replaced"));
}

/// Catches a table, a ledger or a folder that is lost to a wrong name after `-o`.
#[test]
fn only_files_of_its_own_kind_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("there");
    let refused = |text: &str, replace| {
        std::fs::write(&path, text).unwrap();
        PendingFile::replacing(&path, Some(replace)).err().map(|error| error.to_string())
    };
    for ours in [RELEASE, "{\"schema\":\"organza/counts/1\",", "# Private bounds: found", ""] {
        assert_eq!(refused(ours, Replace::Published), None, "{ours}");
    }
    for (theirs, what) in [
        ("age,stay\n34,3\n", "not a file of this kind"),
        ("SQLite format 3\0", "a ledger"),
        ("{\"schema\": \"other/1\"}", "not a file of this kind"),
        ("[x]\nlower = 0\n", "not a file of this kind"),
    ] {
        let error = refused(theirs, Replace::Published).unwrap();
        assert!(error.contains("is not replaced") && error.contains(what), "{error}");
        assert!(refused(theirs, Replace::Predictions).is_some());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), theirs);
    }
    assert_eq!(refused("row,mean,sd,lower,upper\n", Replace::Predictions), None);
    let error = PendingFile::create(folder.path(), true).unwrap_err().to_string();
    assert!(error.contains("a folder"), "{error}");
    #[cfg(unix)]
    {
        let error = PendingFile::create(Path::new("/dev/null"), true).unwrap_err().to_string();
        assert!(error.contains("a device"), "{error}");
        std::fs::write(&path, RELEASE).unwrap();
        std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
        assert!(PendingFile::create(&folder.path().join("link"), true).is_err());
        assert!(is_same_file(&path, &folder.path().join("link")) && !is_same_file(&path, folder.path()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn files_of_killed_processes_are_removed_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3600);
    // No process has a number beyond 2^22.
    let live = format!(".organza-{}-Abc123", std::process::id());
    let kept = [live.as_str(), ".organza-notes", ".organza-4194999-young1", ".organza-x-Abc123"];
    for name in [".organza-4194999-Abc123", ".organza-Abc123"].iter().chain(&kept) {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        if !name.ends_with("young1") {
            file.set_modified(old).unwrap();
        }
    }
    std::fs::create_dir(folder.path().join(".organza-4194999-folder")).unwrap();
    drop(PendingFile::create(&folder.path().join("a.json"), false).unwrap());
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut expected = vec![".organza-4194999-folder"];
    expected.extend(kept);
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[cfg(unix)]
#[test]
fn a_file_is_no_more_open_than_the_table() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("t.csv");
    std::fs::write(&table, "x\n").unwrap();
    let mode = |of_table: u32| {
        std::fs::set_permissions(&table, PermissionsExt::from_mode(of_table)).unwrap();
        let path = folder.path().join(of_table.to_string());
        let pending = PendingFile::create(&path, false).unwrap();
        pending.as_private_as(&table).unwrap();
        pending.finish().unwrap();
        path.metadata().unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(0o600), 0o600);
    assert_eq!(mode(0o400), 0o600);
    assert_eq!(mode(0o666) & 0o600, 0o600);
}

#[test]
fn an_unwritable_directory_is_found_at_once() {
    let error = PendingFile::create(Path::new("/no/such/folder/a.json"), false).unwrap_err();
    assert!(error.to_string().starts_with("/no/such/folder/a.json: cannot be written"), "{error}");
}
