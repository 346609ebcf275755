//! What CorpusQA's stages ask, word for word.

use super::corpusqa::{Plain, able, homes, lines, parameters, schema, text};
use super::{Memory, with_setting};
use crate::support::ScriptedHost;
use closeread_build::corpusqa::{CorpusQa, Crew, Sources, Template, records};
use closeread_build::{BuildError, Building, corpusqa};
use expect_test::expect;
use std::collections::HashMap;

#[test]
fn the_models_are_asked_in_these_words() {
    let one = CorpusQa { per_set: 1, ..parameters() };
    let (books, templates) = (homes(), Template::built_in());
    let templates: Vec<Template> = templates.into_iter().filter(|template| template.id == "share-of-total").collect();
    let known = with_setting(async |settings| {
        let given = (&books[..], &schema(), &templates[..]);
        let store = Memory::default();
        let building = Building::new(&store, 1, None);
        corpusqa::from_table(None::<&ScriptedHost<'_>>, settings, building, &Plain, given, &records(lines()), &one)
            .await
            .unwrap()
    });
    let known: HashMap<String, String> =
        known.built.items.iter().map(|item| (item.question.clone(), text(item, "sql").to_owned())).collect();
    let words = ScriptedHost::scripted(|call, _| able(call, &known));
    let schema = schema();
    let built = with_setting(async |settings| {
        let crew = Crew { writer: Some(&words), extractors: vec![("m", &words)] };
        let given = Sources { books: &books[1..4], schema: Some(&schema), templates: &templates };
        let parameters = CorpusQa { queries: 2, ..one.clone() };
        corpusqa::corpusqa(
            &crew,
            settings,
            Building::new(&Memory::default(), 1, Some("extraction")),
            &Plain,
            given,
            &parameters,
        )
        .await
    });
    assert!(matches!(built, Err(BuildError::Stopped { stage: "extraction" })));
    let transcript = words.transcript();
    let first = format!("chat corpusqa-extract{}", transcript.split("chat corpusqa-extract").nth(1).unwrap());
    expect![[r#"
        chat corpusqa-extract (<= 64 tokens, temperature 0)
          | === DOCUMENT BEGINS: Report b ===
          | Name: Bo House
          | Region: west
          | Income: 2.5 EUR million
          | Beds: 40
          | Opened: 1991-03
          | === DOCUMENT ENDS ===
          |
          | Read these facts about the home that the document above is about out of it.
          |
          | - name (name): Name
          | - region (category): Region
          | - income (money): Income, in EUR thousand
          | - beds (count): Beds
          | - opened (year-month): Opened
          |
          | 1. value is as the document writes it; do not calculate, convert or round. Take nothing from elsewhere.
          | 2. unit is the unit that the document states for this value, in words beside it, over its table or in its column, magnitude and currency included, as in "thousand EUR"; empty if it states none.
          | 3. Where the document gives several values, take the one for the latest period and for the whole; where it corrects one, the corrected one.
          | 4. quote holds the value, word for word, in at most a sentence or a line of a table.
          | 5. If the document does not state a fact, its value is null.
          |
          | Reply with a JSON object and nothing else, with every key:
          | {"key": {"value": "1,118", "unit": "thousand EUR", "quote": "Charges came to 1,118 thousand EUR."}}
    "#]].assert_eq(&first);
    let last = with_setting(async |settings| {
        let given = (&books[..], &schema, &templates[..]);
        let store = Memory::default();
        let building = Building::new(&store, 1, None);
        corpusqa::from_table(Some(&words), settings, building, &Plain, given, &records(lines()), &one).await.unwrap()
    });
    assert_eq!(last.built.items.len(), 1);
    let asked = words.transcript();
    expect![[r#"
        chat corpusqa-paraphrase (<= 64 tokens, temperature 0)
          | Say this question in other words, as somebody would ask it who works with the documents.
          |
          | What share of the total Income (EUR thousand) of all homes belongs to those whose Region is east?
          |
          | 1. It asks for exactly the same, with all of its conditions, and has exactly the same answer.
          | 2. Names, words in comparisons, numbers, dates and units stay as they are written. These must stand in it: "east".
          | 3. It mentions no table, column or database.
          | 4. It is one or two sentences in English.
          |
          | Reply with a JSON object and nothing else:
          | {"question": "the question in other words"}
        chat corpusqa-sql (<= 64 tokens, temperature 0)
          | Write the SQLite statement that answers a question over the table "corpus". Each of its rows is one home.
          |
          | Columns:
          | - "name" TEXT: Name
          | - "region" TEXT: Region; one of 'east' 'west'
          | - "income" REAL: Income (EUR thousand), in EUR thousand
          | - "beds" REAL: Beds
          | - "opened" TEXT, as YYYY-MM: Opened
          |
          | Some rows:
          | Ana Homes | west | 1300 | 12 | 1990-05
          | Bo House | west | 2500 | 40 | 1991-03
          | Cleo Court | east | 900 | 31 | 2001-07
          |
          | Question: Tell me: What share of the total Income (EUR thousand) of all homes belongs to those whose Region is east?
          |
          | 1. One SELECT that gives one column and nothing else: one number in percent, 12.5 for 12.5%.
          | 2. Quote every column in double quotes, texts in single quotes. Numbers are reals: no casts are needed.
          | 3. Ratios and means are not rounded.
          |
          | Reply with a JSON object and nothing else:
          | {"sql": "SELECT ..."}
    "#]].assert_eq(&asked[asked.find("chat corpusqa-paraphrase").unwrap()..]);
}
