//! A description of a tool with a list of names in it. Every request to a model has it, so it has a limit.

/// The most bytes of a list.
const MOST: usize = 8_000;

/// A description, followed by a heading and these names with what each is for. The list ends with `…` if it is cut.
pub(crate) fn listed(about: &str, heading: &str, names: &[(&str, &str)]) -> String {
    let mut list = String::new();
    for (name, what) in names {
        let line = format!("\n- {name}: {what}");
        if list.len() + line.len() > MOST {
            list.push_str("\n- …");
            break;
        }
        list.push_str(&line);
    }
    match list.is_empty() {
        true => about.to_owned(),
        false => format!("{about} {heading}{list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_list_is_cut_at_a_whole_line() {
        assert_eq!(listed("Does.", "Names:", &[]), "Does.");
        assert_eq!(
            listed("Does.", "Names:", &[("a", "first"), ("b", "second")]),
            "Does. Names:\n- a: first\n- b: second"
        );
        let what = "x".repeat(1000);
        let cut = listed("Does.", "Names:", &[("n", what.as_str()); 20]);
        assert!(cut.len() < MOST + 100 && cut.ends_with("x\n- …"), "{}", cut.len());
    }
}
