//! The page that a person ticks through: one file, no framework, nothing sent anywhere.

use super::Question;
use crate::table::render::html::{escaped, isolated};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of the check called `check`; answers stay in the browser until they are saved as a file.
///
/// What the pipeline says of a question is not on the page. Every question is a group of radio buttons with its own
/// legend, so that keyboards and screen readers go from one to the next.
pub fn check_page(title: &str, check: &str, language: &str, questions: &[Question]) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#content\">To the questions</a>\n<header>\n<h1>{}</h1>\n\
         <p>Read each text, then answer the questions below it by what you think, not by what a model may have said. \
         Answers are kept in this browser; save them as a file at the end and hand it to \
         <code>closeread build ... --checked FILE</code>.</p>\n</header>\n<main id=\"content\">\n\
         <form id=\"form\" data-check=\"{}\">\n",
        escaped(title),
        isolated(title),
        escaped(check)
    );
    html.push_str("<p><label for=\"who\">Your name or a sign for it (may stay empty)</label> <input id=\"who\" autocomplete=\"off\"></p>\n");
    let mut number = 0;
    for same in questions.chunk_by(|a, b| a.about == b.about) {
        html.push_str(&format!("<section>\n<h2>{}</h2>\n", isolated(&same[0].about)));
        if !same[0].context.is_empty() {
            html.push_str("<details>\n<summary>The text</summary>\n");
            for paragraph in same[0].context.split('\n').filter(|line| !line.trim().is_empty()) {
                html.push_str(&format!("<p lang=\"{}\">{}</p>\n", escaped(language), isolated(paragraph)));
            }
            html.push_str("</details>\n");
        }
        for question in same {
            number += 1;
            html.push_str(&fieldset(number, language, question));
        }
        html.push_str("</section>\n");
    }
    html.push_str(&format!(
        "</form>\n</main>\n<footer>\n<p><output id=\"done\" aria-live=\"polite\">0 of {number} answered</output> \
         <button type=\"button\" id=\"save\">Save the answers as a file</button></p>\n</footer>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    ));
    html
}

fn fieldset(number: usize, language: &str, question: &Question) -> String {
    let id = escaped(&question.id);
    let mut html = format!("<fieldset data-id=\"{id}\">\n<legend>{number}. {}</legend>\n", escaped(&question.asks));
    for line in &question.shows {
        html.push_str(&format!("<blockquote lang=\"{}\">{}</blockquote>\n", escaped(language), isolated(line)));
    }
    for (value, words) in [("yes", "Yes"), ("no", "No"), ("unsure", "Cannot say")] {
        html.push_str(&format!("<label><input type=\"radio\" name=\"q{number}\" value=\"{value}\"> {words}</label>\n"));
    }
    html.push_str(&format!(
        "<label class=\"note\">Note <input type=\"text\" autocomplete=\"off\" aria-label=\"Note on question {number}\"></label>\n\
         </fieldset>\n"
    ));
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_every_question_once_and_not_what_the_pipeline_says() {
        let question = |id: &str, about: &str| Question {
            id: id.to_owned(),
            group: "faithfulness, label 0".to_owned(),
            about: about.to_owned(),
            context: "First <b>line</b>.\n\nSecond line.".to_owned(),
            shows: vec!["</script><script>alert(1)</script>".to_owned()],
            asks: "Does the text state this?".to_owned(),
            expected: false,
        };
        let page = check_page("A & B", "abc", "en", &[question("1\"", "x"), question("2", "x"), question("3", "y")]);
        assert_eq!(page.matches("<fieldset").count(), 3);
        assert_eq!((page.matches("<legend>").count(), page.matches("type=\"radio\"").count()), (3, 9));
        assert_eq!(page.matches("<summary>").count(), 2, "a text stands once for all its questions");
        assert!(!page.contains("label 0") && !page.contains("alert(1)</script>") && !page.contains("<b>line"));
        assert!(page.contains("data-id=\"1&quot;\"") && page.contains("data-check=\"abc\""));
        assert_eq!(page.matches("<script>").count(), 1);
    }
}
