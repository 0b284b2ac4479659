//! A proxy of the environment is used when that is asked for, and never for this machine.
//!
//! The environment cannot be changed within a process safely, so the test runs parts of itself
//! again in processes that have a proxy.

use std::process::Command;

use cornu_remote::testing::{Reply, Server};
use cornu_remote::{Client, Endpoint, RemoteError};
use serde_json::{Value, json};

use crate::quick;

const TARGET: &str = "CORNU_TEST_TARGET";

#[test]
fn a_proxy_of_the_environment_is_used_only_when_asked() {
    let target = Server::scripted([Reply::text("1")]).unwrap();
    for (child, uses) in [
        ("child_that_says_nothing", false),
        ("child_that_asks", true),
        ("child_that_asks_for_this_machine", false),
    ] {
        let proxy = Server::scripted([Reply::status(502, "no")]).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", &format!("proxy::{child}")]);
        for name in ["NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        for name in ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"] {
            command
                .env(name, proxy.url())
                .env(name.to_lowercase(), proxy.url());
        }
        let output = command.env(TARGET, target.url()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        assert_eq!(proxy.connections() > 0, uses, "{child}");
    }
    assert_eq!(target.requests().len(), 1);
}

fn ask(endpoint: Endpoint) -> Result<Value, RemoteError> {
    Client::new(endpoint, quick())
        .unwrap()
        .post_json("/x", &json!({}))
}

/// `.invalid` is reserved: nothing answers there.
fn far() -> Endpoint {
    Endpoint::new("http://cornu.invalid")
        .unwrap()
        .allow_insecure()
}

#[test]
#[ignore = "run by a_proxy_of_the_environment_is_used_only_when_asked"]
fn child_that_says_nothing() {
    assert!(ask(far()).is_err());
}

#[test]
#[ignore = "run by a_proxy_of_the_environment_is_used_only_when_asked"]
fn child_that_asks() {
    assert!(ask(far().with_proxy_from_env()).is_err());
}

#[test]
#[ignore = "run by a_proxy_of_the_environment_is_used_only_when_asked"]
fn child_that_asks_for_this_machine() {
    let target = std::env::var(TARGET).unwrap();
    assert_eq!(
        ask(Endpoint::new(&target).unwrap().with_proxy_from_env()).unwrap(),
        1
    );
}
