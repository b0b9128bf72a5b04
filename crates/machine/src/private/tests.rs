//! The hello on the private socket, as both ends see it.

use std::{fs, os::unix::fs::PermissionsExt};

use super::*;
use crate::test_place::Place;

fn us(term: u64) -> JoinWelcome {
    let since = "2026-01-01T00:00:00.000Z".to_owned();
    JoinWelcome { term, version: "1.0".to_owned(), pid: 1, port: 8765, since }
}

fn hello(term: u64) -> JoinHello {
    JoinHello { term, client_id: "a".to_owned(), binding: None, folder: None }
}

/// Joins a hub of term 5, and returns what both sides made of it.
async fn meet(hello: JoinHello) -> (Result<Membership, ReachError>, io::Result<Arrival>) {
    let place = Place::absent();
    let socket = PrivateSocket::open(place.path()).await.unwrap();
    let hub = async { welcome(socket.accept().await.unwrap(), &us(5)).await };
    tokio::join!(join(place.path(), &hello), hub)
}

#[tokio::test]
async fn the_folder_is_private_and_the_file_goes_with_its_owner() {
    let place = Place::absent();
    let socket = PrivateSocket::open(place.path()).await.unwrap();
    assert_eq!(fs::metadata(place.path()).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(place.path().join(FILE).exists());
    let second = PrivateSocket::open(place.path()).await;
    assert!(matches!(second, Err(SocketError::InUse(_))), "a running hub is not replaced");
    drop(socket);
    assert!(!place.path().join(FILE).exists());
}

#[tokio::test]
async fn an_open_folder_is_refused_and_a_dead_socket_replaced() {
    let place = Place::absent();
    let file = place.path().join(FILE);
    drop(PrivateSocket::open(place.path()).await.unwrap());
    drop(std::os::unix::net::UnixListener::bind(&file).unwrap());
    assert!(file.exists(), "left behind");
    // While another test starts a program, its process has the listener too for a moment.
    while std::os::unix::net::UnixStream::connect(&file).is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(matches!(join(place.path(), &hello(0)).await, Err(ReachError::NoHub(_))));
    drop(PrivateSocket::open(place.path()).await.unwrap());
    fs::write(&file, "x").unwrap();
    assert!(matches!(PrivateSocket::open(place.path()).await, Err(SocketError::Failed { .. })));
    fs::remove_file(&file).unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let refused = PrivateSocket::open(place.path()).await;
    assert!(matches!(refused, Err(SocketError::Folder(FolderError::NotPrivate(_)))));
    let refused = join(place.path(), &hello(0)).await;
    assert!(matches!(refused, Err(ReachError::Folder(FolderError::NotPrivate(_)))));
}

#[tokio::test]
async fn a_hello_is_one_short_line() {
    for (said, expected) in [
        ("{\"clientId\":\"a\",\"binding\":\"viewer\"}\nrest", Some("a")),
        ("{\"clientId\":\"a\"", None),
        ("{}\n", None),
        ("not json\n", None),
        (&"x".repeat(5000), None),
    ] {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(said.as_bytes()).await.unwrap();
        theirs.shutdown().await.unwrap();
        let joined = match welcome(ours, &us(1)).await {
            Ok(Arrival::Relay(joined)) => Some(joined.hello.client_id),
            _ => None,
        };
        assert_eq!(joined.as_deref(), expected, "{}", &said[..said.len().min(40)]);
    }
}

#[tokio::test]
async fn both_sides_hear_who_the_other_is() {
    let (member, arrival) = meet(hello(5)).await;
    assert_eq!(member.unwrap().welcome, us(5));
    assert!(matches!(arrival, Ok(Arrival::Relay(joined)) if joined.hello == hello(5)));
}

#[tokio::test]
async fn a_working_folder_is_told_unless_the_hello_had_no_room_for_it() {
    let long = format!("/{}", "x".repeat(2100));
    let many_bytes = format!("/{}", "\u{1}".repeat(500));
    for (folder, told) in [("/home/ann", true), (&long, false), (&many_bytes, false)] {
        let hello = hello(5).working_in(Path::new(folder));
        assert_eq!(hello.folder.as_deref(), told.then_some(folder));
        let (member, arrival) = meet(hello.clone()).await;
        assert!(member.is_ok(), "{} bytes", folder.len());
        assert!(matches!(arrival, Ok(Arrival::Relay(joined)) if joined.hello == hello));
    }
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/\xff");
    assert_eq!(hello(5).working_in(Path::new(odd)).folder, None, "it is not text");
}

#[tokio::test]
async fn a_hub_of_an_older_term_is_refused_by_both() {
    let (member, arrival) = meet(hello(6)).await;
    assert!(matches!(member, Err(ReachError::Outdated { found: 5, seen: 6 })));
    assert!(arrival.is_err());
}

#[tokio::test]
async fn questions_are_answered_and_told_apart() {
    let place = Place::absent();
    let socket = PrivateSocket::open(place.path()).await.unwrap();
    for question in [Question::Status, Question::Stop, Question::Http] {
        let hub = async { welcome(socket.accept().await.unwrap(), &us(5)).await.unwrap() };
        let (asked, arrival) = tokio::join!(ask(place.path(), question), hub);
        assert_eq!(asked.unwrap().welcome.term, 5);
        let understood = match arrival {
            Arrival::Visitor => Question::Status,
            Arrival::Stop(_) => Question::Stop,
            Arrival::Http(_) => Question::Http,
            Arrival::Relay(_) => panic!("{question:?} was taken for a client"),
        };
        assert_eq!(understood, question);
    }
}

#[tokio::test]
async fn a_hub_that_is_ending_hangs_up() {
    let place = Place::absent();
    let socket = PrivateSocket::open(place.path()).await.unwrap();
    let hub = async { drop(socket.accept().await.unwrap()) };
    let hello = hello(0);
    let (member, ()) = tokio::join!(join(place.path(), &hello), hub);
    assert!(matches!(member, Err(ReachError::HungUp(_))));
}

#[tokio::test(start_paused = true)]
async fn whoever_listens_and_says_nothing_is_silent() {
    let place = Place::absent();
    let _socket = PrivateSocket::open(place.path()).await.unwrap();
    let joined = join(place.path(), &hello(0)).await;
    assert!(matches!(joined, Err(ReachError::Silent(_))));
    assert!(!is_awake(place.path(), Duration::from_secs(1)).await);
}
