//! People: commands, moderators, strangers, presses and files.

use retake_wire::Part;
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::{State, markdown};
use super::platform::{Fault, plain};

async fn stored(messages: Vec<InboundMessage>) -> (World, Vec<Arrive>) {
    let world = World::new(plain());
    world.platform.inside().moderators.insert("ben".into());
    let count = messages.len().to_string();
    for (at, message) in messages.into_iter().enumerate() {
        let at_ms = i64::try_from(at).expect("small") * 10_000;
        world.platform.feed(at_ms, &format!("k{at}"), Inbound::Message(message));
    }
    let gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some(count.as_str())).await;
    gateway.kill().await;
    let stored = world.ledger.book().stored.clone();
    (world, stored)
}

#[tokio::test(start_paused = true)]
async fn commands_in_shared_places_must_address_us() {
    let (_, stored) = stored(vec![
        message("0", "/rewind 2"),
        shared(message("1", "/rewind 2"), Addressed::No),
        shared(message("2", "/rewind@retake 2"), Addressed::No),
        shared(message("3", "/rewind@other 2"), Addressed::No),
        shared(message("4", "/rewind 2"), Addressed::Reply),
        message("5", "/stop now please"),
        InboundMessage { is_forward: true, ..message("6", "/stop") },
    ])
    .await;
    let commands: Vec<_> = stored.iter().map(|it| it.command.map(|it| (it.verb, it.count))).collect();
    let rewind = Some((ChatVerb::Rewind, Some(2)));
    let help = Some((ChatVerb::Help, None));
    assert_eq!(commands, [rewind, None, rewind, None, rewind, help, None]);
}

#[tokio::test(start_paused = true)]
async fn the_platform_is_asked_for_moderators_only_where_it_matters() {
    let ben = |id, text| InboundMessage { person: person("ben"), ..message(id, text) };
    let (world, stored) = stored(vec![
        shared(ben("0", "/rewind"), Addressed::Mention),
        shared(message("1", "/undo"), Addressed::Mention),
        shared(ben("2", "/status"), Addressed::Mention),
        shared(ben("3", "hello"), Addressed::Mention),
        ben("4", "/rewind"),
    ])
    .await;
    let moderates: Vec<bool> = stored.iter().map(|it| it.moderates).collect();
    assert_eq!(moderates, [true, false, false, false, false]);
    assert_eq!(world.platform.calls("moderates").len(), 2);
}

/// An edit may take back turns of others.
#[tokio::test(start_paused = true)]
async fn the_platform_is_asked_whether_who_edits_in_a_group_moderates_it() {
    let world = World::new(plain());
    world.platform.inside().moderators.insert("ben".into());
    let ben = |id| InboundMessage { person: person("ben"), ..message(id, "new words") };
    let events = [ben("0"), shared(ben("1"), Addressed::No), shared(message("2", "mine"), Addressed::No)];
    for (at, edited) in events.into_iter().enumerate() {
        world.platform.feed(0, &format!("k{at}"), Inbound::Edited(edited));
    }
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("3")).await;
    let moderates: Vec<bool> = world.ledger.book().stored.iter().map(|it| it.moderates).collect();
    assert_eq!(moderates, [false, true, false]);
}

