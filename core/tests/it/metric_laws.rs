//! Laws that every text metric keeps, whatever the texts.

use closeread_metrics::bleu::{BleuOrder, BleuSmoothing, BleuStatistics, bleu, bleu_tokens};
use closeread_metrics::rouge::{Rouge, rouge, rouge_over, rouge_words};
use closeread_metrics::{
    Prf, Words, infinitebench_en_f1, infinitebench_zh_f1, infinitebench_zh_normalize, squad_normalize, squad_v1,
    squad_v2,
};
use proptest::prelude::*;

const KINDS: [Rouge; 4] = [Rouge::One, Rouge::Two, Rouge::L, Rouge::Lsum];
const ORDERS: [BleuOrder; 4] = [BleuOrder::One, BleuOrder::Two, BleuOrder::Three, BleuOrder::Four];
const WORDS: [Words; 2] = [Words::Reference, Words::ChineseCharacters];

/// Words that come again, so that texts overlap, among marks, lines, accents, Chinese and anything at all.
fn text() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "the",
        "a",
        "cat",
        "Cat",
        "sat",
        "on",
        "mat",
        "1,000.5",
        "5-6",
        "don't",
        "naïve",
        "İ",
        "Σ",
        "孔乙己",
        "《呐喊》",
        "，",
        "。",
        "１９",
        "&amp;",
        "-\n",
        "\n",
        ".",
        "“the”",
        "\u{301}",
        "\x1c",
        " ",
    ]);
    let piece = prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<String>()];
    (prop::collection::vec(piece, 0..12), prop::sample::select(vec![" ", ""]))
        .prop_map(|(pieces, gap)| pieces.join(gap))
}

fn chinese() -> impl Strategy<Value = String> {
    "[孔乙己是这样的使人快活]{2,30}[。！？]?"
}

fn in_range(score: Prf) -> bool {
    [score.precision, score.recall, score.f1].iter().all(|value| (0.0..=1.0).contains(value))
}

