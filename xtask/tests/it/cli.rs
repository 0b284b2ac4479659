//! `setup` as a program.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Instant;

use xtask::progress::{Mode, Progress};
use xtask::setup::cache::Cache;

use crate::world::{LIBRARY, World, text};

#[test]
fn a_first_setup_brings_everything_and_says_from_where() {
    let world = World::new();
    let output = world.setup(&[]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    let libtorch = world.libtorch().unwrap();
    assert_eq!(
        fs::read(libtorch.join("lib/libtorch_cpu.so")).unwrap(),
        LIBRARY
    );
    assert_eq!(
        fs::read_to_string(libtorch.join("build-version")).unwrap(),
        "9.9\n"
    );
    assert!(libtorch.join("include/torch/b.h").is_file());
    assert!(!libtorch.join("other.py").exists());
    assert!(world.model("mini").join("model.safetensors").is_file());
    assert!(
        said.contains("mini: package mini 9.9 (hub 127.0.0.1:9 not reachable"),
        "{said}"
    );
    assert!(
        said.contains("fetch torch 9.9:"),
        "progress names the package: {said}"
    );
    assert_eq!(world.staged(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_second_setup_starts_no_program_and_reaches_no_network() {
    let world = World::new();
    assert!(world.setup(&["--quiet"]).status.success());
    fs::remove_file(world.python()).unwrap();
    let output = world.xtask(&["setup"]).env("PATH", "").output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("mini: cache, from package mini 9.9"));
    assert_eq!((world.fetches("torch"), world.fetches("mini")), (1, 1));
}

#[test]
fn offline_names_what_is_missing_and_where_it_was_looked_for() {
    let world = World::new();
    for offline in [true, false] {
        let mut command = world.xtask(if offline {
            &["setup", "--offline"]
        } else {
            &["setup"]
        });
        let command = command.env("CORNU_OFFLINE", if offline { "0" } else { "1" });
        let output = command
            .env("CORNU_MODEL_DIR", world.path("mine"))
            .output()
            .unwrap();
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        for expected in [
            "2 things are missing",
            "libtorch-9.9-",
            "LIBTORCH (not set)",
            "mini (9 B)",
            &world.path("mine").join("mini").display().to_string(),
            &world.model("mini").display().to_string(),
        ] {
            assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
        }
    }
    assert!(!world.cache().exists(), "offline writes nothing");
    assert_eq!(world.fetches("torch"), 0);
}

#[test]
fn a_wheel_with_another_sha256_is_refused_and_leaves_nothing() {
    let world = World::new();
    let mut bytes = fs::read(world.wheel("torch")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(world.wheel("torch"), bytes).unwrap();
    let output = world.setup(&[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("sha256") && said.contains("It is not used"),
        "{said}"
    );
    assert_eq!(world.libtorch(), None);
    assert_eq!(world.staged(), Vec::<std::path::PathBuf>::new());
    assert!(world.model("mini").is_dir(), "what could be had is there");
}

#[test]
fn damage_is_found_and_mended() {
    let world = World::new();
    assert!(world.setup(&["--quiet"]).status.success());
    let library = world.libtorch().unwrap().join("lib/libtorch_cpu.so");

    fs::write(&library, &LIBRARY[1..]).unwrap();
    let output = world.setup(&["--offline"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("what is there is damaged: lib/libtorch_cpu.so has 21 bytes"));
    assert!(text(&world.setup(&[])).contains("fetching it anew"));
    assert_eq!(fs::read(&library).unwrap(), LIBRARY);

    let mut same_size = LIBRARY.to_vec();
    same_size[0] ^= 1;
    fs::write(&library, same_size).unwrap();
    assert!(
        world.setup(&["--quiet"]).status.success(),
        "sizes alone do not show it"
    );
    let output = world.setup(&["--verify"]);
    assert!(
        text(&output).contains("lib/libtorch_cpu.so has sha256"),
        "{}",
        text(&output)
    );
    assert_eq!(fs::read(&library).unwrap(), LIBRARY);

    fs::remove_file(world.model("mini").join("model.safetensors")).unwrap();
    assert!(text(&world.setup(&[])).contains("model.safetensors is missing"));
    assert!(world.model("mini").join("model.safetensors").is_file());
    assert_eq!((world.fetches("torch"), world.fetches("mini")), (3, 2));
}

#[test]
fn a_record_that_was_changed_with_its_file_still_differs_from_the_pins() {
    let world = World::new();
    assert!(world.setup(&["--quiet"]).status.success());
    let dir = world.model("mini");
    let record = fs::read_to_string(dir.join("manifest.json")).unwrap();
    let forged = xtask::setup::digest::sha_of_bytes(b"forgery").to_string();
    let honest = xtask::setup::digest::sha_of_bytes(crate::world::WEIGHTS).to_string();
    fs::write(dir.join("manifest.json"), record.replace(&honest, &forged)).unwrap();
    fs::write(dir.join("model.safetensors"), b"forgery").unwrap();
    let output = world.setup(&["--offline"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    assert!(
        said.contains("model.safetensors is not recorded with its pinned sha256"),
        "{said}"
    );
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_or_the_whole() {
    let world = World::new();
    let started = Instant::now();
    assert!(world.setup(&["--quiet"]).status.success());
    let whole_run = started.elapsed();
    fs::remove_dir_all(world.cache()).unwrap();
    let mut killed = 0;
    for attempt in 0..32 {
        let mut child = world.xtask(&["setup", "--quiet"]).spawn().unwrap();
        sleep(whole_run * attempt / 30);
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(libtorch) = world.libtorch() {
            assert_eq!(
                fs::read(libtorch.join("lib/libtorch_cpu.so")).unwrap(),
                LIBRARY
            );
            assert!(libtorch.join("manifest.json").is_file());
            fs::remove_dir_all(libtorch).unwrap();
        }
        if world.model("mini").exists() {
            assert!(world.model("mini").join("manifest.json").is_file());
            assert!(world.model("mini").join("model.safetensors").is_file());
            fs::remove_dir_all(world.model("mini")).unwrap();
        }
    }
    assert!(killed > 0, "some run was killed before its end");
    let output = world.setup(&["--verify"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(
        world.staged(),
        Vec::<std::path::PathBuf>::new(),
        "what was killed is cleared"
    );
}

#[test]
fn two_setups_at_once_fetch_once_and_both_succeed() {
    let world = World::new();
    let start = || world.xtask(&["setup", "--quiet"]).spawn().unwrap();
    let mut both = [start(), start()];
    for child in &mut both {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!((world.fetches("torch"), world.fetches("mini")), (1, 1));
}

#[test]
fn what_another_setup_mended_meanwhile_is_left_alone() {
    let world = World::new();
    assert!(world.setup(&["--quiet"]).status.success());
    let library = world.libtorch().unwrap().join("lib/libtorch_cpu.so");
    let mut same_size = LIBRARY.to_vec();
    same_size[0] ^= 1;
    for (args, damaged, mended, fetches) in [
        (&["setup"][..], &LIBRARY[1..], true, 1),
        (&["setup", "--verify"], &same_size, true, 1),
        (&["setup", "--verify"], &same_size, false, 2),
    ] {
        fs::write(&library, damaged).unwrap();
        let cache = Cache::at(world.cache());
        let locked = cache.lock(&Progress::new(Mode::Quiet)).unwrap();
        let mut command = world.xtask(args);
        let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let waits = said.any(|line| line.unwrap().contains("another setup is running"));
        assert!(waits, "it saw the damage and waits for the lock");
        if mended {
            fs::write(&library, LIBRARY).unwrap();
        }
        drop(locked);
        let rest: Vec<_> = said.map(Result::unwrap).collect();
        assert!(child.wait().unwrap().success(), "{rest:?}");
        assert_eq!(
            !mended,
            rest.iter().any(|line| line.contains("fetching it anew")),
            "{rest:?}"
        );
        assert_eq!(fs::read(&library).unwrap(), LIBRARY);
        assert_eq!(world.fetches("torch"), fetches, "{args:?}");
    }
}

#[test]
fn without_python_or_pip_the_remedy_is_named() {
    let world = World::new();
    let output = world
        .xtask(&["setup"])
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("no Python 3.9 or newer"),
        "{}",
        text(&output)
    );
    world.serve_by("#!/bin/sh\n[ \"$1\" = -c ] || { echo 'No module named pip' >&2; exit 1; }\n");
    let said = text(&world.setup(&[]));
    assert!(said.contains("has no pip (No module named pip)"), "{said}");
    assert!(said.contains("ensurepip"), "{said}");
}

#[test]
fn a_libtorch_of_ones_own_is_checked_and_used() {
    let world = World::new();
    let own = world.path("own");
    let run = || {
        world
            .xtask(&["setup", "--json"])
            .env("LIBTORCH", &own)
            .output()
            .unwrap()
    };
    fs::create_dir_all(own.join("lib")).unwrap();
    assert!(text(&run()).contains("lib/libtorch_cpu.so is not there"));
    fs::write(own.join("lib/libtorch_cpu.so"), "").unwrap();
    assert!(text(&run()).contains("include/torch is not there"));
    fs::create_dir_all(own.join("include/torch")).unwrap();
    fs::write(own.join("build-version"), "9.8+cpu\n").unwrap();
    assert!(text(&run()).contains("a 9.8; tch wants 9.9"));
    fs::write(own.join("build-version"), "9.9+cpu\n").unwrap();
    let output = run();
    assert!(output.status.success(), "{}", text(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["libtorch"]["dir"], own.display().to_string());
    assert_eq!(json["models"][0]["files"][0]["path"], "config.json");
    assert_eq!(
        json["models"][0]["files"][0]["sha256"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    assert_eq!(world.fetches("torch"), 0);
}

#[test]
fn a_model_of_ones_own_comes_first_and_its_bytes_are_compared() {
    let world = World::new();
    assert!(world.setup(&["--quiet"]).status.success());
    let own = world.path("own");
    fs::create_dir(&own).unwrap();
    let named = format!("mini={}", own.display());
    let run = || world.setup(&["--model", &named, "--json"]);
    assert!(text(&run()).contains("named by --model for mini, cannot be used"));
    fs::write(own.join("config.json"), "{}").unwrap();
    fs::write(own.join("model.safetensors"), "others").unwrap();
    let json: serde_json::Value = serde_json::from_slice(&run().stdout).unwrap();
    assert!(
        json["models"][0]["source"]
            .as_str()
            .unwrap()
            .contains("NOT the pinned bytes")
    );
    let models = std::path::PathBuf::from(json["models_dir"].as_str().unwrap());
    assert_eq!(
        fs::read(models.join("mini/model.safetensors")).unwrap(),
        b"others"
    );
    assert_ne!(
        models,
        world.cache().join("models"),
        "the cache itself is not changed"
    );
    fs::write(own.join("model.safetensors"), crate::world::WEIGHTS).unwrap();
    assert!(text(&run()).contains("the pinned bytes"));
    assert!(text(&world.setup(&["--model", "other=x"])).contains("no model `other`; known: mini"));
}
