//! The questions of the Chinese domain.

use super::chinese::CHINESE;
use super::domain::{Scale, decimal};
use super::question::Query;
use super::table::{Field, Month, Value};

/// Writes a question in Chinese; each kind has one wording, so that equal texts mean equal questions.
pub(super) fn ask(query: &Query) -> String {
    match query {
        Query::Extreme { field, highest } => {
            format!("{}最{}的是哪家医院？", of(*field), if *highest { "高" } else { "低" })
        }
        Query::Total { field } => format!("所有医院的{}合计是多少{}？", of(*field), unit(*field)),
        Query::Mean { field } => format!("所有医院的{}平均是多少{}？", of(*field), unit(*field)),
        Query::CountIn { category, value } => format!("{}的医院共有多少家？", are(*category, value)),
        Query::Above { field, bound } => {
            format!("请列出{}超过{}的所有医院。", of(*field), amount(*field, *bound))
        }
        Query::Top { field, n } => format!("{}最高的{n}家医院是哪些？请从高到低列出。", of(*field)),
        Query::Month { field, earliest } => {
            let which = if *earliest { "最早" } else { "最晚" };
            format!("各医院的{}中，{which}的是哪年哪月？", title(*field))
        }
        Query::ShareOfTotal { field, category, value } => {
            format!("{}的医院，其{}占所有医院总和的百分比是多少？", are(*category, value), of(*field))
        }
        Query::ShareAbove { field, bound, category, value } => format!(
            "在{}的医院中，{}超过{}的医院占百分之几？",
            are(*category, value),
            of(*field),
            amount(*field, *bound)
        ),
        Query::Filter { category, value, field, bound } => {
            format!("请列出{}且{}超过{}的医院。", are(*category, value), of(*field), amount(*field, *bound))
        }
        Query::CountBoth { field, bound, before } => format!(
            "{}超过{}、并且{}早于{}的医院有多少家？",
            of(*field),
            amount(*field, *bound),
            title(Field::Inspected),
            month(*before)
        ),
        Query::BestGroup { field, category } => {
            format!("按{}分组，哪一组医院的{}平均值最高？", title(*category), of(*field))
        }
        Query::Gap { field, category, a, b } => format!(
            "{}的医院，其{}的平均值比{}的医院高多少{}？",
            are(*category, a),
            of(*field),
            are(*category, b),
            gap_unit(*field)
        ),
        Query::BestRatio { top, bottom } => {
            format!("2025年{}与{}之比最高的是哪家医院？", title(*top), title(*bottom))
        }
        Query::WeightedMean { rate, weight } => {
            format!("以各医院的{}为权重，所有医院{}的加权平均是多少？", title(*weight), of(*rate))
        }
        Query::RatioList { top, bottom, hundredths, before } => format!(
            "用每家医院2025年的{}除以{}。请列出商不低于{}、且{}早于{}的医院，按商从高到低排列。",
            title(*top),
            title(*bottom),
            decimal(*hundredths, 2),
            title(Field::Inspected),
            month(*before)
        ),
        Query::AboveOwnGroup { field, category } => {
            format!("有多少家医院的{}高于同一{}所有医院的平均值？", of(*field), title(*category))
        }
        Query::LowestInBest { total, category, field } => format!(
            "先按{}分组，找出{}总和最高的一组；这一组中{}最低的是哪家医院？",
            title(*category),
            of(*total),
            of(*field)
        ),
        Query::LargeAgainstRest { size, n, field } => format!(
            "取{}最高的{n}家医院，它们的{}平均值比其余所有医院的平均值高多少{}？",
            of(*size),
            of(*field),
            gap_unit(*field)
        ),
        Query::LatestAboveOverall { top, bottom } => format!(
            "在2025年{t}与{b}之比高于全体医院{t}总和与{b}总和之比的医院中，{}最晚的是哪年哪月？",
            title(Field::Inspected),
            t = title(*top),
            b = title(*bottom)
        ),
    }
}

fn title(field: Field) -> &'static str {
    CHINESE.title(field)
}

/// A figure with its time: stocks are of the end of the year, sums and rates of the whole of it.
fn of(field: Field) -> String {
    let time = match field {
        Field::Places | Field::Staff | Field::Reserve => "2025年末",
        _ => "2025年",
    };
    format!("{time}{}", title(field))
}

fn unit(field: Field) -> &'static str {
    match field {
        Field::Income | Field::Spending | Field::Reserve => "元",
        Field::Places => "张",
        Field::Staff => "人",
        Field::People => "人次",
        _ => "",
    }
}

fn gap_unit(field: Field) -> &'static str {
    match field {
        Field::FirstRate | Field::SecondRate => "个百分点",
        _ => unit(field),
    }
}

fn are(category: Field, value: &str) -> String {
    match category {
        Field::Region => format!("位于{value}"),
        _ => format!("类别为{value}"),
    }
}

fn amount(field: Field, number: u64) -> String {
    let value = match field {
        Field::Income | Field::Spending | Field::Reserve => Value::Money(number),
        Field::FirstRate | Field::SecondRate => Value::Percentage(number),
        _ => return format!("{number}{}", unit(field)),
    };
    (CHINESE.prose)(&value, Scale::Whole)
}

fn month(number: u64) -> String {
    let month = Month::new((number / 12) as u32, (number % 12 + 1) as u32);
    (CHINESE.prose)(&Value::Month(month), Scale::Whole)
}
