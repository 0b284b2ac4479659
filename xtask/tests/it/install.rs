//! An install that stops between any two of its steps.

use std::cell::{Cell, RefCell};
use std::fs;

use xtask::progress::{Mode, Progress};
use xtask::setup::cache::Cache;
use xtask::setup::install::{Install, State, Step};
use xtask::setup::libtorch::artifact;
use xtask::setup::manifest::{Manifest, platform};
use xtask::setup::python::Python;

use crate::world::World;

#[test]
fn stopped_at_each_step_it_leaves_nothing_or_the_whole_and_a_rerun_mends_it() {
    let world = World::new();
    let manifest = Manifest::parse(&world.pins()).unwrap();
    let cache = Cache::at(world.cache());
    let progress = Progress::new(Mode::Quiet);
    let python = Python::at(world.python());
    let libtorch = artifact(&manifest, manifest.libtorch(&platform()).unwrap(), &cache).unwrap();

    let mut steps_seen = 0;
    for stop_at in 0.. {
        let step = Cell::new(0);
        let stopped = RefCell::new(None);
        let checkpoint = |reached: Step| {
            if step.replace(step.get() + 1) == stop_at {
                *stopped.borrow_mut() = Some(reached);
                anyhow::bail!("killed")
            }
            Ok(())
        };
        {
            let locked = cache.lock(&progress).unwrap();
            assert_eq!(
                world.staged().len(),
                0,
                "the lock clears what the last one left"
            );
            let install = Install {
                manifest: &manifest,
                cache: &locked,
                fetch: &python,
                progress: &progress,
                checkpoint: &checkpoint,
            };
            let result = install.from_packages(&libtorch);
            assert_eq!(result.is_err(), stopped.borrow().is_some());
        }
        let published = matches!(&*stopped.borrow(), None | Some(Step::Published));
        match libtorch.state(true, &progress) {
            State::Whole(_) => assert!(published, "{stopped:?}"),
            State::Absent => assert!(!published, "{stopped:?}"),
            State::Damaged(why) => panic!("{stopped:?}: {why}"),
        }
        steps_seen = step.get();
        if stopped.borrow().is_none() {
            break;
        }
        if libtorch.place.exists() {
            fs::remove_dir_all(&libtorch.place).unwrap();
        }
    }
    assert_eq!(
        steps_seen, 5,
        "staged, fetched, extracted, recorded, published"
    );
}

#[test]
fn other_pins_are_another_place() {
    let world = World::new();
    let cache = Cache::at(world.cache());
    let place = |text: &str| {
        let manifest = Manifest::parse(text).unwrap();
        let libtorch = manifest.libtorch(&platform()).unwrap();
        artifact(&manifest, libtorch, &cache).unwrap().place
    };
    let pins = world.pins();
    assert_eq!(place(&pins), place(&pins));
    assert_ne!(
        place(&pins),
        place(&pins.replace("text=\"9.9\\n\"", "text=\"9.9\""))
    );
}
