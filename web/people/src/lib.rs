//! The pages on which people answer, judge and check: one HTML file each, without a server.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use serde::Serialize;

/// Around what each page has of its own; `{…}` stands for that.
const PAGE: &str = include_str!("../page.html");

const STUDY: &str = include_str!("../study.html");
const STUDY_STYLE: &str = include_str!("../study.css");
const STUDY_SCRIPT: &str = concat!(include_str!("../words.js"), include_str!("../dom.js"), include_str!("../study.js"));

const CHECK: &str = include_str!("../check.html");
const CHECK_STYLE: &str = include_str!("../check.css");
const CHECK_SCRIPT: &str = concat!(include_str!("../dom.js"), include_str!("../check.js"));

/// The page of a study, as `closeread_judges::study::Study` describes it.
///
/// # Errors
/// Those of JSON.
pub fn study_page(study: &impl Serialize) -> serde_json::Result<String> {
    page(STUDY, STUDY_STYLE, STUDY_SCRIPT, study)
}

/// The page on which a person ticks questions and fills in forms.
///
/// # Errors
/// Those of JSON.
pub fn check_page(check: &Check<'_>) -> serde_json::Result<String> {
    page(CHECK, CHECK_STYLE, CHECK_SCRIPT, check)
}

/// What the page of a check asks. Nothing in it says what the pipeline says.
#[derive(Debug, Serialize)]
pub struct Check<'a> {
    /// What names it: answers are read back under it.
    pub id: &'a str,
    /// What it is about.
    pub title: &'a str,
    /// Language of the texts, as a code; empty if there are several.
    pub language: &'a str,
    /// Questions that are answered by yes or no; those about the same stand together.
    pub questions: Vec<CheckQuestion<'a>>,
    /// What people may write, if they may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<CheckSheet<'a>>,
}

/// A question of a check.
#[derive(Debug, Serialize)]
pub struct CheckQuestion<'a> {
    /// Its name.
    pub id: &'a str,
    /// Heading of the unit it is about.
    pub about: &'a str,
    /// The text to read first; empty if there is none.
    pub context: &'a str,
    /// What is judged.
    pub shows: &'a [String],
    /// The question.
    pub asks: &'a str,
}

/// Forms and the books they can be filled in for.
#[derive(Debug, Serialize)]
pub struct CheckSheet<'a> {
    /// The forms, in order.
    pub forms: Vec<CheckForm<'a>>,
    /// Ids and titles.
    pub books: &'a [(String, String)],
    /// What a question can take.
    pub complexities: &'a [&'a str],
}

/// A question with slots.
#[derive(Debug, Serialize)]
pub struct CheckForm<'a> {
    /// Its name.
    pub id: &'a str,
    /// As a person reads it.
    pub shown: String,
    /// What is filled in.
    pub slots: Vec<&'a str>,
    /// What it is about, unless the person says otherwise.
    pub aspect: &'a str,
    /// What it takes, unless the person says otherwise.
    pub complexity: &'a str,
    /// What an answer looks like; empty where that is left open.
    pub format: &'a str,
}

fn page(body: &str, style: &str, script: &str, asked: &impl Serialize) -> serde_json::Result<String> {
    // No tag of the texts ends the element that they stand in.
    let asked = serde_json::to_string(asked)?.replace('<', "\\u003c");
    let page = PAGE.replacen("{style}", style, 1).replacen("{body}", body, 1).replacen("{script}", script, 1);
    // Last, for its texts may say `{body}`.
    Ok(page.replacen("{asked}", &asked, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_end_the_element_they_stand_in() {
        let shows = ["</script><script>alert(1)</script>{script}{body}".to_owned()];
        let question = CheckQuestion { id: "1", about: "x", context: "<b>", shows: &shows, asks: "Is it so?" };
        let check = Check { id: "abc", title: "A & B", language: "en", questions: vec![question], sheet: None };
        let page = check_page(&check).unwrap();
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("alert(1)</script>") && !page.contains("<b>"));
        assert!(page.contains("{script}{body}\"") && page.trim_end().ends_with("</html>"));
        assert!(page.contains(CHECK_SCRIPT) && page.contains(CHECK_STYLE));
        let study = study_page(&["a study"]).unwrap();
        assert!(study.contains("[\"a study\"]") && study.contains(STUDY_SCRIPT));
    }
}
