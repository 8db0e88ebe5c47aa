//! A folder like a source tree: nested folders, many small texts and some large ones, the same for the same number. Must
//! never write into a folder that is not empty.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::text::Texts;

/// The mean size of a file.
const MEAN: f64 = 9000.0;
/// The spread of sizes: the standard deviation of their logarithm.
const SPREAD: f64 = 1.2;
/// The smallest size, and the largest.
const SIZES: (f64, f64) = (40.0, 400_000.0);
/// Files in a folder, and folders in a folder.
const FILES: u64 = 12;
const FOLDERS: u64 = 4;
/// Names that one file uses.
const NAMES: usize = 40;

/// Creates a tree of so many files.
pub(crate) fn make(to: &Path, files: u64) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    anyhow::ensure!(fs::read_dir(to)?.next().is_none(), "{} is not empty", to.display());
    let mut texts = Texts::new(files);
    let mut rng = Rng::with_seed(files);
    for number in 0..files {
        let folder = to.join(folder(number / FILES));
        if number % FILES == 0 {
            fs::create_dir_all(&folder)?;
        }
        if number == 0 {
            fs::write(folder.join(".gitignore"), "/target/\n*.tmp\n")?;
        } else {
            let words = texts.entry(number);
            let names: Vec<&str> = words.split([' ', '.']).filter(|word| !word.is_empty()).collect();
            let size = size(&mut rng);
            let bytes = source(&mut rng, &names[..NAMES], size);
            fs::write(folder.join(format!("{}_{number}.rs", names[0])), bytes)?;
        }
    }
    Ok(())
}

/// The path of folder `number`; 0 is the root.
fn folder(number: u64) -> PathBuf {
    match number {
        0 => PathBuf::new(),
        _ => folder((number - 1) / FOLDERS).join(format!("part{number}")),
    }
}

/// A size: most are small, few are large.
fn size(rng: &mut Rng) -> usize {
    // A sum of twelve is close enough to normal here.
    let normal = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
    let median = MEAN / (SPREAD * SPREAD / 2.0).exp();
    (median * (SPREAD * normal).exp()).clamp(SIZES.0, SIZES.1) as usize
}

/// Text of about this size that compresses like source code.
fn source(rng: &mut Rng, names: &[&str], size: usize) -> String {
    let mut text = String::with_capacity(size + 120);
    while text.len() < size {
        let mut name = || names[rng.usize(..names.len())];
        let (a, b, c, d) = (name(), name(), name(), name());
        let number = rng.u32(..10_000);
        let indent = "    ".repeat(rng.usize(1..4));
        text += &match rng.usize(..8) {
            0 => format!("\n/// The {a} {b} of {c} with {d}.\nfn {a}_{b}({c}: &{d}) -> u32 {{\n"),
            1 => format!("{indent}if {a}.{b}() == {number} {{\n"),
            2 => format!("{indent}// {a} {b} {c} {d} {a}\n"),
            3 => format!("{indent}let {a} = {b}.{c}({number})?;\n"),
            4 => format!("{indent}{a}.{b}_{c}({d}, \"{a} {c}\");\n"),
            5 => format!("{indent}Self::{a}({b}) => {c}::{d}({b}),\n"),
            6 => format!("{indent}}}\n"),
            _ => format!("{indent}let mut {a}_{b} = Vec::with_capacity({c}.len() + {number});\n"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::make;
    use crate::files::disk;

    #[test]
    fn it_is_the_same_each_time_and_has_the_size_of_sources() {
        let home = tempfile::tempdir().unwrap();
        let trees = ["a", "b"].map(|name| home.path().join(name));
        for tree in &trees {
            make(tree, 500).unwrap();
        }
        let [files, again] = trees.each_ref().map(|tree| disk::files(tree).unwrap());
        assert_eq!(files.len(), 500);
        assert_eq!(files, again);
        let read =
            |number: usize| files.iter().map(|file| fs::read(trees[number].join(file)).unwrap()).collect();
        let all: Vec<Vec<u8>> = read(0);
        assert_eq!(all, read(1));
        let mean = all.iter().map(Vec::len).sum::<usize>() / all.len();
        assert!((7000..11_000).contains(&mean), "{mean} bytes");
        assert!(make(&trees[0], 500).is_err(), "it wrote into a folder that is not empty");
    }
}
