use super::*;

#[test]
fn finding_11_a_key_with_control_characters_is_refused_by_the_name_of_its_variable() {
    for key in ["sk-1\u{1b}[0m", "sk-1\nsk-2", "sk 1", "sk-é", "sk-\0"] {
        let keys = Keys { file: HashMap::from([("CLOSEREAD_TEST_KEY".to_owned(), key.to_owned())]) };
        let error = keys.fit_for_a_header(&["CLOSEREAD_TEST_KEY"]).expect_err(key).to_string();
        assert!(
            error.starts_with("the key in CLOSEREAD_TEST_KEY holds a space, a line break") && !error.contains("sk")
        );
    }
    let keys = Keys { file: HashMap::from([("CLOSEREAD_TEST_KEY".to_owned(), " sk-1_/+= ".to_owned())]) };
    assert_eq!(keys.fit_for_a_header(&["CLOSEREAD_TEST_KEY"]).expect("fits"), Some(Secret::new("sk-1_/+=")));
}

#[test]
fn an_empty_variable_does_not_hide_the_file() {
    let keys = Keys { file: HashMap::from([("CLOSEREAD_TEST_KEY".to_owned(), " of-file ".to_owned())]) };
    for (there, expected) in [(None, "of-file"), (Some(""), "of-file"), (Some(" \n"), "of-file"), (Some("own"), "own")]
    {
        let value = keys.value("CLOSEREAD_TEST_KEY", |_| there.map(str::to_owned));
        assert_eq!(value.as_deref(), Some(expected), "{there:?}");
    }
}

#[test]
fn an_address_of_other_tools_is_refused_unless_it_is_the_providers_own() {
    let asked = |provider: &str, variable: &str, url: &str| {
        let keys = Keys { file: HashMap::from([(variable.to_owned(), url.to_owned())]) };
        elsewhere::refuse_another(&keys, provider, "https://api.openai.com/v1", "--base-url").map_err(|e| e.to_string())
    };
    let said = asked("openai", "OPENAI_BASE_URL", "http://sk-planted@gateway/v1").expect_err("another address");
    assert!(said.starts_with("OPENAI_BASE_URL names another address") && !said.contains("planted"), "{said}");
    assert!(said.ends_with("or set OPENAI_BASE_URL to https://api.openai.com/v1"), "{said}");
    assert!(asked("cohere", "CO_API_URL", "http://gateway").is_err(), "the variable of Cohere's own tool");
    for url in ["https://eu.api.openai.com/v1", "https://api.openai.com:8443/v1", "gateway"] {
        assert!(asked("openai", "OPENAI_BASE_URL", url).is_err(), "{url}");
    }
    for (provider, variable, url) in [
        ("openai", "OPENAI_BASE_URL", "https://api.openai.com/v1/"),
        ("openai", "OPENAI_BASE_URL", "https://API.openai.com"),
        ("openai", "ANTHROPIC_BASE_URL", "http://gateway"),
        ("openai-compatible", "OPENAI_BASE_URL", "http://gateway/v1"),
        ("openai", "OPENAI_API_BASE", " "),
    ] {
        assert_eq!(asked(provider, variable, url), Ok(()), "{provider} {variable} {url}");
    }
}

#[test]
fn no_key_is_in_what_is_printed_of_an_account() {
    let address = "https://user:sk-planted@host/v1?key=sk-planted#sk-planted";
    let account = account("openai-compatible/x", Some(address)).expect("an account");
    let account = Account { key: Some(Secret::new("sk-planted")), ..account };
    let shown = format!("{account:?}");
    assert!(shown.contains("https://host/v1") && !shown.contains("planted"), "{shown}");
    assert_eq!(account.base_url.reveal(), address);
}

#[test]
fn odd_lines_are_numbered_and_the_others_read() {
    let long = "x".repeat(20_000);
    let text = format!(
        "\u{feff}# keys\n\nA=1\nno value here\nexport B=\"two\nlines\" # both\n= 3\nC='open\nD=4\n\n{long}\nLONG={long}\nE= a b\r\nF=6\nG=7  \t\r\nH=8 "
    );
    let (file, odd) = variables(&text);
    assert_eq!(odd, [4, 7, 8, 11, 13]);
    assert_eq!([file.get("G"), file.get("H")].map(|value| value.map(String::as_str)), [Some("7"), Some("8")]);
    let of = |name: &str| file.get(name).map(String::as_str);
    assert_eq!([of("A"), of("B"), of("C"), of("D")], [Some("1"), Some("two\nlines"), None, Some("4")]);
    assert_eq!((of("LONG"), of("F")), (Some(&*long), Some("6")));
}

#[test]
fn names_that_cannot_be_used_say_what_is_expected() {
    let message = |name| account(name, None).expect_err("refused").to_string();
    assert!(message("gpt").contains("expected builtin/extractive, openai/MODEL, anthropic/MODEL, gemini/MODEL"));
    assert!(message("openai-compatible/x").contains("needs --base-url"));
    assert!(message("anthropic/").contains("names no model"));
}

#[test]
fn an_address_with_a_slash_at_its_end_is_the_same_one() {
    for address in ["http://host:8000/v1", "http://host:8000/v1/", "http://u:p@host:8000/v1//?key=k"] {
        assert_eq!(without_credentials(address), "http://host:8000/v1");
    }
    assert_eq!(without_credentials("http://host"), "http://host/");
    for address in ["http://host//v1", "http://u:p@host///v1/"] {
        assert_eq!(without_credentials(address), "http://host/v1");
    }
    let with_key = "http://host/sk-proj-0123456789abcdef/v1?q=1";
    assert_eq!(without_credentials(with_key), "http://host/***/v1", "some gateways take the key there");
    assert_eq!(without_credentials("http://host/***/v1"), "http://host/***/v1");
    assert_eq!(Address::new("http://host//v1?key=k", "--base-url").unwrap().reveal(), "http://host/v1?key=k");
    let within = "http://host/https://api.example//v1";
    assert_eq!(Address::new(within, "--base-url").unwrap().reveal(), within, "what follows is the server's own");
}
