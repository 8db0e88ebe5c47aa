//! The formats on the disk, byte by byte. Who changes them changes the version and reads the old one too.

use std::fs;
use std::path::Path;

use retake_worktree::{Objects, hash};

use super::{files, noise, open, text};

/// Three objects: nothing, and noise, in a block that is stored as it is; and text, alone in a compressed block.
const PACK: &str = "526574616b65506b010000009bc06a895274426b0000000002000000280000002800000072c549a871566682da2cae283eba4dfd72c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d6028000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f326200000000b13d86b0c97af52a31c88b475661cd0496452744697821fdf6da5db7b7bda47c7d5c12b6b6d9ca935274426b0100000001000000a00f0000230000002526cca14dba81f35a200ed768f595377cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fea00f000028b52ffd60a00ecd0000886c696e652031206f66206120746578740a0100194ffe5c02";
const INDEX: &str = "526574616b654978010000000f0100000000000003000000000000001000000072c549a871566682058a006fb8091326d688073f43560dc4df7d40733daa0d6010000000af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262a40000007cf51edb4f0c329ac68868af3d72fd491faf2e848e1f515ba1b7456fa0a8d6fe8a6a6cb881fbafa5a33448da3a67d328dc3f2fa76efca445b7372b9e1023aa75";

fn hex(path: &Path) -> String {
    fs::read(path).expect("read").iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(pair).collect()
}

#[test]
fn a_pack_is_written_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    for object in [noise(1, 40), Vec::new()] {
        pack.put(&object).unwrap();
    }
    pack.sync().unwrap();
    pack.put(&text(1, 4000)).unwrap();
    pack.close().unwrap();
    assert_eq!(hex(&files(dir.path(), "pack")[0]), PACK);
    assert_eq!(hex(&files(dir.path(), "index")[0]), INDEX);
}

#[test]
fn the_first_version_is_read() {
    for index in [Some(INDEX), None] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("00000000.pack"), bytes(PACK)).unwrap();
        if let Some(index) = index {
            fs::write(dir.path().join("00000000.index"), bytes(index)).unwrap();
        }
        let pack = open(dir.path());
        assert_eq!(pack.count(), 3);
        for object in [noise(1, 40), Vec::new(), text(1, 4000)] {
            assert_eq!(pack.get(&hash(&object)).unwrap(), object);
        }
    }
}