proptest! {
    #[test]
    fn scores_lie_between_0_and_1(p in text(), r in prop::collection::vec(text(), 0..4)) {
        for words in WORDS {
            for kind in KINDS {
                prop_assert!(in_range(rouge_over(kind, &p, &r, words)));
            }
            for order in ORDERS {
                prop_assert!((0.0..=1.0).contains(&bleu(order, &p, &r, words)));
            }
            for score in [squad_v1(&p, &r, words), squad_v2(&p, &r, words)] {
                prop_assert!([0.0, 1.0].contains(&score.exact_match) && (0.0..=1.0).contains(&score.f1));
            }
            prop_assert!(in_range(infinitebench_en_f1(&p, &r, words)));
        }
        prop_assert!(in_range(infinitebench_zh_f1(&p, &r)));
    }

    #[test]
    fn a_text_agrees_with_itself(t in text()) {
        let one = Prf { precision: 1.0, recall: 1.0, f1: 1.0 };
        for words in WORDS {
            let n_words = rouge_words(&t, words).len();
            if n_words > 0 {
                prop_assert_eq!(rouge(Rouge::One, &t, &t, words), one);
                prop_assert_eq!(rouge(Rouge::L, &t, &t, words), one);
                prop_assert_eq!(rouge(Rouge::Lsum, &t, &t, words), one);
            }
            prop_assert_eq!(rouge(Rouge::Two, &t, &t, words), if n_words > 1 { one } else { Prf::default() });
            let n_tokens = bleu_tokens(&t, words).len();
            for order in ORDERS {
                let expected = if n_tokens >= order as usize { 1.0 } else { 0.0 };
                prop_assert_eq!(bleu(order, &t, &[&t], words), expected);
            }
            prop_assert_eq!(squad_v1(&t, &[&t], words).exact_match, 1.0);
            let empty = squad_normalize(&t, words).is_empty();
            prop_assert_eq!(squad_v1(&t, &[&t], words).f1, if empty { 0.0 } else { 1.0 });
            prop_assert_eq!(squad_v2(&t, &[&t], words).f1, 1.0);
        }
        let empty = infinitebench_zh_normalize(&t).is_empty();
        prop_assert_eq!(infinitebench_zh_f1(&t, &[&t]), if empty { Prf::default() } else { one });
    }

    #[test]
    fn identical_chinese_scores_1_where_characters_are_words(t in chinese()) {
        let words = Words::ChineseCharacters;
        for kind in KINDS {
            prop_assert_eq!(rouge(kind, &t, &t, words).f1, 1.0);
        }
        prop_assert_eq!(bleu(BleuOrder::Two, &t, &[&t], words), 1.0);
        prop_assert_eq!(squad_v1(&t, &[&t], words).f1, 1.0);
        prop_assert_eq!(squad_v1(&format!("{t}。"), &[&t], words).exact_match, 1.0);
        prop_assert_eq!(infinitebench_zh_f1(&t, &[&t]).f1, 1.0);
    }

    #[test]
    fn english_is_the_same_for_both_kinds_of_words(p in "[ -~\n]{0,60}", r in "[ -~\n]{0,60}") {
        for kind in KINDS {
            prop_assert_eq!(rouge(kind, &p, &r, WORDS[0]), rouge(kind, &p, &r, WORDS[1]));
        }
        prop_assert_eq!(BleuStatistics::new(&p, &[&r], WORDS[0]), BleuStatistics::new(&p, &[&r], WORDS[1]));
        prop_assert_eq!(squad_v1(&p, &[&r], WORDS[0]), squad_v1(&p, &[&r], WORDS[1]));
    }

    #[test]
    fn turning_the_pair_around_turns_precision_into_recall(p in text(), r in text()) {
        for words in WORDS {
            for kind in [Rouge::One, Rouge::Two, Rouge::L] {
                let (there, back) = (rouge(kind, &p, &r, words), rouge(kind, &r, &p, words));
                prop_assert_eq!((there.precision, there.recall), (back.recall, back.precision));
            }
            let (there, back) = (infinitebench_en_f1(&p, &[&r], words), infinitebench_en_f1(&r, &[&p], words));
            prop_assert_eq!((there.precision, there.recall), (back.recall, back.precision));
        }
    }

    #[test]
    fn another_reference_never_hurts_where_the_best_counts(p in text(), r in text(), more in text()) {
        for words in WORDS {
            for kind in KINDS {
                prop_assert!(rouge_over(kind, &p, &[&r, &more], words).f1 >= rouge(kind, &p, &r, words).f1);
            }
            prop_assert!(squad_v1(&p, &[&r, &more], words).f1 >= squad_v1(&p, &[&r], words).f1);
        }
    }

    #[test]
    fn an_order_allows_no_more_than_the_shorter_ones_and_the_longest_subsequence_no_more_than_the_words(
        p in text(), r in text(),
    ) {
        for words in WORDS {
            prop_assert!(rouge(Rouge::L, &p, &r, words).f1 <= rouge(Rouge::One, &p, &r, words).f1);
            prop_assert!(rouge(Rouge::Lsum, &p, &r, words).f1 <= rouge(Rouge::One, &p, &r, words).f1);
            let statistics = BleuStatistics::new(&p, &[&r], words);
            prop_assert!(statistics.matching.is_sorted_by(|more, less| more >= less));
            prop_assert!(statistics.possible.is_sorted_by(|more, less| more >= less));
        }
    }

    #[test]
    fn statistics_of_a_corpus_are_the_sum_of_its_pairs(
        pairs in prop::collection::vec((text(), text()), 0..6), again in 0usize..6,
    ) {
        let each: Vec<BleuStatistics> =
            pairs.iter().map(|(p, r)| BleuStatistics::new(p, &[r], Words::Reference)).collect();
        let whole: BleuStatistics = each.iter().sum();
        let parts = each[..again.min(each.len())].iter().sum::<BleuStatistics>()
            + each[again.min(each.len())..].iter().sum();
        prop_assert_eq!(whole, parts);
        let score = whole.score(BleuOrder::Four, BleuSmoothing::AddOne).bleu;
        prop_assert!((0.0..=1.0).contains(&score));
    }
}
