//! Tokens of well-known services, by their prefixes. Must never mistake an ordinary word for one.

/// The prefixes of tokens, as in repository scanners.
const TOKENS: [&str; 92] = [
    "AGE-SECRET-KEY-1",
    "AIza",
    "AKIA",
    "ASIA",
    "GOCSPX-",
    "LTAI",
    "NRAK-",
    "PMAK-",
    "SG.",
    "csk-",
    "glc_",
    "xkeysib-",
    "pscale_",
    "EAAA",
    "sq0atp-",
    "HRKU-",
    "sgp_",
    "dapi",
    "dckr_pat_",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "dp.pt.",
    "dp.st.",
    "figd_",
    "fo1_",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "glrt-",
    "gldt-",
    "glsa_",
    "gsk_",
    "hf_",
    "hvb.",
    "hvs.",
    "lin_api_",
    "npm_",
    "ntn_",
    "nvapi-",
    "pplx-",
    "pul-",
    "pypi-",
    "r8_",
    "rk_live_",
    "rk_test_",
    "rubygems_",
    "sbp_",
    "shpat_",
    "shpss_",
    "sk-",
    "sk_live_",
    "sk_test_",
    "sntrys_",
    "sntryu_",
    "tskey-",
    "whsec_",
    "xai-",
    "xapp-",
    "xox",
    "ya29.",
    "ATATT3",
    "ATBB",
    "ATCTT3",
    "CCIPAT_",
    "EZAK",
    "FLWSECK",
    "ctx7sk-",
    "glagent-",
    "glcbt-",
    "glffct-",
    "glimt-",
    "glsoat-",
    "gloas-",
    "lsv2_pt_",
    "lsv2_sk_",
    "nfp_",
    "ops_eyJ",
    "rdme_",
    "sb_secret_",
    "secret_",
    "shpca_",
    "shppa_",
    "sl.",
    "sq0csp-",
    "tvly-",
    "zpka_",
];

/// The least number of characters after the prefix.
const SHORTEST_TOKEN: usize = 16;

/// Whether a word is a token of a well-known service.
pub(super) fn is_token(word: &str) -> bool {
    let random = |begin: &&str| word.strip_prefix(begin).is_some_and(|rest| is_random(begin, rest));
    TOKENS.iter().any(random) || is_bot_token(word)
}

/// Whether it is no ordinary word: it has digits; or neighbouring letters of both cases, or capitals after a capital
/// prefix.
fn is_random(begin: &str, rest: &str) -> bool {
    let letters = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let has = |fits: fn(&char) -> bool| letters.chars().any(|c| fits(&c));
    let (upper, lower) = (has(char::is_ascii_uppercase), has(char::is_ascii_lowercase));
    let in_capitals = begin.chars().all(|c| c.is_ascii_uppercase()) && !lower;
    rest.len() >= SHORTEST_TOKEN
        && (rest.contains(|c: char| c.is_ascii_digit())
            || letters.len() >= SHORTEST_TOKEN && (upper && lower || in_capitals))
}

/// Whether it is a Telegram bot's token after its number.
fn is_bot_token(word: &str) -> bool {
    word.len() == 35 && word.starts_with("AA") && word.contains(|c: char| c.is_ascii_digit())
}
