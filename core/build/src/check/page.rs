//! The page that a person ticks through: one file, no framework, nothing sent anywhere.

use super::forms::{Form, Sheet};
use super::question::Question;
use crate::slots::filled;
use closeread_data::novelqa::COMPLEXITIES;
use closeread_table::render::html::{escaped, isolated};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of the check called `check`; answers stay in the browser until they are saved as a file.
///
/// What the pipeline says of a question is not on the page. Every question is a group of radio buttons with its own
/// legend, so that keyboards and screen readers go from one to the next. With a `sheet` there are forms to fill in as well,
/// each as often as the person likes.
pub fn check_page(title: &str, check: &str, language: &str, questions: &[Question], sheet: Option<&Sheet>) -> String {
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
    html.push_str(&sheet.map(writing).unwrap_or_default());
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

/// The place where forms are chosen and filled in, and each form as a template that the script copies.
fn writing(sheet: &Sheet) -> String {
    let mut aspects: Vec<&str> = Vec::new();
    for form in &sheet.forms {
        if !aspects.contains(&form.aspect.as_str()) {
            aspects.push(&form.aspect);
        }
    }
    let mut html = "<section id=\"writing\">\n<h2>Write questions</h2>\n\
         <p>Choose a book and a form, and fill it in as often as you like. The answer must stand in the book, and only one \
         must be right.</p>\n<p><label>Book <select id=\"book\">\n"
        .to_owned();
    for (id, title) in &sheet.books {
        html.push_str(&option(id, title, false));
    }
    html.push_str("</select></label> <label>Form <select id=\"kind\">\n");
    for aspect in &aspects {
        html.push_str(&format!("<optgroup label=\"{}\">\n", escaped(aspect)));
        for form in sheet.forms.iter().filter(|form| form.aspect == *aspect) {
            html.push_str(&option(&form.id, &shown(form), false));
        }
        html.push_str("</optgroup>\n");
    }
    html.push_str(
        "</select></label> <button type=\"button\" id=\"add\">Add a question</button></p>\n<div id=\"written\"></div>\n",
    );
    for form in &sheet.forms {
        html.push_str(&template(form, &aspects));
    }
    html.push_str("</section>\n");
    html
}

/// A form as a person reads it, with dots about its slots.
fn shown(form: &Form) -> String {
    filled(&form.question, |slot| format!("… {slot} …"))
}

fn option(value: &str, words: &str, selected: bool) -> String {
    let selected = if selected { " selected" } else { "" };
    format!("<option value=\"{}\"{selected}>{}</option>\n", escaped(value), escaped(words))
}

fn template(form: &Form, aspects: &[&str]) -> String {
    let mut html = format!(
        "<template data-form=\"{}\">\n<fieldset class=\"written\">\n<legend>{}</legend>\n<p class=\"of\"></p>\n",
        escaped(&form.id),
        escaped(&shown(form))
    );
    for slot in form.slots() {
        let slot = escaped(slot);
        html.push_str(&format!(
            "<label class=\"line\">{slot} <input type=\"text\" autocomplete=\"off\" data-slot=\"{slot}\"></label>\n"
        ));
    }
    let format = if form.format.is_empty() { String::new() } else { format!(": {}", escaped(&form.format)) };
    for (field, words) in [
        ("answers", format!("Answer{format} (other right ones below it, one a line)")),
        ("evidence", "Words of the book that show it, one sentence a line".to_owned()),
    ] {
        html.push_str(&format!(
            "<label class=\"line\">{words} <textarea rows=\"2\" data-field=\"{field}\"></textarea></label>\n"
        ));
    }
    for (field, words, values, selected) in
        [("aspect", "About", aspects, &form.aspect), ("complexity", "Takes", &COMPLEXITIES[..], &form.complexity)]
    {
        let options: String = values.iter().map(|value| option(value, value, value == selected)).collect();
        html.push_str(&format!("<label>{words} <select data-field=\"{field}\">\n{options}</select></label>\n"));
    }
    html.push_str("<button type=\"button\" class=\"remove\">Remove this question</button>\n</fieldset>\n</template>\n");
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
        let questions = [question("1\"", "x"), question("2", "x"), question("3", "y")];
        let page = check_page("A & B", "abc", "en", &questions, None);
        assert_eq!(page.matches("<fieldset").count(), 3);
        assert_eq!((page.matches("<legend>").count(), page.matches("type=\"radio\"").count()), (3, 9));
        assert_eq!(page.matches("<summary>").count(), 2, "a text stands once for all its questions");
        assert!(!page.contains("label 0") && !page.contains("alert(1)</script>") && !page.contains("<b>line"));
        assert!(page.contains("data-id=\"1&quot;\"") && page.contains("data-check=\"abc\""));
        assert_eq!((page.matches("<script>").count(), page.matches("id=\"writing\"").count()), (1, 0));
    }

    #[test]
    fn every_form_is_there_to_be_copied_with_its_slots() {
        let sheet = Sheet { forms: Form::built_in(), books: vec![("a\"b".to_owned(), "<The> Key".to_owned())] };
        let page = check_page("A", "abc", "en", &[], Some(&sheet));
        assert_eq!(page.matches("<template").count(), sheet.forms.len());
        let slots: usize = sheet.forms.iter().map(|form| form.slots().len()).sum();
        assert_eq!(page.matches("data-slot=").count(), slots);
        assert_eq!(page.matches("<optgroup").count(), 7, "one an aspect");
        assert!(page.contains("<option value=\"a&quot;b\">&lt;The&gt; Key</option>"));
        assert!(page.contains("Answer: yes or no, and a number (other right ones below it, one a line)"));
        assert!(page.contains("How many times do … one character … and … another character … speak"));
    }
}
