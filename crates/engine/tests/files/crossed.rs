//! Conversations in each other's folders.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use super::Yard;

/// Two conversations, each with the other's folder as a further one, rewind and redo at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn crossed_rewinds_over_two_folders_never_hang() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    fs::create_dir(yard.beside("other")).expect("made");
    let yard = yard.further(&["other", "work"]).await;
    let folder = yard.beside("other").to_str().expect("UTF-8").to_owned();
    let id =
        yard.engine.create(None, Some(folder), yard.engine.by(None)).await.expect("created").conversation;
    let crossed = Yard { engine: Arc::clone(&yard.engine), id, dir: Arc::clone(&yard.dir) };
    yard.run("echo 1 > one; echo 1 > ../other/one").await;
    crossed.run("echo 2 > two; echo 2 > ../work/two").await;
    let both = [yard, crossed].map(|yard| {
        tokio::spawn(async move {
            let mut random = fastrand::Rng::new();
            for _ in 0..25 {
                tokio::time::sleep(Duration::from_micros(random.u64(0..3_000))).await;
                yard.back("t1").await;
                tokio::time::sleep(Duration::from_micros(random.u64(0..3_000))).await;
                yard.undo().await;
            }
            yard
        })
    });
    let patience = Duration::from_secs(120);
    let ended = tokio::time::timeout(patience, futures::future::try_join_all(both)).await;
    for yard in ended.expect("they hang").expect("both ended") {
        for name in ["work/one", "other/one", "work/two", "other/two"] {
            assert!(yard.read_beside(name).is_some(), "{name} came back");
        }
        assert!(yard.engine.kept().intents().await.expect("intents").is_empty());
    }
}
