use super::*;
use closeread_llm::{Message, Usage};
use closeread_methods::record::ServedCall;
use std::sync::Arc;
use std::time::Duration;

/// A call costs at most a dollar: its response has a million tokens.
fn spending(limit: f64) -> Spending {
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1 }";
    Spending::new(PriceList::read(list).unwrap(), Some(Dollars(limit)), Dollars(0.25), Tokenizer::cl100k())
}

fn call() -> Outgoing {
    let (messages, prompt) = (vec![Message::user("?")], String::new());
    Call { messages, temperature: 0.0, max_output_tokens: Some(1_000_000), prompt }.into()
}

#[tokio::test]
async fn finding_07_a_blocked_call_costs_its_prompt() {
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 1 }";
    let list = PriceList::read(list).unwrap();
    let spending = Spending::new(list, Some(Dollars(9.0)), Dollars(0.25), Tokenizer::cl100k());
    let begun = spending.begin("p/x", &call(), None).await;
    let prompt = begun.counted.unwrap();
    let blocked = Err(HostError::Blocked { reason: "no".to_owned() });
    let told = begun.ended(blocked).unwrap_err();
    assert!(matches!(told, HostError::Billed { usage, .. } if usage.prompt_tokens == Some(prompt) && prompt > 0));
    let spent = || spending.taken().dollars.0 - 0.25;
    assert!((spent() - prompt as f64 / 1e6).abs() < 1e-12, "{}", spent());
    let begun = spending.begin("p/x", &call(), None).await;
    assert!(begun.ended(Err(HostError::Failed("no".to_owned()))).is_err());
    assert!((spent() - prompt as f64 / 1e6).abs() < 1e-12, "what failed is not billed: {}", spent());
}

#[tokio::test]
async fn a_response_that_filled_the_window_is_told_with_what_it_was_billed() {
    let overflow =
        || Err(HostError::Overflow { message: "the window is full".to_owned(), needed: None, context_window: None });
    let spending = spending(1.5);
    let begun = spending.begin("p/x", &call(), None).await;
    assert!(matches!(begun.ended(overflow()), Err(HostError::Overflow { .. })), "nothing was billed");
    let begun = spending.begin("p/x", &call(), None).await;
    begun.begin().unwrap();
    let usage = Usage { prompt_tokens: Some(1), completion_tokens: Some(500_000), ..Usage::default() };
    begun.failed(Bill::Told(usage));
    let told = begun.ended(overflow()).unwrap_err();
    assert!(matches!(told, HostError::Billed { usage, .. } if usage.completion_tokens == Some(500_000)));
    assert!((spending.taken().dollars.0 - 0.75).abs() < 1e-9, "{:?}", spending.taken());
}

#[tokio::test]
async fn what_was_lost_is_told_apart_from_what_is_known() {
    let spending = spending(9.0);
    let begun = spending.begin("p/x", &call(), None).await;
    begun.begin().unwrap();
    drop(begun);
    let Taken { dollars, open, .. } = spending.taken();
    assert!((dollars.0 - 1.25).abs() < 1e-9 && (open.0 - 1.0).abs() < 1e-9, "{dollars} {open}");
}

fn response(tokens: u64) -> Result<Response, HostError> {
    let usage = Usage { prompt_tokens: Some(1), completion_tokens: Some(tokens), ..Usage::default() };
    Ok(Response { usage, ..Response::default() })
}

async fn waits<T>(future: impl Future<Output = T>) -> bool {
    tokio::time::timeout(Duration::from_millis(10), future).await.is_err()
}

#[tokio::test]
async fn a_call_begins_only_if_all_that_is_in_flight_can_be_paid() {
    let spending = spending(2.5);
    let (first, second) = (spending.begin("p/x", &call(), None).await, spending.begin("p/x", &call(), None).await);
    assert!(waits(spending.begin("p/x", &call(), None)).await, "0.25 spent, 2 reserved");
    assert!(waits(spending.is_out()).await, "calls in flight may turn out cheaper");
    first.ended(response(100_000)).unwrap();
    let third = spending.begin("p/x", &call(), None).await;
    second.ended(response(1_000_000)).unwrap();
    third.ended(response(1_000_000)).unwrap();
    assert!(waits(spending.begin("p/x", &call(), None)).await);
    spending.is_out().await;
    let taken = spending.taken();
    assert!((taken.dollars.0 - 2.35).abs() < 1e-9 && taken.in_flight == 0, "{taken:?}");
}

#[tokio::test]
async fn money_is_short_while_a_request_waits_for_what_others_have_set_aside() {
    let spending = spending(1.5);
    let call = call();
    let first = spending.begin("p/x", &call, None).await;
    assert!(waits(spending.is_short()).await);
    let (_, short) = tokio::join!(waits(spending.begin("p/x", &call, None)), waits(spending.is_short()));
    assert!(!short);
    first.ended(response(1)).unwrap();
    assert!(waits(spending.is_short()).await, "there is money again");
}

