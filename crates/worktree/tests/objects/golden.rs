//! The formats on disk, byte by byte. A change must raise the version and still read the old one.

use std::fs;
use std::path::Path;

use retake_worktree::{Objects, hash};

use super::{files, noise, open, text};

/// The first version. Three objects: nothing and noise, in an uncompressed block; and text, alone in a compressed block.
const FIRST: &str = "526574616b65506b010000009bc06a895274426b0000000002000000280000002800000072c549a871566682da2cae283eba4dfd72c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d6028000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f326200000000b13d86b0c97af52a31c88b475661cd0496452744697821fdf6da5db7b7bda47c7d5c12b6b6d9ca935274426b0100000001000000a00f0000230000002526cca14dba81f35a200ed768f595377cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fea00f000028b52ffd60a00ecd0000886c696e652031206f66206120746578740a0100194ffe5c02";
const FIRST_INDEX: &str = "526574616b654978010000000f0100000000000003000000000000001000000072c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d6010000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262a40000007cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fe8a6a6cb881fbafa5a33448da3a67d328dc3f2fa76efca445b7372b9e1023aa75";

/// The second version. Nothing and noise in a block; the two chunks of a text in blocks of their own; and the list of them.
const PACK: &str = "526574616b65506b02000000697c65705274426b010100000100000000080000230000000864c16df6a79fb9fcd52fdd549d6eaaee3feaed3d54c9bf59d7e8e1d63bf7f1c1b891939476e83570f0e03b188a1f3c0008000028b52ffd600007cd0000886c696e652031206f66206120746578740a0100d9a77f2e015274426b0101000001000000a007000023000000e93ffaf79042d6fe9b7770ef19dd67b21a1d93ed1c0b23f0f93616627ddc7481b5fea9e650c98d48e86b5dd6cd96da11a007000028b52ffd60a006cd00008866206120746578740a6c696e652031206f010019a77f2e015274426b0000000002000000280000002800000072c549a871566682da2cae283eba4dfd72c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d6028000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f326200000000b13d86b0c97af52a31c88b475661cd0496452744697821fdf6da5db7b7bda47c7d5c12b6b6d9ca935274426b0002000001000000680000006800000082da64c1ca0642a86d19e2377db429697cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fe68000000a6b046e9ce75f989ef4a584386d7214bd1c87b1f7bd9cecfae13b35d4b3c450ba00f000000000000ee3feaed3d54c9bf59d7e8e1d63bf7f1c1b891939476e83570f0e03b188a1f3c1a1d93ed1c0b23f0f93616627ddc7481b5fea9e650c98d48e86b5dd6cd96da11";
const INDEX: &str = "526574616b654978020000002a0200000000000005000000000000001000000001ee3feaed3d54c9bf59d7e8e1d63bf7f1c1b891939476e83570f0e03b188a1f3c7b000000011a1d93ed1c0b23f0f93616627ddc7481b5fea9e650c98d48e86b5dd6cd96da11e60000000072c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d60e600000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f32627a010000027cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fe703ffe1f45443ac9311be63fcfb5ca65627dc0e186a2803478cb6b72ed1179e2";

fn hex(path: &Path) -> String {
    fs::read(path).expect("read").iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(pair).collect()
}

const OBJECTS: [fn() -> Vec<u8>; 3] = [|| noise(1, 40), Vec::new, || text(1, 4000)];

fn written(pack: &str, index: Option<&str>) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("00000000.pack"), bytes(pack)).expect("written");
    if let Some(index) = index {
        fs::write(dir.path().join("00000000.index"), bytes(index)).expect("written");
    }
    dir
}

#[test]
fn the_format_of_a_pack_is_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    for object in OBJECTS {
        pack.put(&object()).unwrap();
    }
    pack.close().unwrap();
    assert_eq!(hex(&files(dir.path(), "pack")[0]), PACK);
    assert_eq!(hex(&files(dir.path(), "index")[0]), INDEX);
}

#[test]
fn the_second_version_is_read() {
    for index in [Some(INDEX), None] {
        let dir = written(PACK, index);
        let pack = open(dir.path());
        assert_eq!(pack.count(), 3);
        assert!(OBJECTS.iter().all(|object| pack.get(&hash(&object())).unwrap() == object()));
    }
}

#[test]
fn the_first_version_is_read_and_not_appended_to() {
    for index in [Some(FIRST_INDEX), None] {
        let dir = written(FIRST, index);
        let pack = open(dir.path());
        assert_eq!(pack.count(), 3);
        assert!(OBJECTS.iter().all(|object| pack.get(&hash(&object())).unwrap() == object()));
        let large = pack.put(&noise(2, 9_000)).unwrap();
        pack.close().unwrap();
        assert_eq!(hex(&files(dir.path(), "pack")[0]), FIRST, "an older program would take it for damage");
        assert_eq!(
            &hex(&files(dir.path(), "pack")[1])[16..24],
            "02000000",
            "which it refuses by its version"
        );
        let pack = open(dir.path());
        assert_eq!(pack.get(&large).unwrap(), noise(2, 9_000));
        // A collection copies what stays.
        pack.collect(&pack.guard(), &|name| *name == hash(&text(1, 4000)), &mut |_, _| ()).unwrap();
        assert_eq!(pack.get(&hash(&text(1, 4000))).unwrap(), text(1, 4000));
        assert!(!files(dir.path(), "pack").iter().any(|path| hex(path) == FIRST));
    }
}