/// Case 80: a stranger gets one sentence with the code, and nothing without a code.
#[tokio::test(start_paused = true)]
async fn gateways_case_80_a_stranger_gets_the_code_once_and_nothing_without_one() {
    let world = World::new(plain());
    world.ledger.answer_with(|arrive| Arrival::Stranger {
        code: (arrive.transport_key == "k1").then(|| "ABCD2345".to_owned()),
    });
    world.platform.feed(0, "k1", Inbound::Message(message("1", "hello")));
    world.platform.feed(5_000, "k1", Inbound::Message(message("1", "hello")));
    world.platform.feed(9_000, "k2", Inbound::Message(message("2", "/help")));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("3")).await;
    world.pass(60_000).await;
    let texts = world.platform.texts("c");
    assert_eq!(texts.len(), 1);
    assert!(texts[0].contains("ABCD2345"), "{texts:?}");
    assert!(world.ledger.states().is_empty(), "it is in no ledger");
    assert!(world.platform.calls("typing").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_press_is_answered_and_a_failed_answer_is_no_error() {
    use super::platform::Fault;
    use retake_gateway::{Failure, Refused};
    let world = World::new(plain());
    world
        .ledger
        .answer_with(|_| Arrival::Pressed { notice: ChatNotice::Refused(ChatRefusal::NotYourButton) });
    let pressed = |answer: &str| Inbound::Pressed {
        place: place("c"),
        post: "p".into(),
        person: person("ben"),
        button: "b".into(),
        answer_to: answer.into(),
    };
    world.platform.fault("whisper", Fault::Fails(Failure::Refused(Refused::Other)));
    world.platform.feed(0, "k1", pressed("one"));
    world.platform.feed(5_000, "k2", pressed("two"));
    let _gateway = world.start();
    world.until("two", |it| it.platform.calls("whisper").len() == 2).await;
    let last = world.platform.calls("whisper").pop().unwrap();
    assert_eq!(last.ids, ["two", "Only the person who asked can press this button."]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_shows_that_an_answer_is_being_written() {
    let (world, _) = stored(vec![message("0", "hello")]).await;
    let _gateway = world.start();
    world.platform.feed(world.age(), "k9", Inbound::Message(message("9", "hello")));
    world.until("typing", |it| !it.platform.calls("typing").is_empty()).await;
}

/// Case 87: files that cannot be used are reported, and the turn continues.
#[tokio::test(start_paused = true)]
async fn gateways_case_87_files_are_fetched_cleaned_and_reported() {
    let named = |handle: &str, name: &str| InboundFile { name: Some(name.into()), ..file(handle) };
    let large = InboundFile { size: Some(25 * 1024 * 1024), ..named("large", "large.zip") };
    let unsaid = named("unsaid", "unsaid.zip");
    let voice = InboundFile { is_voice: true, ..named("voice", "voice.ogg") };
    let says_text = InboundFile { media_type: Some("text/plain".into()), ..named("png", "../../a.txt") };
    let attached =
        vec![large, unsaid, named("gone", "gone.pdf"), says_text, named("text", "..\\b\u{202e}.txt"), voice];
    let world = World::new(plain());
    let files = [
        ("png", b"\x89PNG\r\n\x1a\n..".to_vec()),
        ("text", b"plain".to_vec()),
        ("unsaid", vec![0; 20 * 1024 * 1024 + 1]),
    ];
    world.platform.inside().files.extend(files.map(|(handle, bytes)| (handle.to_owned(), bytes)));
    let with_files = InboundMessage { attached, ..message("1", "look") };
    world.platform.feed(0, "k1", Inbound::Message(with_files));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.is_some()).await;
    let parts = world.ledger.book().stored[0].parts.clone();
    let told: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.clone(),
            Part::Image { media_type, .. } => media_type.clone(),
            Part::File { name, media_type, .. } => format!("{name} {}", media_type.clone().unwrap()),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(told[0], "[I did not read large.zip: it is larger than 20 MB.]");
    assert_eq!(told[1], "[I did not read unsaid.zip: it is larger than 20 MB.]");
    assert!(told[2].starts_with("[I did not read gone.pdf: it is no longer there."), "{}", told[2]);
    assert_eq!(told[3], "image/png");
    assert_eq!(told[4], "b.txt text/plain");
    assert_eq!(told[5], "[A voice message could not be transcribed.]");
    let fetched = world.platform.calls("fetch");
    assert!(fetched.iter().all(|call| call.ids != ["large"]), "a file that is too large is not fetched");
}

/// A command in reply to a post names it by an id that the owner may not know yet.
#[tokio::test(start_paused = true)]
async fn a_command_in_reply_waits_until_the_post_before_it_is_reported() {
    let world = World::new(plain());
    world.platform.fault("send", Fault::Slow(3_000));
    world.ledger.plan("x", &place("c"), markdown("answer"));
    let replies = |id: &str, text: &str| InboundMessage { reply_to: Some("p1".into()), ..message(id, text) };
    world.platform.feed(500, "k1", Inbound::Message(replies("1", "thanks")));
    world.platform.feed(
        600,
        "k2",
        Inbound::Message(InboundMessage { place: place("d"), ..replies("2", "/rewind") }),
    );
    world.platform.feed(700, "k3", Inbound::Message(replies("3", "/rewind")));
    let _gateway = world.start();
    world.until("the others", |it| it.ledger.book().stored.len() == 2).await;
    assert!(world.age() < 2_000, "{}", world.age());
    world.until("the command", |it| it.ledger.book().stored.len() == 3).await;
    assert_eq!(world.ledger.post("x").state, State::Sent);
    assert!(world.age() < 4_000, "{}", world.age());
}
