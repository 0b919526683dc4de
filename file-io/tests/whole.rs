//! The program as a user runs it: what it prints, what it leaves behind, how it ends.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_asynctest");

fn asynctest(folder: &Path, arguments: &str) -> Output {
    let arguments = arguments.split_whitespace();
    Command::new(PROGRAM)
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn everything_is_measured_once_and_the_folder_goes() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("sample");
    for cache in ["hot", "cold"] {
        let line = format!("3 3000 --cache {cache} --buffer-size 65536 --threads 2");
        let output = asynctest(&folder, &line);
        assert!(output.status.success(), "{}", said(&output));
        assert!(!folder.exists());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let ways = document["ways"].as_array().unwrap();
        assert_eq!(ways.len(), 28);
        let measurements = document["measurements"].as_array().unwrap();
        for way in ways {
            let named = |made: &&Value| made["name"] == way["name"];
            let own: Vec<_> = measurements.iter().filter(named).collect();
            assert_eq!(
                own.len(),
                usize::from(way["unavailable"].is_null()),
                "{way}"
            );
        }
        for made in measurements {
            assert_eq!(
                (&made["lines"], &made["cache"]),
                (&3000.into(), &cache.into())
            );
            assert!(made["elapsed_ms"].as_f64().unwrap() > 0.0);
        }
    }
}

#[test]
fn ways_are_measured_in_the_order_asked_for() {
    let parent = tempfile::tempdir().unwrap();
    let names = ["loop-one", "test07-in-place", "test04"];
    let line = format!("2 1000 --only {}", names.join(","));
    let output = asynctest(&parent.path().join("sample"), &line);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let measurements = document["measurements"].as_array().unwrap();
    let made: Vec<_> = measurements
        .iter()
        .map(|made| made["name"].clone())
        .collect();
    assert_eq!(made, names);
}

#[test]
fn a_folder_that_exists_is_refused_and_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("precious"), "").unwrap();
    let output = asynctest(parent.path(), "1 10");
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("exists"), "{}", said(&output));
    assert!(parent.path().join("precious").exists());
}

#[test]
fn a_case_that_is_too_large_is_told_before_it_starts() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("sample");
    let output = asynctest(&folder, "1 100000000000");
    if output.status.success() {
        return; // 3 TB fitted
    }
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("lines fit"), "{}", said(&output));
    assert!(!folder.exists());
}

#[test]
fn a_file_with_a_line_without_a_comma_is_counted_without_it() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("test0.csv"), "0,0,1\nno comma\n0,2,3\n").unwrap();
    let mut command = Command::new(PROGRAM);
    let output = command
        .arg("__measure")
        .arg(parent.path())
        .args(["test04", "8192", "1"]);
    let told: Value = serde_json::from_slice(&output.output().unwrap().stdout).unwrap();
    assert_eq!(told["lines"], 2);
}

/// A run that takes long enough to be interrupted, and the moment when it measures.
fn under_way(folder: &Path) -> Child {
    let child = Command::new(PROGRAM)
        .arg(folder)
        .args(["2", "5000000", "--only", "test00"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !folder.join("test1.csv").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "no files came");
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(200));
    child
}

#[test]
fn an_interruption_cleans_up() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("sample");
        let mut child = under_way(&folder);
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status));
        assert!(!folder.exists());
    }
}
