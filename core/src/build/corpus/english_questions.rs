//! The questions of the English domain.

use super::domain::{Scale, decimal};
use super::english::ENGLISH;
use super::question::Query;
use super::table::{Field, Month, Value};

/// Writes a question in English; each kind has one wording, so that equal texts mean equal questions.
pub(super) fn ask(query: &Query) -> String {
    match query {
        Query::Extreme { field, highest } => {
            format!("Which cooperative had the {} {}{}?", extreme(*highest), of(*field), unit(*field))
        }
        Query::Total { field } => {
            format!("What do all cooperatives together reach in {}{}?", of(*field), unit(*field))
        }
        Query::Mean { field } => {
            format!("What is the average {} over all cooperatives{}?", of(*field), unit(*field))
        }
        Query::CountIn { category, value } => format!("How many cooperatives {}?", are(*category, value)),
        Query::Above { field, bound } => {
            format!("List all cooperatives whose {} was above {}.", of(*field), amount(*field, *bound))
        }
        Query::Top { field, n } => {
            format!("Which {} cooperatives had the highest {}? List them from the highest down.", count(*n), of(*field))
        }
        Query::Month { field: Field::Founded, earliest } => {
            let which = if *earliest { "oldest" } else { "youngest" };
            format!("When was the {which} cooperative founded? Give year and month.")
        }
        Query::Month { earliest, .. } => {
            let which = if *earliest { "longest ago" } else { "most recent" };
            format!("Of the cooperatives' last fire inspections, which was {which}? Give year and month.")
        }
        Query::ShareOfTotal { field, category, value } => format!(
            "What percentage of the {} of all cooperatives together belongs to those that {}?",
            of(*field),
            are(*category, value)
        ),
        Query::ShareAbove { field, bound, category, value } => format!(
            "Of the cooperatives that {}, what percentage had {} above {}?",
            are(*category, value),
            article(*field),
            amount(*field, *bound)
        ),
        Query::Filter { category, value, field, bound } => format!(
            "List the cooperatives that {} and whose {} was above {}.",
            are(*category, value),
            of(*field),
            amount(*field, *bound)
        ),
        Query::CountBoth { field, bound, before } => format!(
            "How many cooperatives had {} above {} and their last fire inspection before {}?",
            article(*field),
            amount(*field, *bound),
            month(*before)
        ),
        Query::BestGroup { field, category } => {
            format!("In the cooperatives of which {} was the average {} the highest?", title(*category), of(*field))
        }
        Query::Gap { field, category, a, b } => format!(
            "By how much is the average {} of the cooperatives that {} above that of those that {}{}?",
            of(*field),
            are(*category, a),
            are(*category, b),
            gap_unit(*field)
        ),
        Query::BestRatio { top, bottom } => {
            format!("Which cooperative had the highest quotient of {} to {} in 2025?", title(*top), title(*bottom))
        }
        Query::WeightedMean { rate, weight } => format!(
            "What is the average {} over all cooperatives if each counts in proportion to its {}?",
            of(*rate),
            title(*weight)
        ),
        Query::RatioList { top, bottom, hundredths, before } => format!(
            "Divide each cooperative's {} by its {}, both for 2025. List the cooperatives where the quotient is at \
             least {} and whose last fire inspection was before {}, from the highest quotient down.",
            title(*top),
            title(*bottom),
            decimal(*hundredths, 2),
            month(*before)
        ),
        Query::AboveOwnGroup { field, category } => format!(
            "How many cooperatives had {} above the average of all cooperatives of the same {}?",
            article(*field),
            title(*category)
        ),
        Query::LowestInBest { total, category, field } => format!(
            "Find the {} whose cooperatives together had the highest total {}. Which of its cooperatives had the \
             lowest {}?",
            title(*category),
            of(*total),
            of(*field)
        ),
        Query::LargeAgainstRest { size, n, field } => format!(
            "Take the {} cooperatives with the highest {}. By how much does their average {} exceed the average of \
             all the others{}?",
            count(*n),
            of(*size),
            of(*field),
            gap_unit(*field)
        ),
        Query::LatestAboveOverall { top, bottom } => format!(
            "Among the cooperatives whose quotient of {t} to {b} lies above the quotient of all cooperatives' {t} \
             together to all their {b} together (2025), what is the latest month of a last fire inspection?",
            t = title(*top),
            b = title(*bottom)
        ),
    }
}

fn title(field: Field) -> &'static str {
    ENGLISH.title(field)
}

/// A figure with its time: rates and stocks are of the end of the year, sums of the whole of it.
fn of(field: Field) -> String {
    let time = match field {
        Field::Income | Field::Spending | Field::SecondRate => "in 2025",
        _ => "at the end of 2025",
    };
    format!("{} {time}", title(field))
}

fn article(field: Field) -> String {
    match field {
        Field::Income | Field::Spending => of(field),
        Field::FirstRate => format!("an {}", of(field)),
        _ => format!("a {}", of(field)),
    }
}

fn unit(field: Field) -> &'static str {
    match field {
        Field::Income | Field::Spending | Field::Reserve => ", in euros",
        Field::FirstRate | Field::SecondRate => ", in per cent",
        _ => "",
    }
}

fn gap_unit(field: Field) -> &'static str {
    match field {
        Field::FirstRate | Field::SecondRate => ", in percentage points",
        _ => unit(field),
    }
}

fn are(category: Field, value: &str) -> String {
    match category {
        Field::Region => format!("stand in {value}"),
        _ => format!("are warmed by {value}"),
    }
}

fn extreme(highest: bool) -> &'static str {
    if highest { "highest" } else { "lowest" }
}

fn amount(field: Field, number: u64) -> String {
    let value = match field {
        Field::Income | Field::Spending | Field::Reserve => Value::Money(number),
        Field::FirstRate | Field::SecondRate => Value::Percentage(number),
        _ => Value::Count(number),
    };
    (ENGLISH.prose)(&value, Scale::Whole)
}

fn count(n: usize) -> String {
    (ENGLISH.prose)(&Value::Count(n as u64), Scale::Whole)
}

fn month(number: u64) -> String {
    let month = Month::new((number / 12) as u32, (number % 12 + 1) as u32);
    (ENGLISH.prose)(&Value::Month(month), Scale::Whole)
}
