//! Fails if a case of a spec has no test named after it, or if a test names a case that does not
//! exist.

use retake_xtask::{CaseMap, Checkout, case_map, report, root};

#[test]
fn spec_cases_are_tests() {
    let maps = case_map(&Checkout::read(&root()).unwrap()).unwrap();
    assert!(maps.iter().all(CaseMap::is_met), "\n{}", report(&maps));
}

#[test]
fn missing_spec_is_an_error_that_names_the_file() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("checkout/crates")).unwrap();
    let tree = Checkout::read(&root.path().join("checkout")).unwrap();
    let error = format!("{:#}", case_map(&tree).unwrap_err());
    assert!(error.contains("cannot read the cases of docs/spec/store.md"), "{error}");
}
