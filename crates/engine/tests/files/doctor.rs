//! The doctor's check of files: it reports errors in sentences, repairs what it can, and loses nothing.

use std::fs;

use retake_core::{CheckMode, Finding, Repair};

use super::crash::{kill_at, two_turns};
use super::{Yard, three};

#[tokio::test]
async fn sound_files_are_no_problem() {
    let yard = three().await;
    yard.back("t2").await;
    let checked = yard.engine.doctor(CheckMode::Look).await.expect("checked");
    assert_eq!((checked.problems, checked.mended), (Vec::new(), Vec::new()));
}

/// A rewind that was interrupted after some of its files, with or without an interrupted compensation.
async fn cut_short(back: bool) -> (Yard, String) {
    let yard = two_turns().await;
    let there = yard.all();
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    fs::write(dir.path().join("id"), id.to_string()).expect("written");
    assert!(kill_at(&dir, "a_rewind_to_be_killed", "apply.stepped", 2));
    let yard = Yard { engine: super::engine(&dir).await, id, dir };
    let intents = yard.engine.kept().intents().await.expect("intents");
    assert!(intents.len() == 1 && intents[0].op.is_some(), "decided: {intents:?}");
    if back {
        yard.engine.kept().turn_back(intents[0].workspace, yard.engine.by(None)).await.expect("turned");
    }
    assert_ne!(yard.all(), there, "some files are as after");
    (yard, there)
}

#[tokio::test]
async fn rewind_case_26_the_doctor_mends_what_could_not_be_put_back() {
    for back in [false, true] {
        let (yard, there) = cut_short(back).await;
        let parked = yard.dir.path().join("parked");
        fs::rename(yard.path(""), &parked).expect("taken away");
        let checked = yard.engine.doctor(CheckMode::Mend).await.expect("checked");
        let is_cut_short = |found: &[Finding]| matches!(found, [Finding::StepCutShort(_)]);
        assert!(is_cut_short(&checked.problems), "its folder is away: {checked:?}");
        fs::rename(&parked, yard.path("")).expect("brought back");
        let checked = yard.engine.doctor(CheckMode::Look).await.expect("checked");
        assert!(
            is_cut_short(&checked.problems) && checked.mended.is_empty(),
            "looking mends nothing: {checked:?}"
        );
        let checked = yard.engine.doctor(CheckMode::Mend).await.expect("checked");
        let way = match *checked.mended {
            [Repair::StepTakenBack(_)] => Some(true),
            [Repair::StepFinished(_)] => Some(false),
            _ => None,
        };
        assert_eq!((checked.problems, way), (Vec::new(), Some(back)), "{:?}", checked.mended);
        if back {
            assert_eq!((yard.turns().await, yard.all()), (2, there), "all before");
        } else {
            assert_eq!((yard.turns().await, yard.names().len()), (0, 3), "all after, and no litter");
            yard.undo().await;
            assert_eq!(yard.all(), there);
        }
    }
}

#[tokio::test]
async fn damaged_versions_are_named_and_those_that_are_in_the_folder_are_taken_in_again() {
    let yard = three().await;
    let Yard { engine, id, dir } = yard;
    drop(engine);
    let pack = dir.path().join("data/objects/00000000.pack");
    let pack = if pack.exists() { pack } else { dir.path().join("data/objects/00000001.pack") };
    let mut bytes = fs::read(&pack).expect("read");
    let at = bytes.len() - 8;
    bytes[at] ^= 0xff;
    fs::write(&pack, bytes).expect("written");
    let yard = Yard { engine: super::engine(&dir).await, id, dir };
    let checked = yard.engine.doctor(CheckMode::Look).await.expect("checked");
    let is_lost = |found: &Finding| matches!(found, Finding::LostVersions { .. } | Finding::LostCurrent(_));
    assert!(checked.problems.iter().any(is_lost), "{checked:?}");
    let mended = yard.engine.doctor(CheckMode::Mend).await.expect("checked");
    assert!(matches!(*mended.mended, [Repair::Versions(_)]), "{mended:?}");
    let lost = yard.verdicts("t1").await;
    assert!(lost.iter().all(|verdict| !verdict.contains("Conflict")), "{lost:?}");
}