#[tokio::test]
async fn a_response_without_a_limit_may_be_as_long_as_the_model_can_write() {
    let list = |known: &str| {
        let list = format!("['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = {{ input = 0, output = 1 }}\n{known}");
        Spending::new(PriceList::read(&list).unwrap(), Some(Dollars(0.5)), Dollars::default(), Tokenizer::cl100k())
    };
    let open = || Outgoing::from(Call { max_output_tokens: None, ..call().whole().into_owned() });
    for (known, fits) in [("max_output = 400_000\nwindow = 900_000", true), ("window = 900_000", false)] {
        let spending = list(known);
        assert_eq!(!waits(spending.begin("p/x", &open(), None)).await, fits, "{known}");
    }
}

#[tokio::test]
async fn a_call_in_a_batch_needs_what_it_costs_there() {
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 0, output = 1 }\n\
                batch = { input = 0, output = 0.5 }";
    let limit = Some(Dollars(1.0));
    let spending = Spending::new(PriceList::read(list).unwrap(), limit, Dollars::default(), Tokenizer::cl100k());
    let _both = (spending.begin("p/x", &call(), Some("r")).await, spending.begin("p/x", &call(), Some("r")).await);
    assert!(waits(spending.begin("p/x", &call(), Some("r"))).await, "two times half a dollar");
}

#[tokio::test]
async fn a_failed_call_gives_its_money_back_and_an_unpriced_one_is_counted() {
    let spending = spending(1.25);
    let failed = spending.begin("p/x", &call(), None).await;
    assert!(failed.ended(Err(HostError::Failed("x".to_owned()))).is_err());
    let unknown = spending.begin("p/y", &call(), None).await;
    unknown.ended(response(9)).unwrap();
    let again = spending.begin("p/x", &call(), None).await;
    drop(again);
    let taken = spending.taken();
    assert_eq!((taken.dollars, taken.unpriced, taken.response_tokens), (Dollars(0.25), 1, 9));
}

#[tokio::test]
async fn finding_07_what_no_usage_or_an_absurd_one_tells_is_counted_and_charged() {
    let told = |prompt, response| Usage { prompt_tokens: prompt, completion_tokens: response, ..Usage::default() };
    for usage in [told(None, None), told(Some(0), Some(0)), told(Some(u64::MAX), Some(u64::MAX))] {
        let spending = spending(1.5);
        let begun = spending.begin("p/x", &call(), None).await;
        let text = "word ".repeat(1000);
        let response = begun.ended(Ok(Response { usage, text, ..Response::default() })).unwrap();
        let counted = response.usage.completion_tokens.unwrap();
        assert!(response.usage.own_count && (1000..=1001).contains(&counted), "{:?}", response.usage);
        let taken = spending.taken();
        assert!((taken.dollars.0 - 0.25 - counted as f64 / 1e6).abs() < 1e-9 && taken.unpriced == 0, "{taken:?}");
    }
    let spending = spending(1.5);
    let begun = spending.begin("p/x", &call(), None).await;
    let cut = Response { finish: FinishReason::Length, ..Response::default() };
    let response = begun.ended(Ok(cut)).unwrap();
    assert_eq!(response.usage.completion_tokens, Some(1_000_000), "what was cut took all it might");
    for (tokens, counted) in [(512, 512), (0, 1_000_000)] {
        let spending = self::spending(1.5);
        let begun = spending.begin("p/x", &call(), None).await;
        let cut =
            Response { finish: FinishReason::Length, text: "word ".repeat(500), ..self::response(tokens).unwrap() };
        let told = begun.ended(Ok(cut)).unwrap().usage.completion_tokens;
        assert_eq!(told, Some(counted), "a server may cut far below the limit of its model, and says where");
    }
}

#[tokio::test]
async fn responses_that_nobody_reads_count_where_nothing_is_told_of_them() {
    let fields = serde_json::json!({"n": 3, "max_tokens": 1000});
    let one = Call { max_output_tokens: Some(1000), ..call().whole().into_owned() };
    for (told, counted) in [(None, 2001), (Some(12), 12)] {
        let spending = spending(1.5);
        let several = Outgoing::from(one.clone()).with_fields(fields.as_object().unwrap());
        let begun = spending.begin("p/x", &several, None).await;
        let usage = Usage { prompt_tokens: Some(1), completion_tokens: told, ..Usage::default() };
        let response = begun.ended(Ok(Response { usage, text: "word".to_owned(), ..Response::default() })).unwrap();
        assert_eq!(response.usage.completion_tokens, Some(counted));
    }
}

#[tokio::test]
async fn a_prompt_that_a_server_counts_without_the_fields_is_believed() {
    let grammar = serde_json::json!({"guided_grammar": "root ::= word ".repeat(2000)});
    let constrained = call().with_fields(grammar.as_object().unwrap());
    let own = call().count(&Tokenizer::cl100k());
    let whole = constrained.count(&Tokenizer::cl100k());
    for (told, counted) in [(Some(own), own), (Some(whole), whole), (None, whole), (Some(0), whole)] {
        let spending = spending(1.5);
        let begun = spending.begin("p/x", &constrained, None).await;
        let usage = Usage { prompt_tokens: told, completion_tokens: Some(1), ..Usage::default() };
        let response = begun.ended(Ok(Response { usage, text: "word".to_owned(), ..Response::default() })).unwrap();
        assert_eq!(response.usage.prompt_tokens, Some(counted), "{told:?}");
    }
}

#[tokio::test]
async fn finding_07_a_result_of_a_batch_that_was_billed_and_never_handed_out_stays_charged() {
    let rates = "{ input = 0, output = 1 }";
    let list = format!("['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = {rates}\nbatch = {rates}");
    let run = tempfile::tempdir().unwrap();
    let charged = || Charged::read(run.path()).unwrap().unwrap_or_default().total();
    let open = || {
        let (prices, spent) = (PriceList::read(&list).unwrap(), Spent { calls: charged(), ..Spent::default() });
        Spending::of_run(run.path(), prices, Some(Dollars(2.5)), spent, Tokenizer::cl100k()).unwrap()
    };
    open().begin("p/x", &call(), Some("r")).await.hand_in(false).unwrap();
    std::fs::create_dir(run.path().join("batches")).unwrap();
    let ticket = serde_json::json!({"number": 1, "model": "p/x", "name": "n", "stage": "ended", "before": null,
        "file": null, "batch": "b", "requests": ["r"], "billed": ["r"]});
    std::fs::write(run.path().join("batches/0001.json"), ticket.to_string()).unwrap();
    std::fs::write(run.path().join("batches/0001.responses.jsonl"), "").unwrap();
    let again = open();
    assert_eq!((charged(), again.taken().dollars), (Dollars(1.0), Dollars(1.0)));
    let begun = again.begin("p/x", &call(), Some("r")).await;
    begun.hand_in(false).unwrap();
    assert_eq!((again.taken().dollars, again.taken().reserved), (Dollars(1.0), Dollars(1.0)));
    begun.ended(response(500_000)).unwrap();
    assert_eq!((charged(), again.taken().dollars), (Dollars(1.5), Dollars(1.5)));
}

#[tokio::test]
async fn finding_07_a_request_in_flight_for_texts_is_charged_before_it_is_sent() {
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 0 }";
    let run = tempfile::tempdir().unwrap();
    let charged = || Charged::read(run.path()).unwrap().unwrap_or_default().total();
    let (prices, limit) = (PriceList::read(list).unwrap(), Some(Dollars(2.5)));
    let spending = Spending::of_run(run.path(), prices, limit, Spent::default(), Tokenizer::cl100k());
    let spending = Arc::new(spending.unwrap());
    let serve = || spending.serve("p/x", || 1_000_000, None);
    let took = |tokens| ServedCall { model: "p/x".to_owned(), texts: 1, tokens: Some(tokens), ..ServedCall::default() };
    let (first, second) = (serve().await.unwrap(), serve().await.unwrap());
    assert!(waits(serve()).await, "two dollars are set aside");
    first.begin().unwrap();
    second.begin().unwrap();
    assert_eq!(charged(), Dollars(2.0), "a kill would lose both");
    first.failed(Bill::Nothing);
    assert_eq!(charged(), Dollars(1.0));
    first.begin().unwrap();
    first.took(&[took(250_000)]);
    assert_eq!((charged(), spending.taken().dollars), (Dollars(1.0), Dollars(0.25)), "the folder has a line of it");
    second.failed(Bill::Unknown);
    second.begin().unwrap();
    second.failed(Bill::Unknown);
    assert!(second.begin().is_err(), "a third try could pass the limit");
    drop(second);
    assert_eq!((charged(), spending.taken().dollars), (Dollars(2.0), Dollars(2.25)));
    assert!(serve().await.is_err() && spending.taken().out);
    spending.is_out().await;
}

#[tokio::test]
async fn finding_07_a_prompt_that_may_be_written_into_the_providers_cache_is_set_aside_at_that_price() {
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 4, cache_write = 5, output = 0 }";
    let call =
        Outgoing::from(Call { messages: vec![Message::user("word ".repeat(999))], ..call().whole().into_owned() });
    let prompt = call.count(&Tokenizer::cl100k()) as f64 / 1e6;
    for (dollars, begins) in [(4.9, false), (5.1, true)] {
        let (prices, limit) = (PriceList::read(list).unwrap(), Some(Dollars(dollars * prompt)));
        let spending = Spending::new(prices, limit, Dollars::default(), Tokenizer::cl100k());
        assert_eq!(!waits(spending.begin("p/x", &call, None)).await, begins, "{dollars}");
    }
}
